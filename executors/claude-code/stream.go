package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/executor"
)

// message is a line of the CLI's stream-json output.
type message struct {
	Type      string   `json:"type"` // system, assistant, user, result
	Subtype   string   `json:"subtype"`
	SessionID string   `json:"session_id"`
	Parent    string   `json:"parent_tool_use_id"` // set in messages of subagents
	IsError   bool     `json:"is_error"`
	Result    string   `json:"result"`
	Errors    []string `json:"errors"`
	Message   struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`

	// What the turn used, in the result: in all, and by model.
	ID     string           `json:"uuid"`
	Cost   *float64         `json:"total_cost_usd"`
	Usage  *tokens          `json:"usage"`
	Models map[string]model `json:"modelUsage"`
}

type tokens struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

type model struct {
	Input      int64    `json:"inputTokens"`
	Output     int64    `json:"outputTokens"`
	CacheRead  int64    `json:"cacheReadInputTokens"`
	CacheWrite int64    `json:"cacheCreationInputTokens"`
	Cost       *float64 `json:"costUSD"`
}

// used is what the result says of the turn's use, by model where the CLI tells.
func (m message) used() []executor.Usage {
	turn := cmp.Or(m.ID, m.SessionID, "turn")
	var out []executor.Usage
	for _, name := range slices.Sorted(maps.Keys(m.Models)) {
		u := m.Models[name]
		out = append(out, executor.Usage{
			Key: turn + ":" + name, Model: name, InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite, Cost: u.Cost,
		})
	}
	if len(out) == 0 && (m.Usage != nil || m.Cost != nil) {
		u := cmp.Or(m.Usage, &tokens{})
		out = append(out, executor.Usage{Key: turn, InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite, Cost: m.Cost})
	}
	return out
}

func (m message) text() string {
	return cmp.Or(m.Result, strings.Join(m.Errors, "; "), "no reason was given")
}

type block struct {
	Type      string          `json:"type"` // text, tool_use, tool_result, …
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

type toolUse struct {
	name  string
	input json.RawMessage
}

// session turns the CLI's messages into events.
type session struct {
	gw      *executor.Gateway
	log     io.Writer
	prompt  string
	dir     string
	resumed bool

	bound  bool
	tools  map[string]toolUse // called, not answered
	held   string             // the last text: posted when another follows, for the last one comes again as the result
	result *message
	fatal  error
}

// line handles one line of output; false ends the CLI, and fatal says why. What is no JSON is not for us.
func (s *session) line(ctx context.Context, raw []byte) bool {
	var m message
	if json.Unmarshal(raw, &m) != nil {
		return true
	}
	switch m.Type {
	case "system":
		if m.Subtype == "init" && m.SessionID != "" && !s.bound {
			s.fatal = s.begin(ctx, m.SessionID)
		}
	case "assistant":
		s.assistant(ctx, m)
	case "user":
		s.answers(ctx, m)
	case "result":
		s.result = &m
		if list := m.used(); len(list) > 0 {
			s.note(s.gw.Used(ctx, list))
		}
	}
	return s.fatal == nil
}

// begin binds the session: from now on it is running, and the prompt is its first message.
func (s *session) begin(ctx context.Context, id string) error {
	s.bound = true
	if err := s.gw.Bind(ctx, id, s.dir); err != nil {
		return err
	}
	if s.resumed {
		if err := s.gw.Resumed(ctx); err != nil {
			return err
		}
		if err := s.gw.Post(ctx, executor.Event{Type: "session_start"}); err != nil {
			return err
		}
	}
	return s.gw.Message(ctx, "user", s.prompt)
}

func (s *session) assistant(ctx context.Context, m message) {
	var texts []string
	for _, b := range m.blocks() {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_use":
			s.tools[b.ID] = toolUse{b.Name, b.Input}
		}
	}
	if text := strings.Join(texts, ""); text != "" && m.Parent == "" {
		s.release(ctx)
		s.held = text
	}
}

// release posts the text that was held back.
func (s *session) release(ctx context.Context) {
	if s.held != "" {
		s.note(s.gw.Message(ctx, "assistant", s.held))
		s.held = ""
	}
}

// answers posts the tools that were answered.
func (s *session) answers(ctx context.Context, m message) {
	for _, b := range m.blocks() {
		use, ok := s.tools[b.ToolUseID]
		if b.Type != "tool_result" || !ok {
			continue
		}
		delete(s.tools, b.ToolUseID)
		s.release(ctx)
		e := executor.Event{Type: "post_tool", ToolName: use.name, ToolInput: use.input, ToolOutput: output(b.Content)}
		if b.IsError {
			e.Error = fmt.Sprint(output(b.Content))
		}
		s.note(s.gw.Post(ctx, e))
	}
}

// finish posts the result and the end of the turn.
func (s *session) finish(ctx context.Context) error {
	if s.held != "" && s.held != s.result.Result {
		s.release(ctx)
	}
	if err := s.gw.Message(ctx, "assistant", s.result.Result); err != nil {
		return err
	}
	return s.gw.Stopped(ctx, 0, "completed")
}

// note logs an event that was not stored; the work itself goes on.
func (s *session) note(err error) {
	if err != nil {
		fmt.Fprintln(s.log, "an event was not stored:", err)
	}
}

// blocks are the parts of a message; its content may also be a plain text.
func (m message) blocks() []block {
	var list []block
	if json.Unmarshal(m.Message.Content, &list) == nil {
		return list
	}
	var text string
	if json.Unmarshal(m.Message.Content, &text) == nil && text != "" {
		return []block{{Type: "text", Text: text}}
	}
	return nil
}

// output is a tool's answer: its text when it is nothing but text, else as it came.
func output(raw json.RawMessage) any {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []block
	if json.Unmarshal(raw, &list) != nil {
		return raw
	}
	var texts []string
	for _, b := range list {
		if b.Type != "text" {
			return raw
		}
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}
