// Package ops is the catalogue: every operation of the service, declared once, a file per noun. Doors, the CLI, the
// SDK's tests and the documentation are all derived from it.
package ops

import (
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// Deps are what operations work on. Both are nil in a process that only needs the declarations (a remote MCP
// server, the CLI, the generators).
type Deps struct {
	Store *coord.Store
	Hub   *dispatch.Hub
}

// Catalogue declares every operation. The order is the order of listings.
func Catalogue(d Deps) *op.Catalogue {
	c := op.NewCatalogue()
	brief(c, d.Store)
	held := heldOps{}
	locks(c, d, held)
	work(c, d, held)
	sessions(c, d.Store)
	messages(c, d.Store, d.Hub)
	handoffs(c, d.Store)
	audit(c, d.Store)
	keys(c, d.Store)
	people(c, d.Store)
	projects(c, d.Store)
	memory(c, d)
	orchestrated(c, d.Store)
	runs(c, d.Store, held)
	runners(c, d.Store)
	blueprints(c, d.Store)
	policies(c, d.Store, held)
	changesets(c, d.Store)
	approvals(c, d.Store)
	verification(c, d.Store, d.Hub)
	trust(c, d.Store)
	holds(c, d.Store)
	usage(c, d.Store)
	guardrails(c, d.Store, held)
	acts(c, d.Store, held)
	return c
}

// GatewayCatalogue declares what the verification gateway serves itself, beside its webhooks.
func GatewayCatalogue(d Deps) *op.Catalogue {
	c, held := op.NewCatalogue(), heldOps{}
	policies(c, d.Store, held)
	changesets(c, d.Store)
	approvals(c, d.Store)
	verification(c, d.Store, d.Hub)
	trust(c, d.Store)
	return c
}
