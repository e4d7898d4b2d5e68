// Package config turns the environment into structs, one per binary, that share parts. The struct tags are the only
// place where a variable's name, default and meaning are written: env, envDefault, doc, example. `.env.example` is
// generated from them.
//
// A wrong value is an error that names the variable; an unknown variable is ignored. Nothing here reads the
// environment but the Load functions.
package config

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// Database says which Postgres to use. Ours wins over the general names: an application's own DATABASE_URL lies in
// many shells.
type Database struct {
	CoordURL       string `env:"COORD_DATABASE_URL" example:"postgres://user:password@host:5432/coord" doc:"Postgres to use instead of the embedded one; wins over DATABASE_URL. A transaction pooler (port 6543, or ?pgbouncer=true) is fine"`
	PlainURL       string `env:"DATABASE_URL" doc:"the same, when COORD_DATABASE_URL is empty; a database with other tables is never migrated unasked"`
	CoordDirectURL string `env:"COORD_DIRECT_URL" doc:"session connection for migrations and LISTEN, when the other goes through a transaction pooler; wins over DIRECT_URL; without one, news comes by polling"`
	PlainDirectURL string `env:"DIRECT_URL" doc:"the same, when COORD_DIRECT_URL is empty"`
	MaxConns       int32  `env:"COORD_DB_CONNECTIONS" envDefault:"12" doc:"most connections of one process's pool"`
	AutoMigrate    bool   `env:"COORD_AUTO_MIGRATE" envDefault:"false" doc:"migrate the database at start; else the server refuses one that is too old (coordctl migrate)"`
}

// URL is the database's connection string, empty when none is set.
func (d Database) URL() string { return first(d.CoordURL, d.PlainURL) }

// DirectURL is a connection string on which sessions hold (LISTEN, migrations); URL when none is set.
func (d Database) DirectURL() string { return first(d.CoordDirectURL, d.PlainDirectURL, d.URL()) }

// Supabase names a Supabase project beside its database: lists are read through its Data API, and its Realtime stands in
// for LISTEN where only a transaction pooler is to be had. Calls that change something always go to the database.
type Supabase struct {
	ProjectURL     string `env:"SUPABASE_URL" example:"https://abcdefghijklmnop.supabase.co" doc:"Supabase project whose Data API serves lists; the database answers when it is away. Needs COORD_DATABASE_URL all the same"`
	SecretKey      string `env:"SUPABASE_SECRET_KEY" doc:"its secret key (sb_secret_…) or service_role JWT"`
	ServiceKey     string `env:"SUPABASE_SERVICE_KEY" doc:"the same"`
	ServiceRoleKey string `env:"SUPABASE_SERVICE_ROLE_KEY" doc:"the same"`
	PublishableKey string `env:"SUPABASE_PUBLISHABLE_KEY" doc:"its publishable key (sb_publishable_…) or anon JWT; without a secret key, projects that are open to everybody are read with it"`
	AnonKey        string `env:"SUPABASE_ANON_KEY" doc:"the same"`
	TokenFile      string `env:"SUPABASE_REALTIME_TOKEN_FILE" example:"/run/secrets/realtime.jwt" doc:"file with a short-lived access token (JWT) for Realtime, which somebody else renews: it is read anew every 25 s; empty: the key, if it is a JWT"`
}

// Secret is the key that reads every project, empty when none is set.
func (s Supabase) Secret() string { return first(s.SecretKey, s.ServiceKey, s.ServiceRoleKey) }

// Public is the key that reads open projects, empty when none is set.
func (s Supabase) Public() string { return first(s.PublishableKey, s.AnonKey) }

// Embedded configures the private Postgres server that is used when no database is given.
type Embedded struct {
	Home    string        `env:"COORD_HOME" doc:"the one folder of state; default: the user's data folder, as root /var/lib/agent-coordinator"`
	PgBin   string        `env:"COORD_PG_BIN" example:"/usr/lib/postgresql/16/bin" doc:"folder with initdb and postgres; default: found or fetched"`
	PgUser  string        `env:"COORD_PG_USER" doc:"as root: the user that the server drops to; default: postgres, else the invoking user"`
	PgGrace time.Duration `env:"COORD_PG_GRACE" example:"60s" doc:"how long the server stays after its last user went; MCP hosts restart their servers often"`
	PgRoot  string        `env:"COORD_PG_ROOT" doc:"folder of the embedded server alone; default: postgres in COORD_HOME"`
}

