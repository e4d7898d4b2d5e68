package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/internal/local"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/version"
)

// Env is what a run of coordctl gets from its process.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Args     []string
	Serve    local.ServeFunc // how `up` serves the API
	Gateway  local.ServeFunc // how `up` serves the verification gateway; nil: it does not
}

// app is one run.
type app struct {
	Env
	cat    *op.Catalogue
	apiURL string
	apiKey string
	asJSON bool
	who    identity
}

// identity is who calls act for. Empty members are not sent.
type identity struct{ agent, agentType, session, project, repository string }

// Run runs coordctl and returns the exit code.
func Run(ctx context.Context, e Env) int {
	a := &app{Env: e, cat: op.NewCatalogue()}
	if len(e.Args) == 0 || e.Args[0] != "hook" { // hooks run at every edit: they need no operation's command, only speed
		a.cat = ops.Catalogue(ops.Deps{})
	}
	root := a.root()
	root.SetArgs(e.Args)
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	err := root.ExecuteContext(ctx)
	report(e.Err, err, a.asJSON)
	return exitCode(err)
}

// Groups of the help text.
const (
	groupRun = "run"
	groupOps = "ops"
)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "coordctl",
		Short: "Run Agent Coordinator and call every one of its operations",
		Long: `coordctl runs Agent Coordinator on this machine and calls every one of its operations.

The API that operations go to is named by --api-url and --api-key, else COORDINATION_API_URL and
COORDINATION_API_KEY, else by what ` + "`coordctl up`" + ` started.

` + exitText,
		SilenceErrors: true, SilenceUsage: true,
		Version: version.String(),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.SetVersionTemplate("coordctl {{.Version}}\n")
	root.AddGroup(&cobra.Group{ID: groupRun, Title: "Run it:"}, &cobra.Group{ID: groupOps, Title: "Operations:"})
	root.SetHelpCommandGroupID(groupRun)
	root.SetCompletionCommandGroupID(groupRun)
	flags := root.PersistentFlags()
	flags.BoolVar(&a.asJSON, "json", false, "print the reply exactly as JSON (errors too, on stderr)")
	flags.StringVar(&a.apiURL, "api-url", "", "address of the API (env COORDINATION_API_URL; default: what up started)")
	flags.StringVar(&a.apiKey, "api-key", "", "key for it (env COORDINATION_API_KEY)")
	root.AddCommand(a.lifecycle()...)
	for _, d := range a.cat.Defs() {
		a.addOperation(root, d)
	}
	return root
}

func unknownCommand(cmd *cobra.Command, word string) error {
	text := fmt.Sprintf("unknown command %q for %q", word, cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usagef("%s", text)
}

// lifecycle are the commands that are no operations.
func (a *app) lifecycle() []*cobra.Command {
	cmds := []*cobra.Command{
		a.upCommand(), a.downCommand(), a.statusCommand(), a.doctorCommand(), a.supportCommand(), a.migrateCommand(), a.resetCommand(), a.backupCommand(), a.restoreCommand(),
		a.installCommand(), a.uninstallCommand(), a.hookCommand(), a.importCommand(), a.topCommand(), a.demoCommand(), a.versionCommand(),
	}
	for _, c := range cmds {
		c.GroupID = groupRun
	}
	return cmds
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.asJSON {
				return a.printJSON(map[string]string{"version": version.String()})
			}
			fmt.Fprintf(a.Out, "coordctl %s\n", version.String())
			return nil
		},
	}
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, got %s", cmd.CommandPath(), strings.Join(args, " "))
	}
	return nil
}

// defaultAgent is the agent that calls act for when nobody is named: this person on this machine.
func (a *app) defaultAgent() string {
	if id := a.Getenv("AGENT_ID"); id != "" {
		return id
	}
	name, host := "someone", "localhost"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return "cli-" + name + "@" + host
}
