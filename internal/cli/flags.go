package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// input collects an operation's arguments from --data, flags and positional arguments; later ones win.
type input struct {
	def        *op.Def
	data       string
	positional []string // members that positional arguments fill, in order; the last takes the rest if it is an array
	several    string   // takes all arguments when there are more than one for a single path; empty: there is no such member
}

func flagName(member string) string { return strings.ReplaceAll(member, "_", "-") }

// newInput declares the flags of d on cmd.
func newInput(cmd *cobra.Command, d *op.Def) *input {
	in := &input{def: d, positional: positionalMembers(d)}
	in.several = severalPaths(d, in.positional)
	for _, name := range memberNames(d) {
		s := d.In.Properties[name]
		flag, help := flagName(name), helpText(d, name, s)
		switch s.Type {
		case huma.TypeBoolean:
			cmd.Flags().Bool(flag, false, help)
		case huma.TypeInteger:
			cmd.Flags().Int64(flag, 0, help)
		case huma.TypeNumber:
			cmd.Flags().Float64(flag, 0, help)
		case huma.TypeArray:
			cmd.Flags().StringArray(flag, nil, help+" (repeatable)")
		case huma.TypeString:
			cmd.Flags().String(flag, "", help)
		default:
			cmd.Flags().String(flag, "", help+" (JSON)")
		}
		if len(s.Enum) > 0 {
			values := enumTexts(s)
			_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
		}
	}
	cmd.Flags().StringVar(&in.data, "data", "", "the whole input as JSON: a literal, @file, or - for standard input; flags add to it")
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(flagName(name)) // --file_path works too
	})
	return in
}

// memberNames lists the input's members, required ones first.
func memberNames(d *op.Def) []string {
	names := make([]string, 0, len(d.In.Properties))
	for name := range d.In.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	slices.SortStableFunc(names, func(a, b string) int {
		return strings.Compare(strconv.FormatBool(required(d, b)), strconv.FormatBool(required(d, a)))
	})
	return names
}

func required(d *op.Def, name string) bool { return slices.Contains(d.In.Required, name) }

// asked is the member that holds the words of a question.
const asked = "task_description"

// positionalMembers are the required members that one word can give; where there are none, the question that is asked,
// or else the first member that holds a path.
func positionalMembers(d *op.Def) []string {
	var out []string
	for _, name := range d.In.Required {
		s := d.In.Properties[name]
		isList := s.Type == huma.TypeArray && s.Items != nil && s.Items.Type == huma.TypeString
		if s.Type == huma.TypeString || isList {
			out = append(out, name)
		}
		if isList {
			return out
		}
	}
	if s := d.In.Properties[asked]; len(out) == 0 && s != nil && s.Type == huma.TypeString {
		return []string{asked}
	}
	if len(out) == 0 && len(d.PathFields) > 0 {
		return d.PathFields[:1]
	}
	return out
}

// severalPaths is the list beside the single path that the one argument gives.
func severalPaths(d *op.Def, positional []string) string {
	if len(positional) != 1 || !slices.Contains(d.PathFields, positional[0]) || d.In.Properties[positional[0]].Type != huma.TypeString {
		return ""
	}
	for _, name := range d.PathFields {
		if d.In.Properties[name].Type == huma.TypeArray {
			return name
		}
	}
	return ""
}

// usage is the command line's first line after the command's words.
func (in *input) usage() string {
	var b strings.Builder
	for _, name := range in.positional {
		word := strings.ToUpper(name)
		if in.def.In.Properties[name].Type == huma.TypeArray || in.several != "" {
			word += "..."
		}
		if !required(in.def, name) {
			word = "[" + word + "]"
		}
		b.WriteString(" " + word)
	}
	return b.String()
}

