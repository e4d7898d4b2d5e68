package coord_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// mind is a store with the memories of one project.
type mind struct {
	t     testing.TB
	pool  *pgxpool.Pool
	store *coord.Store
}

func newMind(t testing.TB, opts ...pgtest.Option) *mind {
	t.Helper()
	pool := pgtest.New(t, opts...)
	return &mind{t: t, pool: pool, store: coord.New(pool)}
}

// as returns a caller of an agent in its implicit session.
func (m *mind) as(project, agent string) ident.Caller {
	m.t.Helper()
	c, err := m.store.Resolve(context.Background(), ident.Principal{Name: "key:test", Scopes: []ident.Scope{ident.Write}},
		ident.Claim{Project: project, Agent: agent, AgentType: "test"}, agent != "")
	if err != nil {
		m.t.Fatal(err)
	}
	c.Door = "http"
	return c
}

func (m *mind) remember(c ident.Caller, in client.Remember) client.Remembered {
	m.t.Helper()
	out, err := m.store.Remember(context.Background(), c, in)
	if err != nil {
		m.t.Fatalf("remember %q: %v", in.Summary, err)
	}
	return out
}

func (m *mind) recall(c ident.Caller, in client.Recall) client.Recalled {
	m.t.Helper()
	out, err := m.store.Recall(context.Background(), c, in)
	if err != nil {
		m.t.Fatalf("recall %q: %v", in.TaskDescription, err)
	}
	return out
}

func summaries(r client.Recalled) []string {
	var out []string
	for _, m := range r.Memories {
		out = append(out, m.Summary)
	}
	return out
}

func TestRememberAndRecall(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	ana := m.as("web", "ana")
	first := m.remember(ana, client.Remember{
		EventType: "error", Summary: "parseConfig fails with E1042 when the port is missing", Outcome: "success",
		Lessons: []string{"validate the port before calling parseConfig"}, Tags: []string{"config"}, Path: "internal/config/parse.go",
		Details: map[string]any{"stack": "config.Load -> parseConfig"},
	})
	if first.Action != "stored" || first.MemoryID == "" {
		t.Fatalf("stored: %+v", first)
	}
	m.remember(ana, client.Remember{Summary: "the login page needs the feature flag beta_login", Tags: []string{"auth"}})
	for _, q := range []client.Recall{
		{TaskDescription: "what was E1042 about?"},
		{TaskDescription: "parsing the configuration"},
		{Tags: []string{"config"}},
		{Paths: []string{"internal/config/parse.go"}},
		{TaskDescription: "parseConfig"},
	} {
		got := m.recall(m.as("web", "ben"), q)
		if got.Count == 0 || got.Memories[0].MemoryID != first.MemoryID || got.Memories[0].Content["event_type"] != "error" {
			t.Errorf("recall %+v: %+v", q, got)
		}
	}
	if got := m.recall(ana, client.Recall{TaskDescription: "kubernetes ingress certificates"}); !got.NothingRelevant || got.Count != 0 || got.Reason == "" {
		t.Errorf("nothing relevant was to be found: %+v", got)
	}
	if got := m.recall(ana, client.Recall{}); got.Count != 2 || got.Memories[0].Relevance < got.Memories[1].Relevance {
		t.Errorf("the newest: %+v", got)
	}
}

func TestConcurrentRepetitionsAreOneMemory(t *testing.T) {
	t.Parallel()
	m := newMind(t)
	ana := m.as("web", "ana")
	var wg sync.WaitGroup
	actions := make([]string, 16)
	for i := range actions {
		wg.Go(func() {
			out, err := m.store.Remember(context.Background(), ana, client.Remember{
				EventType: "discovery", Summary: "the cache is per process", Lessons: []string{fmt.Sprintf("lesson number%c", 'a'+i)},
				Details: map[string]any{fmt.Sprintf("from%d", i): i}, Tags: []string{fmt.Sprintf("tag%d", i)},
			})
			if err != nil {
				t.Error(err)
			}
			actions[i] = out.Action
		})
	}
	wg.Wait()
	stored := 0
	for _, a := range actions {
		if a == "stored" {
			stored++
		}
	}
	got := m.recall(ana, client.Recall{TaskDescription: "cache per process"})
	if stored != 1 || got.Count != 1 {
		t.Fatalf("%d stored, %d found", stored, got.Count)
	}
	mem := got.Memories[0]
	if len(mem.Lessons) != 16 || len(mem.Details) != 16 || len(mem.Tags) != 16 {
		t.Errorf("%d lessons, %d details, %d tags were kept", len(mem.Lessons), len(mem.Details), len(mem.Tags))
	}
	for i := range actions { // every merged lesson is found by its own word
		q := client.Recall{TaskDescription: fmt.Sprintf("number%c", 'a'+i)}
		if got := m.recall(ana, q); got.Count != 1 {
			t.Errorf("lesson %d is not indexed: %+v", i, got)
		}
	}
	if !slices.ContainsFunc(mem.Lessons, func(l string) bool { return strings.HasSuffix(l, "a") }) {
		t.Errorf("lessons: %v", mem.Lessons)
	}
}
