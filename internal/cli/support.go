package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/local"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
	"github.com/agent-coordinator/agent-coordinator/internal/support"
	"github.com/agent-coordinator/agent-coordinator/internal/version"
)

func (a *app) supportCommand() *cobra.Command {
	group := &cobra.Command{Use: "support", Short: "support: bundle", RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	var dry bool
	var lines int
	cmd := &cobra.Command{
		Use: "bundle [FILE]", Short: "Put what somebody who helps needs to see into one file", Args: cobra.MaximumNArgs(1),
		Long: `Writes a gzipped tar (default: a new file in this folder) with versions, settings, what doctor says, the state of the
database (sizes, figures, settings of Postgres), the metrics and the ends of the logs. Secrets are taken out, and nothing
that agents remember, say or work on goes in: names of operations, tables and agents do. Look through it before you pass it
on. --dry-run says what would go in and writes nothing.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.supportBundle(cmd.Context(), args, dry, lines) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would go in, write nothing")
	cmd.Flags().IntVar(&lines, "log-lines", 500, "how many lines of each log")
	group.AddCommand(cmd)
	return group
}

func (a *app) supportBundle(ctx context.Context, args []string, dry bool, lines int) error {
	if lines < 0 {
		return usagef("--log-lines is not negative")
	}
	home, err := local.FindHome()
	if err != nil {
		return err
	}
	items := a.supportItems(home, lines)
	if dry {
		return a.tellBundle("", items)
	}
	now := time.Now().UTC()
	name := "agent-coordinator-support-" + now.Format("20060102T150405Z")
	path := name + ".tar.gz"
	if len(args) > 0 {
		path = args[0]
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return usageError{err}
	}
	err = support.Write(ctx, file, name, now, support.NewScrubber(a.secrets(home)...), items)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return a.tellBundle(path, items)
}

func (a *app) tellBundle(path string, items []support.Item) error {
	if a.asJSON {
		list := make([]map[string]string, len(items))
		for i, item := range items {
			list[i] = map[string]string{"name": item.Name, "what": item.What}
		}
		return a.printJSON(map[string]any{"success": true, "path": path, "dry_run": path == "", "files": list})
	}
	if path == "" {
		fmt.Fprintln(a.Out, "would hold (nothing was written):")
	} else {
		fmt.Fprintf(a.Out, "wrote %s, which holds:\n", path)
	}
	for _, item := range items {
		fmt.Fprintf(a.Out, "  %-20s %s\n", item.Name, item.What)
	}
	return nil
}

// secrets is every secret that this installation knows here.
func (a *app) secrets(home local.Home) []string {
	var out []string
	for _, s := range config.Settings(a.Getenv) {
		if s.Secret != "" {
			out = append(out, s.Secret)
		}
	}
	out = append(out, a.apiKey)
	for _, name := range []string{"key", "runner.key"} {
		if raw, err := os.ReadFile(filepath.Join(home.Dir, name)); err == nil {
			out = append(out, string(raw))
		}
	}
	if u, err := home.ReadUp(); err == nil {
		out = append(out, u.APIKey, u.DatabaseURL)
	}
	return out
}

func (a *app) supportItems(home local.Home, lines int) []support.Item {
	return []support.Item{
		{Name: "versions.json", What: "this program, its modules and this machine", Make: func(context.Context) (string, error) { return versions() }},
		{Name: "settings.txt", What: "variables that are set; secrets as (set), addresses without paths", Make: func(context.Context) (string, error) { return a.settings(), nil }},
		{Name: "doctor.json", What: "what coordctl doctor says", Make: func(ctx context.Context) (string, error) { return a.doctorText(ctx, home) }},
		{Name: "status.json", What: "what runs, and the embedded Postgres", Make: func(ctx context.Context) (string, error) { return statusText(ctx, home) }},
		{Name: "migrations.json", What: "the schema's version and what is pending", Make: a.migrationsText},
		{Name: "database.json", What: "sizes of tables, settings and connections of Postgres, queues, sweeps; no rows", Make: a.databaseText},
		{Name: "metrics-api.txt", What: "the API's /metrics", Make: func(ctx context.Context) (string, error) {
			e, err := a.endpoint()
			if err != nil {
				return "", err
			}
			return scrape(ctx, e.url, e.key)
		}},
		{Name: "metrics-gateway.txt", What: "the gateway's /metrics", Make: func(ctx context.Context) (string, error) {
			u, ok := home.Running(ctx)
			if !ok || u.GatewayURL == nil {
				return "", errors.New("no gateway of coordctl up runs here")
			}
			return scrape(ctx, *u.GatewayURL, u.APIKey)
		}},
		{Name: "up.log", What: fmt.Sprintf("the last %d lines of coordctl up in the background", lines), Make: tail(home.LogFile(), lines)},
		{Name: "runner.log", What: fmt.Sprintf("the last %d lines of the runner that up keeps", lines), Make: tail(home.RunnerLog(), lines)},
		{Name: "postgres.log", What: fmt.Sprintf("the last %d lines of the embedded Postgres, without statements and rows", lines), Make: func(ctx context.Context) (string, error) {
			info, err := embedpg.Inspect("")
			if err != nil || info.Log == "" {
				return "", errors.Join(errors.New("there is no embedded Postgres"), err)
			}
			text, err := tail(info.Log, lines)(ctx)
			return support.Postgres(text), err
		}},
	}
}

func versions() (string, error) {
	out := map[string]any{"coordctl": version.String(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "processors": runtime.NumCPU()}
	modules := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			modules[m.Path] = m.Version
		}
	}
	out["modules"] = modules
	return indented(out)
}

func indented(v any) (string, error) {
	raw, err := json.MarshalIndent(v, "", "  ")
	return string(raw) + "\n", err
}

func (a *app) settings() string {
	var b strings.Builder
	for _, s := range config.Settings(a.Getenv) {
		fmt.Fprintf(&b, "%s=%s\n", s.Name, s.Shown)
	}
	if b.Len() == 0 {
		return "none is set\n"
	}
	return b.String()
}

func (a *app) doctorText(ctx context.Context, home local.Home) (string, error) {
	cfg, err := config.Load[config.Database]()
	if err != nil {
		return "", err
	}
	return indented(a.checks(ctx, cfg, home))
}

func statusText(ctx context.Context, home local.Home) (string, error) {
	info, err := embedpg.Inspect("")
	_, up := home.Running(ctx)
	text, textErr := indented(map[string]any{"home": home.Dir, "up": up, "postgres": info})
	return text, errors.Join(err, textErr)
}

// dsn is the database that is there without starting one.
func (a *app) dsn(ctx context.Context) (string, error) {
	cfg, err := config.Load[config.Database]()
	if err != nil || cfg.DirectURL() != "" {
		return cfg.DirectURL(), err
	}
	home, err := local.FindHome()
	if err != nil {
		return "", err
	}
	if u, ok := home.Running(ctx); ok {
		return u.DatabaseURL, nil
	}
	return "", errors.New("no database runs: start it with coordctl up, or name it in COORD_DATABASE_URL")
}

func (a *app) migrationsText(ctx context.Context) (string, error) {
	dsn, err := a.dsn(ctx)
	if err != nil {
		return "", err
	}
	st, err := migrate.ReadStatus(ctx, dsn, migrate.Options{})
	if err != nil {
		return "", err
	}
	return indented(st)
}

func (a *app) databaseText(ctx context.Context) (string, error) {
	dsn, err := a.dsn(ctx)
	if err != nil {
		return "", err
	}
	pool, err := coord.Open(ctx, dsn, 1)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	raw, err := coord.New(pool).Diagnosis(ctx)
	return string(raw) + "\n", err
}

func scrape(ctx context.Context, url, key string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/metrics", nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("X-Api-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New("it answered " + resp.Status)
	}
	return string(raw), err
}

// mostLog is how much of a log's end is read, in bytes.
const mostLog = 4 << 20

func tail(path string, lines int) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer file.Close() //nolint:errcheck // it was only read
		if info, err := file.Stat(); err == nil && info.Size() > mostLog {
			if _, err := file.Seek(-mostLog, io.SeekEnd); err != nil {
				return "", err
			}
		}
		raw, err := io.ReadAll(io.LimitReader(file, mostLog))
		return support.Tail(string(raw), lines), err
	}
}
