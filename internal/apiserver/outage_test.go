package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// proxy stands between a server and its database and can be cut.
type proxy struct {
	to    *pgconn.Config
	addr  string
	mu    sync.Mutex
	ln    net.Listener
	conns map[net.Conn]struct{}
	wg    sync.WaitGroup

	executes atomic.Int64 // statements that went through
}

// through returns a proxy before the database at dsn, and the connection string that goes through it.
func through(t *testing.T, dsn string) (*proxy, string) {
	t.Helper()
	cfg, err := pgconn.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{to: cfg, addr: "127.0.0.1:0", conns: map[net.Conn]struct{}{}}
	p.open(t)
	t.Cleanup(p.cut)
	host, port, err := net.SplitHostPort(p.addr)
	if err != nil {
		t.Fatal(err)
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Host: net.JoinHostPort(host, port), Path: "/" + cfg.Database, RawQuery: "sslmode=disable"}
	return p, u.String()
}

// open lets connections through, at the same address as before.
func (p *proxy) open(t *testing.T) {
	t.Helper()
	ln, err := net.Listen("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ln, p.addr = ln, ln.Addr().String()
	p.wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			p.wg.Go(func() { p.carry(c) })
		}
	})
}

func (p *proxy) carry(c net.Conn) {
	network, addr := pgconn.NetworkAddress(p.to.Host, p.to.Port)
	db, err := (&net.Dialer{}).DialContext(context.Background(), network, addr)
	if err != nil {
		_ = c.Close()
		return
	}
	p.mu.Lock()
	p.conns[c], p.conns[db] = struct{}{}, struct{}{}
	p.mu.Unlock()
	p.wg.Go(func() { p.countExecutes(db, c); _ = db.Close() })
	_, _ = io.Copy(c, db)
	_ = c.Close()
}

// cut drops every connection and refuses new ones.
func (p *proxy) cut() {
	p.mu.Lock()
	_ = p.ln.Close()
	for c := range p.conns {
		_ = c.Close()
		delete(p.conns, c)
	}
	p.mu.Unlock()
	p.wg.Wait()
}

// TestAnOutageIsNeverAnAnswer: while the database is away every call is 503, retryable, soon; afterwards everything
// works again by itself, and a lock taken before is still held.
func TestAnOutageIsNeverAnAnswer(t *testing.T) {
	t.Parallel()
	p, dsn := through(t, pgtest.DSN(t))
	d := newDoor(t, start(t, configured(t, dsn, nil)))
	take := []byte(`{"file_path": "a.go", "agent_id": "a1"}`)
	if status, out := d.send(t, "POST", "/locks/acquire", take); status != 200 {
		t.Fatalf("before: %d %s", status, out)
	}
	parked := make(chan int, 1)
	go func() {
		status, _ := d.send(t, "POST", "/locks/acquire", []byte(`{"file_path": "a.go", "agent_id": "a3", "wait_seconds": 4}`))
		parked <- status
	}()
	p.cut()
	for _, r := range [][3]string{
		{"POST", "/locks/acquire", string(take)},
		{"POST", "/locks/acquire", `{"file_path": "b.go", "agent_id": "a2", "wait_seconds": 1}`},
		{"POST", "/work/claim", `{"agent_id": "a1"}`},
		{"POST", "/work/claim", `{"agent_id": "never-seen"}`},
		{"GET", "/locks", ""},
		{"GET", "/locks/status/a.go", ""},
		{"GET", "/work", ""},
		{"GET", "/discovery/agents", ""},
		{"POST", "/messages/list", `{"agent_id": "a1"}`},
	} {
		began := time.Now()
		status, out := d.send(t, r[0], r[1], []byte(r[2]))
		var e struct {
			Code      string
			Retryable bool
		}
		if json.Unmarshal(out, &e) != nil || status != 503 || e.Code != "unavailable" || !e.Retryable || time.Since(began) > 6*time.Second {
			t.Errorf("%s %s: %d %s after %s", r[0], r[1], status, out, time.Since(began))
		}
	}
	if status := <-parked; status != 503 && status != 200 {
		t.Errorf("the parked call: %d", status)
	}
	p.open(t)
	eventually(t, func() bool {
		status, out := d.send(t, "POST", "/locks/acquire", []byte(`{"file_path": "a.go", "agent_id": "a2"}`))
		if status == 200 {
			check(t, "after", status, out, want{"success": false, "locked_by": "a1"})
		} else if status != 503 {
			t.Errorf("after: %d %s", status, out)
		}
		return status == 200
	})
	if status, out := d.send(t, "GET", "/metrics", nil); status != 200 || len(out) < 1000 {
		t.Errorf("metrics: %d", status)
	}
}

