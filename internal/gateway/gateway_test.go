package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	secret = "s3cret"
	remote = "github.example/acme/shop"
)

// world is a gateway over a database of its own, with a forge and executors that do as they are told.
type world struct {
	t     *testing.T
	pool  *pgxpool.Pool
	store *coord.Store
	hub   *dispatch.Hub
	g     *Gateway
	forge *fakeForge
	plan  *fakePlace
	n     int
}

func newWorld(t *testing.T, change ...func(*Config)) *world {
	t.Helper()
	w := &world{t: t, pool: pgtest.New(t, pgtest.MaxConns(8)), forge: &fakeForge{}, plan: newPlace("inline")}
	w.store, w.hub = coord.New(w.pool), dispatch.New(nil)
	w.store.WakeTo(w.hub)
	cfg := Config{
		Store: w.store, Forge: w.forge, Secrets: []string{secret, "older"}, Owner: "test", Idle: 50 * time.Millisecond,
		Places: []Place{{Executor: w.plan, CheckEvery: 100 * time.Millisecond}, {Executor: newPlace("github")}},
		Log:    slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	for _, f := range change {
		f(&cfg)
	}
	w.g = New(cfg)
	return w
}

// run runs the gateway until the test ends.
func (w *world) run() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stop := w.hub.Observe(w.g.Hear)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = w.g.Run(ctx) }()
	w.t.Cleanup(func() { cancel(); <-ended; stop() })
}

// deliver sends a signed delivery with a new id and returns the status.
func (w *world) deliver(event string, payload map[string]any) int {
	w.t.Helper()
	w.n++
	return w.deliverAs(fmt.Sprintf("00000000-0000-0000-0000-%012d", w.n), event, payload)
}

func (w *world) deliverAs(id, event string, payload map[string]any) int {
	w.t.Helper()
	body, err := json.Marshal(payload)
	if err != nil {
		w.t.Fatal(err)
	}
	status, _, err := w.g.ReceiveGitHub(signed(id, event, body, secret))
	if err != nil {
		status = fault.From(err).Status
	}
	return status
}

func signed(id, event string, body []byte, key string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/webhook/github", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", event)
	r.Header.Set("X-GitHub-Delivery", id)
	r.Header.Set(githubevent.SignatureHeader, githubevent.Sign(key, body))
	return r
}

func sha(n int) string { return fmt.Sprintf("%040x", n+1) }

func repository() map[string]any {
	return map[string]any{
		"id": 1, "full_name": "acme/shop", "html_url": "https://" + remote, "clone_url": "https://" + remote + ".git", "default_branch": "main",
	}
}

// push is the payload of a push to a branch; at is in seconds, before "" makes the branch new.
func push(branch, before, after string, at int64) map[string]any {
	if before == "" {
		before = strings.Repeat("0", 40)
	}
	r := repository()
	r["pushed_at"] = at
	return map[string]any{
		"ref": "refs/heads/" + branch, "before": before, "after": after, "repository": r,
		"deleted": after == strings.Repeat("0", 40), "sender": map[string]any{"login": "dev", "id": 7, "type": "User"},
		"head_commit": map[string]any{"message": "change", "author": map[string]any{"username": "dev"}, "committer": map[string]any{"username": "dev"}},
	}
}

// pull is the payload of a pull request's event.
func pull(action string, number int, branch, head string, at int64, more map[string]any) map[string]any {
	repo := map[string]any{"id": 1, "full_name": "acme/shop"}
	p := map[string]any{
		"number": number, "title": "a change", "state": "open", "html_url": "https://" + remote + "/pull/1", "draft": false,
		"updated_at": time.Unix(at, 0).UTC().Format(time.RFC3339), "user": map[string]any{"login": "dev"},
		"head": map[string]any{"ref": branch, "sha": head, "repo": repo}, "base": map[string]any{"ref": "main", "sha": sha(0), "repo": repo},
	}
	for k, v := range more {
		p[k] = v
	}
	return map[string]any{"action": action, "number": number, "pull_request": p, "repository": repository(), "sender": map[string]any{"login": "dev"}}
}

func (w *world) caller() ident.Caller {
	w.t.Helper()
	id, err := w.store.ProjectOfRemote(context.Background(), remote)
	if err != nil {
		w.t.Fatal(err)
	}
	return ident.Caller{ProjectID: id, Bound: true, By: "key:test", Person: "rita", Scopes: []ident.Scope{ident.Admin}}
}

