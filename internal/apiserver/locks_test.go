package apiserver

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// TestLocksWithoutNotifications: one waits for a lock at a server whose listening connection is gone and cannot come
// back; the lock is freed at another server. No wake-up arrives, and the waiter has it at its next look all the same.
func TestLocksWithoutNotifications(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	name := u.Path[1:]
	u.Path = "/postgres"
	admin, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing is left to send
	must := func(sql string, args ...any) {
		t.Helper()
		if _, err := admin.Exec(context.WithoutCancel(t.Context()), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	here, there := start(t, configured(t, dsn, nil)), start(t, configured(t, dsn, nil))
	for _, server := range []string{here, there} { // a pooled connection each, for none will be made later
		if status, out := call(t, "POST", server+"/locks/acquire", `{"agent_id": "ana", "session_id": "s", "file_path": "a.go"}`); status != 200 || out["success"] != true {
			t.Fatalf("%d %v", status, out)
		}
	}

	const listeners = `from pg_stat_activity where datname = $1 and query ilike 'listen %'`
	must(`alter database ` + pgx.Identifier{name}.Sanitize() + ` with allow_connections false`)
	defer must(`alter database ` + pgx.Identifier{name}.Sanitize() + ` with allow_connections true`)
	var killed int
	if err := admin.QueryRow(t.Context(), `select count(pg_terminate_backend(pid)) `+listeners, name).Scan(&killed); err != nil || killed != 2 {
		t.Fatalf("%d listening connections were killed, want 2: %v", killed, err)
	}

	type answer struct {
		status int
		out    map[string]any
	}
	got := make(chan answer, 1)
	go func() {
		status, out := call(t, "POST", here+"/locks/acquire", `{"agent_id": "bob", "session_id": "t", "file_path": "a.go", "wait_seconds": 15}`)
		got <- answer{status, out}
	}()
	for waiting := 0; waiting == 0; {
		status, out := call(t, "POST", there+"/locks/acquire", `{"agent_id": "cyd", "session_id": "u", "file_path": "a.go"}`)
		if status != 200 || out["success"] != false {
			t.Fatalf("%d %v", status, out)
		}
		if position, _ := out["queue_position"].(float64); position == 2 { // bob is in line
			waiting = 1
		}
	}
	if status, out := call(t, "POST", there+"/locks/release", `{"agent_id": "ana", "session_id": "s", "file_path": "a.go"}`); status != 200 || out["released"] != true {
		t.Fatalf("%d %v", status, out)
	}
	freed := time.Now()
	a := <-got
	if a.status != 200 || a.out["success"] != true {
		t.Fatalf("%d %v", a.status, a.out)
	}
	if took := time.Since(freed); took > 8*time.Second {
		t.Errorf("it took %s; a waiter looks every 2 s", took)
	}
	if err := admin.QueryRow(t.Context(), `select count(*) `+listeners, name).Scan(&killed); err != nil || killed != 0 {
		t.Errorf("%d connections listen: the wake-up may have come by them: %v", killed, err)
	}
}
