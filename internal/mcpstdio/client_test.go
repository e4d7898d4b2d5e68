package mcpstdio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// fixture is an MCP server whose tools the tests steer.
type fixture struct {
	mcp     *server.MCPServer
	hooks   *server.Hooks
	entered chan string   // one per call of block and stubborn, its name
	release chan struct{} // closed: block and stubborn return
	causes  chan error    // why a block ended early
	free    func()        // closes release, once
	session chan *Session // of each call of who
	mail    chan map[string]any
}

func newFixture() *fixture {
	f := &fixture{
		hooks:   &server.Hooks{},
		entered: make(chan string, 2000),
		release: make(chan struct{}),
		causes:  make(chan error, 2000),
		session: make(chan *Session, 10),
		mail:    make(chan map[string]any, 10),
	}
	f.free = sync.OnceFunc(func() { close(f.release) })
	f.mcp = server.NewMCPServer("fixture", "1.0",
		server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(true), server.WithHooks(f.hooks))
	tool := func(name string, h server.ToolHandlerFunc) { f.mcp.AddTool(mcp.NewTool(name), h) }
	tool("echo", func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(req.GetString("text", "echo")), nil
	})
	tool("progress", progressTool)
	tool("block", f.block)
	tool("stubborn", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		f.entered <- "stubborn"
		<-f.release
		return mcp.NewToolResultText("late"), nil
	})
	tool("who", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		f.session <- SessionFromContext(ctx)
		return mcp.NewToolResultText(server.RequestProtocolVersion(ctx)), nil
	})
	tool("panic", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("secret") })
	tool("stray", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Println(`{"jsonrpc":"2.0","id":99,"result":"a stray print"}`)
		return mcp.NewToolResultText("printed"), nil
	})
	f.mcp.AddNotificationHandler("notifications/mail", func(_ context.Context, n mcp.JSONRPCNotification) {
		f.mail <- n.Params.AdditionalFields
	})
	return f
}

func (f *fixture) block(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	f.entered <- "block"
	select {
	case <-f.release:
		return mcp.NewToolResultText("released"), nil
	case <-ctx.Done():
		f.causes <- context.Cause(ctx)
		return nil, ctx.Err()
	}
}

// progressTool reports n times, alternating between the two ways to do it.
func progressTool(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	n := req.GetInt("n", 3)
	report := Progress(ctx, req.Params.Meta)
	for i := 1; i <= n; i++ {
		if i%2 == 0 {
			_ = server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress",
				map[string]any{"progressToken": req.Params.Meta.ProgressToken, "progress": i})
			continue
		}
		if err := report(float64(i), float64(n), "working"); err != nil {
			return nil, err
		}
	}
	return mcp.NewToolResultText("done"), nil
}

// wireLine is one Write of the transport.
type wireLine struct {
	at   time.Time
	text string
}

// message is a decoded line.
type message struct {
	at     time.Time
	text   string
	ID     json.RawMessage
	Method string
	Params map[string]any
	Result map[string]any
	Error  *struct {
		Code    int
		Message string
	}
}

// client speaks the line protocol to one Serve call.
type client struct {
	t      testing.TB
	in     *io.PipeWriter
	lines  chan wireLine
	gate   chan struct{} // if not nil, each Write of the transport takes one
	stop   context.CancelFunc
	done   chan error
	closed chan struct{} // Serve returned
	syncs  int
}

func (c *client) Write(p []byte) (int, error) {
	at := time.Now()
	if c.gate != nil {
		if _, ok := <-c.gate; !ok {
			return 0, io.ErrClosedPipe
		}
	}
	c.lines <- wireLine{at, string(p)}
	return len(p), nil
}

func start(t testing.TB, s *Server) *client { return startGated(t, s, nil) }

