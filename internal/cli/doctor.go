package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/guard"
	"github.com/agent-coordinator/agent-coordinator/internal/install"
	"github.com/agent-coordinator/agent-coordinator/internal/local"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
)

// verdict of one check.
type verdict string

const (
	good verdict = "ok"
	warn verdict = "warn"
	bad  verdict = "fail"
)

// check is one line of doctor.
type check struct {
	Name    string  `json:"name"`
	Verdict verdict `json:"verdict"`
	Found   string  `json:"found"`
	Fix     string  `json:"fix,omitempty"` // what to do; empty when all is well
	// Mend is the coordctl command that --fix runs for it; empty where a person has to decide or to act.
	Mend []string `json:"mend,omitempty"`
}

func (a *app) doctorCommand() *cobra.Command {
	var fix, dry bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong and say how to mend it", Args: noArgs,
		Long: `Checks every part and says how to mend what is wrong. It changes nothing, but with --fix: then it runs the commands that
mend without a decision of yours (coordctl migrate, and install for hosts that are registered already) and checks again.
--dry-run says which those are. Exit code 1 when a check fails.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), fix && !dry, dry) },
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "run the commands that mend what is wrong")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what --fix would run, run nothing")
	return cmd
}

func (a *app) doctor(ctx context.Context, fix, dry bool) error {
	home, err := local.FindHome()
	if err != nil {
		return err
	}
	cfg, err := config.Load[config.Database]()
	if err != nil {
		return usageError{err}
	}
	checks := a.checks(ctx, cfg, home)
	if fix && a.mend(ctx, checks) {
		checks = a.checks(ctx, cfg, home)
	}
	failed := 0
	for _, c := range checks {
		if c.Verdict == bad {
			failed++
		}
	}
	if a.asJSON {
		err = a.printJSON(map[string]any{"healthy": failed == 0, "dry_run": dry, "checks": checks})
	} else {
		for _, c := range checks {
			fmt.Fprintf(a.Out, "%-4s  %-18s %s\n", c.Verdict, c.Name, c.Found)
			if c.Fix != "" {
				fmt.Fprintf(a.Out, "      %-18s → %s\n", "", c.Fix)
			}
			if dry && len(c.Mend) > 0 {
				fmt.Fprintf(a.Out, "      %-18s → --fix would run: coordctl %s\n", "", strings.Join(c.Mend, " "))
			}
		}
	}
	if err == nil && failed > 0 {
		return quietExit(exitRefused)
	}
	return err
}

// mend runs the commands that checks name and reports whether there was one. What fails is told, and seen by the next check.
func (a *app) mend(ctx context.Context, checks []check) (any bool) {
	for _, c := range checks {
		if len(c.Mend) == 0 {
			continue
		}
		any = true
		again := *a
		again.Args, again.Out = c.Mend, a.Err // the answer of doctor is its checks
		fmt.Fprintf(a.Err, "%s: running coordctl %s\n", c.Name, strings.Join(c.Mend, " "))
		if code := Run(ctx, again.Env); code != 0 {
			fmt.Fprintf(a.Err, "%s: coordctl %s failed with exit code %d\n", c.Name, strings.Join(c.Mend, " "), code)
		}
	}
	return any
}

// checks runs every check.
func (a *app) checks(ctx context.Context, cfg config.Database, home local.Home) []check {
	var checks []check
	if cfg.URL() == "" {
		checks = append(checks, checkBinaries(ctx), checkServer())
	}
	var running *local.Up
	if u, ok := home.Running(ctx); ok {
		running = &u
	}
	checks = append(checks, checkSchema(ctx, cfg, home), a.checkAPI(ctx), a.checkKey(ctx), checkMCP(ctx), checkGateway(running, a.Getenv), checkRunner(running))
	for _, h := range install.Hosts() {
		checks = append(checks, a.checkHost(h))
		if c, ok := a.checkHook(ctx, h); ok {
			checks = append(checks, c)
		}
	}
	return checks
}

// checkGateway says whether changes can be verified here: it is no fault of an installation that does not want to.
func checkGateway(up *local.Up, getenv func(string) string) check {
	c := check{Name: "gateway", Verdict: good}
	switch {
	case up == nil:
		c.Found = "not up, like the rest"
	case up.GatewayURL == nil:
		c.Verdict, c.Found, c.Fix = warn, "it does not run", "see what coordctl up said; GATEWAY_ADDR chooses another address"
	case getenv("GITHUB_WEBHOOK_SECRET") == "":
		c.Found = *up.GatewayURL + "; webhooks of GitHub are refused: GITHUB_WEBHOOK_SECRET is not set"
	default:
		c.Found = *up.GatewayURL
	}
	return c
}

func checkBinaries(ctx context.Context) check {
	c := check{Name: "Postgres programs"}
	b, err := embedpg.FindBinaries(ctx, nil)
	if err != nil {
		c.Verdict, c.Found, c.Fix = bad, err.Error(), "install Postgres 15 or newer, or set COORD_PG_BIN or COORD_DATABASE_URL"
		return c
	}
	c.Verdict, c.Found = good, fmt.Sprintf("%s in %s (%s)", b.Version, b.Dir, b.Source)
	return c
}

func checkServer() check {
	c := check{Name: "embedded Postgres"}
	info, err := embedpg.Inspect("")
	switch {
	case err != nil:
		c.Verdict, c.Found, c.Fix = bad, err.Error(), "see "+info.Log
	case info.Running:
		c.Verdict, c.Found = good, fmt.Sprintf("%s runs, pid %d, %s", info.Version, info.PID, info.DataDir)
	case info.Exists:
		c.Verdict, c.Found, c.Fix = warn, "stopped, "+info.DataDir, "coordctl up, or any MCP server of ours, starts it"
	default:
		c.Verdict, c.Found, c.Fix = warn, "there is none yet", "coordctl up"
	}
	return c
}

func checkSchema(ctx context.Context, cfg config.Database, home local.Home) check {
	c := check{Name: "database schema"}
	dsn := cfg.DirectURL()
	if dsn == "" {
		if u, ok := home.Running(ctx); ok {
			dsn = u.DatabaseURL
		}
	}
	if dsn == "" {
		c.Verdict, c.Found, c.Fix = warn, "no database runs", "coordctl up"
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	st, err := migrate.ReadStatus(ctx, dsn, migrate.Options{})
	switch {
	case err != nil:
		c.Verdict, c.Found, c.Fix = bad, err.Error(), "check COORD_DATABASE_URL and that the server runs"
	case len(st.Foreign) > 0:
		c.Verdict, c.Found, c.Fix = bad, fmt.Sprintf("the database holds other people's tables (%s, …)", st.Foreign[0]),
			"name another database, or agree with coordctl migrate --migrate-foreign"
	case len(st.Pending) > 0:
		c.Verdict, c.Found, c.Fix = bad, fmt.Sprintf("version %d, this program needs %d", st.Version, st.Latest), "coordctl migrate"
		c.Mend = []string{"migrate"}
	case st.Newer:
		c.Verdict, c.Found, c.Fix = warn, fmt.Sprintf("version %d is newer than this program (%d)", st.Version, st.Latest), "upgrade this program"
	default:
		c.Verdict, c.Found = good, fmt.Sprintf("version %d", st.Version)
	}
	return c
}

func (a *app) checkAPI(ctx context.Context) check {
	c := check{Name: "API"}
	e, err := a.endpoint()
	if err != nil {
		c.Verdict, c.Found, c.Fix = bad, asFault(err).Why, "coordctl up"
		return c
	}
	if err := local.Live(ctx, e.url); err != nil {
		c.Verdict, c.Found, c.Fix = bad, fmt.Sprintf("%s (from %s): %v", e.url, e.source, err), "coordctl up, or correct the address"
		return c
	}
	c.Verdict, c.Found = good, fmt.Sprintf("%s answers (from %s)", e.url, e.source)
	return c
}

// checkKey lists projects, which every key may.
func (a *app) checkKey(ctx context.Context) check {
	c := check{Name: "key"}
	e, err := a.endpoint()
	list := a.cat.Get("list_projects")
	if err != nil || list == nil {
		c.Verdict, c.Found, c.Fix = warn, "not tried: there is no API", "coordctl up, or name one in COORDINATION_API_URL"
		return c
	}
	if e.key == "" {
		c.Verdict, c.Found, c.Fix = bad, "no key is set", "set COORDINATION_API_KEY; an administrator makes one with: coordctl keys create"
		return c
	}
	_, err = a.call(ctx, list, nil, "")
	switch {
	case err == nil:
		c.Verdict, c.Found = good, "accepted"
	case fault.Is(err, client.CodeUnavailable):
		c.Verdict, c.Found, c.Fix = warn, "not tried: the API does not answer", "wait until it does: see the checks above"
	default:
		c.Verdict, c.Found, c.Fix = bad, asFault(err).What, asFault(err).Next
	}
	return c
}

func checkMCP(ctx context.Context) check {
	c := check{Name: "MCP server"}
	path := mcpServerPath()
	if _, err := os.Stat(path); err != nil {
		c.Verdict, c.Found, c.Fix = bad, "there is no "+path, "make build, or install mcp-server beside coordctl"
		return c
	}
	began := time.Now()
	tools, err := install.Probe(ctx, path)
	if err != nil {
		c.Verdict, c.Found, c.Fix = bad, err.Error(), "run "+path+" by hand and read what it says"
		return c
	}
	c.Verdict, c.Found = good, fmt.Sprintf("%s lists %d tools after %.1f s", path, len(tools), time.Since(began).Seconds())
	return c
}

// checkHook fires a host's hook as the host does and looks whether it reached the coordinator; false: the host has no
// hook of ours and is not registered either.
func (a *app) checkHook(ctx context.Context, name string) (check, bool) {
	c := check{Name: install.Title(name) + " hook"}
	r, err := a.installRequest(name, installFlags{})
	if err != nil || !install.HasHooks(name) {
		return c, false
	}
	command, file, err := install.HookCommand(r)
	if err != nil {
		c.Verdict, c.Found, c.Fix = bad, err.Error(), "correct the file by hand"
		return c, true
	}
	if command == "" {
		found, err := install.Look(r)
		c.Verdict, c.Found, c.Fix, c.Mend = warn, "edits are not checked: no hook is registered", "coordctl install "+name, []string{"install", name}
		return c, err == nil && found.Registered
	}
	ctx, cancel := context.WithTimeout(ctx, 2*hookTime)
	defer cancel()
	began := time.Now()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stdin = strings.NewReader(`{"session_id":"doctor","cwd":"/","hook_event_name":"` + guard.ProbeName + `"}`)
	out, err := cmd.CombinedOutput()
	took := time.Since(began).Round(time.Millisecond)
	var answer struct {
		Claude string `json:"systemMessage"`
		Cursor string `json:"user_message"`
	}
	said := ""
	if json.Unmarshal(out, &answer) == nil {
		said = answer.Claude + answer.Cursor
	}
	switch {
	case err != nil || said == "":
		c.Verdict, c.Found, c.Fix = bad, fmt.Sprintf("%s (in %s) did not answer: %v %s", command, file, err, bytes.TrimSpace(out)), "coordctl install "+name
		c.Mend = []string{"install", name}
	case !strings.Contains(said, "the hook reaches"):
		c.Verdict, c.Found, c.Fix = bad, said, "coordctl up, or set COORDINATION_API_URL and COORDINATION_API_KEY where the host runs"
	default:
		c.Verdict, c.Found = good, fmt.Sprintf("answered in %s: %s", took, said)
	}
	return c, true
}

func (a *app) checkHost(name string) check {
	c := check{Name: install.Title(name)}
	r, err := a.installRequest(name, installFlags{})
	if err == nil {
		var found install.State
		if found, err = install.Look(r); err == nil {
			switch {
			case found.Registered:
				c.Verdict, c.Found = good, "registered in "+found.File
			case found.Other != "":
				c.Verdict, c.Found, c.Fix = warn, fmt.Sprintf("%s names %s, not this one", found.File, found.Other), "coordctl install "+name
			default:
				c.Verdict, c.Found, c.Fix = warn, "not registered", "coordctl install "+name
			}
			return c
		}
	}
	c.Verdict, c.Found, c.Fix = bad, err.Error(), "correct the file by hand"
	return c
}
