package main

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"

	"github.com/agent-coordinator/agent-coordinator/bench/codingmem/world"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-3 {
		t.Errorf("%s is %.4f, by hand %.4f", what, got, want)
	}
}

func TestGeneratorIsTheFrozenOne(t *testing.T) {
	t.Parallel()
	now, err := digest()
	if err != nil || now != frozen {
		t.Fatalf("the generator is %s, frozen was %s (%v): another generator has other test worlds and other figures", now, frozen, err)
	}
	seen := slices.Clone(devSeeds)
	for _, s := range testSeeds(5) {
		if slices.Contains(seen, s) {
			t.Errorf("seed %d twice", s)
		}
		seen = append(seen, s)
	}
}

func TestMetricsByHand(t *testing.T) {
	t.Parallel()
	facts := []world.Fact{{Best: []int64{1, 2}, Also: []int64{9}}, {Best: []int64{5}}}
	ids := []int64{7, 2, 1, 9, 8, 5}
	near(t, "recall@5", recallAt(facts, ids, 5), .5)
	near(t, "recall@10", recallAt(facts, ids, 10), 1)
	near(t, "reciprocal", reciprocal(facts, ids), .5)
	near(t, "reciprocal of nothing", reciprocal(facts, []int64{7}), 0)
	// Gains 0 3 1 1 0 3 over log2 of 2 … 7; at best 3 3 1 1.
	dcg := 3/math.Log2(3) + 1/math.Log2(4) + 1/math.Log2(5) + 3/math.Log2(7)
	near(t, "nDCG", ndcg(facts, ids, 10), dcg/(3+3/math.Log2(3)+1/math.Log2(4)+1/math.Log2(5)))
	near(t, "nDCG at best", ndcg(facts, []int64{1, 5, 2, 9}, 10), 1)
	if !latestFirst([]int64{3}, []int64{1, 2}, []int64{8, 3, 1}) || latestFirst([]int64{3}, []int64{1, 2}, []int64{2, 3}) || latestFirst([]int64{3}, nil, nil) {
		t.Error("latestFirst")
	}
	// 2 of 4 absences called absent, 1 of 8 answerable ones too; at 1:2 the weights are 1.
	near(t, "F1", absentF1(2, 4, 1, 8, 2), 2*2./(2*2+2+1))
	near(t, "F1 when absences are rarer than counted", absentF1(2, 4, 1, 8, 4), 2*1./(2*1+1+1))
	gold, used := density(facts, ids, 30, func(id int64) int { return int(10 + id) }) // 17, then 12 fits, 11 does not any more
	if gold != 1 || used != 29 {
		t.Errorf("density: %d facts in %d tokens", gold, used)
	}
	i := confidence([]float64{1, 2, 3, 4, 5})
	near(t, "mean", i.mean, 3)
	near(t, "half width", i.half, 2.776*math.Sqrt(2.5/5))
	near(t, "percentile", percentile([]float64{5, 1, 4, 2, 3}, .5), 3)
}

func TestBM25ByHand(t *testing.T) {
	t.Parallel()
	c := &corpus{docs: []doc{
		{terms: map[string]int{"lock": 2, "pool": 1}, len: 3}, {terms: map[string]int{"pool": 1}, len: 1}, {terms: map[string]int{"cart": 1}, len: 2},
	}}
	s, err := bm25{k1: 1.2, b: .75}.over(c)
	if err != nil {
		t.Fatal(err)
	}
	b := s.(*bm25) //nolint:errcheck // it is what over makes
	ids, part := b.rank(&question{terms: []string{"lock", "none"}})
	if !slices.Equal(ids, []int64{1}) {
		t.Fatalf("found %v", ids)
	}
	lock, none := math.Log(1+2.5/1.5), math.Log(1+3.5/.5)
	near(t, "share", part, lock*2*2.2/(2+1.2*(.25+.75*3/2))/(lock+none))
}

