package operator

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

var metric = regexp.MustCompile(`\b(coord|gateway|process|go)_[a-z0-9_]+`)

// Every metric that the alert rules and the dashboard name is one that a running API or gateway serves.
func TestAlertsAndDashboardNameWhatIsServed(t *testing.T) {
	t.Parallel()
	dsn, dir := pgtest.DSN(t), t.TempDir()
	served := ""
	for _, name := range []string{"api", "gateway"} {
		url := begin(t, base(dsn, "COORD_HOME="+dir, "GATEWAY_DIR="+dir), name).url()
		for _, path := range []string{"/health", "/live", "/ready"} {
			eventually(t, name+path, func() bool { status, _ := ask(t, "GET", url+path, ""); return status == 200 })
		}
		if name == "api" {
			if status, body := ask(t, "POST", url+"/locks/acquire", `{"agent_id":"a","file_path":"x"}`, "X-API-Key: "+key); status != 200 {
				t.Fatal(body)
			}
			if status, _ := ask(t, "GET", url+"/mcp", "", "X-API-Key: nobody's"); status != 401 {
				t.Errorf("/mcp without a key: %d", status)
			}
		}
		_, text := ask(t, "GET", url+"/metrics", "")
		served += text
	}
	if !strings.Contains(served, "\ncoord_locks 1\n") {
		t.Error("the lock that is held is not in the figures")
	}
	known := map[string]bool{}
	for _, m := range metric.FindAllString(served, -1) {
		known[m] = true
	}
	known["coord_reads_data_api_down"] = true // with SUPABASE_URL only
	used := 0
	check := func(where, expr string) {
		t.Helper()
		names := metric.FindAllString(expr, -1)
		used += len(names)
		if len(names) == 0 && !strings.HasPrefix(expr, "up{") || strings.Count(expr, "(") != strings.Count(expr, ")") {
			t.Errorf("%s: %q", where, expr)
		}
		for _, m := range names {
			if !known[m] {
				t.Errorf("%s names %s, which nobody serves", where, m)
			}
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
	}
	raw, err := os.ReadFile(filepath.Join(root, "deploy", "observability", "alerts.yaml"))
	if err != nil || yaml.Unmarshal(raw, &rules) != nil || len(rules.Groups) != 1 {
		t.Fatalf("alerts.yaml: %v", err)
	}
	for _, r := range rules.Groups[0].Rules {
		check(r.Alert, r.Expr)
		if r.Alert == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["action"] == "" {
			t.Errorf("%q says too little", r.Alert)
		}
	}
	var board struct {
		Panels []struct {
			Type, Title string
			Targets     []struct{ Expr string }
		}
	}
	raw, err = os.ReadFile(filepath.Join(root, "deploy", "observability", "dashboard.json"))
	if err != nil || json.Unmarshal(raw, &board) != nil {
		t.Fatalf("dashboard.json: %v", err)
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			check(p.Title, target.Expr)
		}
	}
	if used < 50 {
		t.Errorf("%d metrics are used: the files were not read", used)
	}
}
