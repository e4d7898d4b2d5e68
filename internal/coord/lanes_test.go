package coord_test

import (
	"context"
	"slices"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// A lane made by another process, whose wake-up nobody heard, is found by the re-check: once.
func TestReadyTopicsTellOfNewLanes(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, pgtest.MaxConns(2))
	here, elsewhere := coord.New(pool), coord.New(pool)
	ctx := context.Background()
	c, err := here.Resolve(ctx, ident.Principal{Name: "key:x", Scopes: []ident.Scope{ident.Write}}, ident.Claim{Project: "demo", Agent: "ana"}, true)
	if err != nil {
		t.Fatal(err)
	}
	in := client.GetWork{TaskTypes: []string{"later"}}
	if out, err := here.ClaimWork(ctx, c, in); err != nil || out.Success {
		t.Fatalf("%+v, %v", out, err)
	}
	parked := here.WorkTopics(c, in)
	if _, err := elsewhere.SubmitWork(ctx, c, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "later", Description: "d"}}); err != nil {
		t.Fatal(err)
	}
	everybody := parked[slices.IndexFunc(parked, func(p string) bool { return p[len(p)-1] == '+' })]
	for i, want := range []bool{true, false} {
		news, err := here.ReadyTopics(ctx, parked)
		if err != nil || len(news) == 0 || slices.Contains(news, everybody) != want {
			t.Errorf("re-check %d: %v (%v), want %s in it: %v", i, news, err, everybody, want)
		}
	}
	if grew, err := here.LearnWork(ctx, c, in); err != nil || !grew {
		t.Errorf("who is told learns: %v, %v", grew, err)
	}
}
