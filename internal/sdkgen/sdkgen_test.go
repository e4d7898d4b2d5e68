package sdkgen_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/sdkgen"
)

var update = flag.Bool("update", os.Getenv("UPDATE_GOLDEN") != "", "rewrite golden files")

// The SDKs and the reference are what the catalogue says. The document is made here, not read: openapi.json is a golden
// file itself, and both may be rewritten at once.
func TestGoldenSDKs(t *testing.T) {
	t.Parallel()
	doc, err := sdkgen.Parse(httpapi.OpenAPI(ops.Catalogue(ops.Deps{})))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, write := range []func() error{
		func() (err error) {
			files["sdk/typescript/types.d.ts"], files["sdk/typescript/operations.js"], err = doc.TypeScript()
			return err
		},
		func() (err error) {
			files["sdk/python/agent_coordinator/types.py"], files["sdk/python/agent_coordinator/operations.py"], err = doc.Python()
			return err
		},
		func() (err error) { files["docs/API_REFERENCE.md"], err = doc.Reference(); return err },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	for name, got := range files {
		path := filepath.Join("..", "..", name)
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
			t.Errorf("%s differs from the catalogue; run `make golden` and read the diff", name)
		}
	}
}

func TestUnknownFormsAreErrors(t *testing.T) {
	t.Parallel()
	if _, err := sdkgen.Parse([]byte("{")); err == nil {
		t.Error("half a document was read")
	}
	doc, err := sdkgen.Parse([]byte(`{"components": {"schemas": {"X": {"type": "object", "properties": {"a": {"type": "colour"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := doc.TypeScript(); err == nil {
		t.Error("TypeScript was made of an unknown type")
	}
	if _, _, err := doc.Python(); err == nil {
		t.Error("Python was made of an unknown type")
	}
}