// Tracing names what OpenTelemetry's SDK reads by itself; its other variables hold too.
type Tracing struct {
	Endpoint string `env:"OTEL_EXPORTER_OTLP_ENDPOINT" example:"http://127.0.0.1:4318" doc:"OpenTelemetry collector that api, gateway, agent-runner, mcp-server and coordctl up send spans to, OTLP over HTTP; empty: nothing is traced. The other OTEL_ variables hold as OpenTelemetry defines them"`
}

// Logging configures the log on stderr.
type Logging struct {
	Level string `env:"LOG_LEVEL" envDefault:"info" doc:"debug, info, warn or error"`
	Debug bool   `env:"DEBUG_LOGGING" envDefault:"false" doc:"true logs every request"`
}

// HTTP configures the API server's door.
type HTTP struct {
	Addr          string `env:"API_ADDR" envDefault:"127.0.0.1:8765" doc:"where the API listens; port 0 picks a free one"`
	AuthEnabled   bool   `env:"AUTH_ENABLED" envDefault:"true" doc:"false lets everybody on this machine in; honoured on loopback addresses only"`
	Keys          string `env:"COORDINATION_API_KEYS" doc:"comma-separated API keys beside those in the database; empty admits nobody"`
	KeyIdentities string `env:"COORDINATION_API_KEY_IDENTITIES" example:"{\"key-1\": {\"agent_id\": \"ci\", \"agent_type\": \"codex\"}}" doc:"JSON that binds keys of COORDINATION_API_KEYS to one agent each; scopes (default read, write, runner), rate_limit and stream_limit may be given too"`
	AgentSecrets  string `env:"AGENT_WEBHOOK_SECRET" doc:"comma-separated secrets; when set, POST /webhook/agent needs X-Agent-Signature-256, the HMAC-SHA256 of the body with one of them, beside the key"`
	CORSOrigins   string `env:"CORS_ORIGINS" example:"https://dash.example.com" doc:"comma-separated origins whose pages may call the API; * for every page; empty: none"`
}

// KeyList is Keys split at commas, without blanks and empty entries.
func (h HTTP) KeyList() []string { return split(h.Keys) }

// Origins is CORSOrigins split likewise.
func (h HTTP) Origins() []string { return split(h.CORSOrigins) }

// Exposure says how the API and the gateway stand towards other machines. Limits count one process's requests.
type Exposure struct {
	TLSCert        string `env:"TLS_CERT_FILE" example:"/etc/agent-coordinator/tls/fullchain.pem" doc:"certificate with its chain, PEM, for the api and gateway commands; a renewed one is taken up by itself. Empty: plain HTTP, for this machine or behind a proxy"`
	TLSKey         string `env:"TLS_KEY_FILE" example:"/etc/agent-coordinator/tls/privkey.pem" doc:"its private key, PEM"`
	TrustedProxies string `env:"TRUSTED_PROXIES" example:"10.0.0.7,10.1.0.0/16" doc:"addresses and networks of proxies whose X-Forwarded-For is believed; empty: nobody's, the address is the connection's"`
	RateLimit      int    `env:"COORD_RATE_LIMIT" envDefault:"500" doc:"requests a second that one key may make from other machines, five times as many at once; 0: no limit. A key may have its own: coordctl keys limit"`
	StreamLimit    int    `env:"COORD_STREAM_LIMIT" envDefault:"2000" doc:"waiting calls and live views that one key may have open from other machines; 0: no limit. A key may have its own"`
}

// ProxyList is TrustedProxies split at commas, without blanks and empty entries.
func (e Exposure) ProxyList() []string { return split(e.TrustedProxies) }

// Seconds is a time in whole seconds, as the older names of these variables have it; 90s and 2m are read as well.
type Seconds time.Duration

// D is the time.
func (s Seconds) D() time.Duration { return time.Duration(s) }

// UnmarshalText reads a number of seconds or a duration.
func (s *Seconds) UnmarshalText(text []byte) error {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		d, err := time.ParseDuration(string(text))
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is no time such as 30 or 2m", text)
		}
		*s = Seconds(d)
		return nil
	}
	if n <= 0 || n > 1e7 {
		return fmt.Errorf("%s is out of range", text)
	}
	*s = Seconds(n * float64(time.Second))
	return nil
}

