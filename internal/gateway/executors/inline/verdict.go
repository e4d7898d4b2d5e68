package inline

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/local"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/source"
)

const (
	maxFindings = 1000
	maxScanned  = 4 << 20 // bytes of a file in which suppressions are looked for
	// suppressed is appended to what a directive in the source would hide.
	suppressed = " (hidden by a directive, which holds only on lines that the change does not touch)"
)

// wholeFile are rules whose line says little: a missing bracket is found at the end of the file.
var wholeFile = []string{ruleCompile, "syntax", "parse", "format", ""}

// counts says whether the finding is the change's.
func (w *work) counts(f executors.Finding, t *found, inv invocation) bool {
	if inv.anywhere && (f.Rule == ruleCompile || t.Name == "tsc") {
		return true
	}
	ranges, changed := w.lines[f.Path]
	switch {
	case !changed:
		return false
	case f.Line <= 0, slices.Contains(wholeFile, f.Rule), strings.HasPrefix(f.Rule, "SC1"):
		return true
	}
	first, last := f.Line, max(f.Line, f.EndLine)
	if strings.HasSuffix(f.Message, suppressed) {
		first-- // the directive stands on the line above, or on the same
	}
	return slices.ContainsFunc(ranges, func(r source.Range) bool { return r.First <= last && first <= r.Last })
}

// add keeps a finding of the gateway's own.
func (w *work) add(f executors.Finding) { w.findings = append(w.findings, f) }

// lookAtNames finds files that no tool can be pointed at.
func (w *work) lookAtNames() {
	for _, name := range sorted(w.lines) {
		if strings.ContainsFunc(name, func(r rune) bool { return r == '\uFFFD' || unicode.IsControl(r) }) {
			w.add(executors.Finding{
				Tool: "gateway", Rule: "name", Level: "error", Path: name,
				Message: "the name of this file has control characters or is not valid UTF-8: what tools say of it cannot be trusted",
			})
		}
	}
}

// directives tell a tool to overlook something.
var directives = regexp.MustCompile(`(?i)\bnolint\b|lint:(file-)?ignore\b|\bgitleaks:allow\b|\bshellcheck disable=|\b(eslint|oxlint)-disable|\bbiome-ignore\b|` +
	`@ts-(ignore|nocheck|expect-error)\b|#\s*noqa\b|#\s*ruff:\s*noqa|#\s*type:\s*ignore|#\s*mypy:|\bnosec\b|\bnosemgrep\b`)

// lookAtSuppressions shows directives that the change adds, so that a person sees them.
func (w *work) lookAtSuppressions() {
	for _, name := range w.target.files {
		raw, err := os.ReadFile(filepath.Join(w.target.dir, filepath.FromSlash(name)))
		if err != nil || len(raw) > maxScanned || !directives.Match(raw) {
			continue
		}
		in := bufio.NewScanner(bytes.NewReader(raw))
		in.Buffer(nil, maxScanned)
		for n := 1; in.Scan(); n++ {
			m := directives.Find(in.Bytes())
			if m == nil || !slices.ContainsFunc(w.lines[name], func(r source.Range) bool { return r.First <= n && n <= r.Last }) {
				continue
			}
			w.add(executors.Finding{
				Tool: "gateway", Rule: "suppression", Level: "warning", Path: name, Line: n,
				Message: fmt.Sprintf("the change tells a tool to overlook something: %q", m),
			})
		}
	}
}

// outcome is the verdict over everything that was found.
func (w *work) outcome(ctx context.Context, started time.Time) executors.Outcome {
	failOn := levels[or(w.job.Policy.FailOn, "error")]
	if failOn == 0 {
		failOn = 1 // an unknown word must not let anything pass
	}
	slices.SortStableFunc(w.findings, func(a, b executors.Finding) int { return levels[b.Level] - levels[a.Level] })
	failing := 0
	for _, f := range w.findings {
		if levels[f.Level] >= failOn {
			failing++
		}
	}
	out := local.Ended(executors.Success, "", started)
	out.Findings = w.findings[:min(len(w.findings), maxFindings)]
	out.Output = w.output()
	cause := context.Cause(ctx)
	switch {
	case failing > 0:
		first := w.findings[0]
		out.Conclusion = executors.Failure
		out.Reason = fmt.Sprintf("%d of %d findings fail the change; the first, by %s: %s", failing, len(w.findings), first.Tool, where(first))
	case errors.Is(cause, context.DeadlineExceeded):
		out.Conclusion, out.Reason = executors.TimedOut, fmt.Sprintf("the tools did not end within %s", w.job.Timeout)
	case cause != nil:
		out.Conclusion, out.Reason = executors.Cancelled, cause.Error()
	case len(w.broken) > 0:
		slices.Sort(w.broken)
		out.Conclusion, out.Reason = executors.InfraError, "a tool did not work: "+w.broken[0]
	case len(w.ran) == 0:
		out.Reason = "nothing to check: no tool fits" + w.absent()
	default:
		slices.Sort(w.ran)
		out.Reason = fmt.Sprintf("%s found nothing that fails the change%s", strings.Join(slices.Compact(w.ran), ", "), w.absent())
	}
	return out
}

func where(f executors.Finding) string {
	at := f.Path
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", f.Path, f.Line)
	}
	return strings.TrimPrefix(at+": "+f.Message, ": ")
}

// absent names the tools that would fit and are not here: a person should know what was not looked at.
func (w *work) absent() string {
	var names []string
	for name := range w.box.missing {
		for _, t := range w.box.known {
			if t.Name != name {
				continue
			}
			if invocations, _ := t.invocations(&w.target); len(invocations) > 0 && len(w.job.Policy.Tools) == 0 {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return " (not installed: " + strings.Join(names, ", ") + ")"
}

// output is the log that is stored with the run.
func (w *work) output() string {
	var b strings.Builder
	b.WriteString(w.log.String())
	for _, line := range w.notes {
		fmt.Fprintf(&b, "note: %s\n", line)
	}
	for _, line := range w.broken {
		fmt.Fprintf(&b, "did not work: %s\n", line)
	}
	if w.left > 0 {
		fmt.Fprintf(&b, "%d more were found on lines that the change does not touch\n", w.left)
	}
	if over := len(w.findings) - maxFindings; over > 0 {
		fmt.Fprintf(&b, "%d findings beyond the first %d are not kept\n", over, maxFindings)
	}
	return local.Text([]byte(b.String()))
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
