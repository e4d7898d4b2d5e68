package coord

import (
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
)

// FuzzImportLines: an import of memories is refused as invalid, or every line of it can be stored.
func FuzzImportLines(f *testing.F) {
	f.Add("{\"summary\": \"s\"}\n\n{\"memory_type\": \"procedural\", \"skill_name\": \"k\", \"steps\": []}\r\n")
	f.Add("[]\nnull")
	f.Add(`{"summary": {"a": 1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		docs, err := importLines(text)
		if err != nil {
			if e := fault.From(err); e.Code != client.CodeInvalid || e.What == "" {
				t.Fatal(err)
			}
			return
		}
		for _, d := range docs {
			if d == nil || d["summary"] == nil && d["skill_name"] == nil {
				t.Fatalf("accepted %v", d)
			}
		}
	})
}
