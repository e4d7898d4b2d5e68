package coord_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/recall"
)

// Beyond the size that is scored whole, the index in the database finds what scoring every memory in process finds.
func TestIndexFindsWhatScoringEverythingFinds(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	ana := m.as("web", "ana")
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(rng, 1.1, 20, 1999)
	exact := recall.NewMemory(ana.ProjectID)
	const n = 1300
	var lines strings.Builder
	var texts []string
	for i := range n {
		var words []string
		for range 15 {
			words = append(words, fmt.Sprintf("w%cord%dk", 'a'+zipf.Uint64()%20, zipf.Uint64()))
		}
		texts = append(texts, strings.Join(words, " "))
		fmt.Fprintf(&lines, "{\"summary\":%q,\"event_type\":\"note\",\"agent_id\":\"ana\"}\n", texts[i])
		exact.Add(recall.Doc{ID: int64(i + 1), Kind: recall.Episodic, Flags: recall.Imported}, recall.Document{Title: texts[i], Agent: "ana", Type: "note"})
	}
	if got, err := m.store.ImportMemory(ctx, ana, client.ImportMemory{JSONL: lines.String()}); err != nil || got.Imported != n {
		t.Fatalf("%+v %v", got, err)
	}
	for m.sweep().Folded > 0 { // several rounds: each counts a bounded number
	}
	p := recall.Default()
	p.AbsentBelow, p.Imported, p.Recency, p.LeastN = 0, 0, 0, 1
	all := p
	all.Small = 1 << 20
	kept, of := 0, 0
	for range 40 {
		words := strings.Fields(texts[rng.IntN(n)])
		q := recall.Query{Project: ana.ProjectID, Text: strings.Join(words[:2+rng.IntN(4)], " "), Limit: 10, Now: time.Now().Unix()}
		got, err := recall.Search(ctx, m.store.MemorySource(ana.ProjectID), q, p)
		if err != nil {
			t.Fatal(err)
		}
		want, err := recall.Search(ctx, exact, q, all)
		if err != nil {
			t.Fatal(err)
		}
		least := want.Hits[len(want.Hits)-1].Relevance * (1 - 1e-6)
		for _, h := range got.Hits {
			if h.Relevance >= least {
				kept++
			}
		}
		of += len(want.Hits)
	}
	if share := float64(kept) / float64(of); share < .98 {
		t.Errorf("%.1f %% of the best are found", 100*share)
	}
}
