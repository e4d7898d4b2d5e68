package top_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/top"
)

const standIn = "COORD_TEST_TOP_URL"

// TestMain is also the program in the terminal: this binary with standIn set shows the screen of the API at that address.
func TestMain(m *testing.M) {
	url := os.Getenv(standIn)
	if url == "" {
		goleak.VerifyTestMain(m)
		return
	}
	api, err := client.New(url, "k", client.WithRetries(0))
	if err == nil {
		err = top.Run(context.Background(), top.Options{API: api, URL: url, Key: "k", Project: "shop", In: os.Stdin, Out: os.Stdout})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// fake is an API with a project in it. away: it answers nothing.
type fake struct {
	*httptest.Server
	away  atomic.Bool
	extra atomic.Bool // one more lock
	mu    sync.Mutex
	tell  []chan struct{}
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{}
	at := func(ago time.Duration) string { return time.Now().Add(-ago).UTC().Format(time.RFC3339Nano) }
	replies := map[string]func() any{
		"/approvals": func() any {
			return map[string]any{"approvals": []any{map[string]any{"approval_id": "x", "title": "rotate the keys", "policy": "security-review", "reason": "src/auth changed", "opened_at": at(5 * time.Minute)}}}
		},
		"/changesets":       func() any { return map[string]any{"changesets": []any{}} },
		"/locks/violations": func() any { return map[string]any{"violations": []any{}} },
		"/locks/waits": func() any {
			return map[string]any{"waits": []any{map[string]any{"file_path": "src/login.go", "held_path": "src/login.go", "agent_id": "bob"}}, "count": 1}
		},
		"/locks": func() any {
			list := []any{map[string]any{"file_path": "src/login.go", "locked_by": "ana", "mode": "exclusive", "expires_at": at(-29*time.Minute - 30*time.Second), "reason": "rewriting the \x1b[31mform"}}
			if f.extra.Load() {
				list = append(list, map[string]any{"file_path": "src/späte Änderung.go", "locked_by": "cleo", "mode": "shared", "expires_at": at(-time.Hour)})
			}
			return map[string]any{"locks": list, "count": len(list)}
		},
		"/work/stats": func() any { return map[string]any{"ready": 2, "blocked": 1, "claimed": 1} },
		"/work": func() any {
			return map[string]any{"tasks": []any{}, "count": 0}
		},
		"/runs":    func() any { return map[string]any{"runs": []any{}} },
		"/runners": func() any { return map[string]any{"runners": []any{}} },
	}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/sse/") {
			f.stream(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		reply := map[string]any{}
		switch {
		case replies[r.URL.Path] != nil:
			_ = json.NewEncoder(w).Encode(replies[r.URL.Path]())
			return
		case strings.Contains(r.URL.Path, "lock"):
			_ = json.NewEncoder(w).Encode(replies["/locks"]())
			return
		case strings.Contains(r.URL.Path, "agents") || strings.Contains(r.URL.Path, "discovery"):
			reply["agents"] = []any{
				map[string]any{"agent_id": "ana", "agent_type": "claude_code", "status": "active", "locks_held": 1, "last_seen": at(3 * time.Second), "current_task": "the login form"},
				map[string]any{"agent_id": "bob", "agent_type": "codex", "status": "idle", "last_seen": at(10 * time.Minute)},
			}
		}
		_ = json.NewEncoder(w).Encode(reply)
	}))
	t.Cleanup(f.Close)
	return f
}

// stream is the live view: a frame whenever change was called.
func (f *fake) stream(w http.ResponseWriter, r *http.Request) {
	news := make(chan struct{}, 1)
	f.mu.Lock()
	f.tell = append(f.tell, news)
	f.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	_, _ = fmt.Fprint(w, ": open\n\n")
	_ = flush.Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-news:
			_, _ = fmt.Fprint(w, "event: x\ndata: {}\n\n")
			_ = flush.Flush()
		}
	}
}

