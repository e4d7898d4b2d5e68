package coord

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

const (
	workAlone   = 2        // submissions, and completions, that go alone at a time
	workBatches = 2        // statements for several at a time
	foldMax     = 16 << 10 // bytes of a call that is made together with others
)

// submission is a call of submit_work: one task.
type submission struct {
	c       ident.Caller
	session *int64 // nil: nobody's
	task    json.RawMessage
}

// ending is a call of complete_work that says no more than success.
type ending struct {
	c      ident.Caller
	id     string
	token  *string
	result *string
}

// ended is how a call of complete_work ended; alone: it was not decided together with others and has to be made alone.
type ended struct {
	client.TaskChange
	alone bool
}

func newSubmits(s *Store) *batcher[submission, client.SubmittedWork] {
	return &batcher[submission, client.SubmittedWork]{direct: workAlone, workers: workBatches, alone: s.submitAlone, many: s.submitMany}
}

func newEnds(s *Store) *batcher[ending, ended] {
	return &batcher[ending, ended]{direct: workAlone, workers: workBatches, alone: s.endAlone, many: s.endMany}
}

// foldable tells whether a call may be made together with others': it has no transaction of its own, and is not large.
func foldable(ctx context.Context, bytes int) bool {
	_, inTx := ctx.Value(txKey{}).(*unit)
	return !inTx && bytes <= foldMax
}

// actor is the session a caller submits in, nil for one that is no agent.
func (s *Store) actor(ctx context.Context, c ident.Caller) (*int64, error) {
	if c.Agent == "" {
		return nil, nil
	}
	id, err := s.sessionID(ctx, c)
	return &id, err
}

// submitted is what coord.submit_tasks answers, with the project it was asked for.
type submitted struct {
	IDs      []string
	Statuses []string
	Blocked  []bool
	Lanes    []int32
	Units    []int32
	Made     bool
}

// task is the n-th task's outcome.
func (r *submitted) task(n int) client.SubmittedTask {
	t := client.SubmittedTask{TaskID: r.IDs[n], Status: "pending"}
	if r.Statuses != nil {
		t.Status, t.Blocked = r.Statuses[n], r.Blocked[n]
	}
	return t
}

// submit calls coord.submit_tasks and tells who waits: one mention of a lane for each task that is ready.
func (s *Store) submit(ctx context.Context, project int64, sessions []*int64, by []string, repositories []*string, tasks []byte) (*submitted, error) {
	rows, err := s.q(ctx).Query(ctx, `select ids::text[], statuses, blocked, lanes, units, made from coord.submit_tasks($1, $2, $3, $4, $5)`,
		project, sessions, by, repositories, tasks)
	if err != nil {
		return nil, mapErr(err)
	}
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[submitted])
	if err != nil {
		return nil, mapErr(err)
	}
	prefix := lanePrefix(project)
	topics := []string{workTopic(project)}
	if r.Made {
		topics = append(topics, prefix+"+")
	}
	for i, class := range r.Lanes {
		topics = append(topics, slices.Repeat([]string{prefix + strconv.Itoa(int(class))}, int(r.Units[i]))...)
	}
	s.tell(ctx, topics)
	return r, nil
}

func lanePrefix(project int64) string { return fmt.Sprintf("w:%d:%d:", project, WorkQueue) }
func workTopic(project int64) string  { return fmt.Sprintf("r:%d:work", project) }

// repository is how a task without one is sent.
func repository(c ident.Caller) *string {
	if c.Repository == "" {
		return nil
	}
	return &c.Repository
}

func (s *Store) submitAlone(ctx context.Context, in submission) (client.SubmittedWork, error) {
	out, err := s.submitMany(ctx, []submission{in})
	if err != nil {
		return client.SubmittedWork{}, err
	}
	return out[0], nil
}

// submitMany makes the calls in one statement a project.
func (s *Store) submitMany(ctx context.Context, all []submission) ([]client.SubmittedWork, error) {
	out := make([]client.SubmittedWork, len(all))
	for project, at := range byProject(all, func(x submission) int64 { return x.c.ProjectID }) {
		var (
			sessions     []*int64
			by           []string
			repositories []*string
			tasks        []json.RawMessage
		)
		for _, i := range at {
			sessions, by = append(sessions, all[i].session), append(by, all[i].c.By)
			repositories, tasks = append(repositories, repository(all[i].c)), append(tasks, all[i].task)
		}
		raw, err := json.Marshal(tasks)
		if err != nil {
			return nil, err
		}
		r, err := s.submit(ctx, project, sessions, by, repositories, raw)
		if err != nil {
			return nil, err
		}
		for n, i := range at {
			t := r.task(n)
			out[i] = client.SubmittedWork{Success: true, TaskID: t.TaskID, Status: t.Status, Blocked: t.Blocked}
		}
	}
	return out, nil
}

