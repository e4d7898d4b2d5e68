package tokens_test

import (
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/tokens"
)

// FuzzCount: any text has a count between none and a token a byte.
func FuzzCount(f *testing.F) {
	f.Add("func main() {}")
	f.Add("\xff<|endoftext|>日本語")
	f.Fuzz(func(t *testing.T, s string) {
		if n := tokens.Count(s); n < 0 || n > len(s) || n == 0 && s != "" {
			t.Fatalf("%q has %d tokens", s, n)
		}
	})
}
