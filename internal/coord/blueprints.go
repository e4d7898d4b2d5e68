package coord

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// ListAgents lists the blueprints by name, as they are written.
func (s *Store) ListAgents(ctx context.Context, _ ident.Caller, in client.ListAgents) (client.AgentBlueprints, error) {
	var tags []string
	for t := range strings.SplitSeq(in.Tags, ",") {
		if t = strings.TrimSpace(t); t != "" {
			tags = append(tags, t)
		}
	}
	return reply[client.AgentBlueprints](ctx, s, `select coord.list_agents($1)`, tags)
}

// GetAgent reads a blueprint, raw or with its capabilities worked in. Codes: not_found, invalid (cannot be resolved).
func (s *Store) GetAgent(ctx context.Context, _ ident.Caller, in client.GetAgent) (client.AgentBlueprint, error) {
	return reply[client.AgentBlueprint](ctx, s, `select coord.get_agent($1, $2)`, in.Name, in.Raw)
}

// CreateAgent makes a blueprint. Codes: invalid (400: name), conflict.
func (s *Store) CreateAgent(ctx context.Context, c ident.Caller, in client.CreateAgent) (client.AgentBlueprint, error) {
	if err := checkServers(in.MCPServers); err != nil {
		return client.AgentBlueprint{}, err
	}
	in.MCPServers = TypedServers(in.MCPServers)
	return s.putAgent(ctx, c, in.Name, in, true)
}

// UpdateAgent changes a blueprint. Codes: not_found.
func (s *Store) UpdateAgent(ctx context.Context, c ident.Caller, in client.UpdateAgent) (client.AgentBlueprint, error) {
	if in.MCPServers != nil {
		if err := checkServers(*in.MCPServers); err != nil {
			return client.AgentBlueprint{}, err
		}
		TypedServers(*in.MCPServers) // in place: an empty map clears
	}
	return s.putAgent(ctx, c, in.Name, in, false)
}

// SetAgentStatus switches a blueprint on or off. Codes: not_found.
func (s *Store) SetAgentStatus(ctx context.Context, c ident.Caller, in client.SetAgentStatus) (client.AgentBlueprint, error) {
	return s.putAgent(ctx, c, in.Name, in, false)
}

func (s *Store) putAgent(ctx context.Context, c ident.Caller, name string, in any, create bool) (client.AgentBlueprint, error) {
	raw, err := members(in)
	if err != nil {
		return client.AgentBlueprint{}, err
	}
	return changed[client.AgentBlueprint](ctx, s, `select coord.put_agent($1, $2, $3, $4, $5)`, c.ProjectID, c.By, name, raw, create)
}

// DeleteAgent removes a blueprint, used or not. Codes: not_found.
func (s *Store) DeleteAgent(ctx context.Context, c ident.Caller, in client.BlueprintRef) (client.Nothing, error) {
	return changed[client.Nothing](ctx, s, `select coord.delete_agent($1, $2, $3)`, c.ProjectID, c.By, in.Name)
}

// ListCapabilities lists the capabilities by name.
func (s *Store) ListCapabilities(ctx context.Context, _ ident.Caller) (client.Capabilities, error) {
	return reply[client.Capabilities](ctx, s, `select coord.list_capabilities()`)
}

// GetCapability reads a capability. Codes: not_found.
func (s *Store) GetCapability(ctx context.Context, _ ident.Caller, in client.BlueprintRef) (client.Capability, error) {
	return reply[client.Capability](ctx, s, `select coord.get_capability($1)`, in.Name)
}

// CreateCapability makes a capability. Codes: invalid (400: name), conflict.
func (s *Store) CreateCapability(ctx context.Context, c ident.Caller, in client.CreateCapability) (client.Capability, error) {
	if err := checkServers(in.MCPServers); err != nil {
		return client.Capability{}, err
	}
	in.MCPServers = TypedServers(in.MCPServers)
	return s.putCapability(ctx, c, in.Name, in, true)
}

// UpdateCapability changes a capability. Codes: not_found.
func (s *Store) UpdateCapability(ctx context.Context, c ident.Caller, in client.UpdateCapability) (client.Capability, error) {
	if in.MCPServers != nil {
		if err := checkServers(*in.MCPServers); err != nil {
			return client.Capability{}, err
		}
		TypedServers(*in.MCPServers) // in place: an empty map clears
	}
	return s.putCapability(ctx, c, in.Name, in, false)
}

func (s *Store) putCapability(ctx context.Context, c ident.Caller, name string, in any, create bool) (client.Capability, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return client.Capability{}, err
	}
	return changed[client.Capability](ctx, s, `select coord.put_capability($1, $2, $3, $4, $5)`, c.ProjectID, c.By, name, raw, create)
}

// DeleteCapability removes a capability. Codes: not_found, conflict (agents use it).
func (s *Store) DeleteCapability(ctx context.Context, c ident.Caller, in client.BlueprintRef) (client.Nothing, error) {
	return changed[client.Nothing](ctx, s, `select coord.delete_capability($1, $2, $3)`, c.ProjectID, c.By, in.Name)
}

// checkServers refuses servers that no agent could reach.
func checkServers(servers map[string]client.MCPServer) error {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if what := servers[name].Problem(); what != "" {
			return fault.Invalid("mcp_servers."+name, fmt.Sprintf("the MCP server %q %s", name, what), "give stdio servers a command (args, env), http servers a url (headers)")
		}
	}
	return nil
}

// TypedServers gives servers without a type theirs: http where there is a url and no command, else stdio. It changes and
// returns the map; nil when it is empty.
func TypedServers(servers map[string]client.MCPServer) map[string]client.MCPServer {
	if len(servers) == 0 {
		return nil
	}
	for name, m := range servers {
		if m.Type == "" {
			m.Type = "stdio"
			if m.URL != "" && m.Command == "" {
				m.Type = "http"
			}
			servers[name] = m
		}
	}
	return servers
}

// BlueprintTopic is woken when a blueprint or capability changed.
const BlueprintTopic = "b:agents"

// changed is reply for a function that changes blueprints.
func changed[T any](ctx context.Context, s *Store, sql string, args ...any) (T, error) {
	out, err := reply[T](ctx, s, sql, args...)
	if err == nil {
		s.wake(ctx, []string{BlueprintTopic})
	}
	return out, err
}
