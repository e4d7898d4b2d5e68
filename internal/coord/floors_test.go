package coord_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// What comes back below where a lane was seen to begin is claimed all the same: at once when this process put it back, and
// before anybody is told that there is nothing when another one did.
func TestFloorsHideNothing(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ctx := context.Background()
	boss, ana := q.as("boss"), q.as("ana")
	ids := q.many(boss, 200)
	take := func(n int) client.Work {
		t.Helper()
		got, err := q.store.ClaimWork(ctx, ana, client.GetWork{Limit: n})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	back := func(s *coord.Store, who ident.Caller, id string) {
		t.Helper()
		if out, err := s.ReleaseWork(ctx, who, client.ReleaseWork{TaskID: id}); err != nil || !out.Success {
			t.Fatalf("%+v %v", out, err)
		}
	}
	if got := take(150); len(got.Tasks) != 150 || got.Tasks[149].TaskID != ids[149] {
		t.Fatalf("%d tasks", len(got.Tasks))
	}
	if got := take(1); *got.TaskID != ids[150] { // from here on the lane begins behind the first 150
		t.Fatalf("%+v", got)
	}
	back(q.store, ana, ids[0])
	if got := take(1); *got.TaskID != ids[0] {
		t.Fatalf("what was put back is the oldest: got %s", *got.TaskID)
	}
	take(1)
	back(coord.New(q.pool), ana, ids[1]) // another process
	seen := map[string]bool{}
	for {
		got := take(10)
		if !got.Success {
			break
		}
		for _, task := range got.Tasks {
			seen[task.TaskID] = true
		}
	}
	if !seen[ids[1]] || len(seen) != 49 {
		t.Fatalf("%d tasks, with the one that came back: %v", len(seen), seen[ids[1]])
	}
}

// A process of before claims with coord.claim_work, in jsonb, while others have gone on.
func TestProcessesOfBeforeClaim(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ctx := context.Background()
	ids := q.many(q.as("boss"), 3)
	claim := func(n int) (reply struct {
		Success         bool
		TaskID          *string `json:"task_id"`
		TaskDescription string  `json:"task_description"`
		LeaseToken      string  `json:"lease_token"`
		LeaseExpiresAt  string  `json:"lease_expires_at"`
		Files           []string
		Reason          string
		Tasks           []struct {
			TaskID string `json:"task_id"`
		}
		Memo *struct{ Classes []int }
		Wake []string
	},
	) {
		t.Helper()
		const sql = `select coord.claim_work(s.project_id, s.id, 'ana', null, '{}', $1, 900) from public.agent_sessions s where s.agent_id = 'ana'`
		var raw []byte
		if err := q.pool.QueryRow(ctx, sql, n).Scan(&raw); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &reply); err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if _, err := q.store.ReleaseWork(ctx, q.as("ana"), client.ReleaseWork{TaskID: ids[0]}); err != nil { // opens the session
		t.Fatal(err)
	}
	one := claim(1)
	if !one.Success || *one.TaskID != ids[0] || one.TaskDescription == "" || one.LeaseToken != "1" || one.LeaseExpiresAt == "" || one.Files == nil || one.Memo == nil || len(one.Wake) != 1 || one.Tasks != nil {
		t.Errorf("one task: %+v", one)
	}
	if many := claim(5); !many.Success || *many.TaskID != ids[1] || len(many.Tasks) != 2 || many.Tasks[1].TaskID != ids[2] {
		t.Errorf("the rest: %+v", many)
	}
	if none := claim(1); none.Success || none.TaskID != nil || none.Reason != "no_tasks_available" {
		t.Errorf("nothing: %+v", none)
	}
}
