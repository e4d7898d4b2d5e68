package cli

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/internal/demo"
)

func (a *app) demoCommand() *cobra.Command {
	var quiet bool
	cmd := &cobra.Command{
		Use: "demo", Short: "Let agents fight for files and tasks, and check that the right one wins", Args: noArgs,
		Long: `Starts a Postgres, an API, a gateway and two MCP servers of its own in a temporary folder, lets three agents fight for
the same files and tasks, has an edit refused in a coding host, hands work over, has a change verified, kills an agent,
checks every claim it prints and removes everything. Under a minute; exit code 1 when
something did not hold.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			ok, err := demo.Run(ctx, demo.Options{Out: a.Out, Quiet: quiet, Coordctl: self, MCPServer: mcpServerPath()})
			if err != nil {
				return upFault(err)
			}
			if !ok {
				return quietExit(exitRefused)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&quiet, "quiet", false, "only the summary")
	return cmd
}
