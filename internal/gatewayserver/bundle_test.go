package gatewayserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/gittest"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// pushed is the delivery of a push to main of a repository that lies in a folder.
func pushed(t *testing.T, url, folder, before, after string, n int) {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"ref": "refs/heads/main", "before": before, "after": after, "sender": map[string]any{"login": "dev"},
		"repository": map[string]any{"id": 1, "full_name": "acme/shop", "clone_url": folder, "html_url": "https://git.example/acme/shop", "default_branch": "main", "pushed_at": 1000 + n},
	})
	if err != nil {
		t.Fatal(err)
	}
	header := delivery(string(body), "s")
	header["X-GitHub-Delivery"] = "00000000-0000-0000-0000-00000000000" + string(rune('0'+n))
	if status, out := call(t, "POST", url+"/webhook/github", string(body), header); status != 202 {
		t.Fatalf("%d %v", status, out)
	}
}

// A commit that is not pushed comes with a git bundle: what it changes is read from git, against the branch as it was pushed
// and not as the agent says; what is no bundle of that commit is refused at the door.
func TestBundlesOfCommitsThatAreNotPushed(t *testing.T) {
	t.Parallel()
	w := gittest.New(t)
	w.Write("README.md", "1\n")
	base := w.Commit("main")
	url := start(t, pgtest.DSN(t), map[string]string{"GITHUB_WEBHOOK_SECRET": "s", "GATEWAY_GIT_ROOTS": filepath.Dir(w.Remote)})
	pushed(t, url, w.Remote, strings.Repeat("0", 40), base, 1)
	key := map[string]string{"X-API-Key": testKey, "X-Project": "git.example/acme/shop", "X-Agent-Id": "ana", "Content-Type": "application/json"}
	await := func(path, what string, ok func(map[string]any) bool) map[string]any {
		t.Helper()
		var out map[string]any
		for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
			if _, out = call(t, "GET", url+path, "", key); ok(out) {
				return out
			}
		}
		t.Fatalf("%s: %v", what, out)
		return nil
	}
	await("/changesets", "the push became a changeset", func(m map[string]any) bool { l, _ := m["changesets"].([]any); return len(l) == 1 })

	w.Write("internal/auth/token.go", "package auth\n") // hidden behind a second commit that the agent would have compared with
	hidden := w.Commit("")
	w.Write("docs/a.md", "text\n")
	head := w.Commit("")
	file := filepath.Join(t.TempDir(), "b")
	w.Git("bundle", "create", "-q", file, "main", "^"+base)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	submit := func(path string, in map[string]any) (int, map[string]any) {
		t.Helper()
		all := map[string]any{"repository": "git.example/acme/shop", "branch": "topic", "head_sha": head, "base_sha": hidden}
		maps.Copy(all, in)
		body, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return call(t, "POST", url+path, string(body), key)
	}
	b64 := base64.StdEncoding.EncodeToString
	for name, bad := range map[string]struct {
		in   map[string]any
		want int
	}{
		"no base64":      {map[string]any{"bundle": "@@@"}, 422},
		"no bundle":      {map[string]any{"bundle": b64([]byte("PACK"))}, 422},
		"another commit": {map[string]any{"bundle": b64(raw), "head_sha": hidden}, 422},
		"too large":      {map[string]any{"bundle": strings.Repeat("A", 4_000_004)}, 422},
		"a number":       {map[string]any{"bundle": 7}, 422},
	} {
		if status, out := submit("/webhook/agent", bad.in); status != bad.want {
			t.Errorf("%s: %d %v", name, status, out)
		}
	}
	status, out := submit("/webhook/agent", map[string]any{"bundle": b64(raw)})
	if status != 200 || out["created"] != true {
		t.Fatalf("%d %v", status, out)
	}
	of := out["status_url"].(string)
	c := await(of, "it was routed", func(m map[string]any) bool { return m["route_version"] == 1.0 })
	if c["provenance"] != "agent_claimed" || c["files_truncated"] == true || c["file_count"] != 2.0 {
		t.Errorf("provenance %v, truncated %v, %v files", c["provenance"], c["files_truncated"], c["file_count"])
	}
	if tiers, _ := json.Marshal(c["tiers"]); !strings.Contains(string(tiers), "4") {
		t.Errorf("tiers %s: the file that its base would have hidden asks for a person", tiers)
	}

	// A bundle whose objects are torn passes the door and proves nothing: every tier is asked. Contents of files sent beside
	// it count for nothing, because nothing ties them to the commit.
	contents := []any{map[string]any{"path": "docs/b.md", "content": "text\n"}}
	w.Write("docs/b.md", "text\n")
	torn := w.Commit("")
	w.Git("bundle", "create", "-q", file, "main", "^"+base)
	if raw, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	if status, out = submit("/webhook/agent", map[string]any{"bundle": b64(raw[:len(raw)-30]), "head_sha": torn, "branch": "torn", "files": contents}); status != 200 {
		t.Fatalf("%d %v", status, out)
	}
	c = await(out["status_url"].(string), "it was routed", func(m map[string]any) bool { return m["route_version"] == 1.0 })
	if tiers, _ := json.Marshal(c["tiers"]); c["files_truncated"] != true || string(tiers) != "[0,1,2,3,4]" {
		t.Errorf("truncated %v, tiers %s", c["files_truncated"], tiers)
	}

	// Once it was pushed, what the forge has counts.
	w.Git("push", "-q", w.Remote, head+":refs/heads/main")
	pushed(t, url, w.Remote, base, head, 2)
	await(of, "it was read again", func(m map[string]any) bool { return m["provenance"] == "git" && m["route_version"] == 2.0 })
}

func TestAgentsSignatures(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	url := start(t, dsn, map[string]string{"AGENT_WEBHOOK_SECRET": "new, old"})
	body := `{"agent_id": "ana", "repository": "git.example/acme/shop", "branch": "b", "head_sha": "3333333333333333333333333333333333333333"}`
	sign := func(secret, text string) string {
		mac := hmac.New(sha256.New, []byte(secret))
		_, _ = mac.Write([]byte(text))
		return "sha256=" + hex.EncodeToString(mac.Sum(nil))
	}
	send := func(url, path, signature string) int {
		header := map[string]string{"X-API-Key": testKey, "X-Project": "p"}
		if signature != "" {
			header["X-Agent-Signature-256"] = signature
		}
		status, _ := call(t, "POST", url+path, body, header)
		return status
	}
	for _, bad := range []string{"", "sha256=", "sha1=" + strings.Repeat("0", 40), sign("other", body), sign("new", body+" "), strings.ToUpper(sign("new", body)), strings.TrimPrefix(sign("new", body), "sha256=")} {
		if status := send(url, "/webhook/agent", bad); status != 401 {
			t.Errorf("%q: %d", bad, status)
		}
	}
	for _, secret := range []string{"new", "old"} {
		if status := send(url, "/webhook/agent", sign(secret, body)); status != 200 {
			t.Errorf("signed with %s: %d", secret, status)
		}
	}
	if status := send(url, "/changesets", ""); status != 200 {
		t.Errorf("the operation's own route asks for a signature: %d", status)
	}
	without := start(t, dsn, nil)
	if status := send(without, "/webhook/agent", sign("new", body)); status != 401 {
		t.Errorf("a signature that nothing can check: %d", status)
	}
}
