// Package e2b verifies a change in a virtual machine of E2B. The tree is packed here and uploaded: no credentials of the
// repository and no secrets of the gateway enter the sandbox. Its metadata names the run, so that whatever a crash left
// behind is found, followed on or killed.
//
// The promise: only an end event that says the command exited with 0 is a success. A stream that breaks off is followed
// up; a command nobody can be asked about is an infrastructure error. Every sandbox is deleted when its run ends.
package e2b

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/local"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/source"
)

// Config says where E2B is. Zero values are the defaults that are named.
type Config struct {
	Key        string        // API key; needed
	APIURL     string        // control plane; "": https://api.<Domain>
	Domain     string        // "": e2b.app
	SandboxURL string        // one address for all sandboxes, which are told apart by a header; "": one host for each
	Template   string        // of sandboxes when the policy names none; "": base
	NoInternet bool          // sandboxes reach nothing outside
	Owner      string        // names this installation in the metadata; "": agent-coordinator
	Source     *source.Store // where commits come from
	HTTP       *http.Client  // nil: one of our own
}

const (
	margin      = 2 * time.Minute // beyond the policy's time: unpacking, and a gateway that comes back
	setupTime   = 5 * time.Minute // uploading and unpacking
	reconnects  = 3
	archiveName = "gateway.tar.gz" // in the user's home
	treeName    = "gateway"
	metaRun     = "gateway_run"
	metaOwner   = "gateway_owner"
)

// Executor runs jobs in E2B. Close ends it.
type Executor struct {
	cfg  Config
	api  *api
	runs *local.Runs
}

// New checks the configuration; it makes no call.
func New(cfg Config) (*Executor, error) {
	if cfg.Key == "" || cfg.Source == nil {
		return nil, errors.New("E2B needs an API key and a source of commits")
	}
	cfg.Domain = or(cfg.Domain, "e2b.app")
	cfg.APIURL = strings.TrimRight(or(cfg.APIURL, "https://api."+cfg.Domain), "/")
	cfg.SandboxURL = strings.TrimRight(cfg.SandboxURL, "/")
	cfg.Template, cfg.Owner = or(cfg.Template, "base"), or(cfg.Owner, "agent-coordinator")
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()} //nolint:errcheck,forcetypeassert // it is one
	}
	return &Executor{cfg: cfg, api: &api{http: cfg.HTTP, base: cfg.APIURL, key: cfg.Key}, runs: local.New()}, nil
}

func or(v, otherwise string) string {
	if v == "" {
		return otherwise
	}
	return v
}

// Close cancels what runs and deletes its sandboxes.
func (e *Executor) Close() {
	e.runs.Close()
	e.cfg.HTTP.CloseIdleConnections()
}

// Name is e2b.
func (*Executor) Name() string { return "e2b" }

// Available says whether the policy names a command.
func (e *Executor) Available(_ context.Context, job executors.Job) error {
	if strings.TrimSpace(job.Policy.Command) == "" {
		return fmt.Errorf("policy %s names no command to run in a sandbox", job.Policy.Name)
	}
	if job.CloneURL == "" {
		return errors.New("nobody said where the commit can be fetched")
	}
	return nil
}

// Start makes a sandbox for the job, unless there is one, and returns when the service has acknowledged it.
func (e *Executor) Start(ctx context.Context, job executors.Job) (executors.Started, error) {
	if job.ID == "" || job.Timeout <= 0 {
		return executors.Started{}, errors.New("a job needs an id and a timeout")
	}
	if err := e.Available(ctx, job); err != nil {
		return executors.Started{}, err
	}
	if _, known := e.runs.Look(job.ID); known {
		return executors.Started{ExternalID: job.ExternalID}, nil
	}
	there, err := e.api.list(ctx, metaRun, job.ID)
	if err != nil {
		return executors.Started{}, err
	}
	if len(there) > 0 { // begun before a crash: Check follows it
		return executors.Started{ExternalID: there[0].ID}, nil
	}
	box, err := e.api.create(ctx, spec{
		Template: or(job.Policy.Template, e.cfg.Template), Timeout: int((job.Timeout + margin + setupTime).Seconds()),
		Metadata: map[string]string{metaRun: job.ID, metaOwner: e.cfg.Owner}, Internet: !e.cfg.NoInternet, Secure: true,
	})
	if err != nil {
		// The answer may have been lost, not the sandbox.
		return executors.Started{}, errors.Join(err, e.removeAll(job.ID))
	}
	err = e.runs.Begin(job.ID, func(ctx context.Context) executors.Outcome {
		return e.finish(ctx, job, box, func(ctx context.Context, d *envd, out *local.Tail) (processEnd, error) {
			return e.run(ctx, job, d, out)
		})
	})
	if err != nil {
		return executors.Started{}, errors.Join(err, e.removeAll(job.ID))
	}
	return executors.Started{ExternalID: box.ID}, nil
}

