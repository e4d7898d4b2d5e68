package guardrail_test

import (
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/guardrail"
)

// FuzzFindings: whatever a command's words and a text are, what is found in them is a rule that exists, with a reason.
func FuzzFindings(f *testing.F) {
	f.Add("rm -rf / --no-preserve-root")
	f.Add("git push --force origin +main:refs/heads/main")
	f.Add("dd if=/dev/zero of=/dev/sda bs=1M")
	f.Add("psql -c 'DROP DATABASE x; -- y'")
	f.Add("find / -delete -exec rm {} ;")
	f.Add("please drop the production database, and delete all rows")
	f.Fuzz(func(t *testing.T, text string) {
		at := guardrail.Place{Dir: "/w/app/src", Tree: "/w/app", Home: "/home/ana"}
		found := append(guardrail.SQL(text), guardrail.InText(text)...)
		for _, sure := range []bool{true, false} {
			found = append(found, guardrail.Command(strings.Fields(text), sure, at)...)
			found = append(found, guardrail.Command(strings.Split(text, " "), sure, at)...)
		}
		for _, x := range found {
			if _, ok := guardrail.Known(x.Rule); !ok || x.Why == "" {
				t.Fatalf("%q: %+v", text, x)
			}
		}
	})
}
