// Command ao-claude-code-exec executes runs with the Claude Code CLI: `claude -p --output-format stream-json`. The
// session is bound on the CLI's init message, tools and messages are posted as they happen, the result is the last
// message. It fails (exit 1, reason on stderr) when the CLI is absent, ends with an error, or the session cannot be
// resumed.
//
// executor_config: permission_mode (default bypassPermissions), setting_sources (default [user, project, local]),
// model, allowed_tools, disallowed_tools, max_turns, cli_path.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/agent-coordinator/agent-coordinator/internal/executor"
)

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout, os.Stderr, os.Environ()); err != nil {
		fmt.Fprintln(os.Stderr, "ao-claude-code-exec:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out, errOut io.Writer, env []string) error {
	inv, err := executor.ReadInvocation(in)
	if err != nil {
		return err
	}
	cfg, err := readConfig(inv.Config)
	if err != nil {
		return err
	}
	path, err := findCLI(cfg, env)
	if err != nil {
		return err
	}
	gw, err := executor.NewGateway(lookup(env, "AGENT_ORCHESTRATOR_API_URL"), inv.SessionID)
	if err != nil {
		return err
	}
	defer gw.Close()
	s := &session{gw: gw, log: errOut, prompt: inv.Prompt, dir: inv.ProjectDir, tools: map[string]toolUse{}}
	resume := ""
	if inv.Mode == executor.Resume {
		known, err := gw.Session(ctx)
		if err != nil {
			return err
		}
		if known.ExecutorSessionID == "" {
			return fmt.Errorf("session %s was never bound to a Claude Code session: it cannot be resumed", inv.SessionID)
		}
		resume, s.dir, s.resumed = known.ExecutorSessionID, known.ProjectDir, true
	}
	cli := command{path: path, dir: s.dir, resume: resume, cfg: cfg, blueprint: inv.Blueprint, prompt: inv.Prompt, env: env, errOut: errOut}
	exit := cli.stream(ctx, s.line)
	switch {
	case s.fatal != nil:
		return s.fatal
	case s.result == nil && exit != nil:
		return fmt.Errorf("the Claude Code CLI ended without a result: %w", exit)
	case s.result == nil:
		return errors.New("the Claude Code CLI ended without a result")
	case s.result.IsError:
		return fmt.Errorf("the turn ended with %s: %s", s.result.Subtype, s.result.text())
	}
	if err := s.finish(ctx); err != nil {
		return err
	}
	fmt.Fprintln(out, s.result.Result)
	return nil
}
