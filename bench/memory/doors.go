package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpclient"
)

const endWithin = 10 * time.Second // a process we started gets so long to end

// doors are the real programs over the same database: the API that is asked over HTTP with a key, and an MCP server
// over standard streams.
type doors struct {
	http *client.AgentCoordinationClient
	mcp  *mcpclient.Client
	undo []func() error // in reverse order
}

// openDoors builds api and mcp-server, starts them and waits until both answer.
func (b *bench) openDoors(ctx context.Context) (d *doors, err error) {
	d = &doors{}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	dir, err := os.MkdirTemp("", "coord-memory-doors-")
	if err != nil {
		return d, err
	}
	d.undo = append(d.undo, func() error { return os.RemoveAll(dir) })
	b.say("building api and mcp-server")
	build := exec.CommandContext(ctx, "go", "build", "-C", "..", "-trimpath", "-o", dir+string(filepath.Separator), "./cmd/api", "./cmd/mcp-server")
	if text, err := build.CombinedOutput(); err != nil {
		return d, fmt.Errorf("build the binaries (run this in the folder bench): %w\n%s", err, text)
	}
	admin, err := b.store.Resolve(ctx, ident.Principal{Name: "bench", Scopes: []ident.Scope{ident.Admin}}, ident.Claim{Project: "bench"}, false)
	if err != nil {
		return d, err
	}
	key, err := b.store.CreateKey(ctx, admin, client.CreateKey{Name: fmt.Sprintf("bench-%d", time.Now().UnixNano()), Scopes: []string{"read", "write"}})
	if err != nil {
		return d, err
	}
	if err := d.openHTTP(ctx, dir, b.dsn, key.Secret); err != nil {
		return d, err
	}
	return d, d.openMCP(ctx, dir, b.dsn)
}

func (d *doors) openHTTP(ctx context.Context, dir, dsn, key string) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0") // an address nobody listens on
	if err != nil {
		return err
	}
	addr := ln.Addr().String()
	if err := ln.Close(); err != nil {
		return err
	}
	cmd := exec.Command(program(dir, "api"))
	cmd.Env = environ("COORD_DATABASE_URL="+dsn, "API_ADDR="+addr, "LOG_LEVEL=warn", "AUTH_ENABLED=true")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return err
	}
	d.undo = append(d.undo, func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM) // where that does not exist, the timer kills it
		kill := time.AfterFunc(endWithin, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("api: %w: %.500s", err, errs.Bytes())
		}
		return nil
	})
	d.http, err = client.New("http://"+addr, key, client.WithAgent("ana", "bench"))
	if err != nil {
		return err
	}
	for end := time.Now().Add(30 * time.Second); ; {
		if _, err = d.http.Recall(ctx, client.Recall{Limit: 1}); err == nil || time.Now().After(end) || ctx.Err() != nil {
			return err
		}
	}
}

// openMCP starts mcp-server as a host does. A folder that is no checkout goes by its name.
func (d *doors) openMCP(ctx context.Context, dir, dsn string) error {
	home := filepath.Join(dir, "bench")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	cmd := exec.Command(program(dir, "mcp-server"))
	cmd.Dir = home
	cmd.Env = environ("COORD_DATABASE_URL="+dsn, "COORD_PROJECT=bench", "AGENT_ID=ana", "AGENT_TYPE=bench", "SESSION_ID=mcp", "COORD_HOME="+filepath.Join(dir, "home"))
	c, err := mcpclient.Start(ctx, cmd, "bench")
	if err != nil {
		return err
	}
	d.mcp = c
	d.undo = append(d.undo, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), endWithin)
		defer cancel()
		return c.Close(ctx)
	})
	return nil
}

// close ends what was started, the last first.
func (d *doors) close() error {
	var err error
	for i := len(d.undo) - 1; i >= 0; i-- {
		err = errors.Join(err, d.undo[i]())
	}
	d.undo = nil
	return err
}

func program(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

// environ is ours without what would configure the coordinator, with the given variables.
func environ(vars ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}, vars...)
}

// throughDoors asks ordinary questions over HTTP (POST /memory/query) and as the MCP tool recall, turn and turn about,
// one client each, and prints both times.
func (b *bench) throughDoors(ctx context.Context, asked int) (err error) {
	d, err := b.openDoors(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	overHTTP := func(q string) error {
		_, err := d.http.Recall(ctx, client.Recall{TaskDescription: q})
		return err
	}
	overMCP := func(q string) error {
		var reply struct{ Count int }
		return d.mcp.Call(ctx, "recall", map[string]any{"task_description": q}, &reply)
	}
	var http, mcp []time.Duration
	for i := range 30 + asked {
		for turn := range 2 {
			ask, times := overHTTP, &http
			if turn == i%2 {
				ask, times = overMCP, &mcp
			}
			q := b.question(false) // each its own: the one before would have brought the pages in
			start := time.Now()
			if err := ask(q); err != nil {
				return err
			}
			if i >= 30 { // warm
				*times = append(*times, time.Since(start))
			}
		}
	}
	fmt.Fprintf(b.out, "%9d through a door, p50 / p95: HTTP %.1f / %.1f ms, MCP over standard streams %.1f / %.1f ms\n", b.n, at(http, .5), at(http, .95), at(mcp, .5), at(mcp, .95))
	return nil
}
