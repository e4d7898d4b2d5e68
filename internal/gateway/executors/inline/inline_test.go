package inline

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/executortest"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/gittest"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/source"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(state())
	if err := goleak.Find(); err != nil && code == 0 {
		os.Stderr.WriteString(err.Error())
		code = 1
	}
	os.Exit(code)
}

// state is one state folder for all tests: filling Go's cache takes a while.
var state = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "coord-inline")
	if err != nil {
		panic(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		panic(err)
	}
	return dir
})

// toolPath is where tests find tools: bin/tools of `make verify-tools`, node's of `make e2e`, then the system's.
func toolPath(t testing.TB) []string {
	t.Helper()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{filepath.Join(root, "bin", "tools"), filepath.Join(root, "bin", "tools", "node_modules", ".bin")}, DefaultPath...)
}

// bench is an executor over a repository.
type bench struct {
	*gittest.Work
	t    testing.TB
	cfg  Config
	exec *Executor
}

func newBench(t testing.TB, tools ...Tool) *bench {
	t.Helper()
	w := gittest.New(t)
	b := &bench{Work: w, t: t}
	src, err := source.Open(source.Config{Dir: filepath.Join(open(t), "source"), LocalRoots: []string{w.Root}})
	if err != nil {
		t.Fatal(err)
	}
	b.cfg = Config{Source: src, Dir: state(), Path: toolPath(t), Tools: tools, Warm: []string{"fmt"}, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	if len(tools) > 0 { // these alone: looking for the others, and warming Go's cache, takes its time
		b.cfg.Path = []string{"/usr/bin", "/bin"}
	}
	b.exec = b.start()
	if _, err := b.exec.Probe(t.Context()); err != nil {
		if os.Getenv("COORD_REQUIRE_SANDBOX") == "" {
			t.Skipf("SKIPPED: no sandbox here, so nothing of tier 0 is shown to work: %v", err)
		}
		t.Fatal(err)
	}
	return b
}

// open makes a folder that everybody may enter: t.TempDir is closed to others.
func open(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "coord-inline")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
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

func (b *bench) job(base, head string, tools ...string) executors.Job {
	job := executortest.NewJob(b.Remote, head, route.Policy{Name: "static-all", Tools: tools})
	job.BaseSHA, job.Timeout = base, 2*time.Minute
	return job
}

// verify runs the tools on the change.
func (b *bench) verify(job executors.Job) executors.Outcome {
	b.t.Helper()
	executortest.Start(b.t, b.exec, &job)
	return executortest.Await(b.t, b.exec, job, job.Timeout+patience+10*time.Second) // the first waits for the cache
}

// script is a tool that runs a file of the change: no real tool does, which is why hostile tests need it.
func script(name string) Tool {
	return Tool{Name: name, Program: "sh", Version: []string{"-c", "echo 1"}, Match: []string{"*.sh"}, Args: []string{"{files}"}, OK: []int{0}, Findings: []int{1}, Format: "lines"}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	executortest.Run(t, func(t *testing.T) executortest.Place {
		b := newBench(t, script("script"))
		return executortest.Place{
			Executor: b.exec, Restart: func() executors.Executor { return b.start() }, Slack: 2 * time.Second,
			Job: func(kind executortest.Kind) executors.Job {
				b.Write("run.sh", map[executortest.Kind]string{
					executortest.Succeeds: "exit 0\n", executortest.Fails: "echo 'run.sh:1: error: no'; exit 1\n",
					executortest.Hangs: "sleep 1000\n", executortest.Floods: "while :; do echo 0123456789012345678901234567890123456789; done\n",
				}[kind])
				return b.job("", b.Commit("main"), "script")
			},
		}
	})
}

func TestToolsJudgeTheChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Write("go.mod", "module example.com/x\n\ngo 1.22\n")
	b.Write("old.go", "package x\n\nimport \"fmt\"\n\nfunc Old() { fmt.Printf(\"%d\\n\", \"x\") }\n")
	b.Write("README.md", "hello\n")
	base := b.Commit("main")
	b.Write("README.md", "hello\nworld\n")
	docs := b.Commit("main")

	{ // what was there before does not count
		b.Write("new.go", "package x\n\n// New is new.\nfunc New() int { return 1 }\n")
		out := b.verify(b.job(base, b.Commit("main"), "gofmt", "govet"))
		if out.Conclusion != executors.Success || !strings.Contains(out.Output, "1 more were found on lines that the change does not touch") {
			t.Errorf("%s: %s\n%s%+v", out.Conclusion, out.Reason, out.Output, out.Findings)
		}
	}
	{ // what the change brings counts
		b.Write("new.go", "package x\n\nimport \"fmt\"\n\nfunc New() { fmt.Printf(\"%d\\n\", \"x\") }\n  var  A = 1\n")
		out := b.verify(b.job(base, b.Commit("main"), "gofmt", "govet"))
		expect(t, out, executors.Failure, "gofmt format new.go:0", "govet printf new.go:5")
	}
	{ // what the change breaks elsewhere counts
		b.Write("new.go", "package x\n\n// Old is here twice now.\nfunc Old() {}\n")
		out := b.verify(b.job(base, b.Commit("main"), "govet"))
		if out.Conclusion != executors.Failure {
			t.Errorf("%s: %s\n%s", out.Conclusion, out.Reason, out.Output)
		}
	}
	{ // nothing fits
		out := b.verify(b.job(base, docs, "gofmt"))
		if out.Conclusion != executors.Success || !strings.HasPrefix(out.Reason, "nothing to check: no tool fits") {
			t.Errorf("%s: %s", out.Conclusion, out.Reason)
		}
	}
	{ // a named tool is missing
		job := b.job(base, docs, "gofmt", "no-such-tool")
		if err := b.exec.Available(t.Context(), job); !errors.Is(err, errUnknownTool) {
			t.Errorf("available: %v", err)
		}
		expect(t, b.verify(job), executors.Blocked)
	}
	{ // dependencies are not there
		b.Write("go.mod", "module example.com/x\n\ngo 1.22\n\nrequire example.org/y v1.0.0\n")
		b.Write("new.go", "package x\n\nimport _ \"example.org/y\"\n")
		out := b.verify(b.job(base, b.Commit("main"), "gofmt", "govet"))
		if out.Conclusion != executors.Success || !strings.Contains(out.Output, "not vendored") {
			t.Errorf("%s: %s\n%s", out.Conclusion, out.Reason, out.Output)
		}
	}
}

