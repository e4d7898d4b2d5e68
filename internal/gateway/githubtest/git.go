package githubtest

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// git runs git in the repository behind.
func (r *Repo) git(args ...string) (string, bool) {
	cmd := exec.Command("git", append([]string{"-c", "safe.directory=*", "-C", r.Dir}, args...)...)
	out, err := cmd.Output()
	return string(out), err == nil
}

func (r *Repo) gitHas(sha string) bool {
	_, ok := r.git("cat-file", "-e", sha+"^{commit}")
	return ok
}

func (r *Repo) gitShow(ref, path string) (string, bool) { return r.git("show", ref+":"+path) }

// gitCompare is GitHub's three-dot comparison.
func (r *Repo) gitCompare(base, head string) (Comparison, bool) {
	if strings.HasPrefix(base, "-") || strings.HasPrefix(head, "-") {
		return Comparison{}, false
	}
	fork, ok := r.git("merge-base", base, head)
	if !ok {
		return Comparison{}, false
	}
	fork = strings.TrimSpace(fork)
	behind, _ := r.git("rev-list", "--count", head+".."+base)
	var c Comparison
	if c.Commits, ok = r.gitLog(base + ".." + head); !ok {
		return Comparison{}, false
	}
	slices.Reverse(c.Commits) // oldest first
	switch {
	case len(c.Commits) == 0 && strings.TrimSpace(behind) == "0":
		c.Status = "identical"
	case len(c.Commits) == 0:
		c.Status = "behind"
	case strings.TrimSpace(behind) == "0":
		c.Status = "ahead"
	default:
		c.Status = "diverged"
	}
	c.Files, ok = r.gitFiles(fork, head)
	return c, ok
}

// gitLog lists commits, newest first. Names of authors stand for logins.
func (r *Repo) gitLog(what string) ([]Commit, bool) {
	log, ok := r.git("log", "--format=%H%x00%an%x00%ae%x00%cn%x00%B%x01", "--end-of-options", what)
	if !ok {
		return nil, false
	}
	var out []Commit
	for entry := range strings.SplitSeq(log, "\x01") {
		if f := strings.Split(strings.TrimSpace(entry), "\x00"); len(f) == 5 {
			out = append(out, Commit{SHA: f[0], Author: f[1], AuthorEmail: f[2], Committer: f[3], Message: f[4]})
		}
	}
	return out, true
}

// gitFiles lists what differs between two commits, with the number of lines.
func (r *Repo) gitFiles(base, head string) ([]File, bool) {
	names, ok := r.git("diff", "-z", "-M", "--name-status", base, head)
	if !ok {
		return nil, false
	}
	numbers, _ := r.git("diff", "-z", "-M", "--numstat", base, head)
	lines := map[string][2]int{}
	for fields := strings.Split(numbers, "\x00"); len(fields) > 1; {
		n := strings.Split(fields[0], "\t")
		fields = fields[1:]
		if len(n) != 3 {
			break
		}
		path := n[2]
		if path == "" && len(fields) > 2 { // a rename: old and new follow
			path, fields = fields[1], fields[2:]
		}
		added, _ := strconv.Atoi(n[0])
		removed, _ := strconv.Atoi(n[1])
		lines[path] = [2]int{added, removed}
	}
	words := map[byte]string{'A': "added", 'D': "removed", 'M': "modified", 'R': "renamed", 'C': "copied", 'T': "changed"}
	var out []File
	for fields := strings.Split(names, "\x00"); len(fields) > 1; {
		f := File{Status: words[fields[0][0]], Path: fields[1]}
		fields = fields[2:]
		if f.Status == "renamed" || f.Status == "copied" {
			f.Previous, f.Path = f.Path, fields[0]
			fields = fields[1:]
		}
		f.Additions, f.Deletions = lines[f.Path][0], lines[f.Path][1]
		out = append(out, f)
	}
	return out, true
}

func (r *Repo) gitTree(sha string) (tree, bool) {
	out, ok := r.git("ls-tree", "-r", "-z", sha)
	if !ok {
		return tree{}, false
	}
	t := tree{modes: map[string]string{}}
	for entry := range strings.SplitSeq(out, "\x00") {
		if meta, path, ok := strings.Cut(entry, "\t"); ok {
			t.modes[path], _, _ = strings.Cut(meta, " ")
		}
	}
	return t, true
}
