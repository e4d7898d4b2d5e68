package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/local"
)

func (a *app) resetCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "reset", Short: "Save the embedded database, then begin with an empty one", Args: noArgs,
		Long: `Saves the embedded database into COORD_HOME/backups, then replaces it by an empty one and forgets the local key. It asks
first, and nothing is removed before the backup is complete. A database given by URL is never touched.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.reset(cmd.Context(), yes) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (a *app) reset(ctx context.Context, yes bool) error {
	cfg, err := config.Load[config.Database]()
	if err != nil {
		return usageError{err}
	}
	home, err := local.FindHome()
	if err != nil {
		return err
	}
	if u, ok := home.Running(ctx); ok {
		return fault.New(client.CodeConflict, fmt.Sprintf("it is up (pid %d)", u.PID), "a reset under running agents would take their locks and work away",
			"coordctl down, then reset")
	}
	if !yes && !a.confirm("All locks, work and history in "+home.Dir+" go into a backup and leave the coordinator. Go on? [y/N] ") {
		return usagef("nothing was changed (answer y, or give --yes)")
	}
	kept, err := home.Reset(ctx, cfg, a.progress)
	if errors.Is(err, local.ErrExternal) {
		return fault.New(client.CodeConflict, err.Error(), "COORD_DATABASE_URL or DATABASE_URL is set", "unset it to reset the embedded database")
	}
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"success": true, "kept": kept})
	}
	fmt.Fprintf(a.Out, "The database is empty.\nkept     %s (%s, %d bytes)\nrestore  %s\n", kept.Path, kept.Kind, kept.Bytes, kept.Restore)
	return nil
}

func (a *app) confirm(question string) bool {
	fmt.Fprint(a.Err, question)
	answer, err := bufio.NewReader(a.In).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return (err == nil || answer != "") && (answer == "y" || answer == "yes")
}
