package mcpstdio

import (
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
)

const updated = "notifications/resources/updated"

func subscriptionID(m message) any {
	meta, _ := m.Params["_meta"].(map[string]any)
	return meta["io.modelcontextprotocol/subscriptionId"]
}

func (c *client) update(uri string, id any) {
	c.t.Helper()
	m := c.notification(updated)
	if m.Params["uri"] != uri || subscriptionID(m) != id {
		c.t.Fatalf("got %s, want uri %s on stream %v", m.text, uri, id)
	}
}

func TestLegacyResourceSubscriptions(t *testing.T) {
	t.Parallel()
	f := newFixture()
	s := New(f.mcp)
	c, other := start(t, s), start(t, s)
	c.initialize("2025-06-18")
	other.initialize("2025-06-18")
	s.ResourceUpdated("a://1")
	c.sync() // nothing before it
	c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a://1"}}`)
	c.result(1)
	s.ResourceUpdated("a://2")
	s.ResourceUpdated("a://1")
	c.update("a://1", nil)
	c.call(3, "who", "")
	session := recv(t, f.session)
	c.result(3)
	if got := s.SubscribedResources(); len(got) != 1 || !session.IsSubscribedToResource("a://1") {
		t.Errorf("subscribed %v", got)
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"a://1"}}`)
	c.result(2)
	s.ResourceUpdated("a://1")
	c.sync()
	c.endClean()
	other.sync()
	other.endClean()
	s.ResourceUpdated("a://1") // nobody is left
}

// mcp-go's own ways to announce an update must not reach those who did not
// subscribe either.
func TestUpdatesThroughMCPGoAreRouted(t *testing.T) {
	t.Parallel()
	f := newFixture()
	s := New(f.mcp)
	c, other := start(t, s), start(t, s)
	c.initialize("2025-06-18")
	other.initialize("2025-06-18")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a://1"}}`)
	c.result(1)
	f.mcp.SendNotificationToAllClients(updated, map[string]any{"uri": "a://1"})
	c.update("a://1", nil)
	f.mcp.SendNotificationToAllClients("notifications/custom", map[string]any{"x": 1})
	c.notification("notifications/custom")
	other.notification("notifications/custom") // and no update before it
	f.mcp.SendNotificationToAllClients("notifications/progress", map[string]any{"progressToken": 1})
	f.mcp.SendNotificationToAllClients("notifications/custom", nil)
	c.notification("notifications/custom")
	other.notification("notifications/custom")
	c.endClean()
	other.endClean()
}

