package importer_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/importer"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var now = time.Now()

// service is a coordinator and how to call it.
func service(t *testing.T) importer.Dial {
	t.Helper()
	store, hub := coord.New(pgtest.New(t, pgtest.MaxConns(6))), dispatch.New(nil)
	store.WakeTo(hub)
	static, err := httpapi.NewKeys([]string{"secret"}, "")
	if err != nil {
		t.Fatal(err)
	}
	door := httpapi.New(ops.Catalogue(ops.Deps{Store: store, Hub: hub}), &op.Pipeline{Resolver: store, Once: store}, httpapi.Options{Auth: store, Static: static, Ping: store.Ping})
	srv := httptest.NewServer(door)
	t.Cleanup(func() { door.Stop(); srv.Close() })
	return func(agent, program string) (*client.AgentCoordinationClient, error) {
		if agent == "" {
			agent, program = "importer", "import"
		}
		return client.New(srv.URL, "secret", client.WithAgent(agent, program), client.WithRetries(0))
	}
}

func apply(t *testing.T, dial importer.Dial, f importer.Found, dry bool) importer.Result {
	t.Helper()
	res, err := importer.Apply(t.Context(), dial, f, now, dry)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// counts is found, imported, there, failed.
func counts(c importer.Count) [4]int { return [4]int{c.Found, c.Imported, c.There, c.Failed} }

func api(t *testing.T, dial importer.Dial, agent string) *client.AgentCoordinationClient {
	t.Helper()
	c, err := dial(agent, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// sqlite writes a database with the real sqlite3.
func sqlite(t *testing.T, script string) string {
	t.Helper()
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("sqlite3 is not installed")
	}
	path := filepath.Join(t.TempDir(), "a b%20c?.sqlite") // names that an address would have to quote
	cmd := exec.CommandContext(t.Context(), "sqlite3", "-bail", path)
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("sqlite3: %v\n%s", err, out)
	}
	return path
}

func problems(list []importer.Problem) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.Where + ": " + p.What + "\n")
	}
	return b.String()
}

const beads = `{"id":"bd-1","title":"Lay the foundation","description":"Dig first.","status":"open","priority":0,"issue_type":"task","labels":["core"],"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"}
{"id":"bd-2","title":"Build the walls","description":"","acceptance_criteria":"They stand.","status":"in_progress","priority":2,"issue_type":"feature","assignee":"ana","dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"},{"issue_id":"bd-2","depends_on_id":"bd-9","type":"related"},{"issue_id":"bd-2","depends_on_id":"bd-5","type":"blocks"}]}
{"id":"bd-3","title":
not json

{"id":"bd-4","status":"open"}
{"id":"bd-5","title":"Choose the place","status":"closed","priority":1,"issue_type":"task","closed_at":"2026-01-01T00:00:00Z","close_reason":"the hill has water"}
{"id":"bd-6","title":"Gone","status":"tombstone","deleted_at":"2026-01-01T00:00:00Z"}
{"id":"bd-7","title":"Roof","status":"blocked","priority":9,"issue_type":"epic","dependencies":[{"depends_on_id":"bd-8","type":"blocks"},{"depends_on_id":"bd-404","type":"blocks"}]}
{"id":"bd-8","title":"Beams","status":"open","priority":4,"issue_type":"bug","dependencies":[{"depends_on_id":"bd-7","type":"blocks"}],"comments":[{"author":"bob","text":"oak"}]}
{"id":"bd-1","title":"Again","status":"open"}`

