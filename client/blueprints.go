package client

import "encoding/json"

// MCPServer is how an agent reaches an MCP server: stdio with a command, or http with a url.
type MCPServer struct {
	Type    string            `json:"type,omitempty" enum:"stdio,http" default:"stdio"`
	Command string            `json:"command,omitempty" maxLength:"4096"`
	Args    []string          `json:"args,omitempty" maxItems:"200"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty" maxLength:"4096"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Problem says what is wrong with it, empty when nothing is: a stdio server has a command and may have args and env, an
// http server a url and may have headers. A type that is left out is stdio, or http where there is a url alone.
func (m MCPServer) Problem() string {
	http := m.Type == "http" || m.Type == "" && m.URL != "" && m.Command == ""
	switch {
	case m.Type != "" && m.Type != "stdio" && m.Type != "http":
		return "has a type other than stdio and http"
	case http && m.URL == "":
		return "is an http server without a url"
	case http && (m.Command != "" || len(m.Args) > 0 || len(m.Env) > 0):
		return "is an http server and cannot have command, args or env"
	case !http && m.Command == "":
		return "is a stdio server without a command"
	case !http && (m.URL != "" || len(m.Headers) > 0):
		return "is a stdio server and cannot have url or headers"
	}
	return ""
}

// AgentBlueprint describes an agent: what it is told, which servers it has, where it may run. Members that are not set
// are left out.
type AgentBlueprint struct {
	Name         string               `json:"name"`
	Description  string               `json:"description"`
	SystemPrompt *string              `json:"system_prompt,omitempty"`
	MCPServers   map[string]MCPServer `json:"mcp_servers,omitempty"`
	Skills       []string             `json:"skills,omitempty"`
	Tags         []string             `json:"tags"`
	Capabilities []string             `json:"capabilities"`
	Demands      *RunDemands          `json:"demands,omitempty"`
	Status       string               `json:"status" enum:"active,inactive"`
	CreatedAt    string               `json:"created_at"`
	ModifiedAt   string               `json:"modified_at"`
}

// ListAgents filters the blueprints.
type ListAgents struct {
	Tags string `json:"tags,omitempty" maxLength:"2000" doc:"comma-separated; only agents that have all of them"`
}

// AgentBlueprints is the list of blueprints, a bare array on the wire.
type AgentBlueprints struct {
	Agents []AgentBlueprint `json:"agents" wire:"bare"`
}

// MarshalJSON writes the bare array.
func (a AgentBlueprints) MarshalJSON() ([]byte, error) { return bare(a.Agents) }

// UnmarshalJSON reads the bare array.
func (a *AgentBlueprints) UnmarshalJSON(raw []byte) error { return unbare(raw, &a.Agents) }

// GetAgent asks for one blueprint.
type GetAgent struct {
	Name string `json:"name" minLength:"1" maxLength:"200"`
	Raw  bool   `json:"raw,omitempty" doc:"as it is written; else with its capabilities worked in"`
}

// CreateAgent makes a blueprint.
type CreateAgent struct {
	Name         string               `json:"name" doc:"letters, digits, - and _; at most 60"`
	Description  string               `json:"description" maxLength:"20000"`
	SystemPrompt string               `json:"system_prompt,omitempty"`
	MCPServers   map[string]MCPServer `json:"mcp_servers,omitempty"`
	Skills       []string             `json:"skills,omitempty" maxItems:"200"`
	Tags         []string             `json:"tags,omitempty" maxItems:"200"`
	Capabilities []string             `json:"capabilities,omitempty" maxItems:"200"`
	Demands      *Demands             `json:"demands,omitempty"`
}

// UpdateAgent changes a blueprint. What is left out stays; "", [] and {} clear a member.
type UpdateAgent struct {
	Name         string                `json:"name" minLength:"1" maxLength:"200"`
	Description  *string               `json:"description,omitempty" maxLength:"20000"`
	SystemPrompt *string               `json:"system_prompt,omitempty"`
	MCPServers   *map[string]MCPServer `json:"mcp_servers,omitempty"`
	Skills       *[]string             `json:"skills,omitempty"`
	Tags         *[]string             `json:"tags,omitempty"`
	Capabilities *[]string             `json:"capabilities,omitempty"`
	Demands      *Demands              `json:"demands,omitempty"`
}

// SetAgentStatus switches a blueprint on or off.
type SetAgentStatus struct {
	Name   string `json:"name" minLength:"1" maxLength:"200"`
	Status string `json:"status" enum:"active,inactive"`
}

// BlueprintRef names an agent or a capability.
type BlueprintRef struct {
	Name string `json:"name" minLength:"1" maxLength:"200"`
}

// CapabilitySummary is a capability in a list.
type CapabilitySummary struct {
	Name           string   `json:"name"`
	Description    string   `json:"description"`
	HasText        bool     `json:"has_text"`
	HasMCP         bool     `json:"has_mcp"`
	MCPServerNames []string `json:"mcp_server_names"`
	CreatedAt      string   `json:"created_at"`
	ModifiedAt     string   `json:"modified_at"`
}

// Capabilities is the list of capabilities, a bare array on the wire.
type Capabilities struct {
	Capabilities []CapabilitySummary `json:"capabilities" wire:"bare"`
}

// MarshalJSON writes the bare array.
func (c Capabilities) MarshalJSON() ([]byte, error) { return bare(c.Capabilities) }

// UnmarshalJSON reads the bare array.
func (c *Capabilities) UnmarshalJSON(raw []byte) error { return unbare(raw, &c.Capabilities) }

// Capability is a part that several agents share: text for their prompts, MCP servers.
type Capability struct {
	Name        string               `json:"name"`
	Description string               `json:"description"`
	Text        *string              `json:"text,omitempty"`
	MCPServers  map[string]MCPServer `json:"mcp_servers,omitempty"`
	CreatedAt   string               `json:"created_at"`
	ModifiedAt  string               `json:"modified_at"`
}

// CreateCapability makes a capability.
type CreateCapability struct {
	Name        string               `json:"name" doc:"letters, digits, - and _; at most 60"`
	Description string               `json:"description" maxLength:"20000"`
	Text        string               `json:"text,omitempty"`
	MCPServers  map[string]MCPServer `json:"mcp_servers,omitempty"`
}

// UpdateCapability changes a capability. What is left out stays; "" and {} clear a member.
type UpdateCapability struct {
	Name        string                `json:"name" minLength:"1" maxLength:"200"`
	Description *string               `json:"description,omitempty" maxLength:"20000"`
	Text        *string               `json:"text,omitempty"`
	MCPServers  *map[string]MCPServer `json:"mcp_servers,omitempty"`
}

// Nothing is the reply of calls that answer 204.
type Nothing struct{}

func bare[T any](list []T) ([]byte, error) {
	if list == nil {
		list = []T{}
	}
	return json.Marshal(list)
}

// unbare reads a bare array; an object, which only a stand-in sends, is an empty one.
func unbare[T any](raw []byte, list *[]T) error {
	if len(raw) > 0 && raw[0] == '{' {
		return nil
	}
	return json.Unmarshal(raw, list)
}
