package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// GitHooks are the hooks of git that the guard stands in.
func GitHooks() []string { return []string{"pre-commit", "commit-msg", "pre-push"} }

// ErrSharedHooks says that the repository keeps its hooks among its files, where another tool writes them.
var ErrSharedHooks = errors.New("the repository keeps its hooks in a folder of its own")

// GitResult says what was done in a repository's folder of hooks.
type GitResult struct {
	Dir        string   `json:"dir"`
	Changed    []string `json:"changed"` // hooks
	Kept       []string `json:"kept"`    // hooks of others that ours calls first
	DryRun     bool     `json:"dry_run"`
	Registered bool     `json:"registered"`
}

const (
	gitMark = "# agent-coordinator: written by coordctl install git; coordctl uninstall git takes it out"
	keptEnd = ".before-coord"
)

// gitHook is the script: the hook that was there first, then ours. pre-push gives both the same input.
func gitHook(r Request, name string) string {
	own := filepath.Base(name) + keptEnd
	line := strings.Replace(r.hookLine("git "+name), " --fail", ` "$@" --fail`, 1)
	if name == "pre-push" {
		return fmt.Sprintf("#!/bin/sh\n%s\nin=$(cat)\nbefore=\"$(dirname \"$0\")/%s\"\nif [ -x \"$before\" ]; then printf '%%s\\n' \"$in\" | \"$before\" \"$@\" || exit $?; fi\n"+
			"[ -n \"$in\" ] || exit 0\nprintf '%%s\\n' \"$in\" | %s\n", gitMark, own, strings.Replace(line, ` "$@"`, "", 1))
	}
	return fmt.Sprintf("#!/bin/sh\n%s\nbefore=\"$(dirname \"$0\")/%s\"\nif [ -x \"$before\" ]; then \"$before\" \"$@\" || exit $?; fi\nexec %s\n", gitMark, own, line)
}

// InstallGit puts the guard into the hooks of the repository at r.Dir. Hooks that are there are kept beside ours and
// run first. Errors: no repository; ErrSharedHooks.
func InstallGit(ctx context.Context, r Request) (GitResult, error) {
	res, err := gitDir(ctx, r)
	if err != nil {
		return res, err
	}
	for _, name := range GitHooks() {
		path := filepath.Join(res.Dir, name)
		want := gitHook(r, name)
		have, err := readFile(path)
		if err != nil {
			return res, err
		}
		if string(have) == want {
			continue
		}
		res.Changed = append(res.Changed, name)
		foreign := have != nil && !strings.Contains(string(have), gitMark)
		if foreign {
			res.Kept = append(res.Kept, name)
		}
		if r.DryRun {
			continue
		}
		if foreign {
			if err := os.Rename(path, path+keptEnd); err != nil {
				return res, fmt.Errorf("keep the hook that is there: %w", err)
			}
		}
		if err := replaceFile(path, []byte(want)); err != nil {
			return res, err
		}
		if err := os.Chmod(path, 0o755); err != nil {
			return res, fmt.Errorf("make the hook runnable: %w", err)
		}
	}
	res.Registered = !r.DryRun
	return res, nil
}

// UninstallGit takes ours out and puts back what was there.
func UninstallGit(ctx context.Context, r Request) (GitResult, error) {
	res, err := gitDir(ctx, r)
	if err != nil {
		return res, err
	}
	for _, name := range GitHooks() {
		path := filepath.Join(res.Dir, name)
		have, err := readFile(path)
		if err != nil {
			return res, err
		}
		if !strings.Contains(string(have), gitMark) {
			continue
		}
		res.Changed = append(res.Changed, name)
		if r.DryRun {
			continue
		}
		switch err := os.Rename(path+keptEnd, path); {
		case err == nil:
			res.Kept = append(res.Kept, name)
		case errors.Is(err, fs.ErrNotExist):
			if err := os.Remove(path); err != nil {
				return res, fmt.Errorf("take the hook out: %w", err)
			}
		default:
			return res, fmt.Errorf("put the earlier hook back: %w", err)
		}
	}
	return res, nil
}

// gitDir finds the folder of hooks. One that lies in the working tree belongs to a tool such as husky.
func gitDir(ctx context.Context, r Request) (GitResult, error) {
	res := GitResult{DryRun: r.DryRun}
	ask := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = r.Dir
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	dir, err := ask("rev-parse", "--path-format=absolute", "--git-path", "hooks")
	if err != nil {
		return res, fmt.Errorf("%s is no git repository (or git is missing): %w", r.Dir, err)
	}
	res.Dir = dir
	top, err := ask("rev-parse", "--show-toplevel")
	if err != nil {
		return res, fmt.Errorf("%s has no working tree: %w", r.Dir, err)
	}
	common, err := ask("rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return res, fmt.Errorf("find the repository: %w", err)
	}
	if inside(top, dir) && !inside(common, dir) {
		return res, fmt.Errorf("%w: %s (core.hooksPath); add there, to each hook: %s", ErrSharedHooks, dir, r.hookLine("git <hook>"))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return res, fmt.Errorf("folder of hooks: %w", err)
	}
	return res, nil
}

func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
