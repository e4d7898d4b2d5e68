package ops_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// unaudited are changing operations without a row: signs of life, of which there are many and which change nothing
// that anybody could ask about later.
var unaudited = []string{
	"heartbeat", "renew_locks", "heartbeat_work", "renew_work", "progress_work",
	"add_session_event", "add_event", "runner_heartbeat", // events are a record themselves
}

// change is one changing call of the walk below.
type change struct {
	operation string
	args      map[string]any
	agent     string // default ana
	as        string // name in the audit trail, default the operation's
	none      bool   // this call is one of the unaudited kind
}

// I17: every changing operation of the catalogue writes exactly one audit row. An operation that is new in the
// catalogue fails this test until it has a step here.
func TestEveryChangeWritesOneAuditRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("bob", "s")
	task := func() string {
		return must[client.SubmittedWork](w, anyone, "boss", "s", "submit_work", map[string]any{"task_type": "t", "task_description": "d"}).TaskID
	}
	claim := func() map[string]any { // a task of its own, claimed by ana
		id := task()
		if got := must[client.Work](w, anyone, "ana", "s", "get_work", nil); got.TaskID == nil || *got.TaskID != id {
			t.Fatalf("claimed %+v, want %s", got, id)
		}
		return map[string]any{"task_id": id}
	}
	with := func(args map[string]any, more ...any) map[string]any {
		for i := 0; i < len(more); i += 2 {
			args[more[i].(string)] = more[i+1]
		}
		return args
	}
	mail := must[client.SentMessage](w, anyone, "bob", "s", "send_message", map[string]any{"to": []any{"bob"}, "text": "x"}).MessageID
	mine := must[client.SentMessage](w, anyone, "bob", "s", "send_message", map[string]any{"to": []any{"ana"}, "text": "x", "allow_unknown": true}).MessageID
	if mail == mine {
		t.Fatal("two messages with one id")
	}
	f := fleet{w}
	covered := map[string]bool{}
	for _, f := range []func() change{
		func() change { return change{operation: "register_session", args: map[string]any{"current_task": "x"}} },
		func() change { return change{operation: "heartbeat", none: true} },
		func() change { return change{operation: "acquire_lock", args: map[string]any{"file_path": "a.go"}} },
		func() change { return change{operation: "renew_locks", none: true} },
		func() change { return change{operation: "release_lock", args: map[string]any{"file_path": "a.go"}} },
		func() change {
			must[client.LockResult](w, anyone, "bob", "s", "acquire_lock", map[string]any{"file_path": "b.go"})
			return change{operation: "force_release_lock", args: map[string]any{"file_path": "b.go", "reason": "stuck"}}
		},
		func() change {
			return change{operation: "submit_tasks", as: "submit_work", args: map[string]any{"tasks": []any{map[string]any{"task_type": "other", "description": "d"}}}}
		},
		func() change {
			return change{operation: "cancel_work", agent: "boss", args: map[string]any{"task_id": scan[string](w, `select task_id::text from public.work_queue where task_type = 'other'`)}}
		},
		func() change {
			return change{operation: "submit_work", args: map[string]any{"task_type": "t", "task_description": "d"}}
		},
		func() change { return change{operation: "get_work"} },
		func() change {
			return change{operation: "complete_work", args: map[string]any{"task_id": scan[string](w, `select task_id::text from public.work_queue where status = 'claimed'`), "success": false}}
		},
		func() change {
			return change{operation: "retry_work", agent: "ana", args: map[string]any{"task_id": scan[string](w, `select task_id::text from public.work_queue where status = 'failed'`)}}
		},
		func() change {
			return change{operation: "prioritise_work", agent: "ana", args: map[string]any{"task_id": scan[string](w, `select task_id::text from public.work_queue where status = 'pending' limit 1`), "priority": 2}}
		},
		func() change {
			return change{operation: "get_work"}
		},
		func() change { return change{operation: "renew_work", none: true} },
		func() change {
			return change{operation: "release_work", args: map[string]any{"task_id": scan[string](w, `select task_id::text from public.work_queue where status = 'claimed'`)}}
		},
		func() change {
			return change{operation: "cancel_work", args: map[string]any{"task_id": scan[string](w, `select task_id::text from public.work_queue where status = 'pending'`)}}
		},
		func() change { return change{operation: "heartbeat_work", args: claim(), none: true} },
		func() change { return change{operation: "progress_work", args: claim(), none: true} },
		func() change {
			return change{operation: "update_work", args: with(claim(), "action", "progress"), none: true}
		},
		func() change {
			return change{operation: "update_work", args: with(claim(), "action", "release"), as: "release_work"}
		},
		func() change {
			return change{operation: "complete_tasks", as: "complete_work", args: map[string]any{"tasks": []any{map[string]any{
				"task_id": scan[string](w, `select task_id::text from public.work_queue where status = 'running' limit 1`), "success": true,
			}}}}
		},
		func() change {
			return change{operation: "send_message", args: map[string]any{"to": []any{"bob"}, "text": "x"}}
		},
		func() change {
			return change{operation: "ack_message", args: map[string]any{"message_ids": []any{mine}}}
		},
		func() change { return change{operation: "write_handoff", args: map[string]any{"summary": "s"}} },
		func() change {
			return change{operation: "handoff", as: "write_handoff", args: map[string]any{"action": "write", "summary": "s"}}
		},
		func() change {
			return change{operation: "resolve_repository", args: map[string]any{"remote": "h/o/n", "project": "demo"}}
		},
		func() change {
			return change{operation: "create_person", args: map[string]any{"name": "eva", "roles": []any{"read"}}}
		},
		func() change { return change{operation: "create_key", args: map[string]any{"name": "k"}} },
		func() change { return change{operation: "rotate_key", args: map[string]any{"name": "k"}} },
		func() change {
			return change{operation: "limit_key", args: map[string]any{"name": "k", "rate_limit": 5.0}}
		},
		func() change { return change{operation: "revoke_key", args: map[string]any{"name": "k"}} },
		func() change {
			return change{operation: "remember", args: map[string]any{"summary": "the tests need a database"}}
		},
		func() change {
			return change{operation: "working_update", args: map[string]any{"context_item": map[string]any{"type": "note", "content": "x"}}}
		},
		func() change {
			return change{operation: "skill_store", args: map[string]any{"name": "run the tests", "steps": []any{"make test"}}}
		},
		func() change {
			return change{operation: "skill_use", args: map[string]any{"success": true, "skill_id": scan[string](w, `select memory_id::text from public.memory_procedural`)}}
		},
		func() change {
			must[client.LockResult](w, anyone, "bob", "s", "acquire_lock", map[string]any{"file_path": "held.go"})
			return change{operation: "report_changes", args: map[string]any{"files": []any{map[string]any{"file_path": "held.go"}}}}
		},
		func() change {
			return change{operation: "report_digests", args: map[string]any{"files": []any{map[string]any{"path": "a.go", "digest": "d"}}}}
		},
		func() change {
			return change{operation: "memory_forget", args: map[string]any{"memory_ids": []any{scan[string](w, `select memory_id::text from public.memory_episodic`)}}}
		},
		func() change {
			return change{operation: "memory_import", args: map[string]any{"jsonl": `{"summary": "from elsewhere"}`}}
		},
		func() change {
			return change{operation: "memory_retention", as: "memory_retention", args: map[string]any{"layer": "working", "delete_days": 7.0}}
		},
		func() change {
			return change{operation: "register_runner", args: map[string]any{"hostname": "h", "project_dir": "/w", "executor_profile": "p"}}
		},
		func() change {
			return change{operation: "runner_heartbeat", none: true, args: map[string]any{"runner_id": scan[string](w, `select runner_id from public.runners`)}}
		},
		func() change {
			return change{operation: "create_run", args: map[string]any{"type": "start_session", "prompt": "x"}}
		},
		func() change { return change{operation: "run_started", args: polled(w)} },
		func() change { return change{operation: "run_failed", args: with(held(w), "error", "x")} },
		func() change { f.run(); return change{operation: "run_completed", args: polled(w)} },
		func() change { f.run(); return change{operation: "run_stopped", args: polled(w)} },
		func() change { return change{operation: "stop_run", args: map[string]any{"run_id": f.run().RunID}} },
		func() change {
			return change{operation: "create_orchestrated_session", args: map[string]any{"session_id": "ses_a"}}
		},
		func() change {
			return change{operation: "bind_session", args: map[string]any{"session_id": "ses_a", "executor_session_id": "x", "hostname": "h", "executor_profile": "p"}}
		},
		func() change {
			return change{operation: "update_session_metadata", args: map[string]any{"session_id": "ses_a", "project_dir": "/x"}}
		},
		func() change {
			return change{operation: "add_session_event", none: true, args: map[string]any{"session_id": "ses_a", "event_type": "message", "timestamp": "t"}}
		},
		func() change {
			return change{operation: "add_event", none: true, args: map[string]any{"session_id": "ses_a", "event_type": "message", "timestamp": "t"}}
		},
		func() change {
			return change{operation: "stop_session", args: map[string]any{"session_id": "ses_a"}}
		},
		func() change {
			return change{operation: "delete_session", args: map[string]any{"session_id": "ses_a"}}
		},
		func() change {
			return change{operation: "deregister_runner", args: map[string]any{"runner_id": scan[string](w, `select runner_id from public.runners`)}}
		},
		func() change {
			return change{operation: "create_agent", args: map[string]any{"name": "a", "description": "d"}}
		},
		func() change {
			return change{operation: "update_agent", args: map[string]any{"name": "a", "description": "e"}}
		},
		func() change {
			return change{operation: "set_agent_status", args: map[string]any{"name": "a", "status": "inactive"}}
		},
		func() change { return change{operation: "delete_agent", args: map[string]any{"name": "a"}} },
		func() change {
			return change{operation: "create_capability", args: map[string]any{"name": "c", "description": "d"}}
		},
		func() change {
			return change{operation: "update_capability", args: map[string]any{"name": "c", "text": "t"}}
		},
		func() change { return change{operation: "delete_capability", args: map[string]any{"name": "c"}} },
		func() change {
			return change{operation: "create_policy", args: map[string]any{"name": "p", "tier": 1.0, "patterns": []any{"**"}}}
		},
		func() change {
			return change{operation: "update_policy", args: map[string]any{"name": "p", "tier": 2.0, "executors": []any{"e2b"}}}
		},
		func() change {
			return change{operation: "disable_policy", as: "update_policy", args: map[string]any{"name": "p"}}
		},
		func() change {
			w.exec(`insert into public.repositories (project_id, name, remote) select id, 'shop', 'git.example/acme/shop' from public.projects where name = 'demo'`)
			return change{operation: "submit_changes", as: "receive_changeset", args: map[string]any{"repository": "shop", "branch": "b", "head_sha": strings.Repeat("a", 40)}}
		},
		func() change { return change{operation: "cancel_changeset", args: changeset(w)} },
		func() change { return change{operation: "rerun_changeset", args: changeset(w)} },
		func() change {
			return change{operation: "override_changeset", args: with(changeset(w), "reason", "seen by hand")}
		},
		func() change { return change{operation: "approve_change", args: asked(w)} },
		func() change { return change{operation: "deny_change", args: asked(w)} },
		func() change {
			return change{operation: "set_trust", args: map[string]any{"agent": "bob", "level": 3.0}}
		},
		func() change {
			return change{operation: "pause_agent", args: map[string]any{"agent": "bob", "reason": "wait"}}
		},
		func() change { return change{operation: "resume_agent", args: map[string]any{"agent": "bob"}} },
		func() change {
			return change{operation: "drain_agent", args: map[string]any{"agent": "bob", "reason": "enough"}}
		},
		func() change { return change{operation: "undrain_agent", args: map[string]any{"agent": "bob"}} },
		func() change {
			must[client.RegisteredRunner](w, admin, "", "", "register_runner", map[string]any{"hostname": "d", "project_dir": "/w", "executor_profile": "p"})
			return change{operation: "drain_runner", args: map[string]any{"runner_id": scan[string](w, `select runner_id from public.runners where hostname = 'd'`)}}
		},
		func() change {
			return change{operation: "undrain_runner", args: map[string]any{"runner_id": scan[string](w, `select runner_id from public.runners where hostname = 'd'`)}}
		},
		func() change { return change{operation: "nudge_agent", args: map[string]any{"agent": "bob"}} },
		func() change {
			must[client.LockResult](w, anyone, "bob", "s", "acquire_lock", map[string]any{"file_path": "over.go"})
			return change{operation: "hand_over", args: map[string]any{"from": "bob", "to": "ana", "file_paths": []any{"over.go"}, "note": "go on"}}
		},
		func() change { return change{operation: "snooze", args: map[string]any{"item": "t-1"}} },
		func() change { return change{operation: "unsnooze", args: map[string]any{"item": "t-1"}} },
		func() change {
			return change{operation: "report_usage", args: map[string]any{"reports": []any{map[string]any{"key": "u1", "input_tokens": 5.0}}}}
		},
		func() change {
			return change{operation: "set_budget", args: map[string]any{"name": "b", "limit_tokens": 1000.0}}
		},
		func() change { return change{operation: "delete_budget", args: map[string]any{"name": "b"}} },
		func() change {
			return change{operation: "set_guardrail", args: map[string]any{"rule": "clean-all", "action": "allow", "reason": "build machine"}}
		},
		func() change {
			return change{operation: "check_guardrail", args: map[string]any{"rules": []any{"drop-table"}, "command": "psql -c 'drop table x'"}}
		},
		func() change { return change{operation: "deny_act", args: waitingCommand(w, "rm -rf /")} },
		func() change { return change{operation: "approve_act", args: waitingCommand(w, "rm -rf /etc")} },
		func() change {
			return change{operation: "set_safeguards", args: map[string]any{"two_person": []any{}, "reason": "none"}}
		},
		func() change { return change{operation: "cleanup_agents"} },
		func() change { return change{operation: "purge_audit", args: map[string]any{"days": 30.0}} },
		func() change { return change{operation: "end_session"} },
	} {
		c := f()
		covered[c.operation] = true
		w.oneRow(c)
	}
	for _, d := range w.cat.Defs() {
		if d.Scope != ident.Read && d.Routes[0].Method != "GET" && !covered[d.Name] {
			t.Errorf("%s changes something and is not covered here", d.Name)
		}
	}
}

