package local

import (
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
)

// Text is the end of raw output as the database can store it: valid UTF-8 without NUL, executors.MaxOutput bytes at most.
func Text(raw []byte) string {
	if over := len(raw) - executors.MaxOutput; over > 0 {
		raw = raw[over:]
	}
	return strings.ToValidUTF8(strings.ReplaceAll(string(raw), "\x00", ""), "")
}
