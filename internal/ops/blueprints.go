package ops

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// blueprints declares the operations of agents' blueprints and their capabilities.
func blueprints(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.ListAgents, client.AgentBlueprints]{
		Name: "list_agents", Title: "List agent blueprints", Text: "Blueprints by name as they are written, inactive ones too; with tags those that have all of them.",
		Routes: []op.Route{{Method: "GET", Path: "/agents"}}, Scope: ident.Read, Listed: true, CLI: "blueprint list", Do: s.ListAgents,
	})
	op.Register(c, op.Op[client.GetAgent, client.AgentBlueprint]{
		Name: "get_agent", Title: "Get an agent blueprint", Text: "One blueprint with its capabilities worked in: prompts joined, MCP servers merged; raw as it is written.",
		Routes: []op.Route{{Method: "GET", Path: "/agents/:name"}}, Scope: ident.Read, Listed: true, CLI: "blueprint get", Do: s.GetAgent,
	})
	op.Register(c, op.Op[client.CreateAgent, client.AgentBlueprint]{
		Name: "create_agent", Title: "Create an agent blueprint", Text: "Describes an agent: prompt, MCP servers, tags, demands on its runner.", Status: 201,
		Routes: []op.Route{{Method: "POST", Path: "/agents"}}, Scope: ident.Write, Listed: true, CLI: "blueprint create", Do: s.CreateAgent,
	})
	op.Register(c, op.Op[client.UpdateAgent, client.AgentBlueprint]{
		Name: "update_agent", Title: "Change an agent blueprint", Text: "Changes members of a blueprint; what is left out stays, an empty value clears.",
		Routes: []op.Route{{Method: "PATCH", Path: "/agents/:name"}}, Scope: ident.Write, Listed: true, CLI: "blueprint update", Do: s.UpdateAgent,
	})
	op.Register(c, op.Op[client.SetAgentStatus, client.AgentBlueprint]{
		Name: "set_agent_status", Title: "Switch an agent on or off", Text: "An inactive agent is not started.",
		Routes: []op.Route{{Method: "PATCH", Path: "/agents/:name/status"}}, Scope: ident.Write, Listed: true, CLI: "blueprint status", Do: s.SetAgentStatus,
	})
	op.Register(c, op.Op[client.BlueprintRef, client.Nothing]{
		Name: "delete_agent", Title: "Delete an agent blueprint", Text: "Removes a blueprint. Sessions of it stay.", Status: 204,
		Routes: []op.Route{{Method: "DELETE", Path: "/agents/:name"}}, Scope: ident.Write, Listed: true, CLI: "blueprint delete", Do: s.DeleteAgent,
	})
	op.Register(c, op.Op[client.None, client.Capabilities]{
		Name: "list_capabilities", Title: "List capabilities", Text: "What agents may share: texts for their prompts, MCP servers.",
		Routes: []op.Route{{Method: "GET", Path: "/capabilities"}}, Scope: ident.Read, Listed: true, CLI: "capability list",
		Do: func(ctx context.Context, c ident.Caller, _ client.None) (client.Capabilities, error) {
			return s.ListCapabilities(ctx, c)
		},
	})
	op.Register(c, op.Op[client.BlueprintRef, client.Capability]{
		Name: "get_capability", Title: "Get a capability", Text: "One capability with its text and servers.",
		Routes: []op.Route{{Method: "GET", Path: "/capabilities/:name"}}, Scope: ident.Read, Listed: true, CLI: "capability get", Do: s.GetCapability,
	})
	op.Register(c, op.Op[client.CreateCapability, client.Capability]{
		Name: "create_capability", Title: "Create a capability", Text: "Describes a part that several agents share.", Status: 201,
		Routes: []op.Route{{Method: "POST", Path: "/capabilities"}}, Scope: ident.Write, Listed: true, CLI: "capability create", Do: s.CreateCapability,
	})
	op.Register(c, op.Op[client.UpdateCapability, client.Capability]{
		Name: "update_capability", Title: "Change a capability", Text: "Changes members of a capability; what is left out stays, an empty value clears.",
		Routes: []op.Route{{Method: "PATCH", Path: "/capabilities/:name"}}, Scope: ident.Write, Listed: true, CLI: "capability update", Do: s.UpdateCapability,
	})
	op.Register(c, op.Op[client.BlueprintRef, client.Nothing]{
		Name: "delete_capability", Title: "Delete a capability", Text: "Removes a capability; refused while an agent names it.", Status: 204,
		Routes: []op.Route{{Method: "DELETE", Path: "/capabilities/:name"}}, Scope: ident.Write, Listed: true, CLI: "capability delete", Do: s.DeleteCapability,
	})
}
