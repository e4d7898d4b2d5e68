package install

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// hookFile is where a host keeps its hooks: {"hooks": {event: [group, …]}}, as Claude Code and Codex write it, and with
// a version beside it Cursor.
type hookFile struct {
	file   func(Request) string
	groups func(Request) []hookGroup
	top    map[string]any // members that a new file needs
}

// hookGroup is one element of an event's list.
type hookGroup struct {
	event string
	value any
}

// matcherGroup and command are the words of Claude Code and Codex; an empty matcher means every tool.
type matcherGroup struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []hookCommand `json:"hooks"`
}

type hookCommand struct {
	Name    string `json:"name,omitempty"` // Gemini CLI shows it
	Type    string `json:"type,omitempty"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"` // seconds; milliseconds in Gemini CLI
	Matcher string `json:"matcher,omitempty"` // Cursor
}

// hookSeconds is how long hosts wait for us; the hook itself gives up earlier.
const hookSeconds = 10

const hooksMember = "hooks"

// hookLine is the command that a host runs. It names what the person's shell had set and the host's may not, but no
// secret.
func (r Request) hookLine(host string) string {
	line := shellWord(r.Coordctl) + " hook " + host + " --fail " + r.Fail
	if home := r.Getenv("COORD_HOME"); home != "" {
		line += " --home " + shellWord(home)
	}
	if url := r.Getenv("COORDINATION_API_URL"); url != "" {
		line += " --api-url " + shellWord(url)
	}
	return line
}

