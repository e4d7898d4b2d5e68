package guard

import (
	"path/filepath"
	"slices"
	"strings"
)

// gitReads never change the working tree.
var gitReads = []string{
	"status", "log", "diff", "show", "blame", "grep", "ls-files", "ls-tree", "ls-remote", "rev-parse", "rev-list", "describe", "cat-file",
	"config", "remote", "fetch", "push", "add", "commit", "tag", "reflog", "shortlog", "for-each-ref", "symbolic-ref", "merge-base", "name-rev",
	"check-ignore", "check-attr", "count-objects", "fsck", "gc", "help", "version", "notes", "var", "whatchanged", "cherry", "archive", "bundle",
	"format-patch", "hash-object", "write-tree", "update-index", "update-ref", "diff-tree", "diff-index", "diff-files", "range-diff", "init",
}

// git reads one git command. What replaces the tree as a whole (switch, merge, rebase, stash, …) makes the reading
// unsure: which files it touches shows afterwards.
func git(s *shell, args []string) {
	dir := s.dir
	defer func() { s.dir = dir }()
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch {
		case args[0] == "-C" && len(args) > 1:
			if s.dir != "" || filepath.IsAbs(args[1]) {
				s.dir = s.abs(args[1])
			}
			args = args[2:]
		case (args[0] == "-c" || args[0] == "--git-dir" || args[0] == "--work-tree") && len(args) > 1:
			args = args[2:]
		default:
			args = args[1:]
		}
	}
	if len(args) == 0 {
		return
	}
	verb, rest := args[0], args[1:]
	switch {
	case slices.Contains(gitReads, verb):
	case verb == "branch" || verb == "worktree" && len(rest) > 0 && rest[0] != "remove":
	case verb == "stash" && len(rest) > 0 && (rest[0] == "list" || rest[0] == "show"):
	case verb == "rm":
		if !slices.Contains(rest, "--cached") {
			s.write(true, operands(rest, "")...)
		}
	case verb == "mv":
		moveTo(s, rest)
	case verb == "checkout":
		gitCheckout(s, rest)
	case verb == "restore":
		gitRestore(s, rest)
	case verb == "apply":
		gitApply(s, rest)
	default:
		s.unsure()
	}
}

func gitCheckout(s *shell, args []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		s.write(false, args[i+1:]...)
		return
	}
	if files := existing(s, operands(args, "bB")); len(files) > 0 && s.dir != "" && !slices.Contains(args, "-b") && !slices.Contains(args, "-B") {
		s.write(false, files...)
		return
	}
	if !slices.Contains(args, "-b") {
		s.unsure()
	}
}

func gitRestore(s *shell, args []string) {
	staged := slices.Contains(args, "--staged") || slices.Contains(args, "-S")
	if staged && !slices.Contains(args, "--worktree") && !slices.Contains(args, "-W") {
		return
	}
	s.write(false, operands(args, "s")...)
}

func gitApply(s *shell, args []string) {
	if slices.Contains(args, "--check") || slices.Contains(args, "--stat") || slices.Contains(args, "--numstat") || slices.Contains(args, "--cached") {
		return
	}
	files := operands(args, "pC")
	if len(files) == 0 {
		s.unsure()
	}
	for _, f := range files {
		s.patchFile(f)
	}
}

// unifiedPaths lists what a unified diff changes, without git's a/ and b/.
func unifiedPaths(diff string) []string {
	var out []string
	for line := range strings.Lines(diff) {
		name, ok := strings.CutPrefix(line, "+++ ")
		if !ok {
			name, ok = strings.CutPrefix(line, "--- ")
		}
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(strings.TrimRight(name, "\r\n"), "\t")
		if name == "/dev/null" || name == "" {
			continue
		}
		if len(name) > 2 && (strings.HasPrefix(name, "a/") || strings.HasPrefix(name, "b/")) {
			name = name[2:]
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
