package install

import (
	"bytes"
	_ "embed"
	"fmt"
	"path/filepath"
)

// protocol is what an agent should know, in Markdown. The plugin's skill says the same.
//
//go:embed protocol.md
var protocol string

var note = block{
	begin: "<!-- agent-coordinator:begin (coordctl writes this part anew; write yours outside) -->",
	end:   "<!-- agent-coordinator:end -->",
}

func noteBody() string {
	return note.begin + "\n## Working with others: Agent Coordinator\n\n" + protocol + note.end
}

// Note says what was done with the file of instructions that the host's agents read.
type Note struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Diff    string `json:"diff,omitempty"`
	Backup  string `json:"backup,omitempty"`
	Present bool   `json:"present"` // after this call
}

// notes are the files of instructions that hosts read: in the project, and in the user's folder ("" where there is none).
var notes = map[string]struct {
	project string
	user    func(Request) string
}{
	"claude-code": {"CLAUDE.md", func(r Request) string { return filepath.Join(filepath.Dir(claudeSettings(r)), "CLAUDE.md") }},
	"codex":       {"AGENTS.md", func(r Request) string { return filepath.Join(filepath.Dir(codexFile(r)), "AGENTS.md") }},
	"cursor":      {"AGENTS.md", func(Request) string { return "" }},
	"gemini":      {"GEMINI.md", inFolder(".gemini", "GEMINI.md")},
}

// noteFile is the file of instructions; empty: the host reads none of this scope.
func noteFile(r Request) string {
	if r.Scope == Project {
		return filepath.Join(r.Dir, notes[r.Host].project)
	}
	return notes[r.Host].user(r)
}

// applyNote writes our part of the file of instructions when it is asked for, renews it where it is there, or takes it
// out. Error: the host reads no such file of this scope, and it was asked for.
func applyNote(r Request, add bool, res *Result) error {
	file := noteFile(r)
	if file == "" {
		if add && r.Instructions {
			return fmt.Errorf("%s reads no instructions of the user from a file; use --project, which writes %s", hosts[r.Host].title, notes[r.Host].project)
		}
		return nil
	}
	before, err := readFile(file)
	if err != nil {
		return err
	}
	c, present, err := noteEdit(before, add, r.Instructions)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if c.removed == "" && c.added == "" && !present && !r.Instructions {
		return nil
	}
	n := &Note{File: file, Diff: c.diff(), Changed: c.removed != c.added, Present: present}
	res.Instructions = n
	if !n.Changed || r.DryRun {
		return nil
	}
	if add {
		if n.Backup, err = backup(file, before); err != nil {
			return err
		}
	}
	return replaceFile(file, c.after)
}

// noteEdit edits the file's content: our part is put in when it is asked for or there already, else taken out.
func noteEdit(before []byte, add, asked bool) (c change, present bool, err error) {
	text := string(before)
	_, to, err := note.find(text)
	if err != nil || !add && to == 0 || add && to == 0 && !asked {
		return change{after: before}, false, err
	}
	if !add {
		rest, old, gone, err := note.cut(text)
		if err != nil || gone {
			return change{removed: old}, false, err
		}
		return change{after: []byte(rest), removed: old}, false, nil
	}
	after, old, err := note.put(text, before != nil, noteBody())
	if err != nil || bytes.Equal([]byte(after), before) {
		return change{after: before}, err == nil, err
	}
	return change{after: []byte(after), removed: old, added: noteBody()}, true, nil
}
