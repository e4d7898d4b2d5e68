package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/internal/install"
)

type installFlags struct{ user, project, dry bool }

func (a *app) installCommand() *cobra.Command {
	cmd := a.hostCommand("install", "Register the MCP server with a coding host", func(cmd *cobra.Command, r install.Request) error {
		res, err := install.Install(cmd.Context(), r)
		if err != nil {
			if res.Diff != "" && !a.asJSON {
				a.printInstall(res, "install")
			}
			return err
		}
		if a.asJSON {
			return a.printJSON(res)
		}
		a.printInstall(res, "install")
		return nil
	})
	cmd.Long = `Registers mcp-server with a coding host: for every project of yours (--user, the default) or for this folder
(--project). The server is started first and must list its tools; other entries stay as they are; the file as it was
is kept beside it; no secret is written. uninstall takes it back. Fails when nothing was registered.`
	return cmd
}

func (a *app) uninstallCommand() *cobra.Command {
	return a.hostCommand("uninstall", "Take the MCP server out of a coding host", func(cmd *cobra.Command, r install.Request) error {
		res, err := install.Uninstall(cmd.Context(), r)
		if err != nil {
			return err
		}
		if a.asJSON {
			return a.printJSON(res)
		}
		a.printInstall(res, "uninstall")
		return nil
	})
}

func (a *app) hostCommand(verb, short string, do func(*cobra.Command, install.Request) error) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use: verb + " " + strings.Join(install.Hosts(), "|"), Short: short, ValidArgs: install.Hosts(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("name one host: %s", strings.Join(install.Hosts(), " or "))
			}
			if install.Title(args[0]) == "" {
				return usagef("no host %q; there are %s", args[0], strings.Join(install.Hosts(), " and "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.installRequest(args[0], f)
			if err != nil {
				return err
			}
			return do(cmd, r)
		},
	}
	cmd.Flags().BoolVar(&f.user, "user", false, "for every project of this user (the default)")
	cmd.Flags().BoolVar(&f.project, "project", false, "for this folder only")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "show the change, write nothing")
	cmd.MarkFlagsMutuallyExclusive("user", "project")
	return cmd
}

func (a *app) installRequest(host string, f installFlags) (install.Request, error) {
	r := install.Request{Host: host, Scope: install.User, Command: mcpServerPath(), Getenv: a.Getenv, DryRun: f.dry}
	if f.project {
		r.Scope = install.Project
	}
	var err error
	if r.Home, err = os.UserHomeDir(); err != nil {
		return r, fmt.Errorf("your home folder: %w", err)
	}
	if r.Dir, err = os.Getwd(); err != nil {
		return r, fmt.Errorf("this folder: %w", err)
	}
	return r, nil
}

func (a *app) printInstall(res install.Result, verb string) {
	title := install.Title(res.Host)
	switch {
	case !res.Changed && verb == "install":
		fmt.Fprintf(a.Out, "%s has it already: %s\n", title, res.File)
	case !res.Changed:
		fmt.Fprintf(a.Out, "%s does not have it: %s\n", title, res.File)
	case res.DryRun:
		fmt.Fprintf(a.Out, "would change %s (by %s):\n%s", res.File, res.Via, res.Diff)
		return
	default:
		fmt.Fprintf(a.Out, "changed %s (by %s):\n%s", res.File, res.Via, res.Diff)
	}
	if res.Backup != "" {
		fmt.Fprintf(a.Out, "as it was: %s\n", res.Backup)
	}
	if res.Verified != "" {
		fmt.Fprintf(a.Out, "checked: %s (%d tools)\n", res.Verified, res.Tools)
	}
	for _, n := range res.Next {
		fmt.Fprintf(a.Out, "next: %s\n", n)
	}
}
