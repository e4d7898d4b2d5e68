package config

import (
	"fmt"
	"reflect"
	"strings"
)

// parts are the sections of `.env.example`, in its order.
var parts = []struct {
	title string
	value any
}{
	{"The database (default: an embedded Postgres)", Database{}},
	{"Supabase beside the database (optional)", Supabase{}},
	{"The embedded Postgres", Embedded{}},
	{"The API server", HTTP{}},
	{"The API and the gateway towards other machines", Exposure{}},
	{"Sessions, runs and runners", Orchestration{}},
	{"The gateway", Gateway{}},
	{"GitHub, for the gateway", GitHub{}},
	{"Where the gateway has changes verified", Verification{}},
	{"Clients of the API: the MCP server, coordctl, hooks", Remote{}},
	{"The agent runner", Runner{}},
	{"The runner of coordctl up", LocalRunner{}},
	{"Who a local process acts for", Agent{}},
	{"What MCP clients see", Tools{}},
	{"A language model (optional)", Model{}},
	{"Logs", Logging{}},
	{"Traces (optional)", Tracing{}},
	{"docker-compose.yml alone: no program reads these", Compose{}},
}

// Compose are the variables of docker-compose.yml that are not passed on to a program.
type Compose struct {
	Version               string `env:"COORD_VERSION" envDefault:"latest" doc:"tag of the image that is built and run"`
	PostgresPassword      string `env:"POSTGRES_PASSWORD" doc:"of the database; letters and digits, for it stands in an address"`
	PostgresPort          int    `env:"POSTGRES_PORT" envDefault:"5433" doc:"where the database is reached on this machine"`
	APIPort               int    `env:"API_PORT" envDefault:"8765" doc:"where the API is"`
	GatewayPort           int    `env:"GATEWAY_PORT" envDefault:"8080" doc:"where the gateway is"`
	DataAPIPort           int    `env:"DATA_API_PORT" envDefault:"54321" doc:"where the Data API of the profile supabase is"`
	RunnerExecutor        string `env:"RUNNER_EXECUTOR" envDefault:"test-executor" doc:"executor or profile of the runner; the image holds no coding agent, test-executor echoes"`
	AuthenticatorPassword string `env:"AUTHENTICATOR_PASSWORD" doc:"of the Data API's role in the database (profile supabase); letters and digits"`
	JWTSecret             string `env:"PGRST_JWT_SECRET" doc:"signs the Data API's tokens (profile supabase); 32 characters or more"`
}

// Example is the text of `.env.example`: every variable with its meaning, commented out, showing its default or an
// example.
func Example() string {
	var b strings.Builder
	b.WriteString("# Every variable that the binaries read. All are optional; the value shown is the default, or an example.\n" +
		"# Generated from internal/config: go test ./internal/config -run Golden -update\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "\n# --- %s\n", p.title)
		t := reflect.TypeOf(p.value)
		for i := range t.NumField() {
			f := t.Field(i)
			value, kind := f.Tag.Get("envDefault"), ""
			if value == "" {
				if value = f.Tag.Get("example"); value != "" {
					kind = " (example)"
				}
			}
			fmt.Fprintf(&b, "# %s%s\n# %s=%s\n", f.Tag.Get("doc"), kind, f.Tag.Get("env"), value)
		}
	}
	return b.String()
}
