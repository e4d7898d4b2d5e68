package supa_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
	"github.com/agent-coordinator/agent-coordinator/internal/supa"
	"github.com/agent-coordinator/agent-coordinator/internal/supa/standin"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const jwtSecret = "a secret of at least thirty-two characters"

// place is a database with two projects that are in use, and a Data API over it whose answers a test can spoil.
type place struct {
	t      *testing.T
	pool   *pgxpool.Pool
	api    *standin.Server
	url    string
	spoil  atomic.Pointer[http.HandlerFunc]
	mu     sync.Mutex
	header http.Header // of the latest request
	asked  int
	mine   ident.Caller
	other  ident.Caller
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, pool: pgtest.New(t, pgtest.MaxConns(6))}
	p.api = &standin.Server{Pool: p.pool, Secret: jwtSecret, PublishableKey: "sb_publishable_x", SecretKey: "sb_secret_x"}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.header = r.Header.Clone()
		p.asked++
		p.mu.Unlock()
		if h := p.spoil.Load(); h != nil {
			(*h)(w, r)
			return
		}
		p.api.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	p.url = srv.URL
	direct := coord.New(p.pool)
	p.mine, p.other = p.caller(direct, "mine"), p.caller(direct, "other")
	for i, c := range []ident.Caller{p.mine, p.other} {
		for _, path := range []string{"a.go", "dir/", "{x,y}/*.go", "api:users", `we,ird "(name).go`} {
			p.must(direct.AcquireLock(context.Background(), c, client.AcquireLock{FilePath: path, Reason: c.Project}, nil))
		}
		for n := range 5 + i {
			p.must(direct.SubmitWork(context.Background(), c, client.SubmitWork{TaskSpec: client.TaskSpec{
				TaskType: "t", Description: fmt.Sprintf("%s %d", c.Project, n), Tags: []string{"a,b", `c"d`}, Files: []string{"x.go"},
			}}))
		}
		p.must(direct.ClaimWork(context.Background(), c, client.GetWork{Tags: []string{"a,b", `c"d`}}))
		for n := range 3 {
			p.must(direct.CreateOrchestratedSession(context.Background(), c, client.CreateOrchestratedSession{SessionID: fmt.Sprintf("ses_%s%d", c.Project, n)}))
		}
	}
	return p
}

