package coord

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// Delivery is a stored webhook delivery, as it came over the wire.
type Delivery struct {
	Source     string
	DeliveryID string
	Event      string
	Body       []byte
	Headers    map[string]string
	Attempts   int // this one included
	ReceivedAt time.Time
}

// StoreDelivery stores a delivery before it is acknowledged; one that is there already changes nothing (duplicate).
func (s *Store) StoreDelivery(ctx context.Context, d Delivery) (duplicate bool, err error) {
	headers, err := json.Marshal(d.Headers)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(d.Body)
	type stored struct {
		Duplicate bool `json:"duplicate"`
	}
	var out stored
	if len(d.Body) < largeBody {
		out, err = act[stored](ctx, s, storeDelivery, d.Source, d.DeliveryID, d.Event, sum[:], headers, d.Body)
		return out.Duplicate, err
	}
	raw, err := s.storeLarge(ctx, d, sum[:], headers)
	if err != nil {
		return false, mapErr(err)
	}
	out, err = heard[stored](ctx, s, storeDelivery, raw)
	return out.Duplicate, err
}

// The body comes last: the driver's message then grows to its size once, and not again by half for what follows it.
const (
	storeDelivery = `select coord.store_delivery($1, $2, $3, $6, $4, $5)`
	largeBody     = 1 << 20
)

// storeLarge stores a delivery by the protocol's own call, which copies the body once, into the message; the driver's
// general one makes another copy of each argument first.
func (s *Store) storeLarge(ctx context.Context, d Delivery, sum, headers []byte) ([]byte, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	const text, binary = pgx.TextFormatCode, pgx.BinaryFormatCode
	res := conn.Conn().PgConn().ExecParams(ctx, storeDelivery, [][]byte{[]byte(d.Source), []byte(d.DeliveryID), []byte(d.Event), sum, headers, d.Body},
		nil, []int16{text, text, text, binary, text, binary}, nil).Read()
	if res.Err != nil {
		return nil, res.Err
	}
	if len(res.Rows) != 1 {
		return nil, errNoRows
	}
	return res.Rows[0][0], nil
}

// TakeDeliveries leases up to limit due deliveries, oldest first, and has each one read as it comes. A body is good until
// read returns; what was read counts only once TakeDeliveries returned no error.
func (s *Store) TakeDeliveries(ctx context.Context, limit int, lease time.Duration, read func(Delivery)) error {
	rows, err := s.q(ctx).Query(ctx, `select source, delivery_id, event, headers, attempts, received_at, body from coord.take_deliveries($1, $2)`, limit, wholeSeconds(lease))
	if err != nil {
		return mapErr(err)
	}
	defer rows.Close()
	for rows.Next() {
		var d Delivery
		if err := rows.Scan(&d.Source, &d.DeliveryID, &d.Event, &d.Headers, &d.Attempts, &d.ReceivedAt, (*pgtype.DriverBytes)(&d.Body)); err != nil {
			return mapErr(err)
		}
		read(d)
	}
	return mapErr(rows.Err())
}

// DeliveryEnd is what became of a delivery.
type DeliveryEnd struct {
	State  string // processed, ignored, failed
	Action string
	Error  string        // why it failed or was ignored
	Result any           // what it did
	Retry  time.Duration // failed: try again after that; 0: give it up
}

// EndDelivery records what became of a delivery. Called within InTx it stands or falls with what the delivery did.
func (s *Store) EndDelivery(ctx context.Context, d Delivery, e DeliveryEnd) error {
	result, err := json.Marshal(e.Result)
	if err != nil {
		return err
	}
	var retry *int
	if e.Retry > 0 {
		n := wholeSeconds(e.Retry)
		retry = &n
	}
	return exec(ctx, s, `select coord.end_delivery($1, $2, $3, nullif($4, ''), nullif($5, ''), $6, $7)`, d.Source, d.DeliveryID, e.State, e.Action, e.Error, result, retry)
}

