package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// maxListing bounds what one git command may print, in bytes: a list of 200,000 files has some 20 MB.
const maxListing = 64 << 20

// passed are the variables of our environment that git needs to reach the network; all others stay here.
var passed = []string{
	"PATH", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "SSH_AUTH_SOCK",
}

// command is git with everything switched off that could run something of the repository.
func (s *Store) command(ctx context.Context, mirror, protocol string, args ...string) *exec.Cmd {
	all := []string{
		"-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "core.fsmonitor=false",
		"-c", "core.attributesFile=/dev/null", "-c", "core.quotePath=false", "-c", "credential.helper=",
		"-c", "submodule.recurse=false", "-c", "fetch.recurseSubmodules=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-c", "diff.external=", "-c", "diff.renameLimit=3000", "-c", "protocol.allow=never",
	}
	if protocol != "" {
		all = append(all, "-c", "protocol."+protocol+".allow=always")
	}
	if mirror != "" {
		all = append(all, "--git-dir="+mirror)
	}
	cmd := exec.CommandContext(ctx, s.cfg.Git, append(all, args...)...)
	cmd.Dir = s.home
	cmd.Env = []string{
		"HOME=" + s.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + s.gitconfig(), "GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_LFS_SKIP_SMUDGE=1", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C",
		"GIT_SSH_COMMAND=ssh -o BatchMode=yes -o StrictHostKeyChecking=yes",
	}
	for _, name := range passed {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	// git's children (ssh, index-pack) go with it.
	endTogether(cmd)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// gitError is a git command that failed, with what it said.
type gitError struct {
	verb   string
	stderr string
	err    error
}

func (e *gitError) Error() string {
	said := strings.TrimSpace(e.stderr)
	if len(said) > 2000 {
		said = said[:2000]
	}
	return fmt.Sprintf("git %s: %v: %s", e.verb, e.err, said)
}

func (e *gitError) Unwrap() error { return e.err }

// run runs the command and returns what it printed.
func run(ctx context.Context, cmd *exec.Cmd, verb string) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &capped{w: &out, left: maxListing}, &capped{w: &errs, left: 64 << 10}
	err := cmd.Run()
	if cause := context.Cause(ctx); cause != nil {
		return nil, fmt.Errorf("git %s: %w", verb, cause)
	}
	if err != nil {
		return nil, &gitError{verb: verb, stderr: errs.String(), err: err}
	}
	return out.Bytes(), nil
}

// git runs a command that needs no remote.
func (s *Store) git(ctx context.Context, mirror string, args ...string) ([]byte, error) {
	return run(ctx, s.command(ctx, mirror, "", args...), args[0])
}

// capped fails a write beyond the limit, which ends the command.
type capped struct {
	w    io.Writer
	left int
}

func (c *capped) Write(p []byte) (int, error) {
	if len(p) > c.left {
		return 0, fmt.Errorf("%w: git printed too much", ErrTooLarge)
	}
	c.left -= len(p)
	return c.w.Write(p)
}

// fetch fetches one refspec, and stops when the mirror grows beyond its limit.
func (s *Store) fetch(ctx context.Context, from remote, mirror, refspec string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	args := []string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-gc"}
	if s.cfg.Depth > 0 {
		args = append(args, fmt.Sprintf("--depth=%d", s.cfg.Depth))
	}
	cmd := s.command(ctx, mirror, from.protocol, append(args, "--", from.address, refspec)...)
	if err := s.authorize(ctx, cmd, from); err != nil {
		return err
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watch(ctx, mirror, cancel)
	}()
	_, err := run(ctx, cmd, "fetch from "+from.show)
	cancel(nil)
	<-watched
	if err == nil && size(mirror) > s.cfg.MaxBytes {
		err = s.tooLarge()
	}
	if errors.Is(err, ErrTooLarge) {
		return errors.Join(err, os.RemoveAll(mirror)) // an unfinished pack would count against the next fetch
	}
	var failed *gitError
	if errors.As(err, &failed) && missing(failed.stderr) {
		return fmt.Errorf("%w: %s", ErrNotFound, failed.Error())
	}
	return err
}

// missing recognises what git says when the remote answered and has no such object; git has no exit code for it.
func missing(stderr string) bool {
	for _, said := range []string{"not our ref", "couldn't find remote ref", "no such remote ref", "unadvertised object"} {
		if strings.Contains(stderr, said) {
			return true
		}
	}
	return false
}

func (s *Store) authorize(ctx context.Context, cmd *exec.Cmd, to remote) error {
	if s.cfg.Credentials == nil || to.base == "" {
		return nil
	}
	header, err := s.cfg.Credentials(ctx, to.address)
	if err != nil {
		return fmt.Errorf("credentials for %s: %w", to.show, err)
	}
	if header != "" {
		cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=http."+to.base+".extraHeader", "GIT_CONFIG_VALUE_0=Authorization: "+header)
	}
	return nil
}

// watch cancels when the mirror is too large.
func (s *Store) watch(ctx context.Context, mirror string, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if size(mirror) > s.cfg.MaxBytes {
				cancel(s.tooLarge())
				return
			}
		}
	}
}

func (s *Store) tooLarge() error {
	return fmt.Errorf("%w: the repository has more than %d MB (GATEWAY_MIRROR_MAX_MB)", ErrTooLarge, s.cfg.MaxBytes>>20)
}

// size is how many bytes a folder holds; what vanishes meanwhile counts nothing.
func size(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // git removes temporary files while we look
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}
