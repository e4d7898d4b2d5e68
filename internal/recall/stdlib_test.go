//go:build prove

package recall_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"
)

// function is one function of the Go standard library: its code is the memory, its documentation's first paragraph, the
// name masked, the question.
type function struct {
	name, head, code, query, file, dir string
}

// standardLibrary reads every function with a body; those whose documentation is long enough get a query.
func standardLibrary(t *testing.T) []function {
	t.Helper()
	root := filepath.Join(runtime.GOROOT(), "src") //nolint:staticcheck // the toolchain that runs the test
	if _, err := os.Stat(root); err != nil {
		t.Skipf("the Go standard library's source is not on this machine: %v", err)
	}
	var out []function
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "vendor" || d.Name() == "cmd") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			out = append(out, functions(root, path)...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func functions(root, path string) []function {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, src, parser.ParseComments)
	if err != nil {
		return nil
	}
	rel, _ := filepath.Rel(root, path)
	var out []function
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		code := string(src[fset.Position(fn.Pos()).Offset:fset.Position(fn.End()).Offset])
		head, _, _ := strings.Cut(code, "\n")
		one := function{name: fn.Name.Name, head: head, code: code, file: rel, dir: filepath.Dir(rel)}
		if fn.Doc != nil {
			para, _, _ := strings.Cut(strings.TrimSpace(fn.Doc.Text()), "\n\n")
			masked := regexp.MustCompile(`\b`+regexp.QuoteMeta(one.name)+`\b`).ReplaceAllString(para, "it")
			if len(strings.Fields(masked)) >= 8 && ast.IsExported(one.name) {
				one.query = masked
			}
		}
		out = append(out, one)
	}
	return out
}

func half(s string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return h.Sum32()%2 == 0
}

func indexed(all []function, keep func(function) bool) (src *recall.Memory, ids map[int]int64) {
	src, ids = recall.NewMemory(1), map[int]int64{}
	group, seq, file := int64(0), int32(0), ""
	for i, f := range all {
		if !keep(f) {
			continue
		}
		if f.file != file {
			file, seq, group = f.file, 0, group+1
		}
		seq++
		id := int64(len(ids) + 1)
		ids[i] = id
		src.Add(recall.Doc{ID: id, Group: group, Seq: seq, Kind: recall.Episodic, Flags: recall.Imported},
			recall.Document{Title: f.name + " " + f.head, Body: f.code})
	}
	return src, ids
}

// TestStandardLibrary: natural text, fixed by the toolchain, one right answer a question.
func TestStandardLibrary(t *testing.T) {
	t.Parallel()
	all := standardLibrary(t)
	src, ids := indexed(all, func(function) bool { return true })
	var n, at5, at10 int
	var mrr float64
	for i, f := range all {
		if f.query == "" {
			continue
		}
		n++
		r, err := recall.Search(t.Context(), src, recall.Query{Project: 1, Text: f.query, Limit: 20}, recall.Default())
		if err != nil {
			t.Fatal(err)
		}
		if place := slices.IndexFunc(r.Hits, func(h recall.Hit) bool { return h.ID == ids[i] }); place >= 0 {
			mrr += 1 / float64(place+1)
			if place < 5 {
				at5++
			}
			if place < 10 {
				at10++
			}
		}
	}
	share := func(k int) float64 { return 100 * float64(k) / float64(n) }
	t.Logf("%d functions, %d questions: R@5 %.1f, R@10 %.1f, MRR %.1f", len(all), n, share(at5), share(at10), 100*mrr/float64(n))
	if share(at10) < 50 {
		t.Errorf("R@10 is %.1f, at least 50 was measured before", share(at10))
	}
}

// TestStandardLibraryAbstains asks an index that lacks half the packages about functions of both halves.
func TestStandardLibraryAbstains(t *testing.T) {
	t.Parallel()
	all := standardLibrary(t)
	src, _ := indexed(all, func(f function) bool { return half(f.dir) })
	type asked struct {
		cover  float64
		absent bool
	}
	var qs []asked
	for _, f := range all {
		if f.query == "" || len(f.query)%3 != 0 {
			continue
		}
		p := recall.Default()
		p.AbsentBelow = 0
		r, err := recall.Search(t.Context(), src, recall.Query{Project: 1, Text: f.query, Limit: 10}, p)
		if err != nil {
			t.Fatal(err)
		}
		qs = append(qs, asked{r.Coverage, !half(f.dir)})
	}
	absent := 0
	for _, q := range qs {
		if q.absent {
			absent++
		}
	}
	f1 := func(below float64) (f, lost float64) {
		var tp, fp int
		for _, q := range qs {
			if q.cover < below {
				if q.absent {
					tp++
				} else {
					fp++
				}
			}
		}
		return 2 * float64(tp) / float64(tp+fp+absent), float64(fp) / float64(len(qs)-absent)
	}
	var report []string
	for b := .1; b < .95; b += .05 {
		f, lost := f1(b)
		report = append(report, fmt.Sprintf("%.2f: F1 %.3f, answerable lost %.1f %%", b, f, 100*lost))
	}
	slices.SortStableFunc(report, func(a, b string) int { return cmp.Compare(a, b) })
	t.Logf("%d questions, %d absent\n%s", len(qs), absent, strings.Join(report, "\n"))
}
