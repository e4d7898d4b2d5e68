package e2b

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/e2b/e2btest"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/executortest"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/gittest"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/source"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type bench struct {
	*gittest.Work
	t    *testing.T
	fake *e2btest.Fake
	cfg  Config
	exec *Executor
	head string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("SKIPPED: the fake runs commands with bash")
	}
	b := &bench{Work: gittest.New(t), t: t, fake: e2btest.New(t.TempDir(), "e2b_key")}
	t.Cleanup(b.fake.Close)
	src, err := source.Open(source.Config{Dir: t.TempDir(), LocalRoots: []string{b.Root}})
	if err != nil {
		t.Fatal(err)
	}
	b.cfg = Config{Key: "e2b_key", APIURL: b.fake.URL, SandboxURL: b.fake.URL, Source: src}
	b.Write("greeting.txt", "hello from the tree\n")
	b.head = b.Commit("main")
	b.exec = b.start()
	return b
}

func (b *bench) start() *Executor {
	b.t.Helper()
	e, err := New(b.cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(e.Close)
	return e
}

func (b *bench) job(command string) executors.Job {
	return executortest.NewJob(b.Remote, b.head, route.Policy{Name: "deps", Command: command})
}

func (b *bench) verify(command string) executors.Outcome {
	b.t.Helper()
	job := b.job(command)
	executortest.Start(b.t, b.exec, &job)
	return executortest.Await(b.t, b.exec, job, time.Minute)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	executortest.Run(t, func(t *testing.T) executortest.Place {
		b := newBench(t)
		return executortest.Place{
			Executor: b.exec, Restart: func() executors.Executor { return b.start() }, Slack: 3 * time.Second,
			Job: func(kind executortest.Kind) executors.Job {
				return b.job(map[executortest.Kind]string{
					executortest.Succeeds: "true COORD", executortest.Fails: "false", executortest.Hangs: "sleep 1000",
					executortest.Floods: "head -c 3000000 /dev/zero | tr '\\0' x",
				}[kind])
			},
			Ran: func(executors.Job) int { return b.fake.Ran("true COORD") },
		}
	})
}

func TestTheCommandSeesTheTreeAndNothingElse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	out := b.verify("cat greeting.txt; echo sha=$COORD_HEAD_SHA; env | grep -i -e e2b -e token -e key; exit 3")
	if out.Conclusion != executors.Failure || out.ExitCode == nil || *out.ExitCode != 3 {
		t.Errorf("%s %v: %s", out.Conclusion, out.ExitCode, out.Reason)
	}
	if out.Output != "hello from the tree\nsha="+b.head+"\n" {
		t.Errorf("output: %q", out.Output)
	}
	if left := b.fake.Running(); len(left) > 0 {
		t.Errorf("sandboxes are left: %v", left)
	}
}

func TestFaultsAreNeverSuccess(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		faults e2btest.Faults
		want   executors.Conclusion
	}{
		"two answers of 429":              {e2btest.Faults{RateLimited: 2}, executors.Success},
		"the stream breaks twice":         {e2btest.Faults{CutStream: 2}, executors.Success},
		"the stream breaks for good":      {e2btest.Faults{CutStream: 1000}, executors.InfraError},
		"the end is never told":           {e2btest.Faults{NoEnd: true}, executors.InfraError},
		"the sandbox dies under the work": {e2btest.Faults{DieAfter: 2}, executors.InfraError},
	} {
		b := newBench(t)
		b.fake.Faults = tt.faults
		out := b.verify("for i in $(seq 20); do echo $i; sleep 0.2; done")
		if out.Conclusion != tt.want {
			t.Errorf("%s: %s: %s", name, out.Conclusion, out.Reason)
		}
		if left := b.fake.Running(); len(left) > 0 {
			t.Errorf("%s: sandboxes are left: %v", name, left)
		}
	}
}

func TestALostAnswerLeavesNoSandbox(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.Faults.LoseCreated = true
	job := b.job("true")
	if _, err := b.exec.Start(t.Context(), job); err == nil {
		t.Fatal("a lost answer was taken for a start")
	}
	if left := b.fake.Running(); len(left) > 0 {
		t.Errorf("sandboxes are left: %v", left)
	}
}