// waitingCommand has a destructive command of bob's stopped and names the act that waits.
func waitingCommand(w *world, command string) map[string]any {
	return map[string]any{"act_id": must[client.GuardrailAnswer](w, anyone, "bob", "s", "check_guardrail", map[string]any{"rules": []any{"delete-root"}, "command": command}).ActID}
}

// oneRow makes the change and checks that it wrote its one row.
func (w *world) oneRow(c change) {
	w.t.Helper()
	if c.agent == "" {
		c.agent = "ana"
	}
	if c.as == "" {
		c.as = c.operation
	}
	before := scan[int64](w, `select coalesce(max(id), 0) from coord.audit_log`)
	must[map[string]any](w, ident.Principal{Name: "key:walk", Scopes: admin.Scopes}, c.agent, "s", c.operation, c.args)
	rows, _ := w.pool.Query(context.Background(), `select operation || case when success and principal = 'key:walk' then '' else ' (wrong)' end
		from coord.audit_log where id > $1`, before)
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	want := []string{c.as}
	if c.none {
		want = nil
		if !slices.Contains(unaudited, c.operation) && c.operation != "update_work" {
			w.t.Errorf("%s is not among the unaudited", c.operation)
		}
	}
	if err != nil || !slices.Equal(got, want) {
		w.t.Errorf("%s: audit rows %v, want %v (%v)", c.operation, got, want, err)
	}
}

