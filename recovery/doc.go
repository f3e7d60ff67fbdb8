// Package recovery is the engine: from what discovery found it assesses the ways
// back, makes a plan, drives it step by step and proves the result. It declares
// the ports that it uses; kafka satisfies the cluster's and main brings them
// together.
//
//	discovery.Inventory -> Assess (pure) -> MakePlan (pure) -> Execute
//
// Semantics that callers rely on:
//   - Everything before an approved plan holds no writer.
//   - A durable [Event] is in the journal, synced, before anyone sees it. A
//     journal that cannot be written stops the run.
//   - Every step is Check, Apply, Verify; each may be repeated after a crash at
//     any point. A step that is already done is skipped and says so.
//   - The executor is sequential and starts no goroutine of its own.
//   - [Run.Apply] is the only place that knows what events mean: console, line
//     printer and report are folds of the same events.
//
// It imports discovery, plans and streams, never an adapter or a front end.
package recovery
