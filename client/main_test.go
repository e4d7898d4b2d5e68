package client_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.MainWith(m, serveExamples) }

// serveExamples starts the server that the examples call, and names it in the environment as theirs would.
func serveExamples(pool *pgxpool.Pool) (stop func(), err error) {
	const key = "example-key-0123456789"
	door, err := doorTo(pool, key)
	if err != nil {
		return nil, err
	}
	srv := httptest.NewServer(door)
	for name, value := range map[string]string{"COORDINATION_API_URL": srv.URL, "COORDINATION_API_KEY": key} {
		if err := os.Setenv(name, value); err != nil {
			return srv.Close, err
		}
	}
	return func() { door.Stop(); srv.Close() }, nil
}

// doorTo is the service over a database, with one key.
func doorTo(pool *pgxpool.Pool, key string) (*httpapi.Server, error) {
	store, hub := coord.New(pool), dispatch.New(nil)
	store.WakeTo(hub)
	static, err := httpapi.NewKeys([]string{key}, "")
	if err != nil {
		return nil, err
	}
	cat := ops.Catalogue(ops.Deps{Store: store, Hub: hub})
	return httpapi.New(cat, &op.Pipeline{Resolver: store, Once: store}, httpapi.Options{Auth: store, Static: static, Ping: store.Ping}), nil
}

// TestDocumentsShowTheExamples: what the documents show of Go is the text of an example, which runs.
func TestDocumentsShowTheExamples(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	examples := unindented(string(code))
	shown := 0
	for _, name := range []string{"README.md", "docs/SDK.md"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			shown++
			for part := range strings.SplitSeq(block[1], "// …\n") { // what is left out
				if !strings.Contains(examples, unindented(part)) {
					t.Errorf("%s shows what no example runs:\n%s", name, part)
				}
			}
		}
	}
	if shown == 0 {
		t.Error("no document shows an example")
	}
}

// unindented is a text without the spaces before and after its lines.
func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}
