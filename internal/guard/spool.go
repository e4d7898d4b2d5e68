package guard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// step is one thing that happened in a session, as the hooks saw it. Steps are kept in a file until they are in the
// memory, since no hook may make an agent wait for a model or a network to learn.
type step struct {
	Kind    stepKind `json:"k"`
	Text    string   `json:"t,omitempty"` // what was asked, the path, the command
	Error   string   `json:"e,omitempty"` // of a command that failed
	Session string   `json:"s,omitempty"`
	Root    string   `json:"r,omitempty"` // working tree
	Upto    int      `json:"n,omitempty"` // of kept: how many steps before it are in the memory
}

type stepKind string

const (
	stepAsked  stepKind = "asked"
	stepEdited stepKind = "edited"
	stepRan    stepKind = "ran"    // and it worked
	stepFailed stepKind = "failed" // it ran and did not work
	stepKept   stepKind = "kept"
)

const (
	maxSpool  = 512 << 10 // bytes of one session's file; what comes after is not kept
	maxAsked  = 200       // bytes of a prompt
	maxRan    = 300       // of a command
	maxError  = 300       // of what it printed
	idleAfter = 30 * time.Minute
	spoolEnd  = ".steps"
)

// MemoryVariable switches the learning off where it is "off".
const MemoryVariable = "COORD_HOOK_MEMORY"

func (g *Guard) learns() bool {
	return g.State != "" && !strings.EqualFold(g.Getenv(MemoryVariable), "off")
}

func (g *Guard) spoolFile(session string) string {
	sum := sha256.Sum256([]byte(g.Server + "\n" + session))
	return filepath.Join(g.State, hex.EncodeToString(sum[:8])+spoolEnd)
}

// note keeps what a call tells, when it tells something worth learning from. A file that cannot be written only costs
// the memory of it.
func (g *Guard) note(c Call, root string) {
	if !g.learns() || c.Session == "" || root == "" {
		return
	}
	var steps []step
	switch c.Event {
	case Prompt:
		if text := oneLine(redact(c.Prompt), maxAsked); text != "" {
			steps = append(steps, step{Kind: stepAsked, Text: text})
		}
	case AfterTool:
		steps = c.steps(root, g.Getenv)
	}
	g.append(c.Session, root, steps)
}

// append writes steps as one piece: hooks of parallel calls write at the same time.
func (g *Guard) append(session, root string, steps []step) {
	if len(steps) == 0 {
		return
	}
	var b bytes.Buffer
	for _, s := range steps {
		s.Session, s.Root = session, root
		raw, _ := json.Marshal(s) // strings and numbers
		b.Write(append(raw, '\n'))
	}
	path := g.spoolFile(session)
	if st, err := os.Stat(path); err == nil && st.Size() > maxSpool || os.MkdirAll(g.State, 0o700) != nil {
		return
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(b.Bytes()) // as said above
	_ = f.Close()
}

// readSpool reads a session's steps. A line that is no step (a torn write of a machine that went down) is skipped.
func readSpool(path string) ([]step, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what the session did: %w", err)
	}
	var out []step
	for line := range bytes.Lines(raw) {
		var s step
		if json.Unmarshal(line, &s) == nil && s.Kind != "" {
			out = append(out, s)
		}
	}
	return out, nil
}

// keptUpto is how many of the steps are in the memory already.
func keptUpto(steps []step) int {
	n := 0
	for _, s := range steps {
		if s.Kind == stepKept {
			n = max(n, s.Upto)
		}
	}
	return n
}

// leftOver lists files of sessions that ended without saying so: nothing was written for half an hour.
func (g *Guard) leftOver(mine string) []string {
	found, err := filepath.Glob(filepath.Join(g.State, "*"+spoolEnd))
	if err != nil {
		return nil
	}
	var out []string
	for _, path := range found {
		if st, err := os.Stat(path); err == nil && path != mine && time.Since(st.ModTime()) > idleAfter {
			out = append(out, path)
		}
	}
	return out
}

// oneLine is text on one line, cut at a character's border.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xC0 == 0x80 {
		most--
	}
	return text[:most] + "…"
}
