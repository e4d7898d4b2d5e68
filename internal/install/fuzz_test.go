package install

import (
	"encoding/json"
	"testing"
)

// FuzzHooks: hooks of ours are put into whatever a host's file holds, and taken out again, without anything else being
// changed: what was JSON is JSON of the same value.
func FuzzHooks(f *testing.F) {
	f.Add("{\n  \"hooks\": {\"PreToolUse\": [{\"matcher\": \"Edit\", \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}\n}\n")
	f.Add(`{"hooks": {"Stop": []}, "a": {"hooks": 1}}`)
	f.Add(`{"hooks": [], "hooks": {}}`)
	f.Add("{} x")
	h := hookFile{groups: func(r Request) []hookGroup { return matcherGroups("codex", "", r) }}
	f.Fuzz(func(t *testing.T, text string) {
		_, clean, err := h.clean(text)
		if err != nil {
			return
		}
		with, _, err := h.put(Request{Command: "/opt/bin/coordctl", Getenv: func(string) string { return "" }}, clean, true)
		if err != nil {
			return
		}
		if !json.Valid([]byte(with)) {
			t.Fatalf("%s became %s", text, with)
		}
		if _, back, err := h.clean(with); err != nil || !json.Valid([]byte(back)) {
			t.Fatalf("%s came back as %s: %v", with, back, err)
		}
	})
}

// FuzzCodex: Codex's file with our block, taken out again, is what it was.
func FuzzCodex(f *testing.F) {
	f.Add("model = \"x\"\n[mcp_servers.other]\ncommand = \"y\"\n")
	f.Add("# >>> agent-coordinator >>>\n# <<< agent-coordinator <<<\n")
	f.Add("[mcp_servers.coordination]\ncommand = 1\n")
	f.Add("[[a]]\n")
	r := Request{Command: "/opt/bin/mcp-server", Getenv: func(string) string { return "" }}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := codexEdit(r, []byte(text), true)
		if err != nil {
			if string(first.after) != text {
				t.Fatalf("refused, and changed %q into %q", text, first.after)
			}
			return
		}
		if _, err := codexServers(first.after); err != nil {
			t.Fatalf("%q became %q: %v", text, first.after, err)
		}
		if second, err := codexEdit(r, first.after, false); err != nil {
			t.Fatalf("our own block cannot be taken out of %q: %v (%q)", first.after, err, second.after)
		}
	})
}
