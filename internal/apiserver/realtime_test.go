package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
	"github.com/agent-coordinator/agent-coordinator/internal/supa/standin"
)

// phoenix speaks Realtime's part of the protocol: it takes the join, and tells of a change of a table whenever one is sent
// to changes.
func phoenix(t *testing.T, changes <-chan string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow() //nolint:errcheck // the test is over
		ctx := r.Context()
		say := func(ref, topic, event, payload string) {
			_ = conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"ref": %s, "topic": %q, "event": %q, "payload": %s}`, ref, topic, event, payload))
		}
		const topic = "realtime:agent-coordinator"
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case table := <-changes:
					say("null", topic, "postgres_changes", fmt.Sprintf(`{"ids": [1], "data": {"schema": "public", "table": %q, "type": "DELETE", "record": {}, "old_record": {}}}`, table))
				}
			}
		}()
		for {
			_, raw, err := conn.Read(ctx)
			if err != nil {
				return
			}
			var m struct{ Ref, Topic, Event string }
			if json.Unmarshal(raw, &m) != nil {
				t.Errorf("no Phoenix message: %s", raw)
			}
			say(fmt.Sprintf("%q", m.Ref), m.Topic, "phx_reply", `{"status": "ok", "response": {}}`)
			if m.Event == "phx_join" {
				say("null", topic, "system", `{"status": "ok", "extension": "postgres_changes", "message": "Subscribed to PostgreSQL"}`)
			}
		}
	}
}

// Where only a transaction pooler is to be had, a server hears of what others did through Realtime: a call that waits for a
// lock gets it at once when another process gave it back.
func TestWaitersHearOfOthersThroughRealtime(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	changes := make(chan string)
	mux := http.NewServeMux()
	mux.HandleFunc("/realtime/v1/websocket", phoenix(t, changes))
	mux.Handle("/rest/", &standin.Server{Pool: poolOf(t, dsn), SecretKey: "sb_secret_1"})
	supabase := httptest.NewServer(mux)
	defer supabase.Close()
	waits := start(t, configured(t, dsn+"&pgbouncer=true", map[string]string{"SUPABASE_URL": supabase.URL, "SUPABASE_SECRET_KEY": "sb_secret_1"}))
	if status, out := call(t, "POST", waits+"/locks/acquire", `{"agent_id": "a", "file_path": "a.go"}`); status != 200 || out["success"] != true {
		t.Fatalf("%d %v", status, out)
	}
	got := make(chan map[string]any, 1)
	go func() {
		_, out := call(t, "POST", waits+"/locks/acquire", `{"agent_id": "b", "file_path": "a.go", "wait_seconds": 18}`)
		got <- out
	}()
	await := func(what string) {
		t.Helper()
		for end := time.Now().Add(15 * time.Second); !strings.Contains(metricsOf(t, waits), what+"\n"); {
			if time.Now().After(end) {
				t.Fatalf("the metrics never said %s", what)
			}
		}
	}
	await("coord_waiters 1")
	await("coord_realtime_joined 1")
	// Another process gives it back, and tells nobody in this one.
	if _, err := poolOf(t, dsn).Exec(t.Context(), `delete from public.file_locks`); err != nil {
		t.Fatal(err)
	}
	changes <- "file_locks"
	select {
	case out := <-got:
		if out["success"] != true || out["locked_by"] == "a" {
			t.Errorf("%v", out)
		}
	case <-time.After(15 * time.Second):
		t.Fatal("nobody heard")
	}
	await("coord_realtime_changes_total 1")
}
