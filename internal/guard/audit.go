package guard

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// seen is what a working tree looked like when the guard last looked.
type seen struct {
	At      time.Time         `json:"at"`
	Session string            `json:"session"` // whose tool call had ended
	Dirty   map[string]string `json:"dirty"`   // path → size and time of change; "gone" for a deleted file
}

const (
	maxDirty  = 5000    // paths; a tree with more is not looked at file by file
	maxDigest = 1 << 20 // bytes of a file whose digest is worth reading it
	gitTime   = 10 * time.Second
)

// gitOut runs git in dir without the caller's GIT_* variables and without taking locks. The index that git made for a
// commit in the making stays: inside a hook it is what will be committed.
func gitOut(ctx context.Context, dir string, stdin []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "GIT_INDEX_FILE=")
	}), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}

// look lists what differs from the last commit, ignored files left out.
func look(ctx context.Context, root string) (map[string]string, error) {
	out, err := gitOut(ctx, root, nil, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
	if err != nil {
		return nil, err
	}
	dirty := map[string]string{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if len(entry) < 4 || len(dirty) >= maxDirty {
			continue
		}
		dirty[entry[3:]] = stamp(root, entry[3:])
	}
	return dirty, nil
}

const gone = "gone"

func stamp(root, path string) string {
	st, err := os.Lstat(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return gone
	}
	return fmt.Sprintf("%d %d", st.Size(), st.ModTime().UnixNano())
}

// changed lists the paths that changed between two looks. A path that left the list changed only if the file itself
// did: a commit takes paths off it, too.
func changed(root string, before, after map[string]string) []string {
	var out []string
	for path, s := range after {
		if before[path] != s {
			out = append(out, path)
		}
	}
	for path, s := range before {
		if _, still := after[path]; !still && stamp(root, path) != s {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// reported describes a changed file, with its content's digest unless it is large.
func reported(root, path string) client.ReportedFile {
	f := client.ReportedFile{FilePath: path}
	full := filepath.Join(root, filepath.FromSlash(path))
	st, err := os.Lstat(full)
	switch {
	case err != nil:
		f.Deleted = true
	case st.Mode().IsRegular() && st.Size() <= maxDigest:
		if raw, err := os.ReadFile(full); err == nil {
			f.Digest = BlobID(raw)
		}
	}
	return f
}

// branchOf is the branch checked out in a working tree, empty when that is none or cannot be told. The file is read
// because the branch changes between calls, and asking git would cost each of them a process.
func branchOf(root string) string {
	dir := filepath.Join(root, ".git")
	if raw, err := os.ReadFile(dir); err == nil { // a linked working tree
		at, found := strings.CutPrefix(strings.TrimSpace(string(raw)), "gitdir: ")
		if !found {
			return ""
		}
		if dir = at; !filepath.IsAbs(dir) {
			dir = filepath.Join(root, at)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "HEAD"))
	if err != nil {
		return ""
	}
	name, found := strings.CutPrefix(strings.TrimSpace(string(raw)), "ref: refs/heads/")
	if !found {
		return ""
	}
	return name
}

// BlobID is git's name of a file's content (SHA-1 object format), which is the digest that memories are bound to.
func BlobID(content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// ignored returns which of the paths git ignores: build output and the like, of which every working tree has its own.
func ignored(ctx context.Context, root string, paths []string) map[string]bool {
	out, _ := gitOut(ctx, root, []byte(strings.Join(paths, "\x00")), "check-ignore", "--stdin", "-z") // exits 1 when none is
	set := map[string]bool{}
	for p := range strings.SplitSeq(string(out), "\x00") {
		if p != "" {
			set[p] = true
		}
	}
	return set
}