// Orchestration configures sessions, runs and runners.
type Orchestration struct {
	PollTimeout       Seconds `env:"RUNNER_POLL_TIMEOUT" envDefault:"30" doc:"seconds a runner's poll waits; at most 30"`
	HeartbeatInterval Seconds `env:"RUNNER_HEARTBEAT_INTERVAL" envDefault:"60" doc:"seconds between heartbeats that runners are asked for"`
	StaleThreshold    Seconds `env:"RUNNER_STALE_THRESHOLD" envDefault:"120" doc:"seconds of silence after which a runner is stale: another process may take its name"`
	RemoveThreshold   Seconds `env:"RUNNER_REMOVE_THRESHOLD" envDefault:"600" doc:"seconds of silence after which a runner is removed and its runs have failed"`
	NoMatchTimeout    Seconds `env:"RUN_NO_MATCH_TIMEOUT" envDefault:"300" doc:"seconds a run waits for a runner that meets its demands"`
	ClaimLease        Seconds `env:"RUN_CLAIM_LEASE" envDefault:"30" doc:"seconds a runner has to report a claimed run started, before it goes to another"`
	RecoveryMode      string  `env:"RUN_RECOVERY_MODE" envDefault:"stale" doc:"runs whose runner is gone, at the start: stale (those older than 5 minutes), all, none"`
	MaxDepth          int     `env:"RUN_MAX_DEPTH" envDefault:"10" doc:"how deep sessions may be nested"`
	AgentsDir         string  `env:"AGENT_ORCHESTRATOR_AGENTS_DIR" example:"./config/agents" doc:"folder of agents' blueprints: loaded at the start, then kept like the database; default: .agent-orchestrator/agents in the project's directory, if it exists"`
	ProjectDir        string  `env:"AGENT_ORCHESTRATOR_PROJECT_DIR" doc:"the project's directory; default: the current one"`
	RetentionDays     int     `env:"COORD_RETENTION_DAYS" envDefault:"90" doc:"days after which ended sessions with their runs and events, read messages and older handoffs are deleted; 0: never"`
	MaxChildren       int     `env:"RUN_MAX_CHILDREN" envDefault:"100" doc:"most children of one session that are at work at a time"`
}

// Agent says who a local process acts for.
type Agent struct {
	ID                string `env:"AGENT_ID" doc:"agent that the MCP server and coordctl act for; default: made from the host and kept"`
	Type              string `env:"AGENT_TYPE" example:"claude_code" doc:"its type; default: what the MCP client says it is"`
	AgentSessionID    string `env:"AGENT_SESSION_ID" doc:"session to act in; wins over SESSION_ID and CLAUDE_CODE_SESSION_ID"`
	SessionID         string `env:"SESSION_ID" doc:"the same"`
	ClaudeCodeSession string `env:"CLAUDE_CODE_SESSION_ID" doc:"the same; Claude Code sets it"`
	Project           string `env:"COORD_PROJECT" example:"my-team/my-app" doc:"project of this checkout; default: from the git remote"`
}

// Session is the session to act in, empty when none is named.
func (a Agent) Session() string { return first(a.AgentSessionID, a.SessionID, a.ClaudeCodeSession) }

// Tools says what MCP clients see.
type Tools struct {
	ToolProfile string `env:"COORD_TOOL_PROFILE" envDefault:"core" doc:"MCP tools to list: core or full"`
}

// Remote says where the API is, for clients of it.
type Remote struct {
	CoordinationURL string `env:"COORDINATION_API_URL" example:"http://127.0.0.1:8765" doc:"API to use instead of a database"`
	CoordinatorURL  string `env:"COORDINATOR_HTTP_URL" doc:"the same, when COORDINATION_API_URL is empty"`
	Key             string `env:"COORDINATION_API_KEY" doc:"key that is sent to it"`
}

// URL is the API's address without a trailing slash, empty when none is set.
func (r Remote) URL() string {
	return strings.TrimRight(first(r.CoordinationURL, r.CoordinatorURL), "/")
}

