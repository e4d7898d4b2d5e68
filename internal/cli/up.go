package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/local"
	"github.com/agent-coordinator/agent-coordinator/internal/obs"
)

type upFlags struct {
	detach, migrateForeign, noMigrate, noInstall, noRunner bool
	addr, runner                                           string
}

func (a *app) upCommand() *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use: "up", Short: "Start everything: Postgres, the API, a runner; print how to connect", Args: noArgs,
		Long: `Starts or joins the private Postgres server (or uses COORD_DATABASE_URL, else DATABASE_URL), migrates it, makes a
key once and runs the API until Ctrl-C, with an agent runner beside it where agent-runner lies beside this program: it is
started again when it ends. When all answers it writes up.json into COORD_HOME. A second ` + "`up`" + ` prints what
runs and exits. As root on a Debian-like machine without Postgres it says so and installs the package.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.up(cmd.Context(), f) },
	}
	cmd.Flags().BoolVarP(&f.detach, "detach", "d", false, "run in the background, with a log file in COORD_HOME")
	cmd.Flags().StringVar(&f.addr, "addr", "", "where the API listens (env API_ADDR; default 127.0.0.1:8765; port 0 picks a free one)")
	cmd.Flags().BoolVar(&f.migrateForeign, "migrate-foreign", false, "add our schema to a database that holds other people's tables")
	cmd.Flags().BoolVar(&f.noMigrate, "no-migrate", false, "leave the schema as it is")
	cmd.Flags().BoolVar(&f.noInstall, "no-install", false, "never install Postgres with the system's package manager")
	cmd.Flags().StringVar(&f.runner, "runner", "", "runner to keep running: a profile or executor by name (env COORD_RUNNER; default auto: claude-code where the claude command is found, else the echo test-executor)")
	cmd.Flags().BoolVar(&f.noRunner, "no-runner", false, "keep no runner running (env COORD_RUNNER=none)")
	cmd.MarkFlagsMutuallyExclusive("runner", "no-runner")
	return cmd
}

func (a *app) up(ctx context.Context, f upFlags) error {
	home, err := local.FindHome()
	if err != nil {
		return err
	}
	if u, ok := home.Running(ctx); ok {
		return a.alreadyUp(u)
	}
	cfg, err := config.Load[config.API]()
	if err != nil {
		return usageError{err}
	}
	if f.addr != "" {
		cfg.Addr = f.addr
	}
	beside, err := a.runnerOptions(home, f)
	if err != nil {
		return err
	}
	if f.detach {
		return a.upDetached(ctx, home, f)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if cfg.URL() == "" && !f.noInstall {
		if err := a.ensurePostgres(ctx); err != nil {
			return err
		}
	}
	if a.Getenv("LOG_LEVEL") == "" {
		cfg.Level = "warn" // people read this terminal; progress tells them the rest
	}
	log := obs.NewLogger(a.Err, cfg.Level, cfg.Debug)
	err = home.Up(ctx, local.UpOptions{
		Database: local.DatabaseOptions{
			Config: cfg.Database, Migrate: !f.noMigrate, MigrateForeign: f.migrateForeign, Grace: cfg.PgGrace, Log: log, Progress: a.progress,
		},
		Addr: cfg.Addr, Project: firstOf(a.Getenv("COORD_PROJECT"), "default"), Serve: a.Serve, Log: log, Progress: a.progress,
		Runner: beside, Gateway: a.gatewayOptions(),
		Ready: func(s local.Started) { a.banner(home, s) },
	})
	var running *local.RunningError
	switch {
	case errors.As(err, &running):
		return a.alreadyUp(running.Up)
	case ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)):
		a.progress("stopped; the embedded Postgres follows when nobody uses it any more (coordctl down stops it now)")
		return nil
	}
	return upFault(err)
}

// gatewayOptions say how the gateway runs beside the API.
func (a *app) gatewayOptions() *local.GatewayOptions {
	if a.Gateway == nil {
		return nil
	}
	cfg, err := config.Load[config.Gateway]()
	if err != nil {
		a.progress("the gateway does not run: " + err.Error())
		return nil
	}
	if cfg.Addr == "off" {
		return nil
	}
	if a.Getenv("GITHUB_TOKEN") != "" && a.Getenv("GATEWAY_GITHUB_TOKEN") == "" && a.Getenv("GITHUB_APP_ID") == "" {
		a.progress("the GITHUB_TOKEN of this shell is not used; to let the gateway act on GitHub with it: GATEWAY_GITHUB_TOKEN=$GITHUB_TOKEN coordctl up")
	}
	return &local.GatewayOptions{Addr: cfg.Addr, Fixed: a.Getenv("GATEWAY_ADDR") != "", Serve: a.Gateway}
}

// describeGateway is the gateway's line of what runs.
func describeGateway(u local.Up) string {
	if u.GatewayURL == nil {
		return "does not run"
	}
	return *u.GatewayURL + "   (/webhook/github, /changesets)"
}

// upFault adds the next step to failures that people meet.
func upFault(err error) error {
	var taken *local.PortTakenError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &taken):
		return fault.New(client.CodeConflict, "the API cannot listen: "+taken.Error(), "another program has the port",
			"stop that program, or choose another port: API_ADDR=127.0.0.1:0 coordctl up picks a free one")
	case errors.Is(err, embedpg.ErrNoBinaries):
		return fault.New(client.CodeUnavailable, "there is no Postgres to run", err.Error(), "install one as said above, or set COORD_DATABASE_URL")
	}
	return err
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// progress tells what takes time, on stderr: stdout is the result's.
func (a *app) progress(line string) {
	if !a.asJSON {
		fmt.Fprintf(a.Err, "· %s\n", line)
	}
}

func (a *app) alreadyUp(u local.Up) error {
	if a.asJSON {
		return a.printJSON(u)
	}
	fmt.Fprintf(a.Out, "It is up already (pid %d).\n\n", u.PID)
	a.printUp(u)
	return nil
}

func (a *app) printUp(u local.Up) {
	fmt.Fprintf(a.Out, "  page      %s   (logs in once, within ten minutes)\n  API       %s   (/docs, /openapi.json, /health)\n  MCP       %s/mcp over HTTP; bin/mcp-server over stdio\n  database  %s\n  project   %s\n  key       %s\n  gateway   %s\n  runner    %s\n",
		pageLink(context.Background(), u), u.APIURL, u.APIURL, redact(u.DatabaseURL), u.Project, u.APIKey, describeGateway(u), describeRunner(u.Runner))
}

func (a *app) banner(home local.Home, s local.Started) {
	if a.asJSON {
		_ = a.printJSON(s.Up) // a terminal that went away must not stop the API
		return
	}
	fmt.Fprintf(a.Out, "\nAgent Coordinator is up (%.1f s).\n\n", s.Took.Seconds())
	a.printUp(s.Up)
	if s.Embedded.Version != "" {
		fmt.Fprintf(a.Out, "  postgres  embedded %s, pid %d, %s\n", s.Embedded.Version, s.Embedded.PID, s.Embedded.DataDir)
	}
	if s.KeyCreated {
		fmt.Fprintf(a.Out, "            the key is new; it is kept in %s for you alone\n", home.Dir)
	}
	self := selfCommand()
	fmt.Fprintf(a.Out, `
