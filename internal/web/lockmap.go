package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// locksView is the lock map: what is held, waited for and written past the locks, over the tree of the repository. The
// query says which folders are open, so that a link shows what its sender saw.
type locksView struct {
	Rows                           []lockRow
	Q, Only, As, Open, Selected    string
	Lock                           *client.Lock
	Line                           []client.LockWait // who waits for the selected lock
	History                        []client.AuditEntry
	Strips                         bool // the last hour is known as a whole
	May                            bool
	Left                           int // rows that are not shown
	locks, waits, dirty            int
	tightest                       string
	tightestWaits                  int
	WrittenCount, WaitCount, Soons int
}

// lockRow is a folder with what is at or below it, a lock, or a path that somebody waits for or wrote without holding it.
type lockRow struct {
	Level        int
	Path, Name   string
	Guides       []bool // one a level above
	Folder, Open bool
	Toggle       string // the query that opens or closes it
	Held         int    // locks at or below
	Heat         int    // 0..5
	Waits, Dirty int
	Holders      string
	Lock         *client.Lock
	Part         string // share of its time that is left, in per cent
	Low          bool
	Cells        []cell
}

// cell is five minutes of the last hour.
type cell struct {
	X, Heat int
}

// strip is the cells of one heat as a path: two or three shapes a row instead of twelve.
type strip struct {
	Heat int
	D    string
}

// Strips are the last hour of a row as it is drawn.
func (r lockRow) Strips() []strip {
	var out []strip
	for _, c := range r.Cells {
		i := slices.IndexFunc(out, func(s strip) bool { return s.Heat == c.Heat })
		if i < 0 {
			i, out = len(out), append(out, strip{Heat: c.Heat})
		}
		out[i].D += fmt.Sprintf("M%d 0h5v16h-5z", c.X)
	}
	return out
}

const (
	maxRows  = 250
	openAll  = 80              // a tree of so many rows is shown whole
	soonOver = 5 * time.Minute // a lock that lapses within this is about to
)

// node is a folder of the tree, or a path in it.
type node struct {
	path, name   string
	kids         map[string]*node
	locks        []*client.Lock
	held         int
	waits, dirty int
	taken        [12]int
	leaf         bool
	holders      map[string]bool
}

func (n *node) kid(path, name string) *node {
	if n.kids == nil {
		n.kids = map[string]*node{}
	}
	if n.kids[name] == nil {
		n.kids[name] = &node{path: path, name: name, holders: map[string]bool{}}
	}
	return n.kids[name]
}

// grow returns the node of a path; touch is called for it and for every folder above.
func (n *node) grow(path string, touch func(*node)) *node {
	for _, f := range folders(path) {
		n = n.kid(f, strings.TrimSuffix(base(f), "/"))
		touch(n)
	}
	name := strings.TrimPrefix(path, last(folders(path)))
	if name == "" {
		name = path
	}
	n = n.kid(path, name)
	n.leaf = true
	touch(n)
	return n
}

func locks(q *request) (any, error) {
	query := q.URL.Query()
	v := &locksView{Q: query.Get("q"), Only: query.Get("only"), As: query.Get("as"), Open: query.Get("open"), Selected: query.Get("sel"), May: q.may(ident.Reviewer)}
	var list client.Locks
	var seen client.Violations
	var hour client.AuditEntries
	var waits []client.LockWait
	if err := together(
		asks(q, &list, "check_locks", map[string]any{"limit": 10_000}),
		asks(q, &hour, "query_audit", map[string]any{"operation": "acquire_lock", "since": "1h", "success": true, "limit": 1000}),
		asks(q, &seen, "list_violations", map[string]any{"limit": 200}),
		func() (err error) { waits, err = waitsOf(q); return err },
	); err != nil {
		return nil, err
	}
	v.Strips, v.locks, v.waits = !hour.Truncated, list.Count, len(waits)
	root := &node{holders: map[string]bool{}}
	v.plant(q, root, list.Locks, waits, seen.Violations)
	if v.Strips {
		for _, e := range hour.Entries {
			i := 11 - int(q.now.Sub(parse(e.CreatedAt))/(5*time.Minute))
			for _, path := range e.ObjectIDs {
				if at := root.find(q.plain(path)); i >= 0 && i < 12 {
					for _, n := range at {
						n.taken[i]++
					}
				}
			}
		}
	}
	v.choose(q, list.Locks, waits, hour.Entries)
	v.show(q, root, list.Locks)
	return v, nil
}

