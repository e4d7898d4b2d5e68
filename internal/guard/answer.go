package guard

import (
	"encoding/json"
	"strings"
)

// Answer puts a decision in the words of the call's host, ready for its stdout. Empty: nothing to say, the host goes
// on as it would without us; so the person's own permission rules stay in force.
func (c Call) Answer(d Decision) []byte {
	if c.Host == Cursor {
		return c.cursor(d)
	}
	out := map[string]any{}
	specific := map[string]any{"hookEventName": c.HostName}
	switch {
	case c.Event != BeforeTool || d.Deny == "" && d.Ask == "":
	case d.Deny == "":
		if c.asks() {
			specific["permissionDecision"], specific["permissionDecisionReason"] = "ask", d.Ask
		}
	case c.Host == Gemini:
		out["decision"], out["reason"] = "deny", d.Deny
	default:
		specific["permissionDecision"], specific["permissionDecisionReason"] = "deny", d.Deny
	}
	if len(d.Context) > 0 && (c.Event == SessionStart || c.Event == Prompt || c.Event == AfterTool || c.Event == BeforeTool) {
		specific["additionalContext"] = strings.Join(d.Context, "\n")
	}
	if len(specific) > 1 {
		out["hookSpecificOutput"] = specific
	}
	if d.Person != "" {
		out["systemMessage"] = d.Person
	}
	return line(out)
}

// cursor answers in Cursor's words (hooks.json version 1).
func (c Call) cursor(d Decision) []byte {
	out := map[string]any{}
	if c.Event == BeforeTool && d.Deny != "" {
		out["permission"], out["agent_message"], out["user_message"] = "deny", d.Deny, d.Deny
	}
	if out["permission"] == nil && d.Ask != "" && c.asks() {
		out["permission"], out["agent_message"], out["user_message"] = "ask", d.Ask, d.Ask
	}
	if len(d.Context) > 0 && c.Event != BeforeTool {
		out["additional_context"] = strings.Join(d.Context, "\n")
	}
	if d.Person != "" && out["user_message"] == nil {
		out["user_message"] = d.Person
	}
	return line(out)
}

func line(v map[string]any) []byte {
	if len(v) == 0 {
		return nil
	}
	raw, _ := json.Marshal(v) // strings
	return append(raw, '\n')
}
