package streams_test

import (
	"testing"

	"resurge/streams"
)

func TestStateDirectories(t *testing.T) {
	task, named := streams.TaskID{Subtopology: 1, Partition: 2}, streams.TaskID{Partition: 3, Named: "billing"}
	for _, c := range []struct{ got, want string }{
		{streams.AppDir("/var/lib/kafka-streams", "app"), "/var/lib/kafka-streams/app"},
		{streams.AppDir("/var/lib/kafka-streams/", "app"), "/var/lib/kafka-streams/app"},
		{streams.AppDir("<state.dir>", "app"), "<state.dir>/app"},
		{streams.AppDir("", "app"), "app"},
		{streams.AppDir("/", "app"), "/app"},
		{streams.GlobalDir("/s", "app"), "/s/app/global"},
		{streams.TaskDir("/s", "app", task), "/s/app/1_2"},
		{streams.TaskDir("/s", "app", named), "/s/app/__billing__/0_3"},
		// What goes into rm -rf keeps the dots, so that rm refuses it.
		{streams.AppDir("/s", ".."), "/s/.."},
		{streams.AppDir("/s", "."), "/s/."},
		{streams.TaskDir("/s", "app", streams.TaskID{Named: "../.."}), "/s/app/__../..__/0_0"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}
