// Package headless shows what the console shows, as lines: text for people,
// JSON for scripts. It folds the same events and never decides anything.
//
// It may import recovery, plans and streams. Writers are passed in; it does no
// other IO.
package headless
