package gateway

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

const (
	inboxBatch    = 64
	mostTries     = 12 // of a delivery that fails; with the pauses below that is about a day
	earlyTries    = 3  // of one that came before what it speaks of; about 14 s
	deliveryLease = time.Minute
)

// workInbox takes deliveries in order of arrival and does what they say. Each one's effect and its end are one transaction.
func (g *Gateway) workInbox(ctx context.Context) (int, error) {
	due, err := g.takeDeliveries(ctx)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(g.cfg.Workers)
	for _, line := range lines(due) {
		group.Go(func() error {
			for _, d := range line {
				if err := g.deliver(ctx, d); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return len(due), group.Wait()
}

// arrived is a delivery that was read: its body is gone.
type arrived struct {
	coord.Delivery
	event githubevent.Event
	err   error // of reading it
}

func read(d coord.Delivery) arrived {
	event, err := parse(d)
	d.Body = nil
	return arrived{d, event, err}
}

// takeDeliveries reads each body once, out of the driver's own memory.
func (g *Gateway) takeDeliveries(ctx context.Context) ([]arrived, error) {
	var due []arrived
	size := 0
	err := g.store.TakeDeliveries(ctx, inboxBatch, deliveryLease, func(d coord.Delivery) {
		size += len(d.Body)
		due = append(due, read(d))
	})
	if size >= largeBody {
		debug.FreeOSMemory() // as after receiving it
	}
	return due, err
}

// lines groups deliveries that speak of the same branch, which are done one after the other: a forge's clock has whole
// seconds, so within one the order of arrival says which of two heads is the newer.
func lines(due []arrived) [][]arrived {
	at := map[string]int{}
	var out [][]arrived
	for _, d := range due {
		key := d.DeliveryID
		if d.err == nil && d.event.Change != nil {
			key = strings.ToLower(d.event.Repository.Remote) + "\x00" + d.event.Change.Branch
		}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key], out = i, append(out, nil)
		}
		out[i] = append(out[i], d)
	}
	return out
}

// done is what a delivery did; ignored says why it did nothing.
type done struct {
	ignored string
	early   bool // what it speaks of may only not have been worked on yet: it is looked at again
	result  any
}

// deliver does one delivery. What cannot be read is ignored for good or dead at once; what cannot be done now is tried
// again. Only a database that is away makes it fail: then the lease runs out.
func (g *Gateway) deliver(ctx context.Context, d arrived) (err error) {
	ctx, span := trace.Start(trace.Under(ctx, d.Headers[traceHeader]), "deliver", trace.Consumer, "gateway.delivery", d.DeliveryID, "gateway.event", d.Event)
	defer func() { span.End(failure(err)) }()
	event := d.event
	if d.err != nil { // the same bytes say the same next time: only another program can do better
		return g.store.EndDelivery(ctx, d.Delivery, coord.DeliveryEnd{State: "failed", Action: event.Action, Error: d.err.Error()})
	}
	prepared, err := g.prepare(ctx, &event)
	switch {
	case err != nil:
	case event.Kind == githubevent.KindHead: // most of them are that: one statement
		var applied coord.AppliedHead
		if applied, err = g.store.DeliverHead(ctx, prepared.project, head(event), d.Delivery, event.Action); err == nil {
			g.store.KeepTrace(ctx, traceKind, applied.ChangesetID)
		}
	default:
		err = g.store.InTx(ctx, func(ctx context.Context) error {
			did, err := g.apply(ctx, event, prepared)
			if err != nil {
				return err
			}
			end := coord.DeliveryEnd{State: "processed", Action: event.Action, Result: did.result}
			if did.ignored != "" {
				end.State, end.Error = "ignored", did.ignored
			}
			if did.early && d.Attempts <= earlyTries {
				end.State, end.Retry = "failed", time.Second<<d.Attempts
			}
			return g.store.EndDelivery(ctx, d.Delivery, end)
		})
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil || fault.Is(err, client.CodeUnavailable) && errors.As(err, new(*fault.Error)) && prepared.outside == "" {
		return err
	}
	if refused(err) { // what was asked for is not to be had; asking again will not change that
		return g.store.EndDelivery(ctx, d.Delivery, coord.DeliveryEnd{State: "ignored", Action: event.Action, Error: err.Error()})
	}
	end := coord.DeliveryEnd{State: "failed", Action: event.Action, Error: err.Error()}
	if pause, busy := waitFor(err, min(2*time.Second<<min(d.Attempts, 13), 4*time.Hour)); busy || d.Attempts < mostTries {
		end.Retry = pause
	}
	g.log.WarnContext(ctx, "a delivery failed", "delivery", d.DeliveryID, "event", d.Event, "attempt", d.Attempts, "again_in", end.Retry.String(), "err", err)
	return g.store.EndDelivery(ctx, d.Delivery, end)
}

// traceKind is under what changesets' spans are remembered.
const traceKind = "changeset"

// failure is what a span says about an error: that there was one. Its text may quote what came from outside.
func failure(err error) string {
	if err == nil {
		return ""
	}
	return "failed"
}

// refused says whether an error is the answer of this service to what was asked for.
func refused(err error) bool {
	var f *fault.Error
	if !errors.As(err, &f) {
		return false
	}
	switch f.Code {
	case client.CodeInvalid, client.CodeForbidden, client.CodeNotFound, client.CodeConflict:
		return true
	}
	return false
}

func parse(d coord.Delivery) (githubevent.Event, error) {
	payload, err := githubevent.Unwrap(d.Headers["Content-Type"], d.Body)
	if err != nil {
		return githubevent.Event{}, err
	}
	return githubevent.Parse(d.Event, payload)
}

// prepared is what had to be asked outside before the transaction.
type prepared struct {
	project    int64    // of the repository; 0: the event needs none
	permission string   // of the sender, where the event asks for something
	teams      []string // of those wanted for the commit, the ones that a voter belongs to
	outside    string   // what was asked
}

// prepare finds the repository that the event means, by whose known name it goes on, and asks the forge what the event needs
// to be judged by. No transaction is open meanwhile.
func (g *Gateway) prepare(ctx context.Context, e *githubevent.Event) (prepared, error) {
	var did prepared
	if inRepository(*e) {
		known, err := g.repos.find(ctx, e.Repository.Remote, g.store.RepositoryOfRemote)
		if err != nil {
			return did, err
		}
		did.project, e.Repository.Remote = known.ProjectID, known.Remote
	}
	login := ""
	switch {
	case e.Kind == githubevent.KindComment && e.Comment.Command != nil && e.Comment.PullRequest:
		login = e.Comment.Author.Login
	case e.Kind == githubevent.KindReview && e.Review.State != "commented":
		login = e.Review.Reviewer.Login
	case e.Kind == githubevent.KindRerequest:
		login = e.Sender.Login
	}
	if login == "" || g.cfg.Forge == nil {
		did.permission = "none"
		return did, nil
	}
	did.outside = "permission"
	var err error
	if did.permission, err = g.cfg.Forge.Permission(ctx, e.Repository.Remote, login); err != nil {
		return did, fmt.Errorf("ask the forge what %s may do: %w", login, err)
	}
	if votes(*e) && slices.Contains(writers, did.permission) {
		if did.teams, err = g.teamsOf(ctx, did.project, *e, login); err != nil {
			return did, err
		}
	}
	return did, nil
}

// inRepository says whether what the event does is done in a repository's project.
func inRepository(e githubevent.Event) bool {
	switch e.Kind {
	case githubevent.KindIgnored, githubevent.KindPing, githubevent.KindInstallation, githubevent.KindWorkflowRun, githubevent.KindWorkflowJob:
		return false
	}
	return e.Repository.Remote != ""
}

// votes says whether an event is somebody's vote on a commit.
func votes(e githubevent.Event) bool {
	if e.Review != nil {
		return e.Review.State == "approved" || e.Review.State == "changes_requested"
	}
	return e.Comment != nil && e.Comment.Command != nil &&
		(e.Comment.Command.Name == githubevent.CommandApprove || e.Comment.Command.Name == githubevent.CommandDeny)
}

// apply does what an event says that tells of no head, in the transaction of ctx.
func (g *Gateway) apply(ctx context.Context, e githubevent.Event, p prepared) (done, error) {
	if e.Kind == githubevent.KindIgnored {
		return done{ignored: e.Ignored}, nil
	}
	if e.Kind == githubevent.KindPing || e.Kind == githubevent.KindInstallation {
		return done{result: map[string]any{"noted": string(e.Kind)}}, nil
	}
	if e.Repository.Remote == "" {
		return done{ignored: "it names no repository"}, nil
	}
	if e.Kind == githubevent.KindWorkflowRun || e.Kind == githubevent.KindWorkflowJob {
		return g.lookAtWorkflow(ctx, e)
	}
	project := p.project
	switch e.Kind {
	case githubevent.KindGone:
		h := head(e)
		h.Why = "its branch is gone"
		if e.Change.PullRequest != 0 {
			h.Why = "its pull request was closed"
			if e.Change.Merged {
				h.Why = "its pull request was merged"
			}
		}
		return done{result: map[string]any{"gone": h.Branch}}, g.store.ApplyGone(ctx, project, h)
	case githubevent.KindReview:
		return g.review(ctx, project, e, p)
	case githubevent.KindComment:
		return g.comment(ctx, project, e, p)
	case githubevent.KindRerequest:
		return g.rerequest(ctx, project, e, p)
	case githubevent.KindLabels:
		return g.labels(ctx, project, e)
	}
	return done{ignored: "nothing is done about " + string(e.Kind)}, nil
}

var isUUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// head is the commit that an event tells of, as the data layer takes it.
func head(e githubevent.Event) coord.Head {
	c := e.Change
	h := coord.Head{
		Source: "github", Repository: e.Repository.Remote, CloneURL: e.Repository.CloneURL, DefaultBranch: e.Repository.DefaultBranch,
		Branch: c.Branch, Ref: c.FetchRef, HeadSHA: c.Head, Before: c.Before, BaseRef: c.BaseRef, BaseSHA: c.Base,
		PRNumber: c.PullRequest, Fork: c.Fork, Title: c.Title, Actor: c.Author.Login, Contributors: c.Committers,
		Metadata: map[string]any{"url": c.URL},
	}
	if !e.At.IsZero() {
		h.At = &e.At
	}
	switch c.Source {
	case githubevent.SourceMergeGroup:
		h.Source = "merge_group"
	case githubevent.SourcePullRequest:
		h.Draft = &c.Draft
	case githubevent.SourcePush:
		if c.Branch == e.Repository.DefaultBranch { // what it is compared with is what it was before
			h.BaseRef, h.BaseSHA = c.Branch, c.Before
		}
	}
	if agent, task, ok := githubevent.AgentBranch(c.Branch); ok && !c.Fork {
		h.AgentID = agent
		if isUUID.MatchString(task) {
			h.TaskID = task
		}
	}
	return h
}

// lookAtWorkflow has the run looked at that a workflow belongs to; the event itself proves nothing.
func (g *Gateway) lookAtWorkflow(ctx context.Context, e githubevent.Event) (done, error) {
	w := e.WorkflowRun
	found, err := g.store.LookAtRun(ctx, "github", w.CorrelationID, fmt.Sprint(w.ID))
	if err != nil {
		return done{}, err
	}
	if !found {
		return done{ignored: "no run of ours"}, nil
	}
	return done{result: map[string]any{"workflow_run": w.ID}}, nil
}