// changeset is the one of a head, with everything about it.
func (w *world) changeset(head string) client.ChangesetDetail {
	w.t.Helper()
	c := w.caller()
	found, err := w.store.ListChangesets(context.Background(), c, client.ListChangesets{HeadSHA: head})
	if err != nil {
		w.t.Fatal(err)
	}
	if len(found.Changesets) != 1 {
		return client.ChangesetDetail{}
	}
	out, err := w.store.GetChangeset(context.Background(), c, client.ChangesetRef{ChangesetID: found.Changesets[0].ChangesetID})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// await waits until the changeset of a head satisfies ok.
func (w *world) await(head, what string, ok func(client.ChangesetDetail) bool) client.ChangesetDetail {
	w.t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		c := w.changeset(head)
		if c.ChangesetID != "" && ok(c) {
			return c
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			raw, _ := json.MarshalIndent(c, "", " ")
			w.t.Fatalf("%s did not come about: %s", what, raw)
		}
	}
}

// eventually waits until ok.
func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			w.t.Fatalf("it did not come about that %s", what)
		}
	}
}

// count reads one number.
func (w *world) count(sql string, args ...any) int {
	w.t.Helper()
	var n int
	if err := w.pool.QueryRow(context.Background(), sql, args...).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (w *world) state(head, state string) client.ChangesetDetail {
	w.t.Helper()
	return w.await(head, state, func(c client.ChangesetDetail) bool { return c.State == state })
}

func changed(paths ...string) (out []route.File) {
	for _, p := range paths {
		out = append(out, route.File{Path: p, Status: "modified", Additions: 10})
	}
	return out
}

// fakeForge is a forge whose answers are set.
type fakeForge struct {
	mu         sync.Mutex
	files      []route.File
	truncated  bool
	err        error
	permission map[string]string
	statuses   []Status
	statusErr  error
}

func (f *fakeForge) set(change func(*fakeForge)) { f.mu.Lock(); defer f.mu.Unlock(); change(f) }

func (f *fakeForge) ChangedFiles(context.Context, ChangeRef) ([]route.File, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.files == nil && f.err == nil {
		return []route.File{{Path: "README.md", Status: "modified", Additions: 1}}, f.truncated, nil
	}
	return f.files, f.truncated, f.err
}

func (f *fakeForge) Contributors(context.Context, ChangeRef) ([]string, error) {
	return []string{"dev"}, nil
}

func (f *fakeForge) Permission(_ context.Context, _, login string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, ok := f.permission[login]; ok {
		return p, nil
	}
	return "write", nil
}

func (f *fakeForge) PostStatus(_ context.Context, s Status) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.statusErr != nil {
		return f.statusErr
	}
	f.statuses = append(f.statuses, s)
	return nil
}

func (f *fakeForge) shown(head string) []Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Status
	for _, s := range f.statuses {
		if s.HeadSHA == head {
			out = append(out, s)
		}
	}
	return out
}

// fakePlace is an executor whose runs end as outcome says; a nil outcome lets them run.
type fakePlace struct {
	name    string
	mu      sync.Mutex
	begun   map[string]int
	jobs    map[string]executors.Job
	ended   map[string]bool
	outcome func(executors.Job) *executors.Outcome
	refuse  error
}

func newPlace(name string) *fakePlace {
	return &fakePlace{
		name: name, begun: map[string]int{}, jobs: map[string]executors.Job{}, ended: map[string]bool{},
		outcome: func(executors.Job) *executors.Outcome { return &executors.Outcome{Conclusion: executors.Success} },
	}
}

func (p *fakePlace) set(f func(executors.Job) *executors.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outcome = f
}

func (p *fakePlace) Name() string { return p.name }

func (p *fakePlace) Available(context.Context, executors.Job) error { return p.refuse }

func (p *fakePlace) Start(_ context.Context, j executors.Job) (executors.Started, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.jobs[j.ID]; !known {
		p.begun[j.ID]++
	}
	p.jobs[j.ID] = j
	return executors.Started{ExternalID: "x-" + j.ID}, nil
}

func (p *fakePlace) Check(_ context.Context, j executors.Job) (*executors.Outcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.jobs[j.ID]
	if !ok {
		return nil, executors.ErrLost
	}
	return p.outcome(known), nil
}

func (p *fakePlace) Cancel(_ context.Context, j executors.Job) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended[j.ID] = true
	return nil
}

func TestDocsOnlyPushPasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run()
	if got := w.deliver("push", push("main", sha(0), sha(1), 1000)); got != http.StatusAccepted {
		t.Fatalf("status %d", got)
	}
	c := w.state(sha(1), "passed")
	if len(c.Runs) != 1 || !c.Runs[0].Success || c.Runs[0].Policy != "static-all" || c.Runs[0].HeadSHA != sha(1) || len(c.Tiers) != 1 || c.Tiers[0] != 0 {
		t.Errorf("%+v", c)
	}
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	for {
		shown := w.forge.shown(sha(1))
		if n := len(shown); n > 0 && shown[n-1].State == StatusSuccess {
			if shown[n-1].Context != "gateway/verdict" || n > 2 {
				t.Errorf("statuses: %+v", shown)
			}
			return
		}
		select {
		case <-deadline.C:
			t.Fatalf("no status was shown: %+v", shown)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