// shellWord quotes a path for the shell that hosts run hooks with, when it needs that.
func shellWord(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// matcherGroups are our hooks in Claude Code's words.
func matcherGroups(host, tools string, r Request) []hookGroup {
	run := []hookCommand{{Type: "command", Command: r.hookLine(host), Timeout: hookSeconds}}
	out := []hookGroup{
		{"SessionStart", matcherGroup{Hooks: run}},
		{"UserPromptSubmit", matcherGroup{Hooks: run}},
		{"PreToolUse", matcherGroup{Matcher: tools, Hooks: run}},
		{"PostToolUse", matcherGroup{Matcher: tools, Hooks: run}},
		{"Stop", matcherGroup{Hooks: run}},
	}
	if host == "codex" { // it tells of failed calls with the others, and waits three seconds at the end whatever is asked for
		return append(out, hookGroup{"SessionEnd", matcherGroup{Hooks: []hookCommand{{Type: "command", Command: r.hookLine(host), Timeout: 3}}}})
	}
	return append(out, hookGroup{"PostToolUseFailure", matcherGroup{Matcher: tools, Hooks: run}}, hookGroup{"SessionEnd", matcherGroup{Hooks: run}})
}

// edit adds our hooks to the file's content, or takes them out. What others wrote stays byte for byte.
func (h hookFile) edit(r Request, before []byte, add bool) (change, error) {
	text := string(before)
	had := strings.TrimSpace(text) != ""
	if !had {
		if !add {
			return change{after: before}, nil
		}
		text = "{}\n"
	}
	if _, err := wholeObject(text); err != nil {
		return change{after: before}, err
	}
	c := change{}
	removed, text, err := h.clean(text)
	if err != nil {
		return change{after: before}, err
	}
	if add {
		var added []string
		if text, added, err = h.put(r, text, had); err != nil {
			return change{after: before}, err
		}
		if text == string(before) {
			return change{after: before}, nil
		}
		c.added = strings.Join(added, "\n")
	}
	c.removed = strings.Join(removed, "\n")
	if rest, err := wholeObject(text); err == nil && !add && len(removed) > 0 && h.bare(rest) {
		return change{removed: c.removed}, nil // the file held nothing but us
	}
	c.after = []byte(text)
	return c, nil
}

// bare reports whether nothing but what a new file gets is left.
func (h hookFile) bare(o object) bool {
	for _, m := range o.members {
		if _, ours := h.top[m.key]; !ours {
			return false
		}
	}
	return true
}

// clean takes our groups out, and the lists and objects that this leaves empty.
func (h hookFile) clean(text string) (removed []string, rest string, err error) {
	for {
		top, err := wholeObject(text)
		if err != nil {
			return removed, text, err
		}
		_, at := top.get(hooksMember)
		if at < 0 {
			return removed, text, nil
		}
		all, err := parseObject(text, top.members[at].value.from)
		if err != nil {
			return removed, text, fmt.Errorf("%s: %w", hooksMember, err)
		}
		next, gone, err := cleanOnce(text, top, at, all)
		if err != nil || gone == "" {
			return removed, text, err
		}
		text, removed = next, append(removed, gone)
	}
}

// cleanOnce takes one group of ours out; gone is empty when there is none.
func cleanOnce(text string, top object, at int, all object) (rest, gone string, err error) {
	for i, m := range all.members {
		list, err := parseArray(text, m.value.from)
		if err != nil {
			return text, "", fmt.Errorf("%s.%s: %w", hooksMember, m.key, err)
		}
		for j, e := range list.elements {
			if !oursHook(text[e.from:e.to]) {
				continue
			}
			switch {
			case len(list.elements) > 1:
				rest, gone = list.remove(j)
			case len(all.members) > 1:
				rest, gone = all.remove(i)
			default:
				rest, gone = top.remove(at)
			}
			return rest, gone, nil
		}
	}
	return text, "", nil
}

// oursHook recognises a group by what it runs.
func oursHook(group string) bool { return ourCommand(group) != "" }

// ourCommand is the command of ours that a group runs, if any.
func ourCommand(group string) string {
	var g struct {
		Command string        `json:"command"`
		Hooks   []hookCommand `json:"hooks"`
	}
	if json.Unmarshal([]byte(group), &g) != nil {
		return ""
	}
	for _, c := range append(g.Hooks, hookCommand{Command: g.Command}) {
		program, rest, _ := strings.Cut(c.Command, " hook ")
		if program = strings.Trim(program, "'"); rest != "" && strings.TrimSuffix(filepath.Base(program), ".exe") == "coordctl" {
			return c.Command
		}
	}
	return ""
}

// put adds our groups.
func (h hookFile) put(r Request, text string, had bool) (string, []string, error) {
	var shown []string
	indent := indentOf(text)
	if !had {
		for name, value := range h.top {
			top, err := wholeObject(text)
			if err != nil {
				return text, nil, err
			}
			text, _ = top.set(name, value, indent, 1)
		}
	}
	for _, g := range h.groups(r) {
		top, err := wholeObject(text)
		if err != nil {
			return text, nil, err
		}
		_, at := top.get(hooksMember)
		var added string
		if at < 0 {
			text, added = top.set(hooksMember, map[string]any{g.event: []any{g.value}}, indent, 1)
			shown = append(shown, added)
			continue
		}
		all, err := parseObject(text, top.members[at].value.from)
		if err != nil {
			return text, nil, fmt.Errorf("%s: %w", hooksMember, err)
		}
		if _, i := all.get(g.event); i < 0 {
			text, added = all.set(g.event, []any{g.value}, indent, 2)
		} else {
			list, err := parseArray(text, all.members[i].value.from)
			if err != nil {
				return text, nil, fmt.Errorf("%s.%s: %w", hooksMember, g.event, err)
			}
			text, added = list.add(g.value, indent, 3)
		}
		shown = append(shown, added)
	}
	return text, shown, nil
}

// commands lists our command once for every event that runs it.
func (h hookFile) commands(content []byte) ([]string, error) {
	if strings.TrimSpace(string(content)) == "" {
		return nil, nil
	}
	var f struct {
		Hooks map[string][]json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal(content, &f); err != nil {
		return nil, fmt.Errorf("it does not hold hooks as the host writes them: %w", err)
	}
	var out []string
	for _, groups := range f.Hooks {
		for _, g := range groups {
			if c := ourCommand(string(g)); c != "" {
				out = append(out, c)
				break
			}
		}
	}
	return out, nil
}

// present counts the events that run our hook.
func (h hookFile) present(content []byte) (int, error) {
	list, err := h.commands(content)
	return len(list), err
}

// command is what they run; empty: nothing of ours.
func (h hookFile) command(content []byte) (string, error) {
	list, err := h.commands(content)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[0], nil
}
