package streams

import "path"

// AppDir is an application's directory below state.dir, on its own host.
func AppDir(stateDir, app string) string { return path.Join(stateDir, app) }

// GlobalDir is the directory of the application's global stores.
func GlobalDir(stateDir, app string) string { return path.Join(stateDir, app, "global") }

// TaskDir is the directory of one task. Named topologies have a level of their
// own, __NAME__ (Kafka's StateDirectory).
func TaskDir(stateDir, app string, t TaskID) string {
	if t.Named == "" {
		return path.Join(stateDir, app, t.String())
	}
	plain := TaskID{Subtopology: t.Subtopology, Partition: t.Partition}
	return path.Join(stateDir, app, "__"+t.Named+"__", plain.String())
}
