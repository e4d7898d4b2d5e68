package gatewayserver

import (
	"context"
	"path/filepath"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/e2b"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/ntm"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/source"
	"github.com/agent-coordinator/agent-coordinator/internal/loop"
)

// What places take beyond a run's own time before the ladder gives them up: fetching, setting up, waiting for their turn.
const (
	graceHere = 10 * time.Minute
	graceE2B  = 8 * time.Minute
	graceNTM  = 5 * time.Minute
)

// elsewhere are the places for the dearer tiers that the environment configures, and the loops that clean up after them.
func (s *server) elsewhere(src *source.Store) ([]gateway.Place, error) {
	c := s.cfg.Verification
	keep := time.Duration(max(c.KeepDays, 1)) * 24 * time.Hour
	s.tidy("mirrors", time.Hour, func(ctx context.Context) (int, error) { return src.Sweep(ctx, keep) })
	var out []gateway.Place
	if c.E2BKey != "" {
		e, err := e2b.New(e2b.Config{
			Key: c.E2BKey, APIURL: c.E2BURL, Domain: c.E2BDomain, SandboxURL: c.E2BSandbox, Template: c.E2BTemplate, NoInternet: !c.E2BInternet, Source: src,
		})
		if err != nil {
			return nil, err
		}
		s.closers = append(s.closers, e.Close)
		s.tidy("sandboxes", 2*time.Minute, func(ctx context.Context) (int, error) { return e.Sweep(ctx, s.goesOn(ctx)) })
		out = append(out, gateway.Place{Executor: e, Concurrency: c.E2BRuns, CheckEvery: 5 * time.Second, Grace: graceE2B})
	}
	if c.NTMURL != "" {
		dir := c.NTMDir
		if dir == "" {
			dir = filepath.Join(s.cfg.Dir, "ntm")
		}
		e, err := ntm.New(ntm.Config{URL: c.NTMURL, Key: c.NTMKey, Session: c.NTMSession, Dir: dir, Source: src})
		if err != nil {
			return nil, err
		}
		s.closers = append(s.closers, e.Close)
		s.tidy("ntm", time.Hour, func(ctx context.Context) (int, error) { return e.Sweep(ctx, keep) })
		out = append(out, gateway.Place{Executor: e, Concurrency: c.NTMRuns, CheckEvery: 2 * time.Second, Grace: graceNTM})
	}
	return out, nil
}

// tidy adds a loop that removes what is left over.
func (s *server) tidy(name string, every time.Duration, do func(context.Context) (int, error)) {
	s.loops = append(s.loops, loop.Loop{
		Name: "gateway_" + name, Every: every, Jitter: every / 10, Timeout: 5 * time.Minute, Do: do, Report: s.metrics.Ran, Log: s.cfg.Log,
	})
}

// goesOn says of an E2B run whether it is on its way. While the database does not answer, every one is.
func (s *server) goesOn(ctx context.Context) func(run string) bool {
	return func(run string) bool {
		found, err := s.store.LookAtRun(ctx, "e2b", run, "")
		return found || err != nil
	}
}
