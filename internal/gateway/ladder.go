package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/loop"
	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

const (
	watchEvery  = 200 * time.Millisecond // how often runs in this process are looked at
	callTime    = time.Minute            // for one call of an executor
	cancelLease = time.Minute
	mostKept    = 1000 // findings stored of one run
	mostText    = 4096 // bytes of one text of a finding
	mostReason  = 1000 // bytes of a reason
)

// ladder hands runs to executors and reports how they end. The state is in the database; what is kept here is only what
// this process is about to do or must look at often.
type ladder struct {
	g    *Gateway
	mu   sync.Mutex
	base context.Context                  // of the running gateway; nil before
	busy map[string]bool                  // runs with a call under way
	then map[string]coord.VerificationJob // what to cancel as soon as that call is over
	near map[string]run                   // runs that go on in this process: looked at often
	load map[string]int                   // runs of each place that this process began and that are not over
	of   map[string]string
	wg   sync.WaitGroup
}

type run struct {
	job   coord.VerificationJob
	place *Place
}

func newLadder(g *Gateway) *ladder {
	return &ladder{g: g, busy: map[string]bool{}, then: map[string]coord.VerificationJob{}, near: map[string]run{}, load: map[string]int{}, of: map[string]string{}}
}

// step takes what there is to do, and begins doing it.
func (l *ladder) step(ctx context.Context) (int, error) {
	if len(l.g.places) == 0 {
		return 0, nil
	}
	names := make([]string, 0, len(l.g.places))
	slots := map[string]coord.Slot{}
	var grace time.Duration
	l.mu.Lock()
	for name, p := range l.g.places {
		names = append(names, name)
		slots[name] = coord.Slot{Free: p.Concurrency - l.load[name], CheckSeconds: max(p.CheckEvery, l.g.cfg.Lease/3).Seconds()}
		if p.CheckEvery >= time.Second {
			slots[name] = coord.Slot{Free: p.Concurrency - l.load[name], CheckSeconds: p.CheckEvery.Seconds()}
		}
		grace = max(grace, p.Grace)
	}
	l.mu.Unlock()
	cancels, err := l.g.store.TakeCancels(ctx, l.g.cfg.Owner, names, cancelLease)
	if err != nil {
		return 0, err
	}
	for _, j := range cancels {
		l.begin(j, l.cancel)
	}
	jobs, err := l.g.store.TakeRuns(ctx, l.g.cfg.Owner, slots, l.g.cfg.Lease, grace)
	if err != nil {
		return 0, err
	}
	for _, j := range jobs {
		if j.Action == "start" {
			l.begin(j, l.start)
		} else {
			l.begin(j, l.check)
		}
	}
	return 0, nil // what was begun says itself when there is more
}

// begin runs do for a job, unless a call for it is under way.
func (l *ladder) begin(j coord.VerificationJob, do func(context.Context, run)) {
	place := l.g.places[j.Executor]
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.base == nil || l.base.Err() != nil || place == nil {
		return
	}
	if l.busy[j.ID] {
		if j.Action == "cancel" {
			l.then[j.ID] = j
		}
		return
	}
	l.busy[j.ID] = true
	if j.Action == "start" && l.of[j.ID] == "" {
		l.load[j.Executor]++
		l.of[j.ID] = j.Executor
	}
	l.wg.Go(func() {
		ctx, cancel := context.WithTimeout(l.base, callTime)
		defer cancel()
		defer l.over(j.ID)
		do(ctx, run{j, place})
	})
}

// over ends a call; a cancel that came meanwhile is next.
func (l *ladder) over(id string) {
	l.mu.Lock()
	delete(l.busy, id)
	next, ok := l.then[id]
	delete(l.then, id)
	l.mu.Unlock()
	if ok {
		l.begin(next, l.cancel)
	}
}

// forget gives a run's slot back.
func (l *ladder) forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.near, id)
	if name, ok := l.of[id]; ok {
		l.load[name]--
		delete(l.of, id)
	}
}

func (l *ladder) start(ctx context.Context, r run) {
	ctx, span := trace.Start(trace.Under(ctx, l.g.store.TraceOf(ctx, traceKind, r.job.ChangesetID)), "verify", trace.Producer,
		"gateway.changeset", r.job.ChangesetID, "gateway.run", r.job.ID, "gateway.executor", r.place.Name(), "gateway.policy", r.job.Policy.Name)
	began, err := r.place.Start(ctx, job(r.job))
	defer func() { span.End(failure(err)) }()
	switch {
	case l.base.Err() != nil:
		return // whoever has the lease next starts it again, which is harmless
	case err != nil:
		l.end(r, coord.VerificationEnd{Conclusion: string(executors.InfraError), Reason: fmt.Sprintf("%s could not begin it: %v", r.place.Name(), err)})
		return
	}
	r.job.ExternalID, r.job.ExternalURL = began.ExternalID, began.ExternalURL
	live, err := l.g.store.VerificationStarted(ctx, r.job, began.ExternalID, began.ExternalURL)
	if err != nil {
		l.g.log.WarnContext(ctx, "a run was begun and could not be recorded; it is found again by its id", "run", r.job.ID, "err", err)
	}
	if err == nil && !live {
		l.g.byName["runs"].poke() // it is to be ended where it runs
		l.forget(r.job.ID)
		return
	}
	if r.place.CheckEvery < time.Second {
		l.mu.Lock()
		l.near[r.job.ID] = r
		l.mu.Unlock()
	}
}

