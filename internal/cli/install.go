package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/internal/install"
	"github.com/agent-coordinator/agent-coordinator/internal/version"
)

// gitWord stands for the hooks of the repository in this folder.
const gitWord = "git"

type installFlags struct {
	user, project, dry, noHooks, instructions bool
	fail, plugin                              string
}

func (a *app) installCommand() *cobra.Command {
	var f installFlags
	cmd := a.hostCommand("install", "Register the MCP server and the hooks with a coding host", &f, func(cmd *cobra.Command, r install.Request) error {
		if f.plugin != "" {
			return a.writePlugin(r, f.plugin)
		}
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
	cmd.Long = `Registers mcp-server with a coding host, and coordctl as its hook where the host has hooks: for every project of yours
(--user, the default) or for this folder (--project). The server is started first and must list its tools; other entries
stay as they are; files as they were are kept beside; no secret is written. uninstall takes it back. Fails when nothing
was registered.

install git puts the guard into this repository's pre-commit, commit-msg and pre-push; hooks that are there run first.

The hook takes locks before edits and refuses edits of what others hold. --fail says what it does when the coordinator
cannot be asked: open (go on, and say that nothing was checked) or closed (refuse).

--instructions also writes a part between markers into the file of instructions that the host's agents read (CLAUDE.md,
AGENTS.md, GEMINI.md: in this folder with --project, else the user's), for agents that should ask by themselves. Later
installs renew that part in place; uninstall takes it out.

install claude-code --plugin DIR writes the same server, hooks and instructions as a plugin and registers nothing.`
	cmd.Example = `  coordctl install claude-code
  coordctl install codex --project --dry-run
  coordctl install cursor --fail closed
  coordctl install gemini --project --instructions
  coordctl install claude-code --plugin ./coord-plugin && claude --plugin-dir ./coord-plugin
  coordctl install git`
	cmd.Flags().BoolVar(&f.noHooks, "no-hooks", false, "register the MCP server only; hooks of ours that are there are taken out")
	cmd.Flags().BoolVar(&f.instructions, "instructions", false, "also tell agents what to do, in CLAUDE.md, AGENTS.md or GEMINI.md")
	cmd.Flags().StringVar(&f.plugin, "plugin", "", "claude-code: write a plugin into this folder instead")
	cmd.MarkFlagsMutuallyExclusive("plugin", "project")
	cmd.MarkFlagsMutuallyExclusive("plugin", "instructions")
	cmd.MarkFlagsMutuallyExclusive("plugin", "no-hooks")
	cmd.Flags().StringVar(&f.fail, "fail", "open", "what hooks do when the coordinator cannot be asked: open or closed")
	return cmd
}

func (a *app) uninstallCommand() *cobra.Command {
	return a.hostCommand("uninstall", "Take the MCP server and the hooks out of a coding host", &installFlags{}, func(cmd *cobra.Command, r install.Request) error {
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

func (a *app) hostCommand(verb, short string, f *installFlags, do func(*cobra.Command, install.Request) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: verb + " " + strings.Join(install.Hosts(), "|") + "|git", Short: short, ValidArgs: append(install.Hosts(), gitWord),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("name one host: %s or git", strings.Join(install.Hosts(), ", "))
			}
			if install.Title(args[0]) == "" && args[0] != gitWord {
				return usagef("no host %q; there are %s and git", args[0], strings.Join(install.Hosts(), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.installRequest(args[0], *f)
			if err != nil {
				return err
			}
			if f.plugin != "" && args[0] != "claude-code" {
				return usagef("--plugin is for claude-code: %s has no plugins of this kind", args[0])
			}
			if f.instructions && args[0] == gitWord {
				return usagef("--instructions is for coding hosts: git reads none")
			}
			if args[0] == gitWord {
				return a.gitHooks(cmd, verb, r)
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
	r := install.Request{Host: host, Scope: install.User, Command: mcpServerPath(), Getenv: a.Getenv, DryRun: f.dry, Instructions: f.instructions}
	if f.project {
		r.Scope = install.Project
	}
	if r.Fail = cmp.Or(f.fail, "open"); r.Fail != "open" && r.Fail != "closed" {
		return r, usagef("--fail is open or closed, not %q", f.fail)
	}
	if !f.noHooks {
		r.Coordctl = beside("coordctl")
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
	defer a.printNote(res)
	defer a.printHooks(res)
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

func (a *app) printHooks(res install.Result) {
	h := res.Hooks
	switch {
	case h == nil:
		fmt.Fprintf(a.Out, "%s has no hooks that coordctl could use: locks there hold for agents that ask for them\n", install.Title(res.Host))
		return
	case res.DryRun && h.Changed:
		fmt.Fprintf(a.Out, "would change %s:\n%s", h.File, h.Diff)
		return
	case h.Changed:
		fmt.Fprintf(a.Out, "changed %s:\n%s", h.File, h.Diff)
		if h.Backup != "" {
			fmt.Fprintf(a.Out, "as it was: %s\n", h.Backup)
		}
	}
	if h.Events > 0 {
		fmt.Fprintf(a.Out, "hooks: %d events run coordctl; coordctl doctor fires them\n", h.Events)
	}
}

func (a *app) printNote(res install.Result) {
	n := res.Instructions
	switch {
	case n == nil:
	case !n.Changed:
		fmt.Fprintf(a.Out, "instructions: %s has them already\n", n.File)
	case res.DryRun:
		fmt.Fprintf(a.Out, "would change %s:\n%s", n.File, n.Diff)
	default:
		fmt.Fprintf(a.Out, "changed %s:\n%s", n.File, n.Diff)
		if n.Backup != "" {
			fmt.Fprintf(a.Out, "as it was: %s\n", n.Backup)
		}
	}
}

// writePlugin writes the plugin.
func (a *app) writePlugin(r install.Request, dir string) error {
	res, err := install.WritePlugin(r, dir, version.String())
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(res)
	}
	switch {
	case len(res.Changed) == 0:
		fmt.Fprintf(a.Out, "the plugin is there already: %s\n", dir)
	case res.DryRun:
		fmt.Fprintf(a.Out, "would write %s in %s\n", strings.Join(res.Changed, ", "), dir)
		return nil
	default:
		fmt.Fprintf(a.Out, "wrote %s in %s\n", strings.Join(res.Changed, ", "), dir)
	}
	fmt.Fprintf(a.Out, "next: claude --plugin-dir %s, or put it into a marketplace of yours\n", dir)
	fmt.Fprintln(a.Out, "next: not beside coordctl install claude-code: every hook would run twice")
	return nil
}

// gitHooks puts the guard into the hooks of this folder's repository, or takes it out.
func (a *app) gitHooks(cmd *cobra.Command, verb string, r install.Request) error {
	do := install.InstallGit
	if verb == "uninstall" {
		do = install.UninstallGit
	}
	res, err := do(cmd.Context(), r)
	if errors.Is(err, install.ErrSharedHooks) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(res)
	}
	would := map[bool]string{true: "would change ", false: "changed "}[res.DryRun]
	if len(res.Changed) == 0 {
		fmt.Fprintf(a.Out, "nothing to do in %s\n", res.Dir)
		return nil
	}
	fmt.Fprintf(a.Out, "%s%s in %s\n", would, strings.Join(res.Changed, ", "), res.Dir)
	if len(res.Kept) > 0 {
		fmt.Fprintf(a.Out, "%s: %s\n", map[bool]string{true: "put back as before", false: "run first, as before"}[verb == "uninstall"], strings.Join(res.Kept, ", "))
	}
	return nil
}
