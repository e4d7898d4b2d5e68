package ops

import (
	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// audit declares the operations on the audit trail.
func audit(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.QueryAudit, client.AuditEntries]{
		Name: "query_audit", Title: "Query the audit trail", Text: "Executed changes and refused calls of the project, newest first: who, what, when, with which result. Heartbeats and renewals are not in it.",
		Routes: []op.Route{{Method: "GET", Path: "/audit"}}, Scope: ident.Read,
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, CLI: "audit", Do: s.QueryAudit,
	})
	op.Register(c, op.Op[client.PurgeAudit, client.PurgedAudit]{
		Name: "purge_audit", Title: "Purge the audit trail", Text: "Removes rows of the audit trail older than so many days (at least 30) and records that it did. Nothing else can remove or change them.",
		Routes: []op.Route{{Method: "POST", Path: "/audit/purge"}}, Scope: ident.Admin, CLI: "audit purge", Do: s.PurgeAudit,
	})
}
