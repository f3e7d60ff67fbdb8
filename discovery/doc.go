// Package discovery looks: it finds what applications left on a cluster, with the
// evidence for every inference, and says what that means for whoever is on call.
// It declares the ports that it reads through; none of them can change anything.
//
//	Discover, Explore (one), Survey, CrowdSurvey (all) -> facts -> Diagnose (pure)
//
// Semantics that callers rely on:
//   - What could not be read is a fault beside what could: never empty, never
//     absent. An [Inventory] with gaps may be short.
//   - A topic is owned on proof. A doubt makes it a lookalike that is marked
//     ambiguous, and the evidence says why.
//   - The number of requests does not grow with topics that are not looked at.
//
// It imports plans and streams, never an adapter, the engine or a front end.
package discovery
