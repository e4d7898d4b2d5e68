package coord

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// duplicateRunner is the structured detail that runners know of the refusal.
type duplicateRunner struct {
	Error           string `json:"error"`
	Message         string `json:"message"`
	RunnerID        string `json:"runner_id"`
	Hostname        string `json:"hostname"`
	ProjectDir      string `json:"project_dir"`
	ExecutorProfile string `json:"executor_profile"`
}

// RegisterRunner makes a runner known. Codes: conflict (409 with a structured detail) while one of the same identity is
// heard.
func (s *Store) RegisterRunner(ctx context.Context, c ident.Caller, in client.RegisterRunner) (client.RegisteredRunner, error) {
	o := s.Orchestration()
	raw, err := members(in)
	if err != nil {
		return client.RegisteredRunner{}, err
	}
	out, err := act[struct {
		RunnerID  string `json:"runner_id"`
		Duplicate bool   `json:"duplicate"`
	}](ctx, s, `select coord.register_runner($1, $2, $3, $4, $5)`, c.ProjectID, only(c), c.By, raw, wholeSeconds(o.Stale))
	if err != nil {
		return client.RegisteredRunner{}, err
	}
	if out.Duplicate {
		what := fmt.Sprintf("A runner with this identity is already online: hostname=%s, project_dir=%s, executor_profile=%s", in.Hostname, in.ProjectDir, in.ExecutorProfile)
		f := fault.New(client.CodeConflict, what, "host, directory and profile are a runner's identity", "stop the other one, or use another directory or profile")
		f.Detail = duplicateRunner{"duplicate_runner", what, out.RunnerID, in.Hostname, in.ProjectDir, in.ExecutorProfile}
		return client.RegisteredRunner{}, f
	}
	return client.RegisteredRunner{
		RunnerID: out.RunnerID, PollEndpoint: "/runner/runs", PollTimeoutSeconds: o.PollTimeout.Seconds(), HeartbeatIntervalSeconds: o.Heartbeat.Seconds(),
	}, nil
}

// ListRunners lists the runners that are heard or were lately.
func (s *Store) ListRunners(ctx context.Context, c ident.Caller) (client.Runners, error) {
	o := s.Orchestration()
	return reply[client.Runners](ctx, s, `select coord.list_runners($1, $2, $3)`, only(c), wholeSeconds(o.Stale), wholeSeconds(o.Remove))
}

// RunnerHeartbeat notes that a runner lives. Codes: unauthenticated (unknown runner).
func (s *Store) RunnerHeartbeat(ctx context.Context, c ident.Caller, in client.RunnerRef) (client.Ok, error) {
	return reply[client.Ok](ctx, s, `select coord.runner_heartbeat($1, $2, $3)`, only(c), in.RunnerID, wholeSeconds(s.Orchestration().Stale))
}

// DeregisterRunner takes a runner off the list, or has it told to leave. Codes: not_found.
func (s *Store) DeregisterRunner(ctx context.Context, c ident.Caller, in client.DeregisterRunner) (client.DeregisteredRunner, error) {
	return act[client.DeregisteredRunner](ctx, s, `select coord.deregister_runner($1, $2, $3, $4, $5)`, c.ProjectID, only(c), c.By, in.RunnerID, in.Self)
}

// Poll is one look of a waiting runner. At most one of its members is set; Unknown: it must register.
type Poll struct {
	Unknown      bool            `json:"unknown"`
	Deregistered bool            `json:"deregistered"`
	StopRuns     []string        `json:"stop_runs"`
	Full         bool            `json:"full"`       // it has as many runs as it takes
	TaskLanes    []string        `json:"task_lanes"` // topics of tasks it may take
	Run          json.RawMessage `json:"run"`
	Memo         *claimMemo      `json:"memo"`
}

// PollRunner looks once for something to tell a runner; finding nothing is a result.
func (s *Store) PollRunner(ctx context.Context, c ident.Caller, runner string) (Poll, error) {
	o := s.Orchestration()
	memo := s.runnerMemo(runner)
	out, err := act[Poll](ctx, s, `select coord.poll_runner($1, $2, $3, $4, $5, $6, nullif($7, ''))`,
		only(c), runner, wholeSeconds(o.Stale), wholeSeconds(o.ClaimLease), memo.Classes, memo.Epoch, memo.Caps)
	if err != nil {
		return Poll{}, err
	}
	s.orch.mu.Lock()
	defer s.orch.mu.Unlock()
	if out.Memo != nil {
		if s.orch.memos == nil || len(s.orch.memos) >= cacheSize {
			s.orch.memos = map[string]claimMemo{}
		}
		s.orch.memos[runner] = *out.Memo
	}
	return out, nil
}

func (s *Store) runnerMemo(runner string) claimMemo {
	s.orch.mu.Lock()
	defer s.orch.mu.Unlock()
	if memo, ok := s.orch.memos[runner]; ok && memo.Classes != nil {
		return memo
	}
	return claimMemo{Classes: []int32{}}
}

// RunnerTopics are what a waiting runner parks on, as far as is known: its own, its classes' lanes, and the news that
// there is a new class.
func (s *Store) RunnerTopics(runner string) []string {
	memo := s.runnerMemo(runner)
	prefix := fmt.Sprintf("w:0:%d:", RunQueue)
	out := make([]string, 0, len(memo.Classes)+2)
	out = append(out, "u:"+runner, prefix+"+")
	for _, class := range memo.Classes {
		out = append(out, fmt.Sprint(prefix, class))
	}
	return out
}

// ExecutorClasses counts the distinct demands of tasks that runners execute. When it rises, waiting runners should look
// again.
func (s *Store) ExecutorClasses(ctx context.Context) (int, error) {
	return one[int](ctx, s, `select coord.executor_classes()`)
}
