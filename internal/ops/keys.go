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
	op.Register(c, op.Op[client.RotateKey, client.RotatedKey]{
		Name: "rotate_key", Title: "Give a key a new secret",
		Text: "Gives an API key a new secret and returns it, this once. Name, scopes, bindings and limits stay; the old secret stays good for the grace, " +
			"and the list of keys shows until when and whether it is still used. A key that got out: rotate with grace 0, which ends every older secret within ten seconds. " +
			"Keys of COORDINATION_API_KEYS are changed there: name the new one beside the old, restart, remove the old one. " +
			"The keys that coordctl up made for itself (named local … and runner …) lie in the files key and runner.key of COORD_HOME: write the new secret there, " +
			"then coordctl down and coordctl up, which writes up.json anew; MCP servers, hooks and coordctl read that. A host that was given COORDINATION_API_KEY needs the new secret there.",
		Routes: []op.Route{{Method: "POST", Path: "/keys/rotate"}}, Scope: ident.Admin, CLI: "keys rotate",
		Waits: true, Do: s.RotateKey, // as for create_key: no reply with a secret is stored
	})
	op.Register(c, op.Op[client.LimitKey, client.LimitedKey]{
		Name: "limit_key", Title: "Limit a key",
		Text:   "Sets an API key's own limits of requests a second and of waiting calls and open streams; what is left out goes back to the server's default. Within ten seconds everywhere.",
		Routes: []op.Route{{Method: "POST", Path: "/keys/limit"}}, Scope: ident.Admin, CLI: "keys limit", Do: s.LimitKey,
	})
	op.Register(c, op.Op[client.RevokeKey, client.RevokedKey]{
		Name: "revoke_key", Title: "Revoke a key", Text: "Ends an API key with all its secrets: at once in this server, within ten seconds in others.",
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
