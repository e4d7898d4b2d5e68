package operator

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// unpack returns the files of a support bundle.
func unpack(t *testing.T, file string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	out, in := map[string]string{}, tar.NewReader(zip)
	for {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if head.Mode != 0o600 {
			t.Errorf("%s: mode %o", head.Name, head.Mode)
		}
		out[filepath.Base(head.Name)] = string(text)
	}
}

// No secret is in a log, in the metrics, in an answer to somebody who does not have it, or in a support bundle; and nothing
// that agents remember or say is in the bundle or a log.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	dsn, dir := pgtest.DSN(t), t.TempDir()
	secrets := map[string]string{
		"COORDINATION_API_KEYS": key, "GITHUB_WEBHOOK_SECRET": "hook-secret-5e1f", "GITHUB_WEBHOOK_SECRET_PREVIOUS": "hook-before-77aa",
		"GITHUB_TOKEN": "ghp_0123456789abcdefGHIJ", "E2B_API_KEY": "e2b-key-93c1", "COORD_LLM_KEY": "llm-key-5521", "COORD_EMBEDDINGS_KEY": "emb-key-8123",
		"COORDINATION_API_KEY": key, "SUPABASE_SECRET_KEY": "sb_secret_4711abcd", "SUPABASE_ANON_KEY": "anon-key-6001",
	}
	hidden := []string{"services-path-8842", "memory-content-31337", "message-text-90210", "identity-key-2b2b"}
	for _, v := range secrets {
		hidden = append(hidden, v)
	}
	if u, err := url.Parse(dsn); err == nil {
		if password, ok := u.User.Password(); ok && len(password) > 5 {
			hidden = append(hidden, password)
		}
	}
	vars := base(dsn, "LOG_LEVEL=debug", "DEBUG_LOGGING=true", "COORD_HOME="+dir, "GATEWAY_DIR="+t.TempDir(), "E2B_API_URL=http://127.0.0.1:1",
		"GITHUB_API_URL=http://127.0.0.1:1", "NOTIFY_WEBHOOK_URL=http://127.0.0.1:1/services-path-8842/x",
		`COORDINATION_API_KEY_IDENTITIES={"identity-key-2b2b": {"agent_id": "ci"}}`)
	for name, v := range secrets {
		if !strings.HasPrefix(name, "SUPABASE") {
			vars = append(vars, name+"="+v)
		}
	}
	apiProgram, gatewayProgram := begin(t, vars, "api"), begin(t, vars, "gateway")
	api, gateway := apiProgram.url(), gatewayProgram.url()
	runner := begin(t, append(vars, "COORDINATION_API_URL="+api), "agent-runner", "-v", "--executor", "test-executor", "--project-dir", dir)
	withKey := "X-API-Key: " + key
	if got := ran(t, api, withKey); got != "completed" {
		t.Fatalf("the run %s", got)
	}
	var answers strings.Builder
	try := func(method, url, body string, headers ...string) {
		_, text := ask(t, method, url, body, headers...)
		answers.WriteString(text + "\n")
	}
	try("POST", api+"/memory/remember", `{"agent_id":"a","summary":"memory-content-31337"}`, withKey)
	try("POST", api+"/messages/send", `{"agent_id":"a","to":["b"],"text":"message-text-90210","allow_unknown":true}`, withKey)
	for _, server := range []string{api, gateway} {
		for _, header := range []string{"X-API-Key: wrong-" + key[:10], "Authorization: Bearer nobody", "Authorization: Basic " + key} {
			try("GET", server+"/changesets", "", header)
		}
		try("POST", server+"/locks/acquire", `{"agent_id":`, withKey)
		try("POST", server+"/nowhere", `{}`, withKey)
		try("GET", server+"/sse/sessions?session_id=none&api_key=nobody", "")
		try("GET", server+"/metrics", "")
		try("GET", server+"/openapi.json", "")
	}
	try("GET", api+"/runner/runs?api_key="+key, "") // no runner is named: a refusal with the key in the address
	try("POST", gateway+"/webhook/github", push, delivery(push, "another secret")...)
	try("POST", gateway+"/webhook/github", push, delivery(push, secrets["GITHUB_WEBHOOK_SECRET"])...)
	status, body := ask(t, "GET", api+"/memory/recall?task_description=memory", "", withKey)
	if status >= 500 {
		t.Fatal(body)
	}
	bundle := filepath.Join(dir, "bundle.tar.gz")
	if err := os.WriteFile(filepath.Join(dir, "up.log"), []byte("opened postgres://coord:pw-in-a-log-1@h/db with "+key+"\nAuthorization: Bearer abcdefghijkl\nfine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	programs, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	coordctl := func(args ...string) string {
		cmd := exec.Command(filepath.Join(programs, "coordctl"), args...)
		cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "COORDINATION_API_URL=" + api}, vars...)
		for name, v := range secrets {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("coordctl %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out := coordctl("support", "bundle", bundle, "--dry-run"); !strings.Contains(out, "database.json") {
		t.Errorf("dry run: %s", out)
	}
	if _, err := os.Stat(bundle); err == nil {
		t.Error("a dry run wrote the file")
	}
	answers.WriteString(coordctl("support", "bundle", bundle))
	files := unpack(t, bundle)
	for name, want := range map[string]string{
		"settings.txt": "GITHUB_WEBHOOK_SECRET=(set)", "database.json": `"public.file_locks"`, "migrations.json": `"version"`, "doctor.json": `"verdict"`,
		"metrics-api.txt": "coord_locks ", "up.log": "fine", "versions.json": `"go"`,
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s lacks %q: %.600s", name, want, files[name])
		}
	}
	if strings.Contains(files["up.log"], "pw-in-a-log-1") || strings.Contains(files["up.log"], "abcdefghijkl") {
		t.Errorf("up.log: %s", files["up.log"])
	}
	places := map[string]string{"the API's log": apiProgram.log(), "the gateway's log": gatewayProgram.log(), "the runner's log": runner.log(), "answers": answers.String()}
	for name, text := range files {
		places["the bundle's "+name] = text
	}
	for place, text := range places {
		for _, secret := range hidden {
			if place == "answers" && (secret == "memory-content-31337" || secret == "message-text-90210") {
				continue // to whom they are for
			}
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s shows %q: …%.200s", place, secret, text[max(0, at-100):])
			}
		}
	}
	var last struct{ Level string }
	if json.Unmarshal([]byte(strings.SplitN(apiProgram.log(), "\n", 2)[0]), &last) != nil || !strings.Contains(apiProgram.log(), `"level":"DEBUG"`) {
		t.Error("the log was not looked at in full")
	}
}