// removeAll deletes every sandbox of the run, under a time of its own: what called it may be out of time.
func (e *Executor) removeAll(run string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	there, err := e.api.list(ctx, metaRun, run)
	for _, box := range there {
		err = errors.Join(err, e.api.remove(ctx, box.ID))
	}
	return err
}

func (e *Executor) daemon(box created) *envd {
	base := e.cfg.SandboxURL
	if base == "" {
		base = "https://" + envdPort + "-" + box.ID + "." + or(box.Domain, e.cfg.Domain)
	}
	return &envd{http: e.cfg.HTTP, base: base, id: box.ID, token: box.Token}
}

// finish does the work, judges its end and deletes the sandbox.
func (e *Executor) finish(ctx context.Context, job executors.Job, box created, do func(context.Context, *envd, *local.Tail) (processEnd, error)) executors.Outcome {
	started, out := time.Now(), &local.Tail{}
	end, err := do(ctx, e.daemon(box), out)
	result := judge(ctx, job, end, err, started)
	result.Output = out.String()
	if err := e.removeAll(job.ID); err != nil {
		result.Output = local.Text([]byte(result.Output + "\nthe sandbox could not be deleted and ends by its own time: " + err.Error()))
	}
	result.CompletedAt = time.Now()
	return result
}

// judge turns how it ended into a verdict.
func judge(ctx context.Context, job executors.Job, end processEnd, err error, started time.Time) executors.Outcome {
	switch cause := context.Cause(ctx); {
	case errors.Is(err, errTimeUp):
		return local.Ended(executors.TimedOut, fmt.Sprintf("the command did not end within %s", job.Timeout), started)
	case errors.Is(err, source.ErrTooLarge), errors.Is(err, source.ErrRefused):
		return local.Ended(executors.Blocked, err.Error(), started)
	case err != nil && cause != nil:
		return local.Ended(executors.Cancelled, cause.Error(), started)
	case err != nil:
		return local.Ended(executors.InfraError, err.Error(), started)
	case !end.Exited || end.Error != "" && end.ExitCode == 0:
		return local.Ended(executors.InfraError, fmt.Sprintf("the command was ended from outside: %s %s", end.Status, end.Error), started)
	}
	out := local.Ended(executors.Success, "", started)
	out.ExitCode = &end.ExitCode
	if end.ExitCode != 0 {
		out.Conclusion, out.Reason = executors.Failure, fmt.Sprintf("the command ended with exit code %d", end.ExitCode)
	}
	return out
}

var errTimeUp = errors.New("the command's time is up")

// run brings the tree into the sandbox and runs the policy's command in it.
func (e *Executor) run(ctx context.Context, job executors.Job, d *envd, out *local.Tail) (processEnd, error) {
	setup, cancel := context.WithTimeoutCause(ctx, setupTime, errors.New("setting the sandbox up took too long"))
	defer cancel()
	if err := e.bring(setup, job, d, out); err != nil {
		return processEnd{}, err
	}
	timed, stop := context.WithTimeoutCause(ctx, job.Timeout, errTimeUp)
	defer stop()
	end, err := d.start(timed, job.ID, job.Policy.Command, treeName, map[string]string{
		"CI": "true", "COORD_RUN": job.ID, "COORD_HEAD_SHA": job.HeadSHA, "COORD_BASE_SHA": job.BaseSHA,
	}, out)
	return e.again(timed, job, d, out, end, err)
}