// Runner configures the agent runner; its flags win.
type Runner struct {
	APIURL        string        `env:"AGENT_ORCHESTRATOR_API_URL" example:"http://localhost:8765" doc:"coordinator of the agent runner; default: COORDINATION_API_URL, else port 8765 of this machine"`
	ExecutorPath  string        `env:"AGENT_EXECUTOR_PATH" example:"executors/test-executor/ao-test-exec" doc:"executor to run, absolute or relative to AGENT_RUNNER_DIR; default: claude-code"`
	Dir           string        `env:"AGENT_RUNNER_DIR" doc:"folder with executors/<name>/ao-*-exec and profiles/<name>.json; default: the one of the agent-runner program"`
	PollTimeout   int           `env:"POLL_TIMEOUT" envDefault:"30" doc:"seconds that a poll for work may be held by the coordinator"`
	HeartbeatSecs int           `env:"HEARTBEAT_INTERVAL" example:"60" doc:"seconds between the runner's signs of life; default: what the coordinator says"`
	ProjectDir    string        `env:"PROJECT_DIR" doc:"folder in which runs work that name none; default: the current one"`
	Tags          string        `env:"RUNNER_TAGS" example:"python,docker" doc:"comma-separated tags of the runner"`
	MaxRuns       int           `env:"RUNNER_MAX_RUNS" envDefault:"32" doc:"most runs at once; -1: no limit. A parent that waits for its child counts too"`
	RunTimeout    time.Duration `env:"RUNNER_RUN_TIMEOUT" example:"2h" doc:"a run that takes longer is ended and reported failed; default: no limit"`
	Drain         time.Duration `env:"RUNNER_DRAIN_TIMEOUT" example:"1m" doc:"how long a shutdown waits for runs to end by themselves before it ends them; default: not at all"`
}

// LocalRunner says which agent runner `coordctl up` keeps running.
type LocalRunner struct {
	Name string `env:"COORD_RUNNER" envDefault:"auto" doc:"runner that coordctl up keeps running: a profile or executor by name, none, or auto: claude-code where the claude command is found, else test-executor, which echoes"`
	Work string `env:"COORD_RUNNER_DIR" doc:"folder in which its runs work that name none; default: workspace in COORD_HOME"`
}

// TagList is Tags split at commas, without blanks and empty entries.
func (r Runner) TagList() []string { return split(r.Tags) }

// AgentRunner is the configuration of cmd/agent-runner.
type AgentRunner struct {
	Runner
	Remote
	Agent
	Embedded
}

// URL is the coordinator's address, empty when none is set.
func (r AgentRunner) URL() string { return strings.TrimRight(first(r.APIURL, r.Remote.URL()), "/") }

// Model is an OpenAI-compatible endpoint that may shorten working memories, and one that may make embeddings of memories.
// Without them, and when they fail, what is built in serves.
type Model struct {
	LLMURL   string `env:"COORD_LLM_URL" example:"https://api.openai.com/v1" doc:"OpenAI-compatible endpoint that shortens older items of working memories; empty: they are shortened without a model"`
	LLMKey   string `env:"COORD_LLM_KEY" doc:"its key"`
	LLMModel string `env:"COORD_LLM_MODEL" example:"gpt-4.1-mini" doc:"model to ask for"`

	EmbeddingsURL   string `env:"COORD_EMBEDDINGS_URL" example:"http://127.0.0.1:11434/v1" doc:"OpenAI-compatible endpoint that makes embeddings; with pgvector in the database, recall finds memories by meaning as well as by words"`
	EmbeddingsKey   string `env:"COORD_EMBEDDINGS_KEY" doc:"its key"`
	EmbeddingsModel string `env:"COORD_EMBEDDINGS_MODEL" example:"nomic-embed-text" doc:"model to ask for; another one embeds every memory anew"`
}

// API is the configuration of cmd/api.
type API struct {
	Database
	Supabase
	HTTP
	Exposure
	Orchestration
	Tools
	Embedded
	Logging
	Model
}

// MCP is the configuration of cmd/mcp-server.
type MCP struct {
	Database
	Supabase
	Remote
	Agent
	Tools
	Embedded
	Logging
	Model
}

