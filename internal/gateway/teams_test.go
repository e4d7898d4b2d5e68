package gateway

import (
	"context"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// members is a forge that knows teams and owners.
type members struct {
	*fakeForge
	teams  map[string]bool     // "team login"
	owners map[string][]string // by path
}

func (m members) InTeam(_ context.Context, _, team, login string) (bool, error) {
	return m.teams[team+" "+login], nil
}

func (m members) Owners(_ context.Context, _, ref string, paths []string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, p := range paths {
		if of := m.owners[p]; of != nil && ref == "" { // never the change's own file
			out[p] = of
		}
	}
	return out, nil
}

// TestVotesOfTeamsAndOwners: a policy that asks for a team or for owners counts their members' reviews and nobody else's.
func TestVotesOfTeamsAndOwners(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		wanted string
		forge  members
		rita   bool // her vote suffices
	}{
		"in the team":                 {"acme/security", members{teams: map[string]bool{"acme/security rita": true}}, true},
		"in another team":             {"acme/security", members{teams: map[string]bool{"acme/docs rita": true}}, false},
		"owns it by name":             {CodeOwners, members{owners: map[string][]string{"src/auth/token.go": {"@bob", "@Rita"}}}, true},
		"owns it by team":             {CodeOwners, members{owners: map[string][]string{"src/auth/token.go": {"@acme/auth"}}, teams: map[string]bool{"@acme/auth rita": true}}, true},
		"owns one file of two":        {CodeOwners, members{owners: map[string][]string{"src/auth/token.go": {"@rita"}, "go.mod": {"@bob"}}}, false},
		"nobody owns it":              {CodeOwners, members{}, false},
		"somebody else alone owns it": {CodeOwners, members{owners: map[string][]string{"src/auth/token.go": {"@bob"}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _, _ := two(t, "src/auth/token.go", "go.mod")
			tc.forge.fakeForge = w.forge
			w.g.cfg.Forge = tc.forge
			w.run()
			w.deliver("pull_request", pull("opened", 7, "topic", sha(1), 1000, nil))
			w.await(sha(1), "an approval", func(c client.ChangesetDetail) bool { return len(c.Approvals) == 1 })
			w.exec(`update public.approval_queue set teams = array[$1]`, tc.wanted)
			w.deliverDone("pull_request_review", review("rita", "approved", sha(1)))
			a := w.changeset(sha(1)).Approvals[0]
			if got := a.Status == "approved"; got != tc.rita {
				t.Errorf("the approval is %s with votes %+v", a.Status, a.Votes)
			}
		})
	}
}
