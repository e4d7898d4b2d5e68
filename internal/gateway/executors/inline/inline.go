// Package inline verifies tier 0 on the gateway's own machine: static tools look at a change inside a sandbox and
// nothing of the change is run.
//
// The promise: every tool runs in a fresh bubblewrap sandbox without network, secrets, other processes or a writable
// source, with bounded processes, memory, scratch space, output and time. A self-test tries to break out first; while
// it fails every run ends as an infrastructure error, and nothing is ever run outside of a sandbox. Configuration of the
// tools is the gateway's or the base commit's, never the change's. Only what is found on lines of the change counts,
// and what keeps it from compiling.
package inline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/local"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/source"
)

// Config says where things are and what bounds hold. Zero values are the defaults that are named.
type Config struct {
	Source    *source.Store // where commits come from
	Dir       string        // state folder, for Go's warmed cache
	Path      []string      // folders that tools are looked for in, in order; nil: DefaultPath
	ConfigDir string        // the operator's configuration files and tools.json; "": built-in ones alone
	Tools     []Tool        // beside the built-in ones and tools.json; one of the same name replaces it
	Bwrap     string        // "": bwrap, on our PATH
	Prlimit   string        // "": prlimit, on our PATH
	UID, GID  int           // the user that tools run as when we are root; 0: 65534
	Limits    Limits
	Parallel  int      // runs at once; 0: as many as processors
	Warm      []string // packages of Go's library that are compiled beforehand; nil: the popular ones
	Cgroup    string   // the control group to make groups in; "": the one that we are in
	Log       *slog.Logger
}

// DefaultPath is where tools are looked for unless it is said otherwise.
var DefaultPath = []string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/go/bin"}

// Executor is tier 0. Close ends it.
type Executor struct {
	cfg   Config
	tools []Tool
	slots chan struct{}
	runs  *local.Runs
	ready ready
}

// New checks the configuration. The self-test runs with the first job, or when Probe is called.
func New(cfg Config) (*Executor, error) {
	if cfg.Source == nil || cfg.Dir == "" {
		return nil, errors.New("tier 0 needs a source of commits and a state folder")
	}
	cfg.UID, cfg.GID = or(cfg.UID, 65534), or(cfg.GID, 65534)
	cfg.Limits = Limits{
		Processes: or(cfg.Limits.Processes, 256), Memory: or(cfg.Limits.Memory, 2<<30),
		Scratch: or(cfg.Limits.Scratch, 1<<30), Output: or(cfg.Limits.Output, 1<<20),
	}
	cfg.Parallel = or(cfg.Parallel, runtime.NumCPU())
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Path == nil {
		cfg.Path = DefaultPath
	}
	if cfg.Warm == nil {
		cfg.Warm = popular
	}
	for _, dir := range cfg.Path {
		if !filepath.IsAbs(dir) {
			return nil, fmt.Errorf("the tool path has %q, which is not absolute", dir)
		}
	}
	e := &Executor{cfg: cfg, slots: make(chan struct{}, cfg.Parallel)}
	extra, err := LoadTools(filepath.Join(cfg.ConfigDir, "tools.json"))
	if cfg.ConfigDir == "" {
		extra, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, t := range slices.Concat(builtins(), extra, cfg.Tools) {
		if err := t.check(); err != nil {
			return nil, err
		}
		e.tools = slices.DeleteFunc(e.tools, func(o Tool) bool { return o.Name == t.Name })
		e.tools = append(e.tools, t)
	}
	if err := os.MkdirAll(cfg.Dir, 0o711); err != nil {
		return nil, err
	}
	if err := os.Chmod(cfg.Dir, 0o711); err != nil {
		return nil, err
	}
	e.tidy()
	e.runs = local.New()
	return e, nil
}

// tidy removes what processes that were killed left behind.
func (e *Executor) tidy() {
	for _, pattern := range []string{"warming*", "probe*"} {
		left, _ := filepath.Glob(filepath.Join(e.cfg.Dir, pattern))
		for _, dir := range left {
			if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > 2*warmTimeout {
				_ = os.RemoveAll(dir)
			}
		}
	}
}

// Close cancels what runs and waits for it.
func (e *Executor) Close() { e.runs.Close() }

// Name is inline.
func (*Executor) Name() string { return "inline" }

// Available says whether the sandbox holds and the tools that the policy names are here. The first call runs the
// self-test, about a second.
func (e *Executor) Available(ctx context.Context, job executors.Job) error {
	if job.CloneURL == "" {
		return errors.New("nobody said where the commit can be fetched")
	}
	box, err := e.Probe(ctx)
	if err != nil {
		return err
	}
	_, err = box.choose(job.Policy.Tools)
	return err
}

// Start begins the job, or finds it.
func (e *Executor) Start(_ context.Context, job executors.Job) (executors.Started, error) {
	if job.ID == "" || job.Timeout <= 0 {
		return executors.Started{}, errors.New("a job needs an id and a timeout")
	}
	err := e.runs.Begin(job.ID, func(ctx context.Context) executors.Outcome { return e.wait(ctx, job) })
	return executors.Started{ExternalID: "inline-" + job.ID}, err
}

// Check returns the outcome, nil while it runs, or ErrLost: what another process began ended with that process.
func (e *Executor) Check(_ context.Context, job executors.Job) (*executors.Outcome, error) {
	out, known := e.runs.Look(job.ID)
	if !known {
		return nil, fmt.Errorf("inline run %s: %w", job.ID, executors.ErrLost)
	}
	return out, nil
}

// Cancel kills the job's tools.
func (e *Executor) Cancel(_ context.Context, job executors.Job) error {
	e.runs.Cancel(job.ID)
	return nil
}

// wait waits for a free place, whose time is not the change's, and runs the job.
func (e *Executor) wait(ctx context.Context, job executors.Job) executors.Outcome {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return local.Ended(executors.Cancelled, context.Cause(ctx).Error(), time.Now())
	}
	return e.run(ctx, job)
}