func waitsOf(q *request) ([]client.LockWait, error) {
	if q.gathered != nil {
		return q.gathered.waits.Waits, nil
	}
	list, err := ask[client.LockWaits](q, "list_lock_waits", map[string]any{"limit": 500})
	return list.Waits, err
}

// plain is a path without the name of the project's only repository.
func (q *request) plain(path string) string {
	if h := q.home(); h != "" {
		return strings.TrimPrefix(path, "@"+h+"//")
	}
	return path
}

// plant puts everything that the filter leaves into the tree.
func (v *locksView) plant(q *request, root *node, held []client.Lock, waits []client.LockWait, violations []client.Violation) {
	fits := func(texts ...string) bool {
		return v.Q == "" || slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(v.Q)) })
	}
	contended, count := map[string]int{}, map[string]int{}
	for _, w := range waits {
		contended[cmp.Or(w.HeldPath, w.FilePath)]++
	}
	for path, n := range contended {
		if n > v.tightestWaits || n == v.tightestWaits && path < v.tightest {
			v.tightest, v.tightestWaits = path, n
		}
	}
	dirty := map[string]bool{}
	for _, x := range violations {
		if q.recently(x.LastAt, overlook) {
			dirty[q.plain(x.FilePath)] = true
		}
	}
	v.dirty, v.WrittenCount, v.WaitCount = len(dirty), len(dirty), len(waits)
	for i := range held {
		l := &held[i]
		soon := parse(l.ExpiresAt).Sub(q.now) < soonOver
		if soon {
			v.Soons++
		}
		if !fits(l.FilePath, l.LockedBy, l.Reason) || v.Only == "contended" && contended[l.FilePath] == 0 || v.Only == "soon" && !soon || v.Only == "dirty" && !dirty[l.FilePath] {
			continue
		}
		count[l.FilePath]++
		at := root.grow(l.FilePath, func(n *node) { n.held++; n.holders[l.LockedBy] = true })
		at.locks = append(at.locks, l)
	}
	for path, n := range contended {
		if count[path] > 0 || v.Only != "dirty" && v.Only != "soon" && fits(path) {
			root.grow(path, func(x *node) { x.waits += n })
		}
	}
	for path := range dirty {
		if count[path] > 0 || v.Only != "contended" && v.Only != "soon" && fits(path) {
			root.grow(path, func(x *node) { x.dirty++ })
		}
	}
}

// find returns the node of a path and the folders above it, as far as they are in the tree.
func (n *node) find(path string) []*node {
	var out []*node
	for _, f := range append(folders(path), path) {
		name := strings.TrimSuffix(base(f), "/")
		if f == path {
			name = cmp.Or(strings.TrimPrefix(path, last(folders(path))), path)
		}
		if n = n.kids[name]; n == nil {
			return out
		}
		out = append(out, n)
	}
	return out
}

// choose finds the selected lock, who waits for it and what happened to its path within the hour.
func (v *locksView) choose(q *request, held []client.Lock, waits []client.LockWait, hour []client.AuditEntry) {
	for i := range held {
		if held[i].FilePath+"|"+held[i].SessionID == v.Selected {
			v.Lock = &held[i]
		}
	}
	if v.Lock == nil {
		return
	}
	for _, w := range waits {
		if w.HeldPath == v.Lock.FilePath || w.FilePath == v.Lock.FilePath {
			v.Line = append(v.Line, w)
		}
	}
	for _, e := range hour {
		if len(v.History) < 6 && slices.ContainsFunc(e.ObjectIDs, func(p string) bool { return q.plain(p) == v.Lock.FilePath }) {
			v.History = append(v.History, e)
		}
	}
}

