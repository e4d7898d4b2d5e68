package coord

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// QueryAudit returns rows of the project's audit trail, newest first. Error: invalid for a since that is no time.
func (s *Store) QueryAudit(ctx context.Context, c ident.Caller, in client.QueryAudit) (client.AuditEntries, error) {
	since, age, err := parseSince(in.Since)
	if err != nil {
		return client.AuditEntries{}, err
	}
	return reply[client.AuditEntries](ctx, s, `select coord.query_audit($1, nullif($2, ''), nullif($3, ''),
		coalesce($4::timestamptz, coord.now() - make_interval(secs => $5)), $6, $7)`,
		c.ProjectID, in.AgentID, in.Operation, since, age, in.Success, cmp.Or(in.Limit, 20))
}

// parseSince reads a time or an age; the age is counted back by the database's clock. Both nil: no limit.
func parseSince(text string) (since *time.Time, ageSeconds *float64, err error) {
	if text == "" {
		return nil, nil, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return &t, nil, nil
	}
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d < 0 || d > 100*365*24*time.Hour {
		return nil, nil, fault.Invalid("since", "since is neither a time nor an age", "send RFC 3339 such as 2026-11-01T08:00:00Z, or an age such as 90m, 24h or 7d")
	}
	secs := d.Seconds()
	return nil, &secs, nil
}

// PurgeAudit removes rows of the project's audit trail older than in.Days and records that it did.
func (s *Store) PurgeAudit(ctx context.Context, c ident.Caller, in client.PurgeAudit) (client.PurgedAudit, error) {
	n, err := one[int64](ctx, s, `select coord.purge_audit($1, $2, $3)`, c.ProjectID, c.By, in.Days)
	return client.PurgedAudit{Success: err == nil, Deleted: int(n)}, err
}
