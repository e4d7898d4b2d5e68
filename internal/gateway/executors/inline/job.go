package inline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/local"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/source"
)

// work is one job while it runs.
type work struct {
	job     executors.Job
	box     *Box
	base    string                    // "": unknown, then everything listed is new
	lines   map[string][]source.Range // what counts, by file
	target  target
	changed string // folder outside that holds the changed files alone
	configs string // folder outside of the configurations

	mu       sync.Mutex
	findings []executors.Finding
	left     int // findings on lines that the change does not touch
	ran      []string
	notes    []string
	broken   []string // tools that failed themselves
	log      strings.Builder
}

// run verifies one job. The policy's time is the tools': fetching has a bound of its own, and what is at fault when it
// takes long is not the change.
func (e *Executor) run(parent context.Context, job executors.Job) executors.Outcome {
	started := time.Now()
	box, err := e.Probe(parent)
	if err != nil {
		return e.failed(parent, err, started)
	}
	tools, err := box.choose(job.Policy.Tools)
	if err != nil {
		return local.Ended(executors.Blocked, err.Error(), started)
	}
	w := &work{job: job, box: box}
	cleanup, err := w.prepare(parent, e.cfg)
	defer cleanup()
	if err != nil {
		return e.failed(parent, err, started)
	}
	w.lookAtNames()
	w.lookAtSuppressions()
	plans := w.plan(tools)
	if slices.ContainsFunc(plans, func(p plan) bool { return p.tool.cache }) {
		box.await(parent)
	}
	ctx, cancel := context.WithTimeout(parent, job.Timeout)
	defer cancel()
	w.use(ctx, e.cfg, plans)
	return w.outcome(ctx, started)
}

// failed is the outcome of a job that never got as far as its tools.
func (e *Executor) failed(ctx context.Context, err error, started time.Time) executors.Outcome {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(err, source.ErrTooLarge), errors.Is(err, source.ErrRefused):
		return local.Ended(executors.Blocked, err.Error(), started)
	case cause != nil:
		return local.Ended(executors.Cancelled, cause.Error(), started)
	}
	return local.Ended(executors.InfraError, err.Error(), started)
}

// prepare fetches, writes the tree out and takes from it what would mislead a tool.
func (w *work) prepare(ctx context.Context, cfg Config) (cleanup func(), err error) {
	var undo []func()
	cleanup = func() {
		for _, f := range undo {
			f()
		}
	}
	job := w.job
	if err := cfg.Source.Fetch(ctx, job.CloneURL, job.HeadSHA, job.Ref); err != nil {
		return cleanup, err
	}
	if err := w.compare(ctx, cfg.Source); err != nil {
		return cleanup, err
	}
	tree, remove, err := cfg.Source.Checkout(ctx, job.CloneURL, job.HeadSHA)
	undo = append(undo, remove)
	if err != nil {
		return cleanup, err
	}
	for _, link := range tree.Links {
		delete(w.lines, link)
		if err := os.Remove(filepath.Join(tree.Dir, filepath.FromSlash(link))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return cleanup, err
		}
	}
	for _, module := range tree.Submodules {
		delete(w.lines, module)
	}
	above := filepath.Dir(tree.Dir)
	w.changed, w.configs = filepath.Join(above, "changed"), filepath.Join(above, "config")
	for _, step := range []func() error{
		func() error { return w.aim(tree.Dir) },
		func() error { return w.restore(ctx, cfg.Source, tree.Dir) },
		func() error { return w.configure(cfg.ConfigDir) },
	} {
		if err := step(); err != nil {
			return cleanup, err
		}
	}
	return cleanup, nil
}

// compare finds the changed lines. Without a base that can be fetched every file counts as a whole: a list of files that
// somebody sent may leave out the ones that matter.
func (w *work) compare(ctx context.Context, src *source.Store) (err error) {
	if w.base = w.job.BaseSHA; w.base != "" {
		err = src.Fetch(ctx, w.job.CloneURL, w.base, "")
		if errors.Is(err, source.ErrNotFound) {
			w.notes = append(w.notes, "the base commit is not to be had: the whole tree counts, and no configuration of it is used")
			w.base, err = "", nil
		}
		if err != nil {
			return err
		}
	}
	if w.base != "" {
		if w.base, err = src.MergeBase(ctx, w.job.CloneURL, w.base, w.job.HeadSHA); err != nil {
			return err
		}
	}
	w.lines, err = src.ChangedLines(ctx, w.job.CloneURL, w.base, w.job.HeadSHA)
	return err
}

