package apiserver

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/blueprintdir"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// blueprintFolder keeps the folder of blueprints and the database alike: at the start what the folder holds goes into
// the database (for a name in both, the folder holds), later every change is written to the folder.
type blueprintFolder struct {
	dir   string
	store *coord.Store
	known blueprintdir.Set // as it was written or read last
}

// agentsDir is the folder of blueprints, empty when there is none: the one that is set, else the customary one under the
// project's directory if it exists.
func (s *server) agentsDir() string {
	if dir := s.cfg.AgentsDir; dir != "" {
		return dir
	}
	dir := filepath.Join(cmp.Or(s.cfg.ProjectDir, "."), ".agent-orchestrator", "agents")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// keepBlueprints loads the folder once the database answers, then writes it whenever a blueprint changes.
func (s *server) keepBlueprints(ctx context.Context) {
	f := blueprintFolder{dir: s.agentsDir(), store: s.store}
	if f.dir == "" {
		return
	}
	for {
		skipped, err := f.load(ctx)
		for _, e := range skipped {
			s.cfg.Log.WarnContext(ctx, "a directory in the folder of agents is no blueprint; it is skipped", "dir", f.dir, "err", e)
		}
		if err == nil {
			break
		}
		s.cfg.Log.DebugContext(ctx, "blueprints could not be loaded yet", "dir", f.dir, "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(schemaRetry):
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.blueprints:
		}
		if err := f.save(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "blueprints could not be written to their folder; the next change writes them again", "dir", f.dir, "err", err)
		}
	}
}

// load takes what the folder holds into the database.
func (f *blueprintFolder) load(ctx context.Context) (skipped []error, err error) {
	set, skipped, err := blueprintdir.Read(f.dir)
	if err != nil {
		return skipped, err
	}
	c, err := f.store.Resolve(ctx, ident.Principal{Name: "system", Scopes: []ident.Scope{ident.Admin}}, ident.Claim{}, false)
	if err != nil {
		return skipped, err
	}
	f.known = set // files that say the same as the database are left as they are
	have, err := f.stored(ctx, c)
	if err != nil {
		return skipped, err
	}
	for _, in := range set.Capabilities {
		if err := f.takeCapability(ctx, c, have, in); err != nil {
			return skipped, err
		}
	}
	for _, in := range set.Agents {
		if err := f.takeAgent(ctx, c, have, in); err != nil {
			return skipped, err
		}
	}
	return skipped, f.save(ctx)
}

func (f *blueprintFolder) takeCapability(ctx context.Context, c ident.Caller, have blueprintdir.Set, in client.CreateCapability) error {
	for _, h := range have.Capabilities {
		if h.Name == in.Name && alike(h, in) {
			return nil
		}
	}
	_, err := f.store.CreateCapability(ctx, c, in)
	if !fault.Is(err, client.CodeConflict) {
		return err
	}
	_, err = f.store.UpdateCapability(ctx, c, client.UpdateCapability{Name: in.Name, Description: &in.Description, Text: &in.Text, MCPServers: &in.MCPServers})
	return err
}

func (f *blueprintFolder) takeAgent(ctx context.Context, c ident.Caller, have blueprintdir.Set, in blueprintdir.Agent) error {
	for _, h := range have.Agents {
		if h.Name == in.Name && alike(h, in) {
			return nil
		}
	}
	_, err := f.store.CreateAgent(ctx, c, in.CreateAgent)
	if fault.Is(err, client.CodeConflict) {
		_, err = f.store.UpdateAgent(ctx, c, client.UpdateAgent{
			Name: in.Name, Description: &in.Description, SystemPrompt: &in.SystemPrompt, MCPServers: &in.MCPServers, Skills: &in.Skills,
			Tags: &in.Tags, Capabilities: &in.Capabilities, Demands: cmp.Or(in.Demands, &client.Demands{}),
		})
	}
	if err != nil {
		return err
	}
	status := "active"
	if in.Inactive {
		status = "inactive"
	}
	_, err = f.store.SetAgentStatus(ctx, c, client.SetAgentStatus{Name: in.Name, Status: status})
	return err
}

