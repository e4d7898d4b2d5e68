package repo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// gitTimeout bounds one run of git. Counting a root commit of a million commits takes longer; the remote identifies
// such a repository.
const gitTimeout = 3 * time.Second

// git runs git in dir and returns its output without the last line end.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	// A repository mounted into a container belongs to another user; we only read, and no command here runs hooks.
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "safe.directory=*", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = cleanEnv(os.Environ())
	cmd.WaitDelay = time.Second
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		first, _, _ := strings.Cut(stderr.String(), "\n")
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, first)
	}
	return strings.TrimRight(out.String(), "\r\n"), nil
}

// cleanEnv drops what a hook's environment says about another repository, and keeps git from asking or paging.
func cleanEnv(env []string) []string {
	out := make([]string, 0, len(env)+3)
	for _, e := range env {
		if !strings.HasPrefix(e, "GIT_") || strings.HasPrefix(e, "GIT_CONFIG_GLOBAL=") || strings.HasPrefix(e, "GIT_CONFIG_SYSTEM=") ||
			strings.HasPrefix(e, "GIT_CONFIG_NOSYSTEM=") {
			out = append(out, e)
		}
	}
	return append(out, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
}
