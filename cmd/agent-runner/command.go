package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
	"github.com/agent-coordinator/agent-coordinator/internal/runner"
	"github.com/agent-coordinator/agent-coordinator/internal/trace/otlp"
	"github.com/agent-coordinator/agent-coordinator/internal/version"
)

type flags struct {
	url, name, profile, path, project, tags, key string
	list, listProfiles, strict, verbose          bool
	mcpPort, maxRuns                             int
	drain                                        time.Duration
}

// command is the command line. Logs and lists go to out.
func command(hurry context.Context, out io.Writer) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use: "agent-runner", Short: "Execute the runs of an agent coordinator on this machine",
		Args: cobra.NoArgs, Version: version.String(), SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			env, err := config.Load[config.AgentRunner]()
			if err != nil {
				return err
			}
			dir, err := runnerDir(env.Dir)
			if err != nil {
				return err
			}
			if f.list || f.listProfiles {
				return list(out, dir, f)
			}
			cfg, err := configure(f, env, dir, cmd.Flags().Changed)
			if err != nil {
				return err
			}
			cfg.Log = slog.New(&lines{out: out, level: level(f.verbose)})
			r, err := runner.New(cfg)
			if err != nil {
				return err
			}
			stopTracing, err := otlp.Start(cmd.Context(), "agent-coordinator-runner", version.String(), cfg.Log) //nolint:contextcheck // cobra hands the context over
			if err != nil {
				return err
			}
			defer stopTracing()
			return r.Run(cmd.Context(), hurry)
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&f.url, "coordinator-url", "c", "", "Agent Coordinator URL (overrides AGENT_ORCHESTRATOR_API_URL)")
	fs.StringVarP(&f.name, "executor", "x", "", "profile or executor to run, by name (e.g. 'claude-code', 'test-executor')")
	fs.StringVar(&f.profile, "profile", "", "the same")
	fs.StringVarP(&f.path, "executor-path", "e", "", "full path of the executor (overrides AGENT_EXECUTOR_PATH)")
	fs.BoolVarP(&f.list, "executor-list", "l", false, "list available executors and profiles, and exit")
	fs.BoolVar(&f.listProfiles, "profile-list", false, "list available profiles and exit")
	fs.StringVarP(&f.project, "project-dir", "p", "", "default project directory (overrides PROJECT_DIR)")
	fs.StringVarP(&f.tags, "tags", "t", "", "comma-separated tags of this runner (overrides RUNNER_TAGS)")
	fs.BoolVar(&f.strict, "require-matching-tags", false, "take only runs that demand one of the tags")
	fs.IntVarP(&f.mcpPort, "mcp-port", "m", 0, "port of the embedded orchestrator MCP server (default: a free one)")
	fs.StringVar(&f.key, "api-key", "", "API key with the runner scope (overrides COORDINATION_API_KEY, which other users cannot see)")
	fs.IntVar(&f.maxRuns, "max-runs", 0, "most runs at once, -1: no limit (overrides RUNNER_MAX_RUNS)")
	fs.DurationVar(&f.drain, "drain", 0, "how long a shutdown waits for runs to end by themselves (overrides RUNNER_DRAIN_TIMEOUT)")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "enable verbose logging")
	cmd.MarkFlagsMutuallyExclusive("executor", "executor-path", "profile")
	return cmd
}

// runnerDir is where executors and profiles are: what was configured, else the program's own folder.
func runnerDir(configured string) (string, error) {
	if configured != "" {
		return filepath.Abs(configured)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	return filepath.Dir(self), nil
}

func list(out io.Writer, dir string, f flags) error {
	if f.list {
		executors, err := runner.Executors(dir)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "Available executors:")
		for _, name := range slices.Sorted(maps.Keys(executors)) {
			fmt.Fprintf(out, "  %s\n", name)
		}
	}
	profiles, err := runner.Profiles(dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "Available profiles:")
	for _, name := range profiles {
		fmt.Fprintf(out, "  %s\n", name)
	}
	return nil
}

// configure joins flags and environment; changed tells which flags were given.
func configure(f flags, env config.AgentRunner, dir string, changed func(string) bool) (runner.Config, error) {
	home, err := embedpg.Home()
	if err != nil {
		return runner.Config{}, err
	}
	if f.mcpPort < 0 || f.mcpPort > 65535 {
		return runner.Config{}, errors.New("--mcp-port is not a port")
	}
	cfg := runner.Config{
		CoordinatorURL: cmp.Or(f.url, env.URL()), APIKey: cmp.Or(f.key, env.Key), Project: env.Project,
		ProjectDir: cmp.Or(f.project, env.ProjectDir, "."), RequireMatchingTags: f.strict, MCPPort: f.mcpPort,
		Tags: env.TagList(), PollTimeout: time.Duration(env.PollTimeout) * time.Second,
		Heartbeat: time.Duration(env.HeartbeatSecs) * time.Second, MaxRuns: cmp.Or(f.maxRuns, env.MaxRuns),
		RunTimeout: env.RunTimeout, Drain: env.Drain, StateDir: filepath.Join(home, "runners"),
	}
	if changed("tags") {
		cfg.Tags = config.Runner{Tags: f.tags}.TagList()
	}
	if changed("drain") {
		cfg.Drain = f.drain
	}
	path, name := f.path, cmp.Or(f.name, f.profile)
	if path == "" && name == "" {
		path = env.ExecutorPath
	}
	if path != "" {
		cfg.Profile, cfg.Executor, err = runner.AtPath(dir, path)
	} else {
		cfg.Profile, cfg.Executor, err = runner.Select(dir, strings.TrimSpace(name))
	}
	return cfg, err
}

func level(verbose bool) slog.Level {
	if verbose {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
