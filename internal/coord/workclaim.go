package coord

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// claimReply is what coord.claim_tasks says of the call: the wire's, and what the next claim should remember.
type claimReply struct {
	client.Work
	Memo *claimMemo `json:"memo"`
}

// claimRow is a task that coord.claim_tasks gave; the first row has the call's reply instead.
type claimRow struct {
	reply      []byte
	heads      []int64
	leaseUntil *time.Time
	place      int64 // its internal id: within a priority the smaller one comes first
	client.BatchClaim
	deadline *time.Time
}

// ClaimWork claims up to in.Limit tasks and does not wait: finding none is a result. Codes: none of its own.
func (s *Store) ClaimWork(ctx context.Context, c ident.Caller, in client.GetWork) (client.Work, error) {
	key := newClaimKey(c, in)
	memo := s.claims.get(key)
	low := s.floors.under(c.ProjectID, memo.Classes, time.Now())
	rows, err := s.q(ctx).Query(ctx, `select * from coord.claim_tasks($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10, ''), $11, $12, $13)`,
		c.ProjectID, c.SessionID, c.By, key.list(key.types), key.list(key.tags), max(in.Limit, 1), cmp.Or(in.LeaseSeconds, defaultLease),
		memo.Classes, memo.Epoch, memo.Caps, low.classes, low.priorities, low.ids)
	if err != nil {
		return client.Work{}, mapErr(err)
	}
	all, err := claimRows(rows)
	if err != nil {
		return client.Work{}, mapErr(err)
	}
	head, tasks := all[0], all[1:]
	var out claimReply
	if head.reply != nil {
		if err := json.Unmarshal(head.reply, &out); err != nil {
			return client.Work{}, err
		}
	}
	if out.Memo != nil {
		s.claims.put(key, *out.Memo)
	}
	if len(tasks) == 0 {
		return out.Work, nil
	}
	s.floors.note(c.ProjectID, head.heads, len(tasks))
	s.tell(ctx, []string{workTopic(c.ProjectID)})
	return claimed(tasks, head.leaseUntil.UTC().Format(stamp), in.Limit > 1), nil
}

// claimRows reads them all before anybody acts on one: rows arrive before their claim is committed.
func claimRows(rows pgx.Rows) ([]claimRow, error) {
	defer rows.Close()
	var all []claimRow
	for rows.Next() {
		var r claimRow
		var place *int64
		var id, kind, text, token, repo, last *string
		var input []byte
		var priority, attempt, most *int16
		if err := rows.Scan(&r.reply, &r.heads, &r.leaseUntil, &place, &id, &kind, &text, &input, &priority, &r.deadline, &attempt, &most, &token,
			&r.Files, &repo, &r.Tags, &r.DependsOn, &last); err != nil {
			return nil, err
		}
		if id != nil {
			r.place, r.TaskID, r.TaskType, r.Description, r.TaskDescription, r.LeaseToken = *place, *id, *kind, *text, *text, *token
			r.InputData, r.Priority, r.Attempt, r.MaxAttempts = json.RawMessage(input), int(*priority), int(*attempt), int(*most)
			if input == nil {
				r.InputData = json.RawMessage("null")
			}
		}
		if repo != nil {
			r.Repository = *repo
		}
		if last != nil {
			r.LastError = *last
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errNoRows
	}
	return all, nil
}

// claimed is the reply for tasks, best first.
func claimed(tasks []claimRow, until string, several bool) client.Work {
	slices.SortFunc(tasks, func(a, b claimRow) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.place, b.place))
	})
	out := client.Work{Success: true}
	if several {
		out.Tasks = make([]client.BatchClaim, len(tasks))
	}
	for i := range tasks {
		t := &tasks[i]
		t.LeaseExpiresAt = until
		if t.deadline != nil {
			t.Deadline = t.deadline.UTC().Format(stamp)
		}
		if several {
			out.Tasks[i] = t.BatchClaim
		}
	}
	out.TaskID, out.ClaimedTask = &tasks[0].TaskID, tasks[0].ClaimedTask
	return out
}
