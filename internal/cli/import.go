package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/importer"
)

type importFlags struct {
	from, project string
	dry           bool
}

func (a *app) importCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import", Short: "Take over what beads, vibe-kanban or mcp_agent_mail hold",
		Long: `Takes over what another tool holds, into the project of this folder: open work becomes tasks that wait for each other as
there, what is done becomes experiences that recall finds, valid reservations become locks, unread mail is delivered.
Again, it imports what is new. What cannot be read is named with its place and skipped; what is left out on purpose is
counted with the reason. The source is only read. --dry-run counts without writing.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(
		a.importer("beads FILE.jsonl", "Import the issues of beads from its JSONL export",
			"Imports issues from the export of beads (.beads/issues.jsonl, or bd export; - reads standard input). Open ones become tasks, closed ones experiences.",
			"  coordctl import beads .beads/issues.jsonl --dry-run\n  bd export | coordctl import beads -", false,
			func(_ context.Context, path, _ string) (importer.Found, error) {
				in := io.NopCloser(a.In)
				if path != "-" {
					f, err := os.Open(path)
					if err != nil {
						return importer.Found{}, usageError{err}
					}
					in = f
				}
				defer in.Close()
				return importer.Beads(in)
			}),
		a.importer("vibe-kanban DB", "Import a board of vibe-kanban from its database",
			"Imports one project's cards from the database of vibe-kanban (db.sqlite in its data folder). Cards to do, in progress and in review become tasks, done ones experiences.",
			"  coordctl import vibe-kanban ~/.local/share/vibe-kanban/db.sqlite --from my-app --dry-run", true, importer.VibeKanban),
		a.importer("mcp-agent-mail PATH", "Import a mailbox of mcp_agent_mail",
			"Imports one project's mailbox of mcp_agent_mail: PATH is its storage.sqlite3, the folder that holds it, or its archive of files. Messages become experiences; those "+
				"that somebody has not read are delivered as well; valid reservations become locks of their agents.",
			"  coordctl import mcp-agent-mail ~/.mcp_agent_mail_git_mailbox_repo --from my-app --dry-run", true,
			func(ctx context.Context, path, from string) (importer.Found, error) {
				return importer.AgentMail(ctx, path, from, time.Now())
			}),
	)
	return cmd
}

func (a *app) importer(use, short, long, example string, several bool, read func(ctx context.Context, path, from string) (importer.Found, error)) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long + "\n\n" + exitText, Example: example,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s takes one argument: what to import", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := read(cmd.Context(), args[0], f.from)
			if errors.Is(err, importer.ErrNotThis) || errors.Is(err, importer.ErrWhichOne) {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			return a.importFound(cmd.Context(), found, f)
		},
	}
	if several {
		cmd.Flags().StringVar(&f.from, "from", "", "which project of the source, by name or id, when it holds several")
	}
	cmd.Flags().StringVar(&f.project, "project", a.Getenv("COORD_PROJECT"), "project to import into (env COORD_PROJECT; default: the repository in this folder, else up's)")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "count what would be imported, write nothing")
	return cmd
}

func (a *app) importFound(ctx context.Context, found importer.Found, f importFlags) error {
	e, err := a.endpoint()
	if err != nil {
		return err
	}
	who, err := a.place(ctx, a.cat.Get("submit_tasks"), identity{project: f.project}, nil)
	if err != nil {
		return err
	}
	if who.project == "" {
		who.project = e.project
	}
	dial := func(agent, program string) (*client.AgentCoordinationClient, error) {
		if agent == "" {
			agent, program = a.defaultAgent(), "import"
		}
		c, err := client.New(e.url, e.key, client.WithAgent(agent, program), client.WithProject(who.project), client.WithRepository(who.repository))
		if err != nil {
			return nil, usageError{err}
		}
		return c, nil
	}
	res, err := importer.Apply(ctx, dial, found, time.Now(), f.dry)
	if err != nil {
		return err
	}
	if a.asJSON {
		err = a.printJSON(res)
	} else {
		a.printImport(res)
	}
	if err == nil && res.Tasks.Failed+res.Messages.Failed+res.Locks.Failed > 0 {
		return quietExit(exitRefused)
	}
	return err
}

func (a *app) printImport(res importer.Result) {
	verb := map[bool]string{true: "WOULD IMPORT", false: "IMPORTED"}[res.DryRun]
	tw := tabwriter.NewWriter(a.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(tw, "FROM %s\tFOUND\t%s\tTHERE ALREADY\tFAILED\n", strings.ToUpper(res.Source), verb)
	for _, line := range []struct {
		name  string
		count importer.Count
	}{{"tasks", res.Tasks}, {"experiences", res.Memories}, {"unread messages", res.Messages}, {"locks", res.Locks}} {
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\n", line.name, line.count.Found, line.count.Imported, line.count.There, line.count.Failed)
	}
	_ = tw.Flush() // a terminal that went away
	for _, l := range res.Left {
		fmt.Fprintf(a.Out, "left out: %d %s (%s)\n", l.Count, l.What, l.Why)
	}
	for _, p := range res.Problems {
		fmt.Fprintf(a.Out, "problem: %s: %s\n", p.Where, p.What)
	}
	if len(res.Agents) > 0 {
		fmt.Fprintf(a.Out, "agents named there: %s\n", strings.Join(res.Agents, ", "))
	}
}
