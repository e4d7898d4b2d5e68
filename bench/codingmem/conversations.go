package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"

	"github.com/agent-coordinator/agent-coordinator/bench/codingmem/world"
)

// dialogue is one conversation, or one question's history: turns in the order of time and what is asked about them.
type dialogue struct {
	turns []turn
	asked []asked
}

type turn struct {
	id, who, text string
	session       int
}

type asked struct {
	text     string
	evidence []string // ids of turns
}

// where says which file a set is in, so that a skipped run tells what to fetch.
var where = map[string]string{
	"locomo":      "locomo10.json of the LoCoMo repository (read its licence before any use but measuring)",
	"longmemeval": "longmemeval_s.json or longmemeval_s_cleaned.json of LongMemEval",
}

// conversations measures the recall of the turns that hold the evidence.
func conversations(ctx context.Context, o *options, out io.Writer) (missed int, err error) {
	raw, err := os.ReadFile(o.file)
	if o.file == "" || errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(out, "SKIPPED: set %s: there is no file %q. Give -file with %s.\n", o.set, o.file, where[o.set])
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	read := readLoCoMo
	if o.set == "longmemeval" {
		read = readLongMemEval
	}
	list, err := read(raw)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", o.file, err)
	}
	totals := map[string]*tally{"BM25": newTally(), ours: newTally()}
	turns := 0
	for _, d := range list {
		turns += len(d.turns)
		if err := o.converse(ctx, d, totals); err != nil {
			return 0, err
		}
	}
	var rows [][]string
	for _, name := range []string{"BM25", ours} {
		t := totals[name]
		rows = append(rows, []string{
			name, fmt.Sprintf("%.1f", 100*t.mean("R@5")), fmt.Sprintf("%.1f", 100*t.mean("R@10")), fmt.Sprintf("%.1f", 100*t.mean("MRR")),
			fmt.Sprintf("%.2f / %.2f", percentile(t.times, .5), percentile(t.times, .95)),
		})
	}
	t := totals[ours]
	fmt.Fprintf(out, "Set %s: %d conversations, %d turns, %.0f questions with evidence, parameters version %d\n\n", o.set, len(list), turns, t.n["R@10"], o.params.Version)
	table(out, []string{"system", "turn R@5", "turn R@10", "MRR", "ms p50 / p95"}, rows)
	if o.set != "locomo" {
		return 0, nil // nobody measured it yet, so there is no bar
	}
	r5, r10 := 100*t.mean("R@5"), 100*t.mean("R@10")
	return printBars(out, []bar{
		{"LoCoMo: turn R@5", "≥ 67", fmt.Sprintf("%.1f", r5), r5 >= 67},
		{"LoCoMo: turn R@10", "≥ 76", fmt.Sprintf("%.1f", r10), r10 >= 76},
	}), nil
}

// converse indexes a dialogue and asks its questions.
func (o *options) converse(ctx context.Context, d dialogue, totals map[string]*tally) error {
	c, index, ids := &corpus{number: 1}, recall.NewMemory(1), map[string]int64{}
	seqs := map[int]int32{}
	for _, t := range d.turns {
		seqs[t.session]++
		id := int64(len(c.docs) + 1)
		ids[t.id] = id
		text := recall.Document{Body: t.who + ": " + t.text}
		index.Add(recall.Doc{ID: id, Group: int64(t.session) + 1, Seq: seqs[t.session], Kind: recall.Episodic}, text)
		one := doc{terms: map[string]int{}}
		recall.Terms(text.Body, func(t string) { one.terms[t]++; one.len++ })
		c.docs = append(c.docs, one)
	}
	var list []question
	for _, a := range d.asked {
		q := question{Question: &world.Question{Text: a.text}, terms: distinct(a.text)}
		for _, e := range a.evidence {
			if id, ok := ids[e]; ok {
				q.Facts = append(q.Facts, world.Fact{Best: []int64{id}})
			}
		}
		if len(q.Facts) > 0 {
			list = append(list, q)
		}
	}
	base, err := plainBM25.over(c)
	if err != nil {
		return err
	}
	if err := totals["BM25"].natural(ctx, base, list); err != nil {
		return err
	}
	return totals[ours].natural(ctx, &engine{c: c, index: index, params: o.params}, list)
}

func timed(ctx context.Context, s system, q *question) (reply, float64, error) {
	start := time.Now()
	r, err := s.answer(ctx, q)
	return r, float64(time.Since(start).Microseconds()) / 1000, err
}

// readLoCoMo reads [{qa: [{question, evidence}], conversation: {session_1: [{speaker, dia_id, text}], …}}].
func readLoCoMo(raw []byte) ([]dialogue, error) {
	var file []struct {
		QA []struct {
			Question string   `json:"question"`
			Evidence []string `json:"evidence"`
		} `json:"qa"`
		Conversation map[string]json.RawMessage `json:"conversation"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	var out []dialogue
	for _, f := range file {
		var d dialogue
		var sessions []int
		for k := range f.Conversation {
			if n, err := strconv.Atoi(strings.TrimPrefix(k, "session_")); err == nil {
				sessions = append(sessions, n)
			}
		}
		slices.Sort(sessions)
		for _, n := range sessions {
			var turns []struct {
				Speaker string `json:"speaker"`
				ID      string `json:"dia_id"`
				Text    string `json:"text"`
				Caption string `json:"blip_caption"`
			}
			if err := json.Unmarshal(f.Conversation["session_"+strconv.Itoa(n)], &turns); err != nil {
				return nil, err
			}
			for _, t := range turns {
				d.turns = append(d.turns, turn{t.ID, t.Speaker, strings.TrimSpace(t.Text + " " + t.Caption), n})
			}
		}
		for _, q := range f.QA {
			one := asked{text: q.Question}
			for _, e := range q.Evidence { // some hold several ids in one string
				one.evidence = append(one.evidence, strings.FieldsFunc(e, func(r rune) bool { return r == ';' || r == ',' || r == ' ' })...)
			}
			d.asked = append(d.asked, one)
		}
		out = append(out, d)
	}
	return out, nil
}

// readLongMemEval reads [{question, haystack_session_ids, haystack_sessions: [[{role, content, has_answer}]]}]: every
// question has a history of its own.
func readLongMemEval(raw []byte) ([]dialogue, error) {
	var file []struct {
		ID       string `json:"question_id"`
		Question string `json:"question"`
		Sessions [][]struct {
			Role, Content string
			HasAnswer     bool `json:"has_answer"`
		} `json:"haystack_sessions"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	var out []dialogue
	for _, f := range file {
		if strings.HasSuffix(f.ID, "_abs") {
			continue // has no evidence
		}
		d := dialogue{asked: []asked{{text: f.Question}}}
		for i, s := range f.Sessions {
			for j, t := range s {
				id := fmt.Sprintf("%d:%d", i, j)
				d.turns = append(d.turns, turn{id, t.Role, t.Content, i})
				if t.HasAnswer {
					d.asked[0].evidence = append(d.asked[0].evidence, id)
				}
			}
		}
		out = append(out, d)
	}
	return out, nil
}