func startGated(t testing.TB, s *Server, gate chan struct{}) *client {
	t.Helper()
	r, w := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	c := &client{t: t, in: w, lines: make(chan wireLine, 100_000), gate: gate, stop: stop, done: make(chan error, 1), closed: make(chan struct{})}
	go func() {
		c.done <- s.Serve(ctx, r, c)
		close(c.closed)
	}()
	t.Cleanup(func() {
		stop()
		_ = w.Close()
		_ = r.Close()
	})
	return c
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

// call sends a tools/call of the legacy era.
func (c *client) call(id any, tool, args string) {
	c.t.Helper()
	spelled, _ := json.Marshal(id)
	c.send(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{%s},"_meta":{"progressToken":%s}}}`,
		spelled, tool, args, spelled)
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"modern","version":"2"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}}`

// modern sends a request of the 2026-07-28 era; params may be empty.
func (c *client) modern(id any, method, params string) {
	c.t.Helper()
	spelled, _ := json.Marshal(id)
	if params != "" {
		params += ","
	}
	c.send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, spelled, method, params, modernMeta)
}

// next returns the next line, which must be one whole message.
func (c *client) next() message {
	c.t.Helper()
	select {
	case l := <-c.lines:
		return c.decode(l)
	case <-time.After(20 * time.Second):
		c.t.Fatal("no line from the server")
		return message{}
	}
}

func (c *client) decode(l wireLine) message {
	c.t.Helper()
	if strings.Count(l.text, "\n") != 1 || !strings.HasSuffix(l.text, "\n") {
		c.t.Fatalf("not one line: %q", l.text)
	}
	m := message{at: l.at, text: strings.TrimSpace(l.text)}
	if l.text[0] == '[' {
		return m
	}
	if err := json.Unmarshal([]byte(l.text), &m); err != nil {
		c.t.Fatalf("line %q: %v", l.text, err)
	}
	return m
}

// reply returns the next line, which must be the reply to id.
func (c *client) reply(id any) message {
	c.t.Helper()
	m := c.next()
	want, _ := json.Marshal(id)
	if !bytes.Equal(m.ID, want) || m.Method != "" {
		c.t.Fatalf("got %s, want the reply to %s", m.text, want)
	}
	return m
}

func (c *client) result(id any) message {
	c.t.Helper()
	m := c.reply(id)
	if m.Error != nil {
		c.t.Fatalf("got error %s", m.text)
	}
	return m
}

func (c *client) failure(id any, code int) message {
	c.t.Helper()
	m := c.reply(id)
	if m.Error == nil || m.Error.Code != code {
		c.t.Fatalf("got %s, want error %d", m.text, code)
	}
	return m
}

// notification returns the next line, which must be this notification.
func (c *client) notification(method string) message {
	c.t.Helper()
	m := c.next()
	if m.Method != method || m.ID != nil {
		c.t.Fatalf("got %s, want %s", m.text, method)
	}
	return m
}

func (c *client) initialize(version string) message {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"legacy","version":"1"}}}`, version)
	m := c.result("init")
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m
}

func (c *client) cancel(id any) {
	c.t.Helper()
	spelled, _ := json.Marshal(id)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"test"}}`, spelled)
}

// sync makes a round trip; everything queued before it has been read then.
func (c *client) sync() {
	c.t.Helper()
	c.syncs++
	id := fmt.Sprintf("sync-%d", c.syncs)
	c.send(`{"jsonrpc":"2.0","id":%q,"method":"ping"}`, id)
	c.result(id)
}

// end closes the input and returns the remaining lines and Serve's error.
func (c *client) end() ([]message, error) {
	c.t.Helper()
	if err := c.in.Close(); err != nil {
		c.t.Fatal(err)
	}
	return c.rest()
}

func (c *client) rest() (rest []message, err error) {
	c.t.Helper()
	err = <-c.done
	for len(c.lines) > 0 {
		rest = append(rest, c.decode(<-c.lines))
	}
	return rest, err
}

func (c *client) endClean() {
	c.t.Helper()
	rest, err := c.end()
	if err != nil || len(rest) > 0 {
		c.t.Fatalf("end: %v, unread %v", err, rest)
	}
}

func recv[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing happened")
		panic("unreachable")
	}
}
