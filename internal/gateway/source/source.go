// Package source obtains the commits that are to be verified: one bare mirror for each remote, from which trees are
// written out and differences are read. What it fetches is untrusted and is never run here: no hooks, no filters, no
// attributes of the tree, no submodules, no symbolic links; git reads no configuration but ours.
//
// The promise: a commit that Fetch has accepted is the commit that was asked for, and what Checkout writes and
// ChangedFiles lists are git's own objects, not what somebody said about them. ErrNotFound, ErrRefused and ErrTooLarge
// are answers; any other error means that it cannot tell now.
package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// What can be wrong with a request, beside the network.
var (
	// ErrNotFound: the remote does not have the commit, or not under the ref that was given.
	ErrNotFound = errors.New("the commit is not to be had")
	// ErrRefused: this remote is not allowed, or is no address.
	ErrRefused = errors.New("the remote is refused")
	// ErrTooLarge: the repository or the tree is beyond the configured size.
	ErrTooLarge = errors.New("too large")
)

// Config says where mirrors lie and what may be fetched. Zero values are the defaults that are named.
type Config struct {
	Dir         string        // state folder; made when it is missing
	Git         string        // the git program; "": found on PATH
	Hosts       []string      // hosts that may be fetched from by https or ssh
	Insecure    []string      // hosts that may be fetched from by plain http, such as 127.0.0.1:3000
	LocalRoots  []string      // folders whose repositories may be fetched by path
	MaxBytes    int64         // of one mirror; 0: 2 GiB
	MaxTree     int64         // bytes of one tree written out; 0: 1 GiB
	MaxFiles    int           // files of one tree written out; 0: 200,000
	MaxBundle   int64         // bytes of a bundle; 0: 64 MiB
	Timeout     time.Duration // of one fetch; 0: 2 minutes
	Depth       int           // commits of history to fetch; 0: all of it, which merge bases need
	Credentials Credentials   // nil: none
	// Bundles gives the git bundle that somebody handed over with a commit; nil when nobody did. It is asked for when the
	// remote does not have the commit. Bundles nil: there are none.
	Bundles func(ctx context.Context, cloneURL, sha string) ([]byte, error)
}

// Credentials gives the value of the Authorization header for a remote, such as "Basic …"; "" for none. It reaches git
// through the environment, for that host alone, and nothing else.
type Credentials func(ctx context.Context, cloneURL string) (authorization string, err error)

// Store holds the mirrors. Its methods are safe for concurrent use.
type Store struct {
	cfg  Config
	home string // holds git's only configuration file

	mu    sync.Mutex
	locks map[string]chan struct{} // one fetch at a time for each mirror
}

const (
	objectName = `[0-9a-f]{40}([0-9a-f]{24})?`
	emptyTree  = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
)

var (
	isObject = regexp.MustCompile(`^` + objectName + `$`)
	isRef    = regexp.MustCompile(`^refs/[A-Za-z0-9._/@+-]+$`)
)

