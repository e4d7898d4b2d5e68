package ops

import (
	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// trust declares the operations on the trust in agents.
func trust(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.ListTrust, client.TrustList]{
		Name: "list_trust", Title: "Trust in agents", Text: "How far agents are trusted, by repository, and the evidence behind it; of one agent also what happened.",
		Routes: []op.Route{{Method: "GET", Path: "/trust"}}, Scope: ident.Read, CLI: "trust list", Do: s.ListTrust,
	})
	op.Register(c, op.Op[client.SetTrust, client.AgentTrust]{
		Name: "set_trust", Title: "Set the trust in an agent", Text: "Sets an agent's level (0 to 4) and the ceiling that evidence may raise it to. A new agent has 1 until then.",
		Routes: []op.Route{{Method: "PUT", Path: "/trust"}}, Scope: ident.Admin, CLI: "trust set", Do: s.SetTrust,
	})
}
