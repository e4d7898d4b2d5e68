package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Token is a personal access token that the fake accepts.
const Token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"

// Host is the host of every repository's page and remote, whatever the server's address.
const Host = "github.com"

// Server is a fake GitHub. Its methods are safe for concurrent use.
type Server struct {
	// URL is the API's base.
	URL string

	t   testing.TB
	ops map[string]*operation
	web *httptest.Server

	mu        sync.Mutex
	closed    bool
	nextID    int64
	repos     map[string]*Repo // by owner/name in lower case
	apps      map[int64]*App
	calls     map[string]int
	faults    []*Fault
	limit     *limit
	hooks     []*Hook
	members   map[string]bool // org/team/login
	timers    map[*time.Timer]bool
	work      sync.WaitGroup // what goes on by itself
	again     sync.WaitGroup // redeliveries under way
	violation []string
}

// Fault is a failure of the fake, for as many requests as Times says.
type Fault struct {
	Operation string // one of Operations; "" for any
	Times     int
	Status    int // 0 with Cut: the connection breaks
	Header    http.Header
	Body      string
	// Cut breaks the connection without an answer. With After the request is carried out first.
	Cut   bool
	After bool
}

type limit struct {
	remaining int
	reset     time.Time
}

// New starts a fake GitHub that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	ops, err := operations()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{
		t: t, ops: ops, nextID: 1000, repos: map[string]*Repo{}, apps: map[int64]*App{}, calls: map[string]int{}, members: map[string]bool{},
		timers: map[*time.Timer]bool{},
	}
	s.web = httptest.NewServer(s.routes())
	s.URL = s.web.URL
	t.Cleanup(s.close)
	return s
}

func (s *Server) close() {
	s.mu.Lock()
	s.closed = true
	for timer := range s.timers {
		if timer.Stop() {
			s.work.Done()
		}
	}
	s.mu.Unlock()
	s.work.Wait()
	s.web.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.violation {
		s.t.Errorf("fake GitHub: %s", v)
	}
}

// Calls says how many requests an operation has had, refused ones included.
func (s *Server) Calls(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[operation]
}

// Fail makes requests fail.
func (s *Server) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// Limit sets how many requests the primary rate limit leaves until reset.
func (s *Server) Limit(remaining int, reset time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = &limit{remaining, reset}
}

// SecondaryLimit is the fault of a secondary rate limit, as GitHub words it.
func SecondaryLimit(operation string, times int, retryAfter time.Duration) Fault {
	return Fault{
		Operation: operation, Times: times, Status: http.StatusForbidden,
		Header: http.Header{"Retry-After": {strconv.Itoa(int(retryAfter.Seconds()))}},
		Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",` +
			`"documentation_url":"https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`,
	}
}

// AddMember makes a login a member of org/team.
func (s *Server) AddMember(team, login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members[team+"/"+login] = true
}

func (s *Server) id() int64 { s.nextID++; return s.nextID }

// violate notes something that the test must fail for. s.mu is held.
func (s *Server) violate(format string, args ...any) {
	s.violation = append(s.violation, fmt.Sprintf(format, args...))
}

// after runs f later unless the server has ended. s.mu is held.
func (s *Server) after(d time.Duration, f func()) {
	if s.closed {
		return
	}
	s.work.Add(1)
	var timer *time.Timer
	fire := func() {
		defer s.work.Done()
		s.mu.Lock()
		delete(s.timers, timer)
		closed := s.closed
		s.mu.Unlock()
		if !closed {
			f()
		}
	}
	timer = time.AfterFunc(d, fire)
	s.timers[timer] = true
}

// call is one request on its way through the fake.
type call struct {
	*http.Request
	op     *operation
	params map[string]string
	body   []byte
	who    identity
	repo   *Repo
}

// reply is what a handler answers.
type reply struct {
	status int
	header http.Header
	body   any // nil: empty
}

func answer(status int, body any) reply { return reply{status: status, body: body} }

// refuse is an error as GitHub words it.
func refuse(status int, format string, args ...any) reply {
	return reply{status: status, body: object{"message": fmt.Sprintf(format, args...), "documentation_url": "https://docs.github.com/rest"}}
}

func notFound() reply { return refuse(http.StatusNotFound, "Not Found") }

type object = map[string]any

type handler func(c *call) reply

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for name, h := range s.handlers() {
		method, path, _ := strings.Cut(name, " ")
		path = strings.Replace(path, "{path}", "{path...}", 1)
		path = strings.Replace(path, "{basehead}", "{basehead...}", 1)
		op := s.ops[name]
		for _, prefix := range []string{"", "/api/v3"} { // github.com and GitHub Enterprise Server
			mux.HandleFunc(method+" "+prefix+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, op, h) })
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.violate("the fake does not know %s %s", r.Method, r.URL.Path)
		http.NotFound(w, r)
	})
	return mux
}

