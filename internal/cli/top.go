package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/top"
)

// pipeWidth is how wide lists are where there is no terminal.
const pipeWidth = 160

func (a *app) topCommand() *cobra.Command {
	var once bool
	var project string
	cmd := &cobra.Command{
		Use: "top", Short: "Watch agents, locks, queue and runs in the terminal", Args: noArgs,
		Long: `Shows what needs a person, the fleet, the locks with who waits, the queue and the runs of this folder's project, live. It
says since when it is disconnected. Keys: 1-5 or tab choose the view, j and k scroll, / filters, r asks now, q quits.
NO_COLOR is respected. --once prints everything once, and so does a pipe; --json prints it as data.`,
		Example: "  coordctl top\n  coordctl top --once\n  coordctl top --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.top(cmd.Context(), project, once)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "print everything once and end")
	cmd.Flags().StringVar(&project, "project", a.Getenv("COORD_PROJECT"), "project (env COORD_PROJECT; default: the repository in this folder, else up's)")
	return cmd
}

func (a *app) top(ctx context.Context, project string, once bool) error {
	e, err := a.endpoint()
	if err != nil {
		return err
	}
	who, err := a.place(ctx, a.cat.Get("check_locks"), identity{project: project}, nil)
	if err != nil {
		return err
	}
	if who.project == "" {
		who.project = e.project
	}
	api, err := client.New(e.url, e.key, client.WithProject(who.project), client.WithRetries(0))
	if err != nil {
		return usageError{err}
	}
	defer api.Close()
	in, _ := a.In.(*os.File)
	out, _ := a.Out.(*os.File)
	if terminal := in != nil && out != nil && isatty.IsTerminal(in.Fd()) && isatty.IsTerminal(out.Fd()); terminal && !once && !a.asJSON {
		return top.Run(ctx, top.Options{API: api, URL: e.url, Key: e.key, Project: who.project, In: in, Out: out})
	}
	now := time.Now()
	s, err := top.Gather(ctx, api, who.project, now)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(s)
	}
	if _, err := fmt.Fprint(a.Out, top.Plain(s, now, pipeWidth)); err != nil {
		return fmt.Errorf("write the lists: %w", err)
	}
	return nil
}
