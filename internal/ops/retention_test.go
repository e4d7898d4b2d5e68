package ops_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// TestRetentionTakesOnlyWhatIsOver: old and ended goes; what is at work, waited for, unread or the newest stays.
func TestRetentionTakesOnlyWhatIsOver(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	ctx := context.Background()
	r := f.register("host")
	over, parent := f.run(), f.run()
	f.execute(r, over, "done")
	f.claim(r, parent.RunID)
	f.reports(r, parent.RunID, "started")
	child := f.child(parent.SessionID)
	f.execute(r, child, "done") // its parent is busy, and has not heard of it
	top := f.run()
	f.execute(r, top, "done")
	below := f.run("parent_session_id", top.SessionID)
	f.here("ana", "a1")
	f.here("ben", "b1")
	f.here("cid", "c1")
	for _, to := range []string{"ben", "cid"} {
		must[client.SentMessage](f.world, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{to}, "text": "for " + to})
	}
	must[client.Messages](f.world, anyone, "ben", "b1", "list_messages", map[string]any{"mark_read": true})
	for _, summary := range []string{"first", "second"} {
		must[client.WrittenHandoff](f.world, anyone, "ana", "a1", "write_handoff", map[string]any{"summary": summary})
	}
	must[client.EndedSession](f.world, anyone, "ben", "b1", "end_session", nil)

	if n, err := f.store.SweepRetention(ctx, 90, 100); err != nil || n != 0 {
		t.Fatalf("%d deleted of what is young, %v", n, err)
	}
	f.later(91 * 24 * time.Hour)
	if n, err := f.store.SweepRetention(ctx, 0, 100); err != nil || n != 0 {
		t.Fatalf("%d deleted without a retention, %v", n, err)
	}
	for range 3 {
		if _, err := f.store.SweepRetention(ctx, 90, 100); err != nil {
			t.Fatal(err)
		}
	}
	for session, want := range map[string]bool{over.SessionID: false, parent.SessionID: true, child.SessionID: true, top.SessionID: true, below.SessionID: true} {
		if there := f.status(session) != "not_existent"; there != want {
			t.Errorf("%s is there: %v", session, there)
		}
	}
	if n := scan[int](f.world, `select count(*) from public.events where session_id = $1`, over.SessionID); n != 0 {
		t.Errorf("%d events of a deleted session are left", n)
	}
	if got := scan[string](f.world, `select string_agg(text, ',') from public.messages where sender = 'ana'`); got != "for cid" {
		t.Errorf("messages left: %s", got)
	}
	if got := scan[string](f.world, `select string_agg(summary, ',') from public.handoff_documents`); got != "second" {
		t.Errorf("handoffs left: %s", got)
	}
	if n := scan[int](f.world, `select count(*) from public.agent_sessions where session_id = 'b1'`); n != 0 {
		t.Error("an ended session is left")
	}
	if n := f.audited("purge_ended", true); n != 1 {
		t.Errorf("%d audit rows", n)
	}
}

// TestListsFindTheirIndexes: a page of runs or sessions costs pages by its own size, whatever the filter and the project.
func TestListsFindTheirIndexes(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.exec(`insert into public.runs (project_id, run_id, type, session_id, prompt, status, runner_id)
		select 1 + g % 2, 'run_x' || g, 'start_session', 'ses_x' || g / 10, 'p', case when g % 1000 = 0 then 'failed' else 'completed' end,
			'lnch_' || g % 500 from generate_series(1, 40000) g`)
	f.exec(`insert into public.sessions (project_id, session_id, status, agent_name, parent_session_id, created_at)
		select 1 + g % 2, 'ses_x' || g, case when g % 1000 = 0 then 'failed' else 'finished' end, 'agent' || g % 500,
			case when g % 400 = 0 then 'ses_x1' end, now() - g * interval '1 second' from generate_series(1, 40000) g`)
	f.exec(`analyze public.runs, public.sessions`)
	for _, filter := range []string{`{}`, `{"status": "failed"}`, `{"status": "completed"}`, `{"session_id": "ses_x5"}`, `{"runner_id": "lnch_7"}`} {
		for _, newest := range []string{"true", "false"} {
			f.fewPages("select coord.list_runs(2, '"+filter+"', 10, null, "+newest+")", filter)
		}
	}
	for _, filter := range []string{`{}`, `{"status": "failed"}`, `{"status": "finished"}`, `{"parent_session_id": "ses_x1"}`, `{"agent_name": "agent7"}`} {
		f.fewPages("select coord.orchestrated_sessions(2, '"+filter+"', 10, null)", filter)
	}
}

func (f fleet) fewPages(sql, what string) {
	f.t.Helper()
	scan[string](f.world, sql+"::text") // plans are made
	tx, err := f.pool.Begin(context.Background())
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	rows, err := tx.Query(context.Background(), "explain (analyze, buffers, costs off, timing off) "+sql)
	if err != nil {
		f.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			f.t.Fatal(err)
		}
		var hit int
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "Buffers: shared hit=%d", &hit); err == nil {
			if hit > 250 {
				f.t.Errorf("%s: %s touches %d pages", sql, what, hit)
			}
			return
		}
	}
	f.t.Errorf("no buffers for %s", sql)
}
