package coordctl

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpclient"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
)

// secret is a word that stands in everything that project alpha holds. Nobody of beta may ever read it.
const secret = "zanzibar"

// tenants are two projects on one installation. Alpha holds something of every kind; intruder is a key of beta.
type tenants struct {
	*place
	u        up
	alpha    *client.AgentCoordinationClient
	intruder string
	ids      map[string]string // members that name things of alpha
}

func newTenants(t *testing.T) *tenants {
	t.Helper()
	x := &tenants{place: newPlace(t)}
	x.u = x.up()
	x.ids = map[string]string{"session_id": "ses_" + secret, "file_path": "src/a.go", "lock": "src/a.go", "name": "alpha-key"}
	admin := x.client(x.u.APIKey, "boss")
	keys := map[string]string{}
	for _, project := range []string{"alpha", "beta"} {
		out, err := admin.CreateKey(t.Context(), client.CreateKey{Name: project + "-key", Project: project, Scopes: []string{"read", "write", "runner", "reviewer"}})
		x.ok(err)
		keys[project] = out.Secret
	}
	x.intruder = keys["beta"]
	x.alpha = x.client(keys["alpha"], "ana")
	x.furnish()
	return x
}

func (x *tenants) ok(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *tenants) client(key, agent string) *client.AgentCoordinationClient {
	x.t.Helper()
	c, err := client.New(x.u.APIURL, key, client.WithAgent(agent, "codex"), client.WithSession(agent+"-session"))
	x.ok(err)
	x.t.Cleanup(c.Close)
	return c
}

// furnish gives alpha something of every kind, each with the word in it.
func (x *tenants) furnish() {
	x.t.Helper()
	ctx, c := x.t.Context(), x.alpha
	_, err := c.AcquireLock(ctx, client.AcquireLock{FilePath: "src/a.go", Reason: secret, TTLMinutes: 60})
	x.ok(err)
	task, err := c.SubmitWork(ctx, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "t", Description: secret, InputData: map[string]any{"x": secret}}})
	x.ok(err)
	work, err := c.GetWork(ctx, client.GetWork{})
	x.ok(err)
	waiting, err := c.SubmitWork(ctx, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "t", Description: secret}, DependsOn: []string{task.TaskID}})
	x.ok(err)
	_, err = c.SendMessage(ctx, client.SendMessage{To: []string{"bob"}, Text: secret, AllowUnknown: true})
	x.ok(err)
	_, err = c.WriteHandoff(ctx, client.WriteHandoff{Summary: secret})
	x.ok(err)
	memory, err := c.Remember(ctx, client.Remember{EventType: "discovery", Summary: secret})
	x.ok(err)
	_, err = c.RegisterSession(ctx, client.RegisterSession{CurrentTask: secret, Capabilities: []string{secret}})
	x.ok(err)
	_, err = c.CreateOrchestratedSession(ctx, client.CreateOrchestratedSession{SessionID: x.ids["session_id"], ProjectDir: "/" + secret})
	x.ok(err)
	run, err := c.CreateRun(ctx, client.CreateRun{Type: "start_session", SessionID: "ses_run" + secret, Prompt: secret, DelaySeconds: 86400})
	x.ok(err)
	x.ids["task_id"], x.ids["memory_id"], x.ids["run_id"], x.ids["waiting"] = *work.TaskID, memory.MemoryID, run.RunID, waiting.TaskID
}

// state is what alpha sees of itself; times that run are left out.
func (x *tenants) state() string {
	x.t.Helper()
	ctx := context.Background()
	locks, err := x.alpha.CheckLocks(ctx, client.CheckLocks{})
	x.ok(err)
	tasks, err := x.alpha.ListWork(ctx, client.ListWork{})
	x.ok(err)
	sessions, err := x.alpha.ListOrchestratedSessions(ctx, client.ListOrchestratedSessions{})
	x.ok(err)
	run, err := x.alpha.GetRun(ctx, client.RunRef{RunID: x.ids["run_id"]})
	x.ok(err)
	memory, err := x.alpha.MemoryGet(ctx, client.GetMemory{MemoryID: x.ids["memory_id"]})
	x.ok(err)
	for i := range locks.Locks {
		locks.Locks[i].SecondsLeft = 0
	}
	raw, err := json.Marshal([]any{locks, tasks, sessions, run, memory})
	x.ok(err)
	if strings.Count(string(raw), secret) < 6 {
		x.t.Fatalf("alpha does not see what is its own: %s", raw)
	}
	return string(raw)
}

// members are arguments for an operation that name things of alpha wherever they can.
func (x *tenants) members(d *op.Def) map[string]any {
	in := map[string]any{}
	for name := range d.In.Properties {
		switch {
		case x.ids[name] != "":
			in[name] = x.ids[name]
		case name == "query", name == "prompt", name == "text", name == "summary", name == "reason", name == "description", name == "title":
			in[name] = "anything at all"
		case name == "success":
			in[name] = true
		case name == "action":
			in[name] = "heartbeat"
		case name == "fencing_token":
			in[name] = "1"
		}
	}
	return in
}

func (x *tenants) send(method, path, body string, headers ...string) (int, string) {
	x.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, x.u.APIURL+path, bytes.NewBufferString(body))
	x.ok(err)
	req.Header.Set("X-API-Key", x.intruder)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	x.ok(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	x.ok(err)
	return res.StatusCode, string(text)
}