// expect checks the conclusion, and that each finding "tool rule path:line" is there.
func expect(t *testing.T, out executors.Outcome, want executors.Conclusion, findings ...string) {
	t.Helper()
	if out.Conclusion != want {
		t.Errorf("conclusion %s (%s), want %s\n%s", out.Conclusion, out.Reason, want, out.Output)
	}
	var got []string
	for _, f := range out.Findings {
		got = append(got, f.Tool+" "+f.Rule+" "+f.Path+":"+strconv.Itoa(f.Line))
	}
	for _, f := range findings {
		if !strings.Contains(strings.Join(got, "\n")+"\n", f+"\n") {
			t.Errorf("no finding %q among:\n%s\n%s", f, strings.Join(got, "\n"), out.Output)
		}
	}
}

func TestCommitsThatAreNotToBeHad(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	head := b.Commit("main")
	expect(t, b.verify(b.job("", strings.Repeat("1", 40))), executors.InfraError)
	job := b.job("", head)
	job.CloneURL = "https://elsewhere.example/x.git"
	expect(t, b.verify(job), executors.Blocked)
	b.Write("a.go", "package a\n")
	out := b.verify(b.job(strings.Repeat("1", 40), b.Commit("main"), "gofmt"))
	if out.Conclusion != executors.Success || !strings.Contains(out.Output, "base commit is not to be had") {
		t.Errorf("%s: %s\n%s", out.Conclusion, out.Reason, out.Output)
	}
}

// A list of files that an agent sent may leave out what matters, and may lead out of the tree.
func TestAListOfFilesIsNotBelieved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Write("a.go", "package  a\n")
	b.Write("b.go", "package a\n")
	job := b.job("", b.Commit("main"), "gofmt")
	for _, path := range []string{"b.go", "/etc/passwd", strings.Repeat("../", 20) + "etc/passwd", "..", ""} {
		job.Files = append(job.Files, route.File{Path: path, Status: "added"})
	}
	out := b.verify(job)
	expect(t, out, executors.Failure, "gofmt format a.go:0")
	if len(out.Findings) != 1 {
		t.Errorf("%+v\n%s", out.Findings, out.Output)
	}
}

func TestNothingRunsWithoutASandbox(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cfg.Bwrap = filepath.Join(open(t), "bwrap")
	for name, program := range map[string]string{
		"missing": "", "refuses": "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
		// It runs the command as if there were a sandbox around it.
		"pretends": "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift\n\"$@\"\nr=$?\necho '{\"exit-code\": '$r'}' >&3\nexit $r\n",
	} {
		if program != "" {
			if err := os.WriteFile(b.cfg.Bwrap, []byte(program), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		e := b.start()
		job := b.job("", b.Commit("main"))
		if err := e.Available(t.Context(), job); !errors.Is(err, errSandbox) {
			t.Errorf("%s: available: %v", name, err)
		}
		executortest.Start(t, e, &job)
		if out := executortest.Await(t, e, job, time.Minute); out.Conclusion != executors.InfraError {
			t.Errorf("%s: %s %s", name, out.Conclusion, out.Reason)
		}
	}
}
