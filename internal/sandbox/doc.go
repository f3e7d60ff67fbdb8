// Package sandbox is a Kafka cluster in the process with a Kafka Streams
// application on it that has met with an incident. `resurge rehearse` opens the
// console on it, and the tests of the other packages recover it.
//
// The cluster is kfake. The application is written in Go and is a Streams
// application on the wire and on disk: a classic group of protocol "stream" with
// SubscriptionInfo and AssignmentInfo user data (version 11), a repartition topic,
// changelogs of a key-value and a windowed store in their byte layouts, commits
// that carry partition time, task directories with checkpoints, and the crash
// rules of at-least-once processing. It doubles its counts when its offsets are
// reset and its state directories are not cleared, as the real one does, and it
// does not leave its group when it is closed.
//
// A [Sandbox] plays both sides of an incident. [Start] brings the cluster up,
// runs the application until it has caught up and then lets the incident happen.
// Stop, ClearState and StartApp are what an operator does with the processes and
// their disks; everything else is left to whoever recovers the application.
//
// Stop, ClearState, StartApp, Kill, Produce and Close serialise among themselves;
// all methods may be called from several goroutines. Nothing runs on after Close.
//
// The package may import streams, franz-go and x/sync. It never imports recovery,
// kafka, storage, ui or headless: those are what it is there to test.
package sandbox