// restore puts the base's version in place of every file that tells tools what to overlook, or removes it.
func (w *work) restore(ctx context.Context, src *source.Store, dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if _, touched := w.lines[rel]; !matches(suspects, rel) || w.base != "" && !touched {
			return nil
		}
		var old []byte
		if w.base != "" {
			if old, err = src.ReadFile(ctx, w.job.CloneURL, w.base, rel, 1<<20); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if _, touched := w.lines[rel]; touched {
			w.add(executors.Finding{
				Tool: "gateway", Rule: "configuration", Level: "note", Path: rel,
				Message: "this version of the configuration was not used to verify the change itself",
			})
		}
		// Removed first: the folder of changed files has the same file, and is searched as it was pushed.
		if err := os.Remove(name); err != nil || old == nil {
			return err
		}
		return os.WriteFile(name, old, 0o644)
	})
}

// configure writes the configurations that tools are given.
func (w *work) configure(operator string) error {
	if err := os.MkdirAll(w.configs, 0o755); err != nil {
		return err
	}
	for name, text := range configurations {
		if err := os.WriteFile(filepath.Join(w.configs, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if operator == "" {
		return nil
	}
	entries, err := os.ReadDir(operator)
	if err != nil {
		return fmt.Errorf("folder of configurations: %w", err)
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(operator, entry.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(w.configs, entry.Name()), raw, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// aim lists the changed files that are there, and gathers them in a folder of their own.
func (w *work) aim(dir string) error {
	w.target = target{dir: dir, version: map[string]string{}}
	for _, t := range w.box.tools {
		w.target.version[t.Name] = t.version
	}
	if err := os.MkdirAll(w.changed, 0o755); err != nil {
		return err
	}
	for _, name := range sorted(w.lines) {
		from := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Lstat(from)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return err
		}
		w.target.files = append(w.target.files, name)
		if name == gitleaksIgnore {
			name += setAside
		}
		to := filepath.Join(w.changed, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.Link(from, to); err != nil {
			return err
		}
	}
	return nil
}

// plan is what one tool does for the change.
type plan struct {
	tool        *found
	invocations []invocation
}

// plan asks each tool what there is to do for it.
func (w *work) plan(tools []*found) []plan {
	var out []plan
	for _, t := range tools {
		invocations, notes := t.invocations(&w.target)
		for _, note := range notes {
			if !slices.Contains(w.notes, note) {
				w.notes = append(w.notes, note)
			}
		}
		if len(invocations) > 0 {
			out = append(out, plan{t, invocations})
		}
	}
	return out
}

// use runs the tools, two at a time.
func (w *work) use(ctx context.Context, cfg Config, plans []plan) {
	slots := make(chan struct{}, 2)
	var all sync.WaitGroup
	for _, p := range plans {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			for _, inv := range p.invocations {
				if ctx.Err() != nil || !w.invoke(ctx, cfg, p.tool, inv) {
					return
				}
			}
		})
	}
	all.Wait()
}

// invoke runs a tool once and keeps what it found; false when the tool need not go on.
func (w *work) invoke(ctx context.Context, cfg Config, t *found, inv invocation) bool {
	began := time.Now()
	c := call{
		argv: append([]string{t.path}, inv.args...), dir: inv.dir, env: toolEnv(cfg.Path, &t.Tool), source: w.target.dir,
		binds: append([]bind{{outside: w.configs, inside: configDir}}, t.binds...),
	}
	if t.parse != nil || t.Format == "sarif" {
		c.output = max(cfg.Limits.Output, 16<<20) // a report is no chatter: a thousand findings have some MB
	}
	if inv.only {
		c.binds = append(c.binds, bind{outside: w.changed, inside: changedDir})
	}
	if t.cache {
		w.box.warmed(&c)
	}
	e, err := w.box.run(ctx, c)
	took := time.Since(began).Round(time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case e.timedOut || ctx.Err() != nil:
		fmt.Fprintf(&w.log, "%s: stopped after %s\n%s\n", t.Name, took, tail(e.stderr, 2000))
		return false
	case err != nil:
		w.broken = append(w.broken, fmt.Sprintf("%s: %v", t.Name, err))
		return false
	case e.overflow:
		w.findings = append(w.findings, executors.Finding{
			Tool: t.Name, Rule: "output", Level: "error", Message: "the tool wrote more than it may and was stopped; nothing that it said counts",
		})
		fmt.Fprintf(&w.log, "%s: too much output after %s\n", t.Name, took)
		return false
	}
	dir := or(inv.dir, srcDir)
	found, err := t.read(dir, e)
	if err != nil {
		w.broken = append(w.broken, fmt.Sprintf("%s: %v", t.Name, err))
		return false
	}
	kept := 0
	for _, f := range found {
		if !w.counts(f, t, inv) {
			w.left++
			continue
		}
		w.findings = append(w.findings, f)
		kept++
	}
	w.ran = append(w.ran, t.Name)
	fmt.Fprintf(&w.log, "%s (%s): %d found on the change, exit %d, %s\n", t.Name, t.version, kept, e.exit, took)
	return true
}
