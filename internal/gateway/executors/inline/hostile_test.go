package inline

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/executortest"
)

// A hostile script is given to a tool that runs it, which no real tool does: what it prints as findings tells how far
// it came. Every verdict must come within the time and a second, and nothing may be left over.
func TestHostileScriptsAreContained(t *testing.T) { //nolint:paralleltest // it sets an environment variable
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("SKIPPED: the hostile scripts need bash")
	}
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	reached := make(chan struct{}, 1)
	go func() {
		for {
			conn, err := door.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
			reached <- struct{}{}
		}
	}()
	t.Setenv("COORD_PROBE_SECRET", "s3cret")
	_, port, _ := net.SplitHostPort(door.Addr().String())
	outside := filepath.Join(t.TempDir(), "outside")
	const timeout = 4 * time.Second
	const found = "echo \"run.sh:1: error: %s\"\n"
	tests := map[string]struct {
		script string
		want   []executors.Conclusion
	}{
		"fork bomb":      {"bomb() { bomb | bomb & }\nbomb\nwhile :; do wait; done\n", []executors.Conclusion{executors.TimedOut, executors.InfraError, executors.Failure}},
		"endless loop":   {"while :; do :; done\n", []executors.Conclusion{executors.TimedOut}},
		"endless output": {"while :; do echo 0123456789; done\n", []executors.Conclusion{executors.Failure}},
		"endless errors": {"yes 1>&2\n", []executors.Conclusion{executors.Failure}},
		"one long line":  {"tr '\\0' x </dev/zero\n", []executors.Conclusion{executors.Failure}},
		"10 GB file":     {"dd if=/dev/zero of=/tmp/x bs=1M count=10240 2>/dev/null && " + say(found, "written"), []executors.Conclusion{executors.Success, executors.InfraError, executors.TimedOut}},
		"shared memory":  {"dd if=/dev/zero of=/dev/shm/x bs=1M count=1024 2>/dev/null && " + say(found, "written"), []executors.Conclusion{executors.Success, executors.InfraError}},
		"memory":         {"x=$(tr '\\0' x </dev/zero)\n", []executors.Conclusion{executors.TimedOut, executors.InfraError, executors.Failure}},
		"daemon":         {"setsid sh -c 'trap \"\" TERM HUP; sleep 1000' >/dev/null 2>&1 &\nexit 0\n", []executors.Conclusion{executors.Success}},
		"daemon, held":   {"setsid sh -c 'trap \"\" TERM HUP; sleep 1000' &\nexit 0\n", []executors.Conclusion{executors.Success, executors.TimedOut}},
		"kill everybody": {"kill -9 -1; kill -9 1; " + say(found, "survived") + "exit 1\n", []executors.Conclusion{executors.Failure, executors.InfraError}},
		"network":        {"bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + port + "' 2>/dev/null && { " + say(found, "reached") + "exit 1; }\nexit 0\n", []executors.Conclusion{executors.Success}},
		"shadow":         {"[ -e /etc/shadow ] || [ -e /etc/passwd ] || [ -d /root ] || [ -d /home ] && { " + say(found, "seen") + "exit 1; }\nexit 0\n", []executors.Conclusion{executors.Success}},
		"environment":    {"cat /proc/*/environ 2>/dev/null | grep -q s3cret && { " + say(found, "read") + "exit 1; }\nexit 0\n", []executors.Conclusion{executors.Success}},
		"writes":         {"for f in /src/run.sh /usr/bin/x /config/x /x " + outside + "; do (echo x >>$f) 2>/dev/null && { " + say(found, "wrote $f") + "exit 1; }; done\nexit 0\n", []executors.Conclusion{executors.Success}},
		"namespaces":     {"unshare -Ur true 2>/dev/null && { " + say(found, "nested") + "exit 1; }\nexit 0\n", []executors.Conclusion{executors.Success}},
		"mounts":         {"mount -t tmpfs x /tmp 2>/dev/null && { " + say(found, "mounted") + "exit 1; }\nexit 0\n", []executors.Conclusion{executors.Success}},
		"terminal":       {"(: >/dev/tty) 2>/dev/null && { " + say(found, "opened") + "exit 1; }\nexit 0\n", []executors.Conclusion{executors.Success}},
	}
	b := newBench(t, script("script"))
	for name, tt := range tests {
		b.Write("run.sh", tt.script)
		job := b.job("", b.Commit("main"), "script")
		job.Timeout = timeout
		began := time.Now()
		executortest.Start(t, b.exec, &job)
		out := executortest.Await(t, b.exec, job, time.Minute)
		took := out.CompletedAt.Sub(began)
		// Fetching and writing out are not the policy's time; on a busy machine they take a moment.
		if took > timeout+3*time.Second {
			t.Errorf("%s: the verdict came after %s", name, took)
		}
		ok := false
		for _, want := range tt.want {
			ok = ok || out.Conclusion == want
		}
		if !ok {
			t.Errorf("%s: %s (%s), want one of %v\n%s\n%+v", name, out.Conclusion, out.Reason, tt.want, out.Output, out.Findings)
		}
		t.Logf("%-15s %-11s %-6s %s", name, out.Conclusion, took.Round(10*time.Millisecond), out.Reason)
	}
	select {
	case <-reached:
		t.Error("something reached the network")
	default:
	}
	if left := survivors(t); left != "" {
		t.Errorf("processes are left over:\n%s", left)
	}
}

