package ops

import (
	"context"
	"encoding/base64"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/gitbundle"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// changesets declares the operations on changes under verification.
func changesets(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.SubmitChangeset, client.SubmittedChangeset]{
		Name: "submit_changes", Title: "Submit changes", Text: "Hands a pushed commit over for verification: it is routed by policy, verified in the tiers it needs, and ends in one verdict. " +
			"Submitting the same commit again returns what is known of it. A commit that is not pushed comes with a git bundle.",
		Routes: []op.Route{{Method: "POST", Path: "/changesets"}, {Method: "POST", Path: "/webhook/agent"}}, Scope: ident.Write, Acts: true, CLI: "change submit",
		Do: func(ctx context.Context, c ident.Caller, in client.SubmitChangeset) (client.SubmittedChangeset, error) {
			if err := checkBundle(in.Bundle, in.HeadSHA); err != nil {
				return client.SubmittedChangeset{}, err
			}
			return s.SubmitChangeset(ctx, c, in)
		},
		Tool: op.Tool{Profile: op.Core, Idempotent: true, Text: "Hand a pushed commit over for verification; then verification_status."},
	})
	op.Register(c, op.Op[client.ListChangesets, client.Changesets]{
		Name: "list_changesets", Title: "List changesets", Text: "Changes under verification and decided ones, newest first: state, verdict and why.",
		Routes: []op.Route{{Method: "GET", Path: "/changesets"}}, Scope: ident.Read, CLI: "change list", Do: s.ListChangesets,
	})
	op.Register(c, op.Op[client.ChangesetRef, client.ChangesetDetail]{
		Name: "get_changeset", Title: "Get a changeset", Text: "Reads one changeset: why these tiers, every run with its findings, approvals, and the timeline.",
		Routes: []op.Route{{Method: "GET", Path: "/changesets/:changeset_id"}, {Method: "GET", Path: "/status/:changeset_id"}}, Scope: ident.Read, CLI: "change show", Do: s.GetChangeset,
	})
	op.Register(c, op.Op[client.RerunChangeset, client.Changeset]{
		Name: "rerun_changeset", Title: "Verify a changeset again", Text: "Verifies a commit again: routed anew, or only one tier and what did not succeed above it. A denied commit stays denied, a superseded one stays superseded.",
		Routes: []op.Route{{Method: "POST", Path: "/changesets/:changeset_id/rerun"}}, Scope: ident.Write, Or: ident.Reviewer, CLI: "change rerun", Do: s.RerunChangeset,
	})
	op.Register(c, op.Op[client.CancelChangeset, client.Changeset]{
		Name: "cancel_changeset", Title: "Cancel verification", Text: "Ends what is being verified of a commit, also where it runs. It gets no verdict until it is run again.",
		Routes: []op.Route{{Method: "POST", Path: "/changesets/:changeset_id/cancel"}}, Scope: ident.Write, Or: ident.Reviewer, CLI: "change cancel", Do: s.CancelChangeset,
	})
	op.Register(c, op.Op[client.OverrideChangeset, client.Changeset]{
		Name: "override_changeset", Title: "Override a verdict", Text: "A reviewer sets the verdict of one commit, with a reason that is shown wherever the verdict is. It holds for that commit alone and does not expire; who changed the code may not.",
		Routes: []op.Route{{Method: "POST", Path: "/changesets/:changeset_id/override"}}, Scope: ident.Reviewer, CLI: "change override", Do: s.OverrideChangeset,
	})
}

const maxBundle = 3_000_000 // bytes

// checkBundle refuses what cannot be the bundle of the commit. Whether its objects are whole is git's to say when it is fetched.
func checkBundle(bundle, head string) error {
	if bundle == "" {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(bundle)
	switch {
	case err != nil:
		return fault.Invalid("bundle", "bundle is not base64", "send the bundle's bytes in standard base64, with padding and without line breaks")
	case len(raw) > maxBundle:
		return fault.New(client.CodeTooLarge, "the bundle is larger than 3 MB", "", "push the commit, or bundle less: git bundle create - base..branch")
	}
	h, err := gitbundle.Read(raw)
	if err != nil {
		return fault.Invalid("bundle", err.Error(), "make it with: git bundle create - base..branch")
	}
	if !h.Brings(head) {
		return fault.Invalid("bundle", "the bundle does not bring "+head, "none of its refs is that commit; name the branch when you make it, not the commit alone")
	}
	return nil
}

// approvals declares what people decide about changes.
func approvals(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.ListApprovals, client.ApprovalList]{
		Name: "list_approvals", Title: "List approvals", Text: "What people are asked to decide, oldest first: which commit, which policy, why, until when, and who said what.",
		Routes: []op.Route{{Method: "GET", Path: "/approvals"}}, Scope: ident.Read, CLI: "approval list", Do: s.ListApprovals,
	})
	vote := func(name, title, text, verb, cli string) {
		op.Register(c, op.Op[client.VoteApproval, client.Approval]{
			Name: name, Title: title, Text: text, Routes: []op.Route{{Method: "POST", Path: "/approvals/:approval_id/" + verb}}, Scope: ident.Reviewer, CLI: cli,
			Do: func(ctx context.Context, c ident.Caller, in client.VoteApproval) (client.Approval, error) {
				return s.VoteApproval(ctx, c, in, verb)
			},
		})
	}
	vote("approve_change", "Approve a change", "Votes for one commit. Who changed the code may not, nor the owner of the agent that did; a newer commit needs a vote of its own.", "approve", "approval approve")
	vote("deny_change", "Deny a change", "Votes against one commit: its verdict is failed, for good.", "deny", "approval deny")
}
