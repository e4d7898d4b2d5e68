package ops

import (
	"context"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// verdictRecheck is how often a waiting verification_status looks without having been woken.
const verdictRecheck = 3 * time.Second

// verification declares what an agent asks about the commit it handed over.
func verification(c *op.Catalogue, s *coord.Store, hub *dispatch.Hub) {
	op.Register(c, op.Op[client.VerificationStatus, client.VerificationState]{
		Name: "verification_status", Title: "Status of a commit", Text: "Where a commit stands: its state, what ran and what was found. It may wait for the verdict. Only state passed means that it passed.",
		Routes: []op.Route{{Method: "GET", Path: "/verification"}}, Scope: ident.Read, CLI: "change status", Waits: true,
		Tool: op.Tool{Profile: op.Core, ReadOnly: true, Text: "Where your commit stands, with findings to mend. Only state passed is a pass."},
		Do: func(ctx context.Context, c ident.Caller, in client.VerificationStatus) (client.VerificationState, error) {
			return awaitVerdict(ctx, s, hub, c, in)
		},
	})
}

// awaitVerdict reads where a commit stands and watches one that is not decided for wait_seconds.
func awaitVerdict(ctx context.Context, s *coord.Store, hub *dispatch.Hub, c ident.Caller, in client.VerificationStatus) (client.VerificationState, error) {
	out, err := s.VerificationStatus(ctx, c, in)
	if err != nil || in.WaitSeconds == 0 || hub == nil || out.Decided {
		return out, err
	}
	w := hub.Park("g:cs:" + out.ChangesetID) // of an unknown commit nobody can tell: the re-check finds it
	defer w.Close()
	end := time.NewTimer(time.Duration(in.WaitSeconds * float64(time.Second)))
	defer end.Stop()
	look := time.NewTicker(verdictRecheck)
	defer look.Stop()
	for {
		out, err := s.VerificationStatus(ctx, c, in)
		if err != nil || out.Decided {
			return out, err
		}
		select {
		case <-w.C:
			w.Requeue()
		case <-look.C:
		case <-end.C:
			return out, nil
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
}
