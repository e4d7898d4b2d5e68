package ntm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/executortest"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/gittest"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/source"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type bench struct {
	*gittest.Work
	t    *testing.T
	stub *stub
	cfg  Config
	exec *Executor
	head string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{Work: gittest.New(t), t: t, stub: newStub(t)}
	src, err := source.Open(source.Config{Dir: t.TempDir(), LocalRoots: []string{b.Root}})
	if err != nil {
		t.Fatal(err)
	}
	b.cfg = Config{URL: b.stub.URL, Dir: filepath.Join(t.TempDir(), "it's here"), Source: src}
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
	return executortest.NewJob(b.Remote, b.head, route.Policy{Name: "sql", Command: command})
}

func TestConformance(t *testing.T) {
	t.Parallel()
	executortest.Run(t, func(t *testing.T) executortest.Place {
		b := newBench(t)
		count := filepath.Join(t.TempDir(), "count")
		return executortest.Place{
			Executor: b.exec, Restart: func() executors.Executor { return b.start() }, Slack: 3 * time.Second,
			Job: func(kind executortest.Kind) executors.Job {
				return b.job(map[executortest.Kind]string{
					executortest.Succeeds: "echo x >>" + count, executortest.Fails: "exit 3", executortest.Hangs: "sleep 1000",
					executortest.Floods: "head -c 9000000 /dev/zero | tr '\\0' x",
				}[kind])
			},
			Ran: func(executors.Job) int {
				raw, _ := os.ReadFile(count)
				return strings.Count(string(raw), "x")
			},
		}
	})
}

func (b *bench) verify(command string, timeout time.Duration) executors.Outcome {
	b.t.Helper()
	job := b.job(command)
	job.Timeout = timeout
	executortest.Start(b.t, b.exec, &job)
	return executortest.Await(b.t, b.exec, job, time.Minute)
}

func TestTheCommandSeesTheTreeAndNoSecret(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	out := b.verify("cat greeting.txt; echo to stderr >&2; env | grep SECRET; exit 7", time.Minute)
	if out.Conclusion != executors.Failure || out.ExitCode == nil || *out.ExitCode != 7 || out.Output != "hello from the tree\nto stderr\n" {
		t.Errorf("%s %v: %s\n%q", out.Conclusion, out.ExitCode, out.Reason, out.Output)
	}
}

// What NTM was seen to do wrong, and what must come of it.
func TestFaultsAreNeverSuccess(t *testing.T) {
	t.Parallel()
	count := filepath.Join(t.TempDir(), "count")
	for name, tt := range map[string]struct {
		fault   func(*stub)
		command string
		want    executors.Conclusion
	}{
		"a failed step counts as success":     {func(s *stub) { s.keepGo = true }, "exit 1", executors.Failure},
		"the command is started twice":        {func(s *stub) { s.double = true }, "echo x >>" + count, executors.Success},
		"nothing is ever started":             {func(s *stub) { s.never = true }, "true", executors.InfraError},
		"NTM kills it before its time":        {func(s *stub) { s.shorter = 300 * time.Millisecond }, "sleep 1000", executors.InfraError},
		"NTM kills it and it says success":    {func(s *stub) { s.shorter = 300 * time.Millisecond; s.keepGo = true }, "sleep 1000", executors.InfraError},
		"a daemon holds the output":           {func(*stub) {}, "(sleep 1000 &) ; exit 0", executors.Success},
		"the wrapper kills what takes longer": {func(*stub) {}, "trap '' TERM; sleep 1000; sleep 1000", executors.TimedOut},
	} {
		b := newBench(t)
		tt.fault(b.stub)
		job := b.job(tt.command)
		job.Timeout = 2 * time.Second
		executortest.Start(t, b.exec, &job)
		if out := executortest.Await(t, b.exec, job, 30*time.Second); out.Conclusion != tt.want {
			t.Errorf("%s: %s: %s", name, out.Conclusion, out.Reason)
		}
		if again, err := b.exec.Check(t.Context(), job); err != nil || again == nil || again.Conclusion != tt.want {
			t.Errorf("%s, asked again: %v, %v", name, again, err)
		}
	}
	if raw, _ := os.ReadFile(count); string(raw) != "x\n" {
		t.Errorf("started twice it ran as often as %q", raw)
	}
}

