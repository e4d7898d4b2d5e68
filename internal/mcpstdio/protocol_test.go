package mcpstdio

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func TestLegacyHandshake(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"2024-11-05": "2024-11-05",
		"2025-03-26": "2025-03-26",
		"2025-06-18": "2025-06-18",
		"2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", // initialize does not reach the modern era
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			f := newFixture()
			c := start(t, New(f.mcp))
			m := c.initialize(version)
			if m.Result["protocolVersion"] != want {
				t.Errorf("negotiated %v, want %s", m.Result["protocolVersion"], want)
			}
			c.call(1, "who", "")
			s := recv(t, f.session)
			if name, v := s.Client(); name != "legacy" || v != "1" {
				t.Errorf("client %s %s", name, v)
			}
			if s.Protocol() != want || s.ProtocolVersion() != want {
				t.Errorf("protocol %s, %s", s.Protocol(), s.ProtocolVersion())
			}
			if s.GetClientInfo().Name != "legacy" || s.GetClientCapabilities().Roots != nil {
				t.Errorf("client %+v, %+v", s.GetClientInfo(), s.GetClientCapabilities())
			}
			if m := c.result(1); !strings.Contains(m.text, want) || strings.Contains(m.text, "resultType") {
				t.Errorf("result %s", m.text)
			}
			c.endClean()
		})
	}
}

// Scripts pipe everything at once; what follows initialize must find its
// session, and the last line may lack its end.
func TestPipelinedHandshake(t *testing.T) {
	t.Parallel()
	f := newFixture()
	s := New(f.mcp)
	var out bytes.Buffer
	err := s.Serve(context.Background(), strings.NewReader("\xef\xbb\xbf"+
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"script","version":"1"}}}`+"\r\n\r\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":"p"}}}`), &out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5 || !strings.Contains(lines[0], `"protocolVersion":"2025-06-18"`) ||
		strings.Count(out.String(), "notifications/progress") != 3 || !strings.Contains(lines[4], `"id":1`) {
		t.Errorf("got %s", out.String())
	}
}

