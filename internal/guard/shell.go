package guard

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/agent-coordinator/agent-coordinator/internal/guardrail"
)

// Write is one path that a tool call writes, absolute. Tree: everything below it, too.
type Write struct {
	Path   string
	Delete bool
	Tree   bool
}

// Reading is what the text of a tool call shows. Unsure means that it may write more than it shows.
type Reading struct {
	Writes   []Write
	Unsure   bool
	Commands []Simple            // every simple command whose name is known, in order
	Dangers  []guardrail.Finding // what shows only in how commands are put together
}

// Simple is one command as the shell would run it. Sure is false when words after the last one are not known; Dir is empty
// when it is not known, or is on another machine.
type Simple struct {
	Words []string
	Sure  bool
	Dir   string
	Away  bool // on another machine, or in a container
}

// ReadShell reads a bash command that is run in dir. It follows cd, plain assignments, wrappers (sudo, env, sh -c, …)
// and globs; what depends on anything else makes the reading unsure and names no path.
func ReadShell(command, dir string, getenv func(string) string) Reading {
	done := make(chan Reading, 1)
	go func() { done <- readShell(command, dir, getenv, 0) }()
	select {
	case r := <-done:
		return r
	case <-time.After(readFor):
		return Reading{Unsure: true}
	}
}

// readFor bounds the reading: a few words can expand to more than memory holds.
const readFor = time.Second

// maxNested bounds sh -c "sh -c …".
const maxNested = 4

func readShell(command, dir string, getenv func(string) string, depth int) (r Reading) {
	defer func() {
		if recover() != nil { // a flaw of the parser must not stop an agent's work
			r = Reading{Unsure: true}
		}
	}()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || depth > maxNested {
		return Reading{Unsure: true}
	}
	s := &shell{dir: dir, getenv: getenv, vars: map[string]string{}, depth: depth}
	s.stmts(file.Stmts)
	return s.Reading
}

// shell walks one script. dir is empty once it cannot be known.
type shell struct {
	Reading
	dir    string
	vars   map[string]string
	getenv func(string) string
	depth  int
	away   bool
}

func (s *shell) unsure() { s.Unsure = true }

func (s *shell) stmts(list []*syntax.Stmt) {
	for _, st := range list {
		s.stmt(st)
	}
}

func (s *shell) stmt(st *syntax.Stmt) {
	if st == nil {
		return
	}
	for _, r := range st.Redirs {
		s.redirect(r)
	}
	s.fed(st)
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) > 0 && c.Args[0].Lit() == "apply_patch" {
			s.applyPatch(st, c)
			return
		}
		s.call(c)
	case *syntax.BinaryCmd:
		s.binary(c)
	case *syntax.Block:
		s.stmts(c.Stmts)
	case *syntax.Subshell:
		s.apart(func() { s.stmts(c.Stmts) })
	case *syntax.IfClause:
		for at := c; at != nil; at = at.Else {
			s.stmts(at.Cond)
			s.stmts(at.Then)
		}
	case *syntax.WhileClause:
		s.stmts(c.Cond)
		s.stmts(c.Do)
	case *syntax.ForClause:
		s.loop(c)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			s.apart(func() { s.stmts(item.Stmts) })
		}
	case *syntax.TimeClause:
		s.stmt(c.Stmt)
	case *syntax.CoprocClause:
		s.stmt(c.Stmt)
	case *syntax.DeclClause: // export a=b
		for _, a := range c.Args {
			s.assign(a)
		}
	case nil, *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
	default: // functions: what their bodies do depends on the call
		s.unsure()
	}
}

// binary reads a && b, a || b and a | b. The sides of a pipe run in shells of their own.
func (s *shell) binary(c *syntax.BinaryCmd) {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		s.piped(c)
		s.apart(func() { s.stmt(c.X) })
		s.apart(func() { s.stmt(c.Y) })
		return
	}
	s.stmt(c.X)
	s.stmt(c.Y)
}

// apart runs f as a subshell: its directory and variables end with it.
func (s *shell) apart(f func()) {
	dir, vars := s.dir, s.vars
	s.vars = make(map[string]string, len(vars))
	for k, v := range vars {
		s.vars[k] = v
	}
	f()
	s.dir, s.vars = dir, vars
}

