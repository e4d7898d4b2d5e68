// Package ntm verifies a change with the pipelines of NTM (named tmux manager) on this machine, for authors who are
// trusted: NTM isolates nothing.
//
// The promise: what NTM says of a run is only a sign of life. Its exit status is text, a step that failed may count as
// success, and a restart forgets what still runs. So the step is a wrapper of ours, which begins once however often it
// is started and writes result.json in one step into a folder of the gateway; that file is the verdict. A file that
// does not come is an infrastructure error.
package ntm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/local"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/source"
)

// Config says where NTM is. Zero values are the defaults that are named.
type Config struct {
	URL     string        // of ntm serve; "": http://127.0.0.1:7337
	Key     string        // API key, when ntm serve wants one
	Session string        // the tmux session that pipelines belong to; "": gwverify. It must exist (ntm create)
	Dir     string        // the runs' folders; both we and ntm serve must be able to write there
	Source  *source.Store // where commits come from
	HTTP    *http.Client  // nil: one of our own
}

const (
	callTimeout = 15 * time.Second
	// grace is what a run may take beyond its time: starting, unpacking, being killed.
	grace = 30 * time.Second
	// begin is how long a run may wait for its wrapper to begin before it is given up.
	begin = time.Minute
)

// Executor runs jobs through NTM. It holds nothing that a restart loses.
type Executor struct{ cfg Config }

var runID = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// New checks the configuration; it makes no call.
func New(cfg Config) (*Executor, error) {
	if cfg.Dir == "" || cfg.Source == nil {
		return nil, errors.New("NTM needs a folder for results and a source of commits")
	}
	var err error
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return nil, err
	}
	if cfg.URL == "" {
		cfg.URL = "http://127.0.0.1:7337"
	}
	cfg.URL = strings.TrimRight(cfg.URL, "/")
	if cfg.Session == "" {
		cfg.Session = "gwverify"
	}
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()} //nolint:errcheck,forcetypeassert // it is one
	}
	return &Executor{cfg: cfg}, os.MkdirAll(cfg.Dir, 0o700)
}

// Close lets go of connections; what runs goes on.
func (e *Executor) Close() { e.cfg.HTTP.CloseIdleConnections() }

// Name is ntm.
func (*Executor) Name() string { return "ntm" }

// Available says whether the policy names a command and the author is trusted enough to run it here.
func (e *Executor) Available(_ context.Context, job executors.Job) error {
	switch {
	case strings.TrimSpace(job.Policy.Command) == "":
		return fmt.Errorf("policy %s names no command to run", job.Policy.Name)
	case job.CloneURL == "":
		return errors.New("nobody said where the commit can be fetched")
	case job.Fork:
		return errors.New("NTM isolates nothing: it runs no changes from forks")
	case job.Trust < 2:
		return fmt.Errorf("NTM isolates nothing: it runs changes of authors with trust 2 and more, this one has %d", job.Trust)
	}
	return nil
}

func (e *Executor) dir(job executors.Job) (string, error) {
	if !runID.MatchString(job.ID) {
		return "", fmt.Errorf("%q is no id of a run", job.ID)
	}
	return filepath.Join(e.cfg.Dir, job.ID), nil
}

// Start prepares the run's folder and asks NTM to run its wrapper. Asked again it finds the folder; that NTM may start a
// second wrapper then does no harm.
func (e *Executor) Start(ctx context.Context, job executors.Job) (executors.Started, error) {
	dir, err := e.dir(job)
	if err != nil || job.Timeout < time.Second {
		return executors.Started{}, errors.Join(err, errors.New("a job needs an id and a timeout of a second or more"))
	}
	if err := e.Available(ctx, job); err != nil {
		return executors.Started{}, err
	}
	if old, ok := submitted(dir); ok && (exists(dir, dirLock) || exists(dir, fileResult)) {
		return e.started(old), nil
	}
	if err := e.prepare(ctx, dir, job); err != nil {
		return executors.Started{}, err
	}
	id, err := e.submit(ctx, dir, job)
	if err != nil {
		return executors.Started{}, err
	}
	raw, err := json.Marshal(submission{RunID: id, At: time.Now()})
	if err == nil {
		err = put(dir, fileSubmitted, raw)
	}
	return e.started(submission{RunID: id}), err
}

// submission is what NTM called the run, and when.
type submission struct {
	RunID string    `json:"run_id"`
	At    time.Time `json:"at"`
}

func (e *Executor) started(s submission) executors.Started {
	return executors.Started{ExternalID: s.RunID, ExternalURL: e.cfg.URL + "/api/v1/pipelines/" + url.PathEscape(s.RunID) + "/"}
}

