package web

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

//go:embed static
var staticFiles embed.FS

//go:embed templates/*.html
var templateFiles embed.FS

// Options are what the page needs.
type Options struct {
	Catalogue *op.Catalogue
	Pipeline  *op.Pipeline
	// Authenticate returns whose key it is; an empty key is tried, too: with authentication off everybody is let in.
	Authenticate func(ctx context.Context, key string) (ident.Principal, error)
	Observe      func(fn func(topic string)) func() // news of any kind (dispatch.Hub.Observe)
	Version      string
	Log          *slog.Logger
}

// Page serves everything below /ui/.
type Page struct {
	opts  Options
	tmpl  *template.Template
	mux   *http.ServeMux
	links *links
	asset string // changes with the static files
}

// view is one page of the map: what it shows and which template shows it.
type view struct {
	name, title, path, icon, key, group string
	build                               func(*request) (any, error)
}

// New builds the page. It panics when a template or a file of it is wrong.
func New(o Options) *Page {
	p := &Page{opts: o, mux: http.NewServeMux(), links: newLinks()}
	if p.opts.Log == nil {
		p.opts.Log = slog.New(slog.DiscardHandler)
	}
	p.tmpl = template.New("").Funcs(words).Funcs(template.FuncMap{"body": p.body})
	template.Must(p.tmpl.ParseFS(templateFiles, "templates/*.html"))
	static, err := fs.Sub(staticFiles, "static")
	if err != nil {
		panic(err)
	}
	sum := fnv.New64a()
	for _, f := range []string{"tokens.css", "components.css", "app.css", "app.js", "keys.js", "idiomorph.js"} {
		raw, err := fs.ReadFile(static, f)
		if err != nil {
			panic(err)
		}
		sum.Write(raw)
	}
	p.asset = fmt.Sprintf("%x", sum.Sum64())
	files := http.StripPrefix("/ui/static/", http.FileServerFS(static))
	p.mux.HandleFunc("GET /ui/static/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		files.ServeHTTP(w, r)
	})
	p.mux.HandleFunc("GET /ui/login", p.loginForm)
	p.mux.HandleFunc("POST /ui/login", p.login)
	p.mux.HandleFunc("POST /ui/logout", p.logout)
	p.mux.HandleFunc("POST /ui/theme", p.theme)
	p.mux.HandleFunc("POST "+linkPath, p.link)
	p.mux.HandleFunc("GET /ui/live", p.as(p.live))
	p.mux.HandleFunc("GET /ui/find", p.as(p.find))
	p.mux.HandleFunc("GET /ui/audit.ndjson", p.as(p.export))
	p.mux.HandleFunc("GET /ui/dialog/{action}", p.as(p.dialog))
	p.mux.HandleFunc("POST /ui/act/{action}", p.as(p.act))
	for _, v := range views {
		p.mux.HandleFunc("GET "+v.path, p.as(func(w http.ResponseWriter, q *request) { p.show(w, q, v) }))
	}
	p.mux.HandleFunc("GET /ui", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ui/", http.StatusSeeOther) })
	p.mux.HandleFunc("/ui/", p.as(func(w http.ResponseWriter, q *request) {
		p.problem(w, q, fault.New(client.CodeNotFound, "there is no such page", q.URL.Path, "go to Needs you"))
	}))
	return p
}

// policy allows nothing but this package's files.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.URL.Path != linkPath && !ownOrigin(r) {
		http.Error(w, "this request came from another site", http.StatusForbidden)
		return
	}
	p.mux.ServeHTTP(w, r)
}

// ownOrigin reports whether a changing request comes from this page itself. Browsers that send neither header are old
// enough to be refused.
func ownOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	u, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && u.Host != "" && u.Host == r.Host
}

// request is one request of somebody who is logged in.
type request struct {
	*http.Request
	page    *Page
	who     ident.Principal
	project string
	now     time.Time

	gathered *gathered // what the counts were made of
	seen     []client.Project
	sight    sync.Once
	took     timing
}

const (
	keyCookie     = "coord_key"
	projectCookie = "coord_project"
	themeCookie   = "theme"
)

