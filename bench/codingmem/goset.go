package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"

	"github.com/agent-coordinator/agent-coordinator/bench/codingmem/world"
)

// item is one memory of a natural set, text that nobody wrote for this purpose, and a question that it answers, if any.
type item struct {
	name, text string // title and body; the body's first line, if there is one, goes with the title
	question   string
	file       string // what is in the same file is its context; empty: there is none
	part       string // halves of the set are told apart by it
}

// naturalSet is such a set. The least R@10 is a bar where there is one.
type naturalSet struct {
	title, what string
	read        func(ctx context.Context) ([]item, error)
	least       float64
}

var naturalSets = map[string]naturalSet{
	// The code of a function is the memory, the first paragraph of its documentation with the name masked is the question.
	"go":  {"Go standard library", "functions", functions, 50},
	"man": {"Manual pages", "pages", manualPages, 0},
}

// natural measures on a natural set.
func natural(ctx context.Context, o *options, set naturalSet, out io.Writer) (missed int, err error) {
	all, err := set.read(ctx)
	if err != nil {
		fmt.Fprintf(out, "SKIPPED: %s: %v\n", set.title, err)
		return 0, nil
	}
	o.say("%d %s", len(all), set.what)
	keep := func(item) bool { return true }
	whole, err := o.library(ctx, all, keep, 1)
	if err != nil {
		return 0, err
	}
	o.say("abstention")
	half, err := o.library(ctx, all, func(f item) bool { return inHalf(f.part) }, 3)
	if err != nil {
		return 0, err
	}
	rows := [][]string{}
	for _, name := range []string{"BM25", ours} {
		t, h := whole[name], half[name]
		f := func(m string) string { return fmt.Sprintf("%.1f", 100*t.mean(m)) }
		rows = append(rows, []string{
			name, f("R@5"), f("R@10"), f("MRR"), fmt.Sprintf("%.3f", h.absence(absenceRatio, false)), fmt.Sprintf("%.3f", h.absence(1, false)),
			fmt.Sprintf("%.3f", h.absence(absenceRatio, true)), fmt.Sprintf("%.1f", 100*h.mean("wrong")),
			fmt.Sprintf("%.2f / %.2f", percentile(t.times, .5), percentile(t.times, .95)),
		})
	}
	fmt.Fprintf(out, "%s: %d %s, %.0f questions, parameters version %d\n\n", set.title, len(all), set.what, whole[ours].n["R@10"], o.params.Version)
	table(out, []string{
		"system", "R@5", "R@10", "MRR", "abstention F1 (1 absent : 2)", "F1 (1 : 1)", "F1 (1 : 2), empty replies only", "answerable called absent", "ms p50 / p95",
	}, rows)
	if set.least == 0 {
		return 0, nil
	}
	r10, f1 := 100*whole[ours].mean("R@10"), half[ours].absence(absenceRatio, false)
	return printBars(out, []bar{
		{set.title + ": R@10", fmt.Sprintf("≥ %.0f", set.least), fmt.Sprintf("%.1f", r10), r10 >= set.least},
		{set.title + ": abstention F1", "≥ 0.75", fmt.Sprintf("%.3f", f1), f1 >= .75},
	}), nil
}

// library asks every nth documented function. Those that keep leaves out are not indexed and so absent.
func (o *options) library(ctx context.Context, all []item, keep func(item) bool, nth int) (map[string]*tally, error) {
	c, index := &corpus{number: 1}, recall.NewMemory(1)
	group, seq, file := int64(0), int32(0), ""
	var asked []question
	for i, f := range all {
		in := keep(f)
		var id int64
		if in {
			if f.file != file {
				file, seq, group = f.file, 0, group+1
			}
			if f.file != "" {
				seq++
			}
			id = int64(len(c.docs) + 1)
			head, _, _ := strings.Cut(f.text, "\n")
			text := recall.Document{Title: f.name + " " + head, Body: f.text}
			index.Add(recall.Doc{ID: id, Group: group, Seq: seq, Kind: recall.Episodic, Flags: recall.Imported}, text)
			d := doc{terms: map[string]int{}}
			recall.Terms(text.Title+"\n"+text.Body, func(t string) { d.terms[t]++; d.len++ })
			c.docs = append(c.docs, d)
		}
		if f.question != "" && i%nth == 0 {
			q := question{Question: &world.Question{Text: f.question}, terms: distinct(f.question)}
			if in {
				q.Facts = []world.Fact{{Best: []int64{id}}}
			}
			asked = append(asked, q)
		}
	}
	base, err := plainBM25.over(c)
	if err != nil {
		return nil, err
	}
	out := map[string]*tally{}
	for name, s := range map[string]system{"BM25": base, ours: &engine{c: c, index: index, params: o.params}} {
		t := newTally()
		out[name] = t
		if err := t.natural(ctx, s, asked); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// natural asks questions with one right answer, or none.
func (t *tally) natural(ctx context.Context, s system, asked []question) error {
	for i := range asked {
		q := &asked[i]
		r, took, err := timed(ctx, s, q)
		if err != nil {
			return err
		}
		t.times = append(t.times, took)
		if len(q.Facts) == 0 {
			t.yes("absent", r.absent)
			t.yes("absent nothing", r.nothing)
			continue
		}
		t.yes("wrong", r.absent)
		t.yes("wrong nothing", r.nothing)
		t.add("R@5", recallAt(q.Facts, r.ids, 5))
		t.add("R@10", recallAt(q.Facts, r.ids, 10))
		t.add("MRR", reciprocal(q.Facts, r.ids))
	}
	return nil
}

func inHalf(s string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // never fails
	return h.Sum32()%2 == 0
}

// functions reads every function with a body; those whose documentation says enough get a question.
func functions(ctx context.Context) ([]item, error) {
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("the go command does not tell its root: %w", err)
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	var out []item
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "vendor" || d.Name() == "cmd"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			list, err := functionsOf(root, path)
			out = append(out, list...)
			return err
		}
		return nil
	})
	if err == nil && len(out) == 0 {
		err = errors.New("its sources are not on this machine")
	}
	return out, err
}

func functionsOf(root, path string) ([]item, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	var out []item
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		one := item{name: fn.Name.Name, file: rel, part: filepath.Dir(rel)}
		one.text = string(src[fset.Position(fn.Pos()).Offset:fset.Position(fn.End()).Offset])
		if fn.Doc != nil && ast.IsExported(one.name) {
			para, _, _ := strings.Cut(strings.TrimSpace(fn.Doc.Text()), "\n\n")
			masked := regexp.MustCompile(`\b`+regexp.QuoteMeta(one.name)+`\b`).ReplaceAllString(para, "it")
			if len(strings.Fields(masked)) >= 8 {
				one.question = masked
			}
		}
		out = append(out, one)
	}
	return out, nil
}