// I17, the other half: every refused call has its row too.
func TestEveryForbiddenCallWritesAnAuditRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader := ident.Principal{Name: "key:reader", Scopes: []ident.Scope{ident.Read}}
	n := 0
	for _, d := range w.cat.Defs() {
		if d.Scope == ident.Read {
			continue
		}
		_, err := do[map[string]any](w, reader, "ana", "s", d.Name, map[string]any{})
		w.refused(err, client.CodeForbidden)
		if n++; w.audited(d.Name, false) != 1 {
			t.Errorf("%s: no audit row of the refusal", d.Name)
		}
	}
	if got := scan[int](w, `select count(*) from coord.audit_log where not success and principal = 'key:reader' and agent_id = 'ana' and reason like '%scope%'`); got != n {
		t.Errorf("%d rows, want %d", got, n)
	}
	if s := scan[int](w, `select count(*) from public.agent_sessions`); s != 0 {
		t.Errorf("refused calls opened %d sessions", s)
	}
}

func TestAuditCannotBeChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "s")
	for _, sql := range []string{
		`update coord.audit_log set success = false`, `delete from coord.audit_log`, `truncate coord.audit_log`,
		`do $$ begin perform set_config('coord.purge_audit', 'on', true); delete from coord.audit_log; end $$`,
		// A function of the same name elsewhere opens nothing.
		`create schema other; create function other.purge_audit() returns void language sql as $$ delete from coord.audit_log $$; select other.purge_audit()`,
	} {
		if _, err := w.pool.Exec(context.Background(), sql); err == nil {
			t.Errorf("%s was allowed", sql)
		}
	}
	if n := w.audited("register_session", true); n != 1 {
		t.Fatalf("%d rows, want 1", n)
	}
	_, err := do[client.PurgedAudit](w, anyone, "", "", "purge_audit", map[string]any{"days": 30.0})
	w.refused(err, client.CodeForbidden)
	_, err = do[client.PurgedAudit](w, admin, "", "", "purge_audit", map[string]any{"days": 29.0})
	w.refused(err, client.CodeInvalid)
	w.later(31 * 24 * time.Hour)
	if p := must[client.PurgedAudit](w, admin, "", "", "purge_audit", map[string]any{"days": 30.0}); p.Deleted != 2 { // the registration and the refusal
		t.Fatalf("%+v", p)
	}
	left := must[client.AuditEntries](w, admin, "", "", "query_audit", nil)
	if left.Count != 1 || left.Entries[0].Operation != "purge_audit" || left.Entries[0].Principal != "key:admin" {
		t.Fatalf("the purge does not account for itself: %+v", left)
	}
}