// as lets in whoever is logged in.
func (p *Page) as(do func(http.ResponseWriter, *request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := ""
		if c, err := r.Cookie(keyCookie); err == nil {
			key = c.Value
		}
		who, err := p.opts.Authenticate(r.Context(), key)
		q := &request{Request: r, page: p, who: who, now: time.Now()}
		switch {
		case fault.Is(err, client.CodeUnauthenticated):
			if part(r) || r.Method != http.MethodGet {
				http.Error(w, "logged out", http.StatusUnauthorized)
				return
			}
			http.Redirect(w, r, "/ui/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
			return
		case err != nil:
			p.problem(w, q, err)
			return
		}
		if q.project = r.URL.Query().Get("project"); q.project != "" {
			http.SetCookie(w, &http.Cookie{Name: projectCookie, Value: q.project, Path: "/ui", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		} else if c, err := r.Cookie(projectCookie); err == nil {
			q.project = c.Value
		}
		if q.project == "" && who.ProjectID == 0 {
			q.project = q.busiest()
		}
		do(w, q)
	}
}

// projects are those the person may see.
func (q *request) projects() []client.Project {
	q.sight.Do(func() {
		if list, err := ask[client.Projects](q, "list_projects", nil); err == nil { // else the view itself says what is wrong
			q.seen = list.Projects
		}
	})
	return q.seen
}

// home is the repository of a project that has one alone: its name says nothing there, and paths are shown without it.
func (q *request) home() string {
	for _, p := range q.projects() {
		if (p.Project == q.project || len(q.seen) == 1) && len(p.Repositories) == 1 {
			return p.Repositories[0].Repository
		}
	}
	return ""
}

// busiest is the project that something was done in last: what somebody who chose none most likely wants to see.
func (q *request) busiest() string {
	best := client.Project{}
	for _, p := range q.projects() {
		if best.Project == "" || p.LastActivity > best.LastActivity {
			best = p
		}
	}
	return best.Project
}

// part reports whether only the view is asked for, to be morphed into the page.
func part(r *http.Request) bool { return r.Header.Get("X-Part") != "" }

// ask calls an operation as the person.
func ask[T any](q *request, name string, args map[string]any) (T, error) {
	var out T
	def := q.page.opts.Catalogue.Get(name)
	if def == nil {
		return out, fault.New(client.CodeInternal, "the service has no operation "+name, "", "")
	}
	claim := ident.Claim{Project: q.project}
	if strings.Contains(name, "lock") || strings.HasSuffix(name, "_violations") {
		claim.Repository = q.home() // paths of the only repository come without its name
	}
	if def.Acts || def.Mailbox {
		claim.Agent, claim.AgentType = q.actor(), "person"
	}
	ctx, cancel := context.WithTimeout(q.Context(), 10*time.Second)
	defer cancel()
	defer q.took.since(name, time.Now())
	if args == nil {
		args = map[string]any{}
	}
	res, err := q.page.opts.Pipeline.Call(ctx, def, op.Request{Principal: q.who, Claim: claim, Args: args, Door: "http", FromBody: true})
	if err != nil {
		return out, err
	}
	if v, ok := res.Body.(T); ok {
		return v, nil
	}
	raw, err := json.Marshal(res.Body)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return out, fmt.Errorf("reply of %s: %w", name, err)
	}
	return out, nil
}

// actor is the agent id under which a person's own acts stand.
func (q *request) actor() string {
	switch {
	case q.who.Agent != "":
		return q.who.Agent
	case q.who.Person != "":
		return "person-" + q.who.Person
	}
	return "person"
}

// may reports whether the person's key carries a scope.
func (q *request) may(s ident.Scope) bool { return q.who.May(s) }

// show renders a view, whole or as a part.
func (p *Page) show(w http.ResponseWriter, q *request, v view) {
	f := frame{View: v.name, Views: views, Asset: p.asset, Path: q.URL.RequestURI(), Who: q.who, Project: q.project, Now: q.now, Theme: theme(q.Request)}
	f.Pulse, f.PulseErr = pulseOf(q)
	if data, err := v.build(q); err != nil {
		f.Problem = fault.From(err)
	} else {
		f.Data = data
	}
	f.Title, f.Icon, f.Hints = v.title, f.Pulse.Icon(), hintsOf(v.name)
	if t, ok := f.Data.(titled); ok {
		f.Title, f.Sentence = t.title()
	}
	if f.Project == "" {
		if at, err := ask[client.WhoAmI](q, "whoami", nil); err == nil {
			f.Project = at.Project
		}
	}
	for _, p := range q.projects() {
		f.Projects = append(f.Projects, p.Project)
	}
	name := "page"
	if part(q.Request) {
		name = "part"
	}
	var b bytes.Buffer
	drawn := time.Now()
	if err := p.tmpl.ExecuteTemplate(&b, name, f); err != nil {
		p.opts.Log.ErrorContext(q.Context(), "view not rendered", "view", v.name, "err", err)
		http.Error(w, "this view could not be drawn; the service itself goes on", http.StatusInternalServerError)
		return
	}
	tag := fnv.New64a()
	tag.Write(b.Bytes())
	etag := fmt.Sprintf(`"%x"`, tag.Sum64())
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-View", etag)
	q.took.since("draw", drawn)
	w.Header().Set("Server-Timing", q.took.header(q.now))
	if part(q.Request) && q.Header.Get("X-Have") == etag {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if f.Problem != nil {
		w.WriteHeader(f.Problem.Status)
	}
	_, _ = w.Write(b.Bytes())
}

// body draws the view itself within its frame: the template of the view's name.
func (p *Page) body(f frame) (template.HTML, error) {
	var b bytes.Buffer
	err := p.tmpl.ExecuteTemplate(&b, f.View, f)
	return template.HTML(b.String()), err //nolint:gosec // a template made it
}

// problem shows a failure in the page's own frame.
func (p *Page) problem(w http.ResponseWriter, q *request, err error) {
	f := frame{Views: views, Asset: p.asset, Path: q.URL.RequestURI(), Who: q.who, Project: q.project, Now: q.now, Problem: fault.From(err), Theme: theme(q.Request), Title: "This page cannot be shown", Icon: "ok"}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(f.Problem.Status)
	if err := p.tmpl.ExecuteTemplate(w, "page", f); err != nil {
		p.opts.Log.ErrorContext(q.Context(), "problem not rendered", "err", err)
	}
}

// titled views compute their title and the sentence below it from what they found.
type titled interface {
	title() (title, sentence string)
}

// frame is what every page has around its view.
type frame struct {
	View, Title, Sentence, Path, Project, Asset, Theme string
	Views                                              []view
	Projects                                           []string
	Who                                                ident.Principal
	Pulse                                              pulse
	PulseErr                                           error
	Problem                                            *fault.Error
	Data                                               any
	Now                                                time.Time
	Icon                                               string // of the tab: what is worst
	Hints                                              []hint
}

// segment is one of several ways to show a view. A negative count is not shown.
type segment struct {
	Key, Text, URL string
	Count          int
}

// hint is a key of the view and what it does.
type hint struct {
	Keys []string
	Text string
}

// hintsOf are the keys of a view that are worth a place at its foot.
func hintsOf(view string) []hint {
	move, open, message := hint{[]string{"j", "k"}, "Move"}, hint{[]string{"↵"}, "Open"}, hint{[]string{"m"}, "Message"}
	switch view {
	case "needs":
		return []hint{move, {[]string{"a"}, "Approve or do"}, {[]string{"d"}, "Deny"}, message, {[]string{"s"}, "Snooze"}}
	case "fleet":
		return []hint{move, open, {[]string{"m"}, "Message all"}}
	case "agent":
		return []hint{message, {[]string{"n"}, "Nudge"}, {[]string{"p"}, "Pause"}, {[]string{"h"}, "Hand off"}}
	case "locks":
		return []hint{move, {[]string{"→", "←"}, "Open, close"}, open, {[]string{"f"}, "Force release"}, {[]string{"m"}, "Message holder"}, {[]string{"/"}, "Filter"}}
	case "board":
		return []hint{move, open, {[]string{"1", "9"}, "Priority"}, {[]string{"x"}, "Select"}, {[]string{"c"}, "New task"}}
	case "session":
		return []hint{move, {[]string{"e"}, "Next problem"}, message}
	case "change":
		return []hint{{[]string{"a"}, "Approve"}, {[]string{"d"}, "Deny"}, {[]string{"r"}, "Run what failed again"}}
	case "memory":
		return []hint{{[]string{"/"}, "Ask"}, move, open, {[]string{"c"}, "Write one"}}
	}
	return []hint{move, open, {[]string{"/"}, "Filter"}}
}
