package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

const blueprintPatience = 30 * time.Second // how long a coordinator that is away may delay a run

// Environment of executors.
const (
	envSession      = "AGENT_SESSION_ID"
	envRun          = "AGENT_RUN_ID" // also how processes of a dead runner are found again
	envGateway      = "AGENT_ORCHESTRATOR_API_URL"
	envCoordination = "COORDINATION_API_URL" // the coordination tools find their way through the gateway too
	envMCP          = "AGENT_ORCHESTRATOR_MCP_URL"
	envTrace        = "TRACEPARENT" // the run's span, while OpenTelemetry is on
)

// withheld are variables of the runner that executors must not see: credentials, and what would make them act for
// somebody else.
var withheld = []string{
	"COORDINATION_API_KEY", "COORDINATION_API_KEYS", "COORDINATION_API_KEY_IDENTITIES", "COORDINATOR_HTTP_URL",
	"COORD_DATABASE_URL", "COORD_DIRECT_URL", "AUTH0_RUNNER_CLIENT_SECRET", "SESSION_ID", "CLAUDE_CODE_SESSION_ID",
}

// invocation is what an executor reads from its input, schema 2.0 (without executor_config) or 2.1.
type invocation struct {
	SchemaVersion  string          `json:"schema_version"`
	Mode           string          `json:"mode"`
	SessionID      string          `json:"session_id"`
	Prompt         string          `json:"prompt"`
	ProjectDir     string          `json:"project_dir,omitempty"` // start only
	ExecutorConfig map[string]any  `json:"executor_config,omitempty"`
	Blueprint      json.RawMessage `json:"agent_blueprint,omitempty"`
}

// invocation builds the input of the job's executor. Its error is the text of a failure report.
func (r *Runner) invocation(ctx context.Context, j *job) ([]byte, error) {
	in := invocation{SchemaVersion: "2.0", Mode: "start", SessionID: j.SessionID, Prompt: j.Prompt}
	switch j.Type {
	case "start_session":
		in.ProjectDir = r.folder(j.run)
	case "resume_session":
		in.Mode = "resume"
	default:
		return nil, fmt.Errorf("runs of type %q are not known to this runner", j.Type)
	}
	if len(r.cfg.Executor.Config) > 0 {
		in.SchemaVersion, in.ExecutorConfig = "2.1", r.cfg.Executor.Config
	}
	blueprint := j.Blueprint
	if len(blueprint) == 0 || string(blueprint) == "null" {
		var err error
		if blueprint, err = r.fetchBlueprint(ctx, j.AgentName); err != nil {
			return nil, err
		}
	}
	var err error
	if in.Blueprint, err = resolve(blueprint, r.placeholders(j)); err != nil {
		return nil, fmt.Errorf("the blueprint of %s: %w", j.AgentName, err)
	}
	return json.Marshal(in)
}

// folder is the working folder of a run.
func (r *Runner) folder(rn run) string {
	if rn.ProjectDir != "" {
		return rn.ProjectDir
	}
	return r.cfg.ProjectDir
}

// fetchBlueprint asks for the agent's blueprint, again while the coordinator is away.
func (r *Runner) fetchBlueprint(ctx context.Context, name string) (json.RawMessage, error) {
	if name == "" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, blueprintPatience)
	defer cancel()
	pause := r.newBackoff()
	for {
		gen := r.generation()
		raw, err := r.api.blueprint(ctx, name)
		switch {
		case err == nil:
			return raw, nil
		case status(err) == http.StatusNotFound:
			return nil, fmt.Errorf("Blueprint not found: %s", name) //nolint:staticcheck // the wire's own text
		case final(err):
			return nil, fmt.Errorf("blueprint %s: %w", name, err)
		case status(err) == http.StatusUnauthorized:
			r.reregister(ctx, gen)
		}
		if !pause.wait(ctx) {
			return nil, fmt.Errorf("blueprint %s: %w", name, err)
		}
	}
}

func (r *Runner) placeholders(j *job) map[string]string {
	return map[string]string{
		"AGENT_SESSION_ID":            j.SessionID,
		"AGENT_RUN_ID":                j.RunID,
		"AGENT_ORCHESTRATOR_MCP_URL":  r.mcpURL(j),
		"AGENT_COORDINATION_MCP_URL":  r.gatewayURL(j) + "/mcp",
		"runner.orchestrator_mcp_url": r.mcpURL(j),
		"runtime.session_id":          j.SessionID,
		"runtime.run_id":              j.RunID,
	}
}

// resolve replaces ${name} in every string of the blueprint's mcp_servers. Unknown names stay as they are: executors
// have placeholders of their own.
func resolve(blueprint json.RawMessage, values map[string]string) (json.RawMessage, error) {
	if len(bytes.TrimSpace(blueprint)) == 0 {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(blueprint, &members); err != nil {
		return nil, err
	}
	raw, ok := members["mcp_servers"]
	if !ok {
		return blueprint, nil
	}
	var servers any
	if err := json.Unmarshal(raw, &servers); err != nil {
		return nil, err
	}
	pairs := make([]string, 0, 2*len(values))
	for name, value := range values {
		pairs = append(pairs, "${"+name+"}", value)
	}
	resolved, err := json.Marshal(replaceStrings(servers, strings.NewReplacer(pairs...)))
	if err != nil {
		return nil, err
	}
	members["mcp_servers"] = resolved
	return json.Marshal(members)
}

func replaceStrings(v any, by *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return by.Replace(v)
	case []any:
		for i := range v {
			v[i] = replaceStrings(v[i], by)
		}
	case map[string]any:
		for k := range v {
			v[k] = replaceStrings(v[k], by)
		}
	}
	return v
}

// environment is that of the job's executor: the runner's own without its credentials, and the job's identity.
func (r *Runner) environment(j *job) []string {
	ours := map[string]string{
		envSession: j.SessionID, envRun: j.RunID, envGateway: r.gatewayURL(j), envCoordination: r.gatewayURL(j), envMCP: r.mcpURL(j),
	}
	if parent := trace.Parent(j.ctx); parent != "" {
		ours[envTrace] = parent
	}
	var env []string
	for _, kv := range r.cfg.Env {
		name, _, _ := strings.Cut(kv, "=")
		if _, set := ours[name]; !set && !slices.Contains(withheld, name) {
			env = append(env, kv)
		}
	}
	for name, value := range ours {
		env = append(env, name+"="+value)
	}
	return env
}
