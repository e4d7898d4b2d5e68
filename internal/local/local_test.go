package local

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestUpFileIsForItsOwnerAndComplete(t *testing.T) {
	t.Parallel()
	h := Home{filepath.Join(t.TempDir(), "home")}
	if err := h.Make(); err != nil {
		t.Fatal(err)
	}
	want := Up{APIURL: "http://127.0.0.1:1", DatabaseURL: "postgres://u:p@h/db?a=1&b=2", Project: "default", APIKey: "k", PID: os.Getpid()}
	if err := h.writeUp(want); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(h.upFile())
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"api_url", "gateway_url", "database_url", "project", "api_key", "pid"} {
		if _, ok := members[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
	if members["gateway_url"] != nil || members["database_url"] != want.DatabaseURL {
		t.Errorf("up.json holds %s", raw)
	}
	if st, err := os.Stat(h.upFile()); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	if err := h.removeUp(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ReadUp(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("up.json is still there: %v", err)
	}
}

func TestRunning(t *testing.T) {
	t.Parallel()
	live := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/live" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(live.Close)
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	tests := []struct {
		name string
		up   Up
		want bool
	}{
		{"it answers", Up{APIURL: live.URL, PID: os.Getpid()}, true},
		{"its process is gone", Up{APIURL: live.URL, PID: 1 << 22}, false},
		{"something else has the port", Up{APIURL: other.URL, PID: os.Getpid()}, false},
		{"nothing listens", Up{APIURL: "http://127.0.0.1:1", PID: os.Getpid()}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := Home{t.TempDir()}
			if err := h.writeUp(tt.up); err != nil {
				t.Fatal(err)
			}
			if _, ok := h.Running(t.Context()); ok != tt.want {
				t.Errorf("running: %v", ok)
			}
		})
	}
}

func TestRemoveUpLeavesAnothersAlone(t *testing.T) {
	t.Parallel()
	h := Home{t.TempDir()}
	if err := h.writeUp(Up{PID: os.Getpid() + 1}); err != nil {
		t.Fatal(err)
	}
	if err := h.removeUp(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ReadUp(); err != nil {
		t.Errorf("another process's up.json was removed: %v", err)
	}
}

func TestTakenPortNamesItsOwner(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	err = checkFree(ln.Addr().String())
	var taken *PortTakenError
	if !errors.As(err, &taken) {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat("/proc/net/tcp"); err == nil && !strings.Contains(taken.Owner, "pid ") {
		t.Errorf("the owner is %q", taken.Owner)
	}
	if err := checkFree("127.0.0.1:0"); err != nil {
		t.Error(err)
	}
}

func TestReachable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"0.0.0.0:80": "127.0.0.1:80", "[::]:80": "127.0.0.1:80", ":80": "127.0.0.1:80", "10.0.0.1:80": "10.0.0.1:80", "[::1]:80": "[::1]:80"} {
		if got := reachable(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestOneLockAtATime(t *testing.T) {
	t.Parallel()
	h := Home{t.TempDir()}
	if h.locked() {
		t.Error("nobody has it up, yet it is locked")
	}
	f, _, err := h.takeLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !h.locked() {
		t.Error("it is not locked")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if h.locked() {
		t.Error("it stays locked")
	}
}
