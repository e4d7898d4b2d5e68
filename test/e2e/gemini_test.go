//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// geminiModel stands in for Google's model API: each turn calls the next tool, the last ends it.
func geminiModel(t *testing.T, calls ...toolCall) (url string, heard func() string) {
	t.Helper()
	var mu sync.Mutex
	sent := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		mu.Lock()
		sent = string(raw)
		mu.Unlock()
		done := strings.Count(string(raw), `"functionResponse"`)
		part := map[string]any{"text": "done"}
		if done < len(calls) && strings.Contains(string(raw), `"tools"`) {
			part = map[string]any{"functionCall": map[string]any{"name": calls[done].name, "args": calls[done].input}}
		}
		reply, _ := json.Marshal(map[string]any{
			"candidates":    []any{map[string]any{"content": map[string]any{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
			"usageMetadata": map[string]int{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "stand-in",
		})
		if strings.Contains(r.URL.Path, "stream") {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: %s\r\n\r\n", reply)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(reply)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() string {
		mu.Lock()
		defer mu.Unlock()
		return sent
	}
}

// TestHostGeminiIsRefused: installed as the README says, the real Gemini CLI gets the brief, cannot write what ana holds by
// tool or by command, can write what is free, is told when a command slipped by, and holds nothing afterwards. uninstall
// leaves its files as they were.
func TestHostGeminiIsRefused(t *testing.T) {
	nodeBin := filepath.Join(hosts(t), "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(nodeBin, "gemini")); err != nil {
		t.Skip("Gemini CLI is not installed there (make e2e installs it)")
	}
	in, home, dir := up(t), t.TempDir(), t.TempDir()
	url, heard := geminiModel(t,
		toolCall{"write_file", map[string]any{"file_path": filepath.Join(dir, "held.go"), "content": "x"}},
		toolCall{"run_shell_command", map[string]any{"command": "echo x > held.go", "description": "writes"}},
		toolCall{"write_file", map[string]any{"file_path": filepath.Join(dir, "free.go"), "content": "x"}},
		toolCall{"run_shell_command", map[string]any{"command": "sh slip.sh", "description": "writes"}},
	)
	if err := os.WriteFile(filepath.Join(dir, "slip.sh"), []byte("echo slipped > held.go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := map[string]string{
		"settings.json": "{\n  \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}},\n  \"privacy\": {\"usageStatisticsEnabled\": false}\n}\n",
		"GEMINI.md":     "# How we work\n",
	}
	folder := filepath.Join(home, ".gemini")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range before {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{
		"HOME=" + home, "PATH=" + nodeBin + string(os.PathListSeparator) + os.Getenv("PATH"), "COORD_HOME=" + in.Home, "GEMINI_API_KEY=x",
		"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true",
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Env = dir, append(cleanEnv(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("git", "init", "-q", "-b", "main")
	run("git", "-c", "user.name=a", "-c", "user.email=a@x", "commit", "-q", "--allow-empty", "-m", "one")
	ctl := filepath.Join(bin, "coordctl")
	run(ctl, "install", "gemini", "--instructions")
	if out := run(ctl, "doctor"); !strings.Contains(out, "Gemini CLI hook    answered") {
		t.Errorf("doctor did not fire the hook:\n%s", out)
	}
	run(ctl, "lock", "acquire", "--agent-id", "ana", "--file-path", "held.go", "--reason", "rewriting the form")
	run(filepath.Join(nodeBin, "gemini"), "-p", "write the files", "--yolo", "-m", "gemini-2.5-flash")
	for what, want := range map[string]string{
		"the brief":        "Agent Coordinator guards this repository",
		"the instructions": "Other agents work in this repository at the same time",
		"the refusal":      "held.go is held by ana",
		"its reason":       "rewriting the form",
		"what slipped":     "your last call changed what others hold: held.go (held by ana)",
		"a tool of ours":   "acquire_lock",
	} {
		if !strings.Contains(heard(), want) {
			t.Errorf("%s did not reach the model: %q is not in\n%.4000s", what, want, heard())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "free.go")); err != nil {
		t.Errorf("the free file was not written: %v", err)
	}
	if out := run(ctl, "lock", "list", "--json"); strings.Contains(out, "free.go") || !strings.Contains(out, "held.go") {
		t.Errorf("locks after the session: %s", out)
	}
	run(ctl, "uninstall", "gemini")
	for name, text := range before {
		if raw, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(raw) != text {
			t.Errorf("%s after uninstall:\n%s\nwas:\n%s", name, raw, text)
		}
	}
}