func (l *ladder) check(ctx context.Context, r run) {
	out, err := r.place.Check(ctx, job(r.job))
	switch {
	case errors.Is(err, executors.ErrLost):
		l.end(r, coord.VerificationEnd{Conclusion: string(executors.InfraError), Reason: fmt.Sprintf("%s lost it", r.place.Name())})
	case err != nil && l.base.Err() == nil:
		l.g.log.DebugContext(ctx, "a run could not be looked at now", "run", r.job.ID, "executor", r.place.Name(), "err", err)
	case err == nil && out != nil:
		l.end(r, ended(*out))
	}
}

func (l *ladder) cancel(ctx context.Context, r run) {
	problem := ""
	if err := r.place.Cancel(ctx, job(r.job)); err != nil {
		problem = err.Error()
	}
	if problem == "" {
		l.forget(r.job.ID)
	}
	if err := l.g.store.CancelDone(ctx, r.job, problem); err != nil && l.base.Err() == nil {
		l.g.log.WarnContext(ctx, "a cancel could not be recorded; it is repeated", "run", r.job.ID, "err", err)
	}
}

// end reports how a run ended, as often as it takes while this process lives; if it does not, the next lease finds out.
func (l *ladder) end(r run, e coord.VerificationEnd) {
	l.mu.Lock()
	delete(l.near, r.job.ID)
	l.mu.Unlock()
	for n := 0; ; n++ {
		ctx, cancel := context.WithTimeout(l.base, callTime)
		_, err := l.g.store.VerificationEnded(ctx, r.job.ProjectID, r.job.ID, e)
		cancel()
		if err == nil || l.base.Err() != nil {
			break
		}
		l.g.log.WarnContext(l.base, "the end of a run could not be recorded; it is tried again", "run", r.job.ID, "err", err)
		if loop.Pause(l.base, min(failurePause<<min(n, 8), maxPause)) != nil {
			break
		}
	}
	l.forget(r.job.ID)
	l.g.byName["runs"].poke()
}

// watch looks at the runs of this process until ctx is done, then waits for what is under way.
func (l *ladder) watch(ctx context.Context) {
	l.mu.Lock()
	l.base = ctx
	l.mu.Unlock()
	l.g.byName["runs"].poke()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	defer l.wg.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		l.mu.Lock()
		near := make([]run, 0, len(l.near))
		for _, r := range l.near {
			near = append(near, r)
		}
		l.mu.Unlock()
		for _, r := range near {
			r.job.Action = "check"
			l.begin(r.job, func(ctx context.Context, _ run) { l.check(ctx, r) })
		}
	}
}

// job is what executors are told.
func job(j coord.VerificationJob) executors.Job {
	return executors.Job{
		ID: j.ID, Changeset: j.ChangesetID, Project: j.Project, Repository: j.Repository, CloneURL: j.CloneURL, HeadSHA: j.HeadSHA, BaseSHA: j.BaseSHA,
		Ref: j.Ref, PullNumber: j.PullNumber, Fork: j.Fork, Trust: j.Trust, Files: j.Files, Truncated: j.Truncated, Policy: j.Policy,
		Attempt: j.Attempt, Timeout: time.Duration(j.TimeoutSeconds) * time.Second, StartedAt: j.DispatchedAt, ExternalID: j.ExternalID, ExternalURL: j.ExternalURL,
	}
}

var conclusions = map[executors.Conclusion]bool{
	executors.Success: true, executors.Failure: true, executors.TimedOut: true, executors.Cancelled: true, executors.InfraError: true, executors.Blocked: true,
}

// ended is an outcome as it is stored. A conclusion that is not one of ours is no success.
func ended(o executors.Outcome) coord.VerificationEnd {
	e := coord.VerificationEnd{
		Conclusion: string(o.Conclusion), Reason: tail(o.Reason, mostReason), ExitCode: o.ExitCode, Output: tail(o.Output, executors.MaxOutput),
		FindingsTotal: len(o.Findings), ExternalURL: o.ExternalURL,
	}
	if !conclusions[o.Conclusion] {
		e.Conclusion, e.Reason = string(executors.InfraError), fmt.Sprintf("the executor ended it with %q, which says nothing", o.Conclusion)
	}
	if !o.StartedAt.IsZero() {
		e.StartedAt = &o.StartedAt
	}
	if !o.CompletedAt.IsZero() {
		e.CompletedAt = &o.CompletedAt
	}
	for _, f := range o.Findings[:min(len(o.Findings), mostKept)] {
		for _, text := range []*string{&f.Tool, &f.Rule, &f.Level, &f.Message, &f.Path, &f.Fingerprint} {
			*text = tail(*text, mostText)
		}
		e.Findings = append(e.Findings, client.Finding(f))
	}
	return e
}
