package recovery_test

import (
	"encoding/json"
	"io"
)

func decode(r io.Reader, v any) error { return json.NewDecoder(r).Decode(v) }