// show turns the tree into rows: the open folders only.
func (v *locksView) show(q *request, root *node, held []client.Lock) {
	if v.As == "flat" {
		v.flat(q, root)
		return
	}
	size := root.size()
	open := map[string]bool{}
	explicit := q.URL.Query().Has("open")
	for f := range strings.SplitSeq(v.Open, ",") {
		open[f] = true
	}
	isOpen := func(n *node) bool {
		if explicit {
			return open[n.path]
		}
		return size <= openAll || v.Q != "" || n.waits > 0 || n.dirty > 0
	}
	var opened []string
	var walk func(n *node, level int)
	walk = func(n *node, level int) {
		for _, k := range n.sorted() {
			k = k.only()
			row := k.row(q, level)
			if row.Folder {
				row.Open = isOpen(k)
				if row.Open {
					opened = append(opened, k.path)
				}
			}
			if len(v.Rows) >= maxRows {
				v.Left++
			} else {
				v.Rows = append(v.Rows, row)
				if len(k.locks) > 1 { // several readers, or several branches
					for _, l := range k.locks[1:] {
						v.Rows = append(v.Rows, k.lockRow(q, level, l))
					}
				}
			}
			if row.Open {
				walk(k, level+1)
			}
		}
	}
	walk(root, 1)
	for i := range v.Rows {
		if r := &v.Rows[i]; r.Folder {
			now := slices.DeleteFunc(slices.Clone(opened), func(p string) bool { return p == r.Path && r.Open })
			if !r.Open {
				now = append(now, r.Path)
			}
			r.Toggle = v.query("open", strings.Join(now, ","), "sel", v.Selected)
		}
	}
}

// flat lists the paths without folders.
func (v *locksView) flat(q *request, root *node) {
	var walk func(n *node)
	walk = func(n *node) {
		for _, k := range n.sorted() {
			if k.leaf {
				if len(v.Rows) >= maxRows {
					v.Left++
				} else {
					row := k.row(q, 1)
					row.Name, row.Folder = k.path, false
					v.Rows = append(v.Rows, row)
				}
			}
			walk(k)
		}
	}
	walk(root)
}

// query is the view's own address with some members changed.
func (v *locksView) query(changed ...string) string {
	members := []string{"q", v.Q, "only", v.Only, "as", v.As}
	members = append(members, changed...)
	var out []string
	for i := 0; i < len(members); i += 2 {
		if members[i+1] != "" || members[i] == "open" {
			out = append(out, members[i]+"="+escape(members[i+1]))
		}
	}
	return "/ui/locks?" + strings.Join(out, "&")
}

// Pick is the address that selects a lock and leaves the folders as they are.
func (v *locksView) Pick(l *client.Lock) string {
	if v.Open != "" {
		return v.query("open", v.Open, "sel", l.FilePath+"|"+l.SessionID)
	}
	return v.query("sel", l.FilePath+"|"+l.SessionID)
}

// With is the address with one filter more, or less when it is set already.
func (v *locksView) With(only string) string {
	w := *v
	w.Only = map[bool]string{true: "", false: only}[v.Only == only]
	return w.query()
}

// Shown is the address with another shape.
func (v *locksView) Shown(as string) string {
	w := *v
	w.As = as
	return w.query("sel", v.Selected)
}

func (n *node) sorted() []*node {
	out := make([]*node, 0, len(n.kids))
	for _, k := range n.kids {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b *node) int {
		if fa, fb := len(a.kids) > 0, len(b.kids) > 0; fa != fb {
			return map[bool]int{true: -1, false: 1}[fa]
		}
		return cmp.Compare(a.name, b.name)
	})
	return out
}

