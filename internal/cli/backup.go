package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/backup"
	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/local"
)

func (a *app) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "backup [FILE]", Short: "Save everything the coordinator holds into one file", Args: cobra.MaximumNArgs(1),
		Long: `Saves one moment's state of the database, embedded or given by URL, into FILE (default: a new file in
COORD_HOME/backups). Everything may go on meanwhile. The file holds hashes of keys, no keys; whoever reads it reads all
projects. Bring it back with coordctl restore.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.backup(cmd.Context(), args) },
	}
}

func (a *app) backup(ctx context.Context, args []string) error {
	home, err := local.FindHome()
	if err != nil {
		return err
	}
	path := filepath.Join(home.BackupDir(), "coord-"+time.Now().UTC().Format("20060102T150405.000Z")+".tar.gz")
	if len(args) > 0 {
		path = args[0]
	} else if err := os.MkdirAll(home.BackupDir(), 0o700); err != nil {
		return err
	}
	db, err := a.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the embedded server goes by itself
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	m, err := backup.Write(ctx, db.DirectURL, file)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return a.tellBackup("saved", path, m)
}

func (a *app) database(ctx context.Context) (*local.Database, error) {
	cfg, err := config.Load[config.Database]()
	if err != nil {
		return nil, usageError{err}
	}
	return local.OpenDatabase(ctx, local.DatabaseOptions{Config: cfg, Progress: a.progress})
}

func (a *app) tellBackup(what, path string, m backup.Manifest) error {
	rows := int64(0)
	for _, t := range m.Tables {
		rows += t.Rows
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"success": true, "path": path, "schema": m.Schema, "created_at": m.CreatedAt, "tables": len(m.Tables), "rows": rows})
	}
	fmt.Fprintf(a.Out, "%s  %s (%d rows of %d tables, schema %d, of %s)\n", what, path, rows, len(m.Tables), m.Schema, m.CreatedAt.Format(time.RFC3339))
	return nil
}

func (a *app) restoreCommand() *cobra.Command {
	var yes, replace bool
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Bring back what coordctl backup saved", Args: cobra.ExactArgs(1),
		Long: `Brings back a backup, all of it or nothing, after migrating the database. It is refused while the coordinator's programs
are connected, and, without --replace, when the database is not empty. A backup of an older version goes into a newer one.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.restore(cmd.Context(), args[0], yes, replace) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&replace, "replace", false, "what the database holds may go")
	return cmd
}

func (a *app) restore(ctx context.Context, path string, yes, replace bool) error {
	home, err := local.FindHome()
	if err != nil {
		return err
	}
	if u, ok := home.Running(ctx); ok {
		return fault.New(client.CodeConflict, fmt.Sprintf("it is up (pid %d)", u.PID), "a restore under running agents would take their locks and work away",
			"coordctl down, then restore")
	}
	file, err := os.Open(path)
	if err != nil {
		return usageError{err}
	}
	defer file.Close() //nolint:errcheck // it was only read
	if replace && !yes && !a.confirm("What the database holds is replaced by the backup. Go on? [y/N] ") {
		return usagef("nothing was changed (answer y, or give --yes)")
	}
	db, err := a.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the embedded server goes by itself
	m, err := backup.Read(ctx, db.DirectURL, file, replace)
	switch {
	case errors.Is(err, backup.ErrNotEmpty):
		return fault.New(client.CodeConflict, err.Error(), "a restore replaces everything in it", "save it with coordctl backup, then add --replace")
	case errors.Is(err, backup.ErrInUse):
		return fault.New(client.CodeConflict, err.Error(), "their locks and work would be taken away", "stop API servers and MCP servers (coordctl down), then restore")
	case errors.Is(err, backup.ErrNoBackup), errors.Is(err, backup.ErrNewer):
		return fault.New(client.CodeInvalid, err.Error(), "", "name a file that coordctl backup wrote")
	case err != nil:
		return err
	}
	return a.tellBackup("restored", path, m)
}
