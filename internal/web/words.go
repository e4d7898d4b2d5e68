package web

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// words are the functions of the templates.
var words = template.FuncMap{
	"age": age, "left": left, "clock": clock, "count": count, "plural": plural, "percent": percent, "short": short, "lower": strings.ToLower,
	"join": strings.Join, "join3": func(words ...string) []string { return words }, "json": pretty, "dict": dict, "icon": icon, "state": stateOf, "deref": deref, "kilo": thousands, "add": func(a, b int) int { return a + b },
	"lines": func(s string) []string { return strings.Split(s, "\n") }, "hasPrefix": strings.HasPrefix, "glyph": glyph, "dollars": dollars, "tokens": tokens, "cut": cut, "base": base, "path": escapePath, "q": func(s string) template.URL { return template.URL(escape(s)) }, //nolint:gosec // it is escaped
	"i64": func(n int) int64 { return int64(n) }, "sub": func(a, b int) int { return a - b }, "list": func(words ...string) []string { return words },
	"hms": func(at string) string { return parse(at).Local().Format("15:04:05") }, "share": func(p float64) string { return percent(p, 100) }, "budgeticon": func(s string) string { return map[bool]string{true: "ok", false: "needs"}[s == "ok"] },
	"seconds": func(f float64) string { return spanLong(time.Duration(f * float64(time.Second))) },
	"level": func(s string) string {
		return map[string]string{"error": "error", "warning": "needs"}[s] + map[bool]string{true: "idle"}[s != "error" && s != "warning"]
	},
	"inboxclass": func(m client.Message) string {
		return map[bool]string{true: "is-needs"}[m.AckRequired && !m.Acknowledged]
	},
	"score": func(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) },
}

// parse reads a time as the wire has it; the zero time when there is none.
func parse(at string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return time.Time{}
	}
	return t
}

// age is how long ago: "now", "18 min", a clock time from an hour on, a date from a day on.
func age(at string, now time.Time) string {
	t := parse(at)
	if t.IsZero() {
		return ""
	}
	switch d := now.Sub(t); {
	case d < -time.Minute:
		return "in " + span(-d)
	case d < 5*time.Second:
		return "now"
	case d < time.Hour:
		return span(d)
	case d < 24*time.Hour:
		return t.Local().Format("15:04")
	default:
		return t.Local().Format("2 Jan")
	}
}

func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// left is how long until a time, for locks and leases.
func left(at string, now time.Time) string {
	t := parse(at)
	if t.IsZero() {
		return ""
	}
	if d := t.Sub(now); d > 0 {
		return span(d)
	}
	return "run out"
}

func clock(at string) string {
	t := parse(at)
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2 Jan 2006 15:04:05")
}

var numbers = []string{"No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"}

// count is a number at the beginning of a title: a word up to ten.
func count(n int) string {
	if n >= 0 && n < len(numbers) {
		return numbers[n]
	}
	return thousands(n)
}

// thousands groups digits with a thin space.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u2009" + s[i:]
	}
	return s
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// number is a count within a sentence with its noun.
func number(n int, one, many string) string { return thousands(n) + " " + plural(n, one, many) }

func percent(part, whole float64) string {
	if whole <= 0 {
		return "0%"
	}
	return fmt.Sprintf("%.1f%%", math.Max(0, math.Min(100, 100*part/whole)))
}

// short is the beginning of an id or a sha.
func short(id string) string {
	if len(id) > 8 {
		return id[:8]
	}
	return id
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func pretty(v any) string {
	raw, err := marshal(v)
	if err != nil {
		return ""
	}
	return raw
}

func marshal(v any) (string, error) {
	raw, err := json.MarshalIndent(v, "", "  ")
	return string(raw), err
}

// dict makes a map for a template that needs several values.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict takes pairs, got %d values", len(pairs))
	}
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is no name", pairs[i])
		}
		m[name] = pairs[i+1]
	}
	return m, nil
}