func TestModernRequests(t *testing.T) {
	t.Parallel()
	f := newFixture()
	c := start(t, New(f.mcp))
	c.modern("d", "server/discover", "")
	m := c.result("d")
	versions, _ := m.Result["supportedVersions"].([]any)
	if len(versions) != 5 || versions[0] != "2026-07-28" || m.Result["resultType"] != "complete" {
		t.Errorf("discover: %s", m.text)
	}
	c.modern(1, "tools/call", `"name":"who"`)
	s := recv(t, f.session)
	if name, v := s.Client(); name != "modern" || v != "2" {
		t.Errorf("client %s %s", name, v)
	}
	if s.Protocol() != "2026-07-28" || s.ProtocolVersion() != "" {
		t.Errorf("protocol %s, %s", s.Protocol(), s.ProtocolVersion())
	}
	if m := c.result(1); !strings.Contains(m.text, `"text":"2026-07-28"`) {
		t.Errorf("got %s", m.text)
	}
	// Progress works without any handshake.
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"progress","arguments":{"n":1},"_meta":{"progressToken":9,%s}}}`,
		strings.TrimSuffix(strings.TrimPrefix(modernMeta, `"_meta":{`), "}"))
	c.notification("notifications/progress")
	c.result(2)
	c.modern(3, "ping", "")
	c.failure(3, mcp.METHOD_NOT_FOUND) // removed in this revision
	c.send(`{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	c.failure(4, mcp.UNSUPPORTED_PROTOCOL_VERSION)
	c.send(`{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	c.failure(5, mcp.INVALID_PARAMS)
	if s.Protocol() != "2026-07-28" {
		t.Errorf("an unsupported version became the protocol: %s", s.Protocol())
	}
	c.endClean()
}

// A host may probe with discover and fall back to initialize.
func TestErasOnOneStream(t *testing.T) {
	t.Parallel()
	f := newFixture()
	c := start(t, New(f.mcp))
	c.modern(1, "server/discover", "")
	c.result(1)
	c.initialize("2025-06-18")
	c.call(2, "who", "")
	if s := recv(t, f.session); s.Protocol() != "2025-06-18" {
		t.Errorf("protocol %s", s.Protocol())
	}
	c.result(2)
	c.modern(3, "tools/call", `"name":"who"`)
	if s := recv(t, f.session); s.Protocol() != "2026-07-28" || s.ProtocolVersion() != "2025-06-18" {
		t.Errorf("protocol %s, %s", s.Protocol(), s.ProtocolVersion())
	}
	c.result(3)
	c.endClean()
}

func TestInvalidMessages(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		line string
		id   any
		code int
	}{
		"not json":         {`{"jsonrpc":"2.0","id":1,`, nil, mcp.PARSE_ERROR},
		"text":             {`hello`, nil, mcp.PARSE_ERROR},
		"two messages":     {`{"jsonrpc":"2.0","id":1,"method":"ping"}{"a":1}`, nil, mcp.PARSE_ERROR},
		"too deep":         {`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, nil, mcp.PARSE_ERROR},
		"number":           {`5`, nil, mcp.INVALID_REQUEST},
		"null":             {`null`, nil, mcp.INVALID_REQUEST},
		"no version":       {`{"id":1,"method":"ping"}`, 1, mcp.INVALID_REQUEST},
		"version 1":        {`{"jsonrpc":"1.0","id":"x","method":"ping"}`, "x", mcp.INVALID_REQUEST},
		"no method":        {`{"jsonrpc":"2.0","id":1}`, 1, mcp.INVALID_REQUEST},
		"method number":    {`{"jsonrpc":"2.0","id":1,"method":5}`, 1, mcp.INVALID_REQUEST},
		"method and error": {`{"jsonrpc":"2.0","id":1,"method":"ping","error":{}}`, 1, mcp.INVALID_REQUEST},
		"empty object":     {`{}`, nil, mcp.INVALID_REQUEST},
		"id null":          {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, mcp.INVALID_REQUEST},
		"id object":        {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, mcp.INVALID_REQUEST},
		"id true":          {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, nil, mcp.INVALID_REQUEST},
		"params array":     {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, 1, mcp.INVALID_REQUEST},
		"unknown method":   {`{"jsonrpc":"2.0","id":1,"method":"no/such"}`, 1, mcp.METHOD_NOT_FOUND},
		"batch":            {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, nil, mcp.INVALID_REQUEST},
		"panic":            {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"panic"}}`, 1, mcp.INTERNAL_ERROR},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, New(newFixture().mcp))
			c.initialize("2025-06-18")
			c.send("%s", tc.line)
			if m := c.failure(tc.id, tc.code); strings.Contains(m.text, "secret") {
				t.Errorf("got %s", m.text)
			}
			c.sync()
			c.endClean()
		})
	}
}

func TestIdsAreEchoedExactly(t *testing.T) {
	t.Parallel()
	c := start(t, New(newFixture().mcp))
	for _, id := range []string{`0`, `-5`, `9223372036854775807`, `18446744073709551615`, `1e2`, `1.50`, `""`, `"\u00e9 <&>"`} {
		c.send(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id)
		if m := c.next(); m.Error != nil || !sameJSON(string(m.ID), id) {
			t.Errorf("id %s came back in %s", id, m.text)
		}
	}
	c.endClean()
}

// sameJSON allows for the escapes that encoding/json adds.
func sameJSON(a, b string) bool {
	unescape := strings.NewReplacer(`\u003c`, "<", `\u0026`, "&", `\u003e`, ">")
	return unescape.Replace(a) == b
}

func TestIdInUseIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture()
	c := start(t, New(f.mcp))
	c.call(1, "block", "")
	recv(t, f.entered)
	c.call(1, "echo", "")
	c.failure(nil, mcp.INVALID_REQUEST)
	c.call("1", "echo", "")
	c.result("1")
	f.free()
	c.result(1)
	c.call(1, "echo", "") // free again
	c.result(1)
	c.endClean()
}

func TestClientResponsesAreIgnored(t *testing.T) {
	t.Parallel()
	c := start(t, New(newFixture().mcp))
	c.initialize("2025-06-18")
	for _, l := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`,
		`{"jsonrpc":"2.0","id":1,"result":null}`,
		`{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no"}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`,
	} {
		c.send("%s", l)
	}
	c.sync()
	c.endClean()
}