// stored is what the database holds.
func (f *blueprintFolder) stored(ctx context.Context, c ident.Caller) (blueprintdir.Set, error) {
	var set blueprintdir.Set
	agents, err := f.store.ListAgents(ctx, c, client.ListAgents{})
	if err != nil {
		return set, err
	}
	for _, a := range agents.Agents {
		out := blueprintdir.Agent{Inactive: a.Status == "inactive", CreateAgent: client.CreateAgent{
			Name: a.Name, Description: a.Description, MCPServers: a.MCPServers, Skills: a.Skills, Tags: some(a.Tags), Capabilities: some(a.Capabilities),
		}}
		if a.SystemPrompt != nil {
			out.SystemPrompt = *a.SystemPrompt
		}
		if d := a.Demands; d != nil {
			out.Demands = &client.Demands{Hostname: d.Hostname, ProjectDir: d.ProjectDir, ExecutorProfile: d.ExecutorProfile, Tags: some(d.Tags)}
		}
		set.Agents = append(set.Agents, out)
	}
	list, err := f.store.ListCapabilities(ctx, c)
	if err != nil {
		return set, err
	}
	for _, summary := range list.Capabilities {
		full, err := f.store.GetCapability(ctx, c, client.BlueprintRef{Name: summary.Name})
		if fault.Is(err, client.CodeNotFound) {
			continue // deleted just now
		}
		if err != nil {
			return set, err
		}
		out := client.CreateCapability{Name: full.Name, Description: full.Description, MCPServers: full.MCPServers}
		if full.Text != nil {
			out.Text = *full.Text
		}
		set.Capabilities = append(set.Capabilities, out)
	}
	return set, nil
}

// save writes what changed since the last time, and removes the directories of what was deleted meanwhile: those alone
// that stood for a blueprint.
func (f *blueprintFolder) save(ctx context.Context) error {
	now, err := f.stored(ctx, ident.Caller{})
	if err != nil {
		return err
	}
	var changed blueprintdir.Set
	agents, capabilities := map[string]blueprintdir.Agent{}, map[string]client.CreateCapability{}
	for _, a := range f.known.Agents {
		agents[a.Name] = a
	}
	for _, c := range f.known.Capabilities {
		capabilities[c.Name] = c
	}
	for _, a := range now.Agents {
		if was, ok := agents[a.Name]; !ok || !alike(was, a) {
			changed.Agents = append(changed.Agents, a)
		}
		delete(agents, a.Name)
	}
	for _, c := range now.Capabilities {
		if was, ok := capabilities[c.Name]; !ok || !alike(was, c) {
			changed.Capabilities = append(changed.Capabilities, c)
		}
		delete(capabilities, c.Name)
	}
	errs := []error{blueprintdir.Write(f.dir, changed)}
	for name := range agents {
		errs = append(errs, os.RemoveAll(filepath.Join(f.dir, name)))
	}
	for name := range capabilities {
		errs = append(errs, os.RemoveAll(filepath.Join(blueprintdir.Capabilities(f.dir), name)))
	}
	f.known = now
	return errors.Join(errs...)
}

// some is nil for an empty list, as an omitted member is.
func some(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// alike compares two entries as their files would be.
func alike(a, b any) bool { return reflect.DeepEqual(tidy(a), tidy(b)) }

func tidy(v any) any {
	switch v := v.(type) {
	case blueprintdir.Agent:
		v.Skills, v.Tags, v.Capabilities, v.MCPServers = some(v.Skills), some(v.Tags), some(v.Capabilities), coord.TypedServers(v.MCPServers)
		if v.Demands != nil && reflect.DeepEqual(*v.Demands, client.Demands{}) {
			v.Demands = nil
		}
		return v
	case client.CreateCapability:
		v.MCPServers = coord.TypedServers(v.MCPServers)
		return v
	}
	return v
}
