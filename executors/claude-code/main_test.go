package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// asCLI makes the test program the CLI: it notes how it was called in the named file and prints the script of scriptVar.
const (
	asCLI     = "TEST_AS_CLI"
	scriptVar = "TEST_CLI_SCRIPT"
)

func TestMain(m *testing.M) {
	if note := os.Getenv(asCLI); note != "" {
		os.Exit(beCLI(note))
	}
	goleak.VerifyTestMain(m)
}

func beCLI(note string) int {
	prompt, _ := io.ReadAll(os.Stdin)
	dir, _ := os.Getwd()
	called := map[string]any{"args": os.Args[1:], "prompt": string(prompt), "dir": dir}
	if i := slices.Index(os.Args, "--mcp-config"); i > 0 {
		raw, _ := os.ReadFile(os.Args[i+1])
		called["mcp"] = string(raw)
	}
	raw, _ := json.Marshal(called)
	_ = os.WriteFile(note, raw, 0o600)
	script := os.Getenv(scriptVar)
	fmt.Print(script)
	if strings.Contains(script, "exit 3") {
		fmt.Fprintln(os.Stderr, "no credit")
		return 3
	}
	return 0
}

const toolTurn = `{"type":"system","subtype":"init","session_id":"cc-1"}
not json
{"type":"assistant","message":{"content":[{"type":"text","text":"Let me look."},{"type":"tool_use","id":"t1","name":"Read","input":{"path":"a.go"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"package a"}]}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"false"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"exit 1","is_error":true}]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}
{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"cc-1"}
`

// world is a gateway that notes what it is sent.
type world struct {
	mu    sync.Mutex
	calls []string
	known string // answer to GET /sessions/…
}

func (w *world) handler() http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(body, "timestamp")
		delete(body, "last_resumed_at")
		delete(body, "session_id")
		raw, _ := json.Marshal(body)
		w.calls = append(w.calls, r.Method+" "+r.URL.Path+" "+string(raw))
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(rw, w.known)
			return
		}
		_, _ = io.WriteString(rw, `{"ok":true}`)
	})
}

// turn runs the executor once, the test program being the CLI, and returns what it wrote, how it ended, what the gateway
// got and how the CLI was called.
func turn(t *testing.T, w *world, invocation, script string) (out string, err error, called map[string]any) { //nolint:revive,staticcheck // the call comes after the error in what happens
	t.Helper()
	srv := httptest.NewServer(w.handler())
	defer srv.Close()
	note := t.TempDir() + "/called.json"
	env := []string{"AGENT_ORCHESTRATOR_API_URL=" + srv.URL, asCLI + "=" + note, scriptVar + "=" + script, "SECRET=s3", "CLAUDECODE=1", "PATH=/nowhere"}
	var stdout, stderr bytes.Buffer
	err = run(t.Context(), strings.NewReader(invocation), &stdout, &stderr, env)
	if raw, readErr := os.ReadFile(note); readErr == nil {
		if err := json.Unmarshal(raw, &called); err != nil {
			t.Fatal(err)
		}
	}
	return stdout.String() + stderr.String(), err, called
}

