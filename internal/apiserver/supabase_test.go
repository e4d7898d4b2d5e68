package apiserver

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
	"github.com/agent-coordinator/agent-coordinator/internal/supa"
	"github.com/agent-coordinator/agent-coordinator/internal/supa/standin"
)

func poolOf(t *testing.T, dsn string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// With SUPABASE_URL the server's lists come through the Data API; when that is away they come all the same. The metrics
// tell who answered.
func TestListsComeThroughTheDataAPI(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	data := httptest.NewServer(&standin.Server{Pool: poolOf(t, dsn), SecretKey: "sb_secret_1"})
	defer data.Close()
	url := start(t, configured(t, dsn, map[string]string{"SUPABASE_URL": data.URL, "SUPABASE_SERVICE_KEY": "sb_secret_1"}))
	for _, body := range []string{`{"agent_id": "a", "project": "demo", "file_path": "a.go"}`, `{"agent_id": "b", "project": "rival", "file_path": "b.go"}`} {
		if status, out := call(t, "POST", url+"/locks/acquire", body); status != 200 || out["success"] != true {
			t.Fatalf("%d %v", status, out)
		}
	}
	lists := func() {
		t.Helper()
		status, out := call(t, "GET", url+"/locks?project=demo", "")
		locks, _ := out["locks"].([]any)
		if status != 200 || len(locks) != 1 {
			t.Fatalf("%d %v", status, out)
		}
		if lock, _ := locks[0].(map[string]any); lock["file_path"] != "@default//a.go" || lock["locked_by"] != "a" {
			t.Fatalf("%v", lock)
		}
		for _, path := range []string{"/work", "/sessions"} {
			if status, out := call(t, "GET", url+path+"?project=demo", ""); status != 200 {
				t.Fatalf("%s: %d %v", path, status, out)
			}
		}
	}
	metric := func(want ...string) {
		t.Helper()
		text := metricsOf(t, url)
		for _, w := range want {
			if !strings.Contains(text, w+"\n") {
				t.Errorf("the metrics lack %q", w)
			}
		}
	}
	lists()
	metric("coord_reads_data_api_total 3", "coord_reads_fallback_total 0", "coord_reads_data_api_down 0")
	data.CloseClientConnections()
	data.Close()
	lists()
	metric("coord_reads_data_api_total 3", "coord_reads_fallback_total 3", "coord_reads_postgres_total 3", "coord_reads_data_api_down 1")
}

func TestSupabaseWithoutAKeyIsRefused(t *testing.T) {
	t.Parallel()
	cfg := configured(t, pgtest.DSN(t), map[string]string{"SUPABASE_URL": "https://abc.supabase.co"})
	if err := Run(context.Background(), cfg, nil); err == nil || !strings.Contains(err.Error(), supa.ErrNoKey.Error()) {
		t.Fatal(err)
	}
}