Connect an agent:
  Claude Code   %[1]s install claude-code
  Codex         %[1]s install codex
  Cursor        in .cursor/mcp.json: {"mcpServers": {"coord": {"command": "%[2]s"}}}
  plain HTTP    curl -s %[3]s/locks/acquire -H "X-API-Key: $(cat %[4]s/key)" -d '{"agent_id": "me", "file_path": "src/app.go"}'
                with -H "X-Project: NAME" for a repository's project (%[1]s projects show)

Next:
  %[1]s lock acquire src/app.go --agent-id ana
  %[1]s status
  %[1]s --help
Ctrl-C stops.
`, self, mcpServerPath(), s.APIURL, home.Dir)
}

// selfCommand is how the reader calls this program.
func selfCommand() string {
	if len(os.Args) > 0 && os.Args[0] != "" {
		return os.Args[0]
	}
	return "coordctl"
}

// upDetached starts `up` in the background and waits until it is ready or ends.
func (a *app) upDetached(ctx context.Context, home local.Home, f upFlags) error {
	if err := home.Make(); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	log, err := os.OpenFile(home.LogFile(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	defer log.Close() //nolint:errcheck // the child writes to its own copy
	args := []string{"up"}
	if a.asJSON {
		args = append(args, "--json")
	}
	for flag, on := range map[string]bool{"--migrate-foreign": f.migrateForeign, "--no-migrate": f.noMigrate, "--no-install": f.noInstall, "--no-runner": f.noRunner} {
		if on {
			args = append(args, flag)
		}
	}
	if f.addr != "" {
		args = append(args, "--addr", f.addr)
	}
	if f.runner != "" {
		args = append(args, "--runner", f.runner)
	}
	child := exec.Command(exe, args...) // without a context: it outlives this command
	child.Stdout, child.Stderr, child.SysProcAttr = log, log, local.Detached()
	if err := child.Start(); err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	return a.awaitUp(ctx, home, child.Process.Pid, ended)
}

func (a *app) awaitUp(ctx context.Context, home local.Home, pid int, ended <-chan error) error {
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("it is still starting (pid %d, log %s): %w", pid, home.LogFile(), ctx.Err())
		case err := <-ended:
			if u, ok := home.Running(ctx); ok { // somebody else's `up` was quicker
				return a.alreadyUp(u)
			}
			said, _ := os.ReadFile(home.LogFile()) // an empty log says it too
			fmt.Fprintf(a.Err, "%s", said)
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() > 0 {
				return quietExit(exit.ExitCode())
			}
			return errors.Join(fmt.Errorf("it ended before it was ready, see %s", home.LogFile()), err)
		case <-poll.C:
		}
		if u, ok := home.Running(ctx); ok && u.PID == pid {
			if a.asJSON {
				return a.printJSON(u)
			}
			fmt.Fprintf(a.Out, "Agent Coordinator is up in the background (pid %d, log %s).\n\n", pid, home.LogFile())
			a.printUp(u)
			fmt.Fprintf(a.Out, "\n%s down stops it.\n", selfCommand())
			return nil
		}
	}
}

// ensurePostgres installs the package on Debian-like machines when root runs us and there is no Postgres.
func (a *app) ensurePostgres(ctx context.Context) error {
	info, err := embedpg.Inspect("")
	if err == nil && info.Running {
		return nil
	}
	_, err = embedpg.FindBinaries(ctx, a.progress)
	if err == nil || !errors.Is(err, embedpg.ErrNoBinaries) || os.Geteuid() != 0 {
		return nil // OpenDatabase meets the same failure and tells it with the ways out
	}
	apt, lookErr := exec.LookPath("apt-get")
	if lookErr != nil {
		return nil //nolint:nilerr // not a Debian-like machine
	}
	a.progress("there is no Postgres on this machine; installing the package postgresql with apt-get, as you are root (--no-install prevents it)")
	for _, args := range [][]string{{"update", "-qq"}, {"install", "-y", "-qq", "--no-install-recommends", "postgresql"}} {
		cmd := exec.CommandContext(ctx, apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		cmd.Stdout, cmd.Stderr = io.Discard, a.Err
		if err := cmd.Run(); err != nil {
			return fault.New(client.CodeUnavailable, "apt-get "+args[0]+" failed", err.Error(), "install Postgres 15 or newer yourself, or set COORD_DATABASE_URL")
		}
	}
	return nil
}

func (a *app) downCommand() *cobra.Command {
	return &cobra.Command{
		Use: "down", Short: "Stop what `up` started, and the embedded Postgres", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := local.FindHome()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), 60*time.Second, errors.New("no end within a minute"))
			defer cancel()
			what, err := home.Down(ctx)
			if a.asJSON && err == nil {
				return a.printJSON(map[string]any{"stopped": nonNil(what)})
			}
			for _, w := range what {
				fmt.Fprintf(a.Out, "stopped %s\n", w)
			}
			if err == nil && len(what) == 0 {
				fmt.Fprintln(a.Out, "nothing was running")
			}
			return err
		},
	}
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
