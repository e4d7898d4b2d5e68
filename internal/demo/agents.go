package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpclient"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// agent is one contestant: it calls operations by name, over whatever door.
type agent interface {
	name() string
	call(ctx context.Context, operation string, args map[string]any, out any) error
}

// mcpAgent is a real mcp-server process, driven over its standard streams as a host would.
type mcpAgent struct {
	id      string
	session string
	token   string // of the lock it got last
	client  *mcpclient.Client
}

func (s *stage) mcpAgent(ctx context.Context, id, kind string) (*mcpAgent, error) {
	a := &mcpAgent{id: id, session: "session-of-" + id}
	cmd := exec.Command(s.opts.MCPServer) // without a context: strike ends it
	cmd.Dir = filepath.Join(s.dir, folder)
	cmd.Env = append(append([]string{}, s.env...),
		"AGENT_ID="+id, "AGENT_TYPE="+kind, "SESSION_ID="+a.session, "COORD_PROJECT="+project, "COORD_TOOL_PROFILE=full")
	var err error
	if a.client, err = mcpclient.Start(ctx, cmd, kind); err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	return a, nil
}

func (a *mcpAgent) name() string { return a.id }

func (a *mcpAgent) call(ctx context.Context, operation string, args map[string]any, out any) error {
	if err := a.client.Call(ctx, operation, args, out); err != nil {
		return fmt.Errorf("%s: %w", a.id, err)
	}
	return nil
}

// httpAgent speaks plain HTTP with a key.
type httpAgent struct {
	id     string
	token  string // of the lock it got last
	remote *mcpapi.Remote
	cat    *op.Catalogue
}

func (s *stage) httpAgent(id, key string) (*httpAgent, error) {
	remote, err := mcpapi.NewRemote(s.up.APIURL, key)
	return &httpAgent{id: id, remote: remote, cat: s.cat}, err
}

func (a *httpAgent) name() string { return a.id }

func (a *httpAgent) call(ctx context.Context, operation string, args map[string]any, out any) error {
	_, err := a.callOnce(ctx, operation, "", args, out)
	return err
}

// callOnce sends a request key; replayed tells that the reply is that of an earlier call.
func (a *httpAgent) callOnce(ctx context.Context, operation, key string, args map[string]any, out any) (replayed bool, err error) {
	d := a.cat.Get(operation)
	if d == nil {
		return false, fmt.Errorf("there is no operation %s", operation)
	}
	res, err := a.remote.Call(ctx, d, op.Request{
		Args: args, RequestKey: key, Claim: ident.Claim{Project: project, Agent: a.id, AgentType: "script"},
	})
	if err != nil {
		return false, fmt.Errorf("%s: %s: %w", a.id, operation, err)
	}
	raw, ok := res.Body.(json.RawMessage)
	if !ok || out == nil {
		return res.Replayed, nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return false, fmt.Errorf("%s: %s: %w", a.id, operation, err)
	}
	return res.Replayed, nil
}