// Box is a sandbox that has passed its self-test, with the tools that run in it.
type Box struct {
	*sandbox
	tools   []*found
	missing map[string]error
	known   []Tool
	seed    string // Go's warmed cache; "": none yet
	warm    chan struct{}
}

// ready remembers the self-test: once it has passed, for good; a failure for a minute.
type ready struct {
	mu     sync.Mutex
	box    *Box
	err    error
	failed time.Time
}

// Probe tests the sandbox and looks for tools, once. The error says what the machine lacks.
func (e *Executor) Probe(ctx context.Context) (*Box, error) {
	e.ready.mu.Lock()
	defer e.ready.mu.Unlock()
	if e.ready.box != nil {
		return e.ready.box, nil
	}
	if e.ready.err != nil && time.Since(e.ready.failed) < time.Minute {
		return nil, e.ready.err
	}
	box, err := e.build(ctx)
	if err != nil {
		if ctx.Err() == nil {
			e.ready.err, e.ready.failed = err, time.Now()
			e.cfg.Log.WarnContext(ctx, "tier 0 cannot run: no sandbox holds on this machine", "err", err)
		}
		return nil, err
	}
	e.ready.box, e.ready.err = box, nil
	e.cfg.Log.InfoContext(ctx, "tier 0 is ready", "tools", box.Tools(), "limits", box.groups.String())
	return box, nil
}

func (e *Executor) build(ctx context.Context) (*Box, error) {
	s, err := newSandbox(e.cfg.Bwrap, e.cfg.Prlimit, e.cfg.UID, e.cfg.GID, e.cfg.Limits, e.cfg.Cgroup)
	if err != nil {
		return nil, err
	}
	if s.uid >= 0 {
		if err := readable(filepath.Join(e.cfg.Dir, "x")); err != nil {
			return nil, fmt.Errorf("%w: %w", errSandbox, err)
		}
	}
	if err := s.probe(ctx, e.cfg.Dir); err != nil {
		return nil, err
	}
	box := &Box{sandbox: s, missing: map[string]error{}, known: e.tools, warm: make(chan struct{})}
	var node []bind
	if f, err := (Tool{Name: "node"}).locate(e.cfg.Path); err == nil {
		node = f.binds
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, t := range e.tools {
		all.Go(func() {
			f, err := t.locate(e.cfg.Path)
			if err == nil {
				err = s.try(ctx, f, e.cfg.Path, node)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				box.missing[t.Name] = err
				return
			}
			box.tools = append(box.tools, f)
		})
	}
	all.Wait()
	slices.SortFunc(box.tools, func(a, b *found) int { return strings.Compare(a.Name, b.Name) })
	e.runs.Go(func(ctx context.Context) { e.warmUp(ctx, box) })
	return box, ctx.Err()
}

// Tools lists the tools that run here, with their versions.
func (b *Box) Tools() []string {
	var out []string
	for _, t := range b.tools {
		out = append(out, strings.TrimSpace(t.Name+" "+t.version))
	}
	return out
}

// choose picks the tools a policy names, all of which must be here; every one that is here when it names none.
func (b *Box) choose(names []string) ([]*found, error) {
	if len(names) == 0 {
		return b.tools, nil
	}
	var out []*found
	for _, name := range names {
		i := slices.IndexFunc(b.tools, func(t *found) bool { return t.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("the policy names the tool %s: %w", name, or(b.missing[name], errUnknownTool))
		}
		out = append(out, b.tools[i])
	}
	return out, nil
}

var errUnknownTool = errors.New("the gateway knows no tool of that name (tools.json can add it)")
