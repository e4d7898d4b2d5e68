package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/version"
)

// Host says where a run took place.
type Host struct {
	LoadBefore string `json:"load_before"` // averages of 1, 5 and 15 minutes
	Processors int    `json:"processors"`
	System     string `json:"system"`
	Go         string `json:"go"`
	Postgres   string `json:"postgres"`
	Version    string `json:"version"`
	Fdatasync  string `json:"fdatasync"` // as pg_test_fsync prints it
}

func (r *rig) host(ctx context.Context) (Host, error) {
	h := Host{
		LoadBefore: loadAverage(), Processors: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		Version: version.String(), Fdatasync: r.fdatasync(ctx),
	}
	err := r.pool.QueryRow(ctx, "select current_setting('server_version') || ', fsync=' || current_setting('fsync') || ', synchronous_commit=' || current_setting('synchronous_commit')").Scan(&h.Postgres)
	return h, err
}

// loadAverage is empty where the system does not tell.
func loadAverage() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	f := strings.Fields(string(raw))
	return strings.Join(f[:min(3, len(f))], " ")
}

// fdatasync is pg_test_fsync's figure for one 8 kB write on the disk that holds the cluster. Its remaining tests are
// not waited for.
func (r *rig) fdatasync(ctx context.Context) string {
	prog, ok := r.program("pg_test_fsync")
	if !ok {
		return "unknown: pg_test_fsync is not installed"
	}
	file := filepath.Join(filepath.Dir(r.pg.Info().DataDir), "fsync.test")
	cmd := exec.CommandContext(ctx, prog, "-s", "1", "-f", file)
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return "unknown"
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		_ = os.Remove(file)
	}()
	in := bufio.NewScanner(out)
	for in.Scan() {
		if f := strings.Fields(in.Text()); len(f) > 2 && f[0] == "fdatasync" {
			return strings.Join(f[1:], " ")
		}
	}
	return "unknown"
}