func TestBeads(t *testing.T) {
	t.Parallel()
	f, err := importer.Beads(strings.NewReader(beads))
	if err != nil {
		t.Fatal(err)
	}
	text := problems(f.Problems)
	for _, want := range []string{"line 3: it is no JSON", "line 4: it is no JSON", "line 6: it has no id or no title", "line 11: bd-1 was on line 1", "line 9: bd-7 has the priority 9", "bd-404, which is not in the export", "wait for each other"} {
		if !strings.Contains(text, want) {
			t.Errorf("no problem says %q:\n%s", want, text)
		}
	}
	if len(f.Tasks) != 4 || len(f.Memories) != 1 || len(f.Problems) != 7 || len(f.Left) != 2 {
		t.Fatalf("%d tasks, %d memories, %d problems, left %v", len(f.Tasks), len(f.Memories), len(f.Problems), f.Left)
	}
	dial := service(t)
	if dry := apply(t, dial, f, true); counts(dry.Tasks) != [4]int{4, 4, 0, 0} || counts(dry.Memories) != [4]int{1, 1, 0, 0} {
		t.Errorf("dry run: %+v", dry)
	}
	c := api(t, dial, "eva")
	if list, err := c.ListWork(t.Context(), client.ListWork{}); err != nil || list.Count != 0 {
		t.Fatalf("a dry run wrote %d tasks, %v", list.Count, err)
	}
	if res := apply(t, dial, f, false); counts(res.Tasks) != [4]int{4, 4, 0, 0} || counts(res.Memories) != [4]int{1, 1, 0, 0} {
		t.Errorf("import: %+v", res)
	}
	if again := apply(t, dial, f, false); counts(again.Tasks) != [4]int{4, 0, 4, 0} || counts(again.Memories) != [4]int{1, 0, 1, 0} {
		t.Errorf("a second time: %+v", again)
	}
	tasks := map[string]client.Task{}
	list, err := c.ListWork(t.Context(), client.ListWork{Label: "import:beads"})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list.Tasks {
		tasks[x.Description[:4]] = x
	}
	walls := tasks["bd-2"]
	if walls.State != "blocked" || walls.Priority != 5 || walls.TaskType != "feature" || len(walls.DependsOn) != 1 || walls.DependsOn[0] != tasks["bd-1"].TaskID || !strings.Contains(walls.Description, "They stand.") {
		t.Errorf("the walls: %+v", walls)
	}
	if tasks["bd-1"].State != "ready" || tasks["bd-1"].Priority != 1 || !strings.Contains(tasks["bd-8"].Description, "Comment by bob") {
		t.Errorf("%+v\n%+v", tasks["bd-1"], tasks["bd-8"])
	}
	found, err := c.Recall(t.Context(), client.Recall{TaskDescription: "where is the place to build, with water"})
	if err != nil || len(found.Memories) == 0 || found.Memories[0].Lessons[0] != "the hill has water" {
		t.Errorf("what is done is not found: %+v, %v", found, err)
	}
	// One more issue there waits for one that is here: only it comes.
	more, err := importer.Beads(strings.NewReader(beads + "\n" + `{"id":"bd-10","title":"Paint","status":"open","dependencies":[{"depends_on_id":"bd-2","type":"blocks"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if res := apply(t, dial, more, false); counts(res.Tasks) != [4]int{5, 1, 4, 0} {
		t.Errorf("one more: %+v", res.Tasks)
	}
	if _, err := importer.Beads(strings.NewReader("x\ny\n")); !errors.Is(err, importer.ErrNotThis) {
		t.Errorf("another file: %v", err)
	}
	if f, err := importer.Beads(strings.NewReader("")); err != nil || len(f.Tasks) != 0 {
		t.Errorf("an empty export: %+v, %v", f, err)
	}
}

const kanban = `
create table projects (id blob primary key, name text not null, git_repo_path text not null default '' unique, setup_script text default '', created_at text not null default (datetime('now')), updated_at text not null default (datetime('now')));
create table tasks (id blob primary key, project_id blob not null, title text not null, description text, status text not null default 'todo', created_at text not null default (datetime('now')), updated_at text not null default (datetime('now')));
insert into projects (id, name, git_repo_path) values (x'000102030405060708090a0b0c0d0e0f', 'app', '/src/app'), (x'100102030405060708090a0b0c0d0e0f', 'other', '/src/other');
insert into tasks (id, project_id, title, description, status, created_at) values
 (x'aa0102030405060708090a0b0c0d0e01', x'000102030405060708090a0b0c0d0e0f', 'Login form', 'keeps its state', 'todo', '2026-01-01 00:00:01'),
 (x'aa0102030405060708090a0b0c0d0e02', x'000102030405060708090a0b0c0d0e0f', 'Logout', null, 'inreview', '2026-01-01 00:00:02'),
 (x'aa0102030405060708090a0b0c0d0e03', x'000102030405060708090a0b0c0d0e0f', 'Sessions in Redis', 'as decided', 'done', '2026-01-01 00:00:03'),
 (x'aa0102030405060708090a0b0c0d0e04', x'000102030405060708090a0b0c0d0e0f', 'Never mind', '', 'cancelled', '2026-01-01 00:00:04'),
 (x'aa0102030405060708090a0b0c0d0e05', x'000102030405060708090a0b0c0d0e0f', '  ', '', 'todo', '2026-01-01 00:00:05'),
 (x'aa0102030405060708090a0b0c0d0e06', x'100102030405060708090a0b0c0d0e0f', 'Not ours', '', 'todo', '2026-01-01 00:00:06');
`

// newer are the tables of later versions, in which issues have priorities and block each other.
const newer = `
create table local_project_statuses (id blob primary key, project_id blob not null, name text not null, color text not null default '', sort_order integer not null default 0);
create table local_issues (id blob primary key, project_id blob not null, issue_number integer, simple_id text, status_id blob not null, title text not null, description text, priority text, sort_order real, created_at text, updated_at text, completed_at text);
create table local_issue_relationships (id blob primary key, issue_id blob not null, related_issue_id blob not null, relationship_type text not null);
insert into local_project_statuses (id, project_id, name) select randomblob(16), x'000102030405060708090a0b0c0d0e0f', n from (select 'Todo' as n union select 'In Progress' union select 'Done' union select 'Cancelled');
insert into local_issues (id, project_id, issue_number, simple_id, status_id, title, priority, created_at, updated_at)
 select t.id, t.project_id, 1, 'LOCAL-1', (select id from local_project_statuses where name = case t.status when 'done' then 'Done' when 'cancelled' then 'Cancelled' else 'Todo' end), t.title, case when t.title = 'Logout' then 'urgent' end, t.created_at, t.updated_at
 from tasks t where t.project_id = x'000102030405060708090a0b0c0d0e0f' and trim(t.title) <> '';
insert into local_issue_relationships values (x'01', x'aa0102030405060708090a0b0c0d0e02', x'aa0102030405060708090a0b0c0d0e01', 'blocking'), (x'02', x'aa0102030405060708090a0b0c0d0e01', x'aa0102030405060708090a0b0c0d0e03', 'related');
`

func TestVibeKanban(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := sqlite(t, kanban)
	if _, err := importer.VibeKanban(ctx, path, ""); !errors.Is(err, importer.ErrWhichOne) || !strings.Contains(err.Error(), "app, other") {
		t.Errorf("two projects: %v", err)
	}
	f, err := importer.VibeKanban(ctx, path, "app")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(problems(f.Problems), "tasks row 5: it has no id or no title") {
		t.Errorf("problems: %s", problems(f.Problems))
	}
	dial := service(t)
	if res := apply(t, dial, f, false); counts(res.Tasks) != [4]int{2, 2, 0, 0} || counts(res.Memories) != [4]int{1, 1, 0, 0} || len(res.Left) != 1 {
		t.Errorf("%+v", res)
	}
	newerFound, err := importer.VibeKanban(ctx, sqlite(t, kanban+newer), "app")
	if err != nil {
		t.Fatal(err)
	}
	if len(newerFound.Tasks) != 2 || newerFound.Tasks[1].Priority != 1 || len(newerFound.Tasks[0].DependsOn) != 1 {
		t.Errorf("issues: %+v", newerFound.Tasks)
	}
	// The newer tables hold the same cards: nothing comes twice.
	if res := apply(t, dial, newerFound, false); counts(res.Tasks) != [4]int{2, 0, 2, 0} || counts(res.Memories) != [4]int{1, 0, 1, 0} {
		t.Errorf("%+v", res)
	}
	if _, err := importer.VibeKanban(ctx, sqlite(t, "create table x (y);"), ""); !errors.Is(err, importer.ErrNotThis) {
		t.Errorf("another database: %v", err)
	}
	text := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := importer.VibeKanban(ctx, text, ""); !errors.Is(err, importer.ErrNotThis) {
		t.Errorf("no database: %v", err)
	}
}

func mailbox() string {
	at := func(d time.Duration) string { return now.Add(d).UTC().Format("2006-01-02 15:04:05.000000") }
	return `
create table projects (id integer primary key, slug varchar(255), human_key varchar(255), created_at datetime);
create table agents (id integer primary key, project_id integer, name varchar(128), program varchar(128), model varchar(128), task_description varchar(2048), inception_ts datetime, last_active_ts datetime);
create table messages (id integer primary key, project_id integer, sender_id integer, thread_id varchar(128), subject varchar(512), body_md varchar, importance varchar(16), ack_required boolean, created_ts datetime, attachments json default '[]');
create table message_recipients (message_id integer, agent_id integer, kind varchar(8), read_ts datetime, ack_ts datetime, primary key (message_id, agent_id));
create table file_reservations (id integer primary key, project_id integer, agent_id integer, path_pattern varchar(512), exclusive boolean, reason varchar(512), created_ts datetime, expires_ts datetime, released_ts datetime);
insert into projects values (1, 'src-app', '/src/app', '2026-01-01 00:00:00');
insert into agents (id, project_id, name, program, model) values (1, 1, 'GreenCastle', 'claude-code', 'm'), (2, 1, 'BlueLake', 'codex-cli', 'm');
insert into messages (id, project_id, sender_id, thread_id, subject, body_md, importance, ack_required, created_ts) values
 (1, 1, 1, 'bd-12', 'The parser keeps trailing commas', 'On purpose: the old exports have them.', 'normal', 0, '2026-01-02 10:00:00.123456'),
 (2, 1, 1, 'bd-12', 'May I change the lexer?', 'Tomorrow.', 'urgent', 1, '2026-01-03 10:00:00'),
 (3, 1, 99, null, 'From nobody', 'x', 'normal', 0, 'no time'),
 (4, 1, 2, null, '', '', 'normal', 0, '2026-01-03 10:00:00');
insert into message_recipients values (1, 2, 'to', '2026-01-02 11:00:00', null), (2, 2, 'to', null, null), (2, 77, 'cc', null, null);
insert into file_reservations values
 (1, 1, 1, 'src/parser/**', 1, 'bd-12', '2026-01-01 00:00:00', '` + at(time.Hour) + `', null),
 (2, 1, 2, 'docs/*.md', 0, '', '2026-01-01 00:00:00', '` + at(2*time.Hour) + `', null),
 (3, 1, 2, 'old/**', 1, '', '2026-01-01 00:00:00', '` + at(-time.Hour) + `', null),
 (4, 1, 2, 'gone/**', 1, '', '2026-01-01 00:00:00', '` + at(time.Hour) + `', '2026-01-01 00:00:01'),
 (5, 1, 2, 'src/parser/lexer.go', 1, 'also mine', '2026-01-01 00:00:00', '` + at(time.Hour) + `', null);
`
}

func TestAgentMail(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	f, err := importer.AgentMail(ctx, sqlite(t, mailbox()), "", now)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"messages row 3: its sender 99", "its time", "messages row 4: it has neither", "its agent 77"} {
		if !strings.Contains(problems(f.Problems), want) {
			t.Errorf("no problem says %q:\n%s", want, problems(f.Problems))
		}
	}
	dial := service(t)
	if dry := apply(t, dial, f, true); counts(dry.Messages) != [4]int{1, 1, 0, 0} || counts(dry.Locks) != [4]int{3, 3, 0, 0} {
		t.Errorf("dry run: %+v", dry)
	}
	res := apply(t, dial, f, false)
	if counts(res.Memories) != [4]int{3, 3, 0, 0} || counts(res.Messages) != [4]int{1, 1, 0, 0} || counts(res.Locks) != [4]int{3, 2, 0, 1} || len(res.Left) != 2 || len(res.Agents) != 2 {
		t.Errorf("%+v", res)
	}
	if !strings.Contains(problems(res.Problems), "src/parser/lexer.go was not locked: GreenCastle has it") {
		t.Errorf("the conflict is not told: %s", problems(res.Problems))
	}
	held, err := api(t, dial, "eva").CheckLocks(ctx, client.CheckLocks{})
	if err != nil || held.Count != 2 {
		t.Fatalf("%+v, %v", held, err)
	}
	for _, l := range held.Locks {
		if l.LockedBy != "GreenCastle" && l.LockedBy != "BlueLake" {
			t.Errorf("a lock is %s's", l.LockedBy)
		}
	}
	inbox := func() int {
		t.Helper()
		m, err := api(t, dial, "BlueLake").ListMessages(ctx, client.ListMessages{})
		if err != nil {
			t.Fatal(err)
		}
		return m.Count
	}
	if n := inbox(); n != 1 {
		t.Errorf("%d messages wait for BlueLake, want 1", n)
	}
	again := apply(t, dial, f, false)
	if counts(again.Memories) != [4]int{3, 0, 3, 0} || counts(again.Messages) != [4]int{1, 0, 1, 0} || counts(again.Locks) != [4]int{3, 0, 2, 1} || inbox() != 0 { // it was read above
		t.Errorf("a second time: %+v", again)
	}
	found, err := api(t, dial, "eva").Recall(ctx, client.Recall{TaskDescription: "why does the parser keep trailing commas"})
	if err != nil || len(found.Memories) == 0 || found.Memories[0].AgentID != "GreenCastle" || !strings.HasPrefix(found.Memories[0].CreatedAt, "2026-01-02T10:00:00") {
		t.Errorf("%+v, %v", found.Memories, err)
	}
}

func TestAgentMailArchive(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, "projects", "src-app", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	letter := "---json\n{\n  \"id\": 7, \"from\": \"GreenCastle\", \"to\": [\"BlueLake\"], \"subject\": \"Trailing commas\", \"created\": \"2026-01-02T10:00:00+00:00\", \"thread_id\": \"bd-12\"\n}\n---\n\nOn purpose.\n"
	put("messages/2026/01/2026-01-02T10-00-00Z__trailing-commas__7.md", letter)
	put("agents/GreenCastle/outbox/2026/01/2026-01-02T10-00-00Z__trailing-commas__7.md", letter)
	put("messages/threads/bd-12.md", "# a digest")
	put("messages/2026/01/torn.md", "---json\n{\"id\": 8")
	put("agents/GreenCastle/profile.json", `{"name":"GreenCastle","program":"claude-code"}`)
	reservation := `{"id":1,"agent":"GreenCastle","path_pattern":"src/**","exclusive":true,"expires_ts":"` + now.Add(time.Hour).Format(time.RFC3339) + `"}`
	put("file_reservations/id-1.json", reservation)
	put("file_reservations/0a1b2c.json", reservation)
	put("file_reservations/bad.json", `{`)
	f, err := importer.AgentMail(t.Context(), root, "", now)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Memories) != 1 || f.Memories[0].Summary != "Trailing commas" || len(f.Locks) != 1 || f.Locks[0].Program != "claude-code" || len(f.Problems) != 2 {
		t.Errorf("%+v", f)
	}
	if _, err := importer.AgentMail(context.Background(), t.TempDir(), "", now); !errors.Is(err, importer.ErrNotThis) {
		t.Errorf("an empty folder: %v", err)
	}
}
