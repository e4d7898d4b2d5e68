package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Report is a whole run.
type Report struct {
	Command   string    `json:"command"`
	Began     time.Time `json:"began"`
	Took      string    `json:"took"`
	Rounds    int       `json:"rounds"`
	Seconds   int       `json:"seconds"` // of each side of a round
	Host      Host      `json:"host"`
	LoadAfter string    `json:"load_after"`
	Results   []Result  `json:"results"`
}

func (r Report) below() (n int) {
	for _, res := range r.Results {
		if res.Verdict == verdictBelow {
			n++
		}
	}
	return n
}

func (r Report) write(out io.Writer, o options) error {
	if o.json {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(r)
	}
	head := []string{"goal", "what", "ours", "yardstick", "value", "rounds", "floor", "stretch", "verdict"}
	rows := make([][]string, 0, len(r.Results))
	for _, res := range r.Results {
		rows = append(rows, res.row())
	}
	var b strings.Builder
	if o.markdown {
		r.markdown(&b, head, rows)
	} else {
		r.text(&b, head, rows)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (r Result) row() []string {
	limit := func(v *float64) string {
		if v == nil {
			return ""
		}
		if r.Less {
			return "≤ " + number(*v)
		}
		return "≥ " + number(*v)
	}
	figure := func(f *Figure) string {
		if f == nil {
			return ""
		}
		return number(f.Value) + " " + f.Unit + " " + f.Name
	}
	value := number(r.Value) + r.Unit
	if r.Unit != "x" {
		value = number(r.Value) + " " + r.Unit
	}
	return []string{r.Goal, r.What, figure(r.Ours), figure(r.Theirs), value, r.Range, limit(r.Floor), limit(r.Stretch), r.Verdict}
}

// number shows three digits or more.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
	default:
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
	}
}

// facts are the circumstances, a line each.
func (r Report) facts() []string {
	return []string{
		"command: " + r.Command,
		fmt.Sprintf("run: %s, %s, %d rounds of %d s a side", r.Began.Format(time.RFC3339), r.Took, r.Rounds, r.Seconds),
		fmt.Sprintf("load average: %s before, %s after, on %d processors", r.Host.LoadBefore, r.LoadAfter, r.Host.Processors),
		"disk: fdatasync " + r.Host.Fdatasync + " (pg_test_fsync, one 8 kB write)",
		fmt.Sprintf("versions: coordinator %s, %s %s, Postgres %s", r.Host.Version, r.Host.Go, r.Host.System, r.Host.Postgres),
	}
}

func (r Report) notes() []string {
	var out []string
	for _, res := range r.Results {
		if res.Note != "" {
			out = append(out, res.Goal+", "+res.What+": "+res.Note)
		}
	}
	return out
}

func (r Report) text(b *strings.Builder, head []string, rows [][]string) {
	width := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	line := func(row []string) {
		for i, c := range row {
			b.WriteString(c)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)+2))
			}
		}
		b.WriteByte('\n')
	}
	line(head)
	for _, row := range rows {
		line(row)
	}
	b.WriteByte('\n')
	for _, f := range append(r.facts(), r.notes()...) {
		b.WriteString(f + "\n")
	}
}

func (r Report) markdown(b *strings.Builder, head []string, rows [][]string) {
	line := func(row []string) { b.WriteString("| " + strings.Join(row, " | ") + " |\n") }
	line(head)
	b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, row := range rows {
		line(row)
	}
	b.WriteByte('\n')
	for _, f := range append(r.facts(), r.notes()...) {
		b.WriteString("- " + f + "\n")
	}
}
