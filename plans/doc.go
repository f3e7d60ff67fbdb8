// Package plans holds a recovery plan as plain data: exact topics, partitions
// and offsets, the facts that it rests on, and the hash that names it. An
// operator approves a plan's ID; whoever changes one byte of it has another
// plan.
//
// The package does no IO and starts nothing. It imports streams only. What the
// steps mean is known to recovery, which has one handler per [Kind].
package plans
