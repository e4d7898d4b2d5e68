package embedpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// command prepares one of Postgres's programs to run as the account u, without our environment: that
// account must not read our secrets, and no PG* or LC_* variable of the caller may bend the cluster.
func (u dbUser) command(ctx context.Context, bin string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env = childEnv()
	cmd.WaitDelay = 2 * time.Second
	setCredential(cmd, u)
	return cmd
}

func childEnv() []string {
	env := []string{"LC_ALL=C"}
	if runtime.GOOS == "windows" {
		for _, kv := range os.Environ() {
			name, _, _ := strings.Cut(strings.ToUpper(kv), "=")
			if !strings.HasPrefix(name, "PG") && !strings.HasPrefix(name, "LC_") && !strings.HasPrefix(name, "COORD_") {
				env = append(env, kv)
			}
		}
		return env
	}
	for _, name := range []string{"PATH", "TZ", "TZDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// run executes cmd and returns what it printed; the error carries the end of it.
func run(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	// A background child that kept our pipe is not a failure of the command itself.
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return out.String(), fmt.Errorf("%s: %w: %s", cmd.Path, err, lastLines(out.String(), 6))
	}
	return out.String(), nil
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