func (p *place) caller(s *coord.Store, project string) ident.Caller {
	p.t.Helper()
	c, err := s.Resolve(context.Background(), ident.Principal{Name: "key:test", Scopes: []ident.Scope{ident.Write}},
		ident.Claim{Project: project, Agent: "ana-" + project, Session: "s"}, true)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

func (p *place) must(_ any, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// store is a store that reads through the Data API with these keys.
func (p *place) store(secret, public string) *coord.Store {
	p.t.Helper()
	r, err := supa.NewReader(supa.Config{URL: p.url + "/", Secret: secret, Public: public})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(r.Close)
	s := coord.New(p.pool)
	s.ReadWith(r)
	return s
}

// lists reads every list that the Data API serves, in the wire's form; times that run are taken out.
func (p *place) lists(s *coord.Store, c ident.Caller) string {
	p.t.Helper()
	ctx := context.Background()
	var all []any
	add := func(v any, err error) {
		p.t.Helper()
		p.must(v, err)
		all = append(all, v)
	}
	locks := func(in client.CheckLocks) {
		out, err := s.CheckLocks(ctx, c, in)
		for i := range out.Locks {
			out.Locks[i].SecondsLeft = 0
		}
		add(out, err)
	}
	locks(client.CheckLocks{})
	locks(client.CheckLocks{Limit: 2})
	locks(client.CheckLocks{LockedBy: c.Agent})
	locks(client.CheckLocks{LockedBy: `no,body "(x)`})
	add(s.ListWork(ctx, c, client.ListWork{}))
	page, err := s.ListWork(ctx, c, client.ListWork{Limit: 2})
	add(page, err)
	add(s.ListWork(ctx, c, client.ListWork{Limit: 2, Cursor: page.NextCursor}))
	add(s.ListOrchestratedSessions(ctx, c, client.ListOrchestratedSessions{}))
	add(s.ListOrchestratedSessions(ctx, c, client.ListOrchestratedSessions{Limit: 1, Status: "pending"}))
	add(s.ListOrchestratedSessions(ctx, c, client.ListOrchestratedSessions{ParentSessionID: "none"}))
	raw, err := json.Marshal(all)
	p.must(raw, err)
	return string(raw)
}

const listReads = 10

// Whoever reads a list gets the same, whichever way it was read, and never a row of another project.
func TestBothReadersTellTheSame(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	direct := coord.New(p.pool)
	for name, keys := range map[string][2]string{
		"secret key": {"sb_secret_x", ""}, "service_role": {p.api.Token(`{"role": "service_role"}`), ""},
	} {
		remote := p.store(keys[0], keys[1])
		for _, c := range []ident.Caller{p.mine, p.other} {
			want, got := p.lists(direct, c), p.lists(remote, c)
			if got != want {
				t.Errorf("%s: %s\nover the Data API: %s\nover the pool:     %s", name, c.Project, got, want)
			}
			if not := map[string]string{"mine": "other", "other": "mine"}[c.Project]; strings.Contains(want, not) || !strings.Contains(want, c.Project) {
				t.Errorf("project %s is shown %s", c.Project, want)
			}
		}
		if st := remote.ReadStats(); st.DataAPI != 2*listReads || st.Fallback != 0 {
			t.Errorf("%s: %+v", name, st)
		}
		bearer := p.header.Get("Authorization")
		if strings.HasPrefix(keys[0], "sb_") != (bearer == "") || p.header.Get("Apikey") != keys[0] {
			t.Errorf("%s: sent as apikey %q, bearer %q", name, p.header.Get("Apikey"), bearer)
		}
	}
	if st := direct.ReadStats(); st.Postgres != 4*listReads || st.Bare {
		t.Errorf("over the pool: %+v", st)
	}
}

// A public key sees open projects only. An empty list it gets for another one is no answer.
func TestPublicKeysReadOpenProjectsOnly(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.pool.Exec(context.Background(), `update public.projects set anon_read = true where name = 'other'`))
	for _, key := range []string{"sb_publishable_x", p.api.Token(`{"role": "anon"}`)} {
		s := p.store("", key)
		if got := p.lists(s, p.other); !strings.Contains(got, "other") || s.ReadStats().DataAPI != listReads {
			t.Errorf("open project: %+v, %s", s.ReadStats(), got)
		}
		if got := p.lists(s, p.mine); !strings.Contains(got, "mine") {
			t.Errorf("the closed project looks empty: %s", got)
		}
		if st := s.ReadStats(); st.DataAPI != listReads || st.Fallback != listReads || st.Down {
			t.Errorf("%+v", st)
		}
	}
}

// Whatever the Data API does, the lists are right, soon, and the metrics say who answered.
func TestReadsFallBackToThePool(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	want := p.lists(coord.New(p.pool), p.mine)
	reply := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	hang := make(chan struct{})
	defer close(hang)
	for name, c := range map[string]struct {
		spoil http.HandlerFunc
		down  bool
	}{
		"a gateway's page":      {reply(502, "text/html", "<html>bad gateway</html>"), true},
		"a page that says ok":   {reply(200, "text/html", "<html>log in</html>"), true},
		"the key was withdrawn": {reply(401, "application/json", `{"message": "Unregistered API key"}`), true},
		"the view is unknown":   {reply(404, "application/json", `{"code": "PGRST205", "message": "no such table"}`), false},
		"not permitted":         {reply(403, "application/json", `{"code": "42501", "message": "permission denied"}`), false},
		"too many requests":     {reply(429, "application/json", `{"message": "slow down"}`), true},
		"an object, no list":    {reply(200, "application/json", `{"locks": []}`), false},
		"half a reply":          {reply(200, "application/json", `[{"file_path": "a`), false},
		"the connection breaks": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true},
		"it never answers": {func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}, true},
	} {
		s := p.store("sb_secret_x", "")
		p.spoil.Store(&c.spoil)
		if got := p.lists(s, p.mine); got != want {
			t.Errorf("%s: %s", name, got)
		}
		if st := s.ReadStats(); st.Fallback != listReads || st.Postgres != listReads || st.DataAPI != 0 || st.Down != c.down {
			t.Errorf("%s: %+v", name, st)
		}
	}
	p.spoil.Store(nil)
	// A Data API that was away is asked once, not by every call.
	s := p.store("sb_secret_wrong", "")
	p.mu.Lock()
	p.asked = 0
	p.mu.Unlock()
	p.lists(s, p.mine)
	if p.asked != 1 {
		t.Errorf("asked %d times", p.asked)
	}
}

// PostgREST cuts lists at its administrator's limit without a word.
func TestCutListsAreNoticed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.api.MaxRows = 3
	s := p.store("sb_secret_x", "")
	out, err := s.ListWork(context.Background(), p.mine, client.ListWork{})
	if err != nil || out.Count != 5 {
		t.Fatalf("%+v, %v", out, err)
	}
	if st := s.ReadStats(); st.Fallback != 1 || st.Down {
		t.Fatalf("%+v", st)
	}
	if out, err = s.ListWork(context.Background(), p.mine, client.ListWork{Limit: 2}); err != nil || out.Count != 2 || !out.Truncated {
		t.Fatalf("%+v, %v", out, err)
	}
	if st := s.ReadStats(); st.DataAPI != 1 {
		t.Fatalf("a page within the limit: %+v", st)
	}
}

// A reader's call ends with its context; its error names neither key nor inner address.
func TestCallsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	arrived := make(chan struct{}, 1)
	hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived <- struct{}{}; <-r.Context().Done() })
	p.spoil.Store(&hang)
	r, err := supa.NewReader(supa.Config{URL: p.url, Secret: "sb_secret_x"})
	p.must(r, err)
	defer r.Close()
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-arrived; cancel() }()
	began := time.Now()
	_, err = r.ReadRows(ctx, coord.RowQuery{View: "lock_list", Columns: []string{"file_path"}, Project: p.mine, Limit: 1})
	if !fault.Is(err, client.CodeUnavailable) || time.Since(began) > 10*time.Second {
		t.Fatal(err)
	}
	if text := err.Error() + fault.From(err).Why; strings.Contains(text, "sb_secret") || strings.Contains(text, "coord-supabase") {
		t.Fatal(text)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []supa.Config{
		{URL: "abc.supabase.co", Secret: "k"}, {URL: "https://abc.supabase.co"}, {URL: "https://abc.supabase.co", Secret: "a b"}, {URL: "ftp://abc", Secret: "k"},
	} {
		if _, err := supa.NewReader(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
