package top

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
)

// view is one list of the screen.
type view struct {
	key, name string
	table     func(Snapshot, time.Time) table
	empty     string
}

// table is rows of cells. flex is the column that gives way when the terminal is narrow; keep is how many columns stay on
// a narrow one.
type table struct {
	head []string
	rows [][]string
	flex int
	mark map[int]string // row → "needs" or "error"
}

var views = []view{
	{"1", "Needs you", needsTable, "Nothing needs you."},
	{"2", "Fleet", fleetTable, "No agent was heard of. coordctl install claude-code connects one."},
	{"3", "Locks", locksTable, "Nothing is locked."},
	{"4", "Queue", queueTable, "The queue is empty. coordctl work submit adds a task."},
	{"5", "Runs", runsTable, "No runs. coordctl run create starts one."},
}

func age(at string, now time.Time) string {
	t := parse(at)
	if t.IsZero() {
		return ""
	}
	return short(now.Sub(t))
}

func short(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

func needsTable(s Snapshot, now time.Time) table {
	t := table{head: []string{"", "SINCE", "WHAT", "WHY"}, flex: 2, mark: map[int]string{}}
	for i, n := range s.Needs {
		word := map[string]string{"decide": "respond", "broken": "broken"}[n.Kind]
		t.mark[i] = n.Kind
		t.rows = append(t.rows, []string{word, age(n.Since, now), n.What, n.Why})
	}
	return t
}

func fleetTable(s Snapshot, now time.Time) table {
	t := table{head: []string{"AGENT", "STATE", "HEARD", "LOCKS", "TASKS", "ON", "TYPE"}, flex: 5, mark: map[int]string{}}
	for i, a := range s.Agents {
		if a.Hold != "" {
			t.mark[i] = "decide"
		}
		t.rows = append(t.rows, []string{a.AgentID, cmp.Or(a.Hold, a.Status), age(a.LastSeen, now), fmt.Sprint(a.LocksHeld), fmt.Sprint(a.TasksHeld), a.CurrentTask, a.AgentType})
	}
	return t
}

func locksTable(s Snapshot, now time.Time) table {
	t := table{head: []string{"PATH", "HOLDER", "LEFT", "WAITING", "WHY"}, flex: 0}
	waiting := map[string][]string{}
	for _, w := range s.Waits {
		waiting[w.HeldPath] = append(waiting[w.HeldPath], w.AgentID)
	}
	for _, l := range s.Locks {
		path := l.FilePath
		if l.Mode == "shared" {
			path += " (shared)"
		}
		t.rows = append(t.rows, []string{path, l.LockedBy, short(parse(l.ExpiresAt).Sub(now)), strings.Join(waiting[l.FilePath], " "), l.Reason})
	}
	return t
}

func queueTable(s Snapshot, now time.Time) table {
	t := table{head: []string{"STATE", "P", "TYPE", "TASK", "WHO", "AGE"}, flex: 3, mark: map[int]string{}}
	for _, x := range s.Tasks {
		t.rows = append(t.rows, []string{x.State, fmt.Sprint(x.Priority), x.TaskType, x.Description, x.ClaimedBy, age(x.CreatedAt, now)})
	}
	return t
}

func runsTable(s Snapshot, now time.Time) table {
	t := table{head: []string{"STATE", "RUN", "AGENT", "PROMPT", "RUNNER", "AGE"}, flex: 3, mark: map[int]string{}}
	for i, r := range s.Runs {
		if r.Status == "failed" {
			t.mark[i] = "broken"
		}
		t.rows = append(t.rows, []string{r.Status, r.RunID, value(r.AgentName), r.Prompt, value(r.RunnerID), age(r.CreatedAt, now)})
	}
	return t
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// paint are the styles of one terminal; without colour they change nothing but weight.
type paint struct{ bold, dim, bar, needs, broken, good lipgloss.Style }

func newPaint(r *lipgloss.Renderer) paint {
	return paint{
		bold: r.NewStyle().Bold(true), dim: r.NewStyle().Faint(true), bar: r.NewStyle().Reverse(true),
		needs: r.NewStyle().Foreground(lipgloss.ANSIColor(3)), broken: r.NewStyle().Foreground(lipgloss.ANSIColor(1)), good: r.NewStyle().Foreground(lipgloss.ANSIColor(2)),
	}
}

// lines renders a table into width columns: the flexible column gives way, then columns go from the right.
func (t table) lines(width int, filter string, p paint) []string {
	head, rows, marks := t.head, [][]string{}, []string{}
	for i, r := range t.rows {
		if filter == "" || strings.Contains(strings.ToLower(strings.Join(r, " ")), strings.ToLower(filter)) {
			cells := make([]string, len(r))
			for j, c := range r {
				cells[j] = plain(c)
			}
			rows, marks = append(rows, cells), append(marks, t.mark[i])
		}
	}
	columns := len(head)
	widths := make([]int, columns)
	for j := range head {
		widths[j] = ansi.StringWidth(head[j])
		for _, r := range rows {
			widths[j] = max(widths[j], ansi.StringWidth(r[j]))
		}
		if j != t.flex {
			widths[j] = min(widths[j], 28)
		}
	}
	const least = 12
	total := func() int {
		sum := 2 * (columns - 1)
		for _, w := range widths[:columns] {
			sum += w
		}
		return sum
	}
	for total() > width && columns > t.flex+1 && total()-widths[t.flex]+least > width {
		columns--
	}
	if over := total() - width; over > 0 {
		widths[t.flex] = max(widths[t.flex]-over, least)
	}
	line := func(cells []string) string {
		var b strings.Builder
		for j := range columns {
			cell := ansi.Truncate(cells[j], widths[j], "…")
			b.WriteString(cell)
			if j < columns-1 {
				b.WriteString(strings.Repeat(" ", widths[j]-ansi.StringWidth(cell)+2))
			}
		}
		return ansi.Truncate(strings.TrimRight(b.String(), " "), width, "…")
	}
	out := []string{p.dim.Render(line(head))}
	for i, r := range rows {
		text := line(r)
		switch marks[i] {
		case "decide":
			text = p.needs.Render(text)
		case "broken":
			text = p.broken.Render(text)
		}
		out = append(out, text)
	}
	return out
}

// plain is text on one line without anything that a terminal would obey: names and prompts are of others.
func plain(s string) string {
	s = strings.Join(strings.Fields(ansi.Strip(s)), " ")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

// screen is what one frame shows.
type screen struct {
	snap          Snapshot
	now           time.Time
	lost          time.Time // since when the coordinator cannot be reached; zero: it can
	why           string
	width, height int
	view, scroll  int
	filter        string
	typing        bool
	loading       bool
	paint         paint
}

func (v screen) render() string {
	var out []string
	s := v.snap
	title := v.paint.bold.Render("coord top") + "  " + plain(s.Project)
	state := v.paint.good.Render("live")
	switch {
	case !v.lost.IsZero():
		state = v.paint.broken.Render("disconnected since " + v.lost.Format("15:04:05") + " (" + short(v.now.Sub(v.lost)) + "): " + plain(v.why))
	case v.loading:
		state = v.paint.dim.Render("asking…")
	}
	out = append(out, fit(title+"  "+state, v.width))
	out = append(out, fit(fmt.Sprintf("%d need you · %d agents · %d locks, %d wait · %d ready, %d at work, %d blocked · %d runners",
		len(s.Needs), len(s.Agents), len(s.Locks), len(s.Waits), s.Stats.Ready, s.Stats.Claimed, s.Stats.Blocked, len(s.Runners)), v.width))
	var tabs []string
	for i, w := range views {
		name := w.key + " " + w.name
		if v.width < 60 {
			name = w.key
			if i == v.view {
				name += " " + w.name
			}
		}
		if i == v.view {
			name = v.paint.bar.Render("[" + name + "]")
		} else {
			name = " " + name + " "
		}
		tabs = append(tabs, name)
	}
	out = append(out, fit(strings.Join(tabs, " "), v.width), "")
	body := v.body()
	room := max(v.height-len(out)-2, 1)
	from := min(v.scroll, max(len(body)-room, 0))
	if len(body) > 0 && from > 0 { // the head of the table stays
		body = append(body[:1:1], body[min(from+1, len(body)):]...)
	}
	cut := 0
	if len(body) > room {
		cut = len(body) - room
		body = body[:room]
	}
	out = append(out, body...)
	for len(out) < v.height-1 {
		out = append(out, "")
	}
	foot := "1-5 tab view · j k scroll · / filter · r ask now · q quit"
	switch {
	case v.typing:
		foot = "filter: " + plain(v.filter) + "_   (enter keeps it, esc clears it)"
	case v.filter != "":
		foot = "filter: " + plain(v.filter) + " (esc clears it) · " + foot
	case cut > 0:
		foot = fmt.Sprintf("%d more below · ", cut) + foot
	}
	out = append(out, v.paint.dim.Render(fit(foot, v.width)))
	return strings.Join(out, "\n")
}

func fit(text string, width int) string { return ansi.Truncate(text, width, "…") }

func (v screen) body() []string {
	w := views[v.view]
	t := w.table(v.snap, v.now)
	if len(t.rows) == 0 && !v.loading {
		return []string{fit(w.empty, v.width)}
	}
	lines := t.lines(v.width, v.filter, v.paint)
	if len(lines) == 1 && v.filter != "" {
		return append(lines, fit("Nothing of it matches the filter.", v.width))
	}
	return lines
}

// Plain is the whole picture as text for a pipe: every list, no colour.
func Plain(s Snapshot, now time.Time, width int) string {
	p := newPaint(lipgloss.NewRenderer(nil))
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %d ready, %d at work, %d blocked\n", s.Project, s.At, s.Stats.Ready, s.Stats.Claimed, s.Stats.Blocked)
	for _, w := range views {
		t := w.table(s, now)
		fmt.Fprintf(&b, "\n%s (%d)\n", w.name, len(t.rows))
		if len(t.rows) == 0 {
			b.WriteString(w.empty + "\n")
			continue
		}
		for _, line := range t.lines(width, "", p) {
			b.WriteString(ansi.Strip(line) + "\n")
		}
	}
	if len(s.Missing) > 0 {
		b.WriteString("\nThe key may not see: " + strings.Join(s.Missing, ", ") + "\n")
	}
	return b.String()
}