func (s *Server) handlers() map[string]handler {
	all := map[string]handler{}
	for _, part := range []map[string]handler{s.repoHandlers(), s.statusHandlers(), s.actionHandlers(), s.hookHandlers(), s.appHandlers()} {
		for name, h := range part {
			all[name] = h
		}
	}
	return all
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, op *operation, h handler) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c := &call{Request: r, op: op, params: map[string]string{}, body: body}
	for _, p := range op.route.Operation.Parameters {
		if p.Value.In == "path" {
			c.params[p.Value.Name] = r.PathValue(p.Value.Name)
		}
	}
	s.mu.Lock()
	s.calls[op.name]++
	s.check(c)
	fault := s.fault(op.name)
	var out reply
	switch {
	case fault != nil && !fault.After:
		out = reply{status: fault.Status, header: fault.Header, body: json.RawMessage(fault.Body)}
	case s.limited():
		out = reply{status: http.StatusForbidden, body: object{
			"message": "API rate limit exceeded for user ID 1.", "documentation_url": "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api",
		}}
	default:
		out = s.handle(c, h)
	}
	header := s.limitHeader()
	s.mu.Unlock()
	if fault != nil && fault.Cut {
		cut(w)
		return
	}
	if fault != nil && fault.After {
		out = reply{status: fault.Status, header: fault.Header, body: json.RawMessage(fault.Body)}
	}
	s.write(w, c, out, header, fault == nil)
}

// check holds a request against GitHub's description. s.mu is held.
func (s *Server) check(c *call) {
	c.Body = io.NopCloser(bytes.NewReader(c.body))
	if err := c.op.request(c.Request, c.params); err != nil {
		s.violate("%s %s: %v; body %.300s", c.Method, c.URL, err, c.body)
	}
	if ua := c.Header.Get("User-Agent"); ua == "" || strings.HasPrefix(ua, "Go-http-client") && c.op.name != "POST /app/installations/{installation_id}/access_tokens" {
		s.violate("%s %s names no user agent of its own (%q)", c.Method, c.URL, ua)
	}
}

func (s *Server) fault(op string) *Fault {
	for _, f := range s.faults {
		if f.Times > 0 && (f.Operation == "" || f.Operation == op) {
			f.Times--
			return f
		}
	}
	return nil
}

func (s *Server) limited() bool {
	if s.limit == nil || time.Now().After(s.limit.reset) {
		return false
	}
	if s.limit.remaining <= 0 {
		return true
	}
	s.limit.remaining--
	return false
}

func (s *Server) limitHeader() http.Header {
	h := http.Header{"X-Ratelimit-Limit": {"5000"}, "X-Ratelimit-Remaining": {"4999"}, "X-Ratelimit-Reset": {strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)}}
	if s.limit != nil && time.Now().Before(s.limit.reset) {
		h.Set("X-Ratelimit-Remaining", strconv.Itoa(s.limit.remaining))
		h.Set("X-Ratelimit-Reset", strconv.FormatInt(s.limit.reset.Unix(), 10))
	}
	return h
}

// handle authenticates, finds the repository and carries out. s.mu is held.
func (s *Server) handle(c *call, h handler) reply {
	c.who = s.identify(c.Header.Get("Authorization"))
	if c.who.kind == "" {
		return refuse(http.StatusUnauthorized, "Bad credentials")
	}
	if owner, ok := c.params["owner"]; ok {
		c.repo = s.repos[strings.ToLower(owner+"/"+c.params["repo"])]
		if c.repo == nil || c.who.kind == "installation" && !c.who.app.covers(c.repo) {
			return notFound()
		}
	}
	return h(c)
}

func (s *Server) write(w http.ResponseWriter, c *call, out reply, limits http.Header, checked bool) {
	var raw []byte
	if out.body != nil {
		var err error
		if raw, err = json.Marshal(out.body); err != nil {
			raw = []byte(`null`)
		}
	}
	for _, h := range []http.Header{limits, out.header} {
		for k, v := range h {
			w.Header()[http.CanonicalHeaderKey(k)] = v
		}
	}
	if raw != nil {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
	if checked && out.status < 400 {
		if err := c.op.response(c.Request, c.params, out.status, w.Header(), raw); err != nil {
			s.mu.Lock()
			s.violate("our own answer %d to %s %s: %v", out.status, c.Method, c.URL, err)
			s.mu.Unlock()
		}
	}
	w.WriteHeader(out.status)
	_, _ = w.Write(raw)
}

// cut breaks the connection.
func cut(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			conn.Close()
		}
	}
}

// page returns the bounds of the page that was asked for and the Link header, as GitHub cuts lists.
func (c *call) page(total, fallback int) (from, to int, header http.Header) {
	q := c.URL.Query()
	size := atoi(q.Get("per_page"), fallback)
	size = max(1, min(size, 100))
	n := max(1, atoi(q.Get("page"), 1))
	from = min((n-1)*size, total)
	to = min(from+size, total)
	if to < total {
		u := *c.URL
		q.Set("page", strconv.Itoa(n+1))
		u.RawQuery = q.Encode()
		header = http.Header{"Link": {fmt.Sprintf(`<http://%s%s>; rel="next"`, c.Host, u.RequestURI())}}
	}
	return from, to, header
}

func atoi(s string, fallback int) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return fallback
	}
	return n
}

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// orNil turns "" into null.
func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