func invocation(t *testing.T, more map[string]any) string {
	t.Helper()
	inv := map[string]any{
		"schema_version": "2.1", "mode": "start", "session_id": "ses_1", "prompt": "look at a.go", "project_dir": t.TempDir(),
		"executor_config": map[string]any{"cli_path": os.Args[0], "model": "opus", "permission_mode": "acceptEdits"},
	}
	for k, v := range more {
		inv[k] = v
	}
	raw, err := json.Marshal(inv)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The result's use is reported by model, or in all where the CLI does not tell models apart; also that of a turn that failed.
func TestUseIsReported(t *testing.T) {
	t.Parallel()
	const begin = `{"type":"system","subtype":"init","session_id":"cc-1"}` + "\n"
	for _, tt := range []struct{ name, result, want string }{
		{
			"by model", `{"type":"result","subtype":"success","uuid":"u1","result":"Done.","session_id":"cc-1","total_cost_usd":0.5,"modelUsage":{"opus":{"inputTokens":3,"outputTokens":4,"cacheReadInputTokens":5,"cacheCreationInputTokens":6,"costUSD":0.4},"haiku":{"inputTokens":1,"costUSD":0.1}}}`,
			`POST /usage {"reports":[{"cache_read_tokens":0,"cache_write_tokens":0,"cost_usd":0.1,"input_tokens":1,"key":"u1:haiku","model":"haiku","output_tokens":0},{"cache_read_tokens":5,"cache_write_tokens":6,"cost_usd":0.4,"input_tokens":3,"key":"u1:opus","model":"opus","output_tokens":4}]}`,
		},
		{
			"in all, of a failure", `{"type":"result","subtype":"error_max_turns","is_error":true,"session_id":"cc-1","total_cost_usd":0.25,"usage":{"input_tokens":7,"output_tokens":8,"cache_read_input_tokens":9}}`,
			`POST /usage {"reports":[{"cache_read_tokens":9,"cache_write_tokens":0,"cost_usd":0.25,"input_tokens":7,"key":"cc-1","output_tokens":8}]}`,
		},
	} {
		w := &world{}
		_, _, _ = turn(t, w, invocation(t, nil), begin+tt.result+"\n")
		if !slices.Contains(w.calls, tt.want) {
			t.Errorf("%s: no %s in\n%s", tt.name, tt.want, strings.Join(w.calls, "\n"))
		}
	}
}

func TestATurnWithTools(t *testing.T) {
	t.Parallel()
	w, dir := &world{}, t.TempDir()
	in := invocation(t, map[string]any{"project_dir": dir, "agent_blueprint": map[string]any{
		"name": "coder", "system_prompt": "You code.",
		"mcp_servers": map[string]any{"o": map[string]any{"type": "http", "url": "http://x/mcp", "headers": map[string]any{"A": "Bearer ${SECRET} ${UNSET}"}}},
	}})
	out, err, called := turn(t, w, in, toolTurn)
	if err != nil || out != "Done.\n" {
		t.Fatalf("%v %s", err, out)
	}
	want := []string{
		`POST /bind {"executor_session_id":"cc-1","project_dir":"` + dir + `"}`,
		`POST /events {"content":[{"text":"look at a.go","type":"text"}],"event_type":"message","role":"user"}`,
		`POST /events {"content":[{"text":"Let me look.","type":"text"}],"event_type":"message","role":"assistant"}`,
		`POST /events {"event_type":"post_tool","tool_input":{"path":"a.go"},"tool_name":"Read","tool_output":"package a"}`,
		`POST /events {"error":"exit 1","event_type":"post_tool","tool_input":{"command":"false"},"tool_name":"Bash","tool_output":"exit 1"}`,
		`POST /events {"content":[{"text":"Done.","type":"text"}],"event_type":"message","role":"assistant"}`,
		`POST /events {"event_type":"session_stop","exit_code":0,"reason":"completed"}`,
	}
	if !slices.Equal(w.calls, want) {
		t.Errorf("calls\n%s\nwant\n%s", strings.Join(w.calls, "\n"), strings.Join(want, "\n"))
	}
	line := fmt.Sprint(called["args"])
	for _, arg := range []string{"-p --output-format stream-json --verbose --permission-mode acceptEdits", "--setting-sources user,project,local", "--model opus", "--append-system-prompt You code."} {
		if !strings.Contains(line, arg) {
			t.Errorf("no %q in %s", arg, line)
		}
	}
	if called["prompt"] != "look at a.go" || called["dir"] != dir || !strings.Contains(fmt.Sprint(called["mcp"]), `"Bearer s3 ${UNSET}"`) {
		t.Errorf("called %v", called)
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := &world{known: `{"session":{"executor_session_id":"cc-0","project_dir":"` + dir + `"}}`}
	_, err, called := turn(t, w, invocation(t, map[string]any{"mode": "resume", "project_dir": ""}), toolTurn)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"GET /sessions/ses_1", `POST /bind {"executor_session_id":"cc-1"`, "PATCH /metadata", `POST /events {"event_type":"session_start"}`} {
		if !strings.HasPrefix(w.calls[i], want) {
			t.Errorf("call %d is %s, want %s", i, w.calls[i], want)
		}
	}
	if !strings.Contains(fmt.Sprint(called["args"]), "--resume cc-0") || called["dir"] != dir {
		t.Errorf("called %v", called)
	}
	if _, err, _ = turn(t, &world{known: `{"session":{"executor_session_id":null}}`}, invocation(t, map[string]any{"mode": "resume"}), toolTurn); err == nil || !strings.Contains(err.Error(), "never bound") {
		t.Errorf("resume of what never began: %v", err)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in, script, want string
	}{
		{"no CLI", invocation(t, map[string]any{"executor_config": nil}), "", "not on this runner's PATH"},
		{"a CLI that is gone", invocation(t, map[string]any{"executor_config": map[string]any{"cli_path": "/no/claude"}}), "", "cli_path"},
		{"no result", invocation(t, nil), `{"type":"system","subtype":"init","session_id":"cc-1"}`, "without a result"},
		{"exit code", invocation(t, nil), `exit 3`, "exit status 3"},
		{"an error as result", invocation(t, nil), `{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["too many turns"]}`, "error_max_turns: too many turns"},
		{"schema", invocation(t, map[string]any{"schema_version": "1.0"}), "", "schema_version"},
		{"no prompt", invocation(t, map[string]any{"prompt": ""}), "", "prompt"},
		{"no JSON", "{", "", "not JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := &world{}
			if out, err, _ := turn(t, w, tt.in, tt.script); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, wrote %s", err, out)
			}
			if strings.Contains(strings.Join(w.calls, " "), "session_stop") {
				t.Errorf("a failed turn must not finish the session: %v", w.calls)
			}
		})
	}
}