func TestClientNotifications(t *testing.T) {
	t.Parallel()
	f := newFixture()
	c := start(t, New(f.mcp))
	for i := range 5 {
		c.send(`{"jsonrpc":"2.0","method":"notifications/mail","params":{"n":%d}}`, i)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/unknown"}`)
	for i := range 5 {
		if m := recv(t, f.mail); m["n"] != float64(i) {
			t.Errorf("mail %v as number %d", m, i)
		}
	}
	c.sync()
	c.endClean()
}

func TestOverlongMessages(t *testing.T) {
	t.Parallel()
	c := start(t, New(newFixture().mcp, WithMaxMessage(300_000)))
	big := strings.Repeat("x", 1_000_000)
	c.send(`{"jsonrpc":"2.0","id":"first","method":"tools/call","params":{"name":"echo","arguments":{"text":%q}}}`, big)
	c.failure("first", mcp.INVALID_REQUEST)
	c.send(`{"method":"tools/call","params":{"name":"echo","arguments":{"text":%q,"id":5}},"jsonrpc":"2.0","id":77}`, big)
	c.failure(77, mcp.INVALID_REQUEST)
	c.send(`{"jsonrpc":"2.0","method":"notifications/mail","params":{"text":%q,"id":5}}`, big)
	c.failure(nil, mcp.INVALID_REQUEST)
	c.send(`{"jsonrpc":"2.0","id":3,"result":{"text":%q}}`, big)
	c.failure(nil, mcp.INVALID_REQUEST) // not id 3, which would end the client's own request 3
	c.send("%s", big)
	c.failure(nil, mcp.INVALID_REQUEST)
	c.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"text":%q}}}`, big[:299_000])
	if m := c.result(4); len(m.text) < 299_000 {
		t.Errorf("%d bytes back", len(m.text))
	}
	c.endClean()
}

func TestBatchesOfTheOneRevisionThatHasThem(t *testing.T) {
	t.Parallel()
	f := newFixture()
	c := start(t, New(f.mcp))
	c.initialize("2025-03-26")
	c.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/mail","params":{"n":1}},` +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"block"}},5,{"jsonrpc":"2.0","id":9,"result":{}},` +
		`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}},{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"block"}}]`)
	recv(t, f.entered)
	recv(t, f.entered)
	recv(t, f.mail)
	c.sync() // others are not delayed
	c.cancel(4)
	recv(t, f.causes)
	f.free()
	m := c.next()
	if m.text[0] != '[' || strings.Count(m.text, `"jsonrpc"`) != 4 || strings.Contains(m.text, `"id":4`) {
		t.Errorf("got %s", m.text)
	}
	for _, want := range []string{`"id":1`, `"id":2`, `"id":3`, `"id":null`} {
		if !strings.Contains(m.text, want) {
			t.Errorf("no %s in %s", want, m.text)
		}
	}
	c.send(`[]`)
	c.failure(nil, mcp.INVALID_REQUEST)
	c.send(`[`)
	c.failure(nil, mcp.PARSE_ERROR)
	c.send(`[{"jsonrpc":"2.0","method":"notifications/mail"}]`)
	recv(t, f.mail)
	c.sync() // nothing to answer
	c.endClean()
}

func TestUnencodableResult(t *testing.T) {
	t.Parallel()
	f := newFixture()
	f.mcp.AddTool(mcp.NewTool("func"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultStructured(map[string]any{"f": func() {}}, "x"), nil
	})
	c := start(t, New(f.mcp))
	c.call(1, "func", "")
	c.failure(1, mcp.INTERNAL_ERROR)
	c.endClean()
}

type ctxKey struct{}

func TestContextFuncAndServeValues(t *testing.T) {
	t.Parallel()
	f := newFixture()
	got := make(chan any, 1)
	f.mcp.AddTool(mcp.NewTool("value"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		got <- ctx.Value(ctxKey{})
		return mcp.NewToolResultText("ok"), nil
	})
	var log bytes.Buffer
	c := start(t, New(f.mcp,
		WithLogger(slog.New(slog.NewJSONHandler(&log, nil))),
		WithContextFunc(func(ctx context.Context) context.Context {
			return context.WithValue(ctx, ctxKey{}, SessionFromContext(ctx).SessionID())
		})))
	c.call(1, "value", "")
	if id, _ := recv(t, got).(string); !strings.HasPrefix(id, "stdio-") {
		t.Errorf("got %v", id)
	}
	c.result(1)
	c.call(2, "panic", "")
	c.failure(2, mcp.INTERNAL_ERROR)
	c.endClean()
	if !strings.Contains(log.String(), "secret") || !strings.Contains(log.String(), "stack") {
		t.Errorf("the panic is not in the log: %s", log.String())
	}
}

func TestSessionFromContextOfAnotherTransport(t *testing.T) {
	t.Parallel()
	if s := SessionFromContext(context.Background()); s != nil {
		t.Errorf("got %v", s)
	}
	c := newConn(New(newFixture().mcp), context.Background())
	defer c.broadcasts.close()
	defer c.kill(nil)
	if s := SessionFromContext(c.srv.mcp.WithContext(context.Background(), c.session)); s != c.session {
		t.Errorf("got %v", s)
	}
}

func TestConnectionsAreIndependent(t *testing.T) {
	t.Parallel()
	f := newFixture()
	s := New(f.mcp)
	one, two := start(t, s), start(t, s)
	one.initialize("2025-06-18")
	two.initialize("2025-11-25")
	one.call(1, "block", "")
	two.call(1, "block", "")
	recv(t, f.entered)
	recv(t, f.entered)
	one.cancel(1)
	recv(t, f.causes)
	one.call(2, "who", "")
	a := recv(t, f.session)
	one.result(2)
	two.call(2, "who", "")
	b := recv(t, f.session)
	two.result(2)
	if a == b || a.SessionID() == b.SessionID() || a.Protocol() == b.Protocol() {
		t.Errorf("sessions %s and %s", a.SessionID(), b.SessionID())
	}
	one.endClean()
	f.free()
	two.result(1)
	two.endClean()
}

func TestLogLevels(t *testing.T) {
	t.Parallel()
	mcpServer := server.NewMCPServer("logging", "1", server.WithLogging())
	mcpServer.AddTool(mcp.NewTool("log"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		n := mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "l", "hello")
		return mcp.NewToolResultText("ok"), mcpServer.SendLogMessageToClient(ctx, n)
	})
	c := start(t, New(mcpServer))
	c.initialize("2025-06-18")
	c.call(1, "log", "")
	c.result(1) // the default level is error
	c.send(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}`)
	c.result(2)
	c.call(3, "log", "")
	c.notification("notifications/message")
	c.result(3)
	c.endClean()
}
