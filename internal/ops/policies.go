package ops

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// policies declares the operations on verification policies.
func policies(c *op.Catalogue, s *coord.Store, held heldOps) {
	op.Register(c, op.Op[client.None, client.Policies]{
		Name: "list_policies", Title: "List verification policies", Text: "What must be verified where: every policy in the order they run, disabled ones too.",
		Routes: []op.Route{{Method: "GET", Path: "/policies"}}, Scope: ident.Read, CLI: "policy list",
		Do: func(ctx context.Context, c ident.Caller, _ client.None) (client.Policies, error) {
			return s.ListPolicies(ctx, c)
		},
	})
	op.Register(c, op.Op[client.CreatePolicy, client.VerificationPolicy]{
		Name: "create_policy", Title: "Create a verification policy", Text: "Adds a rule: which paths need which tier, run by which executor. What is left out has the default of its tier.",
		Routes: []op.Route{{Method: "POST", Path: "/policies"}}, Scope: ident.Admin, CLI: "policy create",
		Do: secondPerson(s, held, policyEdits, "create_policy", func(in client.CreatePolicy) (string, string) { return "create the policy " + in.Name, "" }, s.CreatePolicy),
	})
	op.Register(c, op.Op[client.SimulatePolicies, client.RouteDecision]{
		Name: "simulate_policies", Title: "Simulate routing", Text: "Says which tiers, policies and executors a change would need, and why. The code that routes answers; nothing is stored.",
		Routes: []op.Route{{Method: "POST", Path: "/policies/simulate"}}, Scope: ident.Read, CLI: "policy simulate", Do: s.SimulatePolicies,
	})
	op.Register(c, op.Op[client.PolicyRef, client.VerificationPolicy]{
		Name: "get_policy", Title: "Get a verification policy", Text: "Reads one policy.",
		Routes: []op.Route{{Method: "GET", Path: "/policies/:name"}}, Scope: ident.Read, CLI: "policy get", Do: s.GetPolicy,
	})
	op.Register(c, op.Op[client.PolicyHistory, client.PolicyVersions]{
		Name: "policy_history", Title: "History of a verification policy", Text: "Every version of a policy, newest first, and who made it.",
		Routes: []op.Route{{Method: "GET", Path: "/policies/:name/history"}}, Scope: ident.Read, CLI: "policy history", Do: s.PolicyHistory,
	})
	op.Register(c, op.Op[client.UpdatePolicy, client.VerificationPolicy]{
		Name: "update_policy", Title: "Change a verification policy", Text: "Changes a policy from the next routing on. What is left out stays; every version is kept.",
		Routes: []op.Route{{Method: "PUT", Path: "/policies/:name"}, {Method: "PATCH", Path: "/policies/:name"}}, Scope: ident.Admin, CLI: "policy update",
		Do: secondPerson(s, held, policyEdits, "update_policy", func(in client.UpdatePolicy) (string, string) { return "change the policy " + in.Name, "" }, s.UpdatePolicy),
	})
	op.Register(c, op.Op[client.PolicyRef, client.VerificationPolicy]{
		Name: "disable_policy", Title: "Disable a verification policy", Text: "Takes a policy out of use; enabled=true in a change brings it back. Its versions stay.",
		Routes: []op.Route{{Method: "DELETE", Path: "/policies/:name"}}, Scope: ident.Admin, CLI: "policy disable",
		Do: secondPerson(s, held, policyEdits, "disable_policy", func(in client.PolicyRef) (string, string) { return "disable the policy " + in.Name, "" }, s.DisablePolicy),
	})
}