// loop runs a for over literal words once a word; any other is unsure about its variable.
func (s *shell) loop(c *syntax.ForClause) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		s.stmts(c.Do)
		return
	}
	words, sure := s.fields(iter.Items)
	if !sure || len(words) > 200 {
		delete(s.vars, iter.Name.Value)
		s.vars[iter.Name.Value] = unknown
		s.stmts(c.Do)
		s.unsure()
		return
	}
	for _, w := range words {
		s.vars[iter.Name.Value] = w
		s.stmts(c.Do)
	}
}

// unknown is the value of a variable that is set to what cannot be read.
const unknown = "\x00"

func (s *shell) assign(a *syntax.Assign) {
	if a.Name == nil || a.Naked {
		return
	}
	value, ok := "", true
	if a.Value != nil {
		value, ok = s.literal(a.Value)
	}
	if !ok || a.Array != nil || a.Index != nil || a.Append {
		value = unknown
	}
	s.vars[a.Name.Value] = value
}

var errUnknown = errors.New("not known from the text")

// config expands words with the variables known here. A command substitution or an unset variable is an error, so that
// nothing is ever guessed.
func (s *shell) config() *expand.Config {
	return &expand.Config{
		Env: expand.FuncEnviron(func(name string) string {
			if v, ok := s.vars[name]; ok {
				return v
			}
			if v := s.getenv(name); v != "" {
				return v
			}
			if name == "PWD" {
				return s.dir
			}
			switch name {
			case "IFS":
				return " \t\n"
			case "HOME":
				home, _ := os.UserHomeDir() // empty: then it stays unknown
				return home
			}
			return ""
		}),
		CmdSubst:  nil, // an error
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return "", errUnknown },
		ReadDir2:  os.ReadDir,
		NullGlob:  false,
		NoUnset:   true,
	}
}

// fields expands words; false when any of it cannot be known.
func (s *shell) fields(words []*syntax.Word) ([]string, bool) {
	var out []string
	for _, w := range words {
		f, err := s.expand(w)
		if err != nil {
			return out, false
		}
		out = append(out, f...)
	}
	return out, true
}

// sequence is a brace expansion such as {1..1000000000}, which would be written out.
var sequence = regexp.MustCompile(`\{[^{},]*\.\.`)

func (s *shell) expand(w *syntax.Word) ([]string, error) {
	if sequence.MatchString(literalParts(w)) {
		return nil, errUnknown
	}
	cfg := s.config()
	if s.dir != "" { // globs are relative to the script's directory, not ours
		cfg.ReadDir2 = func(name string) ([]os.DirEntry, error) { return os.ReadDir(s.abs(name)) }
	}
	fields, err := expand.Fields(cfg, w)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		if strings.Contains(f, unknown) {
			return nil, errUnknown
		}
	}
	return fields, nil
}

// literalParts are the unquoted parts of a word.
func literalParts(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			b.WriteString(l.Value)
		}
	}
	return b.String()
}

func (s *shell) literal(w *syntax.Word) (string, bool) {
	v, err := expand.Literal(s.config(), w)
	return v, err == nil && !strings.Contains(v, unknown)
}

// abs makes a path of the script absolute.
func (s *shell) abs(path string) string {
	if filepath.IsAbs(path) || s.dir == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(s.dir, path)
}

// write notes paths.
func (s *shell) write(del bool, paths ...string) {
	for _, p := range paths {
		s.note(Write{Path: p, Delete: del})
	}
}

// note adds one write; a path that cannot be placed makes the reading unsure.
func (s *shell) note(w Write) {
	if w.Path == "" || w.Path == "-" {
		return
	}
	if s.dir == "" && !filepath.IsAbs(w.Path) {
		s.unsure()
		return
	}
	w.Path = s.abs(w.Path)
	if strings.HasPrefix(w.Path, "/dev/") || strings.HasPrefix(w.Path, "/proc/") {
		return
	}
	if !slices.Contains(s.Writes, w) {
		s.Writes = append(s.Writes, w)
	}
}