func submitted(dir string) (submission, bool) {
	var s submission
	raw, err := os.ReadFile(filepath.Join(dir, fileSubmitted))
	return s, err == nil && json.Unmarshal(raw, &s) == nil
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// put writes a file in one step.
func put(dir, name string, content []byte) error {
	tmp := filepath.Join(dir, name+".new")
	if err := os.WriteFile(tmp, content, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, name))
}

func (e *Executor) prepare(ctx context.Context, dir string, job executors.Job) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if !exists(dir, fileSource) {
		if err := e.cfg.Source.Fetch(ctx, job.CloneURL, job.HeadSHA, job.Ref); err != nil {
			return err
		}
		file, err := e.cfg.Source.Archive(ctx, job.CloneURL, job.HeadSHA)
		if err != nil {
			return err
		}
		defer func() { _ = os.Remove(file) }()
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := put(dir, fileSource, raw); err != nil {
			return err
		}
	}
	return errors.Join(put(dir, fileCommand, []byte(job.Policy.Command+"\n")), put(dir, fileWrapper, []byte(wrapper(dir, job.ID, job.Timeout))))
}

// submit begins the pipeline. The key keeps NTM from beginning twice as long as it lives; the wrapper's lock does after.
func (e *Executor) submit(ctx context.Context, dir string, job executors.Job) (string, error) {
	body := map[string]any{
		"session": e.cfg.Session, "background": true,
		"workflow": map[string]any{"schema_version": "2.0", "name": "gateway-" + job.ID, "steps": []map[string]any{{
			"id": "verify", "command": "/bin/sh " + quote(filepath.Join(dir, fileWrapper)), "timeout": fmt.Sprintf("%ds", int((job.Timeout + grace).Seconds())),
		}}},
	}
	var out struct {
		RunID string `json:"run_id"`
	}
	if err := e.call(ctx, http.MethodPost, "/api/v1/pipelines/exec", job.ID, body, &out); err != nil {
		return "", err
	}
	if out.RunID == "" {
		return "", errors.New("NTM named no run")
	}
	return out.RunID, nil
}

// statusError is an answer of NTM that is none of the good ones.
type statusError struct {
	status int
	body   string
}

func (e *statusError) Error() string { return fmt.Sprintf("NTM answered %d: %s", e.status, e.body) }

