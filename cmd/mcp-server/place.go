package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/repo"
)

// place is where the process works: which checkout, and what project and repository the server keeps for it.
type place struct {
	cat     *op.Catalogue
	inv     mcpapi.Invoker
	project string // COORD_PROJECT

	looked sync.Once
	paths  *repo.Paths
	err    error

	mu       sync.Mutex
	resolved *client.ResolvedRepository
	checked  time.Time
}

// recheck is how often a checkout that had no remote or no commit is looked at again.
const recheck = time.Minute

func newPlace(cat *op.Catalogue, inv mcpapi.Invoker, project string) *place {
	return &place{cat: cat, inv: inv, project: project}
}

// dir is where the host started us, which is the project's folder; Claude Code also says so.
func dir() (string, error) {
	if d := os.Getenv("CLAUDE_PROJECT_DIR"); d != "" {
		if st, err := os.Stat(d); err == nil && st.IsDir() {
			return d, nil
		}
	}
	return os.Getwd()
}

// look identifies the checkout, once.
func (p *place) look(ctx context.Context) (*repo.Paths, error) {
	p.looked.Do(func() {
		d, err := dir()
		if err != nil {
			p.err = err
			return
		}
		r, err := repo.Identify(context.WithoutCancel(ctx), d)
		if err != nil {
			p.err = err
			return
		}
		cwd := d
		if wd, err := os.Getwd(); err == nil {
			cwd = wd
		}
		p.paths, p.err = repo.NewPaths(r, cwd)
	})
	if p.err != nil {
		return nil, fault.New(client.CodeInvalid, "the folder this server was started in cannot be read", p.err.Error(), "start it in the project's folder")
	}
	return p.paths, nil
}

// warm does the slow part before the first call needs it.
func (p *place) warm(ctx context.Context) { _, _ = p.look(ctx) } // a failure is told to the calls

// of implements mcpapi.Process.Place.
func (p *place) of(ctx context.Context) (project, repository string, err error) {
	paths, err := p.look(ctx)
	if err != nil {
		return "", "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := paths.Repo
	if p.resolved != nil && (r.Remote != "" && r.RootCommit != "" || time.Since(p.checked) < recheck) {
		return p.resolved.Project, p.resolved.Repository, nil
	}
	if p.resolved != nil { // perhaps it has a remote or a first commit by now
		if again, err := repo.Identify(ctx, r.WorktreeRoot); err == nil {
			r.Remote, r.RootCommit = cmp.Or(again.Remote, r.Remote), cmp.Or(again.RootCommit, r.RootCommit)
			paths.Repo.Remote, paths.Repo.RootCommit = r.Remote, r.RootCommit
		}
	}
	got, err := p.resolve(ctx, r)
	if err != nil {
		return "", "", err
	}
	p.resolved, p.checked = &got, time.Now()
	return got.Project, got.Repository, nil
}

// resolve asks the server. A folder that is no repository is a repository of the project `default` by its name.
func (p *place) resolve(ctx context.Context, r repo.Repo) (client.ResolvedRepository, error) {
	var out client.ResolvedRepository
	project := cmp.Or(r.Project, p.project)
	if r.Remote == "" && r.RootCommit == "" && project == "" {
		project = "default"
	}
	def := p.cat.Get("resolve_repository")
	if def == nil {
		return out, errors.New("the catalogue has no resolve_repository")
	}
	args := map[string]any{"name": r.Name}
	for k, v := range map[string]string{"remote": r.Remote, "root_commit": r.RootCommit, "project": project} {
		if v != "" {
			args[k] = v
		}
	}
	who := ident.Principal{Name: "local", Scopes: []ident.Scope{ident.Read, ident.Write}}
	resp, err := p.inv.Call(ctx, def, op.Request{Principal: who, Args: args, Strict: true, Door: "mcp"})
	if err != nil {
		return out, err
	}
	raw, err := json.Marshal(resp.Body)
	if err != nil {
		return out, fmt.Errorf("encode the repository: %w", err)
	}
	if err := json.Unmarshal(raw, &out); err != nil || out.Project == "" {
		return out, fault.New(client.CodeUnavailable, "the server did not say which project this folder belongs to", "", "retry")
	}
	return out, nil
}

// Relative implements mcpapi.PathMapper.
func (p *place) Relative(ctx context.Context, path string) (string, error) {
	paths, err := p.look(ctx)
	if err != nil {
		return "", err
	}
	rel, err := paths.Relative(ctx, path)
	var outside *repo.OutsideError
	if errors.As(err, &outside) {
		return "", fault.New(client.CodeInvalid, fmt.Sprintf("%q lies outside the repository", outside.Path),
			"this server coordinates the files below "+outside.Root, "give a path inside it, relative to its root")
	}
	return rel, err
}

func (p *place) complete(prefix string) []string {
	paths, err := p.look(context.Background())
	if err != nil {
		return nil
	}
	return paths.Complete(prefix)
}