// Open makes the state folder and checks that git is there.
func Open(cfg Config) (*Store, error) {
	if cfg.Dir == "" {
		return nil, errors.New("the mirrors need a folder")
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	cfg.Dir = dir
	if cfg.Git == "" {
		cfg.Git = "git"
	}
	if cfg.Git, err = exec.LookPath(cfg.Git); err != nil {
		return nil, fmt.Errorf("git is needed to fetch what is to be verified: %w", err)
	}
	cfg.MaxBytes, cfg.MaxTree = or(cfg.MaxBytes, 2<<30), or(cfg.MaxTree, 1<<30)
	cfg.MaxBundle, cfg.MaxFiles = or(cfg.MaxBundle, 64<<20), or(cfg.MaxFiles, 200_000)
	cfg.Timeout = or(cfg.Timeout, 2*time.Minute)
	for i, root := range cfg.LocalRoots {
		if cfg.LocalRoots[i], err = filepath.EvalSymlinks(root); err != nil {
			return nil, fmt.Errorf("folder of local repositories: %w", err)
		}
	}
	s := &Store{cfg: cfg, home: filepath.Join(dir, "git"), locks: map[string]chan struct{}{}}
	// Trees must be readable for the user that tools run as, mirrors for nobody else.
	for folder, mode := range map[string]os.FileMode{dir: 0o711, s.mirrors(): 0o700, s.trees(): 0o711, s.home: 0o700} {
		if err := os.MkdirAll(folder, mode); err != nil {
			return nil, err
		}
		if err := os.Chmod(folder, mode); err != nil {
			return nil, err
		}
	}
	// A local remote may belong to another user; which ones may be read at all is LocalRoots' matter.
	return s, os.WriteFile(s.gitconfig(), []byte("[safe]\n\tdirectory = *\n"), 0o600)
}

func or[T int | int64 | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

func (s *Store) mirrors() string   { return filepath.Join(s.cfg.Dir, "mirrors") }
func (s *Store) trees() string     { return filepath.Join(s.cfg.Dir, "trees") }
func (s *Store) gitconfig() string { return filepath.Join(s.home, "config") }

// mirror is the folder of the remote's mirror: readable for people, distinct for machines.
func (s *Store) mirror(cloneURL string) string {
	sum := sha256.Sum256([]byte(cloneURL))
	name := regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(path.Base(strings.TrimSuffix(cloneURL, ".git")), "-")
	if len(name) > 60 {
		name = name[:60]
	}
	return filepath.Join(s.mirrors(), strings.Trim(name, ".-")+"-"+hex.EncodeToString(sum[:8])+".git")
}

// hold waits until nobody else writes to the mirror.
func (s *Store) hold(ctx context.Context, mirror string) (release func(), err error) {
	s.mu.Lock()
	gate := s.locks[mirror]
	if gate == nil {
		gate = make(chan struct{}, 1)
		s.locks[mirror] = gate
	}
	s.mu.Unlock()
	select {
	case gate <- struct{}{}:
		return func() { <-gate }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for another fetch of the same repository: %w", context.Cause(ctx))
	}
}

// Fetch makes the commit available. ref, such as refs/pull/7/head, is asked for when the remote does not give the
// commit by its name, and must then be that very commit or have it in its history.
func (s *Store) Fetch(ctx context.Context, cloneURL, sha, ref string) error {
	if !isObject.MatchString(sha) {
		return fmt.Errorf("%w: %q is no full object name", ErrNotFound, sha)
	}
	if ref != "" && (!isRef.MatchString(ref) || strings.Contains(ref, "..")) {
		return fmt.Errorf("%w: %q is no full ref name", ErrNotFound, ref)
	}
	remote, err := s.remote(cloneURL)
	if err != nil {
		return err
	}
	mirror := s.mirror(cloneURL)
	if s.kept(ctx, mirror, sha) && !s.has(ctx, mirror, claimedRef(sha)) {
		return nil
	}
	release, err := s.hold(ctx, mirror)
	if err != nil {
		return err
	}
	defer release()
	if s.kept(ctx, mirror, sha) {
		s.askAgain(ctx, remote, mirror, sha)
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.Timeout, fmt.Errorf("the fetch took longer than %s", s.cfg.Timeout))
	defer cancel()
	if err := s.prepare(ctx, mirror); err != nil {
		return err
	}
	if err := s.pull(ctx, remote, mirror, sha, ref); err != nil {
		if errors.Is(err, ErrNotFound) {
			return s.fromBundle(ctx, remote, mirror, cloneURL, sha, err)
		}
		return err
	}
	return s.keep(ctx, mirror, sha)
}

// Branch is the commit that a branch of the remote points to now; "" asks for the default branch.
func (s *Store) Branch(ctx context.Context, cloneURL, branch string) (string, error) {
	ref := "HEAD"
	if branch != "" {
		ref = "refs/heads/" + branch
		if !isRef.MatchString(ref) || strings.Contains(ref, "..") {
			return "", fmt.Errorf("%w: %q is no branch", ErrNotFound, branch)
		}
	}
	remote, err := s.remote(cloneURL)
	if err != nil {
		return "", err
	}
	tips, err := s.tips(ctx, remote, ref)
	if err != nil {
		return "", err
	}
	for sha, name := range tips {
		if name == ref {
			return sha, nil
		}
	}
	return "", fmt.Errorf("%w: %s has no branch %s", ErrNotFound, remote.show, ref)
}

// tips lists what the remote's refs point to; of several refs that point to one commit, any. patterns: see git ls-remote.
func (s *Store) tips(ctx context.Context, from remote, patterns ...string) (map[string]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.Timeout, fmt.Errorf("the remote took longer than %s", s.cfg.Timeout))
	defer cancel()
	cmd := s.command(ctx, "", from.protocol, append([]string{"ls-remote", "--quiet", "--", from.address}, patterns...)...)
	if err := s.authorize(ctx, cmd, from); err != nil {
		return nil, err
	}
	out, err := run(ctx, cmd, "list "+from.show)
	if err != nil {
		return nil, err
	}
	tips := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if sha, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && isObject.MatchString(sha) {
			tips[sha] = name
		}
	}
	return tips, nil
}

