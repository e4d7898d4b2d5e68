package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/internal/ops"
)

// seen is what the stand-in API was sent.
type seen struct {
	method, path, query string
	header              http.Header
	body                map[string]any
}

// api answers every call with status and reply and keeps what it was sent.
func api(t *testing.T, status int, reply string) (url string, last *seen) {
	t.Helper()
	last = &seen{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*last = seen{method: r.Method, path: r.URL.Path, query: r.URL.RawQuery, header: r.Header.Clone()}
		raw, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(raw, &last.body) // GET has none
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, reply)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, last
}

// run runs coordctl with an environment that names nothing but what vars say.
func run(t *testing.T, stdin string, vars map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(context.Background(), Env{
		In: strings.NewReader(stdin), Out: &out, Err: &errs, Args: args,
		Getenv: func(name string) string { return vars[name] },
	})
	return code, out.String(), errs.String()
}

func remote(url string) map[string]string {
	return map[string]string{"COORDINATION_API_URL": url, "COORDINATION_API_KEY": "k", "AGENT_ID": "ana"}
}

func TestCallSendsWhatTheFlagsSay(t *testing.T) {
	t.Parallel()
	url, last := api(t, 200, `{"success":true,"action":"acquired","file_path":"src/app.go"}`)
	code, out, stderr := run(t, "", remote(url), "lock", "acquire", "src/app.go", "--reason", "because", "--ttl_minutes", "5",
		"--project", "team", "--session-id", "s1", "--request-key", "once", "--json")
	if code != 0 || out != `{"success":true,"action":"acquired","file_path":"src/app.go"}`+"\n" || stderr != "" {
		t.Fatalf("code %d, stdout %q, stderr %q", code, out, stderr)
	}
	if last.method != "POST" || last.path != "/locks/acquire" {
		t.Errorf("called %s %s", last.method, last.path)
	}
	if last.body["file_path"] != "src/app.go" || last.body["reason"] != "because" || last.body["ttl_minutes"] != 5.0 {
		t.Errorf("body %v", last.body)
	}
	for header, want := range map[string]string{
		"X-Api-Key": "k", "X-Agent-Id": "ana", "X-Project": "team", "X-Session-Id": "s1", "Idempotency-Key": "once",
	} {
		if got := last.header.Get(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
}

func TestDataComesFromALiteralOrStandardInput(t *testing.T) {
	t.Parallel()
	url, last := api(t, 200, `{"success":true}`)
	for _, data := range []string{`{"file_path": "a.go", "reason": "x"}`, "-"} {
		code, _, stderr := run(t, `{"file_path": "a.go", "reason": "x"}`, remote(url), "lock", "acquire", "--project", "p", "--data", data, "--reason", "y")
		if code != 0 || last.body["file_path"] != "a.go" || last.body["reason"] != "y" {
			t.Errorf("--data %s: code %d, body %v, %s", data, code, last.body, stderr)
		}
	}
	if code, _, stderr := run(t, "", remote(url), "lock", "acquire", "--data", "[1]"); code != exitUsage || !strings.Contains(stderr, "JSON object") {
		t.Errorf("code %d, %s", code, stderr)
	}
}

func TestSeveralPathsGoIntoTheList(t *testing.T) {
	t.Parallel()
	url, last := api(t, 200, `{"success":true}`)
	code, _, stderr := run(t, "", remote(url), "lock", "acquire", "src/**/*.go", "docs/", "--project", "p")
	list, _ := last.body["file_paths"].([]any)
	if code != 0 || len(list) != 2 || list[1] != "docs/" || last.body["file_path"] != nil {
		t.Errorf("code %d, body %v, %s", code, last.body, stderr)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	problem := func(code string) string { return `{"code":"` + code + `","what":"w","why":"y","next":"n"}` }
	tests := []struct {
		name   string
		status int
		reply  string
		args   []string
		want   int
	}{
		{"done", 200, `{"success":true}`, []string{"lock", "release", "a"}, exitOK},
		{"refused", 200, `{"success":false,"reason":"locked_by_other"}`, []string{"lock", "acquire", "a"}, exitRefused},
		{"lease lost", 410, problem("lease_lost"), []string{"lock", "verify", "a", "1"}, exitRefused},
		{"invalid", 422, problem("invalid"), []string{"lock", "release", "a"}, exitUsage},
		{"forbidden", 403, problem("forbidden"), []string{"lock", "release", "a"}, exitOther},
		{"unavailable", 503, problem("unavailable"), []string{"lock", "release", "a"}, exitUnavailable},
		{"no API of ours", 200, `<html>`, []string{"lock", "release", "a"}, exitUnavailable},
		{"missing member", 200, `{}`, []string{"lock", "verify"}, exitUsage},
		{"too many arguments", 200, `{}`, []string{"lock", "verify", "a", "1", "b"}, exitUsage},
		{"unknown flag", 200, `{}`, []string{"lock", "release", "--nope"}, exitUsage},
		{"unknown verb", 200, `{}`, []string{"lock", "acquir"}, exitUsage},
		{"unknown command", 200, `{}`, []string{"nope"}, exitUsage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url, _ := api(t, tt.status, tt.reply)
			code, _, stderr := run(t, "", remote(url), append(tt.args, "--project", "p")...)
			if code != tt.want {
				t.Errorf("exit code %d, want %d; %s", code, tt.want, stderr)
			}
			if code > exitRefused && !strings.Contains(stderr, "error: ") {
				t.Errorf("stderr says %q", stderr)
			}
		})
	}
}

// Hosts take exit code 2 for a refusal: input that no hook can read is one only where the guard fails closed.
func TestUnreadableHookInputFailsAsAsked(t *testing.T) {
	t.Parallel()
	for _, input := range []string{"", "junk", "[]", `{"hook_event_name": 7}`, `{"hook_event_name": "PreToolUse", "x": "` + strings.Repeat("a", maxHookInput) + `"}`} {
		for mode, want := range map[string]int{"open": exitOther, "closed": exitUsage} {
			code, out, stderr := run(t, input, nil, "hook", "claude-code", "--fail", mode)
			if code != want || out != "" || !strings.Contains(stderr, "not the input of a hook") {
				t.Errorf("%.20q, failing %s: code %d, stdout %q, stderr %q", input, mode, code, out, stderr)
			}
		}
	}
}

func TestErrorsAreJSONWithJSON(t *testing.T) {
	t.Parallel()
	url, _ := api(t, 410, `{"code":"lease_lost","what":"w","why":"y","next":"n"}`)
	_, out, stderr := run(t, "", remote(url), "lock", "verify", "a", "1", "--project", "p", "--json")
	var f map[string]any
	if err := json.Unmarshal([]byte(stderr), &f); err != nil || f["code"] != "lease_lost" || f["next"] != "n" || out != "" {
		t.Errorf("stdout %q, stderr %q", out, stderr)
	}
}

func TestUnreachableIsNotNothing(t *testing.T) {
	t.Parallel()
	url, _ := api(t, 200, "{}")
	vars := remote(strings.Replace(url, "127.0.0.1", "127.0.0.1:1#", 1))
	vars["COORDINATION_API_URL"] = "http://127.0.0.1:1"
	code, out, stderr := run(t, "", vars, "lock", "list", "--project", "p")
	if code != exitUnavailable || out != "" || !strings.Contains(stderr, "does not mean") {
		t.Errorf("code %d, %q, %q", code, out, stderr)
	}
}

// TestEveryOperationIsACommand: each has its own words, texts and an example that parses.
func TestEveryOperationIsACommand(t *testing.T) {
	t.Parallel()
	a := &app{Env: Env{Getenv: func(string) string { return "" }}, cat: ops.Catalogue(ops.Deps{})}
	root := a.root()
	commands := map[*cobra.Command]string{}
	for _, d := range a.cat.Defs() {
		if len(d.Routes) == 0 {
			continue
		}
		cmd, rest, err := root.Find(strings.Fields(d.CLI))
		if err != nil || len(rest) > 0 || !cmd.Runnable() {
			t.Errorf("%s: `coordctl %s` is no command (%v)", d.Name, d.CLI, err)
			continue
		}
		if other := commands[cmd]; other != "" {
			t.Errorf("%s and %s share `coordctl %s`", d.Name, other, d.CLI)
		}
		commands[cmd] = d.Name
		if cmd.Short != d.Title || cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s: texts are missing", d.Name)
		}
		for name := range d.In.Properties {
			if cmd.Flags().Lookup(flagName(name)) == nil {
				t.Errorf("%s: --%s is missing", d.Name, flagName(name))
			}
		}
	}
	if len(commands) == 0 {
		t.Error("the catalogue is empty")
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" {
			t.Errorf("%s says nothing about itself", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	a := &app{Env: Env{Getenv: func(string) string { return "" }}, cat: ops.Catalogue(ops.Deps{})}
	walk(a.root())
}