// icon draws a symbol of the sprite; class is one of the state classes or empty.
func icon(name, class string) template.HTML {
	return template.HTML(`<svg class="icon ` + template.HTMLEscapeString(class) + `" aria-hidden="true"><use href="#i-` + template.HTMLEscapeString(name) + `"/></svg>`) //nolint:gosec // both are escaped
}

// look is how a state is drawn: its class, its icon and its word.
type look struct{ Class, Icon, Word string }

// states are the looks of all states of tasks, runs, sessions, changesets, runners and agents.
var states = map[string]look{
	"ready": {"is-idle", "idle", "Ready"}, "pending": {"is-wait", "wait", "Waiting"}, "scheduled": {"is-idle", "clock", "Scheduled"}, "blocked": {"is-wait", "wait", "Blocked"},
	"claimed": {"is-run", "run", "Claimed"}, "running": {"is-run", "run", "Running"}, "stopping": {"is-wait", "stop", "Stopping"}, "verifying": {"is-run", "run", "Verifying"},
	"completed": {"is-ok", "ok", "Completed"}, "finished": {"is-ok", "ok", "Finished"}, "failed": {"is-error", "error", "Failed"}, "dead": {"is-error", "error", "Dead"},
	"stopped": {"is-idle", "stop", "Stopped"}, "cancelled": {"is-idle", "skip", "Cancelled"}, "superseded": {"is-idle", "skip", "Superseded"},
	"received": {"is-wait", "wait", "Received"}, "routing": {"is-run", "run", "Routing"}, "awaiting_approval": {"is-needs", "needs", "Waits for approval"},
	"passed": {"is-ok", "ok", "Passed"}, "error": {"is-error", "error", "Error"}, "online": {"is-ok", "ok", "Online"}, "stale": {"is-error", "off", "Lost"},
	"active": {"is-run", "run", "Active"}, "idle": {"is-idle", "idle", "Idle"}, "disconnected": {"is-idle", "off", "Gone"},
	"success": {"is-ok", "ok", "Passed"}, "failure": {"is-error", "error", "Failed"}, "timed_out": {"is-error", "error", "Timed out"}, "infra_error": {"is-error", "error", "Could not run"},
	"approved": {"is-ok", "ok", "Approved"}, "denied": {"is-error", "error", "Denied"}, "waiting": {"is-wait", "wait", "Not yet asked"}, "expired": {"is-error", "error", "Expired"}, "voided": {"is-idle", "skip", "Voided"},
	"queued": {"is-wait", "wait", "Queued"}, "dispatching": {"is-run", "run", "Starting"}, "waived": {"is-idle", "skip", "Waived"},
}

func stateOf(name string) look {
	if l, ok := states[name]; ok {
		return l
	}
	return look{"is-idle", "idle", name}
}

// cut shortens a text to so many characters.
func cut(s string, most int) string {
	s = line(s)
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most-1])) + "…"
	}
	return s
}

// curve is a line from one point to another that leaves and arrives level.
func curve(x1, y1, x2, y2 int) string {
	mid := (x1 + x2) / 2
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, mid, y1, mid, y2, x2, y2)
}

// glyph is an agent's kind in two letters.
func glyph(kind string) string {
	for _, k := range [][2]string{{"claude", "Cl"}, {"codex", "Co"}, {"cursor", "Cu"}, {"gemini", "Ge"}, {"person", "P"}, {"copilot", "Gh"}} {
		if strings.HasPrefix(strings.ToLower(kind), k[0]) {
			return k[1]
		}
	}
	r := []rune(kind)
	if len(r) == 0 {
		return "?"
	}
	return strings.ToUpper(string(r[:1])) + string(r[1:min(2, len(r))])
}

// dollars is an amount of money.
func dollars(f float64) string {
	if f > 0 && f < 0.01 {
		return "<$0.01"
	}
	return "$" + strconv.FormatFloat(f, 'f', 2, 64)
}

// tokens is a number of tokens, short.
func tokens(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%d M", n/1_000_000)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%d k", n/1000)
	}
	return thousands(int(n))
}

// escapePath is a value as one member of a path.
func escapePath(s string) string { return url.PathEscape(s) }
