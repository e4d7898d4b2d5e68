package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/repo"
)

// resolveOperation maps a checkout to its project; where the catalogue lacks it, calls go to the default project.
const resolveOperation = "resolve_repository"

// place says which project and repository a call is about: what flags say, else the repository of this folder, as
// the MCP server would. In a repository, paths are taken from this folder and sent relative to its root.
func (a *app) place(ctx context.Context, d *op.Def, who identity, values map[string]any) (identity, error) {
	resolve := a.cat.Get(resolveOperation)
	if who.project != "" || resolve == nil || d == resolve {
		return who, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return who, fmt.Errorf("find this folder's repository: %w", err)
	}
	r, err := repo.IdentifyEnv(ctx, dir, a.Getenv)
	if err != nil {
		return who, usageError{err}
	}
	if !r.Git && r.Project == "" {
		return who, nil
	}
	args := map[string]any{"name": r.Name}
	for name, value := range map[string]string{"remote": r.Remote, "root_commit": r.RootCommit, "project": r.Project} {
		if value != "" {
			args[name] = value
		}
	}
	a.who = who
	raw, err := a.call(ctx, resolve, args, "")
	if fault.Is(err, client.CodeForbidden) {
		return who, nil // the key is bound to its own project: that one counts
	}
	if err != nil {
		return who, err
	}
	var at client.ResolvedRepository
	if err := json.Unmarshal(raw, &at); err != nil {
		return who, fmt.Errorf("find this folder's project: %w", err)
	}
	who.project = at.Project
	if who.repository == "" {
		who.repository = at.Repository
	}
	return who, relativePaths(ctx, d, r, dir, values)
}

// relativePaths rewrites the members that hold paths.
func relativePaths(ctx context.Context, d *op.Def, r repo.Repo, dir string, values map[string]any) error {
	paths, err := repo.NewPaths(r, dir)
	if err != nil {
		return err
	}
	for name, v := range values {
		if !slices.Contains(d.PathFields, name) {
			continue
		}
		switch v := v.(type) {
		case string:
			values[name], err = paths.Relative(ctx, v)
		case []string:
			for i := range v {
				if v[i], err = paths.Relative(ctx, v[i]); err != nil {
					break
				}
			}
		}
		var outside *repo.OutsideError
		if errors.As(err, &outside) {
			return fault.Invalid(name, outside.Error(), "give a path inside the repository, or name another project with --project")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
