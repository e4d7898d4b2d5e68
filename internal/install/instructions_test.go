package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/install"
)

func TestInstructionsComeAndGoByteForByte(t *testing.T) {
	t.Parallel()
	names := map[string]string{"claude-code": "CLAUDE.md", "codex": "AGENTS.md", "cursor": "AGENTS.md", "gemini": "GEMINI.md"}
	for host, name := range names {
		for what, content := range map[string]*string{
			"no file": nil, "empty": ptr(""), "one line": ptr("# Mine"), "with newline": ptr("# Mine\n"), "blank lines": ptr("# Mine\n\n\n"), "windows": ptr("# Mine\r\n\r\nx\r\n"),
		} {
			t.Run(host+" "+what, func(t *testing.T) {
				t.Parallel()
				r := request(t, host, nil)
				r.Scope, r.Instructions = install.Project, true
				path := filepath.Join(r.Dir, name)
				if content != nil {
					write(t, path, *content)
				}
				r.DryRun = true
				if res, err := install.Install(t.Context(), r); err != nil || !res.Instructions.Changed || !strings.Contains(res.Instructions.Diff, "acquire_lock") {
					t.Fatalf("dry run: %+v, %v", res.Instructions, err)
				}
				r.DryRun = false
				res, err := install.Install(t.Context(), r)
				if err != nil || !res.Instructions.Changed || res.Instructions.File != path {
					t.Fatalf("%+v, %v", res.Instructions, err)
				}
				now := read(t, path)
				if content != nil && !strings.HasPrefix(now, *content) || strings.Count(now, "agent-coordinator:begin") != 1 {
					t.Fatalf("written: %q", now)
				}
				r.Instructions = false // a later install renews what is there
				if again, err := install.Install(t.Context(), r); err != nil || again.Instructions.Changed || read(t, path) != now {
					t.Errorf("a second time: %+v, %v", again.Instructions, err)
				}
				write(t, path, strings.Replace(now, "Other agents work", "An older text", 1))
				if again, err := install.Install(t.Context(), r); err != nil || !again.Instructions.Changed || read(t, path) != now {
					t.Errorf("an older part was not renewed in place: %+v, %v", again.Instructions, err)
				}
				if _, err := install.Uninstall(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				raw, err := os.ReadFile(path)
				if content == nil && !os.IsNotExist(err) || content != nil && string(raw) != *content {
					t.Errorf("after uninstall %q, %v", raw, err)
				}
			})
		}
	}
}

func ptr(s string) *string { return &s }

// What people write around our part stays theirs.
func TestInstructionsKeepWhatStandsAround(t *testing.T) {
	t.Parallel()
	r := request(t, "codex", nil)
	r.Instructions = true
	path := filepath.Join(r.Home, ".codex", "AGENTS.md")
	write(t, path, "before\n")
	if _, err := install.Install(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	write(t, path, read(t, path)+"behind\n")
	if _, err := install.Uninstall(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "before\nbehind\n" {
		t.Errorf("left: %q", got)
	}
	for _, broken := range []string{"<!-- agent-coordinator:begin (coordctl writes this part anew; write yours outside) -->\nx"} {
		write(t, path, broken)
		if _, err := install.Install(t.Context(), r); err == nil || read(t, path) != broken {
			t.Errorf("half a part was taken: %v", err)
		}
	}
	r = request(t, "cursor", nil)
	r.Instructions = true
	if _, err := install.Install(t.Context(), r); err == nil || !strings.Contains(err.Error(), "--project") {
		t.Errorf("cursor reads no file of the user: %v", err)
	}
}
