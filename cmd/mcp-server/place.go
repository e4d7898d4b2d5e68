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

	remote bool // the API's key may be bound to an agent or a project

	looked sync.Once
	paths  *repo.Paths
	err    error

	mu       sync.Mutex
	resolved *client.ResolvedRepository
	checked  time.Time
	key      *client.WhoAmI // what a remote key stands for
}

// recheck is how often a checkout that had no remote or no commit is looked at again.
const recheck = time.Minute

func newPlace(cat *op.Catalogue, inv mcpapi.Invoker, project string, remote bool) *place {
	return &place{cat: cat, inv: inv, project: project, remote: remote}
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

// bound implements mcpapi.Process.Bound: the agent that a remote key is bound to.
func (p *place) bound(ctx context.Context) (agent, kind string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	who, err := p.whoami(ctx)
	return who.AgentID, who.AgentType, err
}

// whoami asks once what the remote key stands for. The caller holds p.mu.
func (p *place) whoami(ctx context.Context) (client.WhoAmI, error) {
	if p.key != nil {
		return *p.key, nil
	}
	var who client.WhoAmI
	if err := p.ask(ctx, "whoami", map[string]any{}, &who); err != nil {
		return who, err
	}
	p.key = &who
	return who, nil
}

// resolve asks the server. A folder that is no repository is a repository of the project `default` by its name. A key
// that may not write, or not in that project, works in its own project.
func (p *place) resolve(ctx context.Context, r repo.Repo) (client.ResolvedRepository, error) {
	var out client.ResolvedRepository
	project := cmp.Or(r.Project, p.project)
	if p.remote {
		who, err := p.whoami(ctx)
		if err != nil {
			return out, err
		}
		if who.BoundTo == "project" {
			project = who.Project
		}
	}
	if r.Remote == "" && r.RootCommit == "" && project == "" {
		project = "default"
	}
	args := map[string]any{"name": r.Name}
	for k, v := range map[string]string{"remote": r.Remote, "root_commit": r.RootCommit, "project": project} {
		if v != "" {
			args[k] = v
		}
	}
	err := p.ask(ctx, "resolve_repository", args, &out)
	if p.remote && fault.Is(err, client.CodeForbidden) {
		return client.ResolvedRepository{Project: project}, nil
	}
	if err == nil && out.Project == "" {
		err = fault.New(client.CodeUnavailable, "the server did not say which project this folder belongs to", "", "retry")
	}
	return out, err
}

// ask calls an operation that is about this process, not about an agent.
func (p *place) ask(ctx context.Context, name string, args map[string]any, out any) error {
	def := p.cat.Get(name)
	if def == nil {
		return fmt.Errorf("the catalogue has no %s", name)
	}
	who := ident.Principal{Name: "local", Scopes: []ident.Scope{ident.Read, ident.Write}}
	resp, err := p.inv.Call(ctx, def, op.Request{Principal: who, Args: args, Strict: true, Door: "mcp"})
	if err != nil {
		return err
	}
	raw, err := json.Marshal(resp.Body)
	if err != nil {
		return fmt.Errorf("encode the reply of %s: %w", name, err)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("read the reply of %s: %w", name, err)
	}
	return nil
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
