package source

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

// Range is lines first to last of a file's new side, 1-based and inclusive.
type Range struct{ First, Last int }

// MergeBase is where head left base: what a pull request is compared with. Without a common history, which a shallow
// mirror does not have, it is base itself; "" stands for an empty tree.
func (s *Store) MergeBase(ctx context.Context, cloneURL, base, head string) (string, error) {
	if base == "" {
		return "", nil
	}
	mirror := s.mirror(cloneURL)
	for _, sha := range []string{base, head} {
		if !isObject.MatchString(sha) || !s.has(ctx, mirror, sha) {
			return "", fmt.Errorf("%w: %s has not been fetched", ErrNotFound, sha)
		}
	}
	out, err := s.git(ctx, mirror, "merge-base", base, head)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if found := strings.TrimSpace(string(out)); err == nil && isObject.MatchString(found) {
		return found, nil
	}
	return base, nil
}

// diff runs git diff between the merge base and head.
func (s *Store) diff(ctx context.Context, cloneURL, base, head string, args ...string) ([]byte, error) {
	from, err := s.MergeBase(ctx, cloneURL, base, head)
	if err != nil {
		return nil, err
	}
	if from == "" {
		from = emptyTree
	}
	args = append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none", "-M"}, args...)
	return s.git(ctx, s.mirror(cloneURL), append(args, from, head, "--")...)
}

// ChangedFiles lists what head changes from where it left base; both must have been fetched. An empty base means that
// every file is new. Bytes of a path that are no UTF-8 are shown as U+FFFD.
func (s *Store) ChangedFiles(ctx context.Context, cloneURL, base, head string) ([]route.File, error) {
	out, err := s.diff(ctx, cloneURL, base, head, "--raw", "--numstat", "-z", "--abbrev=40")
	if err != nil {
		return nil, err
	}
	files, _, err := parseChanges(out)
	return files, err
}

var statuses = map[byte]string{'A': "added", 'D': "removed", 'M': "modified", 'R': "renamed", 'C': "copied", 'T': "changed"}

// parseChanges reads `git diff --raw --numstat -z`: first the raw records, which start with a colon, then the counts in
// the same order of paths. binary holds the paths that have no lines.
func parseChanges(out []byte) (files []route.File, binary map[string]bool, err error) {
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(out) == 0 {
		return nil, nil, nil
	}
	binary = map[string]bool{}
	at := map[string]int{} // by the path as git has it
	i := 0
	next := func() string {
		i++
		if i > len(fields) {
			return ""
		}
		return fields[i-1]
	}
	for i < len(fields) && strings.HasPrefix(fields[i], ":") {
		meta := strings.Fields(next())
		if len(meta) != 5 || statuses[meta[4][0]] == "" {
			return nil, nil, fmt.Errorf("git diff printed a record that is not understood: %q", meta)
		}
		f := route.File{Status: statuses[meta[4][0]], Mode: meta[1]}
		if f.Status == "removed" {
			f.Mode = strings.TrimPrefix(meta[0], ":")
		}
		name := next()
		if f.Status == "renamed" || f.Status == "copied" {
			f.PreviousPath = clean(name)
			name = next()
		}
		f.Path = clean(name)
		at[name] = len(files)
		files = append(files, f)
	}
	for i < len(fields) {
		counts := strings.SplitN(next(), "\t", 3)
		if len(counts) != 3 {
			return nil, nil, fmt.Errorf("git diff printed a count that is not understood: %q", counts)
		}
		name := counts[2]
		if name == "" { // a rename: the two paths follow
			next()
			name = next()
		}
		n, ok := at[name]
		if !ok {
			return nil, nil, fmt.Errorf("git diff counted %q, which it did not list", name)
		}
		files[n].Additions, _ = strconv.Atoi(counts[0]) // "-" for a binary file: 0
		files[n].Deletions, _ = strconv.Atoi(counts[1])
		if counts[0] == "-" {
			binary[files[n].Path] = true
		}
	}
	return files, binary, nil
}

func clean(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

var hunk = regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@`)

// ChangedLines lists for each file of head the lines that it changes: none where lines were only removed, all of them in
// a file that git takes for binary, so that a stray NUL hides nothing.
func (s *Store) ChangedLines(ctx context.Context, cloneURL, base, head string) (map[string][]Range, error) {
	out, err := s.diff(ctx, cloneURL, base, head, "--raw", "--numstat", "-z", "--abbrev=40")
	if err != nil {
		return nil, err
	}
	files, binary, err := parseChanges(out)
	if err != nil {
		return nil, err
	}
	out, err = s.diff(ctx, cloneURL, base, head, "-U0", "--src-prefix=a/", "--dst-prefix=b/")
	if err != nil {
		return nil, err
	}
	lines := map[string][]Range{}
	for _, f := range files {
		if f.Status != "removed" {
			lines[f.Path] = nil
		}
		if binary[f.Path] {
			lines[f.Path] = []Range{{1, math.MaxInt32}}
		}
	}
	patched(out, lines)
	return lines, nil
}

// patched adds the changed lines of a patch without context to the files that lines knows.
func patched(patch []byte, lines map[string][]Range) {
	current, body := "", 0
	for line := range bytes.SplitSeq(patch, []byte("\n")) {
		if body > 0 && len(line) > 0 && (line[0] == '+' || line[0] == '-') {
			body--
			continue
		}
		if name, ok := bytes.CutPrefix(line, []byte("+++ ")); ok && body == 0 {
			current = patchName(string(name))
			continue
		}
		if m := hunk.FindSubmatch(line); m != nil {
			first, count := number(m[1], 0), number(m[2], 1)
			body = count + number(oldCount.FindSubmatch(line)[1], 1)
			if _, known := lines[current]; known && count > 0 {
				lines[current] = append(lines[current], Range{first, first + count - 1})
			}
		}
	}
}

var oldCount = regexp.MustCompile(`^@@ -\d+(?:,(\d+))?`)

func number(text []byte, otherwise int) int {
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return otherwise
	}
	return n
}

// patchName reads the name behind +++ : git quotes it when it has control characters or quotes, and ends it with a tab
// when it has blanks.
func patchName(name string) string {
	name = strings.TrimSuffix(name, "\t")
	if strings.HasPrefix(name, `"`) {
		// Git's escapes are C's, which are Go's but for bytes in octal, and those Go has too.
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
	}
	return clean(strings.TrimPrefix(name, "b/"))
}
