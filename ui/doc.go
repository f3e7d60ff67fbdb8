// Package ui is the console: it shows what recovery knows and does, and hands
// the operator's decisions on. It reads no cluster, no file and no environment:
// everything comes through [Session], so a broken terminal can break nothing
// else.
//
// There is one tea.Model, [Model]. It routes messages, draws the lines that are
// always there (who and where am I, may I write, what time is it; the path; one
// message; the keys), and folds the run's events. A screen is a struct with
// handle, view, actions and head; it never sees another screen. View is pure:
// whatever takes work is done when a message arrives.
//
// Three rules hold everywhere. Text from outside becomes visible only through
// txt, which escapes what a terminal would obey. Selection is by identity,
// never by row number, so a refresh cannot slide another row under the cursor.
// An answer carries the number of its question, and a stale one is dropped.
//
// What is asked again by itself (a list, an open application, each look of a
// follow) waits for its last answer, so questions never pile up; until a newer
// answer comes, the old one stays on screen with its age.
//
// Delivery: the run's events are asked for by one command at a time, so they
// arrive in order; nothing is ever pushed into the program from outside. What a
// [Session] holds is called from commands, on goroutines of Bubble Tea, and may
// wait there; only Now, TargetOf, ResumeCommand and UndoCommand are called while a message
// is handled or a frame is drawn, and must not.
package ui