func TestListenStreams(t *testing.T) {
	t.Parallel()
	f := newFixture()
	s := New(f.mcp)
	c := start(t, s)
	c.modern("tools", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	ack := c.notification("notifications/subscriptions/acknowledged")
	if subscriptionID(ack) != "tools" || len(ack.Params["notifications"].(map[string]any)) != 1 {
		t.Errorf("ack %s", ack.text)
	}
	c.modern(2, "subscriptions/listen", `"notifications":{"promptsListChanged":true,"resourceSubscriptions":["a://1","a://2"]}`)
	if ack := c.notification("notifications/subscriptions/acknowledged"); subscriptionID(ack) != float64(2) {
		t.Errorf("ack %s", ack.text)
	}
	f.mcp.AddTool(mcp.NewTool("new"), nil)
	if m := c.notification("notifications/tools/list_changed"); subscriptionID(m) != "tools" {
		t.Errorf("got %s", m.text)
	}
	f.mcp.AddPrompt(mcp.NewPrompt("new"), nil)
	if m := c.notification("notifications/prompts/list_changed"); subscriptionID(m) != float64(2) {
		t.Errorf("got %s", m.text)
	}
	f.mcp.AddResource(mcp.NewResource("a://1", "new"), nil) // nobody asked
	f.mcp.SendNotificationToAllClients("notifications/custom", nil)
	s.ResourceUpdated("a://3")
	s.ResourceUpdated("a://2")
	c.update("a://2", float64(2))
	c.modern(3, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["a://2"]}`)
	c.notification("notifications/subscriptions/acknowledged")
	if got := s.SubscribedResources(); len(got) != 2 {
		t.Errorf("subscribed %v", got)
	}
	c.modern(4, "tools/call", `"name":"who"`)
	session := recv(t, f.session)
	c.result(4)
	if !session.IsSubscribedToResource("a://1") || session.IsSubscribedToResource("a://3") {
		t.Errorf("subscribed %v", session.SubscribedResources())
	}
	c.cancel(2)
	c.syncModern()
	for { // the stream ends on its own goroutine
		s.ResourceUpdated("a://2")
		m := c.notification(updated)
		if subscriptionID(m) == float64(3) {
			break
		}
	}
	s.ResourceUpdated("a://1")
	c.syncModern()
	rest, err := c.end()
	if err != nil || len(rest) != 2 {
		t.Fatalf("end: %v, %v", err, rest)
	}
	for _, m := range rest { // graceful closure of the two that are left
		meta, _ := m.Result["_meta"].(map[string]any)
		if id := meta["io.modelcontextprotocol/subscriptionId"]; id == nil || m.Result["resultType"] != "complete" {
			t.Errorf("closed with %s", m.text)
		}
	}
}

func (c *client) syncModern() {
	c.t.Helper()
	c.syncs++
	c.modern(1000+c.syncs, "server/discover", "")
	c.result(1000 + c.syncs)
}

func TestListenForNothingEnds(t *testing.T) {
	t.Parallel()
	c := start(t, New(newFixture().mcp))
	c.modern(1, "subscriptions/listen", `"notifications":{}`)
	c.notification("notifications/subscriptions/acknowledged")
	c.result(1)
	c.endClean()
}

func TestListenIsModernOnly(t *testing.T) {
	t.Parallel()
	c := start(t, New(newFixture().mcp))
	c.initialize("2025-11-25")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`)
	c.failure(1, mcp.METHOD_NOT_FOUND)
	c.modern(2, "resources/subscribe", `"uri":"a://1"`)
	c.failure(2, mcp.METHOD_NOT_FOUND)
	c.endClean()
}

func TestLegacyListChanged(t *testing.T) {
	t.Parallel()
	f := newFixture()
	c, modern, silent := start(t, New(f.mcp)), start(t, New(f.mcp)), start(t, New(f.mcp))
	modern.modern(1, "server/discover", "")
	modern.result(1)
	c.initialize("2025-06-18")
	f.mcp.AddTool(mcp.NewTool("new"), nil)
	if m := c.notification("notifications/tools/list_changed"); subscriptionID(m) != nil {
		t.Errorf("got %s", m.text)
	}
	// A client without a stream gets nothing, nor one that said nothing yet.
	modern.modern(2, "server/discover", "")
	modern.result(2)
	silent.initialize("2025-06-18")
	c.endClean()
	modern.endClean()
	silent.endClean()
}

// Hints that wait for a slow client become one, and ResourceUpdated never waits.
func TestHintsAreCoalesced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		gate := make(chan struct{}, 10)
		s := New(f.mcp)
		c := startGated(t, s, gate)
		gate <- struct{}{}
		c.modern(1, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a://1","a://2"]}`)
		c.notification("notifications/subscriptions/acknowledged")
		for range 10_000 {
			s.ResourceUpdated("a://1")
			s.ResourceUpdated("a://2")
			f.mcp.SendNotificationToAllClients("notifications/tools/list_changed", nil)
		}
		synctest.Wait()
		go func() { // reads from here on
			for {
				select {
				case gate <- struct{}{}:
				case <-c.closed:
					return
				}
			}
		}()
		rest, _ := c.end()
		if len(rest) == 0 || len(rest) > 3*outBuffer {
			t.Errorf("%d lines", len(rest))
		}
	})
}
