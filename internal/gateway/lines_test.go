package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// walk is what happened to a branch: the commits it pointed to, one after the other, and when. gone ends it.
type walk struct {
	branch string
	steps  []step
}

type step struct {
	before, after string // "" before: the branch was made; "" after: it was deleted
	at            int64
}

// drawWalk pushes a branch a few times: forward, back to where it was, away and new again. Several steps may lie in one
// second; a move that was made before is made again only in a later one, as the forge would tell.
func drawWalk(r *rand.Rand, branch string, first int) walk {
	w := walk{branch: branch}
	head, at, used := "", int64(1000), map[string]int64{}
	for n := range 3 + r.IntN(5) {
		if r.IntN(3) == 0 {
			at += int64(r.IntN(20))
		}
		next := sha(first + r.IntN(4))
		if head != "" && r.IntN(6) == 0 && n > 0 {
			next = ""
		}
		if next == head {
			continue
		}
		if last, ok := used[head+next]; ok && last >= at {
			at = last + 1
		}
		if next == "" || head == "" {
			at++ // of a branch that is deleted and made in one second nobody can tell which came first
		}
		used[head+next] = at
		w.steps = append(w.steps, step{head, next, at})
		head = next
	}
	return w
}

// told are the deliveries of a walk: a push a step, here and there a pull request's event of the same move.
func (w walk) told(r *rand.Rand) (out []delivery) {
	for i, s := range w.steps {
		after := s.after
		if after == "" {
			after = strings.Repeat("0", 40)
		}
		out = append(out, delivery{"push", push(w.branch, s.before, after, s.at)})
		if s.before != "" && s.after != "" && r.IntN(3) == 0 {
			p := pull("synchronize", 1, w.branch, s.after, s.at, nil)
			p["before"], p["after"] = s.before, s.after
			out = append(out, delivery{"pull_request", p})
		}
		if i > 0 && r.IntN(4) == 0 {
			out = append(out, out[r.IntN(len(out))])
		}
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func (w walk) end() string { return w.steps[len(w.steps)-1].after }

type delivery struct {
	event   string
	payload map[string]any
}

// Two gateways on one database work on the deliveries of many branches, which come in any order and some of them twice:
// every branch ends at its last push, whatever the clocks say.
func TestLinesEndAtTheLastPushInWhateverOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cfg := w.g.cfg
	cfg.Owner, cfg.Places = "second", nil
	second := New(cfg)
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 5))
	t.Logf("seed %d", seed)
	var walks []walk
	var all []delivery
	for i := range 40 {
		b := drawWalk(r, fmt.Sprintf("b%d", i), 10*i)
		walks = append(walks, b)
		all = append(all, b.told(r)...)
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	// Both take from the same inbox, so that a branch's deliveries are worked on by both at once.
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, g := range []*Gateway{w.g, second} {
		for range 2 {
			running.Go(func() {
				for ctx.Err() == nil {
					if _, err := g.workInbox(ctx); err != nil && ctx.Err() == nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	for _, d := range all {
		w.deliver(d.event, d.payload)
	}
	w.eventually("everything is worked on", func() bool {
		return w.count(`select count(*) from coord.webhook_deliveries where state <> 'processed'`) == 0
	})
	cancel()
	running.Wait()
	for _, b := range walks {
		w.endsAt(b)
	}
}

// endsAt checks that a line's head is the walk's end, alone alive.
func (w *world) endsAt(b walk) {
	w.t.Helper()
	want := b.end()
	var head string
	if err := w.pool.QueryRow(context.Background(), `select head_sha from coord.line_heads where line = $1`, b.branch).Scan(&head); err != nil {
		w.t.Fatal(err)
	}
	if strings.Trim(head, "0") == "" {
		head = ""
	}
	rows, err := w.pool.Query(context.Background(), `select head_sha from public.changesets where line = $1 and state not in ('superseded', 'cancelled')`, b.branch)
	if err != nil {
		w.t.Fatal(err)
	}
	var live []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			w.t.Fatal(err)
		}
		live = append(live, s)
	}
	var expected []string
	if want != "" {
		expected = []string{want}
	}
	if head != want || !slices.Equal(live, expected) {
		w.t.Errorf("%s: head %q, alive %q, want %q\n%+v", b.branch, head, live, want, b.steps)
	}
}

// The same, event by event in one process, so that many orders are tried; the first that fails says how it came.
func TestLineHeadsDoNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)

	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 7))
	t.Logf("seed %d", seed)
	for i := range 150 {
		b := drawWalk(r, fmt.Sprintf("o%d", i), 1000+10*i)
		for _, d := range b.told(r) {
			w.apply(d.event, d.payload)
		}
		w.endsAt(b)
		if t.Failed() {
			return
		}
	}
}

