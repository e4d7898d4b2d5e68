package config

// Verification configures git and the places where the gateway has changes verified. Tier 0 is always there, if its
// sandbox holds; the others are there once they are configured.
type Verification struct {
	MirrorMaxMB   int64   `env:"GATEWAY_MIRROR_MAX_MB" envDefault:"2048" doc:"largest repository that is fetched, in MB as git stores it"`
	TreeMaxMB     int64   `env:"GATEWAY_TREE_MAX_MB" envDefault:"1024" doc:"largest tree of a commit that is written out, in MB"`
	FetchTimeout  Seconds `env:"GATEWAY_FETCH_TIMEOUT" envDefault:"120" doc:"seconds that one fetch may take"`
	FetchDepth    int     `env:"GATEWAY_FETCH_DEPTH" envDefault:"0" doc:"commits of history to fetch; 0 fetches all of it, without which a change is compared with the tip of its base"`
	KeepDays      int     `env:"GATEWAY_KEEP_DAYS" envDefault:"30" doc:"days after which unused mirrors, commits and results of runs are removed from GATEWAY_DIR"`
	ToolProcesses int     `env:"GATEWAY_TOOL_PROCESSES" envDefault:"256" doc:"processes that a tool of tier 0 may have"`
	ToolMemoryMB  int64   `env:"GATEWAY_TOOL_MEMORY_MB" envDefault:"2048" doc:"memory that a tool of tier 0 may have, in MB"`
	ToolRuns      int     `env:"GATEWAY_TOOL_RUNS" example:"4" doc:"changes that tier 0 looks at together; default: as many as processors"`
	ToolUser      int     `env:"GATEWAY_TOOL_USER" envDefault:"65534" doc:"number of the user and group that tools run as when the gateway runs as root"`
	ToolCgroup    string  `env:"GATEWAY_TOOL_CGROUP" example:"/sys/fs/cgroup/gateway" doc:"control group in which the tools' groups are made; default: the gateway's own, if it may"`

	E2BKey      string `env:"E2B_API_KEY" doc:"key of E2B; empty: policies that need it go to their next executor"`
	E2BURL      string `env:"E2B_API_URL" example:"https://api.e2b.app" doc:"E2B's control plane; default: api. and E2B_DOMAIN"`
	E2BDomain   string `env:"E2B_DOMAIN" envDefault:"e2b.app" doc:"domain of E2B's sandboxes"`
	E2BSandbox  string `env:"E2B_SANDBOX_URL" doc:"one address for all sandboxes; default: a host name for each"`
	E2BTemplate string `env:"E2B_TEMPLATE" envDefault:"base" doc:"template of policies that name none"`
	E2BInternet bool   `env:"E2B_INTERNET" envDefault:"true" doc:"false: sandboxes reach nothing outside, so no dependencies are fetched"`
	E2BRuns     int    `env:"E2B_RUNS" envDefault:"8" doc:"sandboxes at a time"`

	NTMURL     string `env:"NTM_URL" example:"http://127.0.0.1:7337" doc:"address of ntm serve on this machine; empty: policies that need it go to their next executor"`
	NTMKey     string `env:"NTM_API_KEY" doc:"its key, when it wants one"`
	NTMSession string `env:"NTM_SESSION" envDefault:"gwverify" doc:"tmux session that its pipelines belong to; it must exist"`
	NTMDir     string `env:"NTM_DIR" doc:"folder of its runs, which ntm serve must be able to write to; default: ntm in GATEWAY_DIR"`
	NTMRuns    int    `env:"NTM_RUNS" envDefault:"2" doc:"its runs at a time"`
}
