package mcpstdio

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

func addSleeper(f *fixture) {
	f.mcp.AddTool(mcp.NewTool("sleep"), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		timer := time.NewTimer(time.Duration(req.GetInt("ms", 0)) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
			return mcp.NewToolResultText("slept"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
}

func TestEndOfInputDrains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		addSleeper(f)
		c := start(t, New(f.mcp))
		c.initialize("2025-06-18")
		for id := range 20 {
			c.call(id, "sleep", `"ms":1900`)
		}
		begun := time.Now()
		rest, err := c.end()
		if err != nil || len(rest) != 20 {
			t.Fatalf("%v, %d of 20 replies", err, len(rest))
		}
		for _, m := range rest {
			if m.Result == nil {
				t.Errorf("got %s", m.text)
			}
		}
		if took := time.Since(begun); took != 1900*time.Millisecond {
			t.Errorf("took %v", took)
		}
	})
}

func TestGraceEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		c := start(t, New(f.mcp))
		c.initialize("2025-06-18")
		c.call(1, "block", "")
		recv(t, f.entered)
		begun := time.Now()
		rest, err := c.end()
		if err != nil || len(rest) != 1 || rest[0].Error == nil || rest[0].Error.Code != codeBusy {
			t.Fatalf("%v, %v", err, rest)
		}
		if cause := recv(t, f.causes); !errors.Is(cause, ErrShutdown) {
			t.Errorf("cause %v", cause)
		}
		if took := time.Since(begun); took != DefaultGrace {
			t.Errorf("took %v", took)
		}
	})
}

func TestListenStreamsDoNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := start(t, New(newFixture().mcp))
		c.modern(1, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
		c.notification("notifications/subscriptions/acknowledged")
		begun := time.Now()
		rest, err := c.end()
		if err != nil || len(rest) != 1 || rest[0].Result == nil {
			t.Fatalf("%v, %v", err, rest)
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("took %v", took)
		}
	})
}

// As on a signal: the input stays open, and what still comes in is refused.
func TestContextEndDrains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		c := start(t, New(f.mcp))
		c.initialize("2025-06-18")
		c.call(1, "block", "")
		recv(t, f.entered)
		c.stop()
		synctest.Wait()
		c.call(2, "echo", "")
		c.failure(2, codeBusy)
		c.call(3, "block", "")
		c.failure(3, codeBusy)
		f.free()
		c.result(1)
		if rest, err := c.rest(); err != nil || len(rest) > 0 {
			t.Errorf("%v, %v", err, rest)
		}
		c.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`) // read and ignored
	})
}

func TestCancelWorksDuringTheDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		c := start(t, New(f.mcp))
		c.initialize("2025-06-18")
		c.call(1, "block", "")
		recv(t, f.entered)
		c.stop()
		synctest.Wait()
		c.cancel(1)
		if rest, err := c.rest(); err != nil || len(rest) > 0 {
			t.Errorf("%v, %v", err, rest)
		}
	})
}

func TestStubbornHandlerIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		c := start(t, New(f.mcp, WithGrace(0)))
		c.initialize("2025-06-18")
		c.call(1, "stubborn", "")
		recv(t, f.entered)
		begun := time.Now()
		_, err := c.end()
		if !errors.Is(err, ErrAbandoned) || !strings.Contains(err.Error(), "tools/call") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begun); took != settleTime {
			t.Errorf("took %v", took)
		}
		f.free()
	})
}

// A client that stops reading must not keep the process alive.
func TestUnreadOutputDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{}, 1)
		c := startGated(t, New(newFixture().mcp), gate)
		gate <- struct{}{}
		c.initialize("2025-06-18")
		c.call(1, "progress", `"n":100000`)
		synctest.Wait()
		begun := time.Now()
		_ = c.in.Close()
		if err := <-c.done; err == nil {
			t.Error("the handler could not finish; that must be reported")
		}
		if took := time.Since(begun); took > 2*DefaultGrace+2*settleTime {
			t.Errorf("took %v", took)
		}
		close(gate) // lets the Write return
	})
}

func TestBrokenOutput(t *testing.T) {
	t.Parallel()
	f := newFixture()
	gate := make(chan struct{}, 1)
	c := startGated(t, New(f.mcp), gate)
	gate <- struct{}{}
	c.initialize("2025-06-18")
	c.call(1, "block", "")
	recv(t, f.entered)
	close(gate)
	c.call(2, "echo", "")
	if cause := recv(t, f.causes); !errors.Is(cause, ErrDisconnected) {
		t.Errorf("cause %v", cause)
	}
	if err := recv(t, c.done); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

func TestBrokenInput(t *testing.T) {
	t.Parallel()
	c := start(t, New(newFixture().mcp))
	c.call(1, "echo", "")
	c.result(1)
	_ = c.in.CloseWithError(io.ErrNoProgress)
	if err := recv(t, c.done); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
}
