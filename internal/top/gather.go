package top

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// Need is something that waits for a person, or broke.
type Need struct {
	Kind  string `json:"kind"` // decide, broken
	What  string `json:"what"`
	Why   string `json:"why,omitempty"`
	Since string `json:"since,omitempty"`
}

// Snapshot is one picture of a project.
type Snapshot struct {
	At      string            `json:"at"`
	Project string            `json:"project"`
	Needs   []Need            `json:"needs"`
	Agents  []client.Agent    `json:"agents"`
	Locks   []client.Lock     `json:"locks"`
	Waits   []client.LockWait `json:"waits"`
	Stats   client.WorkStats  `json:"queue"`
	Tasks   []client.Task     `json:"tasks"` // at work, then ready ones
	Runs    []client.Run      `json:"runs"`
	Runners []client.Runner   `json:"runners"`
	Missing []string          `json:"missing,omitempty"` // what the key may not see
}

const (
	most     = 500
	recent   = 24 * time.Hour // what broke earlier is history
	slowRun  = time.Minute    // a run that waits longer has no runner that fits
	overlook = time.Hour      // writes past a lock are shown so long
)

// Gather asks for a picture. What the key may not see is named in Missing; any other failure fails the whole, since a
// picture that leaves something out would be a lie.
func Gather(ctx context.Context, api *client.AgentCoordinationClient, project string, now time.Time) (Snapshot, error) {
	s := Snapshot{At: now.UTC().Format(time.RFC3339), Project: project, Needs: []Need{}, Agents: []client.Agent{}, Locks: []client.Lock{}, Waits: []client.LockWait{}, Tasks: []client.Task{}, Runs: []client.Run{}, Runners: []client.Runner{}}
	for _, part := range []struct {
		name string
		do   func(context.Context, *client.AgentCoordinationClient, *Snapshot, time.Time) error
	}{
		{"approvals", approvals}, {"acts", acts}, {"changes", changes}, {"violations", violations}, {"agents", agents}, {"locks", locks}, {"queue", queue}, {"runs", runs}, {"runners", runners},
	} {
		err := part.do(ctx, api, &s, now)
		var e *client.Error
		switch {
		case errors.As(err, &e) && e.Code == client.CodeForbidden:
			s.Missing = append(s.Missing, part.name)
		case err != nil:
			return s, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	slices.SortStableFunc(s.Needs, func(a, b Need) int { return cmp.Or(order(a.Kind)-order(b.Kind), cmp.Compare(a.Since, b.Since)) })
	return s, nil
}

func order(kind string) int { return map[string]int{"decide": 0, "broken": 1}[kind] }

func parse(at string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, at) // zero when it is none
	return t
}

func approvals(ctx context.Context, api *client.AgentCoordinationClient, s *Snapshot, _ time.Time) error {
	list, err := api.ListApprovals(ctx, client.ListApprovals{Limit: 200})
	for _, a := range list.Approvals {
		s.Needs = append(s.Needs, Need{"decide", "approve " + cmp.Or(a.Title, a.Branch, a.HeadSHA) + " (" + a.Policy + ")", a.Reason, a.OpenedAt})
	}
	return err
}

func acts(ctx context.Context, api *client.AgentCoordinationClient, s *Snapshot, _ time.Time) error {
	list, err := api.ListActs(ctx, client.ListActs{Limit: 200})
	for _, a := range list.Acts {
		s.Needs = append(s.Needs, Need{"decide", "approve " + a.Title, a.Why, a.CreatedAt})
	}
	return err
}

func changes(ctx context.Context, api *client.AgentCoordinationClient, s *Snapshot, now time.Time) error {
	list, err := api.ListChangesets(ctx, client.ListChangesets{Limit: 200})
	for _, c := range list.Changesets {
		if (c.State == "failed" || c.State == "error") && now.Sub(parse(cmp.Or(c.DecidedAt, c.CreatedAt))) < recent {
			s.Needs = append(s.Needs, Need{"broken", "change " + cmp.Or(c.Title, c.Branch) + " " + c.State, c.Reason, c.DecidedAt})
		}
	}
	return err
}

func violations(ctx context.Context, api *client.AgentCoordinationClient, s *Snapshot, now time.Time) error {
	list, err := api.ListViolations(ctx, client.ListViolations{Limit: 100})
	for _, v := range list.Violations {
		if now.Sub(parse(v.LastAt)) < overlook {
			s.Needs = append(s.Needs, Need{"broken", v.AgentID + " changed " + v.FilePath + ", which " + v.LockedBy + " held", v.Bypass, v.LastAt})
		}
	}
	return err
}

func agents(ctx context.Context, api *client.AgentCoordinationClient, s *Snapshot, _ time.Time) error {
	list, err := api.WhoIsActive(ctx, client.WhoIsActive{Limit: 200})
	for _, a := range list.Agents {
		if a.AgentType == "person" {
			continue
		}
		s.Agents = append(s.Agents, a)
		if a.Hold == "budget" {
			s.Needs = append(s.Needs, Need{"decide", a.AgentID + " is held by its budget", a.HoldReason, a.LastSeen})
		}
	}
	return err
}

func locks(ctx context.Context, api *client.AgentCoordinationClient, s *Snapshot, _ time.Time) error {
	list, err := api.CheckLocks(ctx, client.CheckLocks{Limit: most})
	if err != nil {
		return err
	}
	s.Locks = append(s.Locks, list.Locks...)
	slices.SortFunc(s.Locks, func(a, b client.Lock) int { return cmp.Compare(a.FilePath, b.FilePath) })
	waits, err := api.ListLockWaits(ctx, client.ListLockWaits{Limit: most})
	s.Waits = append(s.Waits, waits.Waits...)
	return err
}

func queue(ctx context.Context, api *client.AgentCoordinationClient, s *Snapshot, now time.Time) error {
	var err error
	if s.Stats, err = api.WorkStats(ctx, client.None{}); err != nil {
		return err
	}
	for _, states := range [][]string{{"claimed", "running", "verifying"}, {"ready"}, {"blocked"}} {
		list, err := api.ListWork(ctx, client.ListWork{Status: states, Limit: 100})
		if err != nil {
			return err
		}
		s.Tasks = append(s.Tasks, list.Tasks...)
	}
	gone, err := api.ListWork(ctx, client.ListWork{Status: []string{"failed", "dead"}, Limit: 100})
	for _, t := range gone.Tasks {
		if now.Sub(parse(t.UpdatedAt)) < recent {
			s.Needs = append(s.Needs, Need{"broken", "task " + t.TaskType + " " + t.State + ": " + t.Description, t.ErrorMessage, t.UpdatedAt})
		}
	}
	return err
}

func runs(ctx context.Context, api *client.AgentCoordinationClient, s *Snapshot, now time.Time) error {
	list, err := api.ListRuns(ctx, client.ListRuns{Newest: true, Limit: 100})
	for _, r := range list.Runs {
		switch {
		case r.Status == "pending" && now.Sub(parse(r.CreatedAt)) > slowRun:
			s.Needs = append(s.Needs, Need{"decide", "run " + r.RunID + " waits for a runner", "none that is online fits its demands", r.CreatedAt})
		case r.Status == "failed" && r.CompletedAt != nil && now.Sub(parse(*r.CompletedAt)) < recent:
			why := ""
			if r.Error != nil {
				why = *r.Error
			}
			s.Needs = append(s.Needs, Need{"broken", "run " + r.RunID + " failed", why, *r.CompletedAt})
		}
		s.Runs = append(s.Runs, r)
	}
	return err
}

func runners(ctx context.Context, api *client.AgentCoordinationClient, s *Snapshot, _ time.Time) error {
	list, err := api.ListRunners(ctx, client.None{})
	s.Runners = append(s.Runners, list.Runners...)
	return err
}
