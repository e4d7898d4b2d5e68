package source

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Tree is a commit's files, written out.
type Tree struct {
	Dir string // readable for every user; the files belong to the gateway
	// Links and Submodules are paths that a checkout of git's own would follow: a link is a plain file here that holds
	// its target's name, a submodule an empty folder.
	Links, Submodules []string
}

// Checkout writes the tree of a fetched commit into a new folder. cleanup removes it, and is never nil.
func (s *Store) Checkout(ctx context.Context, cloneURL, sha string) (tree *Tree, cleanup func(), err error) {
	cleanup = func() {}
	mirror := s.mirror(cloneURL)
	if !isObject.MatchString(sha) || !s.kept(ctx, mirror, sha) {
		return nil, cleanup, fmt.Errorf("%w: %s has not been fetched", ErrNotFound, sha)
	}
	tree, err = s.measure(ctx, mirror, sha)
	if err != nil {
		return nil, cleanup, err
	}
	// The folder above keeps git's index, out of sight of the tools.
	above, err := os.MkdirTemp(s.trees(), "t")
	if err != nil {
		return nil, cleanup, err
	}
	cleanup = func() { _ = removeAll(above) }
	tree.Dir = filepath.Join(above, "src")
	if err := s.write(ctx, mirror, sha, above, tree.Dir); err != nil {
		cleanup()
		return nil, func() {}, err
	}
	return tree, cleanup, nil
}

func (s *Store) write(ctx context.Context, mirror, sha, above, dir string) error {
	for _, d := range []string{above, dir} {
		if err := os.Mkdir(d, 0o755); err != nil && !os.IsExist(err) {
			return err
		}
		if err := os.Chmod(d, 0o755); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"read-tree", sha}, {"checkout-index", "--all", "--quiet"}} {
		cmd := s.command(ctx, mirror, "", append([]string{"--work-tree=" + dir}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+filepath.Join(above, "index"))
		if _, err := run(ctx, cmd, args[0]); err != nil {
			return err
		}
	}
	return os.Remove(filepath.Join(above, "index"))
}

// measure adds up the tree before a byte of it is written: 10 GB of zeros are 10 MB in a pack.
func (s *Store) measure(ctx context.Context, mirror, sha string) (*Tree, error) {
	out, err := s.git(ctx, mirror, "ls-tree", "-r", "-l", "-z", "--full-tree", sha)
	if err != nil {
		return nil, err
	}
	tree, total, count := &Tree{}, int64(0), 0
	for record := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		meta, name, ok := strings.Cut(string(record), "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) != 4 {
			continue // an empty tree prints one empty record
		}
		switch fields[0] {
		case "120000":
			tree.Links = append(tree.Links, clean(name))
		case "160000":
			tree.Submodules = append(tree.Submodules, clean(name))
		}
		n, _ := strconv.ParseInt(fields[3], 10, 64) // "-" for a submodule
		total += n
		count++
	}
	if total > s.cfg.MaxTree || count > s.cfg.MaxFiles {
		return nil, fmt.Errorf("%w: the tree has %d files of %d MB together, %d files and %d MB are allowed (GATEWAY_TREE_MAX_MB)",
			ErrTooLarge, count, total>>20, s.cfg.MaxFiles, s.cfg.MaxTree>>20)
	}
	return tree, nil
}

// Archive packs the tree of a fetched commit into a tar.gz: what a place elsewhere needs to verify it without any
// credentials. Links stay links in it. The file is the caller's to remove.
func (s *Store) Archive(ctx context.Context, cloneURL, sha string) (file string, err error) {
	mirror := s.mirror(cloneURL)
	if !isObject.MatchString(sha) || !s.kept(ctx, mirror, sha) {
		return "", fmt.Errorf("%w: %s has not been fetched", ErrNotFound, sha)
	}
	if _, err := s.measure(ctx, mirror, sha); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(s.home, "archive")
	if err != nil {
		return "", err
	}
	_ = f.Close()
	cmd := s.command(ctx, mirror, "", "archive", "--format=tar.gz", "-o", f.Name(), sha)
	if _, err := run(ctx, cmd, "archive"); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// ReadFile reads a file of a fetched commit; fs.ErrNotExist when the commit has no such file. limit is in bytes.
func (s *Store) ReadFile(ctx context.Context, cloneURL, sha, name string, limit int64) ([]byte, error) {
	if !isObject.MatchString(sha) {
		return nil, fmt.Errorf("%w: %q is no full object name", ErrNotFound, sha)
	}
	mirror := s.mirror(cloneURL)
	out, err := s.git(ctx, mirror, "ls-tree", "-l", "-z", "--full-tree", sha, "--", ":(literal,top)"+name)
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(strings.SplitN(string(out), "\t", 2)[0])
	if len(fields) != 4 || fields[1] != "blob" || fields[0] == "120000" {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	if n, _ := strconv.ParseInt(fields[3], 10, 64); n > limit {
		return nil, fmt.Errorf("%w: %s has %d bytes, %d are read", ErrTooLarge, name, n, limit)
	}
	return s.git(ctx, mirror, "cat-file", "blob", fields[2])
}

// removeAll removes a folder whatever modes its folders have.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
