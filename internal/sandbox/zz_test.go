package sandbox

import (
	"log/slog"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	for i := range 8 {
		for _, sc := range []string{"bad-deploy", "prefix-twin"} {
			t0 := time.Now()
			s, err := Start(t.Context(), Options{Scenario: sc, Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
			t.Log(i, sc, time.Since(t0))
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
		}
	}
}