// again follows a command whose stream broke off.
func (e *Executor) again(ctx context.Context, job executors.Job, d *envd, out *local.Tail, end processEnd, err error) (processEnd, error) {
	for try := 1; errors.Is(err, errCut) && ctx.Err() == nil && try <= reconnects; try++ {
		if !pause(ctx, time.Duration(try)*200*time.Millisecond) {
			break
		}
		end, err = d.attach(ctx, job.ID, out)
	}
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errTimeUp) {
		err = cause
	}
	return end, err
}

func (e *Executor) bring(ctx context.Context, job executors.Job, d *envd, out *local.Tail) error {
	if err := e.cfg.Source.Fetch(ctx, job.CloneURL, job.HeadSHA, job.Ref); err != nil {
		return err
	}
	file, err := e.cfg.Source.Archive(ctx, job.CloneURL, job.HeadSHA)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file) }()
	if err := d.upload(ctx, archiveName, file); err != nil {
		return fmt.Errorf("uploading the tree: %w", err)
	}
	end, err := d.start(ctx, "unpack-"+job.ID, "mkdir -p "+treeName+" && tar -xzf "+archiveName+" -C "+treeName, "", nil, out)
	if err == nil && (!end.Exited || end.ExitCode != 0) {
		err = fmt.Errorf("unpacking the tree in the sandbox: %s", end.Status)
	}
	return err
}

// Check returns the outcome, or follows a command that another process began.
func (e *Executor) Check(ctx context.Context, job executors.Job) (*executors.Outcome, error) {
	if out, known := e.runs.Look(job.ID); known {
		return out, nil
	}
	there, err := e.api.list(ctx, metaRun, job.ID)
	if err != nil {
		return nil, err
	}
	if len(there) == 0 {
		return nil, fmt.Errorf("no sandbox of run %s: %w", job.ID, executors.ErrLost)
	}
	left := job.Timeout + setupTime
	if !job.StartedAt.IsZero() {
		left -= time.Since(job.StartedAt)
	}
	box, err := e.api.connect(ctx, there[0].ID, max(left, 0)+margin)
	if hasStatus(err, http.StatusNotFound) {
		return nil, fmt.Errorf("sandbox %s: %w", there[0].ID, executors.ErrLost)
	}
	if err != nil {
		return nil, err
	}
	box.ID = there[0].ID
	return nil, e.runs.Begin(job.ID, func(ctx context.Context) executors.Outcome {
		return e.finish(ctx, job, box, func(ctx context.Context, d *envd, out *local.Tail) (processEnd, error) {
			timed, stop := context.WithTimeoutCause(ctx, max(left, time.Second), errTimeUp)
			defer stop()
			end, err := d.attach(timed, job.ID, out)
			end, err = e.again(timed, job, d, out, end, err)
			if errors.Is(err, errNoProcess) {
				err = fmt.Errorf("the gateway restarted and the command's end was not seen: %w", err)
			}
			return end, err
		})
	})
}

// Cancel deletes the job's sandbox, whoever made it.
func (e *Executor) Cancel(_ context.Context, job executors.Job) error {
	if e.runs.Cancel(job.ID) {
		return nil // its end deletes the sandbox
	}
	return e.removeAll(job.ID)
}

// Sweep deletes sandboxes of this installation whose run is not live any more, and returns how many. It finds what a
// crash between two calls left to cost money.
func (e *Executor) Sweep(ctx context.Context, live func(run string) bool) (int, error) {
	there, err := e.api.list(ctx, metaOwner, e.cfg.Owner)
	removed := 0
	for _, box := range there {
		run := box.Metadata[metaRun]
		if _, known := e.runs.Look(run); known || live(run) {
			continue
		}
		if gone := e.api.remove(ctx, box.ID); gone != nil {
			err = errors.Join(err, gone)
			continue
		}
		removed++
	}
	return removed, err
}
