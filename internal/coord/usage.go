package coord

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// ReportUsage counts what models used. Reports that were counted before are a result.
func (s *Store) ReportUsage(ctx context.Context, c ident.Caller, in client.ReportUsage) (client.ReportedUsage, error) {
	raw, err := json.Marshal(in.Reports)
	if err != nil {
		return client.ReportedUsage{}, err
	}
	session := c.Session
	if c.Agent != "" {
		if c.SessionID, err = s.sessionID(ctx, c); err != nil {
			return client.ReportedUsage{}, err
		}
		session = cmp.Or(session, "agent:"+c.Agent)
	}
	return act[client.ReportedUsage](ctx, s, `select coord.report_usage($1, nullif($2, 0), $3, nullif($4, ''), nullif($5, ''), $6)`,
		c.ProjectID, c.SessionID, c.By, c.Agent, session, raw)
}

const usageDays = 30 // a summary without since goes back so far

// UsageSummary sums what was used. Codes: invalid.
func (s *Store) UsageSummary(ctx context.Context, c ident.Caller, in client.UsageQuery) (client.UsageSummary, error) {
	since, until := time.Now().AddDate(0, 0, -usageDays), (*time.Time)(nil)
	for _, x := range []struct {
		field, text string
		set         func(time.Time)
	}{{"since", in.Since, func(t time.Time) { since = t }}, {"until", in.Until, func(t time.Time) { until = &t }}} {
		if x.text == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339, x.text)
		if err != nil {
			return client.UsageSummary{}, fault.Invalid(x.field, x.field+" is not a time", "write it as 2026-01-31T12:00:00Z")
		}
		x.set(t)
	}
	filter, err := json.Marshal(in)
	if err != nil {
		return client.UsageSummary{}, err
	}
	return reply[client.UsageSummary](ctx, s, `select coord.usage_summary($1, $2, $3, $4, $5, $6)`, c.ProjectID, cmp.Or(in.By, "agent"), filter, since, until, cmp.Or(in.Limit, 100))
}

// SetBudget sets a budget. Codes: invalid.
func (s *Store) SetBudget(ctx context.Context, c ident.Caller, in client.SetBudget) (client.Budget, error) {
	in.Period, in.Action, in.WarnPercent = cmp.Or(in.Period, "month"), cmp.Or(in.Action, "stop"), cmp.Or(in.WarnPercent, 80)
	raw, err := json.Marshal(in)
	if err != nil {
		return client.Budget{}, err
	}
	return act[client.Budget](ctx, s, `select coord.set_budget($1, $2, $3)`, c.ProjectID, c.By, raw)
}

// ListBudgets lists budgets, the fullest first.
func (s *Store) ListBudgets(ctx context.Context, c ident.Caller) (client.Budgets, error) {
	return reply[client.Budgets](ctx, s, `select coord.list_budgets($1)`, c.ProjectID)
}

// DeleteBudget ends a budget. Codes: not_found.
func (s *Store) DeleteBudget(ctx context.Context, c ident.Caller, in client.BudgetRef) (client.Ok, error) {
	return act[client.Ok](ctx, s, `select coord.delete_budget($1, $2, $3)`, c.ProjectID, c.By, in.Name)
}

// SweepBudgets lets go on what stopped in a period that is over, at most limit budgets of all projects.
func (s *Store) SweepBudgets(ctx context.Context, limit int) (int, error) {
	out, err := act[struct {
		Settled int `json:"settled"`
	}](ctx, s, `select coord.sweep_budgets($1)`, limit)
	return out.Settled, err
}