// pull asks for the commit by its name, then by the ref.
func (s *Store) pull(ctx context.Context, remote remote, mirror, sha, ref string) error {
	first := s.fetch(ctx, remote, mirror, "+"+sha+":"+keptRef(sha))
	if first == nil {
		return nil
	}
	if ref == "" || errors.Is(first, ErrTooLarge) || ctx.Err() != nil {
		return first
	}
	if err := s.fetch(ctx, remote, mirror, "+"+ref+":refs/asked/"+sha); err != nil {
		return err
	}
	if !s.has(ctx, mirror, sha) {
		return fmt.Errorf("%w: %s of %s is another commit by now", ErrNotFound, ref, remote.show)
	}
	return nil
}

// keep names the commit in the mirror, so that it and its history stay.
func (s *Store) keep(ctx context.Context, mirror, sha string) error {
	if !s.has(ctx, mirror, sha) {
		return fmt.Errorf("%w: %s is no commit", ErrNotFound, sha)
	}
	_, err := s.git(ctx, mirror, "update-ref", keptRef(sha), sha)
	return err
}

func keptRef(sha string) string { return "refs/gateway/" + sha }

// kept says that an earlier Fetch or AddBundle accepted the commit.
func (s *Store) kept(ctx context.Context, mirror, sha string) bool {
	if _, err := os.Stat(mirror); err != nil {
		return false
	}
	if !s.has(ctx, mirror, keptRef(sha)) {
		return false
	}
	now := time.Now() // Sweep looks at both
	_ = os.Chtimes(filepath.Join(mirror, filepath.FromSlash(keptRef(sha))), now, now)
	_ = os.Chtimes(mirror, now, now)
	return true
}

func (s *Store) has(ctx context.Context, mirror, name string) bool {
	_, err := s.git(ctx, mirror, "cat-file", "-e", name+"^{commit}")
	return err == nil
}

// prepare makes the mirror when it is missing. The attributes outrank those of any tree: what is written out is byte
// for byte what is stored, so that nothing can be hidden from a tool by an encoding or a filter.
func (s *Store) prepare(ctx context.Context, mirror string) error {
	if _, err := os.Stat(filepath.Join(mirror, "ready")); err == nil {
		return nil
	}
	if err := os.RemoveAll(mirror); err != nil {
		return err
	}
	if _, err := s.git(ctx, "", "init", "--quiet", "--bare", "--template=", mirror); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(mirror, "info"), 0o700); err != nil {
		return err
	}
	attributes := "* -text -eol -ident -filter -working-tree-encoding -export-ignore -export-subst !diff\n"
	if err := os.WriteFile(filepath.Join(mirror, "info", "attributes"), []byte(attributes), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(mirror, "ready"), nil, 0o600)
}