// PurgeDeliveries removes at most limit deliveries that were done with and came more than days ago.
func (s *Store) PurgeDeliveries(ctx context.Context, days, limit int) (int, error) {
	return one[int](ctx, s, `select coord.purge_deliveries($1, $2)`, days, limit)
}

// OutboxRow is something to be told outside.
type OutboxRow struct {
	ProjectID int64
	ID        int64
	Kind      string // status, notify
	Payload   []byte // JSON
	Attempts  int    // this one included
}

// TakeOutbox leases up to limit rows that are due, at most one of each target.
func (s *Store) TakeOutbox(ctx context.Context, limit int, lease time.Duration) ([]OutboxRow, error) {
	return list[OutboxRow](ctx, s, `select * from coord.take_outbox($1, $2)`, limit, wholeSeconds(lease))
}

// EndOutbox records what became of a row: outcome sent, skipped or dead; "" tries again after retry.
func (s *Store) EndOutbox(ctx context.Context, r OutboxRow, outcome, problem string, retry time.Duration) error {
	return exec(ctx, s, `select coord.end_outbox($1, $2, nullif($3, ''), nullif($4, ''), $5)`, r.ProjectID, r.ID, outcome, problem, wholeSeconds(retry))
}

// EndSent records that rows were sent, in one statement.
func (s *Store) EndSent(ctx context.Context, rows []OutboxRow) error {
	if len(rows) == 0 {
		return nil
	}
	projects, ids := make([]int64, 0, len(rows)), make([]int64, 0, len(rows))
	for _, r := range rows {
		projects, ids = append(projects, r.ProjectID), append(ids, r.ID)
	}
	return exec(ctx, s, `select coord.end_outbox(x.project, x.id, 'sent', null, 0) from unnest($1::bigint[], $2::bigint[]) as x (project, id)`, projects, ids)
}

// PurgeOutbox removes at most limit notifications that were done with more than days ago.
func (s *Store) PurgeOutbox(ctx context.Context, days, limit int) (int, error) {
	return one[int](ctx, s, `select coord.purge_outbox($1, $2)`, days, limit)
}

// IssueTask is an issue that is to become a task of one agent.
type IssueTask struct {
	Key        string // names issue and agent
	Repository string
	Agent      string
	Title      string
	Body       string
	URL        string
	Number     int
}

// AssignIssue makes the task, once per key, and returns its id; created is false when it was there.
func (s *Store) AssignIssue(ctx context.Context, project int64, t IssueTask) (id string, created bool, err error) {
	text := strings.TrimSpace(t.Title + "\n\n" + t.Body)
	if r := []rune(text); len(r) > 20_000 {
		text = string(r[:20_000])
	}
	task, err := json.Marshal(client.TaskSpec{
		TaskType: "issue", Description: cmp.Or(text, t.URL), InputData: map[string]any{"url": t.URL, "number": t.Number, "repository": t.Repository},
		Labels: []string{"github-issue", "agent:" + t.Agent}, Tags: []string{"agent:" + t.Agent}, // the tag is that agent's alone
	})
	if err != nil {
		return "", false, err
	}
	out, err := act[struct {
		TaskID  string `json:"task_id"`
		Created bool   `json:"created"`
	}](ctx, s, `select coord.assign_issue($1, $2, $3, $4)`, project, t.Key, t.Repository, task)
	return out.TaskID, out.Created, err
}

// RenewLabelLocks keeps the locks that labels hold for another while.
func (s *Store) RenewLabelLocks(ctx context.Context, minutes int) (int, error) {
	return one[int](ctx, s, `select coord.renew_label_locks($1)`, minutes)
}

// WorkingSession is the session in which an agent is at work on a task, else at all; "" is its implicit one.
func (s *Store) WorkingSession(ctx context.Context, project int64, agent, task string) (string, error) {
	return one[string](ctx, s, `select coord.working_session($1, $2, nullif($3, '')::uuid)`, project, agent, task)
}
