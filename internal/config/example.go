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
