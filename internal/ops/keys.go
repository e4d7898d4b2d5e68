package ops

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// keys declares the operations on API keys.
func keys(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.CreateKey, client.CreatedKey]{
		Name: "create_key", Title: "Create a key", Text: "Makes an API key and returns its secret, this once. It may be bound to a project, an agent or a person.",
		Routes: []op.Route{{Method: "POST", Path: "/keys"}}, Scope: ident.Admin, CLI: "keys create",
		// A request key would store the reply, and with it the secret; a repeat is a conflict by name instead.
		Waits: true, Do: s.CreateKey,
	})
	op.Register(c, op.Op[client.ListKeys, client.Keys]{
		Name: "list_keys", Title: "List keys", Text: "API keys with their scopes, bindings and last use; never a secret.",
		Routes: []op.Route{{Method: "GET", Path: "/keys"}}, Scope: ident.Admin, CLI: "keys list", Do: s.ListKeys,
	})
	op.Register(c, op.Op[client.RevokeKey, client.RevokedKey]{
		Name: "revoke_key", Title: "Revoke a key", Text: "Ends an API key: at once in this server, within ten seconds in others.",
		Routes: []op.Route{{Method: "DELETE", Path: "/keys/:name"}, {Method: "POST", Path: "/keys/revoke"}},
		Scope:  ident.Admin, CLI: "keys revoke", Do: s.RevokeKey,
	})
}

// people declares the operations on persons.
func people(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.CreatePerson, client.CreatedPerson]{
		Name: "create_person", Title: "Create a person", Text: "Registers a person, or gives a known one other roles. Keys of a person hold at most these roles.",
		Routes: []op.Route{{Method: "POST", Path: "/persons"}}, Scope: ident.Admin, CLI: "persons create", Do: s.CreatePerson,
	})
	op.Register(c, op.Op[client.None, client.Persons]{
		Name: "list_persons", Title: "List persons", Text: "Persons, their roles and how many keys stand for them.",
		Routes: []op.Route{{Method: "GET", Path: "/persons"}}, Scope: ident.Admin, CLI: "persons list",
		Do: func(ctx context.Context, c ident.Caller, _ client.None) (client.Persons, error) {
			return s.ListPersons(ctx, c)
		},
	})
}
