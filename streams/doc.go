// Package streams says what a Kafka Streams application is when it is seen
// from outside its JVM: how its topics are named, which role each plays, what
// its group's members say of their tasks, what its committed offsets carry and
// how its changelogs are laid out.
//
// It is a leaf: it imports the standard library only and does no IO. The kafka
// package answers in these types, recovery reasons over them, and the front
// ends show them. Values are plain data that encode to JSON and back.
//
// Unknown is never zero: what could not be learned carries a [Fault] that says
// why, and absence (no committed offset, no such topic) has its own form.
package streams
