package coordctl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMemoryCommands stores, searches, shows, exports, forgets and imports memories from the command line.
func TestMemoryCommands(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.up()
	read := func(line string, into any) {
		t.Helper()
		if raw := p.must(line); json.Unmarshal([]byte(raw), into) != nil {
			t.Fatalf("%s answered %s", line, raw)
		}
	}
	var kept struct {
		MemoryID string `json:"memory_id"`
	}
	read(`bin/coordctl memory store "the signing key of releases lives in the vault" --lessons "ask ops" --json`, &kept)
	type found struct {
		Count    int
		Memories []struct {
			Summary string
		}
	}
	var got found
	read(`bin/coordctl memory search "where is the signing key" --json`, &got)
	if got.Count != 1 || !strings.Contains(got.Memories[0].Summary, "signing key") {
		t.Errorf("search: %+v", got)
	}
	if out := p.must("bin/coordctl memory show " + kept.MemoryID); !strings.Contains(out, "vault") {
		t.Errorf("show: %s", out)
	}
	if out := p.must("bin/coordctl memory export --json"); !strings.Contains(out, "# Memories") || !strings.Contains(out, "Lesson: ask ops") {
		t.Errorf("Markdown: %s", out)
	}
	var out struct{ Text string }
	read("bin/coordctl memory export --format jsonl --json", &out)
	p.must("bin/coordctl memory forget " + kept.MemoryID + " --reason test")
	read(`bin/coordctl memory search "where is the signing key" --json`, &got)
	if got.Count != 0 {
		t.Errorf("forgotten and found: %+v", got)
	}
	raw, err := json.Marshal(map[string]string{"jsonl": out.Text})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "memories.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	p.must("bin/coordctl memory import --data @memories.json")
	read(`bin/coordctl memory search "where is the signing key" --json`, &got)
	if got.Count != 1 {
		t.Errorf("imported and not found: %+v", got)
	}
}