// Two projects on one installation, tried through every door with a key of the other: every operation over HTTP, every
// tool over /mcp, the command line, the MCP server on stdio, the Data API's roles. Nothing of alpha is read, nothing of
// it changes.
func TestTwoProjectsAreApartThroughEveryDoor(t *testing.T) {
	t.Parallel()
	x := newTenants(t)
	before := x.state()
	defs := ops.Catalogue(ops.Deps{}).Defs()
	leaks := func(door, what, reply string, asked map[string]any) {
		t.Helper()
		sent, _ := json.Marshal(asked)
		for _, v := range asked { // an answer may repeat what was asked for
			if s, ok := v.(string); ok && strings.Contains(s, secret) {
				reply = strings.ReplaceAll(reply, s, "")
			}
		}
		if strings.Contains(reply, secret) {
			t.Errorf("%s: %s tells beta of alpha: %.400s (asked with %s)", door, what, reply, sent)
		}
	}
	for _, d := range defs {
		for _, r := range d.Routes {
			for _, header := range [][]string{{"X-Agent-Id", "eve", "X-Session-Id", "eve"}, {"X-Agent-Id", "ana", "X-Session-Id", "ana-session"}, {"X-Agent-Id", "eve", "X-Project", "alpha"}} {
				in := x.members(d)
				path := r.Path
				for name, value := range in {
					path = strings.NewReplacer(":"+name, fmt.Sprint(value), "*"+name, fmt.Sprint(value)).Replace(path)
				}
				body, _ := json.Marshal(in)
				status, reply := x.send(r.Method, path, string(body), header...)
				leaks("HTTP", r.Method+" "+path, reply, in)
				if status >= 500 || len(header) == 4 && header[2] == "X-Project" && status < 400 {
					t.Errorf("HTTP: %s %s as %v: %d %.200s", r.Method, path, header, status, reply)
				}
			}
		}
		if d.Tool.Profile != op.NoTool {
			in := x.members(d)
			call, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": d.Name, "arguments": in}})
			_, reply := x.send("POST", "/mcp", string(call), "X-Agent-Id", "eve")
			leaks("/mcp", d.Name, reply, in)
		}
		if d.Scope == ident.Read {
			r := x.sh("bin/coordctl "+d.CLI+" --json --agent-id eve </dev/null", "COORDINATION_API_URL="+x.u.APIURL, "COORDINATION_API_KEY="+x.intruder)
			leaks("coordctl", d.CLI, r.out+r.err, nil)
		}
	}
	x.tryStdio(defs, leaks)
	x.tryDataAPI()
	if after := x.state(); after != before {
		t.Errorf("alpha was changed\nbefore: %s\nafter:  %s", before, after)
	}
}

// tryStdio drives an MCP server that works for beta.
func (x *tenants) tryStdio(defs []*op.Def, leaks func(door, what, reply string, asked map[string]any)) {
	x.t.Helper()
	cmd := exec.Command(filepath.Join(x.dir, "bin", "mcp-server"))
	cmd.Dir = x.dir
	cmd.Env = append(append([]string{}, x.env...), "COORD_PROJECT=beta", "COORD_TOOL_PROFILE=full", "AGENT_ID=eve", "SESSION_ID=eve", "COORD_DATABASE_URL="+x.u.DB)
	c, err := mcpclient.Start(context.Background(), cmd, "codex-mcp-client")
	x.ok(err)
	defer func() { _ = c.Close(context.Background()) }()
	tools, err := c.Tools(context.Background())
	x.ok(err)
	if len(tools) < 16 {
		x.t.Fatalf("%d tools", len(tools))
	}
	for _, d := range defs {
		if d.Tool.Profile == op.NoTool {
			continue
		}
		in := x.members(d)
		delete(in, "session_id")
		var out json.RawMessage
		if err := c.Call(context.Background(), d.Name, in, &out); err != nil {
			leaks("MCP stdio", d.Name, err.Error(), in)
		}
		leaks("MCP stdio", d.Name, string(out), in)
	}
}

// tryDataAPI reads every table of schema public as a member of beta.
func (x *tenants) tryDataAPI() {
	x.t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, x.u.DB)
	x.ok(err)
	defer conn.Close(ctx)
	rows, _ := conn.Query(ctx, `select oid::regclass::text from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v') and has_table_privilege('authenticated', oid, 'select')`)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	x.ok(err)
	for project, want := range map[string]bool{"alpha": true, "beta": false} {
		seen := ""
		for _, table := range tables {
			tx, err := conn.Begin(ctx)
			x.ok(err)
			_, err = tx.Exec(ctx, `select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`, `{"app_metadata": {"projects": ["`+project+`"]}}`)
			x.ok(err)
			var n int
			x.ok(tx.QueryRow(ctx, `select count(*) from public.`+strings.TrimPrefix(table, "public.")+` r where r::text like '%`+secret+`%'`).Scan(&n))
			if n > 0 {
				seen += " " + table
			}
			x.ok(tx.Rollback(ctx))
		}
		if (seen != "") != want {
			x.t.Errorf("Data API: a member of %s sees the word in%s", project, seen)
		}
	}
}