// What closes a gap: a head that had come before the move that leads to it is verified after all.
func TestAHeadThatWasTakenForOldIsVerifiedOnceTheGapCloses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tell := func(before, after string, at int64) { w.apply("push", push("gap", before, after, at)) }
	tell(sha(2), sha(3), 1000) // the forge's clock went back a little between the two
	tell("", sha(1), 1005)
	if s := w.changeset(sha(3)).State; s != "superseded" {
		t.Fatalf("before the gap closes: %s", s)
	}
	tell(sha(1), sha(2), 1002)
	if s := w.changeset(sha(3)).State; s != "received" {
		t.Errorf("the head is %s", s)
	}
	for _, n := range []int{1, 2} {
		if s := w.changeset(sha(n)).State; s != "superseded" {
			t.Errorf("commit %d is %s", n, s)
		}
	}
}

// apply does what a delivery says, as if it had been taken from the inbox.
func (w *world) apply(event string, payload map[string]any) {
	w.t.Helper()
	body, err := json.Marshal(payload)
	if err == nil {
		err = w.g.deliver(context.Background(), read(coord.Delivery{Source: sourceName, DeliveryID: "none", Event: event, Body: body, Headers: map[string]string{"Content-Type": "application/json"}}))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// A repository's name is the same in whatever case a webhook, an agent or a clone spells it.
func TestRepositoriesAreTheSameInWhateverCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run()
	w.deliver("push", push("main", "", sha(1), 1000))
	c := w.state(sha(1), "passed")
	other := push("main", sha(1), sha(2), 1001)
	r := other["repository"].(map[string]any)
	r["full_name"], r["html_url"], r["clone_url"] = "Acme/Shop", "https://Github.example/Acme/SHOP", "https://github.example/Acme/SHOP.git"
	w.deliver("push", other)
	if got := w.state(sha(2), "passed"); got.Repository != c.Repository {
		t.Errorf("%s and %s", got.Repository, c.Repository)
	}
	comment := map[string]any{
		"action": "created", "repository": r, "sender": map[string]any{"login": "rita"}, "issue": map[string]any{"number": 9, "pull_request": map[string]any{}},
		"comment": map[string]any{"id": 1, "body": "/rerun", "user": map[string]any{"login": "rita"}, "created_at": "2026-01-01T00:00:00Z"},
	}
	w.deliver("pull_request", pull("opened", 9, "main", sha(2), 1002, nil))
	w.deliver("issue_comment", comment)
	w.await(sha(2), "it is run again", func(c client.ChangesetDetail) bool { return c.RouteVersion >= 2 })
	if n := w.count(`select count(*) from public.repositories where lower(remote) = $1`, remote); n != 1 {
		t.Errorf("%d repositories", n)
	}
	who, err := w.store.Resolve(context.Background(), ident.Principal{Name: "key:test", ProjectID: w.caller().ProjectID, Scopes: []ident.Scope{ident.Write}}, ident.Claim{Agent: "ana", Repository: "github.example/ACME/shop"}, true)
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.store.SubmitChangeset(context.Background(), who, client.SubmitChangeset{Repository: "github.example/ACME/shop", Branch: "main", HeadSHA: sha(2)})
	if err != nil || out.Created {
		t.Errorf("%+v, %v", out, err)
	}
}