func TestAnotherProcessFollowsTheCommand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	job := b.job("echo begun; until [ -e go ]; do sleep 0.1; done; echo done; exit 4")
	executortest.Start(t, b.exec, &job)
	await(t, func() bool { return b.fake.Ran("echo begun") == 1 })
	other := b.start()
	if out, err := other.Check(t.Context(), job); out != nil || err != nil {
		t.Fatalf("while it runs: %v, %v", out, err)
	}
	// The first process is killed: its streams end, its sandbox stays.
	again, err := other.Start(t.Context(), job)
	if err != nil || again.ExternalID != job.ExternalID {
		t.Errorf("started again: %v, %v", again, err)
	}
	d := other.daemon(created{ID: job.ExternalID, Token: accessOf(t, other, job.ExternalID)})
	if _, err := d.start(t.Context(), "x", "touch "+treeName+"/go", "", nil, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	out := executortest.Await(t, other, job, 20*time.Second)
	if out.Conclusion != executors.Failure || out.ExitCode == nil || *out.ExitCode != 4 || !strings.Contains(out.Output, "done") {
		t.Errorf("%s %v: %s\n%s", out.Conclusion, out.ExitCode, out.Reason, out.Output)
	}
}

func accessOf(t *testing.T, e *Executor, id string) string {
	t.Helper()
	box, err := e.api.connect(t.Context(), id, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return box.Token
}

func await(t *testing.T, ready func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for !ready() {
		if !pause(ctx, 20*time.Millisecond) {
			t.Fatal("it never came to that")
		}
	}
}

func TestOrphansAreSwept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, run := range []string{"dead", "live"} {
		if _, err := b.exec.api.create(t.Context(), spec{Template: "base", Timeout: 60, Metadata: map[string]string{metaRun: run, metaOwner: "agent-coordinator"}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.exec.api.create(t.Context(), spec{Template: "base", Timeout: 60, Metadata: map[string]string{metaOwner: "somebody else"}}); err != nil {
		t.Fatal(err)
	}
	n, err := b.exec.Sweep(t.Context(), func(run string) bool { return run == "live" })
	if n != 1 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	if left := b.fake.Running(); len(left) != 2 {
		t.Errorf("left: %v", left)
	}
}

func TestWrongKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cfg.Key = "e2b_other"
	e := b.start()
	if _, err := e.Start(t.Context(), b.job("true")); !hasStatus(err, 401) {
		t.Errorf("start: %v", err)
	}
	if _, err := e.Check(t.Context(), b.job("true")); err == nil || errors.Is(err, executors.ErrLost) {
		t.Errorf("check: %v", err)
	}
	if err := b.exec.Available(t.Context(), b.job("")); err == nil {
		t.Error("a policy without a command is available")
	}
}

func TestEnvelopes(t *testing.T) {
	t.Parallel()
	env := func(flag byte, body string) string { return string([]byte{flag, 0, 0, 0, byte(len(body))}) + body }
	const data, end, zero = `{"event":{"data":{"stdout":"aGk="}}}`, `{"event":{"end":{"exitCode":3,"exited":true,"status":"exit status 3"}}}`, `{"event":{"end":{"exited":true}}}`
	for name, tt := range map[string]struct {
		in   string
		code int
		err  error
	}{
		"ends":               {env(0, data) + env(0, end) + env(2, "{}"), 3, nil},
		"zero is left out":   {env(0, zero) + env(2, "{}"), 0, nil},
		"no end":             {env(0, data) + env(2, "{}"), 0, errCut},
		"empty":              {"", 0, errCut},
		"torn head":          {env(0, data) + "\x00\x00", 0, errCut},
		"torn body":          {env(0, data)[:12], 0, errCut},
		"end, then cut":      {env(0, end), 3, nil},
		"huge":               {"\x00\xff\xff\xff\xff", 0, errCut},
		"no JSON":            {env(0, "nonsense"), 0, errCut},
		"error at the end":   {env(2, `{"error":{"code":"unavailable","message":"x"}}`), 0, errCut},
		"unknown process":    {env(2, `{"error":{"code":"not_found","message":"x"}}`), 0, errNoProcess},
		"keepalive is quiet": {env(0, `{"event":{"keepalive":{}}}`) + env(0, zero), 0, nil},
	} {
		got, err := read(strings.NewReader(tt.in), &bytes.Buffer{})
		if !errors.Is(err, tt.err) || got.ExitCode != tt.code || err == nil && !got.Exited {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// The fake holds what E2B's own SDK expects of the service, so what our client does with it means something.
// test/e2e drives it with that SDK.
