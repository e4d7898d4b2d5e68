package apiserver

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// TestStartup: from exec to the first answer that took a statement. The floor is 250 ms; a loaded machine gets more,
// and only the median of a few starts counts.
func TestStartup(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the program")
	}
	bin := filepath.Join(t.TempDir(), "api")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "../../cmd/api").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dsn := pgtest.DSN(t)
	var took []time.Duration
	for range 5 {
		took = append(took, startup(t, bin, dsn))
	}
	slices.Sort(took)
	t.Logf("exec to first statement-backed answer: min %s, median %s, max %s", took[0], took[2], took[4])
	if took[2] > 2*time.Second {
		t.Errorf("median %s", took[2])
	}
}

func startup(t *testing.T, bin, dsn string) time.Duration {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin)
	cmd.Env = append(os.Environ(), "COORD_DATABASE_URL="+dsn, "API_ADDR="+addr, "COORDINATION_API_KEYS="+testKey, "LOG_LEVEL=error")
	cmd.Stderr = os.Stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	for {
		req, err := http.NewRequestWithContext(ctx, "POST", "http://"+addr+"/locks/check", strings.NewReader(`{"agent_id":"a"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-Key", testKey)
		if resp, err := tr.RoundTrip(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode != 200 {
				t.Fatalf("status %d", resp.StatusCode)
			}
			break
		} else if ctx.Err() != nil {
			t.Fatal("it did not answer")
		}
	}
	took := time.Since(began)
	_ = cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Errorf("a clean stop: %v", err)
	}
	return took
}
