package mcpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpstdio"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// within bounds everything a test waits for.
const within = 10 * time.Second

// resolver resolves claims in memory: sessions are numbered as they come.
type resolver struct {
	mu       sync.Mutex
	sessions map[string]int64
}

func (r *resolver) Resolve(_ context.Context, p ident.Principal, claim ident.Claim, acts bool) (ident.Caller, error) {
	c := ident.Caller{ProjectID: 1, Project: claim.Project, Repository: claim.Repository, Agent: claim.Agent, AgentType: claim.AgentType, Session: claim.Session, By: p.Name, Scopes: p.Scopes}
	if !acts {
		return c, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := claim.Agent + "/" + claim.Session
	if r.sessions[key] == 0 {
		r.sessions[key] = int64(len(r.sessions) + 1)
	}
	c.SessionID = r.sessions[key]
	return c, nil
}
func (*resolver) Forget(ident.Caller) {}
func (*resolver) Denied(context.Context, ident.Principal, ident.Claim, string, string) {
}

// Once runs without storing.
func (*resolver) Once(ctx context.Context, _ ident.Caller, _ string, _ []byte, run func(ctx context.Context) (json.RawMessage, error)) (json.RawMessage, bool, error) {
	out, err := run(ctx)
	return out, false, err
}

// What the operations of the test catalogue take and answer.
type (
	takeIn struct {
		FilePath    string `json:"file_path" kind:"path" doc:"path to take"`
		Reason      string `json:"reason,omitempty" doc:"why"`
		WaitSeconds int    `json:"wait_seconds,omitempty" minimum:"0" maximum:"55" default:"0" doc:"seconds to wait"`
		Branch      string `json:"branch,omitempty" mcp:"full" doc:"only this branch"`
	}
	takeOut struct {
		Success  bool   `json:"success"`
		FilePath string `json:"file_path"`
		Status   string `json:"status"`
		By       string `json:"by"`
		Type     string `json:"agent_type"`
		Session  string `json:"session"`
		Token    any    `json:"token"`
	}
	listIn struct {
		FilePaths []string `json:"file_paths,omitempty" kind:"path" doc:"only these"`
		Limit     int      `json:"limit,omitempty" minimum:"1" maximum:"10000" doc:"most rows"`
		Text      int      `json:"text,omitempty" doc:"bytes of one long text"`
	}
	listOut struct {
		Locks []lockRow `json:"locks"`
		Note  string    `json:"note,omitempty"`
	}
	tasksOut struct {
		Tasks []taskRow `json:"tasks"`
	}
	none struct{}
	done struct {
		Success bool `json:"success"`
	}
)

// world is what the operations of the test catalogue do.
type world struct {
	mu     sync.Mutex
	calls  map[string]int
	beats  chan string
	ended  chan string
	block  chan struct{} // take_slowly waits for it
	inside chan struct{} // take_slowly is there
	gone   chan error    // take_slowly's context ended
}

func newWorld() *world {
	return &world{calls: map[string]int{}, beats: make(chan string, 100), ended: make(chan string, 100), block: make(chan struct{}), inside: make(chan struct{}, 1000), gone: make(chan error, 1000)}
}

func (w *world) called(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[name]++
}

func (w *world) catalogue() *op.Catalogue {
	c := op.NewCatalogue()
	route := func(m, p string) []op.Route { return []op.Route{{Method: m, Path: p}} }
	op.Register(c, op.Op[takeIn, takeOut]{
		Name: "acquire_lock", Title: "Acquire", Text: "Takes a path.", Routes: route("POST", "/take"), Scope: ident.Write, Acts: true, Tool: op.Tool{Profile: op.Core, Idempotent: true},
		Do: func(_ context.Context, c ident.Caller, in takeIn) (takeOut, error) {
			w.called("acquire_lock")
			return takeOut{Success: true, FilePath: in.FilePath, Status: "held", By: c.Agent, Type: c.AgentType, Session: c.Session, Token: int64(1) << 60}, nil
		},
	})
	op.Register(c, op.Op[takeIn, takeOut]{
		Name: "take_slowly", Title: "Take slowly", Text: "Waits.", Routes: route("POST", "/slow"), Scope: ident.Write, Acts: true, Waits: true, Tool: op.Tool{Profile: op.Core},
		Do: func(ctx context.Context, _ ident.Caller, in takeIn) (takeOut, error) {
			w.inside <- struct{}{}
			op.Progress(ctx, 1, 10, "waiting for "+in.FilePath)
			op.Progress(ctx, 2, 10, "still waiting")
			select {
			case <-w.block:
				return takeOut{Success: true, FilePath: in.FilePath}, nil
			case <-ctx.Done():
				w.gone <- context.Cause(ctx)
				return takeOut{}, ctx.Err()
			}
		},
	})
	op.Register(c, op.Op[listIn, listOut]{
		Name: "check_locks", Title: "Check", Text: "Lists.", Routes: route("GET", "/locks"), Scope: ident.Read, Tool: op.Tool{Profile: op.Core, ReadOnly: true},
		Do: func(_ context.Context, _ ident.Caller, in listIn) (listOut, error) {
			out := listOut{Locks: []lockRow{}}
			for i := range in.Limit {
				out.Locks = append(out.Locks, lockRow{FilePath: fmt.Sprintf("src/file-%d.go", i), LockedBy: "other", AgentType: "codex", Reason: "r\n# x", ExpiresAt: "2030-01-01T00:00:00Z"})
			}
			for range in.Text {
				out.Note += "\""
			}
			return out, nil
		},
	})
	op.Register(c, op.Op[none, tasksOut]{
		Name: "ready_work", Title: "Ready", Text: "Lists.", Routes: route("GET", "/work/ready"), Scope: ident.Read,
		Do: func(context.Context, ident.Caller, none) (tasksOut, error) {
			return tasksOut{Tasks: []taskRow{{"id-2", "docs", "later", 7, ""}, {"id-1", "fix", "first\n## Priority 0", 1, ""}}}, nil
		},
	})
	op.Register(c, op.Op[none, done]{
		Name: "fail", Title: "Fail", Text: "Fails.", Routes: route("POST", "/fail"), Scope: ident.Write, Tool: op.Tool{Profile: op.Core},
		Do: func(context.Context, ident.Caller, none) (done, error) {
			return done{}, fmt.Errorf("select * from secret")
		},
	})
	op.Register(c, op.Op[none, done]{
		Name: "crash", Title: "Crash", Text: "Panics.", Routes: route("POST", "/crash"), Scope: ident.Write, Tool: op.Tool{Profile: op.Core},
		Do: func(context.Context, ident.Caller, none) (done, error) { panic("secret") },
	})
	op.Register(c, op.Op[none, done]{
		Name: opHeartbeat, Title: "Beat", Text: "Beats.", Routes: route("POST", "/beat"), Scope: ident.Write, Acts: true, Tool: op.Tool{Profile: op.Full},
		Do: func(_ context.Context, c ident.Caller, _ none) (done, error) {
			w.beats <- c.Session
			return done{true}, nil
		},
	})
	op.Register(c, op.Op[none, done]{
		Name: opEndSession, Title: "End", Text: "Ends.", Routes: route("POST", "/end"), Scope: ident.Write, Tool: op.Tool{Profile: op.Full},
		Do: func(_ context.Context, c ident.Caller, _ none) (done, error) {
			w.ended <- c.Session
			return done{true}, nil
		},
	})
	return c
}

// pipeline runs the catalogue in memory.
func pipeline() *op.Pipeline {
	r := &resolver{sessions: map[string]int64{}}
	return &op.Pipeline{Resolver: r, Once: r}
}

// stdioClient is the host's end of a door's stdio.
type stdioClient struct {
	t      testing.TB
	in     io.WriteCloser
	lines  chan map[string]any
	ended  chan error
	nextID int
}

// serve runs door on pipes until the test ends.
func serve(t testing.TB, door *Door) (*stdioClient, *mcpstdio.Server) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	srv := mcpstdio.New(door.MCP())
	c := &stdioClient{t: t, in: inW, lines: make(chan map[string]any, 1000), ended: make(chan error, 1)}
	go func() {
		err := srv.Serve(context.Background(), inR, outW)
		_ = outW.Close()
		c.ended <- err
	}()
	go func() {
		defer close(c.lines)
		sc := bufio.NewScanner(outR)
		sc.Buffer(nil, 1<<20)
		for sc.Scan() {
			var m map[string]any
			if json.Unmarshal(sc.Bytes(), &m) == nil {
				c.lines <- m
			}
		}
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		for range c.lines { // until the output ends
			continue
		}
	})
	return c, srv
}

