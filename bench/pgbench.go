package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

var tpsLine = regexp.MustCompile(`(?m)^tps = ([0-9.]+) `)

// errNoPgbench says what to install.
var errNoPgbench = errors.New("pgbench is the yardstick and was not found beside the Postgres server programs; " +
	"it comes with the packages postgresql (Debian), postgresql-contrib (Fedora, Alpine) and postgresql (Homebrew); " +
	"COORD_PG_BIN names a folder that holds it")

// program finds a program beside the server's.
func (r *rig) program(name string) (string, bool) {
	path := filepath.Join(r.pg.Info().Binaries, name)
	if _, err := os.Stat(path); err == nil {
		return path, true
	}
	path, err := exec.LookPath(name)
	return path, err == nil
}

// pgbench runs a script with prepared statements and returns its rate per second. Each transaction is the whole script.
func (r *rig) pgbench(ctx context.Context, dsn, name, script string, clients int) (float64, error) {
	prog, ok := r.program("pgbench")
	if !ok {
		return 0, errNoPgbench
	}
	file := filepath.Join(r.dir, name+".sql")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return 0, err
	}
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return 0, err
	}
	seconds := r.o.seconds + clients/32 // its clock runs while it connects; the rate it prints leaves that out
	cmd := exec.CommandContext(ctx, prog, "-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", strconv.Itoa(min(clients, 2)),
		"-T", strconv.Itoa(seconds), "-f", file, cfg.Database)
	cmd.Env = environ(map[string]string{"PGHOST": cfg.Host, "PGPORT": strconv.Itoa(int(cfg.Port)), "PGUSER": cfg.User, "PGPASSWORD": cfg.Password, "LC_ALL": "C"})
	cmd.WaitDelay = 5 * time.Second
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("pgbench %s: %w: %.500s", name, err, errs.Bytes())
	}
	m := tpsLine.FindSubmatch(out)
	if m == nil || bytes.Contains(errs.Bytes(), []byte("ERROR")) {
		return 0, fmt.Errorf("pgbench %s: %.500s %.500s", name, out, errs.Bytes())
	}
	return strconv.ParseFloat(string(m[1]), 64)
}