func TestATornResult(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	job := b.job("true")
	executortest.Start(t, b.exec, &job)
	executortest.Await(t, b.exec, job, 20*time.Second)
	dir, _ := b.exec.dir(job)
	raw, err := os.ReadFile(filepath.Join(dir, fileResult))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(raw) - 1 {
		if err := os.WriteFile(filepath.Join(dir, fileResult), raw[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := b.exec.Check(t.Context(), job); err != nil || out == nil || out.Conclusion == executors.Success && n < len(raw)-2 {
			t.Fatalf("%q: %v, %v", raw[:n], out, err)
		}
	}
}

func TestResultsOfOthersAreNotBelieved(t *testing.T) {
	t.Parallel()
	job := executors.Job{ID: "a1", Timeout: time.Minute}
	for _, raw := range []string{"", "{", `{"run":"a1"`, `{}`, `{"run":"b2","exit":0}`, `{"run":"a1"}`, `{"run":"a1","exit":null}`, `{"run":"a1","exit":"0"}`, "null"} {
		if out := verdict([]byte(raw), job); out.Conclusion != executors.InfraError || out.Reason == "" {
			t.Errorf("%q: %s", raw, out.Conclusion)
		}
	}
	if out := verdict([]byte(`{"run":"a1","exit":0,"started":1,"ended":2}`), job); out.Conclusion != executors.Success {
		t.Errorf("the real one: %s", out.Conclusion)
	}
}

// NTM's server is killed: the command runs on as an orphan, NTM knows nothing of it any more, and the file tells.
func TestNTMForgetsTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	flag := filepath.Join(t.TempDir(), "go")
	job := b.job("until [ -e " + flag + " ]; do sleep 0.1; done; exit 4")
	executortest.Start(t, b.exec, &job)
	dir, _ := b.exec.dir(job)
	await(t, func() bool { return exists(dir, filePID) })
	b.stub.crash()
	if out, err := b.exec.Check(t.Context(), job); out != nil || err != nil {
		t.Fatalf("while the orphan runs: %v, %v", out, err)
	}
	again := job
	executortest.Start(t, b.start(), &again) // finds it
	if b.stub.started != 1 {
		t.Errorf("it was started %d times", b.stub.started)
	}
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := executortest.Await(t, b.exec, job, 20*time.Second); out.Conclusion != executors.Failure || *out.ExitCode != 4 {
		t.Errorf("%s: %s", out.Conclusion, out.Reason)
	}

	orphan := b.job("sleep 1000")
	executortest.Start(t, b.exec, &orphan)
	dir, _ = b.exec.dir(orphan)
	await(t, func() bool { return exists(dir, fileChild) })
	b.stub.crash()
	if err := b.exec.Cancel(t.Context(), orphan); err != nil {
		t.Errorf("cancel: %v", err)
	}
	await(t, func() bool { return !alive(dir) })
	if out := executortest.Await(t, b.exec, orphan, 10*time.Second); out.Conclusion != executors.Cancelled {
		t.Errorf("%s: %s", out.Conclusion, out.Reason)
	}
}

func await(t *testing.T, ready func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it never came to that")
		}
	}
}

func TestWhomItRunsFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, change := range map[string]func(*executors.Job){
		"a fork":         func(j *executors.Job) { j.Fork = true },
		"little trust":   func(j *executors.Job) { j.Trust = 1 },
		"no command":     func(j *executors.Job) { j.Policy.Command = " " },
		"no remote":      func(j *executors.Job) { j.CloneURL = "" },
		"no usable id":   func(j *executors.Job) { j.ID = "../x" },
		"no time at all": func(j *executors.Job) { j.Timeout = 0 },
	} {
		job := b.job("true")
		change(&job)
		if _, err := b.exec.Start(t.Context(), job); err == nil {
			t.Errorf("%s: it was started", name)
		}
	}
	b.stub.refusing = 500
	if _, err := b.exec.Start(t.Context(), b.job("true")); err == nil {
		t.Error("a refusal was taken for a start")
	}
	if b.stub.started != 0 {
		t.Errorf("%d commands were started", b.stub.started)
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.verify("true", time.Minute)
	if n, err := b.exec.Sweep(t.Context(), time.Hour); n != 0 || err != nil {
		t.Errorf("young: %d, %v", n, err)
	}
	if n, err := b.exec.Sweep(t.Context(), 0); n != 1 || err != nil {
		t.Errorf("old: %d, %v", n, err)
	}
}

// TestRealNTM runs the same against NTM itself, where it is installed (NTM_BIN or PATH), with tmux.
func TestRealNTM(t *testing.T) {
	t.Parallel()
	program := os.Getenv("NTM_BIN")
	if program == "" {
		program = "ntm"
	}
	program, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("SKIPPED: NTM is not installed here (NTM_BIN, PATH), so only the stub was exercised: %v", err)
	}
	home := t.TempDir()
	ntm := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Env = home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMUX_TMPDIR=" + home, "TERM=xterm"}
		return cmd
	}
	if out, err := ntm("create", "gwverify", "--panes=1", "--json").CombinedOutput(); err != nil {
		t.Fatalf("ntm create: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		cmd := exec.Command("tmux", "kill-server")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMUX_TMPDIR=" + home}
		_ = cmd.Run()
	})
	b := newBench(t)
	port := strings.TrimPrefix(b.stub.URL, "http://127.0.0.1:")
	b.stub.Close() // its port is free now
	serve := ntm("serve", "--host", "127.0.0.1", "--port", port)
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = serve.Process.Kill(); _ = serve.Wait() })
	job := b.job("cat greeting.txt; exit 3")
	await(t, func() bool { _, err := b.exec.Start(t.Context(), job); return err == nil })
	out := executortest.Await(t, b.exec, job, time.Minute)
	if out.Conclusion != executors.Failure || *out.ExitCode != 3 || out.Output != "hello from the tree\n" {
		t.Errorf("%s: %s\n%s", out.Conclusion, out.Reason, out.Output)
	}
}
