package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// gantt is a session over time: lanes of runs, tools, locks, waits, verification and messages. Across in per cent of the
// width, down in pixels, so that the text keeps its size.
type gantt struct {
	Height, Foot int
	Ticks        []tick
	Lanes        []lane
	Lines        []int
	Bars         []bar
	Dots         []bar
	Gaps         []bar
	Now          bool
	Label        string

	from, to time.Time
}

type tick struct {
	X      string
	Anchor string
	Text   string
}

type lane struct {
	Y    int
	Name string
}

// bar is a length of time in a lane.
type bar struct {
	X, W, TextX string
	Y           int
	Class       string // run, ok, error, needs, idle, lock, wait
	Text, Title string
	Link        string
	Selected    bool
}

const (
	laneTop   = 24
	laneH     = 30
	chartLeft = 13.0 // per cent, for the names of the lanes
	chartW    = 86.0
	toolMost  = time.Minute // how far back a tool's bar reaches at most
)

func (g *gantt) x(t time.Time) float64 {
	whole := g.to.Sub(g.from).Seconds()
	at := t.Sub(g.from).Seconds() / max(whole, 1)
	return chartLeft + chartW*max(0, min(1, at))
}

func (g *gantt) span(from, to time.Time, y int) bar {
	x := g.x(from)
	return bar{X: pct(x), W: pct(max(0.5, g.x(to)-x)), TextX: pct(x + 0.5), Y: y}
}

func pct(f float64) string { return fmt.Sprintf("%.2f%%", f) }

// chart draws a session. at is the selected event.
func chart(q *request, v *sessionView, events []client.StoredEvent, at int64) *gantt {
	g := &gantt{from: v.from, to: v.to.Add(v.to.Sub(v.from) / 100), Now: v.Live}
	for _, r := range v.Runs {
		for _, t := range []string{r.CreatedAt, deref(r.StartedAt)} {
			if s := parse(t); !s.IsZero() && s.Before(g.from) {
				g.from = s
			}
		}
	}
	if g.to.Sub(g.from) < 10*time.Second {
		g.to = g.from.Add(10 * time.Second)
	}
	y := laneTop
	add := func(name string, rows int) int {
		g.Lanes = append(g.Lanes, lane{Y: y + 20, Name: name})
		at := y
		y += rows * laneH
		g.Lines = append(g.Lines, y)
		return at
	}
	g.runs(v, add("Run", 1))
	g.tools(v, events, at, add("Tools", 1))
	if held, rows := lockSpans(events, v.to); rows > 0 {
		top := add("Locks", rows)
		for _, h := range held {
			b := g.span(h.from, h.to, top+h.row*laneH+7)
			b.Class, b.Text, b.Title = "lock", base(h.path), h.path+" held for "+spanLong(h.to.Sub(h.from))
			g.Bars = append(g.Bars, b)
		}
	}
	if waits := waitSpans(events); len(waits) > 0 {
		top := add("Waits", 1)
		for _, w := range waits {
			b := g.span(w.from, w.to, top+7)
			b.Class, b.Title = "wait", "waited "+spanLong(w.to.Sub(w.from))+" for "+w.path
			g.Bars = append(g.Bars, b)
		}
	}
	g.verification(q, v, add)
	top := add("Messages", 1)
	for _, e := range events {
		if e.EventType == "message" {
			b := bar{X: pct(g.x(parse(e.Timestamp))), Y: top + laneH/2, Title: eventText(e), Link: eventLink(e.ID)}
			g.Dots = append(g.Dots, b)
		}
	}
	g.Height, g.Foot = y+22, y
	g.gaps(events)
	g.ticks(v.Live)
	g.Label = fmt.Sprintf("%s from %s to %s, %s.", number(len(v.Runs), "run", "runs"), g.from.Local().Format("15:04"), g.to.Local().Format("15:04"), number(v.problems, "problem", "problems"))
	return g
}

func eventLink(id int64) string { return fmt.Sprintf("?view=gantt&at=%d", id) }

func (g *gantt) runs(v *sessionView, top int) {
	for i, r := range v.Runs {
		from, to := parse(cmp.Or(deref(r.StartedAt), deref(r.ClaimedAt), r.CreatedAt)), parse(deref(r.CompletedAt))
		if to.IsZero() {
			to = v.to
		}
		b := g.span(from, to, top+7)
		l := stateOf(r.Status)
		b.Class = map[string]string{"is-error": "error", "is-ok": "ok", "is-run": "run", "is-idle": "idle", "is-wait": "idle"}[l.Class]
		b.Text, b.Title = fmt.Sprintf("Run %d · %s", i+1, strings.ToLower(l.Word)), strings.TrimSpace(r.RunID+" "+deref(r.Error))
		g.Bars = append(g.Bars, b)
	}
}

