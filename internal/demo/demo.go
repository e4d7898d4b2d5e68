// Package demo lets real agents fight for the same files and tasks and tells what happened.
//
// Promise: every sentence is made from a reply, never from what should have happened; what does not hold is said and
// makes Run answer false. All of it runs in processes of its own below a temporary folder, and all of it is removed.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/local"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
)

// Options of Run.
type Options struct {
	Out       io.Writer
	Quiet     bool   // only the summary
	Coordctl  string // the programs
	MCPServer string
}

const (
	project = "demo"
	folder  = "app" // the repository's name
)

// stage is the running demonstration.
type stage struct {
	tell *teller
	opts Options
	cat  *op.Catalogue
	dir  string
	env  []string
	up   local.Up
	host *exec.Cmd // coordctl up

	ana, bob *mcpAgent  // over MCP
	cleo     *httpAgent // over HTTP, with a key of its own
	watcher  *httpAgent // the administrator's key: asks, and never takes anything
}

// Run runs it. ok is false when a claim did not hold; an error means that it could not be run to its end.
func Run(ctx context.Context, o Options) (ok bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, errors.New("the demonstration took longer than five minutes"))
	defer cancel()
	began := time.Now()
	s := &stage{opts: o, cat: ops.Catalogue(ops.Deps{}), tell: &teller{out: o.Out, quiet: o.Quiet}}
	defer func() { err = errors.Join(err, s.strike()) }()
	if err := s.build(ctx); err != nil {
		return false, err
	}
	for _, act := range []func(context.Context) error{
		s.sameFile, s.refusedEdit, s.queue, s.staleToken, s.thirtyTasks, s.handedOver, s.verdict, s.killed, s.twice, s.borrowed,
	} {
		if err := act(ctx); err != nil {
			return false, err
		}
	}
	return s.tell.summary(time.Since(began)), nil
}

// cleanEnv is this process's environment without what would lead to another installation.
func cleanEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		for _, prefix := range []string{"COORD_", "COORDINATION_", "COORDINATOR_", "AGENT_", "API_ADDR", "GATEWAY_", "GITHUB_", "AUTH_ENABLED", "DATABASE_URL", "DIRECT_URL", "SESSION_ID", "CLAUDE", "LOG_LEVEL", "DEBUG_LOGGING"} {
			if strings.HasPrefix(name, prefix) && name != "COORD_PG_BIN" && name != "COORD_PG_USER" {
				return true
			}
		}
		return false
	})
}

// build starts everything.
func (s *stage) build(ctx context.Context) error {
	began := time.Now()
	var err error
	if s.dir, err = os.MkdirTemp("", "coord-demo-"); err != nil {
		return err
	}
	if err := os.Chmod(s.dir, 0o711); err != nil { //nolint:gosec // root's Postgres runs under another account, which must walk through
		return err
	}
	s.env = append(cleanEnv(), "COORD_HOME="+filepath.Join(s.dir, "home"), "COORD_PG_GRACE=2s")
	if err := os.Mkdir(filepath.Join(s.dir, folder), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(s.forge(), 0o755); err != nil { //nolint:gosec // as above: the gateway's git reads it
		return err
	}
	if err := s.startAPI(ctx); err != nil {
		return err
	}
	s.watcher, err = s.httpAgent("watcher", s.up.APIKey)
	if err != nil {
		return err
	}
	var key struct{ Secret string }
	err = s.watcher.call(ctx, "create_key", map[string]any{
		"name": "cleo's", "agent_id": "cleo", "agent_type": "script", "scopes": []any{"read", "write"}, "project": project,
	}, &key)
	if err != nil {
		return err
	}
	if s.ana, err = s.mcpAgent(ctx, "ana", "claude_code"); err != nil {
		return err
	}
	if s.bob, err = s.mcpAgent(ctx, "bob", "codex"); err != nil {
		return err
	}
	if s.cleo, err = s.httpAgent("cleo", key.Secret); err != nil {
		return err
	}
	s.tell.say("A Postgres, an API and two MCP servers of their own run after %.1f s.", time.Since(began).Seconds())
	s.tell.say("ana and bob speak MCP (processes %d and %d), cleo speaks HTTP with a key bound to cleo.", s.ana.client.PID(), s.bob.client.PID())
	return nil
}

// startAPI runs `coordctl up` and reads what it prints once all answers.
func (s *stage) startAPI(ctx context.Context) error {
	s.host = exec.Command(s.opts.Coordctl, "up", "--addr", "127.0.0.1:0", "--json")
	s.host.Env = append(append([]string{}, s.env...), s.verdictEnv()...)
	s.host.WaitDelay = 5 * time.Second
	var said strings.Builder
	s.host.Stderr = &said
	out, err := s.host.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.host.Start(); err != nil {
		return fmt.Errorf("start coordctl up: %w", err)
	}
	ready := make(chan error, 1)
	go func() { ready <- json.NewDecoder(out).Decode(&s.up) }()
	select {
	case err := <-ready:
		if err != nil { // it ended; what it said is complete once it was waited for
			_ = s.host.Wait()
			s.host = nil
			return fmt.Errorf("coordctl up ended before it was ready: %s", strings.TrimSpace(said.String()))
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// strike stops every process and removes the folder.
func (s *stage) strike() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var errs []error
	for _, a := range []*mcpAgent{s.ana, s.bob} {
		if a != nil {
			errs = append(errs, a.client.Close(ctx))
		}
	}
	if s.host != nil {
		errs = append(errs, s.host.Process.Signal(syscall.SIGTERM), s.host.Wait())
	}
	if s.env != nil {
		down := exec.CommandContext(ctx, s.opts.Coordctl, "down")
		down.Env = s.env
		if out, err := down.CombinedOutput(); err != nil {
			errs = append(errs, fmt.Errorf("coordctl down: %w: %s", err, strings.TrimSpace(string(out))))
		}
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	return nil
}
