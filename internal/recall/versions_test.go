package recall_test

import (
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"
)

// history is a setting with three versions and an event between the last two, among other things.
func history(flags ...uint16) *recall.Memory {
	m := recall.NewMemory(1)
	for i, d := range []recall.Document{
		{Title: "set the upload timeout of the media gateway to 10s", Type: "config"},
		{Title: "the media gateway keeps thumbnails for a week", Type: "discovery"},
		{Title: "upload timeout of the media gateway: 10s -> 30s", Type: "config"},
		{Title: "the storage cutover is done", Type: "milestone"},
		{Title: "changed the upload timeout of the media gateway to 60s", Type: "config"},
		{Title: "the media gateway is owned by Ines", Type: "ownership"},
		{Title: "the media gateway crashed on an empty upload", Type: "error"},
	} {
		at := recall.Doc{ID: int64(i + 1), Kind: recall.Episodic, CreatedAt: int64(i) * day}
		if i < len(flags) {
			at.Flags = flags[i]
		}
		m.Add(at, d)
	}
	return m
}

func TestSearchAnswersForTheTimeThatIsAskedAbout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int64
	}{
		{"what is the upload timeout of the media gateway", 5},
		{"what was the upload timeout of the media gateway before the storage cutover", 3},
		{"upload timeout of the media gateway when the storage cutover began?", 3},
		{"the original upload timeout of the media gateway", 1},
	} {
		if r := search(t, history(), recall.Query{Text: c.text, Now: 20 * day}); len(r.Hits) == 0 || r.Hits[0].ID != c.want {
			t.Errorf("%q: %d is not first: %+v", c.text, c.want, r.Hits)
		}
	}
	r := search(t, history(), recall.Query{Text: "what did the upload timeout of the media gateway used to be", Now: 20 * day})
	if len(r.Hits) < 2 || r.Hits[0].ID == 5 {
		t.Errorf("the former value: %+v", r.Hits)
	}
}

func TestSearchShowsOtherThingsBeforeOldVersions(t *testing.T) {
	t.Parallel()
	place := map[int64]int{}
	for i, h := range search(t, history(), recall.Query{Text: "media gateway", Now: 20 * day}).Hits {
		place[h.ID] = i
	}
	for _, old := range []int64{1, 3} {
		for _, other := range []int64{2, 5, 6, 7} {
			if place[other] > place[old] {
				t.Errorf("%d is behind %d, a version that was replaced: %v", other, old, place)
			}
		}
	}
}

func TestWhatIsStaleReplacesNothing(t *testing.T) {
	t.Parallel()
	m := history(0, 0, 0, 0, recall.Stale)
	r := search(t, m, recall.Query{Text: "what is the upload timeout of the media gateway", Now: 20 * day})
	for _, h := range r.Hits {
		if h.ID == 3 && h.Parts.Factor < .9 {
			t.Errorf("it was pushed down by a memory that no longer holds: %+v", h.Parts)
		}
	}
}

func TestFormOfAQuestionPrefersWhatAnswersIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"who is responsible for the media gateway": 6, "why is there trouble with the media gateway": 7} {
		if r := search(t, history(), recall.Query{Text: text, Now: 20 * day}); len(r.Hits) == 0 || r.Hits[0].ID != want {
			t.Errorf("%q: %d is not first: %+v", text, want, r.Hits)
		}
	}
}

// The newest version calls the thing by another name than the question; it says which value it replaced.
func TestValuesTieVersionsOfDifferentNames(t *testing.T) {
	t.Parallel()
	m := recall.NewMemory(1)
	for i, d := range []recall.Document{
		{Title: "set the timeout of the media gateway to 10s", Type: "config"},
		{Title: "media gateway: deadline 10s -> 25s", Type: "config"},
		{Title: "the media gateway keeps thumbnails for a week", Type: "discovery"},
		{Title: "media gateway: batch size 100 -> 250", Type: "config"},
		{Title: "chore(media-gateway): deadline 40s (was 25s)", Type: "config"},
		{Title: "the media gateway logs to stdout", Type: "discovery"},
	} {
		m.Add(recall.Doc{ID: int64(i + 1), Kind: recall.Episodic, CreatedAt: int64(i) * day}, d)
	}
	if r := search(t, m, recall.Query{Text: "timeout of the media gateway", Now: 20 * day}); len(r.Hits) == 0 || r.Hits[0].ID != 5 {
		t.Errorf("the newest is not first: %+v", r.Hits)
	}
	if r := search(t, m, recall.Query{Text: "the original timeout of the media gateway", Now: 20 * day}); len(r.Hits) == 0 || r.Hits[0].ID != 1 {
		t.Errorf("the first is not first: %+v", r.Hits)
	}
}

func TestAbbreviationsAreTheirWords(t *testing.T) {
	t.Parallel()
	m := recall.NewMemory(1)
	m.Add(recall.Doc{ID: 1, Kind: recall.Episodic}, recall.Document{Title: "conn leak in the auth svc", Type: "error"})
	m.Add(recall.Doc{ID: 2, Kind: recall.Episodic}, recall.Document{Title: "logs are rotated daily", Type: "discovery"})
	for _, text := range []string{"connections of the service", "svc connection"} {
		if r := search(t, m, recall.Query{Text: text, Now: day}); len(r.Hits) == 0 || r.Hits[0].ID != 1 {
			t.Errorf("%q: %+v", text, r.Hits)
		}
	}
}
