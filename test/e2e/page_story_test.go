//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// atlas is the project of the pictures: an afternoon of two dozen agents, told over the API as they would tell it. What
// no call can tell (that it happened a while ago, what a gateway found) is written beside it.
type atlas struct {
	*install
	t     *testing.T
	db    *pgx.Conn
	tasks map[string]string // id by its short name
}

const atlasProject = "atlas"

type atlasAgent struct {
	name, kind, task, doing string
	files                   []string
	ago                     int // minutes since its locks were taken
}

var atlasAgents = []atlasAgent{
	{"claude-arden", "claude-code", "tokens", "Rotate session tokens on privilege change", []string{"internal/auth/session.go", "internal/auth/token.go", "db/migrations/0042_token_rotation.sql", "db:migration-slot"}, 26},
	{"codex-birch", "codex", "client", "Typed API client", []string{"web/src/api/client.ts", "web/src/api/types.ts"}, 18},
	{"claude-fern", "claude-code", "routes", "Split the route table by resource", []string{"internal/api/router.go", "internal/api/routes_locks.go", "internal/api/middleware.go"}, 23},
	{"cursor-cove", "cursor", "gover", "Raise the Go version", []string{"go.mod"}, 9},
	{"codex-hazel", "codex", "backport", "Backport to release/0.9", []string{"CHANGELOG.md"}, 4},
	{"codex-elm", "codex", "order", "Claim order by priority, then age", []string{"internal/queue/claim.go", "internal/queue/claim_test.go"}, 12},
	{"gemini-dune", "gemini", "reload", "Config reload on SIGHUP", []string{"cmd/server/main.go"}, 14},
	{"claude-aspen", "claude-code", "recall", "Memory recall: neighbour turns", []string{"internal/memory/rank.go", "internal/memory/rank_test.go", "internal/memory/index.go", "internal/memory/store.go"}, 11},
	{"claude-iris", "claude-code", "expiry", "Lock expiry under clock skew", []string{"internal/lock/expiry.go", "internal/lock/clock.go", "internal/lock/expiry_test.go"}, 7},
	{"codex-juniper", "codex", "redeliver", "Webhook redelivery sweep", []string{"internal/webhook/sweep.go", "internal/webhook/sweep_test.go"}, 16},
	{"claude-kite", "claude-code", "sse", "SSE resume from last event", []string{"internal/api/sse.go", "internal/api/sse_test.go", "web/src/live.ts", "web/src/live.test.ts"}, 3},
	{"cursor-larch", "cursor", "cursor", "Keyboard cursor in tables", []string{"web/src/table/", "web/src/keys.ts"}, 8},
	{"gemini-moss", "gemini", "rerank", "Rerank by file digest", []string{"internal/memory/digest.go", "internal/memory/digest_test.go"}, 10},
	{"claude-north", "claude-code", "drain", "Runner drain without loss", []string{"internal/runner/drain.go", "internal/runner/poll.go", "internal/runner/drain_test.go"}, 21},
	{"codex-oak", "codex", "brief", "Budget of the session brief", []string{"internal/brief/budget.go"}, 5},
	{"claude-pine", "claude-code", "export", "Audit export as NDJSON", []string{"internal/audit/export.go", "internal/audit/export_test.go"}, 13},
	{"cursor-quill", "cursor", "empty", "Empty states and their copy", []string{"web/src/views/needs.tsx", "web/src/views/fleet.tsx", "web/src/views/locks.tsx", "web/src/copy.ts"}, 6},
	{"claude-reed", "claude-code", "plans", "Postgres 15 plan regressions", []string{"db/explain/"}, 19},
	{"codex-sable", "codex", "sarif", "SARIF paths on Windows", []string{"internal/sarif/paths.go", "internal/sarif/paths_test.go"}, 9},
	{"claude-tarn", "claude-code", "", "Waits for the migration slot", nil, 2},
	{"codex-umber", "codex", "", "Waits for the route table", nil, 3},
	{"claude-vale", "claude-code", "keys", "Refuse an empty API key list", []string{"internal/config/keys.go"}, 15},
	{"gemini-wren", "gemini", "preview", "Force-release preview", []string{"internal/api/preview.go"}, 4},
	{"cursor-yew", "cursor", "", "", nil, 40},
}

