package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Host is a coding host whose hooks are understood.
type Host string

// The hosts.
const (
	ClaudeCode Host = "claude-code"
	Codex      Host = "codex"
	Cursor     Host = "cursor"
	Gemini     Host = "gemini"
)

// Hosts lists them.
func Hosts() []Host { return []Host{ClaudeCode, Codex, Cursor, Gemini} }

// Event is what a hook tells of, in one vocabulary for all hosts.
type Event string

// The events.
const (
	SessionStart Event = "session_start"
	Prompt       Event = "prompt" // the person said something
	BeforeTool   Event = "before_tool"
	AfterTool    Event = "after_tool"
	Stop         Event = "stop" // the agent finished its turn
	SessionEnd   Event = "session_end"
	Probe        Event = "probe" // doctor asks whether the hook works
	Other        Event = "other"
)

// ProbeName is the hook_event_name that doctor sends.
const ProbeName = "AgentCoordinatorProbe"

// Call is one call of a hook.
type Call struct {
	Host       Host
	Event      Event
	HostName   string // the event as the host spells it, which answers repeat
	Session    string // the host's session id
	Cwd        string
	Tool       string
	Input      json.RawMessage // the tool's arguments
	Again      bool            // Stop: the agent goes on only because a hook asked it to
	Transcript string          // file in which the host writes down the session; empty: it names none
	Alone      bool            // the host was told to ask its person about nothing
	Prompt     string          // what the person said
	Source     string          // SessionStart: startup, resume, clear, compact
	Response   json.RawMessage // what the tool answered
	Error      string          // how it failed
}

// ErrInput says that what came on stdin is not a hook's input of this host.
var ErrInput = errors.New("this is not the input of a hook")

// hookInput holds the members that hosts send; each host sends some.
type hookInput struct {
	SessionID      string          `json:"session_id"`
	ConversationID string          `json:"conversation_id"` // Cursor
	Event          string          `json:"hook_event_name"`
	Cwd            string          `json:"cwd"`
	Roots          []string        `json:"workspace_roots"` // Cursor
	Tool           string          `json:"tool_name"`
	Input          json.RawMessage `json:"tool_input"`
	Command        string          `json:"command"`   // Cursor's beforeShellExecution
	FilePath       string          `json:"file_path"` // Cursor's afterFileEdit
	StopHookActive bool            `json:"stop_hook_active"`
	Mode           string          `json:"permission_mode"` // Claude Code
	Transcript     string          `json:"transcript_path"` // Claude Code
	Prompt         json.RawMessage `json:"prompt"`          // a text; Cursor's may be an object
	Source         string          `json:"source"`
	Response       json.RawMessage `json:"tool_response"`
	Output         json.RawMessage `json:"tool_output"` // Cursor
	Error          json.RawMessage `json:"error"`
}

var events = map[string]Event{
	"SessionStart": SessionStart, "UserPromptSubmit": Prompt, "PreToolUse": BeforeTool, "PostToolUse": AfterTool, "PostToolUseFailure": AfterTool,
	"Stop": Stop, "SessionEnd": SessionEnd, ProbeName: Probe,
	// Cursor
	"sessionStart": SessionStart, "beforeSubmitPrompt": Prompt, "preToolUse": BeforeTool, "beforeShellExecution": BeforeTool, "postToolUse": AfterTool,
	"afterShellExecution": AfterTool, "afterFileEdit": AfterTool, "stop": Stop, "sessionEnd": SessionEnd,
	// Gemini CLI
	"BeforeAgent": Prompt, "BeforeTool": BeforeTool, "AfterTool": AfterTool, "AfterAgent": Stop,
}

// Decode reads a hook's input. cwd is used when the host names none. Error: ErrInput.
func Decode(host Host, raw []byte, cwd string) (Call, error) {
	if !slices.Contains(Hosts(), host) {
		return Call{}, fmt.Errorf("no host %q", host)
	}
	var in hookInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return Call{}, fmt.Errorf("%w: %w", ErrInput, err)
	}
	if in.Event == "" {
		return Call{}, fmt.Errorf("%w: it has no hook_event_name", ErrInput)
	}
	c := Call{
		Host: host, HostName: in.Event, Event: Other, Session: in.SessionID, Cwd: in.Cwd, Tool: in.Tool, Input: in.Input, Again: in.StopHookActive, Transcript: in.Transcript, Alone: in.Mode == "bypassPermissions" || in.Mode == "dontAsk",
		Source: in.Source, Response: in.Response,
	}
	if len(c.Response) == 0 {
		c.Response = in.Output
	}
	_ = json.Unmarshal(in.Prompt, &c.Prompt) // anything but a text is nothing to learn from
	if _, said, ok := strings.Cut(c.Prompt, "</hook_context>"); ok {
		c.Prompt = strings.TrimSpace(said) // Gemini CLI puts what hooks said in front
	}
	_ = json.Unmarshal(in.Error, &c.Error)
	if e, ok := events[in.Event]; ok {
		c.Event = e
	}
	if host != ClaudeCode {
		c.Transcript = "" // another format
	}
	if c.Session == "" {
		c.Session = in.ConversationID
	}
	if c.Cwd == "" && len(in.Roots) > 0 {
		c.Cwd = in.Roots[0]
	}
	if c.Cwd == "" || !filepath.IsAbs(c.Cwd) {
		c.Cwd = filepath.Join(cwd, c.Cwd)
	}
	switch in.Event {
	case "beforeShellExecution", "afterShellExecution":
		c.Tool, c.Input = "Shell", mustJSON(map[string]string{"command": in.Command})
	case "afterFileEdit":
		c.Tool, c.Input = "Write", mustJSON(map[string]string{"file_path": in.FilePath})
	}
	return c, nil
}

