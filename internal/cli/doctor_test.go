package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// doctor names a remedy for whatever is not well; --dry-run says what --fix would run, --fix runs it.
func TestDoctorMends(t *testing.T) { //nolint:paralleltest // it sets the environment, which doctor reads
	dir := t.TempDir()
	for name, v := range map[string]string{
		"COORD_DATABASE_URL": pgtest.Empty(t), "COORD_HOME": dir, "HOME": dir, "COORDINATION_API_URL": "http://127.0.0.1:1", "COORDINATION_API_KEY": "k",
	} {
		t.Setenv(name, v)
	}
	doctor := func(want int, flags ...string) map[string]check {
		t.Helper()
		var out, err strings.Builder
		code := Run(t.Context(), Env{In: strings.NewReader(""), Out: &out, Err: &err, Getenv: os.Getenv, Args: append([]string{"doctor", "--json"}, flags...)})
		var reply struct {
			Healthy bool    `json:"healthy"`
			Checks  []check `json:"checks"`
		}
		if code != want || json.Unmarshal([]byte(out.String()), &reply) != nil || reply.Healthy != (want == 0) {
			t.Fatalf("exit code %d: %s %s", code, out.String(), err.String())
		}
		found := map[string]check{}
		for _, c := range reply.Checks {
			if found[c.Name] = c; c.Verdict != good && c.Fix == "" {
				t.Errorf("%s: %s, and no word how to mend it", c.Name, c.Found)
			}
		}
		return found
	}
	for _, flags := range [][]string{nil, {"--dry-run"}, {"--fix", "--dry-run"}} {
		if c := doctor(1, flags...)["database schema"]; c.Verdict != bad || strings.Join(c.Mend, " ") != "migrate" {
			t.Fatalf("%v: %+v", flags, c)
		}
	}
	if c := doctor(1, "--fix")["database schema"]; c.Verdict != good || len(c.Mend) != 0 { // the API is away all the same
		t.Errorf("%+v", c)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("doctor wrote into the home: %v", left)
	}
}
