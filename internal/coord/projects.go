package coord

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// ProjectName returns the name of the caller's project.
func (s *Store) ProjectName(ctx context.Context, c ident.Caller) (string, error) {
	if c.Project != "" {
		return c.Project, nil
	}
	return one[string](ctx, s, `select name from public.projects where id = $1`, c.ProjectID)
}

// ListProjects lists the projects the caller's key is good for.
func (s *Store) ListProjects(ctx context.Context, c ident.Caller) (client.Projects, error) {
	return reply[client.Projects](ctx, s, `select coord.list_projects($1)`, boundProject(c))
}

// GetProject returns one project by name; empty means the caller's. Errors: not_found, also for projects that the
// caller's key is not good for.
func (s *Store) GetProject(ctx context.Context, c ident.Caller, name string) (client.Project, error) {
	out, err := reply[client.Project](ctx, s, `select coord.project_json(p.id) from (select 1) x left join public.projects p
		on case when $1 = '' then p.id = $2 else p.name = $1 end and ($3::bigint is null or p.id = $3)`, name, c.ProjectID, boundProject(c))
	if err == nil && out.Project == "" {
		return out, fault.New(client.CodeNotFound, "no project "+name, "", "list_projects names those this key can see")
	}
	return out, err
}

// ResolveRepository maps a checkout to its project and repository, creating both on first sight.
func (s *Store) ResolveRepository(ctx context.Context, c ident.Caller, in client.ResolveRepository) (client.ResolvedRepository, error) {
	return reply[client.ResolvedRepository](ctx, s, `select coord.join_repository($1, $2, nullif($3, ''), nullif($4, ''), nullif($5, ''), nullif($6, ''))`,
		boundProject(c), c.By, in.Project, in.Remote, in.RootCommit, in.Name)
}