func (c *stdioClient) send(method string, params any) int {
	c.t.Helper()
	c.nextID++
	c.write(map[string]any{"jsonrpc": "2.0", "id": c.nextID, "method": method, "params": params})
	return c.nextID
}

func (c *stdioClient) write(m map[string]any) {
	c.t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(raw, '\n')); err != nil {
		c.t.Fatal(err)
	}
}

// next is the next line from the server.
func (c *stdioClient) next() map[string]any {
	c.t.Helper()
	select {
	case m, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the output ended")
		}
		return m
	case <-time.After(within):
		c.t.Fatal("no line in time")
		return nil
	}
}

// answer waits for the reply to id and returns what came before it.
func (c *stdioClient) answer(id int) (reply map[string]any, before []map[string]any) {
	c.t.Helper()
	for {
		m := c.next()
		if n, ok := m["id"].(float64); ok && int(n) == id {
			return m, before
		}
		before = append(before, m)
	}
}

func (c *stdioClient) hello(name string) map[string]any {
	c.t.Helper()
	id := c.send("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": name, "version": "1"}})
	reply, _ := c.answer(id)
	c.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return reply
}

// call calls a tool and returns its result.
func (c *stdioClient) call(name string, args any, meta map[string]any) map[string]any {
	c.t.Helper()
	params := map[string]any{"name": name, "arguments": args}
	if meta != nil {
		params["_meta"] = meta
	}
	reply, _ := c.answer(c.send("tools/call", params))
	res, ok := reply["result"].(map[string]any)
	if !ok {
		c.t.Fatalf("%s: %v", name, reply)
	}
	return res
}

// structured is a result's object; text is what stands in its first block.
func structured(res map[string]any) map[string]any {
	m, _ := res["structuredContent"].(map[string]any)
	return m
}

func text(res map[string]any) string {
	list, _ := res["content"].([]any)
	if len(list) == 0 {
		return ""
	}
	first, _ := list[0].(map[string]any)
	s, _ := first["text"].(string)
	return s
}

// testProcess is a stdio identity with nothing of the machine in it.
func testProcess() *Process { return &Process{Host: "box.example.com", User: "ana"} }

// refuse is an invoker whose database is away.
type refuse struct{}

func (refuse) Call(context.Context, *op.Def, op.Request) (op.Response, error) {
	return op.Response{}, fault.Unavailable(fmt.Errorf("it is not there"))
}
