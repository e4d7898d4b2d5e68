package mcpstdio

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// Fake time makes the gap exact: the reply comes 40 ms after the progress, and
// a call without progress is not held up by calls that wait for their gap.
func TestProgressPrecedesReplyByTheGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := start(t, New(newFixture().mcp))
		c.initialize("2025-06-18")
		const calls = 300
		begun := time.Now()
		for id := range calls {
			c.call(id, "progress", `"n":3`)
		}
		c.call("plain", "echo", "")
		seen := make(map[string]int, calls)
		last := make(map[string]time.Time, calls)
		for replies := 0; replies < calls+1; {
			m := c.next()
			if string(m.ID) == `"plain"` {
				replies++
				if took := m.at.Sub(begun); took != 0 {
					t.Errorf("a call without progress waited %v", took)
				}
				continue
			}
			if m.Method == "notifications/progress" {
				token := fmt.Sprint(m.Params["progressToken"])
				seen[token]++
				if got := int(m.Params["progress"].(float64)); got != seen[token] {
					t.Fatalf("call %s: progress %d came as number %d", token, got, seen[token])
				}
				last[token] = m.at
				continue
			}
			replies++
			id := string(m.ID)
			if seen[id] != 3 {
				t.Fatalf("call %s: reply after %d progress lines", id, seen[id])
			}
			if gap := m.at.Sub(last[id]); gap != DefaultQuietGap {
				t.Fatalf("call %s: gap %v", id, gap)
			}
			seen[id] = -1 << 30 // no progress may follow
		}
		c.endClean()
	})
}

func TestGapCountsFromTheLastProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.mcp.AddTool(mcp.NewTool("slow"), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			_ = Progress(ctx, req.Params.Meta)(1, 0, "")
			timer := time.NewTimer(30 * time.Millisecond)
			defer timer.Stop()
			<-timer.C
			return mcp.NewToolResultText("ok"), nil
		})
		c := start(t, New(f.mcp))
		c.initialize("2025-06-18")
		c.call(1, "slow", "")
		p := c.notification("notifications/progress")
		if gap := c.result(1).at.Sub(p.at); gap != DefaultQuietGap {
			t.Errorf("gap %v", gap)
		}
		c.endClean()
	})
}

func TestBurstIsNotDropped(t *testing.T) {
	t.Parallel()
	c := start(t, New(newFixture().mcp))
	c.initialize("2025-06-18")
	c.call(1, "progress", `"n":5000`)
	for i := 1; i <= 5000; i++ {
		if m := c.notification("notifications/progress"); int(m.Params["progress"].(float64)) != i {
			t.Fatalf("progress %v at %d", m.Params["progress"], i)
		}
	}
	c.result(1)
	c.endClean()
}

func TestProgressAfterTheReplyIsDropped(t *testing.T) {
	t.Parallel()
	f := newFixture()
	late := make(chan error, 2)
	returned := make(chan struct{})
	f.mcp.AddTool(mcp.NewTool("leaky"), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		report := Progress(ctx, req.Params.Meta)
		if req.GetBool("early", false) {
			_ = report(1, 2, "")
		}
		go func() {
			<-returned
			late <- report(2, 2, "")
		}()
		return mcp.NewToolResultText("ok"), nil
	})
	c := start(t, New(f.mcp, WithQuietGap(0)))
	c.initialize("2025-06-18")
	c.call(1, "leaky", "")
	c.result(1)
	c.call(2, "leaky", `"early":true`)
	c.notification("notifications/progress")
	c.result(2)
	close(returned)
	for range 2 {
		if err := recv(t, late); err != nil {
			t.Errorf("late progress: %v", err)
		}
	}
	c.sync()
	c.endClean()
}

func TestProgressMustRise(t *testing.T) {
	t.Parallel()
	f := newFixture()
	f.mcp.AddTool(mcp.NewTool("zigzag"), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		report := Progress(ctx, req.Params.Meta)
		for _, p := range []float64{0, 2, 2, 1, 3} {
			_ = report(p, 0, "")
		}
		return mcp.NewToolResultText("ok"), nil
	})
	c := start(t, New(f.mcp))
	c.initialize("2025-06-18")
	c.call(1, "zigzag", "")
	for _, want := range []float64{0, 2, 3} {
		m := c.notification("notifications/progress")
		if m.Params["progress"] != want || len(m.Params) != 2 {
			t.Errorf("got %v, want %v", m.Params, want)
		}
	}
	c.result(1)
	c.endClean()
	if err := Progress(context.Background(), nil)(1, 1, ""); err != nil {
		t.Errorf("outside of a request: %v", err)
	}
}