func TestAuditIsQueried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "s1", "s2")
	w.here("bob", "s1")
	_, _ = do[client.Keys](w, anyone, "bob", "", "list_keys", nil)
	for _, tc := range []struct {
		args map[string]any
		want int
		more bool
	}{
		{nil, 4, false},
		{map[string]any{"agent_id": "ana"}, 2, false},
		{map[string]any{"operation": "register_session", "limit": 2.0}, 2, true},
		{map[string]any{"success": false}, 1, false},
		{map[string]any{"success": true}, 3, false},
		{map[string]any{"since": "1h"}, 4, false},
		{map[string]any{"since": "2020-01-01T00:00:00Z"}, 4, false},
		{map[string]any{"since": "2099-01-01T00:00:00+02:00"}, 0, false},
	} {
		got := must[client.AuditEntries](w, anyone, "", "", "query_audit", tc.args)
		if got.Count != tc.want || len(got.Entries) != tc.want || got.Truncated != tc.more || (got.Hint != "") != tc.more {
			t.Errorf("%v: %+v", tc.args, got)
		}
	}
	for _, since := range []string{"yesterday", "-1h", "xd"} {
		_, err := do[client.AuditEntries](w, anyone, "", "", "query_audit", map[string]any{"since": since})
		w.refused(err, client.CodeInvalid)
	}
	w.later(2 * time.Hour)
	if got := must[client.AuditEntries](w, anyone, "", "", "query_audit", map[string]any{"since": "90m"}); got.Count != 0 {
		t.Errorf("older rows: %+v", got)
	}
	e := must[client.AuditEntries](w, anyone, "", "", "query_audit", map[string]any{"agent_id": "ana", "limit": 1.0}).Entries[0]
	if e.SessionID != "s2" || e.AgentType == "" || e.ObjectIDs[0] != "s2" || e.DurationMS <= 0 || e.ID == "" {
		t.Errorf("%+v", e)
	}
}

// changeset is the latest one.
func changeset(w *world) map[string]any {
	return map[string]any{"changeset_id": scan[string](w, `select id::text from public.changesets order by seq desc limit 1`)}
}

// asked is an approval that needs two votes, of a changeset that waits for it.
func asked(w *world) map[string]any {
	w.exec(`update public.changesets set state = 'verifying', route_version = route_version + 1, verdict = null`)
	return map[string]any{"approval_id": scan[string](w, `insert into public.approval_queue (project_id, changeset_id, head_sha, route_version, policy_name, required_count, status)
		select project_id, id, head_sha, route_version, 'p' || route_version, 2, 'pending' from public.changesets returning id::text`)}
}