func (a *atlas) as(name, kind string) *client.AgentCoordinationClient {
	a.t.Helper()
	c, err := client.New(a.APIURL, a.APIKey, client.WithAgent(name, kind), client.WithSession("ses-"+name), client.WithProject(atlasProject))
	a.must(err)
	a.t.Cleanup(c.Close)
	return c
}

func (a *atlas) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *atlas) sql(q string, args ...any) {
	a.t.Helper()
	if _, err := a.db.Exec(a.t.Context(), q, args...); err != nil {
		a.t.Fatalf("%v: %s", err, q)
	}
}

// tellAtlas fills the project.
func tellAtlas(t *testing.T, in *install) *atlas {
	t.Helper()
	db, err := pgx.Connect(t.Context(), in.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.Background()) })
	a := &atlas{install: in, t: t, db: db, tasks: map[string]string{}}
	boss := a.as("planner", "claude-code")
	_, err = boss.ResolveRepository(t.Context(), client.ResolveRepository{Remote: "github.com/acme/atlas", Name: "atlas", Project: atlasProject})
	a.must(err)
	a.plan(boss)
	for _, x := range atlasAgents {
		a.enter(x)
	}
	a.wait("codex-birch", "codex", "internal/api/router.go", 17)
	a.wait("codex-umber", "codex", "internal/api/router.go", 15)
	a.wait("claude-tarn", "claude-code", "db:migration-slot", 6)
	a.wait("codex-oak", "codex", "internal/memory/", 1)
	a.mishaps()
	a.talk()
	a.remember()
	a.verify()
	a.execute()
	a.spend()
	a.sql(`update public.runners set last_heartbeat = now() - interval '12 seconds' where last_heartbeat > now() - interval '10 minutes'`)
	return a
}

// reviewer makes the person who looks: a key for this project alone.
func (a *atlas) reviewer() string {
	a.t.Helper()
	boss := a.as("planner", "claude-code")
	_, err := boss.CreatePerson(a.t.Context(), client.CreatePerson{Name: "rita", Roles: []string{"reviewer", "write", "read", "runner"}})
	a.must(err)
	key, err := boss.CreateKey(a.t.Context(), client.CreateKey{Name: "page", Scopes: []string{"reviewer", "write", "read", "runner"}, Project: atlasProject, Person: "rita"})
	a.must(err)
	return key.Secret
}

// plan submits the work, with what waits for what.
func (a *atlas) plan(boss *client.AgentCoordinationClient) {
	var batch []client.BatchTask
	add := func(ref, kind, text string, priority int, after ...string) {
		batch = append(batch, client.BatchTask{Ref: ref, TaskSpec: client.TaskSpec{TaskType: kind, Description: text, Priority: priority, Labels: []string{"0.9"}}, DependsOn: after})
	}
	for _, x := range atlasAgents {
		if x.task != "" {
			add(x.task, "implement", x.doing, 1+len(x.doing)%4)
		}
	}
	add("oldclient", "implement", "Remove the old client", 4, "client")
	add("routemap", "docs", "Route map in the docs", 4, "routes")
	add("legacy", "implement", "Drop the legacy lock view", 2, "tokens")
	add("image", "release", "Publish the 0.9 image", 1, "oldclient", "routemap", "legacy", "order")
	add("notes", "docs", "Release notes for 0.9", 3, "order")
	add("ship", "release", "Ship 0.9", 1, "image", "notes")
	for i, text := range []string{
		"Return the nearest free paths with a refusal", "Recall: mark memories whose file changed", "Cost per task on the audit page", "Doctor: fire each hook once and show it",
		"Queue pause that survives a restart", "Explain a routing decision in one sentence", "Say who waits when a lock is renewed", "Windows: short paths in hooks", "Measure the page with 10,000 tasks",
	} {
		add(fmt.Sprintf("free%d", i), "implement", text, 1+i%5)
	}
	batch = append(batch, client.BatchTask{Ref: "parked", TaskSpec: client.TaskSpec{TaskType: "implement", Description: "Cedar policies", Priority: 5, DelaySeconds: 86400}})
	batch = append(batch, client.BatchTask{Ref: "dead", TaskSpec: client.TaskSpec{TaskType: "verify", Description: "Backfill of digests on a GPU host", Priority: 3, MaxAttempts: 1}})
	reply, err := boss.SubmitTasks(a.t.Context(), client.SubmitTasks{Tasks: batch})
	a.must(err)
	for i, b := range batch {
		a.tasks[b.Ref] = reply.TaskIDs[i]
	}
	a.sql(`update public.work_queue set created_at = now() - interval '3 hours' + id * interval '90 seconds' where task_id = any ($1::uuid[])`, reply.TaskIDs)
}

