// Package mcpclient drives an MCP server over its standard streams, as a host does: the installer and doctor make
// sure with it that a registered server answers, the demonstration's agents are such clients.
//
// Calls may run at the same time. A server that ends, or a context that is done, fails the calls that wait.
package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// protocol is the revision we ask for; servers answer with one they know.
const protocol = "2025-11-25"

// ErrEnded means that the server's output ended.
var ErrEnded = errors.New("the MCP server ended")

// Client is one running server.
type Client struct {
	Server struct{ Name, Version string } // as it says itself

	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr *tail
	ended  chan struct{} // closed when the output ended and the process was waited for

	mu      sync.Mutex // guards stdin, next and pending
	next    int
	pending map[string]chan reply
}

type reply struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// Start runs cmd and shakes hands. The process is killed when that fails.
func Start(ctx context.Context, cmd *exec.Cmd, clientName string) (*Client, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the MCP server: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the MCP server: %w", err)
	}
	c := &Client{cmd: cmd, stdin: stdin, stderr: &tail{}, ended: make(chan struct{}), pending: map[string]chan reply{}}
	cmd.Stderr = c.stderr
	cmd.WaitDelay = 2 * time.Second // a grandchild that keeps stderr open must not keep us
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the MCP server: %w", err)
	}
	go c.read(stdout)
	if err := c.handshake(ctx, clientName); err != nil {
		return nil, errors.Join(err, c.Kill())
	}
	return c, nil
}

func (c *Client) handshake(ctx context.Context, clientName string) error {
	raw, err := c.request(ctx, "initialize", map[string]any{
		"protocolVersion": protocol, "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": clientName, "version": "1"},
	})
	if err != nil {
		return err
	}
	var hello struct {
		ServerInfo struct{ Name, Version string } `json:"serverInfo"`
	}
	if err := json.Unmarshal(raw, &hello); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	c.Server = hello.ServerInfo
	return c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// Tools lists the names of the server's tools.
func (c *Client) Tools(ctx context.Context) ([]string, error) {
	raw, err := c.request(ctx, "tools/list", map[string]any{})
	if err != nil {
		return nil, err
	}
	var list struct {
		Tools []struct{ Name string } `json:"tools"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("tools/list: %w", err)
	}
	names := make([]string, len(list.Tools))
	for i, t := range list.Tools {
		names[i] = t.Name
	}
	return names, nil
}

// ToolError is a tool's answer with isError: Text is what a model would read.
type ToolError struct{ Tool, Text string }

func (e *ToolError) Error() string { return e.Tool + ": " + e.Text }

// Call calls a tool and decodes its structured answer into out. A refusal by the tool is a *ToolError.
func (c *Client) Call(ctx context.Context, tool string, args map[string]any, out any) error {
	raw, err := c.request(ctx, "tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return err
	}
	var res struct {
		Structured json.RawMessage         `json:"structuredContent"`
		Content    []struct{ Text string } `json:"content"`
		IsError    bool                    `json:"isError"`
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	var text strings.Builder
	for _, part := range res.Content {
		text.WriteString(part.Text)
	}
	switch {
	case res.IsError:
		return &ToolError{tool, text.String()}
	case out == nil:
		return nil
	case len(res.Structured) > 0:
		err = json.Unmarshal(res.Structured, out)
	default:
		err = json.Unmarshal([]byte(text.String()), out)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	return nil
}

// PID is the server's process.
func (c *Client) PID() int { return c.cmd.Process.Pid }

// Close ends the server as a host does: its input ends; it is killed when it does not go within ctx.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	err := c.stdin.Close()
	c.mu.Unlock()
	select {
	case <-c.ended:
		return err
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), c.Kill())
	}
}

// Kill ends the process at once (kill -9) and waits for it.
func (c *Client) Kill() error {
	err := c.cmd.Process.Kill()
	<-c.ended
	return err
}

func (c *Client) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("MCP message: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.stdin.Write(append(line, '\n')); err != nil {
		return c.why(err)
	}
	return nil
}

func (c *Client) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	answer := make(chan reply, 1)
	c.mu.Lock()
	c.next++
	id := strconv.Itoa(c.next)
	c.pending[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
	}()
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	select {
	case r := <-answer:
		if r.Error != nil {
			return nil, fmt.Errorf("%s: MCP error %d: %s", method, r.Error.Code, r.Error.Message)
		}
		return r.Result, nil
	case <-c.ended:
		return nil, c.why(ErrEnded)
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

// why adds what the server last said on stderr.
func (c *Client) why(err error) error {
	if said := c.stderr.String(); said != "" {
		return fmt.Errorf("%w; it said: %s", err, said)
	}
	return err
}

const longestLine = 16 << 20

func (c *Client) read(stdout io.Reader) {
	defer close(c.ended)
	in := bufio.NewScanner(stdout)
	in.Buffer(nil, longestLine)
	for in.Scan() {
		var m struct {
			ID any `json:"id"`
			reply
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil || (m.Result == nil && m.Error == nil) {
			continue // notifications and requests to the host are of no interest here
		}
		c.mu.Lock()
		answer := c.pending[fmt.Sprint(m.ID)]
		c.mu.Unlock()
		if answer != nil {
			answer <- m.reply
		}
	}
	_, _ = io.Copy(io.Discard, stdout) // after a line that was too long: let the server write on
	_ = c.cmd.Wait()                   // how it ended does not matter: waiting calls fail with ErrEnded
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if len(t.buf) > tailSize {
		t.buf = bytes.Clone(t.buf[len(t.buf)-tailSize:])
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}
