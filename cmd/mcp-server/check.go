package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/version"
)

// checkWithin bounds --check; creating the embedded database takes some seconds.
const checkWithin = 60 * time.Second

// diagnosis is what --check prints.
type diagnosis struct {
	OK         bool         `json:"ok"`
	Version    string       `json:"version"`
	Mode       string       `json:"mode"` // embedded, database or remote
	Target     string       `json:"target,omitempty"`
	Project    string       `json:"project,omitempty"`
	Repository string       `json:"repository,omitempty"`
	Root       string       `json:"root,omitempty"`
	Remote     string       `json:"remote,omitempty"`
	AgentID    string       `json:"agent_id,omitempty"`
	AgentType  string       `json:"agent_type,omitempty"`
	Session    string       `json:"session_id,omitempty"`
	Profile    string       `json:"tool_profile"`
	Tools      []string     `json:"tools"`
	ToolBytes  int          `json:"tool_bytes"`
	TookMS     int64        `json:"took_ms"`
	Problem    *fault.Error `json:"problem,omitempty"`
}

// check goes the whole way a first call goes, without acting for the agent.
func (p *process) check(ctx context.Context, out io.Writer) error {
	start := time.Now()
	full := p.cfg.ToolProfile == "full"
	d := diagnosis{Version: version.String(), Mode: "embedded", Profile: cmp.Or(p.cfg.ToolProfile, "core")}
	switch {
	case p.remote != nil:
		d.Mode, d.Target = "remote", p.cfg.Remote.URL()
	case p.cfg.Database.URL() != "":
		d.Mode = "database"
	}
	for _, def := range p.cat.Defs() {
		if mcpapi.Listed(def, full) {
			d.Tools = append(d.Tools, def.Name)
			d.ToolBytes += mcpapi.ModelBytes(def, full)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	stop := p.background(ctx, nil)
	d.Problem = fault.From(p.probe(ctx, &d))
	stop()
	d.OK, d.TookMS = d.Problem == nil, time.Since(start).Milliseconds()
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return fmt.Errorf("print the diagnosis: %w", err)
	}
	if !d.OK {
		return errUnhealthy
	}
	return nil
}

func (p *process) probe(ctx context.Context, d *diagnosis) error {
	paths, err := p.place.look(ctx)
	if err != nil {
		return err
	}
	d.Root, d.Remote = paths.Repo.WorktreeRoot, paths.Repo.Remote
	who, claim, err := p.ident.Identify(ctx, map[string]any{})
	d.AgentID, d.AgentType, d.Session = claim.Agent, claim.AgentType, claim.Session
	if err != nil {
		return err
	}
	d.Project, d.Repository = claim.Project, claim.Repository
	def := p.cat.Get("whoami")
	if def == nil {
		return nil
	}
	_, err = p.invoker.Call(ctx, def, op.Request{Principal: who, Claim: ident.Claim{Project: claim.Project, Agent: claim.Agent}, Door: "mcp"})
	return err
}
