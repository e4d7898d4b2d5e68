package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/mcpclient"
)

// ServerName is our name in the hosts' files; tools show up as mcp__coord__acquire_lock and the like.
const ServerName = "coord"

// Errors to be recognised with errors.Is.
var (
	ErrNotOurs  = errors.New("an entry of this name exists that coordctl did not write")
	ErrNoServer = errors.New("the MCP server does not answer")
)

// Scope says whose configuration is meant.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // every project of this user
	Project Scope = "project" // this folder, for everybody who has it
)

// Request says what to register where.
type Request struct {
	Host    string
	Scope   Scope
	Command string // absolute path of mcp-server
	// Coordctl is the absolute path of coordctl, which hooks run; empty: no hooks are asked for.
	Coordctl string
	Fail     string // open or closed: what hooks do when the coordinator cannot be asked
	// Instructions asks for our part in the file of instructions that the host's agents read.
	Instructions bool
	Dir          string // the project's folder
	Home         string // the user's home folder
	Getenv       func(string) string
	DryRun       bool
}

// Result says what was done.
type Result struct {
	Host       string `json:"host"`
	Scope      Scope  `json:"scope"`
	File       string `json:"file"`
	Via        string `json:"via"` // "file", or the host's own command
	Changed    bool   `json:"changed"`
	DryRun     bool   `json:"dry_run"`
	Diff       string `json:"diff"`
	Backup     string `json:"backup,omitempty"`
	Registered bool   `json:"registered"` // after this call
	Hooks      *Hooks `json:"hooks,omitempty"`
	// Instructions is nil when there is nothing of ours in the host's file of instructions.
	Instructions *Note    `json:"instructions,omitempty"`
	Tools        int      `json:"tools"`    // that the server listed
	Verified     string   `json:"verified"` // how it was made sure
	Next         []string `json:"next"`
}

// Hooks says what was done with the host's hooks.
type Hooks struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Diff    string `json:"diff"`
	Backup  string `json:"backup,omitempty"`
	Events  int    `json:"events"` // that run our hook after this call
}

// change is an edit of a host's file: the content after it, nil when the file should go, and the pieces of ours that
// went and came. Only those are shown: other entries may hold secrets.
type change struct {
	after          []byte
	removed, added string
}

func (c change) diff() string {
	var b strings.Builder
	for _, part := range []struct{ mark, text string }{{"- ", c.removed}, {"+ ", c.added}} {
		if part.text == "" {
			continue
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(part.text, "\n"), "\n") {
			b.WriteString(part.mark + line + "\n")
		}
	}
	return b.String()
}

// host is what differs between hosts. edit adds our entry to the file's content, or takes it out; nil content means
// that there is no file.
type host struct {
	title   string
	file    func(Request) string
	edit    func(Request, []byte, bool) (change, error)
	command func(content []byte) (string, error) // that our entry starts; empty: there is no entry
	native  func(Request, bool) [][]string       // the host's own commands, when it is to be asked
	verify  func(ctx context.Context, r Request) (string, error)
	next    func(Request) []string
	hooks   *hookFile // nil: the host has none, or none that could be relied on
}

var hosts = map[string]host{"claude-code": claudeCode, "codex": codex, "cursor": cursor, "gemini": gemini}

// Hosts lists the names that Install knows.
func Hosts() []string { return []string{"claude-code", "codex", "cursor", "gemini"} }

// Title is the host's name for people.
func Title(name string) string { return hosts[name].title }

// passed are the variables that the server needs from the person's shell when they are set there. The second group
// may hold secrets: hosts are told their names only.
var (
	passedPlain  = []string{"COORD_HOME", "COORD_PG_ROOT", "COORD_PG_BIN", "COORD_PROJECT"}
	passedSecret = []string{"COORD_DATABASE_URL", "COORD_DIRECT_URL", "COORDINATION_API_URL", "COORDINATION_API_KEY"}
)