// enter lets an agent arrive, claim its task and take its locks.
func (a *atlas) enter(x atlasAgent) {
	ctx, c := a.t.Context(), a.as(x.name, x.kind)
	_, err := c.RegisterSession(ctx, client.RegisterSession{CurrentTask: x.doing, Capabilities: []string{"go"}, Metadata: map[string]any{"branch": strings.SplitN(x.name, "-", 2)[1] + "/" + x.task}})
	a.must(err)
	if x.task != "" {
		a.sql(`update public.work_queue w set status = 'claimed', claimed_by = $2, session_id = s.id, claimed_at = now() - make_interval(mins => $3), attempt = 1, fence = 1,
			lease_seconds = 7200, lease_until = now() + interval '1 hour', lease_due = now() + interval '1 hour'
			from public.agent_sessions s where w.task_id = $1 and s.session_id = $4`, a.tasks[x.task], x.name, x.ago, "ses-"+x.name)
		a.sql(`delete from coord.ready r using public.work_queue w where w.task_id = $1 and r.queue = 1 and r.id = w.id`, a.tasks[x.task])
		a.sql(`insert into coord.lease (project_id, queue, until, id, session_id) select project_id, 1, lease_due, id, session_id from public.work_queue where task_id = $1`, a.tasks[x.task])
	}
	if len(x.files) > 0 {
		_, err = c.AcquireLock(ctx, client.AcquireLock{FilePaths: x.files, Reason: x.doing, TTLMinutes: 30})
		a.must(err)
		a.sql(`update public.file_locks set acquired_at = acquired_at - make_interval(mins => $2), expires_at = expires_at - make_interval(mins => $2) where locked_by = $1`, x.name, x.ago)
	}
	a.sql(`update public.agent_sessions set last_seen_at = now() - make_interval(secs => $2) where session_id = $1`, "ses-"+x.name, len(x.name)*3%50)
}

// wait lets somebody stand in line for a path, as a call that waits for an hour would.
func (a *atlas) wait(name, kind, path string, minutes int) {
	done := make(chan error, 1)
	go func() {
		_, err := a.as(name, kind).AcquireLock(a.t.Context(), client.AcquireLock{FilePath: path, Reason: "needs it next", WaitSeconds: 4})
		done <- err
	}()
	eventually(a.t, 10*time.Second, name+" waits", func() error {
		var id int64
		return a.db.QueryRow(a.t.Context(), `select w.id from coord.lock_waits w join coord.lock_wait_keys k on k.wait_id = w.id where w.agent_id = $1 and $2 like '%' || k.path || '%' limit 1`, name, path).Scan(&id)
	})
	a.sql(`with w as (select w.* from coord.lock_waits w where w.agent_id = $1 and w.alive_until < now() + interval '1 hour'),
		q as (insert into coord.lock_waits select project_id, id - 1000000, session_id, agent_id, topic, now() - make_interval(mins => $2), now() + interval '1 day' from w)
		insert into coord.lock_wait_keys (project_id, space, base, key, wait_id, session_id, branch, kind, mode, path, re, pre, lk, anc)
		select k.project_id, k.space, k.base, k.key, k.wait_id - 1000000, k.session_id, k.branch, k.kind, k.mode, k.path, k.re, k.pre, k.lk, k.anc from coord.lock_wait_keys k join w on w.id = k.wait_id`, name, minutes)
	a.must(<-done)
}

