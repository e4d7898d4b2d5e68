package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
)

var update = flag.Bool("update", os.Getenv("UPDATE_GOLDEN") != "", "rewrite golden files")

func TestGoldenOpenAPI(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "openapi.json")
	got := httpapi.OpenAPI(ops.Catalogue(ops.Deps{}))
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("openapi.json differs from the catalogue; run: go test ./internal/httpapi -run Golden -update")
	}
	if again := httpapi.OpenAPI(ops.Catalogue(ops.Deps{})); !bytes.Equal(got, again) {
		t.Error("the same catalogue gave other bytes")
	}
}

// TestOpenAPIIsWhole follows every reference and looks at what a reader of each operation needs.
func TestOpenAPIIsWhole(t *testing.T) {
	t.Parallel()
	var doc map[string]any
	if err := json.Unmarshal(httpapi.OpenAPI(ops.Catalogue(ops.Deps{})), &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				var to any = doc
				for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
					m, _ := to.(map[string]any)
					to = m[name]
				}
				if to == nil {
					t.Errorf("%s: %s leads nowhere", at, ref)
				}
			}
			for k, item := range v {
				walk(at+"/"+k, item)
			}
		case []any:
			for _, item := range v {
				walk(at, item)
			}
		}
	}
	walk("", doc)
	ids := map[any]bool{}
	paths, _ := doc["paths"].(map[string]any)
	for path, item := range paths {
		methods, _ := item.(map[string]any)
		for method, o := range methods {
			op, _ := o.(map[string]any)
			if id := op["operationId"]; id == nil || ids[id] || op["summary"] == nil || op["tags"] == nil {
				t.Errorf("%s %s: id %v (seen before: %v), summary %v, tags %v", method, path, id, ids[id], op["summary"], op["tags"])
			}
			ids[op["operationId"]] = true
		}
	}
	if len(ids) < 3 {
		t.Errorf("only %d operations", len(ids))
	}
}