// Install registers the server.
func Install(ctx context.Context, r Request) (Result, error) {
	h, err := lookup(r)
	if err != nil {
		return Result{}, err
	}
	res := Result{Host: r.Host, Scope: r.Scope, File: h.file(r), DryRun: r.DryRun, Next: h.next(r)}
	tools, err := Probe(ctx, r.Command)
	if err != nil {
		return res, fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	res.Tools = len(tools)
	if err := apply(ctx, h, r, true, &res); err != nil {
		return res, err
	}
	if err := applyHooks(h, r, r.Coordctl != "", &res); err != nil {
		return res, err
	}
	if err := applyNote(r, true, &res); err != nil || r.DryRun {
		return res, err
	}
	if res.Registered, err = registered(h, r); err != nil {
		return res, err
	}
	if !res.Registered {
		return res, fmt.Errorf("%s was written but does not name the server", res.File)
	}
	if res.Verified, err = h.verify(ctx, r); err != nil {
		return res, err
	}
	return res, nil
}

// Uninstall removes the entry; nothing to remove is no failure.
func Uninstall(ctx context.Context, r Request) (Result, error) {
	h, err := lookup(r)
	if err != nil {
		return Result{}, err
	}
	res := Result{Host: r.Host, Scope: r.Scope, File: h.file(r), DryRun: r.DryRun}
	if err := apply(ctx, h, r, false, &res); err != nil {
		return res, err
	}
	if err := applyHooks(h, r, false, &res); err != nil {
		return res, err
	}
	if err := applyNote(r, false, &res); err != nil {
		return res, err
	}
	res.Registered, err = registered(h, r)
	return res, err
}

func registered(h host, r Request) (bool, error) {
	now, err := readFile(h.file(r))
	if err != nil {
		return false, err
	}
	command, err := h.command(now)
	return command == r.Command, err
}

func lookup(r Request) (host, error) {
	h, ok := hosts[r.Host]
	if !ok {
		return h, fmt.Errorf("no host %q; there are %s", r.Host, strings.Join(Hosts(), ", "))
	}
	return h, nil
}

// apply makes the change: by the host's own command where it is installed, else in the file.
func apply(ctx context.Context, h host, r Request, add bool, res *Result) error {
	before, err := readFile(res.File)
	if err != nil {
		return err
	}
	c, err := h.edit(r, before, add)
	if err != nil {
		return fmt.Errorf("%s: %w", res.File, err)
	}
	res.Via = "file"
	if c.removed == "" && c.added == "" {
		return nil
	}
	res.Changed, res.Diff = true, c.diff()
	commands := h.native(r, add)
	if len(commands) > 0 {
		res.Via = commands[len(commands)-1][0]
	}
	if r.DryRun {
		return nil
	}
	if c.after != nil || add { // a file that held nothing but us needs no copy
		if res.Backup, err = backup(res.File, before); err != nil {
			return err
		}
	}
	if len(commands) == 0 {
		return replaceFile(res.File, c.after)
	}
	for i, words := range commands {
		if err := runIn(ctx, r.Dir, words); err != nil && i == len(commands)-1 { // earlier ones only make room
			return err
		}
	}
	return nil
}

// applyHooks puts our hooks into the host's file, or takes them out.
func applyHooks(h host, r Request, add bool, res *Result) error {
	if h.hooks == nil {
		return nil
	}
	hooks := &Hooks{File: h.hooks.file(r)}
	res.Hooks = hooks
	before, err := readFile(hooks.File)
	if err != nil {
		return err
	}
	c, err := h.hooks.edit(r, before, add)
	if err != nil {
		return fmt.Errorf("%s: %w", hooks.File, err)
	}
	hooks.Diff = c.diff()
	hooks.Changed = hooks.Diff != ""
	if hooks.Changed && !r.DryRun {
		if c.after != nil {
			if hooks.Backup, err = backup(hooks.File, before); err != nil {
				return err
			}
		}
		if err := replaceFile(hooks.File, c.after); err != nil {
			return err
		}
		before = c.after
	}
	hooks.Events, err = h.hooks.present(before)
	return err
}

func runIn(ctx context.Context, dir string, words []string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// Probe starts the server as a host would and returns the names of its tools.
func Probe(ctx context.Context, command string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	c, err := mcpclient.Start(ctx, exec.Command(command), "coordctl") // without a context: Close ends it
	if err != nil {
		return nil, err
	}
	tools, err := c.Tools(ctx)
	if err == nil && len(tools) == 0 {
		err = errors.New("it lists no tools")
	}
	return tools, errors.Join(err, c.Close(ctx))
}

// readFile returns nil when there is no file.
func readFile(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the host's configuration: %w", err)
	}
	return raw, nil
}

// backup keeps the file as it was, once per content; empty when there was none.
func backup(path string, before []byte) (string, error) {
	if before == nil {
		return "", nil
	}
	name := path + ".before-coord"
	for i := 2; ; i++ {
		kept, err := os.ReadFile(name)
		if err == nil && bytes.Equal(kept, before) {
			return name, nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			if err := os.WriteFile(name, before, 0o600); err != nil {
				return "", fmt.Errorf("backup: %w", err)
			}
			return name, nil
		}
		if err != nil {
			return "", fmt.Errorf("backup: %w", err)
		}
		name = fmt.Sprintf("%s.before-coord-%d", path, i)
	}
}

// replaceFile writes by rename and keeps the file's mode; a link keeps pointing where it did. nil removes the file.
func replaceFile(path string, content []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if content == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the host's configuration: %w", err)
		}
		return nil
	}
	mode := fs.FileMode(0o600)
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write the host's configuration: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".coord-*")
	if err != nil {
		return fmt.Errorf("write the host's configuration: %w", err)
	}
	_, err = tmp.Write(content)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // the first error counts
		return fmt.Errorf("write the host's configuration: %w", err)
	}
	return nil
}

// set lists which of names have a value in the person's shell.
func set(r Request, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return r.Getenv(n) == "" })
}

// HookCommand is the command of ours that a host's hooks run, the user's file first; empty: there is none.
func HookCommand(r Request) (command, file string, err error) {
	h, err := lookup(r)
	if err != nil || h.hooks == nil {
		return "", "", err
	}
	for _, scope := range []Scope{User, Project} {
		r.Scope = scope
		file = h.hooks.file(r)
		raw, err := readFile(file)
		if err != nil {
			return "", file, err
		}
		if command, err = h.hooks.command(raw); err != nil {
			return "", file, fmt.Errorf("%s: %w", file, err)
		}
		if command != "" {
			return command, file, nil
		}
	}
	return "", "", nil
}

// HasHooks reports whether the host has hooks that coordctl can use.
func HasHooks(name string) bool { return hosts[name].hooks != nil }

// State is what a host's configuration says about us.
type State struct {
	File       string
	Registered bool   // with the command asked for
	Other      string // the command it names instead, if any
}

// Look reads a host's configuration: the user's, then the project's.
func Look(r Request) (State, error) {
	h, err := lookup(r)
	if err != nil {
		return State{}, err
	}
	var s State
	for _, scope := range []Scope{User, Project} {
		r.Scope = scope
		raw, err := readFile(h.file(r))
		if err != nil {
			return s, err
		}
		command, err := h.command(raw)
		if err != nil {
			return s, fmt.Errorf("%s: %w", h.file(r), err)
		}
		if command == r.Command {
			return State{File: h.file(r), Registered: true}, nil
		}
		if command != "" && s.Other == "" {
			s = State{File: h.file(r), Other: command}
		}
	}
	return s, nil
}
