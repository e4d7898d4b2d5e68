// Package house checks what a linter cannot: sizes, names, and that what the documents promise exists.
package house

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
	"github.com/agent-coordinator/agent-coordinator/supabase"
)

const (
	root       = "../.."
	fileLimit  = 600 // lines of a Go file
	mainLimit  = 120 // lines of a main.go
	sqlFnLimit = 120 // lines of one SQL function
	funcLimit  = 80  // lines of a Go function outside tests; 60 is what we aim at
)

var skipped = []string{".git", "bin", "dist", "node_modules"}

// files returns every file of the tree whose name ends in one of the suffixes, relative to the root.
func files(t *testing.T, suffixes ...string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(skipped, d.Name()) {
			return filepath.SkipDir
		}
		for _, s := range suffixes {
			if !d.IsDir() && strings.HasSuffix(path, s) {
				out = append(out, path)
				break
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func lines(s string) int { return strings.Count(s, "\n") }

func TestFilesAreShort(t *testing.T) {
	t.Parallel()
	for _, path := range files(t, ".go") {
		limit := fileLimit
		if filepath.Base(path) == "main.go" && strings.Contains(path, "/cmd/") {
			limit = mainLimit
		}
		if n := lines(read(t, path)); n > limit {
			t.Errorf("%s has %d lines, the limit is %d: split it by noun", path, n, limit)
		}
	}
}

func TestFunctionsAreShort(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	for _, path := range files(t, ".go") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, decl := range parse(t, fset, path).Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line; n > funcLimit {
				t.Errorf("%s: %s has %d lines, the limit is %d", path, fn.Name.Name, n, funcLimit)
			}
		}
	}
}

// TestErrorsAreNotReadAsText looks for strings.Contains and its kin applied to err.Error(): a reworded message
// must not change what a program does.
func TestErrorsAreNotReadAsText(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	for _, path := range files(t, ".go") {
		if strings.HasSuffix(path, "_test.go") { // a test may look at a message: messages are what people read
			continue
		}
		ast.Inspect(parse(t, fset, path), func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isSelector(call.Fun, "strings", "Contains", "HasPrefix", "HasSuffix", "EqualFold", "Index") {
				return true
			}
			for _, arg := range call.Args {
				inner, ok := arg.(*ast.CallExpr)
				if !ok {
					continue
				}
				if sel, ok := inner.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Error" && len(inner.Args) == 0 {
					t.Errorf("%s: an error is read as text; use errors.Is, errors.As or a code", fset.Position(call.Pos()))
				}
			}
			return true
		})
	}
}

func isSelector(e ast.Expr, pkg string, names ...string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg && slices.Contains(names, sel.Sel.Name)
}

func parse(t *testing.T, fset *token.FileSet, path string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPackagesSayWhatTheyAre: every package has a doc comment.
func TestPackagesSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	fset := token.NewFileSet()
	for _, path := range files(t, ".go") {
		dir := filepath.Dir(path)
		f, err := parser.ParseFile(fset, path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		documented[dir] = documented[dir] || f.Doc != nil
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s: no file has a package comment", dir)
		}
	}
}

func TestMigrationsAreNamedAndForwardOnly(t *testing.T) {
	t.Parallel()
	if err := migrate.Check(supabase.Migrations); err != nil {
		t.Error(err)
	}
	start := regexp.MustCompile(`(?i)^create (or replace )?function ([a-z_.0-9]+)`)
	for _, path := range files(t, ".sql") {
		name, from := "", 0
		for i, line := range strings.Split(read(t, path), "\n") {
			if m := start.FindStringSubmatch(line); m != nil {
				name, from = m[2], i
			}
			if name != "" && strings.HasPrefix(line, "end $") {
				if n := i - from; n > sqlFnLimit {
					t.Errorf("%s: %s has %d lines, the limit is %d", path, name, n, sqlFnLimit)
				}
				name = ""
			}
		}
	}
}

// TestNothingNamesAMachine looks for absolute paths of somebody's machine and for hosts of package registries.
func TestNothingNamesAMachine(t *testing.T) {
	t.Parallel()
	// Spelt in two parts, so that this file does not find itself.
	machine := regexp.MustCompile(`(^|[\s"'=(:])/(` + `wo` + `rk/(main|shared)|ro` + `ot/go)(/|\b)`)
	registry := regexp.MustCompile(`https?://(registry\.npmjs|proxy\.golang|repo1?\.maven|pypi)\.`)
	for _, path := range files(t, ".go", ".sql", ".md", ".yml", ".yaml", ".sh", "Makefile", ".ci/run", ".toml", ".json") {
		in := bufio.NewScanner(bytes.NewReader([]byte(read(t, path))))
		in.Buffer(nil, 16<<20)
		for n := 1; in.Scan(); n++ {
			if m := machine.FindString(in.Text()); m != "" {
				t.Errorf("%s:%d names a machine's path: %q", path, n, m)
			}
			if m := registry.FindString(in.Text()); m != "" {
				t.Errorf("%s:%d names a registry: %q", path, n, m)
			}
		}
	}
}
