//go:build integration

package integration

import (
	"os"
	"testing"
)

// scratch outlives a test: the resurge binary and the shared broker live there. TestMain makes and removes it.
var scratch string

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == hookArgument {
		os.Exit(runHook(os.Args[2:])) //nolint:forbidigo // a hook is a program of its own
	}
	var err error
	if scratch, err = os.MkdirTemp("", "resurge-integration-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(scratch)
	defer stopSharedBroker()
	m.Run() // its result becomes the exit code
}
