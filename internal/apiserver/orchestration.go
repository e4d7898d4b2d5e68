package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/live"
	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

const (
	runnerTopics  = "u:"          // prefix of the topics of single runners; the sweep wakes those that missed something
	liveTopic     = "r:live"      // the live log has news
	callbackTopic = "o:callbacks" // a parent may have to be told
)

// runnerPolls is the long-poll of runners: look, or wait until woken. All waiting runners of this process are looked
// after together, by the hub's re-check of lanes and the sweep; none asks the database by itself while it waits.
type runnerPolls struct {
	store *coord.Store
	hub   *dispatch.Hub
}

// Poll implements httpapi.RunnerPolls.
func (r runnerPolls) Poll(ctx context.Context, c ident.Caller, runner string) (any, error) {
	end := time.NewTimer(r.store.Orchestration().PollTimeout - 200*time.Millisecond)
	defer end.Stop()
	w := r.hub.Park(r.store.RunnerTopics(runner)...)
	defer func() { w.Close() }()
	unit, full := "", false
	for {
		out, err := r.store.PollRunner(ctx, c, runner)
		switch {
		case err != nil:
			return nil, err
		case out.Unknown:
			return nil, fault.New(client.CodeUnauthenticated, "Runner not registered", "it never registered, was silent for too long, or was deregistered",
				"register again: POST /runner/register")
		case len(out.StopRuns) > 0:
			return map[string]any{"stop_runs": out.StopRuns}, nil
		case out.Deregistered:
			return map[string]any{"deregistered": true}, nil
		case out.Run != nil:
			return r.delivery(ctx, out.Run), nil
		}
		switch {
		case out.Full && !full: // it waits for a place only: what comes is for others
			w.Close()
			w = r.hub.Park(runnerTopics + runner)
			if full = true; strings.HasPrefix(unit, "w:") {
				r.hub.Local([]string{unit})
			}
			continue
		case !out.Full && w.Add(append(r.store.RunnerTopics(runner), out.TaskLanes...)...):
			full = false
			continue // something may have come to a lane before this poll was parked on it
		}
		select {
		case <-w.C:
			unit = w.Unit()
			w.Requeue()
		case <-end.C:
			return nil, nil //nolint:nilnil // nothing to tell is an answer
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// liveFeed joins the hub of live entries with the state that a view begins with.
type liveFeed struct {
	store *coord.Store
	hub   *live.Hub
}

// Open implements httpapi.LiveFeed.
// delivery is what a runner gets: the run, and while OpenTelemetry is on the span that it began with.
func (r runnerPolls) delivery(ctx context.Context, run json.RawMessage) map[string]any {
	out := map[string]any{"run": run}
	if trace.Enabled() {
		var id struct {
			RunID string `json:"run_id"`
		}
		if json.Unmarshal(run, &id) == nil {
			if parent := r.store.TraceOf(ctx, "run", id.RunID); parent != "" {
				out["traceparent"] = parent
			}
		}
	}
	return out
}

func (f liveFeed) Open(ctx context.Context, c ident.Caller, q httpapi.LiveQuery) (httpapi.LiveStream, error) {
	s, err := f.hub.Open(ctx, live.Filter{Project: c.ProjectID, Session: q.SessionID}, q.After)
	if err != nil {
		return nil, err
	}
	out := &liveStream{Stream: s}
	if !q.Init {
		return out, nil
	}
	// The position was taken before the list is read: a change in between comes twice, never not at all.
	list, err := f.store.ListOrchestratedSessions(ctx, c, client.ListOrchestratedSessions{})
	if err != nil {
		s.Close()
		return nil, err
	}
	sessions := slices.DeleteFunc(list.Sessions, func(o client.OrchestratedSession) bool { return q.SessionID != "" && o.SessionID != q.SessionID })
	out.init = &httpapi.LiveFrame{Seq: s.At(), AtMillis: time.Now().UnixMilli(), Type: "init", Data: map[string]any{"sessions": sessions}}
	return out, nil
}

type liveStream struct {
	*live.Stream
	init *httpapi.LiveFrame
}

// Next implements httpapi.LiveStream.
func (l *liveStream) Next(ctx context.Context) (httpapi.LiveFrame, error) {
	if first := l.init; first != nil {
		l.init = nil
		return *first, nil
	}
	e, err := l.Stream.Next(ctx)
	return httpapi.LiveFrame{Seq: e.Seq, AtMillis: e.AtMillis, Type: e.Type, Data: e.Data}, err
}

// liveSource reads the log through the data layer.
func liveSource(store *coord.Store) live.Source {
	return func(ctx context.Context, after int64, limit int) (live.Page, error) {
		p, err := store.LiveAfter(ctx, after, limit)
		out := live.Page{Head: p.Head, Oldest: p.Oldest, Last: p.Last}
		for _, r := range p.Rows {
			out.Entries = append(out.Entries, live.Entry{Seq: r.Seq, Project: r.ProjectID, Type: r.Type, Session: r.SessionID, AtMillis: r.AtMillis, Data: r.Data})
		}
		return out, err
	}
}

// orchestrate prepares what sessions, runs and runners need in this process.
func (s *server) orchestrate() {
	o := s.cfg.Orchestration
	s.store.Orchestrate(coord.OrchestrationSettings{
		PollTimeout: o.PollTimeout.D(), Heartbeat: o.HeartbeatInterval.D(), Stale: o.StaleThreshold.D(), Remove: o.RemoveThreshold.D(),
		NoMatch: o.NoMatchTimeout.D(), ClaimLease: o.ClaimLease.D(), MaxDepth: o.MaxDepth, MaxChildren: o.MaxChildren,
	})
	s.live = live.New(liveSource(s.store))
	s.callbacks, s.blueprints, s.classes = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
	s.metrics.Gauge("coord_live_clients", "Open live views.", func() float64 { return float64(s.live.Clients()) })
	s.hub.Observe(func(topic string) {
		if topic == liveTopic || topic == "" {
			s.live.Kick()
		}
		if topic == callbackTopic || topic == "" {
			kick(s.callbacks)
		}
		if topic == "" || strings.HasPrefix(topic, "w:") && strings.HasSuffix(topic, ":1:+") {
			kick(s.classes)
		}
		if topic == coord.BlueprintTopic || topic == "" {
			kick(s.blueprints)
		}
	})
}

// kick says once that there is something to do. It never blocks.
func kick(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// deliverCallbacks tells idle parents what became of their children as soon as there may be something to tell. What it
// misses, the sweep finds.
func (s *server) deliverCallbacks(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.callbacks:
		}
		for {
			n, err := s.store.DeliverCallbacks(ctx, sweepLimit)
			if err != nil && ctx.Err() == nil {
				s.cfg.Log.WarnContext(ctx, "callbacks could not be delivered now; the sweep does it later", "err", err)
			}
			if err != nil || n == 0 {
				break
			}
		}
	}
}

// tellNewClasses has waiting runners look again when there is a new kind of task that runners execute. Other kinds, which
// agents make all the time, wake nobody.
func (s *server) tellNewClasses(ctx context.Context) {
	known := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.classes:
		}
		n, err := s.store.ExecutorClasses(ctx)
		if err == nil && n > known {
			known = n
			s.hub.Local([]string{fmt.Sprintf("w:0:%d:+", coord.RunQueue)})
		}
	}
}

// sweepLimit bounds one sweep of runs, per kind of work.
const sweepLimit = 100

// sweepRuns recovers runs once, then does what is due.
func (s *server) sweepRuns(ctx context.Context) (int, error) {
	recovered := 0
	if !s.recovered.Load() {
		n, err := s.store.RecoverRuns(ctx, s.cfg.RecoveryMode)
		if err != nil {
			return 0, fmt.Errorf("recover runs: %w", err)
		}
		s.recovered.Store(true)
		if recovered = n; n > 0 {
			s.cfg.Log.InfoContext(ctx, "runs of runners that are gone were recovered", "runs", n, "mode", s.cfg.RecoveryMode)
		}
	}
	n, err := s.store.SweepRuns(ctx, sweepLimit)
	return recovered + n, err
}
