package inline

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/executortest"
)

// marker is how long the sleep of the killed gateway is: nobody else's is.
const marker = "98431"

// asleep counts the processes of the marker.
func asleep() (n int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		raw, _ := os.ReadFile(name)
		if string(raw) == "sleep\x00"+marker+"\x00" {
			n++
		}
	}
	return n
}

// TestAsGateway is what TestNothingOutlivesAKilledGateway starts and kills: it runs until then.
func TestAsGateway(t *testing.T) {
	t.Parallel()
	if os.Getenv("COORD_INLINE_GATEWAY") == "" {
		t.Skip("it is started by TestNothingOutlivesAKilledGateway")
	}
	b := newBench(t, script("script"))
	b.Write("run.sh", "setsid sleep "+marker+" &\nsleep "+marker+"\n")
	job := b.job("", b.Commit("main"), "script")
	executortest.Start(t, b.exec, &job)
	executortest.Await(t, b.exec, job, 5*time.Minute)
}

func TestNothingOutlivesAKilledGateway(t *testing.T) {
	t.Parallel()
	newBench(t) // skips where there is no sandbox
	cmd := exec.Command(os.Args[0], "-test.run=^TestAsGateway$", "-test.v")
	cmd.Env = append(os.Environ(), "COORD_INLINE_GATEWAY=1", "TMPDIR="+open(t))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	read := make(chan struct{})
	go func() {
		defer close(read)
		for in := bufio.NewScanner(out); in.Scan(); {
			said.WriteString(in.Text() + "\n")
		}
	}()
	wait := func(what string, reached func() bool) {
		t.Helper()
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		late := time.NewTimer(time.Minute)
		defer late.Stop()
		for !reached() {
			select {
			case <-tick.C:
			case <-late.C:
				_ = cmd.Process.Kill()
				<-read
				t.Fatalf("%s did not come about:\n%s", what, said.String())
			}
		}
	}
	wait("the command in the sandbox", func() bool { return asleep() == 2 })
	_ = cmd.Process.Kill()
	<-read
	_ = cmd.Wait()
	wait("the end of everything", func() bool { return asleep() == 0 })
}