func enumTexts(s *huma.Schema) []string {
	out := make([]string, 0, len(s.Enum))
	for _, v := range s.Enum {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// helpText is the member's text with its limits.
func helpText(d *op.Def, name string, s *huma.Schema) string {
	var extra []string
	if required(d, name) {
		extra = append(extra, "required")
	}
	if len(s.Enum) > 0 {
		extra = append(extra, strings.Join(enumTexts(s), "|"))
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		extra = append(extra, fmt.Sprintf("%g to %g", *s.Minimum, *s.Maximum))
	case s.Minimum != nil:
		extra = append(extra, fmt.Sprintf("at least %g", *s.Minimum))
	case s.Maximum != nil:
		extra = append(extra, fmt.Sprintf("at most %g", *s.Maximum))
	}
	if s.Default != nil {
		extra = append(extra, fmt.Sprintf("default %v", reflect.Indirect(reflect.ValueOf(s.Default)))) // members that may be left out are pointers
	}
	text := strings.ReplaceAll(s.Description, "`", "'") // pflag would take a quoted word for the value's name
	if len(extra) > 0 {
		text = strings.TrimSpace(text + " [" + strings.Join(extra, "; ") + "]")
	}
	return text
}

// collect makes the request's members. A missing required one is a usage error that names the flag.
func (in *input) collect(cmd *cobra.Command, args []string, stdin io.Reader) (map[string]any, error) {
	out, err := in.readData(stdin)
	if err != nil {
		return nil, err
	}
	if err := in.takeArgs(args, out); err != nil {
		return nil, err
	}
	for name, s := range in.def.In.Properties {
		f := cmd.Flags().Lookup(flagName(name))
		if f == nil || !f.Changed {
			continue
		}
		v, err := flagValue(cmd.Flags(), f.Name, s)
		if err != nil {
			return nil, usagef("--%s: %w", f.Name, err)
		}
		out[name] = v
	}
	for _, name := range in.def.In.Required {
		if _, ok := out[name]; !ok {
			return nil, usagef("--%s is needed: %s", flagName(name), in.def.In.Properties[name].Description)
		}
	}
	return out, nil
}

func (in *input) readData(stdin io.Reader) (map[string]any, error) {
	out := map[string]any{}
	raw := []byte(in.data)
	var err error
	switch {
	case in.data == "":
		return out, nil
	case in.data == "-":
		raw, err = io.ReadAll(stdin)
	case strings.HasPrefix(in.data, "@"):
		raw, err = os.ReadFile(in.data[1:])
	}
	if err != nil {
		return nil, usagef("--data: %w", err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, usagef("--data must be a JSON object: %w", err)
	}
	return out, nil
}

func (in *input) takeArgs(args []string, out map[string]any) error {
	if in.several != "" && len(args) > 1 {
		out[in.several] = args
		return nil
	}
	for i, name := range in.positional {
		if len(args) == 0 {
			return nil
		}
		if in.def.In.Properties[name].Type == huma.TypeArray {
			out[name], args = args, nil
			break
		}
		out[name] = args[0]
		args = args[1:]
		if i == len(in.positional)-1 && len(args) > 0 {
			return in.spare(args)
		}
	}
	if len(args) > 0 {
		return in.spare(args)
	}
	return nil
}

func (in *input) spare(args []string) error {
	return usagef("too many arguments: %s (the command takes%s)", strings.Join(args, " "), in.usage())
}

func flagValue(fs *pflag.FlagSet, name string, s *huma.Schema) (any, error) {
	switch s.Type {
	case huma.TypeBoolean:
		return fs.GetBool(name)
	case huma.TypeInteger:
		return fs.GetInt64(name)
	case huma.TypeNumber:
		return fs.GetFloat64(name)
	case huma.TypeString:
		return fs.GetString(name)
	case huma.TypeArray:
		texts, err := fs.GetStringArray(name)
		if err != nil || s.Items == nil || s.Items.Type == huma.TypeString {
			return texts, err
		}
		list := make([]any, len(texts))
		for i, text := range texts {
			if list[i], err = jsonValue(text); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	text, err := fs.GetString(name)
	if err != nil {
		return nil, err
	}
	return jsonValue(text)
}

func jsonValue(text string) (any, error) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fmt.Errorf("%q is not JSON: %w", text, err)
	}
	return v, nil
}
