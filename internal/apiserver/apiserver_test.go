package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/obs"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const testKey = "test-key-0123456789"

// configured is a configuration for a database, with one static key.
func configured(t testing.TB, dsn string, more map[string]string) Config {
	t.Helper()
	vars := map[string]string{"COORD_DATABASE_URL": dsn, "API_ADDR": "127.0.0.1:0", "COORDINATION_API_KEYS": testKey, "COORD_DB_CONNECTIONS": "6"}
	for k, v := range more {
		vars[k] = v
	}
	api, err := config.LoadFrom[config.API](vars)
	if err != nil {
		t.Fatal(err)
	}
	return Config{API: api, Log: obs.NewLogger(t.Output(), "error", false)}
}

// start runs a server and returns its URL; it stops with the test.
func start(t testing.TB, cfg Config) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	addr, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- Run(ctx, cfg, func(a string) { addr <- a }) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(15 * time.Second):
			t.Error("the server did not stop")
		}
	})
	select {
	case a := <-addr:
		return "http://" + a
	case err := <-done:
		t.Fatalf("Run: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("the server did not start")
	}
	return ""
}

// call sends a request with the test key and returns status and body.
func call(t testing.TB, method, url, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", testKey)
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: tr, Timeout: 20 * time.Second}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s %s: %d, not a JSON object: %.200s", method, url, resp.StatusCode, raw)
	}
	return resp.StatusCode, out
}

func TestServesOperations(t *testing.T) {
	t.Parallel()
	url := start(t, configured(t, pgtest.DSN(t), nil))
	status, out := call(t, "POST", url+"/discovery/register", `{"agent_id": "a", "agent_type": "codex", "session_id": "s"}`)
	if status != 200 || out["success"] != true {
		t.Errorf("register: %d %v", status, out)
	}
	status, out = call(t, "GET", url+"/health", "")
	if status != 200 || out["db"] != "ok" {
		t.Errorf("health: %d %v", status, out)
	}
}

func TestRefusesToStart(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		cfg  func(t *testing.T) Config
		want error
	}{
		{"without a database", func(t *testing.T) Config { return configured(t, "", nil) }, ErrNoDatabase},
		{"open on an outside address", func(t *testing.T) Config {
			return configured(t, "postgres://127.0.0.1:1/x", map[string]string{"AUTH_ENABLED": "false", "API_ADDR": "0.0.0.0:0"})
		}, ErrOpenDoor},
		{"open on every address", func(t *testing.T) Config {
			return configured(t, "postgres://127.0.0.1:1/x", map[string]string{"AUTH_ENABLED": "false", "API_ADDR": ":0"})
		}, ErrOpenDoor},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := Run(t.Context(), tt.cfg(t), nil); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestRefusesAnOldSchemaUnlessToldToMigrate(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	if err := Run(t.Context(), configured(t, dsn, nil), nil); err == nil || !strings.Contains(err.Error(), "coordctl migrate") {
		t.Errorf("got %v", err)
	}
	url := start(t, configured(t, dsn, map[string]string{"COORD_AUTO_MIGRATE": "1"}))
	if status, _ := call(t, "GET", url+"/ready", ""); status != 200 {
		t.Errorf("ready: %d", status)
	}
}

func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	url := start(t, configured(t, "postgres://nobody@127.0.0.1:1/none", nil))
	if status, out := call(t, "GET", url+"/health", ""); status != 200 || out["db"] != "unavailable" {
		t.Errorf("health: %d %v", status, out)
	}
	if status, out := call(t, "GET", url+"/ready", ""); status != 503 || out["code"] != "unavailable" {
		t.Errorf("ready: %d %v", status, out)
	}
	began := time.Now()
	status, out := call(t, "POST", url+"/discovery/register", `{"agent_id": "a"}`)
	if status != 503 || out["code"] != "unavailable" || out["retryable"] != true {
		t.Errorf("register: %d %v", status, out)
	}
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("took %s", took)
	}
}

// What the environment says about other machines reaches the door: limits, trusted proxies, TLS.
func TestTowardsOtherMachines(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	url := start(t, configured(t, dsn, map[string]string{"COORD_RATE_LIMIT": "2", "TRUSTED_PROXIES": "127.0.0.1"}))
	refused := 0
	for range 15 {
		status, out := call(t, "GET", url+"/discovery/active", "")
		switch {
		case status == 429 && out["code"] == "exhausted":
			refused++
		case status != 200:
			t.Fatalf("%d %v", status, out)
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	for name, vars := range map[string]map[string]string{
		"TRUSTED_PROXIES":  {"TRUSTED_PROXIES": "my-proxy"},
		"COORD_RATE_LIMIT": {"COORD_RATE_LIMIT": "-1"},
		"TLS_CERT_FILE":    {"TLS_CERT_FILE": "/nowhere/cert.pem", "TLS_KEY_FILE": "/nowhere/key.pem"},
	} {
		if err := Run(context.Background(), configured(t, dsn, vars), nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