// byProject sorts the positions of calls by project, the order within one kept.
func byProject[T any](all []T, project func(T) int64) map[int64][]int {
	out := map[int64][]int{}
	for i, x := range all {
		out[project(x)] = append(out[project(x)], i)
	}
	return out
}

// plainEnding tells whether a completion is a success and no more, which the short path takes.
func plainEnding(in client.CompleteWork) bool {
	return in.Success && in.HeadSHA == "" && in.ErrorMessage == ""
}

// newEnding is a plain completion as the database takes it.
func newEnding(c ident.Caller, in client.CompleteWork) (e ending, bytes int, err error) {
	e = ending{c: c, id: in.TaskID}
	if in.LeaseToken != "" {
		e.token = &in.LeaseToken
	}
	if in.Result != nil {
		raw, err := json.Marshal(in.Result)
		if err != nil {
			return e, 0, fault.Invalid("result", "the result is not JSON", "send a plain object")
		}
		text := string(raw)
		e.result, bytes = &text, len(raw)
	}
	return e, bytes, nil
}

// others is the reply of coord.complete_tasks: what was not simply completed.
type others struct {
	Others []struct {
		N int `json:"n"`
		client.TaskChange
	} `json:"others"`
}

// end completes tasks of one caller, or of one each, in one statement.
func (s *Store) end(ctx context.Context, project int64, sessions []int64, by []string, all []ending) (others, error) {
	ids, tokens := make([]string, len(all)), make([]*string, len(all))
	var results []*string
	for i, e := range all {
		ids[i], tokens[i] = e.id, e.token
		if e.result != nil && results == nil {
			results = make([]*string, len(all))
		}
		if results != nil {
			results[i] = e.result
		}
	}
	return act[others](ctx, s, `select coord.complete_tasks($1, $2, $3, $4::text[]::uuid[], $5, $6::text[]::jsonb[])`, project, sessions, by, ids, tokens, results)
}

func (s *Store) endAlone(ctx context.Context, e ending) (ended, error) {
	out, err := s.completePlain(ctx, e.c, []ending{e})
	if err != nil {
		return ended{}, err
	}
	return ended{TaskChange: out.Results[0]}, nil
}

// endMany makes the calls in one statement a project. A task that two of them name is decided for the first one.
func (s *Store) endMany(ctx context.Context, all []ending) ([]ended, error) {
	out := make([]ended, len(all))
	for project, at := range byProject(all, func(x ending) int64 { return x.c.ProjectID }) {
		seen := map[string]bool{}
		at = slices.DeleteFunc(at, func(i int) bool {
			out[i].alone = seen[all[i].id]
			seen[all[i].id] = true
			return out[i].alone
		})
		if len(at) < 2 { // an array of one is a caller's own and may raise what concerns nobody else
			for _, i := range at {
				out[i].alone = true
			}
			continue
		}
		var sessions []int64
		var by []string
		var some []ending
		for _, i := range at {
			sessions, by, some = append(sessions, all[i].c.SessionID), append(by, all[i].c.By), append(some, all[i])
			out[i].TaskChange = client.TaskChange{Success: true, TaskID: all[i].id, Status: "completed"}
		}
		r, err := s.end(ctx, project, sessions, by, some)
		if err != nil {
			return nil, err
		}
		for _, o := range r.Others {
			out[at[o.N-1]] = ended{alone: true}
		}
	}
	return out, nil
}

// completePlain is CompleteTasks for plain completions of different tasks.
func (s *Store) completePlain(ctx context.Context, c ident.Caller, all []ending) (client.CompletedTasks, error) {
	r, err := s.end(ctx, c.ProjectID, []int64{c.SessionID}, []string{c.By}, all)
	if err != nil {
		return client.CompletedTasks{}, err
	}
	out := client.CompletedTasks{Success: true, Results: make([]client.TaskChange, len(all))}
	for i, e := range all {
		out.Results[i] = client.TaskChange{Success: true, TaskID: e.id, Status: "completed"}
	}
	for _, o := range r.Others {
		out.Results[o.N-1] = o.TaskChange
		out.Success = out.Success && o.Success
	}
	return out, nil
}