// only joins a folder with its only child, as long as that is a folder, too.
func (n *node) only() *node {
	for len(n.kids) == 1 && !n.leaf {
		k := n.sorted()[0]
		if len(k.kids) == 0 || k.leaf {
			break
		}
		joined := *k
		joined.name = n.name + "/" + k.name
		n = &joined
	}
	return n
}

func (n *node) size() int {
	out := 0
	for _, k := range n.kids {
		out += 1 + k.size()
	}
	return out
}

func (n *node) row(q *request, level int) lockRow {
	r := lockRow{Level: level, Path: n.path, Name: n.name, Guides: make([]bool, level-1), Folder: len(n.kids) > 0, Held: n.held, Heat: heat(n.held), Waits: n.waits, Dirty: n.dirty}
	for i, c := range n.taken {
		r.Cells = append(r.Cells, cell{X: i * 6, Heat: heat(c)})
	}
	switch {
	case len(n.locks) > 0:
		r = n.fill(q, r, n.locks[0])
	case len(n.holders) == 1:
		for h := range n.holders {
			r.Holders = h
		}
	case len(n.holders) > 1:
		r.Holders = number(len(n.holders), "agent", "agents")
	}
	return r
}

func (n *node) lockRow(q *request, level int, l *client.Lock) lockRow {
	return n.fill(q, lockRow{Level: level, Path: n.path, Name: n.name, Guides: make([]bool, level-1), Held: 1, Heat: 1}, l)
}

func (*node) fill(q *request, r lockRow, l *client.Lock) lockRow {
	whole, rest := parse(l.ExpiresAt).Sub(parse(l.LockedAt)).Seconds(), parse(l.ExpiresAt).Sub(q.now).Seconds()
	r.Lock, r.Part, r.Low = l, percent(rest, whole), rest < whole/4
	return r
}

// folders are the ancestors of a path, outermost first, each with its slash; of a key, its word.
func folders(path string) []string {
	if i := strings.IndexByte(path, ':'); i > 0 && !strings.Contains(path[:i], "/") {
		return []string{path[:i+1]}
	}
	var out []string
	trimmed, from := strings.TrimSuffix(path, "/"), 0
	if i := strings.Index(path, "//"); path != "" && path[0] == '@' && i > 0 { // another repository of the project
		out, from = append(out, path[:i+2]), i+2
	}
	for i := from; i < len(trimmed); i++ {
		if trimmed[i] == '/' {
			out = append(out, path[:i+1])
		}
	}
	return out
}

func base(folder string) string {
	if strings.HasSuffix(folder, "//") {
		return strings.TrimSuffix(folder, "//")
	}
	trimmed := strings.TrimSuffix(folder, "/")
	return folder[strings.LastIndexByte(trimmed, '/')+1:]
}

func last(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

func heat(n int) int {
	switch {
	case n >= 20:
		return 5
	case n >= 8:
		return 4
	case n >= 4:
		return 3
	case n >= 2:
		return 2
	}
	return min(n, 1)
}

func (v *locksView) title() (string, string) {
	if v.locks == 0 && v.waits == 0 && v.dirty == 0 {
		return "No locks held", ""
	}
	var say []string
	if v.tightestWaits > 0 {
		say = append(say, fmt.Sprintf("%s is the tightest spot: %s for it.", v.tightest, map[bool]string{true: "one agent waits", false: strings.ToLower(count(v.tightestWaits)) + " agents wait"}[v.tightestWaits == 1]))
	} else {
		say = append(say, "Nobody waits for another.")
	}
	if v.dirty > 0 {
		say = append(say, fmt.Sprintf("%s %s written without a lock.", count(v.dirty), plural(v.dirty, "file was", "files were")))
	}
	return number(v.locks, "lock", "locks") + ", " + number(v.waits, "wait", "waits"), strings.Join(say, " ")
}
