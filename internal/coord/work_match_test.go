package coord_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// demands and claimer are the model of coord.demands_match: exact where demanded, all tags, and what a claimer asks
// for itself.
type demands struct {
	Hostname        string   `json:"hostname,omitempty"`
	ProjectDir      string   `json:"project_dir,omitempty"`
	ExecutorProfile string   `json:"executor_profile,omitempty"`
	TaskType        string   `json:"task_type,omitempty"`
	AgentType       string   `json:"agent_type,omitempty"`
	MinTrust        int      `json:"min_trust,omitempty"`
	Tags            []string `json:"tags,omitempty"`
}

type claimer struct {
	Hostname        string   `json:"hostname,omitempty"`
	ProjectDir      string   `json:"project_dir,omitempty"`
	ExecutorProfile string   `json:"executor_profile,omitempty"`
	AgentType       string   `json:"agent_type,omitempty"`
	Trust           int      `json:"trust"`
	Tags            []string `json:"tags"`
	Types           []string `json:"types"`
	RequireMatching bool     `json:"require_matching_tags,omitempty"`
}

func (d demands) fit(c claimer) bool {
	same := func(demanded, offered string) bool { return demanded == "" || demanded == offered }
	has := func(tag string) bool { return slices.Contains(c.Tags, tag) }
	return same(d.Hostname, c.Hostname) && same(d.ProjectDir, c.ProjectDir) && same(d.ExecutorProfile, c.ExecutorProfile) &&
		same(d.AgentType, c.AgentType) && d.MinTrust <= c.Trust &&
		(c.Types == nil || slices.Contains(c.Types, d.TaskType)) &&
		!slices.ContainsFunc(d.Tags, func(tag string) bool { return !has(tag) }) &&
		(!c.RequireMatching || slices.ContainsFunc(d.Tags, has))
}

func word(t *rapid.T, name string) string {
	return rapid.SampledFrom([]string{"", "", "a", "b", `q"uo\te`, "ü 日"}).Draw(t, name)
}

func words(t *rapid.T, name string, most int) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", `q"uo\te`, "ü"}), 0, most).Draw(t, name)
}

func TestWorkDemandsMatchTheModel(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, pgtest.MaxConns(1))
	rapid.Check(t, func(t *rapid.T) {
		d := demands{
			word(t, "host"), word(t, "dir"), word(t, "profile"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "type"), word(t, "agent"),
			rapid.IntRange(0, 3).Draw(t, "min"), words(t, "tags", 3),
		}
		c := claimer{
			word(t, "c.host"), word(t, "c.dir"), word(t, "c.profile"), word(t, "c.agent"), rapid.IntRange(0, 4).Draw(t, "trust"),
			words(t, "c.tags", 5), nil, rapid.Bool().Draw(t, "require"),
		}
		if rapid.Bool().Draw(t, "typed") {
			c.Types = words(t, "types", 3)
		}
		dj, _ := json.Marshal(d)
		cj, _ := json.Marshal(c)
		var got bool
		if err := pool.QueryRow(context.Background(), `select coord.demands_match(coord.canonical_demands($1), $2)`, dj, cj).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if want := d.fit(c); got != want {
			t.Fatalf("%s for %s: %v, want %v", dj, cj, got, want)
		}
	})
}

// The same demands in any order and spelling are one class; others are others.
func TestWorkDemandsAreCanonical(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, pgtest.MaxConns(1))
	rapid.Check(t, func(t *rapid.T) {
		tags := words(t, "tags", 4)
		shuffled := rapid.Permutation(append(slices.Clone(tags), tags...)).Draw(t, "shuffled")
		host := word(t, "host")
		a, _ := json.Marshal(map[string]any{"hostname": host, "tags": tags})
		b, _ := json.Marshal(map[string]any{"tags": shuffled, "hostname": host, "project_dir": nil, "agent_type": ""})
		other, _ := json.Marshal(map[string]any{"hostname": host + "x", "tags": tags})
		var same, different bool
		if err := pool.QueryRow(context.Background(), `select coord.canonical_demands($1) = coord.canonical_demands($2), coord.canonical_demands($1) <> coord.canonical_demands($3)`,
			a, b, other).Scan(&same, &different); err != nil || !same || !different {
			t.Fatalf("%s and %s: same %v, %s different %v, %v", a, b, same, other, different, err)
		}
	})
}

// Classes made at the same time are numbered without a gap that a reader could fall into: whoever has seen class n has
// seen all before it.
func TestWorkClassesAreNumberedInCommitOrder(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, pgtest.MaxConns(8))
	ctx := context.Background()
	done := make(chan error)
	const makers, each = 6, 20
	for m := range makers {
		go func() {
			for i := range each {
				tx, err := pool.Begin(ctx)
				if err == nil {
					_, err = tx.Exec(ctx, `select coord.class_of(1, 1::smallint, jsonb_build_object('task_type', $1::text))`, fmt.Sprint((m*i)%50))
				}
				if err == nil {
					err = tx.Commit(ctx)
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for left := makers; left > 0; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			left--
		default:
		}
		var epoch, classes int
		if err := pool.QueryRow(ctx, `select coord.class_epoch(1, 1::smallint), (select count(*) from coord.demand_class)`).Scan(&epoch, &classes); err != nil || epoch != classes {
			t.Fatalf("epoch %d, %d classes, %v", epoch, classes, err)
		}
	}
}
