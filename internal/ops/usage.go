package ops

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// usage declares what models used, and the budgets.
func usage(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.ReportUsage, client.ReportedUsage]{
		Name: "report_usage", Title: "Report use", Text: "Tells what a model used: tokens, cost, of which run, session and task. A report whose key was counted before changes nothing, " +
			"so every report may be sent again. Runners and hooks send them.",
		Routes: []op.Route{{Method: "POST", Path: "/usage"}}, Scope: ident.Write, Or: ident.Runner, CLI: "usage report", RefuseEmpty: true, Do: s.ReportUsage,
	})
	op.Register(c, op.Op[client.UsageQuery, client.UsageSummary]{
		Name: "usage_summary", Title: "Use and cost", Text: "Tokens and cost by agent, session, task, run, model, day or verified change.",
		Routes: []op.Route{{Method: "GET", Path: "/usage"}}, Scope: ident.Read, CLI: "usage summary", Do: s.UsageSummary,
	})
	op.Register(c, op.Op[client.None, client.Budgets]{
		Name: "list_budgets", Title: "List budgets", Text: "The budgets of the project, what is used of each and its state, the fullest first.",
		Routes: []op.Route{{Method: "GET", Path: "/budgets"}}, Scope: ident.Read, CLI: "budget list",
		Do: func(ctx context.Context, c ident.Caller, _ client.None) (client.Budgets, error) {
			return s.ListBudgets(ctx, c)
		},
	})
	op.Register(c, op.Op[client.SetBudget, client.Budget]{
		Name: "set_budget", Title: "Set a budget", Text: "Limits what the project or an agent may use in a day, a month or in all. At warn_percent people are told; " +
			"at the limit claims and dispatch are refused, with action stop, until the period ends or the limit is raised. What was used before counts.",
		Routes: []op.Route{{Method: "PUT", Path: "/budgets/:name"}}, Scope: ident.Admin, CLI: "budget set", Do: s.SetBudget,
	})
	op.Register(c, op.Op[client.BudgetRef, client.Ok]{
		Name: "delete_budget", Title: "Delete a budget", Text: "Ends a budget, and with it what it stopped. What was used stays on record.",
		Routes: []op.Route{{Method: "DELETE", Path: "/budgets/:name"}}, Scope: ident.Admin, CLI: "budget delete", Do: s.DeleteBudget,
	})
}
