package recall_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"
)

// words counts blanks-separated words: any additive measure will do for the rules of Fit.
func words(s string) int { return len(strings.Fields(s)) }

// A working memory never exceeds its budget, never loses or touches a pinned item, and shortens nothing that fits.
func TestFitKeepsTheBudgetAndThePinned(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.IntRange(20, 400).Draw(t, "budget")
		var items []recall.Item
		total := 0
		for i := range rapid.IntRange(1, 25).Draw(t, "items") {
			n := rapid.IntRange(1, 120).Draw(t, "words")
			text := strings.TrimSpace(strings.Repeat(fmt.Sprintf("word%d is here. ", i), n/3+1))
			it := recall.Item{ID: int64(i + 1), Text: text, Shown: text, Tokens: words(text), ShownTokens: words(text), Pinned: rapid.IntRange(0, 5).Draw(t, "pin") == 0}
			if !it.Pinned && i > 0 && rapid.IntRange(0, 3).Draw(t, "short") == 0 {
				it.Shown, it.By = "gone", recall.Extractive
				it.ShownTokens = 1
			}
			items = append(items, it)
			total += it.ShownTokens
		}
		pinned := 0
		for _, it := range items {
			if it.Pinned {
				pinned += it.ShownTokens
			}
		}
		changed, ok := recall.Fit(items, budget, words, nil)
		if ok != (pinned <= budget) {
			t.Fatalf("ok %v with %d pinned of %d", ok, pinned, budget)
		}
		if !ok || total <= budget {
			if len(changed) > 0 {
				t.Fatalf("%d changed without need or right", len(changed))
			}
			return
		}
		for _, c := range changed {
			old := items[c.ID-1]
			if old.Pinned {
				t.Fatalf("pinned item %d was changed", c.ID)
			}
			if c.Text != old.Text || c.ShownTokens != words(c.Shown) || c.ShownTokens > old.ShownTokens || c.By == "" {
				t.Fatalf("item %d: %+v", c.ID, c)
			}
			total += c.ShownTokens - old.ShownTokens
		}
		if total > budget {
			t.Fatalf("%d of %d", total, budget)
		}
	})
}

func TestFitPrefersOldAndAsksTheModel(t *testing.T) {
	t.Parallel()
	var items []recall.Item
	for i := range 10 {
		text := strings.Repeat("one two three four five. ", 8)
		items = append(items, recall.Item{ID: int64(i + 1), Text: text, Shown: text, Tokens: 40, ShownTokens: 40})
	}
	changed, ok := recall.Fit(items, 300, words, func(id int64, _ string, limit int) (string, string) {
		if id == 2 {
			return "", "" // the model failed on this one
		}
		return fmt.Sprintf("short %d", limit), "model"
	})
	if !ok || len(changed) != 3 || changed[0].ID != 1 || changed[0].By != "model" || changed[1].By != recall.Extractive {
		t.Fatalf("%+v", changed)
	}
}

func TestExtractKeepsWhatSaysMost(t *testing.T) {
	t.Parallel()
	text := "We talked for a while about the weather. It was nice. Then the build failed with E1042 in internal/config/parse.go because the port was missing. " +
		"Somebody made coffee. The fix is to call validatePort before parseConfig. Afterwards we went home and had dinner with friends from another town."
	got := recall.Extract(text, 28, words)
	if words(got) > 28 || !strings.Contains(got, "E1042") || !strings.Contains(got, "validatePort") || strings.Contains(got, "coffee") {
		t.Errorf("%q", got)
	}
	if again := recall.Extract(text, 28, words); again != got {
		t.Error("not deterministic")
	}
	if got := recall.Extract("short", 5, words); got != "short" {
		t.Errorf("%q", got)
	}
	if got := recall.Extract(strings.Repeat("word ", 500), 10, words); words(got) > 10 || got == "" {
		t.Errorf("%q", got)
	}
}
