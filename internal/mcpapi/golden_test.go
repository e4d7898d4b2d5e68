package mcpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/agent-coordinator/agent-coordinator/internal/mcpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
)

// The budget of the core profile: what every agent pays for in every conversation.
const (
	maxTools      = 16
	maxProperties = 10
	medianBytes   = 450
	maxBytes      = 900
	totalBytes    = 7500
	wireBytes     = 15_000 // of the whole tools/list
)

func tools(t *testing.T, full bool) (list []mcp.Tool, defs []*op.Def) {
	t.Helper()
	for _, d := range ops.Catalogue(ops.Deps{}).Defs() {
		if mcpapi.Listed(d, full) {
			list, defs = append(list, mcpapi.Tool(d, full)), append(defs, d)
		}
	}
	slices.SortFunc(list, func(a, b mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	return list, defs
}

func TestGoldenTools(t *testing.T) {
	t.Parallel()
	for name, full := range map[string]bool{"tools.core.json": false, "tools.full.json": true} {
		list, _ := tools(t, full)
		var raw bytes.Buffer
		enc := json.NewEncoder(&raw)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(list); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if os.Getenv("UPDATE_GOLDEN") != "" {
			if err := os.WriteFile(path, raw.Bytes(), 0o644); err != nil { //nolint:gosec // a file of the repository
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, raw.Bytes()) {
			t.Errorf("%s differs from what the code lists; look at the change, then: make golden", path)
		}
	}
}

func TestToolBudget(t *testing.T) {
	t.Parallel()
	_, defs := tools(t, false)
	if len(defs) > maxTools {
		t.Errorf("%d core tools, at most %d", len(defs), maxTools)
	}
	var sizes []int
	var total int
	var report strings.Builder
	for _, d := range defs {
		n := mcpapi.ModelBytes(d, false)
		sizes, total = append(sizes, n), total+n
		shown := len(d.In.Properties) - len(d.RareFields)
		fmt.Fprintf(&report, "%5d bytes %2d arguments %s\n", n, shown, d.Name)
		if n > maxBytes || shown > maxProperties {
			t.Errorf("%s: %d bytes (at most %d), %d arguments (at most %d)", d.Name, n, maxBytes, shown, maxProperties)
		}
	}
	slices.Sort(sizes)
	if median := (sizes[len(sizes)/2] + sizes[(len(sizes)-1)/2]) / 2; median > medianBytes {
		t.Errorf("median %d bytes, at most %d", median, medianBytes)
	}
	if total > totalBytes {
		t.Errorf("%d bytes of name, description and input schema in all, at most %d", total, totalBytes)
	}
	list, _ := tools(t, false)
	wire, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(wire) > wireBytes {
		t.Errorf("tools/list has %d bytes, at most %d", len(wire), wireBytes)
	}
	t.Logf("%d tools, %d bytes for the model, %d on the wire\n%s", len(defs), total, len(wire), report.String())
}

// TestToolsAreWellFormed: what hosts refuse or misread must not be declared.
func TestToolsAreWellFormed(t *testing.T) {
	t.Parallel()
	list, _ := tools(t, true)
	for _, tool := range list {
		a := tool.Annotations
		if a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
		if *a.ReadOnlyHint && *a.DestructiveHint {
			t.Errorf("%s is read-only and destructive", tool.Name)
		}
		if tool.Title == "" || tool.Description == "" || len(tool.Description) > 4000 || len("mcp__plugin_coord_coord__"+tool.Name) > 64 {
			t.Errorf("%s: title %q, description of %d bytes", tool.Name, tool.Title, len(tool.Description))
		}
		for kind, raw := range map[string]json.RawMessage{"input": tool.RawInputSchema, "output": tool.RawOutputSchema} {
			var s map[string]any
			if err := json.Unmarshal(raw, &s); err != nil || s["type"] != "object" {
				t.Errorf("%s: %s schema %s: %v", tool.Name, kind, raw, err)
			}
			if kind == "input" && s["additionalProperties"] != false {
				t.Errorf("%s takes members it does not name", tool.Name)
			}
			for _, noise := range []string{`"$schema"`, `"format":"`, `"$ref"`} {
				if bytes.Contains(raw, []byte(noise)) {
					t.Errorf("%s: %s in the %s schema", tool.Name, noise, kind)
				}
			}
		}
	}
}
