package install_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/install"
)

// hookFiles are where hosts keep hooks, in a person's home folder.
var hookFiles = map[string]string{"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "cursor": ".cursor/hooks.json", "gemini": ".gemini/settings.json"}

func TestHooksComeAndGoByteForByte(t *testing.T) {
	t.Parallel()
	for host, file := range hookFiles {
		for name, content := range map[string]string{
			"nothing":      "",
			"other things": "{\n    \"model\": \"x\",   \"n\": 12345678901234567890,\n    \"z\": [1.10, \"<&>\"]\n}\n",
			"one line":     `{"a":1}`,
			"hooks of others": "{\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"/bin/other hook x\"}]}\n\t\t],\n" +
				"\t\t\"preToolUse\": [{\"command\": \"/bin/lint\"}]\n\t},\n\t\"version\": 1\n}",
			"two of others": `{"hooks": {"Stop": [ {"hooks":[{"command":"a"}]} , {"hooks":[{"command":"b"}]} ]}, "x": {}}`,
		} {
			t.Run(host+" "+name, func(t *testing.T) {
				t.Parallel()
				files := map[string]string{}
				if content != "" {
					files[file] = content
				}
				r := request(t, host, files)
				r.Coordctl, r.Fail = "/opt/agent coordinator/coordctl", "closed"
				res, err := install.Install(t.Context(), r)
				if err != nil || res.Hooks == nil || !res.Hooks.Changed || res.Hooks.Events < 5 {
					t.Fatalf("%+v, %+v, %v", res, res.Hooks, err)
				}
				now := read(t, res.Hooks.File)
				if !json.Valid([]byte(now)) || strings.Count(now, "hook "+host+" --fail closed") != res.Hooks.Events {
					t.Fatalf("written:\n%s", now)
				}
				for _, other := range []string{"/bin/other hook x", "/bin/lint", "12345678901234567890", "1.10"} {
					if strings.Contains(content, other) && !strings.Contains(now, other) {
						t.Errorf("%s was lost:\n%s", other, now)
					}
				}
				if command, _, err := install.HookCommand(r); err != nil || command != "'/opt/agent coordinator/coordctl' hook "+host+" --fail closed" {
					t.Errorf("the command reads %q, %v", command, err)
				}
				again, err := install.Install(t.Context(), r)
				if err != nil || again.Hooks.Changed || read(t, res.Hooks.File) != now {
					t.Errorf("a second time changed %s: %v\n%s", again.Hooks.Diff, err, read(t, res.Hooks.File))
				}
				r.Fail = "open"
				if moved, err := install.Install(t.Context(), r); err != nil || !moved.Hooks.Changed || moved.Hooks.Events != res.Hooks.Events {
					t.Errorf("another fail mode: %+v, %v", moved.Hooks, err)
				}
				if _, err := install.Uninstall(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				raw, err := os.ReadFile(filepath.Join(r.Home, file))
				if content == "" && !os.IsNotExist(err) || string(raw) != content {
					t.Errorf("after install and uninstall:\n%s\nwas:\n%s", raw, content)
				}
			})
		}
	}
}

func TestHooksRefuseWhatTheyCannotRead(t *testing.T) {
	t.Parallel()
	for _, content := range []string{`{"hooks": []}`, `{"hooks": {"PreToolUse": {}}}`, `[]`, `{"hooks": `} {
		r := request(t, "claude-code", map[string]string{".claude/settings.json": content})
		r.Coordctl, r.Fail = "/bin/coordctl", "open"
		if _, err := install.Install(t.Context(), r); err == nil {
			t.Errorf("%s was taken", content)
		}
		if got := read(t, filepath.Join(r.Home, ".claude/settings.json")); got != content {
			t.Errorf("%s became %s", content, got)
		}
	}
}

func TestWithoutHooksOursAreTakenOut(t *testing.T) {
	t.Parallel()
	r := request(t, "codex", nil)
	r.Coordctl, r.Fail = "/bin/coordctl", "open"
	if res, err := install.Install(t.Context(), r); err != nil || res.Hooks.Events == 0 {
		t.Fatalf("%+v, %v", res.Hooks, err)
	}
	r.Coordctl = ""
	if res, err := install.Install(t.Context(), r); err != nil || res.Hooks.Events != 0 || !res.Registered {
		t.Fatalf("%+v, %v", res.Hooks, err)
	}
}

func TestGitHooksComeAndGo(t *testing.T) {
	t.Parallel()
	r := request(t, "codex", nil)
	r.Coordctl, r.Fail = "/bin/coordctl", "open"
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = r.Dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := install.InstallGit(t.Context(), r); err == nil {
		t.Fatal("a folder without a repository was taken")
	}
	git("init", "-q")
	mine := filepath.Join(r.Dir, ".git", "hooks", "pre-commit")
	write(t, mine, "#!/bin/sh\necho first >> ../order\n")
	res, err := install.InstallGit(t.Context(), r)
	if err != nil || len(res.Changed) != 3 || len(res.Kept) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if again, err := install.InstallGit(t.Context(), r); err != nil || len(again.Changed) != 0 {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	if back, err := install.UninstallGit(t.Context(), r); err != nil || len(back.Changed) != 3 || read(t, mine) != "#!/bin/sh\necho first >> ../order\n" {
		t.Errorf("%+v, %v", back, err)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, ".git", "hooks", "pre-push")); !os.IsNotExist(err) {
		t.Error("pre-push was left behind")
	}
	git("config", "core.hooksPath", ".husky")
	if _, err := install.InstallGit(t.Context(), r); !errors.Is(err, install.ErrSharedHooks) {
		t.Errorf("husky's folder was written to: %v", err)
	}
}
