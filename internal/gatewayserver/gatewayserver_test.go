package gatewayserver

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
	"github.com/agent-coordinator/agent-coordinator/internal/obs"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const testKey = "test-key-0123456789"

// start runs a gateway without places of verification and returns its URL; it stops with the test.
func start(t *testing.T, dsn string, more map[string]string) string {
	t.Helper()
	vars := map[string]string{"COORD_DATABASE_URL": dsn, "GATEWAY_ADDR": "127.0.0.1:0", "COORDINATION_API_KEYS": testKey, "COORD_DB_CONNECTIONS": "6"}
	for k, v := range more {
		vars[k] = v
	}
	env, err := config.LoadFrom[config.GatewayServer](vars)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		GatewayServer: env, Dir: t.TempDir(), Log: obs.NewLogger(t.Output(), "error", false),
		Places: func() ([]gateway.Place, error) { return nil, nil },
	}
	ctx, cancel := context.WithCancel(context.Background())
	addr, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- Run(ctx, cfg, func(a string) { addr <- a }) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(15 * time.Second):
			t.Error("the gateway did not stop")
		}
	})
	select {
	case a := <-addr:
		return "http://" + a
	case err := <-ended:
		t.Fatalf("Run: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("the gateway did not start")
	}
	return ""
}

// call sends a request and returns status and body.
func call(t *testing.T, method, url, body string, header map[string]string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if strings.HasPrefix(strings.TrimSpace(string(raw)), "{") {
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatal(err)
		}
	}
	return resp.StatusCode, out
}

const push = `{"ref": "refs/heads/main", "before": "1111111111111111111111111111111111111111", "after": "2222222222222222222222222222222222222222",
	"repository": {"id": 1, "full_name": "acme/shop", "clone_url": "https://git.example/acme/shop.git", "html_url": "https://git.example/acme/shop", "default_branch": "main", "pushed_at": 1000},
	"sender": {"login": "dev"}}`

func delivery(body, secret string) map[string]string {
	return map[string]string{
		"Content-Type": "application/json", "X-GitHub-Event": "push", "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
		"X-Hub-Signature-256": githubevent.Sign(secret, []byte(body)),
	}
}

func TestServesWebhooksAndOperations(t *testing.T) {
	t.Parallel()
	url := start(t, pgtest.DSN(t), map[string]string{"GITHUB_WEBHOOK_SECRET": "new", "GITHUB_WEBHOOK_SECRET_PREVIOUS": "old"})
	for range 2 {
		if status, out := call(t, "POST", url+"/webhook/github", push, delivery(push, "old")); status != 202 {
			t.Fatalf("%d %v", status, out)
		}
	}
	key := map[string]string{"X-API-Key": testKey, "X-Project": "git.example/acme/shop"}
	deadline := time.Now().Add(15 * time.Second)
	for {
		status, out := call(t, "GET", url+"/changesets", "", key)
		list, _ := out["changesets"].([]any)
		if status == 200 && len(list) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d %v", status, out)
		}
	}
	for path, want := range map[string]int{"/health": 200, "/live": 200, "/ready": 200, "/metrics": 200, "/openapi.json": 200, "/policies": 401, "/locks/check": 404} {
		if status, _ := call(t, "GET", url+path, "", nil); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	if status, _ := call(t, "POST", url+"/webhook/agent", `{}`, nil); status != 401 {
		t.Errorf("agents' webhook without a key: %d", status)
	}
	if status, out := call(t, "POST", url+"/webhook/agent", `{"agent_id": "ana", "repository": "git.example/acme/shop", "branch": "b", "head_sha": "3333333333333333333333333333333333333333"}`, key); status != 200 || out["created"] != true {
		t.Errorf("agents' webhook: %d %v", status, out)
	}
}

func TestRefusesDeliveries(t *testing.T) {
	t.Parallel()
	without := start(t, pgtest.DSN(t), nil)
	if status, out := call(t, "POST", without+"/webhook/github", push, delivery(push, "")); status != 503 || !strings.Contains(out["next"].(string), "GITHUB_WEBHOOK_SECRET") {
		t.Errorf("without a secret: %d %v", status, out)
	}
	away := start(t, "postgres://nobody@127.0.0.1:1/none", map[string]string{"GITHUB_WEBHOOK_SECRET": "s"})
	if status, out := call(t, "POST", away+"/webhook/github", push, delivery(push, "s")); status != 503 || out["code"] != "unavailable" {
		t.Errorf("without a database: %d %v", status, out)
	}
	if status, _ := call(t, "GET", away+"/ready", "", nil); status != 503 {
		t.Errorf("ready without a database: %d", status)
	}
}
