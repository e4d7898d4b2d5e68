package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/apiserver"
	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

const (
	freeKey  = "free-key-0123456789"
	boundKey = "bound-key-0123456789"
)

// api runs an API server on a fresh database and returns its URL. One key is free, one bound to the agent "carol".
func api(t testing.TB) string {
	t.Helper()
	cfg, err := config.LoadFrom[config.API](map[string]string{
		"COORD_DATABASE_URL": pgtest.DSN(t), "API_ADDR": "127.0.0.1:0", "COORD_DB_CONNECTIONS": "6", "COORDINATION_API_KEYS": freeKey + "," + boundKey,
		"COORDINATION_API_KEY_IDENTITIES": `{"` + boundKey + `": {"agent_id": "carol", "agent_type": "codex"}}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	addr, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- apiserver.Run(ctx, apiserver.Config{API: cfg}, func(a string) { addr <- a }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("API: %v", err)
		}
	})
	select {
	case a := <-addr:
		return "http://" + a
	case err := <-done:
		done <- nil
		t.Fatalf("API: %v", err)
	case <-time.After(within):
		t.Fatal("the API did not start")
	}
	return ""
}

func TestRemoteAPI(t *testing.T) {
	t.Parallel()
	url, dir := api(t), checkout(t)
	a := start(t, dir, map[string]string{"COORDINATION_API_URL": url, "COORDINATION_API_KEY": freeKey, "AGENT_ID": "ana", "SESSION_ID": "sa"})
	b := start(t, dir, map[string]string{"COORDINATION_API_URL": url, "COORDINATION_API_KEY": boundKey})
	if r := a.call("acquire_lock", map[string]any{"file_path": dir + "/src/a.go"}); r["success"] != true || r["file_path"] != "src/a.go" {
		t.Fatalf("ana: %v", r)
	}
	if r := b.call("acquire_lock", map[string]any{"file_path": "src/a.go"}); r["success"] != false || r["locked_by"] != "ana" {
		t.Fatalf("carol: %v", r)
	}
	if r := a.call("acquire_lock", map[string]any{"file_path": "x", "file_pathes": "y"}); r["isError"] != true || r["code"] != "invalid" {
		t.Errorf("unknown argument: %v", r)
	}
	waiting := b.sendCall("acquire_lock", map[string]any{"file_path": "src/a.go", "wait_seconds": 20})
	awaitQueue(t, a, 1)
	a.call("send_message", map[string]any{"to": []string{"carol"}, "text": "yours in a moment"})
	a.end() // ends the session over HTTP
	r := b.result(waiting)
	if r["success"] != true {
		t.Fatalf("carol after ana left: %v", r)
	}
	if r := b.call("who_is_active", nil); !strings.Contains(string(compactJSON(t, r["agents"])), `"agent_id":"carol"`) || strings.Contains(string(compactJSON(t, r["agents"])), `"agent_id":"ana"`) {
		t.Errorf("a bound key acts as its agent, an ended session is gone: %v", r)
	}
	for deadline := time.Now().Add(within); !strings.Contains(string(compactJSON(t, r["notices"])), "yours in a moment"); {
		if time.Now().After(deadline) {
			t.Fatalf("the message never arrived: %v", r)
		}
		r = b.call("session_brief", nil)
	}
}

func TestRemoteWrongKey(t *testing.T) {
	t.Parallel()
	a := start(t, checkout(t), map[string]string{"COORDINATION_API_URL": api(t), "COORDINATION_API_KEY": "nobody-0123456789"})
	if r := a.call("check_locks", nil); r["isError"] != true || r["code"] != "unauthenticated" {
		t.Errorf("%v", r)
	}
}
