package guard

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agent-coordinator/agent-coordinator/internal/guardrail"
)

// What makes a command destructive beside its own words: what it is fed, and what it is made of.

func (s *shell) danger(rule, why string) {
	s.Dangers = append(s.Dangers, guardrail.Finding{Rule: rule, Why: why})
}

// nameOf is the name of the command that a statement runs, wrappers taken off; empty when it is none or not known.
func (s *shell) nameOf(st *syntax.Stmt) (name string, args []string) {
	c, ok := st.Cmd.(*syntax.CallExpr)
	if !ok {
		return "", nil
	}
	words, _ := s.fields(c.Args)
	words = unwrapped(words)
	if len(words) == 0 {
		return "", nil
	}
	return filepath.Base(words[0]), words[1:]
}

var shells = []string{"sh", "bash", "zsh", "dash", "ksh"}

// piped judges a | b: the network into a shell, SQL into a database.
func (s *shell) piped(c *syntax.BinaryCmd) {
	name, args := s.nameOf(c.Y)
	switch {
	case slices.Contains(shells, name) && readsStdin(args) && s.loads(c.X):
		s.danger(guardrail.PipeToShell, "runs what it loads from the network")
	case guardrail.SQLClient(name):
		if from, words := s.nameOf(c.X); from == "echo" || from == "printf" {
			s.Dangers = append(s.Dangers, guardrail.SQL(strings.Join(words, "\n"))...)
		}
	}
}

// readsStdin reports whether a shell with these arguments runs its input, and not a file or a text.
func readsStdin(args []string) bool {
	for _, a := range args {
		switch {
		case a == "-s" || a == "-":
			return true
		case strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c"):
			return false
		case !strings.HasPrefix(a, "-"):
			return false
		}
	}
	return true
}

// loads reports whether anything in n asks the network for a file.
func (s *shell) loads(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			name := filepath.Base(c.Args[0].Lit())
			found = found || name == "curl" || name == "wget"
		}
		return !found
	})
	return found
}

// loaded judges sh -c "$(curl …)", bash <(curl …), eval "$(curl …)" and source <(curl …).
func (s *shell) loaded(c *syntax.CallExpr) {
	i := 0
	for i < len(c.Args) && wrapperWord(c.Args[i].Lit()) {
		i++
	}
	if i == len(c.Args) {
		return
	}
	name := filepath.Base(c.Args[i].Lit())
	if !slices.Contains(shells, name) && name != "eval" && name != "source" && name != "." {
		return
	}
	for _, w := range c.Args[i+1:] {
		syntax.Walk(w, func(n syntax.Node) bool {
			switch n.(type) {
			case *syntax.CmdSubst, *syntax.ProcSubst:
				if s.loads(n) {
					s.danger(guardrail.PipeToShell, "runs what it loads from the network")
				}
				return false
			}
			return true
		})
	}
}

func wrapperWord(word string) bool {
	_, ok := wrappers[filepath.Base(word)]
	return ok || strings.HasPrefix(word, "-")
}

// fed judges the SQL that a database's client gets as a here-document or here-string.
func (s *shell) fed(st *syntax.Stmt) {
	name, _ := s.nameOf(st)
	if name == "docker" || name == "podman" || name == "kubectl" {
		if c, ok := st.Cmd.(*syntax.CallExpr); ok {
			words, _ := s.fields(c.Args)
			if i := slices.IndexFunc(words, func(w string) bool { return guardrail.SQLClient(filepath.Base(w)) }); i >= 0 {
				name = filepath.Base(words[i])
			}
		}
	}
	if !guardrail.SQLClient(name) {
		return
	}
	for _, r := range st.Redirs {
		w := r.Hdoc
		if r.Op == syntax.WordHdoc {
			w = r.Word
		}
		if w != nil {
			text, _ := s.literal(w) // empty when it is not known: nothing is read from it
			s.Dangers = append(s.Dangers, guardrail.SQL(text)...)
		}
	}
}

// wholeTree keeps a lone * as it was written for the judgement: expanded, it would look like a list of files.
func (s *shell) wholeTree(c *syntax.CallExpr, words []string) {
	if filepath.Base(words[0]) != "rm" || s.dir == "" {
		return
	}
	for _, w := range c.Args[1:] {
		if lit := w.Lit(); lit == "*" || lit == "./*" || lit == "/*" || lit == "~/*" {
			s.Commands = append(s.Commands, Simple{Words: []string{"rm", "-r", lit}, Sure: true, Dir: s.dir, Away: s.away})
			if !slices.ContainsFunc(words, func(w string) bool { return len(w) > 1 && w[0] == '-' && strings.ContainsAny(w, "rR") }) {
				s.Commands = s.Commands[:len(s.Commands)-1] // files only
			}
		}
	}
}

// onAnother reads what ssh runs on another machine: nothing there is a file of ours.
func (s *shell) onAnother(args []string) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if len(args[0]) == 2 && strings.Contains("bcDEeFIiJLlmOopQRSWw", args[0][1:]) && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) < 2 { // a login
		return
	}
	r := readShell(strings.Join(args[1:], " "), "", s.getenv, s.depth+1)
	for _, c := range r.Commands {
		c.Dir, c.Away = "", true
		s.Commands = append(s.Commands, c)
	}
	s.Dangers = append(s.Dangers, r.Dangers...)
}
