package apiserver

import (
	"encoding/binary"
	"io"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// countExecutes copies what a client sends to Postgres and counts the Execute messages in it: one for each statement
// that ran.
func (p *proxy) countExecutes(to io.Writer, from io.Reader) {
	var head [5]byte
	if _, err := io.ReadFull(from, head[:4]); err != nil { // the start-up message has a length and no type
		return
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:4])-4)
	if _, err := io.ReadFull(from, body); err != nil {
		return
	}
	if _, err := to.Write(append(append([]byte{}, head[:4]...), body...)); err != nil {
		return
	}
	for {
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		if head[0] == 'E' {
			p.executes.Add(1)
		}
		if _, err := to.Write(append(append([]byte{}, head[:]...), body...)); err != nil {
			return
		}
	}
}

// TestACallIsOneStatement: once a session is known, a call costs its own statement and nothing beside it, neither for
// the key, the session, nor the notices.
func TestACallIsOneStatement(t *testing.T) {
	t.Parallel()
	p, dsn := through(t, pgtest.DSN(t))
	d := newDoor(t, start(t, configured(t, dsn, nil)))
	calls := []struct{ method, path, body string }{
		{"POST", "/locks/acquire", `{"agent_id": "a1", "file_path": "a.go"}`},
		{"POST", "/locks/acquire", `{"agent_id": "a2", "file_path": "a.go"}`},
		{"POST", "/locks/check", `{"agent_id": "a1", "file_paths": ["a.go"]}`},
		{"POST", "/work/claim", `{"agent_id": "a1", "task_types": ["none"]}`},
		{"POST", "/locks/release", `{"agent_id": "a1", "file_path": "a.go"}`},
		{"GET", "/locks/status/a.go", ""},
	}
	for _, c := range calls { // opens sessions, prepares statements
		for range 2 {
			d.send(t, c.method, c.path, []byte(c.body))
		}
	}
	for _, c := range calls {
		best := int64(1 << 30)
		for range 5 { // the sweep and the notifier may fall into one of them
			before := p.executes.Load()
			if status, out := d.send(t, c.method, c.path, []byte(c.body)); status != 200 {
				t.Fatalf("%s: %d %s", c.path, status, out)
			}
			best = min(best, p.executes.Load()-before)
		}
		if best != 1 {
			t.Errorf("%s %s: %d statements", c.method, c.path, best)
		}
	}
}

// TestAnIdleSweepIsOneStatement: with locks, sessions and tasks in place and none of them due, a sweep asks once.
func TestAnIdleSweepIsOneStatement(t *testing.T) {
	t.Parallel()
	p, dsn := through(t, pgtest.DSN(t))
	d := newDoor(t, start(t, configured(t, dsn, nil)))
	for path, body := range map[string]string{
		"/discovery/register": `{"agent_id": "a1", "session_id": "s"}`,
		"/locks/acquire":      `{"agent_id": "a1", "session_id": "s", "file_path": "a.go"}`,
		"/work/submit":        `{"agent_id": "a1", "session_id": "s", "task_type": "t", "description": "later", "delay_seconds": 3600}`,
	} {
		if status, out := d.send(t, "POST", path, []byte(body)); status != 200 {
			t.Fatalf("%s: %d %s", path, status, out)
		}
	}
	pool, err := coord.Open(t.Context(), dsn, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	store := coord.New(pool)
	best := int64(1 << 30)
	for range 6 { // the first removes leftovers too; the server's own sweep may fall into one of them
		before := p.executes.Load()
		if _, err := store.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		best = min(best, p.executes.Load()-before)
	}
	if best != 1 {
		t.Errorf("an idle sweep is %d statements", best)
	}
}