// TestSystemsSeeTheSame asks small worlds and checks what must hold whatever the ranking is.
func TestSystemsSeeTheSame(t *testing.T) {
	t.Parallel()
	corpora := corporaOf(world.Build(5, world.Size{Projects: 2, Sessions: 12, Events: 12, PerClass: 5}))
	o := &options{params: recall.Default()}
	got, err := evaluate(context.Background(), corpora, systems(o))
	if err != nil {
		t.Fatal(err)
	}
	again, err := evaluate(context.Background(), corpora, systems(o))
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range got {
		y := again[name]
		for k := range x.sum {
			if math.Abs(x.sum[k]-y.sum[k]) > 1e-9 || x.n[k] != y.n[k] {
				t.Errorf("%s: %s differs between two runs", name, k)
			}
		}
		if top := got["(ceiling of words)"].mean("R@10/every/words"); name == "random" && x.mean("R@10/every/words") >= top {
			t.Error("random reaches the ceiling")
		}
		if r5, r10 := x.mean("R@5/every/all"), x.mean("R@10/every/all"); r5 > r10 {
			t.Errorf("%s: R@5 %.3f above R@10 %.3f", name, r5, r10)
		}
	}
	if got[theirs].mean("R@10/every/zero") != 0 {
		t.Error("words found an answer that shares none")
	}
}

func TestConversationFiles(t *testing.T) {
	t.Parallel()
	d, err := readLoCoMo([]byte(`[{"qa":[{"question":"where is Ana?","evidence":["D1:2; D2:1"]}],"conversation":{"session_1_date_time":"x",
		"session_2":[{"speaker":"Ben","dia_id":"D2:1","text":"she flew"}],
		"session_1":[{"speaker":"Ana","dia_id":"D1:1","text":"hi"},{"speaker":"Ben","dia_id":"D1:2","text":"Ana is in Rome"}]}}]`))
	if err != nil || len(d) != 1 || len(d[0].turns) != 3 || d[0].turns[1].session != 1 || !slices.Equal(d[0].asked[0].evidence, []string{"D1:2", "D2:1"}) {
		t.Fatalf("LoCoMo: %+v, %v", d, err)
	}
	l, err := readLongMemEval([]byte(`[{"question_id":"a","question":"q","haystack_sessions":[[{"role":"user","content":"one"}],
		[{"role":"user","content":"two","has_answer":true}]]},{"question_id":"b_abs","question":"q"}]`))
	if err != nil || len(l) != 1 || !slices.Equal(l[0].asked[0].evidence, []string{"1:0"}) {
		t.Fatalf("LongMemEval: %+v, %v", l, err)
	}
	var out bytes.Buffer
	if err := run(context.Background(), []string{"-set", "locomo", "-file", "no such file"}, &out, &out); err != nil || !strings.Contains(out.String(), "SKIPPED") {
		t.Errorf("absent file: %q, %v", out.String(), err)
	}
}

func TestParamsAreForDevSeeds(t *testing.T) {
	t.Parallel()
	if _, err := parse([]string{"-params", "Stale=.5"}, &bytes.Buffer{}); err == nil {
		t.Error("parameters were changed on test seeds")
	}
	o, err := parse([]string{"-seeds", "dev", "-params", "Stale=.5,Radius=3"}, &bytes.Buffer{})
	if err != nil || o.params.Stale != .5 || o.params.Radius != 3 {
		t.Errorf("parameters: %+v, %v", o, err)
	}
}

func TestManPagesAreRead(t *testing.T) {
	t.Parallel()
	p, ok := manPage(".\\\" licence\n.TH open 2 2023\n.SH NAME\nopen, creat \\- open and possibly \\fIcreat\\fP a file\n.SH SYNOPSIS\n.B #include <fcntl.h>\n.PP\n" +
		".BI \"int open(const char *\" pathname );\n.SH DESCRIPTION\nThe \\fBO_CREAT\\fP flag.\n")
	if !ok || p.name != "open creat" || p.question != "it and possibly it a file" || !strings.Contains(p.text, "int open(const char * pathname );") ||
		!strings.Contains(p.text, "The O_CREAT flag.") || strings.Contains(p.text, "possibly") {
		t.Errorf("%v %+v", ok, p)
	}
	if _, ok := manPage(".so man2/open.2\n"); ok {
		t.Error("a reference is no page")
	}
}
