package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/guard"
	"github.com/agent-coordinator/agent-coordinator/internal/local"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpapi"
)

const (
	hookTime     = 8 * time.Second // a host waits for its hook
	gitHookTime  = time.Minute
	maxHookInput = 32 << 20 // bytes
)

func (a *app) hookCommand() *cobra.Command {
	var fail, home string
	var names []string
	for _, h := range guard.Hosts() {
		names = append(names, string(h))
	}
	cmd := &cobra.Command{
		Use: "hook " + strings.Join(names, "|") + "|git", Short: "Answer one hook of a coding host (the host calls it)", ValidArgs: names,
		Long: `Reads one hook's input from stdin as the host sends it and answers in the host's format. Before an edit it takes the
locks of the paths that the tool call would write, or refuses the call and says who holds them; after a call it
reports what was changed though others hold it; at the start of a session it gives the brief, at the end it frees what
hooks took. Nothing on stdout and exit code 0: no objection.

hook git pre-commit|commit-msg|pre-push is called by git: it refuses a commit or a push of what others hold, unless
COORD_BYPASS gives a reason, which is recorded and told to the holders; commit-msg notes the session and its fencing
tokens as trailers.

When the coordinator cannot be asked, --fail open lets the call go on and says that it was not checked; --fail closed
refuses it.`,
		Example: `  coordctl install claude-code          # registers the hooks, too
  echo '{"hook_event_name":"PreToolUse","session_id":"s","cwd":"'$PWD'","tool_name":"Write","tool_input":{"file_path":"a.go"}}' | coordctl hook claude-code`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 && args[0] == string(gitHost) && slices.Contains(guard.Stages(), guard.Stage(args[1])) {
				return nil
			}
			if len(args) != 1 || !slices.Contains(names, args[0]) {
				return usagef("name one host (%s), or git and one of its hooks (pre-commit, commit-msg, pre-push)", strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			mode := guard.Fail(fail)
			if mode != guard.FailOpen && mode != guard.FailClosed {
				return usagef("--fail is open or closed, not %q", fail)
			}
			if home != "" {
				if err := os.Setenv("COORD_HOME", home); err != nil {
					return usagef("--home: %w", err)
				}
			}
			if args[0] == string(gitHost) {
				return a.gitHook(cmd.Context(), args[1:], mode)
			}
			return a.hook(cmd.Context(), guard.Host(args[0]), mode)
		},
	}
	cmd.Flags().StringVar(&fail, "fail", string(guard.FailOpen), "what to do when the coordinator cannot be asked: open or closed")
	cmd.Flags().StringVar(&home, "home", "", "folder of state of the installation to ask (env COORD_HOME)")
	return cmd
}

// hook answers one call. Input that cannot be read is told on stderr. Failing open, the exit code is one that hosts take
// for no objection, since a host that changed its format must not stop everybody's work; failing closed, it refuses.
func (a *app) hook(ctx context.Context, host guard.Host, fail guard.Fail) error {
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	raw, err := io.ReadAll(io.LimitReader(a.In, maxHookInput+1))
	if err != nil {
		return fmt.Errorf("read the hook's input: %w", err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		cwd, err = "/", nil
	}
	if len(raw) > maxHookInput {
		err = fmt.Errorf("%w: it is larger than %d MB", guard.ErrInput, maxHookInput>>20)
	}
	var call guard.Call
	if err == nil {
		call, err = guard.Decode(host, raw, cwd)
	}
	switch {
	case err != nil && fail == guard.FailClosed:
		return usageError{err} // exit code 2: hosts refuse the call
	case err != nil:
		return fmt.Errorf("nothing was checked: %w", err)
	}
	_, err = a.Out.Write(call.Answer(a.guard(host, fail).Handle(ctx, call)))
	return err
}

// guard puts together what answers a hook.
func (a *app) guard(host guard.Host, fail guard.Fail) *guard.Guard {
	g := &guard.Guard{Fail: fail, Getenv: a.Getenv}
	if home, err := local.FindHome(); err == nil {
		g.State = filepath.Join(home.Dir, "guard")
	}
	e, endpointErr := a.endpoint()
	g.Server = e.url
	g.Dial = func(who guard.Who, told ...func(client.Notices)) (*client.AgentCoordinationClient, error) {
		if endpointErr != nil {
			return nil, endpointErr
		}
		return dialHook(a, e, host, who, told)
	}
	return g
}

// gitHost stands for git, whose hooks have a protocol of their own.
const gitHost guard.Host = "git"

// gitHook answers one of git's hooks: an error refuses the commit or the push.
func (a *app) gitHook(ctx context.Context, args []string, fail guard.Fail) error {
	stage := guard.Stage(args[0])
	ctx, cancel := context.WithTimeout(ctx, gitHookTime)
	defer cancel()
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("this folder: %w", err)
	}
	session := ""
	for _, name := range []string{"AGENT_SESSION_ID", "SESSION_ID", "CLAUDE_CODE_SESSION_ID"} {
		if session = a.Getenv(name); session != "" {
			break
		}
	}
	host := gitHost
	if a.Getenv("CLAUDE_CODE_SESSION_ID") != "" {
		host = guard.ClaudeCode
	}
	note, err := a.guard(host, fail).Commit(ctx, stage, dir, session, args[1:], a.In)
	if note != "" {
		fmt.Fprintln(a.Err, note)
	}
	if errors.Is(err, guard.ErrRefused) {
		fmt.Fprintln(a.Err, err)
		return quietExit(exitRefused)
	}
	return err
}

// dialHook acts as the agent that the host's MCP server acts as, so that both are one.
func dialHook(a *app, e endpoint, host guard.Host, who guard.Who, told []func(client.Notices)) (*client.AgentCoordinationClient, error) {
	kind := a.Getenv("AGENT_TYPE")
	if kind == "" {
		kind = strings.ReplaceAll(string(host), "-", "_")
	}
	agent := a.Getenv("AGENT_ID")
	switch {
	case agent != "":
	case host == gitHost: // a person, unless git was run inside a session
		agent, kind = a.defaultAgent(), "person"
	default:
		agent = mcpapi.LocalAgent(kind)
	}
	opts := []client.Option{client.WithRetries(1), client.WithProject(who.Project), client.WithRepository(who.Repository)}
	if who.Session != "" || who.Acts {
		opts = append(opts, client.WithAgent(agent, kind), client.WithSession(who.Session))
	}
	for _, tell := range told {
		opts = append(opts, client.WithNotices(tell))
	}
	c, err := client.New(e.url, e.key, opts...)
	if err != nil {
		return nil, errors.Join(errors.New("the coordinator's address is wrong"), err)
	}
	return c, nil
}
