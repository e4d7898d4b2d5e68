// Package executor is what executors written in Go share: reading the invocation that the runner writes to their
// input, and talking to the coordinator through the runner's gateway. Executors in other languages need neither: see
// docs/RUNNER.md.
package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const maxInvocation = 64 << 20 // bytes

// Modes of an invocation.
const (
	Start  = "start"
	Resume = "resume"
)

// Blueprint is the agent to play, placeholders already replaced.
type Blueprint struct {
	Name         string                     `json:"name"`
	Description  string                     `json:"description"`
	SystemPrompt string                     `json:"system_prompt"`
	MCPServers   map[string]json.RawMessage `json:"mcp_servers"`
}

// Invocation is one turn of a session, schema 2.0 or 2.1.
type Invocation struct {
	SchemaVersion string          `json:"schema_version"`
	Mode          string          `json:"mode"` // Start or Resume
	SessionID     string          `json:"session_id"`
	Prompt        string          `json:"prompt"`
	ProjectDir    string          `json:"project_dir"`     // of Start; a resumed session has its own
	Config        json.RawMessage `json:"executor_config"` // of the runner's profile; nil: none
	Blueprint     *Blueprint      `json:"agent_blueprint"` // nil: no agent was named
}

// ReadInvocation reads and checks the one JSON object on in. Unknown members are ignored.
func ReadInvocation(in io.Reader) (Invocation, error) {
	var inv Invocation
	if err := json.NewDecoder(io.LimitReader(in, maxInvocation)).Decode(&inv); err != nil {
		return inv, fmt.Errorf("the invocation on standard input is not JSON: %w", err)
	}
	switch {
	case inv.SchemaVersion != "2.0" && inv.SchemaVersion != "2.1":
		return inv, fmt.Errorf("schema_version %q is not 2.0 or 2.1", inv.SchemaVersion)
	case inv.Mode != Start && inv.Mode != Resume:
		return inv, fmt.Errorf("mode %q is not start or resume", inv.Mode)
	case inv.SessionID == "":
		return inv, errors.New("session_id is missing")
	case inv.Prompt == "":
		return inv, errors.New("prompt is missing")
	}
	return inv, nil
}
