package coord_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/llm"
)

// standIn is what of pgvector is used here, for servers without it: its type, its cast from real[], its distance.
const standIn = `create schema if not exists extensions;
	create domain extensions.vector as real[];
	create function extensions.cosine_distance(real[], real[]) returns float8 language sql immutable as $$
		select 1 - sum(a * b) / (sqrt(sum(a * a)) * sqrt(sum(b * b))) from unnest($1, $2) u (a, b) $$;
	create operator extensions.<=> (leftarg = real[], rightarg = real[], function = extensions.cosine_distance)`

// concepts is a model that knows three things.
var concepts = [][]string{{"timeout", "patience", "waits"}, {"owner", "person"}, {""}}

// embeddings is an endpoint that makes vectors of concepts; it fails while broken is set.
func embeddings(t *testing.T, broken *atomic.Bool) *llm.Client {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if broken.Load() || r.URL.Path != "/v1/embeddings" || json.NewDecoder(r.Body).Decode(&in) != nil {
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		type one struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		out := struct {
			Data []one `json:"data"`
		}{}
		for i, text := range in.Input {
			v := []float32{.01, .01, .01}
			for k, words := range concepts {
				for _, word := range words {
					if strings.Contains(text, word) {
						v[k] += 1 / float32(1+2*k*k)
					}
				}
			}
			out.Data = append(out.Data, one{i, v})
		}
		_ = json.NewEncoder(w).Encode(out) // a broken pipe shows in the test
	}))
	t.Cleanup(srv.Close)
	return llm.New(srv.URL+"/v1", "", "concepts")
}

func TestRecallByMeaning(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	if m.count(`select count(*) from pg_available_extensions where name = 'vector'`) == 0 {
		t.Log("NOT TESTED HERE: pgvector itself, which this server does not have; its type and distance are stood in for")
		m.exec(standIn)
	}
	ana, other := m.as("web", "ana"), m.as("app", "bob")
	old := m.remember(ana, client.Remember{Summary: "timeout of uploads is 30s", EventType: "config"})
	m.remember(ana, client.Remember{Summary: "tabs in the Makefile"})
	m.remember(other, client.Remember{Summary: "timeout of the vault"})
	var broken atomic.Bool
	m.store.EmbedWith(embeddings(t, &broken))
	question := client.Recall{TaskDescription: "patience before giving up"}
	if got := m.recall(ana, question); got.Count != 0 || !got.NothingRelevant {
		t.Errorf("before anything is embedded: %v", summaries(got))
	}
	if got := m.sweep(); got.Embedded != 3 {
		t.Fatalf("swept %+v", got)
	}
	if got := m.sweep(); got.Embedded != 0 {
		t.Errorf("embedded again: %+v", got)
	}
	got := m.recall(ana, question)
	if got.Count == 0 || got.Memories[0].MemoryID != old.MemoryID || !got.LowConfidence || !strings.Contains(got.Memories[0].Why, "meaning") {
		t.Errorf("no common word: %+v", got)
	}
	for _, s := range summaries(got) {
		if strings.Contains(s, "vault") {
			t.Error("a memory of another project")
		}
	}
	if got := m.recall(ana, client.Recall{TaskDescription: "patience", EventType: "decision"}); got.Count != 0 {
		t.Errorf("of another type: %v", summaries(got))
	}
	if got := m.recall(ana, client.Recall{TaskDescription: "uploads timeout"}); got.Count == 0 || got.Memories[0].Relevance < .99 {
		t.Errorf("first by words and by meaning: %+v", got)
	}
	broken.Store(true)
	if got := m.recall(ana, client.Recall{TaskDescription: "uploads"}); got.Count != 1 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "words alone") {
		t.Errorf("the endpoint fails: %+v", got)
	}
	if _, err := m.store.ForgetMemory(context.Background(), ana, client.ForgetMemory{MemoryIDs: []string{old.MemoryID}}); err != nil || m.count(`select count(*) from coord.memory_vectors`) != 2 {
		t.Errorf("forgetting leaves the vector: %v", err)
	}
}

func TestRecallWithoutPgvector(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	if m.count(`select count(*) from pg_available_extensions where name = 'vector'`) > 0 {
		t.Skip("this server has pgvector")
	}
	ana := m.as("web", "ana")
	m.remember(ana, client.Remember{Summary: "timeout of uploads is 30s"})
	m.store.EmbedWith(embeddings(t, new(atomic.Bool)))
	if got := m.sweep(); got.Embedded != 0 {
		t.Errorf("%+v", got)
	}
	if got := m.recall(ana, client.Recall{TaskDescription: "uploads"}); got.Count != 1 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "pgvector") {
		t.Errorf("%+v", got)
	}
}