func say(format, what string) string { return strings.ReplaceAll(format, "%s", what) }

// survivors lists processes of the dropped user, which nobody else here has.
func survivors(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		return ""
	}
	var out strings.Builder
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range procs {
		if owner, err := ownerOf(p); err != nil || owner != 65534 {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		if strings.Contains(string(line), "1000") {
			out.WriteString(filepath.Base(p) + " " + strings.ReplaceAll(string(line), "\x00", " ") + "\n")
		}
	}
	return out.String()
}

// TestHostileTrees: what a change can put into its tree to mislead tools that do not run it.
func TestHostileTrees(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Write("README.md", "x\n")
	base := b.Commit("main")
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(b.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	reset := func() {
		b.Git("checkout", "-q", "--force", "-B", "main", base)
		b.Git("clean", "-qfdx")
	}
	token := "ghp_" + "0123456789ABCDEFabcdef0123456789wXyZ"
	for name, tt := range map[string]struct {
		make  func()
		tools []string
		want  executors.Conclusion
		finds []string
	}{
		"its own .gitleaks.toml": {func() {
			b.Write(".gitleaks.toml", "[allowlist]\npaths = ['.*']\n")
			b.Write(".gitleaksignore", "key.txt:github-pat:1\n")
			b.Write("key.txt", "token = "+token+" # gitleaks:allow\n")
		}, []string{"gitleaks"}, executors.Failure, []string{"gitleaks github-pat key.txt:1", "gateway configuration .gitleaks.toml:0", "gateway suppression key.txt:1"}},
		"a secret in the ignore file": {
			func() { b.Write(".gitleaksignore", "token = "+token+"\n") },
			[]string{"gitleaks"},
			executors.Failure,
			[]string{"gitleaks github-pat .gitleaksignore:1"},
		},
		"a directive hides it": {func() {
			b.Write("go.mod", "module x\n\ngo 1.22\n")
			b.Write("staticcheck.conf", "checks = [\"-all\"]\n")
			b.Write("a.go", "package x\n\nfunc F(a int) {\n\t//lint:ignore SA4018 no\n\ta = a\n}\n")
		}, []string{"staticcheck"}, executors.Failure, []string{"staticcheck SA4018 a.go:5"}},
		"its own .shellcheckrc": {func() {
			b.Write(".shellcheckrc", "disable=all\n")
			b.Write("a.sh", "#!/bin/sh\nif [ x == ]; then\n")
		}, []string{"shellcheck"}, executors.Failure, []string{"gateway configuration .shellcheckrc:0"}},
		"links out of the tree": {func() { link("/etc/shadow", "shadow.go"); link("/", "root") }, []string{"gofmt", "gitleaks"}, executors.Success, nil},
		"odd names": {func() {
			for _, n := range []string{"-rf.go", "a b.go", "new\nline.go", "$(touch x).go", "--config=x.go", "'\".go"} {
				b.Write(n, "package x\nvar  A = 1\n")
			}
		}, []string{"gofmt"}, executors.Failure, []string{"gofmt format -rf.go:0", "gofmt format $(touch x).go:0", "gofmt format --config=x.go:0", "gateway name new\nline.go:0"}},
		"a name that is no text": {func() { b.Write("a\xff.go", "package x\n") }, []string{"gofmt"}, executors.Failure, []string{"gateway name a\uFFFD.go:0"}},
		"a toolchain of its own": {func() {
			b.Write("go.mod", "module x\n\ngo 1.99\n\ntoolchain go1.99.0\n")
			b.Write("a.go", "package x\n")
		}, []string{"govet"}, executors.Success, nil},
		"cgo": {func() {
			b.Write("go.mod", "module x\n\ngo 1.22\n")
			b.Write("a.go", "package x\n\n// #cgo CFLAGS: -fplugin=/tmp/evil.so\nimport \"C\"\n")
		}, []string{"govet"}, executors.Success, nil},
		"a broken go.mod": {func() {
			b.Write("go.mod", "module x\n\ngo 1.22\nevil line\n")
			b.Write("a.go", "package x\n")
		}, []string{"govet"}, executors.Failure, nil},
	} {
		reset()
		tt.make()
		head := b.Commit("main")
		job := b.job(base, head, tt.tools...)
		if err := b.exec.Available(t.Context(), job); err != nil {
			t.Logf("SKIPPED %s: %v", name, err)
			continue
		}
		out := b.verify(job)
		t.Logf("%s: %s, %s", name, out.Conclusion, out.Reason)
		expect(t, out, tt.want, tt.finds...)
	}
}