// Gateway is the configuration of the verification gateway.
type Gateway struct {
	Addr                string `env:"GATEWAY_ADDR" envDefault:"127.0.0.1:8080" doc:"where the gateway listens; port 0 picks a free one; off: coordctl up starts none"`
	WebhookSecret       string `env:"GITHUB_WEBHOOK_SECRET" doc:"secret of GitHub's webhook; empty refuses every delivery"`
	WebhookSecretBefore string `env:"GITHUB_WEBHOOK_SECRET_PREVIOUS" doc:"the secret before, accepted as well while it is being changed"`
	PageURL             string `env:"GATEWAY_PAGE_URL" example:"https://coord.example.com/changesets/" doc:"where people look at a changeset, its id is appended; shown with the status"`
	StateDir            string `env:"GATEWAY_DIR" example:"/var/lib/agent-coordinator/gateway" doc:"folder for mirrors of repositories and caches of tools; default: gateway in COORD_HOME"`
	GitHosts            string `env:"GATEWAY_GIT_HOSTS" example:"github.com,git.example.com" doc:"hosts that commits may be fetched from; default: the GitHub that is configured"`
	GitPlainHosts       string `env:"GATEWAY_GIT_PLAIN_HOSTS" example:"127.0.0.1:3000" doc:"hosts that may be fetched from over plain http"`
	GitRoots            string `env:"GATEWAY_GIT_ROOTS" example:"/srv/git" doc:"folders whose repositories may be fetched by path"`
	ToolPath            string `env:"GATEWAY_TOOL_PATH" example:"/usr/local/bin:/usr/bin" doc:"folders that tools of tier 0 are looked for in"`
	NotifyURL           string `env:"NOTIFY_WEBHOOK_URL" example:"https://hooks.slack.com/services/T000/B000/XXXX" doc:"incoming webhook of Slack or the like that is told when people are needed; empty: nobody is"`
	ToolConfig          string `env:"GATEWAY_TOOL_CONFIG" example:"/etc/agent-coordinator/tools" doc:"folder of the tools' configuration and tools.json; default: what is built in"`
}

// GitHub says how the gateway speaks to GitHub. Without credentials, policies of tier 1 have no place and no status is shown.
type GitHub struct {
	GatewayToken         string `env:"GATEWAY_GITHUB_TOKEN" doc:"token with contents:read, pull_requests:read, statuses:write, actions:write"`
	GitHubToken          string `env:"GITHUB_TOKEN" doc:"the same for the gateway command alone, where GATEWAY_GITHUB_TOKEN is empty; coordctl up does not take it from your shell"`
	GitHubAPI            string `env:"GITHUB_API_URL" envDefault:"https://api.github.com" doc:"GitHub Enterprise Server: https://HOST/api/v3"`
	GitHubServer         string `env:"GITHUB_SERVER_URL" example:"https://github.example.com" doc:"base of GitHub's pages; default: worked out from GITHUB_API_URL"`
	GitHubAppID          int64  `env:"GITHUB_APP_ID" example:"12345" doc:"authenticate as this App instead of by token; verdicts are shown as checks then"`
	GitHubAppKeyFile     string `env:"GITHUB_APP_PRIVATE_KEY_FILE" example:"/etc/agent-coordinator/app.pem" doc:"the App's private key"`
	GitHubInstallationID int64  `env:"GITHUB_APP_INSTALLATION_ID" example:"67890" doc:"the App's installation; default: looked up for every repository"`
	GitHubHooks          string `env:"GITHUB_HOOKS" example:"acme/shop:123456" doc:"repository hooks whose failed deliveries are asked for again, as owner/name:id"`
	GitHubWorkflow       string `env:"GITHUB_WORKFLOW_FILE" example:"verify.yml" doc:"workflow of policies that name none"`
	GitHubForkWorkflow   string `env:"GITHUB_FORK_WORKFLOW_FILE" example:"verify-fork.yml" doc:"workflow for changes from forks; it must use no secrets and no caches. Empty: they are not run"`
}

// GatewayServer is the configuration of cmd/gateway.
type GatewayServer struct {
	Database
	HTTP
	Exposure
	Gateway
	GitHub
	Verification
	Embedded
	Logging
}

// List splits a list at commas, without blanks and empty entries.
func List(s string) []string { return split(s) }

// Load fills T from the environment. The error names each wrong variable.
func Load[T any]() (T, error) { return LoadFrom[T](env.ToMap(os.Environ())) }

// LoadFrom fills T from the given variables alone. A blank value counts as not set: AUTH_ENABLED= keeps the default.
func LoadFrom[T any](vars map[string]string) (T, error) {
	var out T
	set := map[string]string{}
	for k, v := range vars {
		if strings.TrimSpace(v) != "" {
			set[k] = v
		}
	}
	if err := env.ParseWithOptions(&out, env.Options{Environment: set}); err != nil {
		return out, fmt.Errorf("environment: %w", err)
	}
	return out, nil
}

func first(values ...string) string {
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			return v
		}
	}
	return ""
}

func split(list string) []string {
	var out []string
	for v := range strings.SplitSeq(list, ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}
