package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/spf13/cobra"

	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// addOperation hangs the command of d under root, making the groups its words need.
func (a *app) addOperation(root *cobra.Command, d *op.Def) {
	if len(d.Routes) == 0 {
		return // nothing to call over HTTP
	}
	words := strings.Fields(d.CLI)
	parent := root
	for _, w := range words[:len(words)-1] {
		parent = group(parent, w)
	}
	cmd := a.operation(d, words[len(words)-1])
	if parent == root {
		cmd.GroupID = groupOps
	}
	// "audit" is an operation and the group of "audit purge": the command takes the group's place.
	if g := child(parent, cmd.Name()); g != nil {
		parent.RemoveCommand(g)
		cmd.AddCommand(g.Commands()...)
	}
	parent.AddCommand(cmd)
	describeGroup(parent)
}

func child(parent *cobra.Command, word string) *cobra.Command {
	for _, c := range parent.Commands() {
		if c.Name() == word {
			return c
		}
	}
	return nil
}

func group(parent *cobra.Command, word string) *cobra.Command {
	if c := child(parent, word); c != nil {
		return c
	}
	g := &cobra.Command{
		Use: word,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	if !parent.HasParent() {
		g.GroupID = groupOps
	}
	parent.AddCommand(g)
	return g
}

// describeGroup lists a group's verbs as its one-line text; an operation that is a group too has its own.
func describeGroup(g *cobra.Command) {
	if !g.HasParent() || g.GroupID == groupRun || g.Long != "" {
		return
	}
	var verbs []string
	for _, c := range g.Commands() {
		verbs = append(verbs, c.Name())
	}
	slices.Sort(verbs)
	g.Short = g.Name() + ": " + strings.Join(verbs, ", ")
}

func (a *app) operation(d *op.Def, word string) *cobra.Command {
	cmd := &cobra.Command{Short: d.Title, Long: d.Text + "\n\n" + exitText}
	in := newInput(cmd, d)
	cmd.Use = word + in.usage()
	cmd.Example = example(d, in)
	var requestKey string
	var who identity
	flags := cmd.Flags()
	for _, f := range []struct {
		target      *string
		name, value string
		help        string
	}{
		{&who.agent, "agent-id", a.defaultAgent(), "agent to act for (env AGENT_ID); empty sends none"},
		{&who.agentType, "agent-type", a.Getenv("AGENT_TYPE"), "its type (env AGENT_TYPE)"},
		{&who.session, "session-id", a.sessionFromEnv(), "session to act in (env AGENT_SESSION_ID, SESSION_ID); default: the agent's own"},
		{&who.project, "project", a.Getenv("COORD_PROJECT"), "project (env COORD_PROJECT; default: the repository in this folder, else up's)"},
		{&who.repository, "repository", "", "repository within the project"},
		{&requestKey, "request-key", "", "the same key makes a repeated change happen once"},
	} {
		*f.target = f.value
		if flags.Lookup(f.name) == nil { // an operation's own member of that name wins
			flags.StringVar(f.target, f.name, f.value, f.help)
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		values, err := in.collect(cmd, args, a.In)
		if err != nil {
			return err
		}
		if a.who, err = a.place(cmd.Context(), d, who, values); err != nil {
			return err
		}
		raw, err := a.call(cmd.Context(), d, values, requestKey)
		if err != nil {
			return err
		}
		return a.reply(raw)
	}
	return cmd
}

func (a *app) sessionFromEnv() string {
	for _, name := range []string{"AGENT_SESSION_ID", "SESSION_ID"} {
		if v := a.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

// reply prints an answer; success:false gives exit code 1.
func (a *app) reply(raw []byte) error {
	if a.asJSON {
		if _, err := fmt.Fprintf(a.Out, "%s\n", bytes.TrimSpace(raw)); err != nil {
			return fmt.Errorf("write the reply: %w", err)
		}
	} else if err := render(a.Out, raw); err != nil {
		return err
	}
	var outcome struct {
		Success *bool `json:"success"`
	}
	if json.Unmarshal(raw, &outcome) == nil && outcome.Success != nil && !*outcome.Success {
		return quietExit(exitRefused)
	}
	return nil
}

func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the reply: %w", err)
	}
	return nil
}

// example is a command line that gives what is required, from the members' examples.
func example(d *op.Def, in *input) string {
	line := "  coordctl " + d.CLI
	for _, name := range in.positional {
		line += " " + shellWord(sample(name, d.In.Properties[name]))
	}
	for _, name := range d.In.Required {
		if !slices.Contains(in.positional, name) {
			s := d.In.Properties[name]
			if s.Type == huma.TypeBoolean {
				line += " --" + flagName(name)
				continue
			}
			line += " --" + flagName(name) + " " + shellWord(sample(name, s))
		}
	}
	return line + "\n" + line + " --json"
}

func sample(name string, s *huma.Schema) string {
	if len(s.Examples) > 0 {
		if text, ok := s.Examples[0].(string); ok {
			return text
		}
		raw, _ := json.Marshal(s.Examples[0]) // it came from a tag
		return string(raw)
	}
	switch {
	case len(s.Enum) > 0:
		return fmt.Sprint(s.Enum[0])
	case s.Type == huma.TypeInteger, s.Type == huma.TypeNumber:
		if s.Minimum != nil {
			return fmt.Sprint(*s.Minimum)
		}
		return "1"
	case s.Type == huma.TypeArray && s.Items != nil:
		return sample(name, s.Items)
	case s.Type == huma.TypeObject:
		return "{}"
	case strings.Contains(name, "path"):
		return "src/app.go"
	}
	return strings.ToUpper(name)
}

func shellWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$&|;<>()*?[]{}#~`!") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