func TestBlockedCallsDelayNobody(t *testing.T) {
	t.Parallel()
	f := newFixture()
	c := start(t, New(f.mcp))
	c.initialize("2025-06-18")
	for id := range 200 {
		c.call(id, "block", "")
	}
	c.call("echo", "echo", "")
	c.result("echo") // the first reply, while the others are blocked
	for range 200 {
		recv(t, f.entered)
	}
	f.free()
	for range 200 {
		if m := c.next(); m.Result == nil {
			t.Fatalf("got %s", m.text)
		}
	}
	c.endClean()
}

func TestCapIsAnswered(t *testing.T) {
	t.Parallel()
	f := newFixture()
	c := start(t, New(f.mcp, WithMaxInFlight(3)))
	for id := range 2 {
		c.call(id, "block", "")
		recv(t, f.entered)
	}
	c.modern("listen", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	c.notification("notifications/subscriptions/acknowledged")
	c.call("more", "echo", "")
	c.failure("more", codeBusy)
	c.cancel("listen")
	f.free()
	c.next()
	c.next()
	c.call("again", "echo", "")
	c.result("again")
	c.endClean()
}

func TestInFlightBytesAreBounded(t *testing.T) {
	t.Parallel()
	f := newFixture()
	c := start(t, New(f.mcp, WithMaxMessage(200)))
	const format = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"block","x":"%0100d"}}`
	fits := 200 * inFlightMessages / len(fmt.Sprintf(format, 10, 0))
	for id := range fits {
		c.send(format, 10+id, 0)
		recv(t, f.entered)
	}
	c.send(format, 99, 0)
	c.failure(99, codeBusy)
	f.free()
	for range fits {
		c.next()
	}
	c.send(format, 99, 0)
	c.result(99)
	c.endClean()
}

func TestCancelRunning(t *testing.T) {
	t.Parallel()
	f := newFixture()
	outcomes := make(chan Outcome, 1)
	c := start(t, New(f.mcp, WithObserver(func(_ context.Context, method string) func(Outcome) {
		if method != "tools/call" {
			return nil
		}
		return func(o Outcome) { outcomes <- o }
	})))
	c.initialize("2025-06-18")
	c.call(7, "block", "")
	recv(t, f.entered)
	c.cancel("7") // another request: ids have types
	c.cancel(8)   // unknown
	c.sync()
	c.cancel(7)
	if cause := recv(t, f.causes); !errors.Is(cause, ErrCancelled) {
		t.Errorf("cause %v", cause)
	}
	if o := recv(t, outcomes); !o.Cancelled {
		t.Errorf("outcome %+v", o)
	}
	c.sync() // no reply before this one
	c.endClean()
}

// A call that waits for its turn must not run at all once it is cancelled, and
// those behind it must keep waiting.
func TestCancelQueued(t *testing.T) {
	t.Parallel()
	f := newFixture()
	subscribed := make(chan string, 3)
	f.hooks.AddBeforeSubscribe(func(ctx context.Context, _ any, req *mcp.SubscribeRequest) {
		subscribed <- req.Params.URI
		if req.Params.URI == "a://1" {
			<-f.release
		}
	})
	s := New(f.mcp)
	c := start(t, s)
	c.initialize("2025-06-18")
	for i := 1; i <= 3; i++ {
		c.send(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"a://%d"}}`, i, i)
	}
	if uri := recv(t, subscribed); uri != "a://1" {
		t.Fatalf("first %s", uri)
	}
	c.cancel(2)
	c.sync()
	select {
	case uri := <-subscribed:
		t.Fatalf("%s overtook", uri)
	default:
	}
	f.free()
	c.result(1)
	c.result(3)
	if uri := recv(t, subscribed); uri != "a://3" {
		t.Errorf("then %s", uri)
	}
	if got := s.SubscribedResources(); len(got) != 2 {
		t.Errorf("subscribed %v", got)
	}
	c.endClean()
}

func TestCancelInTheGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := start(t, New(newFixture().mcp))
		c.initialize("2025-06-18")
		c.call(1, "progress", `"n":1`)
		c.notification("notifications/progress")
		synctest.Wait() // the handler returned; only the gap is left
		c.cancel(1)
		c.sync()
		c.endClean()
	})
}

// A client that reads nothing can still cancel, and gets nothing of that call.
func TestCancelWhileTheClientDoesNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{}, 1000)
		c := startGated(t, New(newFixture().mcp), gate)
		gate <- struct{}{}
		c.initialize("2025-06-18")
		c.call(1, "progress", `"n":100000`)
		synctest.Wait() // everything is full
		c.cancel(1)
		synctest.Wait()
		for range cap(gate) {
			gate <- struct{}{}
		}
		c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		for {
			m := c.next()
			if string(m.ID) == "2" {
				break
			}
			if m.Method != "notifications/progress" {
				t.Fatalf("got %s", m.text)
			}
		}
		c.endClean()
	})
}

func TestInitializeCannotBeCancelled(t *testing.T) {
	t.Parallel()
	f := newFixture()
	c := start(t, New(f.mcp))
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"init"}}`)
	c.initialize("2025-06-18")
	c.endClean()
}
