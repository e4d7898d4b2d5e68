package coord

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// WorkQueue is the number of the work queue in the claiming engine.
const WorkQueue = 1

const defaultLease = 1800 // seconds

// SubmitWork submits one task. Calls that arrive while others are under way share a statement. Codes: invalid, too_large.
func (s *Store) SubmitWork(ctx context.Context, c ident.Caller, in client.SubmitWork) (client.SubmittedWork, error) {
	session, err := s.actor(ctx, c)
	if err != nil {
		return client.SubmittedWork{}, err
	}
	task, err := json.Marshal(client.BatchTask{TaskSpec: in.TaskSpec, DependsOn: in.DependsOn})
	if err != nil {
		return client.SubmittedWork{}, errNotJSON()
	}
	call := submission{c, session, task}
	if len(in.DependsOn) > 0 || !foldable(ctx, len(task)) { // what it depends on is locked until the commit
		return s.submitAlone(ctx, call)
	}
	return s.submits.do(ctx, call)
}

func errNotJSON() error {
	return fault.Invalid("tasks", "the tasks are not JSON", "send plain objects")
}

// SubmitTasks submits tasks, all or none. An agent need not be named; when it is, its session is opened.
func (s *Store) SubmitTasks(ctx context.Context, c ident.Caller, in client.SubmitTasks) (client.SubmittedTasks, error) {
	session, err := s.actor(ctx, c)
	if err != nil {
		return client.SubmittedTasks{}, err
	}
	tasks, err := json.Marshal(in.Tasks)
	if err != nil {
		return client.SubmittedTasks{}, errNotJSON()
	}
	r, err := s.submit(ctx, c.ProjectID, []*int64{session}, []string{c.By}, []*string{repository(c)}, tasks)
	if err != nil {
		return client.SubmittedTasks{}, err
	}
	out := client.SubmittedTasks{Success: true, TaskIDs: r.IDs, Tasks: make([]client.SubmittedTask, len(r.IDs))}
	for i := range r.IDs {
		out.Tasks[i] = r.task(i)
	}
	return out, nil
}

// CompleteWork ends one task. Plain successes that arrive while others are under way share a statement. Codes: lease_lost
// when a stale token was sent.
func (s *Store) CompleteWork(ctx context.Context, c ident.Caller, in client.CompleteWork) (client.TaskChange, error) {
	if plainEnding(in) {
		e, bytes, err := newEnding(c, in)
		if err != nil {
			return client.TaskChange{}, err
		}
		if foldable(ctx, bytes) {
			if out, err := s.ends.do(ctx, e); err != nil || !out.alone {
				return out.TaskChange, err
			}
		}
	}
	out, err := s.CompleteTasks(ctx, c, client.CompleteTasks{Tasks: []client.CompleteWork{in}})
	if err != nil || len(out.Results) == 0 {
		return client.TaskChange{}, err
	}
	return out.Results[0], nil
}

// CompleteTasks ends several tasks, each with its own outcome, in one transaction.
func (s *Store) CompleteTasks(ctx context.Context, c ident.Caller, in client.CompleteTasks) (client.CompletedTasks, error) {
	plain, bytes := make([]ending, 0, len(in.Tasks)), 0
	seen := make(map[string]bool, len(in.Tasks))
	for _, t := range in.Tasks {
		e, n, err := newEnding(c, t)
		if err != nil {
			return client.CompletedTasks{}, err
		}
		if bytes += n + len(t.ErrorMessage); bytes > maxResults {
			return client.CompletedTasks{}, fault.New(client.CodeTooLarge, "the results are larger than 1 MiB", "the queue holds results to be read by agents",
				"store it in a file or a branch and put its name into the result")
		}
		if plainEnding(t) && !seen[t.TaskID] {
			seen[t.TaskID] = true
			plain = append(plain, e)
		}
	}
	if len(plain) == len(in.Tasks) {
		return s.completePlain(ctx, c, plain)
	}
	items, err := json.Marshal(in.Tasks)
	if err != nil {
		return client.CompletedTasks{}, fault.Invalid("result", "the result is not JSON", "send a plain object")
	}
	out, err := act[client.CompletedTasks](ctx, s, `select coord.complete_work($1, $2, $3, $4)`, c.ProjectID, c.SessionID, c.By, items)
	out.Success = err == nil && !slices.ContainsFunc(out.Results, func(r client.TaskChange) bool { return !r.Success })
	return out, err
}

