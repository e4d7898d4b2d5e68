package ops

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// projects declares the operations on projects and their repositories.
func projects(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.None, client.Projects]{
		Name: "list_projects", Title: "List projects", Text: "The projects this key is good for, with their repositories.",
		Routes: []op.Route{{Method: "GET", Path: "/projects"}}, Scope: ident.Read, CLI: "projects list", Tool: op.Tool{Profile: op.Full, ReadOnly: true},
		Do: func(ctx context.Context, c ident.Caller, _ client.None) (client.Projects, error) {
			return s.ListProjects(ctx, c)
		},
	})
	op.Register(c, op.Op[client.GetProject, client.Project]{
		Name: "get_project", Title: "Get a project", Text: "One project with its repositories; the caller's when none is named.",
		Routes: []op.Route{{Method: "GET", Path: "/project"}}, Scope: ident.Read, CLI: "projects show",
		Do: func(ctx context.Context, c ident.Caller, in client.GetProject) (client.Project, error) {
			return s.GetProject(ctx, c, in.Project)
		},
	})
	op.Register(c, op.Op[client.ResolveRepository, client.ResolvedRepository]{
		Name: "resolve_repository", Title: "Resolve a repository", Text: "Maps what a checkout knows about itself (remote, root commit, name) to its project and repository, and creates both on first sight.",
		Routes: []op.Route{{Method: "POST", Path: "/projects/resolve"}}, Scope: ident.Write, CLI: "projects resolve", RefuseEmpty: true, Do: s.ResolveRepository,
	})
}