// TestStoppingAnswersParkedCalls: a call that waits for a lock is answered when the server stops, and holds nothing.
func TestStoppingAnswersParkedCalls(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	addr, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- Run(ctx, configured(t, dsn, nil), func(a string) { addr <- a }) }()
	d := newDoor(t, "http://"+<-addr)
	if status, out := d.send(t, "POST", "/locks/acquire", []byte(`{"file_path": "a.go", "agent_id": "a1"}`)); status != 200 {
		t.Fatalf("%d %s", status, out)
	}
	answered := make(chan int, 1)
	go func() {
		status, _ := d.send(t, "POST", "/locks/acquire", []byte(`{"file_path": "a.go", "agent_id": "a2", "wait_seconds": 50}`))
		answered <- status
	}()
	waitFor(t, d, "coord_waiters 1")
	began := time.Now()
	stop()
	if status := <-answered; status != 503 && status != 200 {
		t.Errorf("the waiting call got %d", status)
	}
	if err := <-done; err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	again := newDoor(t, start(t, configured(t, dsn, nil)))
	status, out := again.send(t, "POST", "/locks/release", []byte(`{"file_path": "a.go", "agent_id": "a1"}`))
	check(t, "release", status, out, want{"success": true})
	status, out = again.send(t, "POST", "/locks/acquire", []byte(`{"file_path": "a.go", "agent_id": "a3"}`))
	check(t, "the waiter's place is gone", status, out, want{"success": true})
}

// waitFor asks for the metrics until they have line.
func waitFor(t *testing.T, d *door, line string) {
	t.Helper()
	eventually(t, func() bool {
		_, out := d.send(t, "GET", "/metrics", nil)
		return bytes.Contains(out, []byte("\n"+line+"\n"))
	})
}

// eventually asks until done says so, for at most 15 s. There is no signal to wait for in another process's state.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(15 * time.Second); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to pass")
		}
	}
}

// TestNoticesReachTheirReader: a message is told with the next reply of the session it is for, and once.
func TestNoticesReachTheirReader(t *testing.T) {
	t.Parallel()
	d := newDoor(t, start(t, configured(t, pgtest.DSN(t), nil)))
	quiet := func(agent string) map[string]any {
		status, out := d.send(t, "POST", "/locks/acquire", []byte(`{"file_path": "`+agent+`.go", "agent_id": "`+agent+`"}`))
		return check(t, agent, status, out, want{"success": true})
	}
	if r := quiet("reader"); r["notices"] != nil {
		t.Errorf("before: %v", r)
	}
	status, out := d.send(t, "POST", "/messages/send", []byte(`{"agent_id": "writer", "to": ["reader"], "text": "please review"}`))
	if status != http.StatusOK {
		t.Fatalf("send: %d %s", status, out)
	}
	r := quiet("reader")
	if list, _ := r["notices"].([]any); len(list) != 1 {
		t.Errorf("after a message: %v", r)
	}
	if r := quiet("reader"); r["notices"] != nil {
		t.Errorf("told twice: %v", r)
	}
}

// TestMCPOverHTTP: tools work at /mcp with a key, and not without.
func TestMCPOverHTTP(t *testing.T) {
	t.Parallel()
	d := newDoor(t, start(t, configured(t, pgtest.DSN(t), nil)))
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	if status, _ := d.send(t, "POST", "/mcp", []byte(hello), "X-API-Key", "wrong", "Accept", "application/json, text/event-stream", "Content-Type", "application/json"); status != 401 {
		t.Errorf("without a key: %d", status)
	}
	status, out := d.send(t, "POST", "/mcp", []byte(hello), "Accept", "application/json, text/event-stream", "Content-Type", "application/json")
	if status != 200 || !json.Valid(out) {
		t.Errorf("initialize: %d %s", status, strconv.Quote(string(out)))
	}
}

// TestStartsBeforeItsDatabase: a server that came up first is ready by itself once the database is there.
func TestStartsBeforeItsDatabase(t *testing.T) {
	t.Parallel()
	for _, migrates := range []string{"0", "1"} {
		t.Run("COORD_AUTO_MIGRATE="+migrates, func(t *testing.T) {
			t.Parallel()
			p, dsn := through(t, pgtest.DSN(t))
			p.cut()
			d := newDoor(t, start(t, configured(t, dsn, map[string]string{"COORD_AUTO_MIGRATE": migrates})))
			if status, out := d.send(t, "GET", "/ready", nil); status != 503 {
				t.Errorf("before: %d %s", status, out)
			}
			p.open(t)
			eventually(t, func() bool {
				status, _ := d.send(t, "GET", "/ready", nil)
				return status == 200
			})
			status, out := d.send(t, "POST", "/locks/acquire", []byte(`{"file_path": "a.go", "agent_id": "a1"}`))
			check(t, "acquire", status, out, want{"success": true})
		})
	}
}
