package guard

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// result is what a host says about the end of a tool call. Failed and Worked are both false when it does not say.
type result struct {
	Worked, Failed bool
	Text           string // what was printed, of a call that failed
}

// outcome reads the host's words: Claude Code has an event for calls that failed, Codex and Gemini CLI put it into the
// response, Cursor's differ by tool.
func (c Call) outcome() result {
	if c.HostName == "PostToolUseFailure" {
		return result{Failed: true, Text: c.Error}
	}
	var r struct {
		Stdout      *string         `json:"stdout"`
		Stderr      string          `json:"stderr"`
		Output      string          `json:"output"`
		Interrupted bool            `json:"interrupted"`
		ExitCode    *int            `json:"exit_code"`
		Code        *int            `json:"exitCode"`
		Error       json.RawMessage `json:"error"`
		Metadata    struct {
			ExitCode *int `json:"exit_code"`
		} `json:"metadata"`
		LLMContent json.RawMessage `json:"llmContent"`
	}
	var text string
	if json.Unmarshal(c.Response, &text) == nil {
		if json.Unmarshal([]byte(text), &r) != nil {
			return spoken(text)
		}
	} else if json.Unmarshal(c.Response, &r) != nil {
		return result{}
	}
	printed := r.Stderr + "\n" + r.Output
	if r.Stdout != nil {
		printed += "\n" + *r.Stdout
	}
	for _, code := range []*int{r.ExitCode, r.Code, r.Metadata.ExitCode} {
		if code != nil {
			return result{Worked: *code == 0, Failed: *code != 0, Text: printed}
		}
	}
	switch {
	case r.Interrupted:
		return result{}
	case len(r.Error) > 0 && string(r.Error) != "null":
		return result{Failed: true, Text: string(r.Error)}
	case len(r.LLMContent) > 0:
		_ = json.Unmarshal(r.LLMContent, &text) // a text, or nothing to read
		said := spoken(text)
		said.Worked = said.Worked || !said.Failed && strings.Contains(text, "Output: ") // Gemini CLI names codes of failures only
		return said
	}
	return result{Worked: c.Host == ClaudeCode && r.Stdout != nil}
}

// spoken reads an exit code out of a text for the model.
func spoken(text string) result {
	for _, mark := range []string{"Process exited with code ", "Exit code: ", "Exit Code: ", "exited with code "} {
		if _, rest, ok := strings.Cut(text, mark); ok {
			code := 0
			if n, err := fmt.Sscanf(rest, "%d", &code); n == 1 && err == nil {
				return result{Worked: code == 0, Failed: code != 0, Text: text}
			}
		}
	}
	return result{}
}

// steps is what there is to learn from in a call that ended.
func (c Call) steps(root string, getenv func(string) string) []step {
	if c.shell() {
		command, r := c.commandText(), c.outcome()
		if trivial(command) || !r.Worked && !r.Failed {
			return nil
		}
		s := step{Kind: stepRan, Text: oneLine(redact(command), maxRan)}
		if r.Failed {
			s.Kind, s.Error = stepFailed, oneLine(redact(telling(r.Text)), maxError)
		}
		return []step{s}
	}
	if r := c.outcome(); r.Failed {
		return nil
	}
	var out []step
	for _, w := range c.Read(getenv).Writes {
		if rel, err := filepath.Rel(root, real(w.Path, w.Delete)); err == nil && filepath.IsLocal(rel) && len(out) < 20 {
			out = append(out, step{Kind: stepEdited, Text: filepath.ToSlash(rel)})
		}
	}
	return out
}

// commandText is the command of a shell call.
func (c Call) commandText() string {
	var in toolInput
	var words []string
	text := ""
	switch {
	case json.Unmarshal(c.Input, &in) != nil:
	case json.Unmarshal(in.Command, &text) == nil:
	case json.Unmarshal(in.Command, &words) == nil && len(words) > 2 && (words[1] == "-c" || words[1] == "-lc"):
		text = words[2]
	default:
		text = strings.Join(words, " ")
	}
	return text
}

// telling picks the lines that say what went wrong.
func telling(text string) string {
	var first, marked []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		low := strings.ToLower(line)
		switch {
		case line == "" || strings.HasPrefix(low, "exit code"):
			continue
		case len(marked) < 3 && slices.ContainsFunc([]string{"error", "fail", "undefined", "not found", "cannot", "denied", "expected", "panic", "no such"}, func(w string) bool { return strings.Contains(low, w) }):
			marked = append(marked, line)
		case len(first) < 2:
			first = append(first, line)
		}
	}
	if len(marked) > 0 {
		return strings.Join(marked, "; ")
	}
	return strings.Join(first, "; ")
}

