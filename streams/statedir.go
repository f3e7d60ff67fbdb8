package streams

import "strings"

// AppDir is an application's directory below its state.dir, on its own host
// (Kafka's StateDirectory). The paths here are for other people's machines and
// end up in commands such as rm -rf: they use forward slashes and are not
// cleaned, so that an application ID of ".." stays visible, and rm refuses it,
// instead of silently becoming the directory above.
func AppDir(stateDir, app string) string { return join(stateDir, app) }

// GlobalDir is the directory of the application's global stores.
func GlobalDir(stateDir, app string) string { return join(AppDir(stateDir, app), "global") }

// TaskDir is the directory of one task. Named topologies have a level of their
// own, __NAME__ (Kafka's StateDirectory).
func TaskDir(stateDir, app string, t TaskID) string {
	dir := AppDir(stateDir, app)
	if t.Named != "" {
		dir = join(dir, "__"+t.Named+"__")
	}
	return join(dir, TaskID{Subtopology: t.Subtopology, Partition: t.Partition}.String())
}

// join puts one element below a directory, "" being the current one.
func join(dir, name string) string {
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}