func (s *shell) redirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.RdrAllClob, syntax.AppAll, syntax.AppAllClob:
	case syntax.DplOut: // >&2, or >&file
		if v, ok := s.literal(r.Word); ok && strings.Trim(v, "0123456789-") == "" {
			return
		}
	default:
		return
	}
	if f, err := s.expand(r.Word); err == nil && len(f) == 1 {
		if guardrail.Device(f[0]) {
			s.danger(guardrail.WriteDevice, "writes to "+f[0])
		}
		s.write(false, f[0])
		return
	}
	s.unsure()
}

// applyPatch reads Codex's apply_patch, whose patch is its argument or a here-document.
func (s *shell) applyPatch(st *syntax.Stmt, c *syntax.CallExpr) {
	text := ""
	if len(c.Args) > 1 {
		text, _ = s.literal(c.Args[1]) // empty: nothing is read from it
	}
	for _, r := range st.Redirs {
		if r.Hdoc != nil {
			text, _ = s.literal(r.Hdoc)
		}
	}
	if s.dir == "" {
		s.unsure()
		return
	}
	s.merge(Call{Cwd: s.dir}.patch(text))
}

// call reads one simple command.
func (s *shell) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 { // a=b
		for _, a := range c.Assigns {
			s.assign(a)
		}
		return
	}
	for _, w := range c.Args { // $(…) runs commands of its own
		s.substitutions(w)
	}
	for _, a := range c.Assigns {
		if a.Value != nil {
			s.substitutions(a.Value)
		}
	}
	s.loaded(c)
	words, sure := s.fields(c.Args)
	if len(words) == 0 {
		s.unsure()
		return
	}
	s.wholeTree(c, words)
	s.command(words, sure)
}

// substitutions reads the commands inside $(…), `…` and <(…).
func (s *shell) substitutions(w *syntax.Word) {
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.apart(func() { s.stmts(n.Stmts) })
			return false
		case *syntax.ProcSubst:
			s.apart(func() { s.stmts(n.Stmts) })
			return false
		}
		return true
	})
}

// command reads a command whose words are known; sure is false when words after the last one are not.
func (s *shell) command(words []string, sure bool) {
	words = unwrapped(words)
	if len(words) == 0 {
		return
	}
	name, args := filepath.Base(words[0]), words[1:]
	s.Commands = append(s.Commands, Simple{Words: words, Sure: sure, Dir: s.dir, Away: s.away})
	if s.nested(name, args) {
		return
	}
	switch name {
	case "cd", "pushd":
		s.chdir(args, sure)
		return
	case "export", "set", "unset", "popd", "alias", "source", ".", "eval":
		s.unsure()
		return
	}
	if read, known := commands[name]; known {
		if !sure {
			s.unsure()
			return
		}
		if read != nil {
			read(s, args)
		}
		return
	}
	s.unsure()
}

func (s *shell) chdir(args []string, sure bool) {
	args = operands(args, "")
	switch {
	case !sure || len(args) > 1 || len(args) == 1 && args[0] == "-":
		s.dir = ""
	case len(args) == 0:
		s.dir, _ = os.UserHomeDir() // empty: unknown from here on
	case s.dir != "" || filepath.IsAbs(args[0]):
		s.dir = s.abs(args[0])
	}
}

// nested reads what sh -c and its like run.
func (s *shell) nested(name string, args []string) bool {
	switch name {
	case "sh", "bash", "zsh", "dash", "ksh":
		for i, a := range args {
			if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c") {
				if i+1 < len(args) {
					s.merge(readShell(args[i+1], s.dir, s.lookup, s.depth+1))
				}
				return true
			}
		}
		s.unsure() // a script
		return true
	case "eval":
		s.merge(readShell(strings.Join(args, " "), s.dir, s.lookup, s.depth+1))
		return true
	case "ssh":
		s.onAnother(args)
		s.unsure()
		return true
	}
	return false
}

func (s *shell) lookup(name string) string {
	if v, ok := s.vars[name]; ok {
		return v
	}
	return s.getenv(name)
}

func (s *shell) merge(r Reading) {
	for _, w := range r.Writes {
		s.note(w)
	}
	s.Unsure = s.Unsure || r.Unsure
	s.Commands, s.Dangers = append(s.Commands, r.Commands...), append(s.Dangers, r.Dangers...)
}