func (g *gantt) tools(v *sessionView, events []client.StoredEvent, at int64, top int) {
	selected := at
	if at == 0 && v.At != nil {
		selected = v.At.ID
	}
	for i, e := range events {
		if deref(e.ToolName) == "" {
			continue
		}
		to, from := parse(e.Timestamp), parse(e.Timestamp).Add(-5*time.Second)
		if i > 0 {
			from = parse(events[i-1].Timestamp)
		}
		if to.Sub(from) > toolMost {
			from = to.Add(-toolMost)
		}
		b := g.span(from, to, top+7)
		row := newRow(e)
		b.Class, b.Title, b.Link, b.Selected = "idle", row.Name+" "+row.Text, eventLink(e.ID), e.ID == selected
		if row.Failed {
			b.Class = "error"
		}
		g.Bars = append(g.Bars, b)
	}
}

// verification shows the changes that the session's agent handed in.
func (g *gantt) verification(q *request, v *sessionView, add func(string, int) int) {
	agent := deref(v.Session.AgentName)
	if agent == "" {
		return
	}
	list, err := ask[client.Changesets](q, "list_changesets", map[string]any{"agent_id": agent, "limit": 20})
	if err != nil {
		return // the lane is an addition; the log itself is there
	}
	var mine []client.Changeset
	for _, c := range list.Changesets {
		if t := parse(c.CreatedAt); t.After(g.from) && t.Before(g.to) {
			mine = append(mine, c)
		}
	}
	if len(mine) == 0 {
		return
	}
	top := add("Verification", 1)
	for _, c := range mine {
		to := parse(c.DecidedAt)
		if to.IsZero() {
			to = v.to
		}
		b := g.span(parse(c.CreatedAt), to, top+7)
		l := stateOf(c.State)
		b.Class = cmp.Or(map[string]string{"is-error": "error", "is-ok": "ok", "is-run": "run", "is-needs": "needs"}[l.Class], "idle")
		b.Text, b.Title, b.Link = l.Word, cmp.Or(c.Title, c.Branch)+": "+l.Word, "/ui/changes/"+c.ChangesetID
		g.Bars = append(g.Bars, b)
	}
}

// gaps shades silences, those that are long for the whole.
func (g *gantt) gaps(events []client.StoredEvent) {
	for i := 1; i < len(events); i++ {
		from, to := parse(events[i-1].Timestamp), parse(events[i].Timestamp)
		if d := to.Sub(from); d > silence && d > g.to.Sub(g.from)/16 {
			b := g.span(from, to, laneTop-2)
			b.Text, b.TextX = "no events "+spanLong(d), pct((g.x(from)+g.x(to))/2)
			b.Class = pct(g.x(to))
			g.Gaps = append(g.Gaps, b)
		}
	}
}

func (g *gantt) ticks(live bool) {
	whole := g.to.Sub(g.from)
	step := whole / 7
	for _, s := range []time.Duration{time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 24 * time.Hour} {
		if s >= step {
			step = s
			break
		}
	}
	form := "15:04"
	if step < time.Minute {
		form = "15:04:05"
	}
	for t := g.from.Local().Truncate(step).Add(step); t.Before(g.to); t = t.Add(step) {
		if x := g.x(t); x < chartLeft+chartW-6 || !live {
			g.Ticks = append(g.Ticks, tick{X: pct(x), Anchor: "middle", Text: t.Format(form)})
		}
	}
}

// timed is something that lasts.
type timed struct {
	from, to time.Time
	path     string
	row      int
}

// lockSpans are the locks that the log shows being taken, until it shows them given back; and how many rows they need.
func lockSpans(events []client.StoredEvent, end time.Time) (out []timed, rows int) {
	open := map[string]int{}
	for _, e := range events {
		tool := shortTool(deref(e.ToolName))
		ok, _ := e.ToolOutput.(map[string]any)
		for _, path := range newRow(e).Files {
			i, held := open[path]
			switch {
			case tool == "acquire_lock" && !held && ok["success"] == true:
				open[path] = len(out)
				out = append(out, timed{from: parse(e.Timestamp), to: end, path: path})
			case tool == "release_lock" && held:
				out[i].to = parse(e.Timestamp)
				delete(open, path)
			}
		}
	}
	var free []time.Time // when each row is free again
	for i := range out {
		row := slices.IndexFunc(free, func(t time.Time) bool { return !t.After(out[i].from) })
		if row < 0 && len(free) >= 4 {
			row = 3
		} else if row < 0 {
			row, free = len(free), append(free, time.Time{})
		}
		out[i].row, free[row] = row, out[i].to
	}
	return out, len(free)
}

// waitSpans are the waits for locks that the log tells.
func waitSpans(events []client.StoredEvent) []timed {
	var out []timed
	for _, e := range events {
		reply, _ := e.ToolOutput.(map[string]any)
		if ms, ok := reply["waited_ms"].(float64); ok && ms > 0 {
			to := parse(e.Timestamp)
			out = append(out, timed{from: to.Add(-time.Duration(ms) * time.Millisecond), to: to, path: strings.Join(newRow(e).Files, ", ")})
		}
	}
	return out
}
