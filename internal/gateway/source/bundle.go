package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/gitbundle"
)

// AddBundle takes a commit that its remote does not have from a git bundle that somebody sent. Its objects are checked
// more strictly than fetched ones, and its prerequisites must have been fetched. That the bundle says it is head does
// not make it so on the remote: the caller marks the change as claimed.
func (s *Store) AddBundle(ctx context.Context, cloneURL string, bundle io.Reader, head string) error {
	if !isObject.MatchString(head) {
		return fmt.Errorf("%w: %q is no full object name", ErrNotFound, head)
	}
	if _, err := s.remote(cloneURL); err != nil {
		return err
	}
	mirror := s.mirror(cloneURL)
	release, err := s.hold(ctx, mirror)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.Timeout, fmt.Errorf("the bundle took longer than %s", s.cfg.Timeout))
	defer cancel()
	if err := s.prepare(ctx, mirror); err != nil {
		return err
	}
	return s.addBundle(ctx, mirror, bundle, head)
}

// addBundle is AddBundle for who holds the mirror.
func (s *Store) addBundle(ctx context.Context, mirror string, bundle io.Reader, head string) error {
	file, err := s.save(bundle)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file) }()
	name, err := s.bundled(ctx, mirror, file, head)
	if err != nil {
		return err
	}
	if err := s.unbundle(ctx, mirror, file, "+"+name+":"+claimedRef(head)); err != nil {
		return err
	}
	return s.keep(ctx, mirror, head)
}

// claimedRef marks a commit that was taken from a bundle and that the remote has not shown since.
func claimedRef(sha string) string { return "refs/claimed/" + sha }

// Claimed says whether a commit is known from a bundle alone.
func (s *Store) Claimed(ctx context.Context, cloneURL, sha string) bool {
	return isObject.MatchString(sha) && s.has(ctx, s.mirror(cloneURL), claimedRef(sha))
}

// fromBundle takes the commit from the bundle that somebody handed over with it, after fetching what that builds on. Without
// one the answer stays what the remote said.
func (s *Store) fromBundle(ctx context.Context, from remote, mirror, cloneURL, sha string, said error) error {
	if s.cfg.Bundles == nil {
		return said
	}
	raw, err := s.cfg.Bundles(ctx, cloneURL, sha)
	switch {
	case err != nil:
		return err
	case raw == nil:
		return said
	}
	header, err := gitbundle.Read(raw)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	for _, need := range header.Needs {
		if err := s.fetch(ctx, from, mirror, "+"+need+":"+keptRef(need)); err != nil {
			return fmt.Errorf("what the bundle builds on: %w", err)
		}
	}
	if err := s.addBundle(ctx, mirror, bytes.NewReader(raw), sha); err != nil {
		return fmt.Errorf("the bundle that was handed over: %w", err)
	}
	return nil
}

// askAgain looks whether the remote has by now a commit that was known from a bundle alone. Git itself would not ask, since
// the objects are here.
func (s *Store) askAgain(ctx context.Context, from remote, mirror, sha string) {
	if !s.has(ctx, mirror, claimedRef(sha)) {
		return
	}
	if tips, err := s.tips(ctx, from); err == nil && tips[sha] != "" {
		_, _ = s.git(ctx, mirror, "update-ref", "-d", claimedRef(sha)) // if it stays, it is asked again
	}
}

func (s *Store) save(bundle io.Reader) (string, error) {
	f, err := os.CreateTemp(s.home, "bundle")
	if err != nil {
		return "", err
	}
	n, err := io.Copy(f, io.LimitReader(bundle, s.cfg.MaxBundle+1))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil && n > s.cfg.MaxBundle {
		err = fmt.Errorf("%w: a bundle may have %d MB", ErrTooLarge, s.cfg.MaxBundle>>20)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// bundled finds the bundle's name for the commit.
func (s *Store) bundled(ctx context.Context, mirror, file, head string) (string, error) {
	out, err := s.git(ctx, mirror, "bundle", "list-heads", file)
	if err != nil {
		return "", fmt.Errorf("%w: that is no git bundle: %w", ErrNotFound, err)
	}
	for line := range strings.Lines(string(out)) {
		sha, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if sha == head && (name == "HEAD" || isRef.MatchString(name)) {
			return name, nil
		}
	}
	return "", fmt.Errorf("%w: the bundle has no head %s", ErrNotFound, head)
}

func (s *Store) unbundle(ctx context.Context, mirror, file, refspec string) error {
	cmd := s.command(ctx, mirror, "file", "-c", "fetch.fsckObjects=true", "fetch", "--quiet", "--no-tags",
		"--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-gc", "--", file, refspec)
	if _, err := run(ctx, cmd, "fetch from the bundle"); err != nil {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	if size(mirror) > s.cfg.MaxBytes {
		return s.tooLarge()
	}
	return nil
}
