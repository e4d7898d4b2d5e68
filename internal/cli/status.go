package cli

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/local"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
	"github.com/agent-coordinator/agent-coordinator/internal/version"
)

// status is what `coordctl status --json` prints.
type status struct {
	Version  string          `json:"version"`
	Home     string          `json:"home"`
	Up       *local.Up       `json:"up"` // null: nothing is up
	Postgres embedpg.Info    `json:"postgres"`
	External bool            `json:"external_database"`
	Schema   *migrate.Status `json:"schema"` // null: no database to ask
}

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say what runs", Args: noArgs,
		Long: "Says what runs: the API, the embedded Postgres, the schema's version. Exit code 0 when the API answers, 3 when not.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.status(cmd.Context()) },
	}
}

func (a *app) status(ctx context.Context) error {
	s := status{Version: version.String()}
	home, err := local.FindHome()
	if err != nil {
		return err
	}
	s.Home = home.Dir
	if u, ok := home.Running(ctx); ok {
		s.Up = &u
	}
	cfg, err := config.Load[config.Database]()
	if err != nil {
		return usageError{err}
	}
	dsn := cfg.DirectURL()
	s.External = dsn != ""
	if s.Postgres, err = embedpg.Inspect(""); err != nil {
		return err
	}
	if dsn == "" && s.Up != nil {
		dsn = s.Up.DatabaseURL
	}
	if dsn != "" {
		asked, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if st, err := migrate.ReadStatus(asked, dsn, migrate.Options{}); err == nil {
			s.Schema = &st
		}
	}
	if a.asJSON {
		err = a.printJSON(s)
	} else {
		a.printStatus(s)
	}
	if err == nil && s.Up == nil {
		return quietExit(exitUnavailable)
	}
	return err
}

func (a *app) printStatus(s status) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(a.Out, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	if s.Up != nil {
		row("API", "up, pid %d, %s", s.Up.PID, s.Up.APIURL)
		row("gateway", "%s", describeGateway(*s.Up))
		if r := s.Up.Runner; r != nil && !r.Alive() {
			row("runner", "%s, being started again; see %s", r.Profile, r.Log)
		} else {
			row("runner", "%s", describeRunner(r))
		}
	} else {
		row("API", "not up (coordctl up)")
	}
	switch p := s.Postgres; {
	case s.External:
		row("database", "given by URL")
	case p.Running:
		row("database", "embedded Postgres %s, pid %d, %s", p.Version, p.PID, p.DataDir)
	case p.Exists:
		row("database", "embedded Postgres %d, stopped, %s", p.Major, p.DataDir)
	default:
		row("database", "none yet")
	}
	if s.Schema != nil {
		text := fmt.Sprintf("version %d", s.Schema.Version)
		if n := len(s.Schema.Pending); n > 0 {
			text += fmt.Sprintf(", %d to apply (coordctl migrate)", n)
		}
		row("schema", "%s", text)
	}
	row("home", "%s", s.Home)
	row("version", "%s", s.Version)
}

func (a *app) migrateCommand() *cobra.Command {
	var foreign, dry bool
	cmd := &cobra.Command{
		Use: "migrate", Short: "Bring the database to this binary's schema", Args: noArgs,
		Long: `Applies what is missing to the database of COORD_DIRECT_URL, COORD_DATABASE_URL, DIRECT_URL, DATABASE_URL, else to the
embedded one. A database that holds only other people's tables is refused unless --migrate-foreign is given.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.migrate(cmd.Context(), foreign, dry) },
	}
	cmd.Flags().BoolVar(&foreign, "migrate-foreign", false, "add our schema to a database that holds other people's tables")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be applied")
	return cmd
}

func (a *app) migrate(ctx context.Context, foreign, dry bool) error {
	cfg, err := config.Load[config.Database]()
	if err != nil {
		return usageError{err}
	}
	db, err := local.OpenDatabase(ctx, local.DatabaseOptions{Config: cfg, Migrate: !dry, MigrateForeign: foreign, Progress: a.progress})
	if err != nil {
		return upFault(err)
	}
	defer db.Close() //nolint:errcheck // the server stops by itself
	st, err := migrate.ReadStatus(ctx, db.DirectURL, migrate.Options{})
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"applied": nonNil(db.Report.Applied), "status": st})
	}
	for _, name := range db.Report.Applied {
		fmt.Fprintf(a.Out, "applied %s\n", name)
	}
	for _, name := range st.Pending {
		fmt.Fprintf(a.Out, "pending %s\n", name)
	}
	fmt.Fprintf(a.Out, "the schema is at version %d of %d\n", st.Version, st.Latest)
	return nil
}

// redact hides the password of a connection string.
func redact(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil || u.User == nil {
		return dsn
	}
	return u.Redacted()
}

// mcpServerPath is where mcp-server lies: beside this program.
func mcpServerPath() string { return beside("mcp-server") }

// beside is a program in this one's folder.
func beside(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	exe, err := os.Executable()
	if err != nil {
		return name
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil && !strings.Contains(real, "go-build") {
		exe = real
	}
	return filepath.Join(filepath.Dir(exe), name)
}