const maxResults = 1 << 20 // bytes of one call's results

// HeartbeatWork renews a task's lease. Codes: lease_lost.
func (s *Store) HeartbeatWork(ctx context.Context, c ident.Caller, in client.HeartbeatWork) (client.TaskChange, error) {
	return act[client.TaskChange](ctx, s, `select coord.heartbeat_work($1, $2, $3, nullif($4, 0), nullif($5, ''))`,
		c.ProjectID, c.SessionID, in.TaskID, in.LeaseSeconds, in.LeaseToken)
}

// RenewWork renews every lease of the caller's session and returns how many it holds.
func (s *Store) RenewWork(ctx context.Context, c ident.Caller) (int, error) {
	n, err := one[int32](ctx, s, `select coord.renew_work($1, $2)`, c.ProjectID, c.SessionID)
	return int(n), err
}

// ProgressWork reports on a task and renews its lease. Codes: lease_lost.
func (s *Store) ProgressWork(ctx context.Context, c ident.Caller, in client.ProgressWork) (client.TaskChange, error) {
	return act[client.TaskChange](ctx, s, `select coord.progress_work($1, $2, $3, nullif($4::float8, 0), nullif($5, ''), nullif($6, ''))`,
		c.ProjectID, c.SessionID, in.TaskID, in.Percent, in.Note, in.LeaseToken)
}

// ReleaseWork gives a task back. Codes: lease_lost.
func (s *Store) ReleaseWork(ctx context.Context, c ident.Caller, in client.ReleaseWork) (client.TaskChange, error) {
	return act[client.TaskChange](ctx, s, `select coord.release_work($1, $2, $3, $4, nullif($5, ''), nullif($6, ''))`,
		c.ProjectID, c.SessionID, c.By, in.TaskID, in.Reason, in.LeaseToken)
}

// CancelWork cancels a task and its dependents. Codes: forbidden for who is neither submitter, claimant nor reviewer.
func (s *Store) CancelWork(ctx context.Context, c ident.Caller, in client.CancelWork) (client.TaskChange, error) {
	return act[client.TaskChange](ctx, s, `select coord.cancel_work($1, nullif($2, 0), $3, nullif($4, ''), $5, $6, nullif($7, ''))`,
		c.ProjectID, c.SessionID, c.By, c.Agent, reviews(c), in.TaskID, in.Reason)
}

// RetryWork puts a failed or dead task back. Codes: forbidden for who is neither submitter nor reviewer.
func (s *Store) RetryWork(ctx context.Context, c ident.Caller, in client.TaskRef) (client.TaskChange, error) {
	return act[client.TaskChange](ctx, s, `select coord.retry_work($1, nullif($2, 0), $3, nullif($4, ''), $5, $6)`,
		c.ProjectID, c.SessionID, c.By, c.Agent, reviews(c), in.TaskID)
}

// PrioritiseWork gives a task another priority. Codes: forbidden for who is neither submitter nor reviewer.
func (s *Store) PrioritiseWork(ctx context.Context, c ident.Caller, in client.PrioritiseWork) (client.TaskChange, error) {
	return act[client.TaskChange](ctx, s, `select coord.prioritise_work($1, nullif($2, 0), $3, nullif($4, ''), $5, $6, $7)`,
		c.ProjectID, c.SessionID, c.By, c.Agent, reviews(c), in.TaskID, in.Priority)
}

func reviews(c ident.Caller) bool { return ident.Principal{Scopes: c.Scopes}.May(ident.Reviewer) }

// SweepWork does what is due by time in every project, at most limit of each kind a project: see coord.sweep_work.
func (s *Store) SweepWork(ctx context.Context, limit int) (client.SweptWork, error) {
	return act[client.SweptWork](ctx, s, `select coord.sweep_work($1)`, limit)
}

