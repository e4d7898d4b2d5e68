//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
)

// TestGitHubExamplesParse reads every example payload that the community keeps for GitHub's webhooks: none of the events
// that we subscribe to may be malformed to us, and none of the others may be anything but ignored.
func TestGitHubExamplesParse(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(filepath.Join(hosts(t), "node_modules", "@octokit", "webhooks-examples", "*", "index.json"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no examples in %s (%v)", hosts(t), err)
	}
	total, kinds := 0, map[githubevent.Kind]int{}
	for _, file := range folders {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var events []struct {
			Name     string            `json:"name"`
			Examples []json.RawMessage `json:"examples"`
		}
		if err := json.Unmarshal(raw, &events); err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			for i, example := range e.Examples {
				total++
				payload, err := githubevent.Payload("application/json", example)
				if err != nil {
					t.Errorf("%s: %s #%d: %v", file, e.Name, i, err)
					continue
				}
				event, err := githubevent.Parse(e.Name, payload)
				if err != nil {
					t.Errorf("%s: %s #%d: %v", file, e.Name, i, err)
				}
				kinds[event.Kind]++
			}
		}
	}
	t.Logf("%d examples: %v", total, kinds)
	for _, kind := range []githubevent.Kind{
		githubevent.KindHead, githubevent.KindGone, githubevent.KindLabels, githubevent.KindReview, githubevent.KindRerequest,
		githubevent.KindWorkflowRun, githubevent.KindWorkflowJob, githubevent.KindPing, githubevent.KindInstallation, githubevent.KindIgnored,
	} {
		if kinds[kind] == 0 {
			t.Errorf("no example is of kind %s", kind)
		}
	}
}