func (e *Executor) call(ctx context.Context, method, path, key string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, e.cfg.URL+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if e.cfg.Key != "" {
		req.Header.Set("X-API-Key", e.cfg.Key)
	}
	res, err := e.cfg.HTTP.Do(req)
	if err != nil {
		return fmt.Errorf("NTM does not answer: %w", err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return &statusError{res.StatusCode, string(raw[:min(len(raw), 1000)])}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}

// result is what the wrapper writes.
type result struct {
	Run         string `json:"run"`
	SetupFailed bool   `json:"setup_failed"`
	Exit        *int   `json:"exit"`
	Started     int64  `json:"started"` // seconds of Unix time
	Ended       int64  `json:"ended"`
}

// Check reads the result file; while there is none it looks for signs of life.
func (e *Executor) Check(ctx context.Context, job executors.Job) (*executors.Outcome, error) {
	dir, err := e.dir(job)
	if err != nil {
		return nil, err
	}
	if !exists(dir, fileSubmitted) {
		return nil, fmt.Errorf("NTM run %s: %w", job.ID, executors.ErrLost)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, fileGiven)); err == nil {
		var given verdictGiven
		if json.Unmarshal(raw, &given) == nil {
			out := local.Ended(given.Conclusion, given.Reason, job.StartedAt)
			out.CompletedAt = given.At
			return e.ended(dir, out), nil
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, fileResult))
	if errors.Is(err, fs.ErrNotExist) || exists(dir, fileCancelled) {
		return e.unfinished(ctx, dir, job)
	}
	if err != nil {
		return nil, err
	}
	return e.ended(dir, verdict(raw, job)), nil
}

// verdictGiven is kept, so that a run which was given up stays so.
type verdictGiven struct {
	Conclusion executors.Conclusion `json:"conclusion"`
	Reason     string               `json:"reason"`
	At         time.Time            `json:"at"`
}

// verdict reads the wrapper's result; one that cannot be read is nobody's success.
func verdict(raw []byte, job executors.Job) executors.Outcome {
	var r result
	if err := json.Unmarshal(raw, &r); err != nil || r.Run != job.ID || r.Exit == nil {
		return local.Ended(executors.InfraError, fmt.Sprintf("the result file is not the wrapper's: %.200q", raw), job.StartedAt)
	}
	out := local.Ended(executors.Success, "", time.Unix(r.Started, 0))
	out.CompletedAt, out.ExitCode = time.Unix(r.Ended, 0), r.Exit
	took := time.Duration(r.Ended-r.Started) * time.Second
	switch {
	case r.SetupFailed:
		out.Conclusion, out.Reason = executors.InfraError, "the tree could not be unpacked"
	case (*r.Exit == 124 || *r.Exit == 137) && took >= job.Timeout.Truncate(time.Second): // as timeout(1) ends
		out.Conclusion, out.Reason = executors.TimedOut, fmt.Sprintf("the command did not end within %s", job.Timeout)
	case *r.Exit != 0:
		out.Conclusion, out.Reason = executors.Failure, fmt.Sprintf("the command ended with exit code %d", *r.Exit)
	}
	return out
}

// ended adds the output and lets go of the tree.
func (e *Executor) ended(dir string, out executors.Outcome) *executors.Outcome {
	if raw, err := os.ReadFile(filepath.Join(dir, fileLog)); err == nil {
		out.Output = local.Text(raw)
	}
	_ = os.RemoveAll(filepath.Join(dir, dirTree))
	_ = os.Remove(filepath.Join(dir, fileSource))
	return &out
}

// unfinished tells a run that goes on from one that will never write its result.
func (e *Executor) unfinished(ctx context.Context, dir string, job executors.Job) (*executors.Outcome, error) {
	give := func(c executors.Conclusion, why string) (*executors.Outcome, error) {
		// Whoever is still to begin must not begin any more.
		_ = os.Mkdir(filepath.Join(dir, dirLock), 0o700)
		killRun(dir)
		if raw, err := os.ReadFile(filepath.Join(dir, fileResult)); err == nil && c != executors.Cancelled { // it came meanwhile
			return e.ended(dir, verdict(raw, job)), nil
		}
		out := local.Ended(c, why, job.StartedAt)
		given, err := json.Marshal(verdictGiven{c, why, out.CompletedAt})
		if err == nil {
			err = put(dir, fileGiven, given)
		}
		return e.ended(dir, out), err
	}
	if exists(dir, fileCancelled) {
		return give(executors.Cancelled, local.ErrCancelled.Error())
	}
	sub, _ := submitted(dir)
	age := time.Since(sub.At)
	if age > job.Timeout+grace {
		return give(executors.InfraError, "no result came within the time; NTM or the wrapper was killed")
	}
	if exists(dir, filePID) {
		if age > 5*time.Second && !alive(dir) {
			return give(executors.InfraError, "the command was killed from outside before it had a result")
		}
		return nil, nil
	}
	var state struct {
		Status string `json:"status"`
	}
	err := e.call(ctx, http.MethodGet, "/api/v1/pipelines/"+url.PathEscape(sub.RunID)+"/", "", nil, &state)
	var answer *statusError
	switch {
	case errors.As(err, &answer) && answer.status == http.StatusNotFound && age > begin:
		return give(executors.InfraError, "NTM has forgotten the run before it began")
	case err != nil && age > begin:
		return give(executors.InfraError, "the run did not begin: "+err.Error())
	case err == nil && age > 5*time.Second && (state.Status == "failed" || state.Status == "cancelled" || state.Status == "completed") && !exists(dir, dirLock):
		return give(executors.InfraError, "NTM says "+state.Status+", and the command never began")
	}
	return nil, nil
}

// Cancel asks NTM to end the run, and ends what NTM may have forgotten.
func (e *Executor) Cancel(ctx context.Context, job executors.Job) error {
	dir, err := e.dir(job)
	if err != nil || !exists(dir, fileSubmitted) || exists(dir, fileResult) {
		return err
	}
	if err := put(dir, fileCancelled, nil); err != nil {
		return err
	}
	sub, _ := submitted(dir)
	_ = os.Mkdir(filepath.Join(dir, dirLock), 0o700)
	// NTM may not know it any more, or not be there; the processes are ours to end either way.
	asked := e.call(ctx, http.MethodPost, "/api/v1/pipelines/"+url.PathEscape(sub.RunID)+"/cancel", "", nil, nil)
	if killRun(dir) {
		asked = nil
	}
	var answer *statusError
	if errors.As(asked, &answer) || asked == nil {
		return nil
	}
	return asked
}

// Sweep removes folders of runs older than keep, and returns how many.
func (e *Executor) Sweep(_ context.Context, keep time.Duration) (int, error) {
	entries, err := os.ReadDir(e.cfg.Dir)
	removed := 0
	for _, entry := range entries {
		info, gone := entry.Info()
		if gone != nil || time.Since(info.ModTime()) < keep {
			continue
		}
		if fail := os.RemoveAll(filepath.Join(e.cfg.Dir, entry.Name())); fail != nil {
			err = errors.Join(err, fail)
			continue
		}
		removed++
	}
	return removed, err
}
