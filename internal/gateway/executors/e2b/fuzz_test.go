package e2b

import (
	"bytes"
	"io"
	"testing"
)

// FuzzStream: what a sandbox streams ends as an answer or an error, whatever it is.
func FuzzStream(f *testing.F) {
	frame := func(flag byte, body string) []byte {
		return append([]byte{flag, 0, 0, byte(len(body) >> 8), byte(len(body))}, body...)
	}
	f.Add(append(frame(0, `{"event":{"data":{"stdout":"YQ=="}}}`), append(frame(0, `{"event":{"end":{"exitCode":1}}}`), frame(2, `{}`)...)...))
	f.Add(frame(2, `{"error":{"code":"not_found","message":"m"}}`))
	f.Add([]byte{0, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, stream []byte) {
		var out bytes.Buffer
		_, err := read(bytes.NewReader(stream), &out)
		if err == nil && len(stream) == 0 {
			t.Fatal("an answer out of nothing")
		}
		if out.Len() > len(stream) {
			t.Fatalf("%d bytes out of %d", out.Len(), len(stream))
		}
		_, _ = io.Copy(io.Discard, &out)
	})
}
