package coord

import (
	"cmp"
	"context"
	"strconv"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// The lists that dashboards and agents look at all the time are read as rows of public views, see RowReader. What
// narrows them in ways that need the engine (overlap, leases, cursors of two columns) stays with the SQL functions.

var lockColumns = []string{
	"space", "file_path", "locked_by", "agent_type", "session_id", "mode", "branch", "repository", "locked_at", "expires_at",
	"seconds_left", "reason", "fencing_token",
}

// listLocks lists live locks, oldest first. home is the repository that paths are relative to, 0: none.
func (s *Store) listLocks(ctx context.Context, c ident.Caller, home int64, in client.CheckLocks) (client.Locks, error) {
	limit := cmp.Or(in.Limit, defaultLocks)
	q := RowQuery{View: "lock_list", Columns: lockColumns, Project: c, Order: []string{"acquired_at", "token"}, Limit: limit + 1}
	if in.LockedBy != "" {
		q.Where = append(q.Where, RowFilter{"locked_by", "eq", in.LockedBy})
	}
	rows, err := readRows[struct {
		client.Lock
		Space int64 `json:"space"`
	}](ctx, s, q)
	if err != nil {
		return client.Locks{}, err
	}
	out := client.Locks{Locks: make([]client.Lock, 0, len(rows)), Truncated: len(rows) > limit}
	for _, r := range rows[:min(len(rows), limit)] {
		if r.Space != 0 && r.Space != home {
			r.FilePath = "@" + r.Repository + "//" + r.FilePath
		}
		out.Locks = append(out.Locks, r.Lock)
	}
	out.Count = len(out.Locks)
	return out, nil
}

var taskColumns = []string{
	"seq", "id", "task_id", "task_type", "description", "status", "state", "priority", "tags", "labels", "files", "repository", "depends_on",
	"agent_requirements", "claimed_by", "claimed_at", "lease_expires_at", "attempt", "max_attempts", "progress", "error_message", "run_at",
	"deadline", "submitted_by", "created_at", "updated_at", "completed_at",
}

// listTasks lists tasks of every kind, newest first. Codes: invalid (the cursor).
func (s *Store) listTasks(ctx context.Context, c ident.Caller, in client.ListWork) (client.Tasks, error) {
	limit := cmp.Or(in.Limit, 50)
	q := RowQuery{View: "work_list", Columns: taskColumns, Project: c, Order: []string{"-seq"}, Limit: limit + 1}
	cursor, err := taskCursor(in.Cursor)
	if err != nil {
		return client.Tasks{}, err
	}
	if cursor != nil {
		q.Where = append(q.Where, RowFilter{"seq", "lt", *cursor})
	}
	rows, err := readRows[struct {
		client.Task
		Seq int64 `json:"seq"`
	}](ctx, s, q)
	if err != nil {
		return client.Tasks{}, err
	}
	out := client.Tasks{Tasks: make([]client.Task, 0, len(rows)), Truncated: len(rows) > limit}
	for _, r := range rows[:min(len(rows), limit)] {
		out.Tasks = append(out.Tasks, r.Task)
		if out.Truncated {
			out.NextCursor = strconv.FormatInt(r.Seq, 10)
		}
	}
	out.Count = len(out.Tasks)
	return out, nil
}

func taskCursor(text string) (*int64, error) {
	if text == "" {
		return nil, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fault.Invalid("cursor", "the cursor is not one of ours", "send next_cursor of the page before")
	}
	return &id, nil
}

var sessionColumns = []string{
	"session_id", "status", "created_at", "project_dir", "agent_name", "last_resumed_at", "parent_session_id", "execution_mode",
	"executor_session_id", "executor_profile", "hostname",
}

// listSessions lists orchestrated sessions from the newest on.
func (s *Store) listSessions(ctx context.Context, c ident.Caller, in client.ListOrchestratedSessions) (client.OrchestratedSessions, error) {
	limit := cmp.Or(in.Limit, 10_000)
	q := RowQuery{View: "session_list", Columns: sessionColumns, Project: c, Order: []string{"-created", "-seq"}, Limit: limit + 1}
	for _, f := range []RowFilter{{"status", "eq", in.Status}, {"parent_session_id", "eq", in.ParentSessionID}, {"agent_name", "eq", in.AgentName}} {
		if f.Value != "" {
			q.Where = append(q.Where, f)
		}
	}
	rows, err := readRows[client.OrchestratedSession](ctx, s, q)
	if err != nil {
		return client.OrchestratedSessions{}, err
	}
	return client.OrchestratedSessions{Sessions: rows[:min(len(rows), limit)], Truncated: len(rows) > limit}, nil
}
