package inline

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Tool is a program that looks at a change without running it. The built-in ones are in table.go; more can be given in
// tools.json of the configuration folder, in the very same members.
type Tool struct {
	Name    string   `json:"name"`
	Program string   `json:"program,omitempty"` // looked for in the tool path; "": Name
	Match   []string `json:"match"`             // globs of the files it fits, doublestar; changed files are tried
	Exclude []string `json:"exclude,omitempty"`
	// Args follow the program; {files} stands for the changed files that fit, {config} for the folder of configurations.
	Args    []string `json:"args"`
	Env     []string `json:"env,omitempty"`
	Version []string `json:"version,omitempty"` // arguments that make it tell its version, and prove that it runs; none: --version
	// Any exit code that is in neither list is the place's fault, not the change's: an infrastructure error.
	OK       []int  `json:"ok"`
	Findings []int  `json:"findings"`
	Format   string `json:"format"`          // sarif, or lines: path:line[:column]: [level:] message
	Level    string `json:"level,omitempty"` // of findings that carry none, and instead of all when Force is set
	Force    bool   `json:"force,omitempty"`

	plan  func(*target) (invocations []invocation, notes []string) // instead of Match and Args
	parse parser                                                   // instead of Format
	cache bool                                                     // wants Go's warmed cache
}

// invocation is one run of a tool.
type invocation struct {
	args     []string
	dir      string // working folder inside; "": /src
	only     bool   // sees a folder with nothing but the changed files
	anywhere bool   // what it finds counts outside of the changed lines too: a type error shows where the name is used
}

// target is what a change offers to tools.
type target struct {
	dir     string   // the checkout outside
	files   []string // changed, present, regular; relative
	version map[string]string
}

const (
	configDir  = "/config"
	changedDir = "/changed"
	maxArgs    = 500 // files on one command line
)

var (
	formats  = map[string]parser{"sarif": parseSARIF, "lines": parseLines}
	toolName = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,39}$`)
)

// LoadTools reads a tools.json: an array of Tool. A file that does not exist is no tools.
func LoadTools(path string) ([]Tool, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var tools []Tool
	if err := json.Unmarshal(raw, &tools); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range tools {
		if err := tools[i].check(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return tools, nil
}

func (t *Tool) check() error {
	if !toolName.MatchString(t.Name) {
		return fmt.Errorf("%q is no name of a tool: lower case letters, digits, . _ -", t.Name)
	}
	if strings.Contains(t.Program, "/") {
		return fmt.Errorf("tool %s: the program is looked for in the tool path, so it is a plain name", t.Name)
	}
	for _, glob := range slices.Concat(t.Match, t.Exclude) {
		if !doublestar.ValidatePattern(glob) {
			return fmt.Errorf("tool %s: %q is no glob", t.Name, glob)
		}
	}
	if t.plan == nil && len(t.Match) == 0 {
		return fmt.Errorf("tool %s fits no file: match is empty", t.Name)
	}
	if t.parse == nil && formats[t.Format] == nil {
		return fmt.Errorf("tool %s: format is %q, it can be sarif or lines", t.Name, t.Format)
	}
	if len(t.OK) == 0 {
		return fmt.Errorf("tool %s says with no exit code that all is well: ok is empty", t.Name)
	}
	if t.Level != "" && levels[t.Level] == 0 {
		return fmt.Errorf("tool %s: level is %q, it can be note, warning or error", t.Name, t.Level)
	}
	return nil
}

func (t *Tool) program() string { return or(t.Program, t.Name) }

// fitting are the changed files the tool is for.
func (t *Tool) fitting(files []string) []string {
	var out []string
	for _, f := range files {
		if matches(t.Match, f) && !matches(t.Exclude, f) {
			out = append(out, f)
		}
	}
	return out
}

func matches(globs []string, path string) bool {
	for _, g := range globs {
		if doublestar.MatchUnvalidated(g, path) {
			return true
		}
	}
	return false
}

// invocations is how the tool is run on the change; none, without a note: it does not fit.
func (t *Tool) invocations(on *target) ([]invocation, []string) {
	if t.plan != nil {
		return t.plan(on)
	}
	var out []invocation
	for files := range slices.Chunk(t.fitting(on.files), maxArgs) {
		out = append(out, invocation{args: expand(t.Args, files)})
		if !slices.Contains(t.Args, "{files}") {
			break
		}
	}
	return out, nil
}

// expand puts files and folders in. A file is always ./something, so that none is taken for an option.
func expand(args, files []string) []string {
	var out []string
	for _, a := range args {
		if a == "{files}" {
			for _, f := range files {
				out = append(out, "./"+f)
			}
			continue
		}
		out = append(out, strings.ReplaceAll(a, "{config}", configDir))
	}
	return out
}

// found is a tool on this machine, seen to run in the sandbox.
type found struct {
	Tool
	path    string // real and absolute
	binds   []bind
	version string
}

// locate looks for the program in the tool path.
func (t Tool) locate(path []string) (*found, error) {
	for _, dir := range path {
		real, err := filepath.EvalSymlinks(filepath.Join(dir, t.program()))
		if err != nil {
			continue
		}
		info, err := os.Stat(real)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			continue
		}
		if err := readable(real); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		return &found{Tool: t, path: real, binds: needs(real)}, nil
	}
	return nil, fmt.Errorf("%s is in no folder of the tool path", t.program())
}

// needs are the folders a program brings along: those of a node package, of a script's environment, of Go's tree.
func needs(real string) []bind {
	dir := filepath.Dir(real)
	if at := strings.Index(real, "/node_modules/"); at >= 0 {
		dir = real[:at] + "/node_modules"
	} else if isScript(real) || filepath.Base(real) == "go" || filepath.Base(real) == "gofmt" {
		dir = filepath.Dir(dir)
	}
	if within(dir, "/usr") || within(dir, "/bin") || dir == "/" {
		return nil // there already
	}
	return []bind{{outside: dir, inside: dir}}
}

func within(dir, root string) bool { return dir == root || strings.HasPrefix(dir, root+"/") }

func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	magic := make([]byte, 2)
	n, err := f.Read(magic)
	return err == nil && n == 2 && string(magic) == "#!"
}