func mustJSON(v any) json.RawMessage {
	raw, _ := json.Marshal(v) // strings
	return raw
}

// toolInput holds the members of tools' arguments that name what is written.
type toolInput struct {
	FilePath     string          `json:"file_path"`
	Path         string          `json:"path"`
	NotebookPath string          `json:"notebook_path"`
	TargetFile   string          `json:"target_file"` // Cursor
	Command      json.RawMessage `json:"command"`
	Patch        string          `json:"patch"`
	Input        string          `json:"input"` // Codex's apply_patch
	Workdir      string          `json:"workdir"`
	Cwd          string          `json:"cwd"`
	DirPath      string          `json:"dir_path"` // Gemini CLI
}

// Read says what the call's tool writes. Tools that only read, and those of other MCP servers, write nothing here.
func (c Call) Read(getenv func(string) string) Reading {
	var in toolInput
	if len(c.Input) > 0 && json.Unmarshal(c.Input, &in) != nil {
		return Reading{Unsure: c.Event == BeforeTool || c.Event == AfterTool}
	}
	switch c.Tool {
	case "Edit", "Write", "MultiEdit", "NotebookEdit", "StrReplace", "Delete", "EditNotebook", "edit_file", "search_replace", "delete_file", "write", "write_file", "replace":
		for _, p := range []string{in.FilePath, in.NotebookPath, in.TargetFile, in.Path} {
			if p != "" {
				return Reading{Writes: []Write{{Path: c.abs(p), Delete: c.Tool == "Delete" || c.Tool == "delete_file"}}}
			}
		}
		return Reading{Unsure: true}
	case "apply_patch":
		return c.readPatch(in)
	}
	if c.shell() {
		return c.readCommand(in, getenv)
	}
	return Reading{}
}

// asks reports whether the host can put a question about the call to its person.
func (c Call) asks() bool {
	return c.Event == BeforeTool && !c.Alone && (c.Host == ClaudeCode || c.Host == Cursor && c.HostName == "beforeShellExecution")
}

// shell reports whether the call runs a command, whose output files may be anything.
func (c Call) shell() bool {
	switch c.Tool {
	case "Bash", "Shell", "shell", "local_shell", "exec_command", "run_terminal_cmd", "run_shell_command":
		return true
	}
	return false
}

func (c Call) abs(path string) string {
	path = strings.TrimPrefix(path, "file://")
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.Cwd, path)
}

func (c Call) readCommand(in toolInput, getenv func(string) string) Reading {
	dir := c.Cwd
	for _, d := range []string{in.Workdir, in.Cwd, in.DirPath} {
		if d != "" {
			dir = c.abs(d)
		}
	}
	var text string
	if json.Unmarshal(in.Command, &text) == nil {
		return ReadShell(text, dir, getenv)
	}
	var words []string
	if json.Unmarshal(in.Command, &words) != nil || len(words) == 0 {
		return Reading{Unsure: true}
	}
	if len(words) > 1 && words[0] == "apply_patch" {
		return c.patch(words[1])
	}
	s := &shell{dir: dir, getenv: getenv, vars: map[string]string{}}
	s.command(words, true)
	return s.Reading
}

func (c Call) readPatch(in toolInput) Reading {
	for _, text := range []string{in.Patch, in.Input} {
		if text != "" {
			return c.patch(text)
		}
	}
	var text string
	if json.Unmarshal(in.Command, &text) == nil {
		return c.patch(text)
	}
	var words []string
	if json.Unmarshal(in.Command, &words) == nil && len(words) > 0 {
		return c.patch(words[len(words)-1])
	}
	return Reading{Unsure: true}
}

// patch reads Codex's patch format: "*** Add File: x", "*** Update File: x", "*** Delete File: x", "*** Move to: y".
func (c Call) patch(text string) Reading {
	var r Reading
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for _, mark := range []struct {
			prefix string
			del    bool
		}{{"*** Add File: ", false}, {"*** Update File: ", false}, {"*** Delete File: ", true}, {"*** Move to: ", false}} {
			if name, ok := strings.CutPrefix(line, mark.prefix); ok && strings.TrimSpace(name) != "" {
				r.Writes = append(r.Writes, Write{Path: c.abs(strings.TrimSpace(name)), Delete: mark.del})
			}
		}
	}
	if len(r.Writes) == 0 {
		r.Unsure = true
	}
	return r
}