func (f *fake) change() {
	f.extra.Store(true)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.tell {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// terminal is a pseudo-terminal with the program in it and what a person would see.
type terminal struct {
	t    *testing.T
	tty  *os.File
	done chan error

	mu   sync.Mutex
	seen *screenOf
	raw  strings.Builder
}

func open(t *testing.T, url string, width, height uint16, env ...string) *terminal {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), append([]string{standIn + "=" + url, "TERM=xterm-256color"}, env...)...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: width, Rows: height})
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	x := &terminal{t: t, tty: tty, done: make(chan error, 1), seen: newScreen(int(width), int(height))}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 64<<10)
		for {
			n, err := tty.Read(buf)
			x.mu.Lock()
			x.raw.Write(buf[:n])
			x.seen.write(string(buf[:n]))
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { x.done <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = tty.Close()
		<-read
	})
	return x
}

func (x *terminal) screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen.text()
}

// shows waits until the screen has all the texts.
func (x *terminal) shows(texts ...string) string {
	x.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		now, missing := x.screen(), ""
		for _, text := range texts {
			if !strings.Contains(now, text) {
				missing = text
			}
		}
		if missing == "" {
			return now
		}
		if time.Now().After(deadline) {
			x.t.Fatalf("the screen lacks %q:\n%s", missing, now)
		}
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // the other side is another process
	}
}

func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := x.tty.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

func TestScreenInATerminal(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	x := open(t, f.URL, 100, 24)
	frame := x.shows("coord top  shop  live", "1 need you · 2 agents · 1 locks, 1 wait · 2 ready, 1 at work, 1 blocked", "[1 Needs you]", "respond", "approve rotate the keys (security-review)", "q quit")
	if lines := strings.Split(frame, "\n"); len(lines) != 24 || !strings.HasPrefix(lines[4], "         SINCE  WHAT") {
		t.Errorf("the frame:\n%s", frame)
	}
	x.press("2")
	x.shows("[2 Fleet]", "ana", "active", "the login form")
	x.press("\t")
	frame = x.shows("[3 Locks]", "src/login.go", "ana", "29m", "bob", "rewriting the form")
	if strings.Contains(frame, "späte") {
		t.Error("a lock that is not there")
	}
	f.change()
	x.shows("src/späte Änderung.go (shared)", "cleo")
	x.press("/")
	x.shows("filter: _")
	x.press("cleo")
	x.shows("filter: cleo_")
	x.press("\r")
	if frame = x.shows("filter: cleo (esc clears it)"); strings.Contains(frame, "rewriting") {
		t.Errorf("the filter left:\n%s", frame)
	}
	x.press("\x1b")
	x.shows("rewriting")
	f.away.Store(true)
	f.CloseClientConnections()
	x.shows("disconnected since", "src/login.go") // the last picture stays
	f.away.Store(false)
	x.shows("shop  live")
	x.press("4")
	x.shows("The queue is empty")
	x.mu.Lock()
	if strings.Contains(x.raw.String(), "\x1b]1") {
		t.Error("the terminal was asked for its colours")
	}
	x.mu.Unlock()
	x.press("q")
	select {
	case err := <-x.done:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("q did not end it")
	}
}

func TestNarrowAndWithoutColour(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	x := open(t, f.URL, 40, 12, "NO_COLOR=1")
	x.shows("[1 Needs you]", "respond")
	x.press("3")
	frame := x.shows("[3 Locks]", "src/login.go", "ana")
	for _, line := range strings.Split(frame, "\n") {
		if n := len([]rune(line)); n > 40 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, colour := range []string{"\x1b[31m", "\x1b[32m", "\x1b[33m"} {
		if strings.Contains(x.raw.String(), colour) {
			t.Errorf("colour %q without leave", colour)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	api, err := client.New(f.URL, "k", client.WithRetries(0))
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	now := time.Now()
	s, err := top.Gather(t.Context(), api, "shop", now)
	if err != nil {
		t.Fatal(err)
	}
	text := top.Plain(s, now, 120)
	for _, want := range []string{"Needs you (1)", "Fleet (2)", "Locks (1)", "src/login.go", "Queue (0)", "The queue is empty", "Runs (0)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Errorf("it holds what a terminal obeys: %q", text)
	}
	f.away.Store(true)
	if _, err := top.Gather(t.Context(), api, "shop", now); err == nil {
		t.Error("a coordinator that is away gave a picture")
	}
}
