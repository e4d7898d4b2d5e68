package recall_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"
)

const day = 86400

func search(t *testing.T, src recall.Source, q recall.Query) recall.Result {
	t.Helper()
	q.Project, q.Limit = 1, max(q.Limit, 10)
	r, err := recall.Search(t.Context(), src, q, recall.Default())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(r.Hits, func(a, b recall.Hit) int { return cmpFloat(b.Relevance, a.Relevance) }) {
		t.Errorf("%q is not sorted by relevance", q.Text)
	}
	for _, h := range r.Hits {
		if h.Relevance < 0 || h.Relevance > 1 {
			t.Errorf("relevance %g", h.Relevance)
		}
	}
	return r
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func notes(texts ...string) *recall.Memory {
	m := recall.NewMemory(1)
	for i, s := range texts {
		m.Add(recall.Doc{ID: int64(i + 1), Group: 1, Seq: int32(100 * (i + 1)), Kind: recall.Episodic, CreatedAt: int64(i) * day}, recall.Document{Title: s, Agent: "ana", Type: "note"})
	}
	return m
}

func TestSearchPutsTheNewestVersionFirst(t *testing.T) {
	t.Parallel()
	m := notes(
		"the API timeout for uploads is 30 seconds in production", "use tabs in the Makefile",
		"the API timeout for uploads is 60 seconds in production", "deploys happen on Tuesday",
	)
	now := int64(10 * day)
	r := search(t, m, recall.Query{Text: "what is the API timeout for uploads?", Now: now})
	if len(r.Hits) < 2 || r.Hits[0].ID != 3 || r.Hits[1].ID != 1 || !r.Hits[0].Parts.Newer || !r.Hits[1].Parts.Older {
		t.Errorf("%+v", r.Hits)
	}
	r = search(t, m, recall.Query{Text: "what was the API timeout for uploads of 30 seconds before?", Now: now})
	if len(r.Hits) < 2 || r.Hits[0].ID != 1 {
		t.Errorf("a question about the past got the present: %+v", r.Hits)
	}
}

func TestSearchAbstains(t *testing.T) {
	t.Parallel()
	m := notes("parseConfig fails with E1042 when the port is missing", "the cache is warmed by a cron job", "tests need a running Postgres")
	const sure, unsure, nothing = "sure", "unsure", "nothing"
	for text, want := range map[string]string{
		"E1042": sure, "why does parseConfig fail": sure, "warm the cache": sure, "tests and Postgres": sure,
		"parseRequest body limits for multipart": unsure, // something is parsed, and nothing else fits
		"E1043":                                  nothing, "kubernetes ingress certificates": nothing, "how do we rotate the signing keys of the mobile app": nothing,
	} {
		r := search(t, m, recall.Query{Text: text})
		got := sure
		switch {
		case r.Nothing && len(r.Hits) == 0 && r.Reason != "":
			got = nothing
		case r.Unsure && len(r.Hits) > 0:
			got = unsure
		}
		if got != want {
			t.Errorf("%q: %s, want %s (%d hits, coverage %.2f, %s)", text, got, want, len(r.Hits), r.Coverage, r.Reason)
		}
	}
}

func TestSearchHeedsAttributes(t *testing.T) {
	t.Parallel()
	m := recall.NewMemory(1)
	add := func(id int64, flags uint16, d recall.Document) {
		m.Add(recall.Doc{ID: id, Kind: recall.Episodic, Flags: flags}, d)
	}
	add(1, 0, recall.Document{Title: "retry uploads with backoff", Tags: []string{"net"}, Agent: "ana", Type: "lesson"})
	add(2, recall.Stale, recall.Document{Title: "retry uploads with backoff twice", Path: "net/up.go", Agent: "ben", Type: "error"})
	add(3, recall.Archived, recall.Document{Title: "retry uploads with backoff thrice", Agent: "ben", Type: "error"})
	first := func(q recall.Query) []int64 {
		q.Text = "retry uploads"
		var out []int64
		for _, h := range search(t, m, q).Hits {
			out = append(out, h.ID)
		}
		return out
	}
	for name, c := range map[string]struct {
		q    recall.Query
		want []int64
	}{
		"plain":    {recall.Query{}, []int64{1, 2}},
		"archived": {recall.Query{Archived: true}, []int64{3, 1, 2}},
		"fresh":    {recall.Query{NoStale: true}, []int64{1}},
		"own":      {recall.Query{Need: []string{recall.AgentTerm("ben")}}, []int64{2}},
		"type":     {recall.Query{Need: []string{recall.TypeTerm("Lesson")}}, []int64{1}},
		"nobody's": {recall.Query{Need: []string{recall.AgentTerm("cyd")}}, nil},
	} {
		got := first(c.q)
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if r := search(t, m, recall.Query{Paths: []string{"net/up.go"}}); len(r.Hits) != 1 || r.Hits[0].ID != 2 {
		t.Errorf("by path: %+v", r.Hits)
	}
}

// What the candidate plan leaves out must not matter: its top ten by words beside those of scoring every memory.
func TestPlanKeepsTheExactBest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.07, 40, 9999)
	m := recall.NewMemory(1)
	text := func(n int) string {
		var w []string
		for range n {
			w = append(w, fmt.Sprintf("w%cx%dk", 'a'+zipf.Uint64()%26, zipf.Uint64()))
		}
		return strings.Join(w, " ")
	}
	var texts []string
	for i := range 6000 {
		texts = append(texts, text(25))
		m.Add(recall.Doc{ID: int64(i + 1), Kind: recall.Episodic}, recall.Document{Title: texts[i]})
	}
	p := recall.Default()
	p.AbsentBelow, p.Candidates = 0, 1500
	all := p
	all.Small = 1 << 20
	kept, n := 0, 0
	for range 40 {
		words := strings.Fields(texts[rng.IntN(len(texts))])
		q := recall.Query{Project: 1, Text: strings.Join(words[:3+rng.IntN(6)], " ") + " " + text(2), Limit: 10}
		got, err := recall.Search(t.Context(), m, q, p)
		if err != nil {
			t.Fatal(err)
		}
		want, err := recall.Search(t.Context(), m, q, all)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range got.Hits {
			if h.Relevance >= want.Hits[len(want.Hits)-1].Relevance-1e-9 {
				kept++
			}
		}
		n += len(want.Hits)
	}
	if share := float64(kept) / float64(n); share < .97 {
		t.Errorf("%.1f %% of the exact best are kept", 100*share)
	}
}

// Words that very many memories have: the newest that have them are found, not nothing.
func TestSearchForCommonWordsAlone(t *testing.T) {
	t.Parallel()
	m := recall.NewMemory(1)
	for i := range 3000 {
		text := fmt.Sprintf("entry number%d", i)
		if i%15 == 0 {
			text += " granite"
		}
		if i%14 == 0 {
			text += " basalt"
		}
		m.Add(recall.Doc{ID: int64(i + 1), Kind: recall.Episodic, CreatedAt: int64(i) * day / 100}, recall.Document{Title: text, Type: "note"})
	}
	p := recall.Default()
	p.Small, p.Candidates, p.Whole = 100, 100, 50
	for text, want := range map[string]int64{"granite": 2986, "basalt granite": 2941} {
		r, err := recall.Search(t.Context(), m, recall.Query{Project: 1, Text: text, Limit: 10, Now: 100 * day}, p)
		if err != nil || len(r.Hits) != 10 || r.Hits[0].ID != want {
			t.Errorf("%q: %d hits, %v: %+v", text, len(r.Hits), err, r.Hits[:min(1, len(r.Hits))])
		}
	}
}