// mishaps: a write past a lock, a task that died.
func (a *atlas) mishaps() {
	ctx := a.t.Context()
	_, err := a.as("gemini-dune", "gemini").ReportChanges(ctx, client.ReportChanges{Files: []client.ReportedFile{{FilePath: "internal/config/keys.go"}}, Tool: "Bash", Command: "sed -i s/empty/none/ internal/config/keys.go"})
	a.must(err)
	a.sql(`update public.work_queue set status = 'dead', attempt = 1, error_message = 'No runner offers the tag cuda; the last one was drained at 13:40.', completed_at = now() - interval '4 minutes', updated_at = now() - interval '4 minutes' where task_id = $1`, a.tasks["dead"])
	a.sql(`delete from coord.ready r using public.work_queue w where w.task_id = $1 and r.queue = 1 and r.id = w.id`, a.tasks["dead"])
	a.sql(`update public.work_queue set progress = jsonb_build_object('percent', 60, 'note', 'the old token dies in the same transaction', 'at', now()) where task_id = $1`, a.tasks["tokens"])
}

// talk: messages between agents and to the person.
func (a *atlas) talk() {
	ctx := a.t.Context()
	send := func(from, kind string, in client.SendMessage, ago int) {
		in.AllowUnknown = true
		reply, err := a.as(from, kind).SendMessage(ctx, in)
		a.must(err)
		a.sql(`update public.messages set created_at = now() - make_interval(mins => $2) where id = $1`, reply.MessageID, ago)
	}
	send("cursor-cove", "cursor", client.SendMessage{To: []string{"person-rita", "person"}, Text: "Drop support for Go 1.24? The new iterator needs 1.25, and two downstream tools still build with 1.24.", Kind: "question", AckRequired: true}, 9)
	send("codex-birch", "codex", client.SendMessage{To: []string{"claude-fern"}, Text: "I need router.go for the client routes. Can you free it once the table is split?", Kind: "request"}, 17)
	send("claude-fern", "claude-code", client.SendMessage{To: []string{"codex-birch"}, Text: "In ten minutes: the tests for the lock routes are still red.", Kind: "answer"}, 12)
	send("claude-vale", "claude-code", client.SendMessage{To: []string{"person-rita", "codex-elm"}, Text: "An empty key list is refused now; start-up prints which variable is empty."}, 3)
}

func (a *atlas) remember() {
	ctx := a.t.Context()
	for i, m := range []client.Remember{
		{EventType: "decision", Summary: "Rotate the session token whenever a role changes, not only at login. The old one must die in the same transaction, else a demoted user keeps admin rights until it expires.", Tags: []string{"auth"}, Path: "internal/auth/token.go", Digest: "9b1d"},
		{EventType: "error", Summary: "Session cleanup runs in the API process. Do not add a second sweeper in the gateway: it freed live sessions and their tokens.", Tags: []string{"auth"}, Path: "internal/auth/session.go", Outcome: "failure", Lessons: []string{"one sweeper a table"}},
		{EventType: "lesson", Summary: "Integration tests for auth need ATLAS_TEST_CLOCK=1; without it the token rotation test sleeps for 30 s.", Tags: []string{"auth", "tests"}, Path: "internal/auth/token_test.go", Digest: "77aa"},
		{EventType: "decision", Summary: "Session tokens are opaque, 32 bytes, stored only as SHA-256. Never log the prefix.", Tags: []string{"auth"}},
		{EventType: "discovery", Summary: "Migration 0031 added sessions.role_at_issue for the role change check; it is still nullable for old rows.", Tags: []string{"db"}, Path: "db/migrations/0031.sql"},
		{EventType: "lesson", Summary: "Claim order: the lane is sorted by priority, then by id; a retry keeps its id and so its place.", Tags: []string{"queue"}},
		{EventType: "decision", Summary: "SSE resumes from Last-Event-ID; a gap is declared, never papered over.", Tags: []string{"api"}},
	} {
		who := atlasAgents[i%4]
		_, err := a.as(who.name, who.kind).Remember(ctx, m)
		a.must(err)
	}
	_, err := a.as("cursor-larch", "cursor").ReportDigests(ctx, client.ReportDigests{Files: []client.FileDigest{{Path: "internal/auth/token_test.go", Digest: "78ab"}}})
	a.must(err)
}