// looking are programs whose runs teach nothing: they look, move files about, or fail as an answer.
var looking = []string{
	"ls", "cat", "cd", "echo", "grep", "rg", "egrep", "fgrep", "find", "fd", "head", "tail", "sed", "awk", "git", "gh", "pwd", "which", "type", "command", "mkdir", "rmdir", "rm", "cp", "mv",
	"touch", "sleep", "true", "false", "printf", "wc", "sort", "uniq", "tree", "diff", "cmp", "test", "[", "export", "env", "ps", "kill", "jq", "tee", "xargs", "cut", "tr", "date", "file", "stat",
	"du", "df", "less", "more", "ln", "chmod", "chown", "set", "source", ".", "exit", "cd", "pushd", "popd", "read", "wait", "man", "history", "coordctl", "apply_patch", ":",
}

// working lists the simple commands of a script that do something, as their literal words.
func working(command string) [][]string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	var out [][]string
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		var words []string
		for _, a := range call.Args {
			words = append(words, a.Lit())
		}
		if program := filepath.Base(words[0]); words[0] != "" && !slices.Contains(looking, program) {
			out = append(out, words)
		}
		return true
	})
	return out
}

func trivial(command string) bool { return len(command) > 4000 || len(working(command)) == 0 }

// aim is what a command is for, so that a run that failed and one that worked can be told to be the same thing: the
// last program that does something and its first word that is no flag.
func aim(command string) string {
	list := working(command)
	if len(list) == 0 {
		return command
	}
	words := list[len(list)-1]
	for _, w := range words[1:] {
		if w != "" && !strings.HasPrefix(w, "-") {
			return words[0] + " " + w
		}
	}
	return words[0]
}

// maxFixes bounds what one session teaches.
const maxFixes = 10

// learnt is what a session's steps teach.
type learnt struct {
	fixes   []client.Remember
	at      []int // the step that completed each fix
	failing []step
	asked   []string
	edited  []string
	ran     []string // commands that worked, in order of their first time
}

// learn goes through the steps: a command that failed and later worked teaches what made the difference.
func learn(steps []step) learnt {
	type failure struct {
		step
		edited, ran []string
	}
	var l learnt
	open := map[string]*failure{}
	for i, s := range steps {
		switch s.Kind {
		case stepAsked:
			l.asked = add(l.asked, s.Text, 5)
		case stepEdited:
			l.edited = add(l.edited, s.Text, 20)
			for _, f := range open {
				f.edited = add(f.edited, s.Text, 5)
			}
		case stepFailed:
			if f := open[aim(s.Text)]; f != nil { // the newest failure is what is mended; what was tried since the first counts
				f.step = s
			} else {
				open[aim(s.Text)] = &failure{step: s}
			}
		case stepRan:
			l.ran = add(l.ran, s.Text, 20)
			f := open[aim(s.Text)]
			delete(open, aim(s.Text))
			if f != nil && len(l.fixes) < maxFixes {
				if fix, ok := fixed(f.step, s.Text, f.edited, f.ran); ok {
					l.fixes, l.at = append(l.fixes, fix), append(l.at, i)
				}
			}
			for _, other := range open {
				other.ran = add(other.ran, s.Text, 3)
			}
		}
	}
	for _, f := range open {
		l.failing = append(l.failing, f.step)
	}
	slices.SortFunc(l.failing, func(a, b step) int { return strings.Compare(a.Text, b.Text) })
	return l
}

func add(list []string, text string, most int) []string {
	if slices.Contains(list, text) || len(list) >= most {
		return list
	}
	return append(list, text)
}

// fixed says what made a command work; false: nothing that can be seen did (it works now and then).
func fixed(f step, worked string, edited, ran []string) (client.Remember, bool) {
	r := client.Remember{
		EventType: "fix", Outcome: "success", Tags: []string{"hooks", strings.Fields(aim(worked))[0]},
		Details: map[string]any{"failed": f.Text, "worked": worked},
	}
	var did []string
	if len(edited) > 0 {
		did = append(did, "changing "+strings.Join(edited, ", "))
	}
	if len(ran) > 0 {
		did = append(did, "running `"+strings.Join(ran, "`, `")+"`")
	}
	how := "it worked after " + strings.Join(did, " and ")
	switch {
	case worked != f.Text:
		how = "`" + worked + "` worked instead"
	case len(did) == 0:
		return r, false
	}
	if len(edited) > 0 {
		r.Path = edited[len(edited)-1]
		r.Details["changed"] = edited
	}
	r.Summary = "`" + f.Text + "` failed"
	if f.Error != "" {
		r.Summary += ": " + f.Error
		r.Details["error"] = f.Error
	}
	r.Lessons = []string{how}
	return r, true
}
