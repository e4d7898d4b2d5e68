package importer

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Found is what a source holds.
type Found struct {
	Source   string // beads, vibe-kanban, mcp-agent-mail
	Tasks    []Task
	Memories []Memory
	Mail     []Mail
	Locks    []Lock
	Agents   []string // that are named anywhere
	Problems []Problem
	Left     []Left
}

// Task is open work.
type Task struct {
	Ref       string // its id there
	Type      string
	Text      string
	Priority  int // 1 to 10, 1 is first
	DependsOn []string
	Labels    []string
	Data      map[string]any // everything else that is known of it
	where     string
}

// Memory is something that is over, to be found again.
type Memory struct {
	Ref       string
	EventType string
	Summary   string
	Outcome   string
	Lessons   []string
	Tags      []string
	AgentID   string
	Details   map[string]any
	CreatedAt string // RFC 3339; empty: not known
}

// Mail is a message that somebody has not read.
type Mail struct {
	Ref, From, Text string
	To              []string
	AckRequired     bool
	Urgent          bool
	Thread          string
}

// Lock is a reservation that is still valid.
type Lock struct {
	Agent, Program, Path, Reason string
	Shared                       bool
	Until                        time.Time
}

// Problem is something that could not be read, or not taken as it stands.
type Problem struct {
	Where string `json:"where"` // "line 12", "messages row 7", a file
	What  string `json:"what"`
}

// Left counts what is not imported on purpose.
type Left struct {
	What  string `json:"what"`
	Count int    `json:"count"`
	Why   string `json:"why"`
}

// Errors to be recognised with errors.Is.
var (
	ErrNotThis  = errors.New("it is not an export of this kind")
	ErrWhichOne = errors.New("it holds several projects")
)

func (f *Found) problem(where, format string, args ...any) {
	f.Problems = append(f.Problems, Problem{Where: where, What: fmt.Sprintf(format, args...)})
}

func (f *Found) left(what, why string) {
	for i := range f.Left {
		if f.Left[i].What == what && f.Left[i].Why == why {
			f.Left[i].Count++
			return
		}
	}
	f.Left = append(f.Left, Left{What: what, Count: 1, Why: why})
}

func (f *Found) agent(name string) {
	if name != "" && !slices.Contains(f.Agents, name) {
		f.Agents = append(f.Agents, name)
	}
}

// settle drops dependencies that cannot be kept and says so: on what is not there, and those that close a circle.
// done are the refs of what is over: nothing waits for it.
func (f *Found) settle(done map[string]bool) {
	at := map[string]int{}
	for i, t := range f.Tasks {
		at[t.Ref] = i
	}
	for i := range f.Tasks {
		t := &f.Tasks[i]
		t.DependsOn = slices.DeleteFunc(unique(t.DependsOn), func(ref string) bool {
			_, open := at[ref]
			if !open && !done[ref] {
				f.problem(t.where, "%s waits for %s, which is not in the export; the dependency is left out", t.Ref, ref)
			}
			return !open
		})
	}
	const begun, over = 1, 2
	state := map[string]int{}
	var visit func(i int)
	visit = func(i int) {
		t := &f.Tasks[i]
		state[t.Ref] = begun
		t.DependsOn = slices.DeleteFunc(t.DependsOn, func(ref string) bool {
			if state[ref] == begun {
				f.problem(t.where, "%s and %s wait for each other; the dependency on %s is left out", t.Ref, ref, ref)
				return true
			}
			if state[ref] == 0 {
				visit(at[ref])
			}
			return false
		})
		state[t.Ref] = over
	}
	for i, t := range f.Tasks {
		if state[t.Ref] == 0 {
			visit(i)
		}
	}
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// idOf makes the same UUID of the same thing every time (version 5 in form, of our own name space).
func idOf(parts ...string) string {
	sum := sha1.Sum([]byte("agent-coordinator import\x00" + strings.Join(parts, "\x00"))) //nolint:gosec // a name, no signature
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// cut shortens text to at most n bytes at a character's border.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// clean makes text storable: Postgres keeps no NUL.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\x00", "")
}

// firstLine is one line to find a thing by.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
