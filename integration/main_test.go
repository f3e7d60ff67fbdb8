//go:build integration

package integration

import (
	"fmt"
	"os"
	"testing"
)

// scratch outlives a test: the resurge binary and the shared broker live there. TestMain makes and removes it.
var scratch string

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == hookArgument {
		os.Exit(runHook(os.Args[2:]))
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "resurge-integration-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	defer stopSharedBroker()
	return m.Run()
}