// GetTask reads one task with its result.
func (s *Store) GetTask(ctx context.Context, c ident.Caller, in client.TaskRef) (client.TaskReply, error) {
	return reply[client.TaskReply](ctx, s, `select coord.get_task($1, $2)`, c.ProjectID, in.TaskID)
}

// WhyNotReady explains where a task stands.
func (s *Store) WhyNotReady(ctx context.Context, c ident.Caller, in client.TaskRef) (client.WhyNotReady, error) {
	return reply[client.WhyNotReady](ctx, s, `select coord.why_not_ready($1, $2, nullif($3, ''))`, c.ProjectID, in.TaskID, c.Agent)
}

// ListWork lists tasks, newest first.
func (s *Store) ListWork(ctx context.Context, c ident.Caller, in client.ListWork) (client.Tasks, error) {
	if len(in.Status)+len(in.TaskTypes) == 0 && in.Tag == "" && in.Label == "" && in.ClaimedBy == "" && in.SubmittedBy == "" {
		return s.listTasks(ctx, c, in)
	}
	filter, err := json.Marshal(in)
	if err != nil {
		return client.Tasks{}, err
	}
	cursor, err := taskCursor(in.Cursor)
	if err != nil {
		return client.Tasks{}, err
	}
	return reply[client.Tasks](ctx, s, `select coord.list_work($1, $2, $3, $4)`, c.ProjectID, filter, cmp.Or(in.Limit, 50), cursor)
}

// ReadyWork lists what can be claimed, in the order it will be.
func (s *Store) ReadyWork(ctx context.Context, c ident.Caller, in client.ReadyWork) (client.Tasks, error) {
	return reply[client.Tasks](ctx, s, `select coord.ready_work($1, $2, $3)`, c.ProjectID, in.TaskTypes, cmp.Or(in.Limit, 50))
}

// BlockedWork lists what waits for dependencies, with the reason.
func (s *Store) BlockedWork(ctx context.Context, c ident.Caller, in client.BlockedWork) (client.Tasks, error) {
	return reply[client.Tasks](ctx, s, `select coord.blocked_work($1, $2)`, c.ProjectID, cmp.Or(in.Limit, 50))
}

// WorkStats are the queue's figures.
func (s *Store) WorkStats(ctx context.Context, c ident.Caller) (client.WorkStats, error) {
	return reply[client.WorkStats](ctx, s, `select coord.work_stats($1)`, c.ProjectID)
}

// ReadyTopics names, once per item, which of the lanes in topics have something ready. It is a dispatch re-check.
func (s *Store) ReadyTopics(ctx context.Context, topics []string) ([]string, error) {
	var projects []int64
	var queues []int16
	seen := map[[2]int64]bool{}
	for _, t := range topics {
		var p, q int64
		if n, _ := fmt.Sscanf(t, "w:%d:%d:", &p, &q); n == 2 && !seen[[2]int64{p, q}] {
			seen[[2]int64{p, q}] = true
			projects, queues = append(projects, p), append(queues, int16(q))
		}
	}
	if len(projects) == 0 {
		return nil, nil
	}
	news, err := one[[]string](ctx, s, `select coord.ready_topics($1, $2)`, projects, queues)
	return append(news, s.lanes.unheard(news, topics)...), err
}

// lanesSeen remembers the lanes that somebody was told of. A lane that was made in another process is announced by a
// wake-up that may be lost, or cannot be heard at all; whoever waits knows the lanes of the time it began, no later ones.
type lanesSeen struct {
	mu  sync.Mutex
	all map[string]struct{}
}

// unheard returns, for lanes in news that nobody is parked on and that are seen for the first time, the topics that make
// everybody learn anew.
func (l *lanesSeen) unheard(news, parked []string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil || len(l.all) > cacheSize {
		l.all = map[string]struct{}{}
	}
	var out []string
	for _, t := range news {
		if _, seen := l.all[t]; seen {
			continue
		}
		l.all[t] = struct{}{}
		if plus := t[:strings.LastIndex(t, ":")+1] + "+"; !slices.Contains(parked, t) && !slices.Contains(out, plus) {
			out = append(out, plus)
		}
	}
	return out
}
