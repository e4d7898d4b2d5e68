//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHostPage: Chromium over every view with 50 agents, 2,000 locks and 10,000 tasks on the page: no serious finding of
// axe, nothing wider than the screen, no error on the console, the first view within a second; an act from the list to
// its effect.
func TestHostPage(t *testing.T) {
	dir := hosts(t)
	chromium := os.Getenv("CHROMIUM")
	if chromium == "" {
		var err error
		if chromium, err = exec.LookPath("chromium"); err != nil {
			t.Skip("chromium is not installed: the page is not driven here")
		}
	}
	in := up(t)
	for a := range 50 {
		for part := range 2 { // 20 paths a call
			paths := make([]string, 20)
			for i := range paths {
				paths[i] = fmt.Sprintf("src/m%d/f%d.go", a, part*20+i)
			}
			status, reply := in.post(t, "/locks/acquire", map[string]any{"agent_id": fmt.Sprintf("agent-%d", a), "session_id": fmt.Sprintf("s-%d", a), "file_paths": paths, "reason": "moving things"})
			if status != http.StatusOK || reply["success"] != true {
				t.Fatalf("lock: %d %v", status, reply)
			}
		}
	}
	for range 100 {
		tasks := make([]map[string]any, 100)
		for i := range tasks {
			tasks[i] = map[string]any{"task_type": "fix", "description": fmt.Sprintf("repair part %d of the form", i)}
		}
		if status, reply := in.post(t, "/work/submit/batch", map[string]any{"agent_id": "boss", "tasks": tasks}); status != http.StatusOK {
			t.Fatalf("submit: %d %v", status, reply)
		}
	}
	_, link := in.post(t, "/ui/link", map[string]any{})
	path, _ := link["path"].(string)
	if path == "" {
		t.Fatalf("no link: %v", link)
	}
	script := filepath.Join(dir, "page.mjs")
	raw, err := os.ReadFile(filepath.Join(repoRoot(), "test", "e2e", "hosts", "page.mjs"))
	if err == nil {
		err = os.WriteFile(script, raw, 0o600) // imports are looked for beside it
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "node_modules", ".bin", "node"), script, in.APIURL+path, "src/m7/f7.go")
	cmd.Env = append(cleanEnv(), "HOME="+t.TempDir(), "PATH="+os.Getenv("PATH"), "CHROMIUM="+chromium)
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("the browser: %v\n%s", err, printed)
	}
	var out struct {
		Views []struct {
			View, Scheme, Title string
			Width               int
			MS                  int `json:"ms"`
			Overflow            bool
			Serious             []string
		}
		Console []string
		Stays   bool
		Act     struct {
			MS    int `json:"ms"`
			Toast string
		}
		Keys bool
	}
	if err := json.Unmarshal(printed, &out); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	slowest := 0
	for _, v := range out.Views {
		slowest = max(slowest, v.MS)
		if v.Overflow || len(v.Serious) > 0 {
			t.Errorf("%s %s %d: wider than the screen %v, axe %v", v.View, v.Scheme, v.Width, v.Overflow, v.Serious)
		}
	}
	t.Logf("%d views, the slowest loaded in %d ms; the act took %d ms: %q", len(out.Views), slowest, out.Act.MS, out.Act.Toast)
	if len(out.Views) != 40 || len(out.Console) > 0 || !out.Stays || !strings.Contains(out.Act.Toast, "The lock is free") || !out.Keys {
		t.Errorf("%d views, console %v, dialog stays %v, toast %q, keys %v", len(out.Views), out.Console, out.Stays, out.Act.Toast, out.Keys)
	}
}
