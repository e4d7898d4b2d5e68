package mcpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/user"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// Process is who a stdio server speaks for: one host on one machine, most often one agent session. The zero value of
// a member means that it is found out from the client, or made up once and kept.
type Process struct {
	Agent     string // AGENT_ID; default: <type>-<host>-<user>, the same in every process of this user
	AgentType string // AGENT_TYPE; default: what the client calls itself, else claude_code
	Session   string // from the environment; default: made up once
	Host      string // machine's name
	User      string // login name
	Principal string // default "local:<agent>"
	// Place says which project and repository calls are about. It may fail as unavailable and is asked again then.
	Place func(ctx context.Context) (project, repository string, err error)
	// Bound says which agent the key of a remote API is bound to, empty when to none; nil: there is no key.
	Bound func(ctx context.Context) (agent, kind string, err error)

	made sync.Once
	own  string // the session that was made up
}

// Identify implements Identify for a stdio server.
func (p *Process) Identify(ctx context.Context, meta map[string]any) (ident.Principal, ident.Claim, error) {
	kind := cmp.Or(p.AgentType, agentType(clientName(ctx, meta)), "claude_code")
	agent := p.Agent
	if agent == "" && p.Bound != nil {
		boundAgent, boundKind, err := p.Bound(ctx)
		if err != nil {
			return ident.Principal{}, ident.Claim{}, err
		}
		agent, kind = boundAgent, cmp.Or(boundKind, kind)
	}
	agent = cmp.Or(agent, defaultAgent(kind, p.Host, p.User))
	claim := ident.Claim{Agent: agent, AgentType: kind, Session: sessionFromMeta(meta)}
	if over, ok := ctx.Value(httpKey{}).(httpCaller); ok { // several clients share a process that serves HTTP
		claim.Agent, claim.AgentType = cmp.Or(over.claim.Agent, claim.Agent), cmp.Or(over.claim.AgentType, claim.AgentType)
		claim.Session = cmp.Or(claim.Session, over.claim.Session)
	}
	if cs := overHTTP(ctx); cs != nil && claim.Session == "" {
		claim.Session = cs.SessionID()
	}
	claim.Session = cmp.Or(claim.Session, p.OwnSession())
	principal := ident.Principal{Name: cmp.Or(p.Principal, "local:"+agent), Scopes: []ident.Scope{ident.Read, ident.Write}}
	if p.Place != nil {
		var err error
		if claim.Project, claim.Repository, err = p.Place(ctx); err != nil {
			return principal, claim, err
		}
	}
	return principal, claim, nil
}

// OwnSession is the process's own session: the environment's, else one that is made up once.
func (p *Process) OwnSession() string {
	if p.Session != "" {
		return p.Session
	}
	p.made.Do(func() { p.own = "mcp-" + randomHex(8) })
	return p.own
}

// clientName is what the client calls itself: in the request (2026-07-28) or in its initialize.
func clientName(ctx context.Context, meta map[string]any) string {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientInfo != nil {
		return info.ClientInfo.Name
	}
	if info, ok := meta["io.modelcontextprotocol/clientInfo"].(map[string]any); ok {
		if name, ok := info["name"].(string); ok && name != "" {
			return name
		}
	}
	if s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return s.GetClientInfo().Name
	}
	return ""
}

// hostNames maps words in a client's name to the agent types people use in rules and filters. The first hit counts.
var hostNames = []struct{ word, kind string }{
	{"claude-ai", "claude_desktop"},
	{"claude", "claude_code"},
	{"codex", "codex"},
	{"cursor", "cursor"},
	{"gemini", "gemini"},
	{"windsurf", "windsurf"},
	{"cline", "cline"},
	{"copilot", "copilot"},
	{"visual studio code", "vscode"},
	{"vscode", "vscode"},
	{"zed", "zed"},
	{"goose", "goose"},
	{"amp", "amp"},
	{"opencode", "opencode"},
}

// agentType turns a client's name into an agent type; empty stays empty.
func agentType(client string) string {
	name := strings.ToLower(client)
	for _, h := range hostNames {
		if strings.Contains(name, h.word) {
			return h.kind
		}
	}
	return strings.ReplaceAll(slug(name, 60), "-", "_")
}

// LocalAgent is the agent that a process of this user on this machine acts as when AGENT_ID names none. The MCP server
// and the hooks of one host must agree on it.
func LocalAgent(kind string) string { return defaultAgent(kind, HostName(), UserName()) }

// HostName is this machine's name, empty when it cannot be told.
func HostName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

// UserName is the login name of this process's user, without a domain.
func UserName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
	}
	return os.Getenv("USER")
}

func defaultAgent(kind, host, user string) string {
	host, _, _ = strings.Cut(host, ".")
	parts := []string{strings.ReplaceAll(kind, "_", "-")}
	for _, s := range []string{slug(strings.ToLower(host), 60), slug(strings.ToLower(user), 60)} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "-")
}

// slug keeps letters, digits, dot and underscore of s, at most n bytes; other runs become one dash.
func slug(s string, n int) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= n {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// sessionFromMeta is the session a host names in a call's _meta; empty: none.
func sessionFromMeta(meta map[string]any) string {
	turn, _ := meta["x-codex-turn-metadata"].(map[string]any)
	if text, ok := meta["x-codex-turn-metadata"].(string); ok {
		_ = json.Unmarshal([]byte(text), &turn) // what is not JSON names no session
	}
	for _, v := range []any{
		turn["session_id"], meta["sessionId"], meta["session_id"], turn["thread_id"], meta["threadId"], meta["claudecode/sessionId"],
	} {
		if s, ok := v.(string); ok && s != "" && len(s) <= 200 {
			return s
		}
	}
	return ""
}

// metaFields is a request's _meta as a map, never nil.
func metaFields(m *mcp.Meta) map[string]any {
	if m == nil || m.AdditionalFields == nil {
		return map[string]any{}
	}
	return m.AdditionalFields
}

// requestID is the host's own id of the call where it gives one, so that its logs and ours meet.
func requestID(meta map[string]any) string {
	for _, k := range []string{"claudecode/toolUseId", "callId"} {
		if s, ok := meta[k].(string); ok && s != "" && len(s) <= 100 {
			return s
		}
	}
	return "mcp-" + randomHex(6)
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b)
}
