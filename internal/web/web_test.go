package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/httpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
	"github.com/agent-coordinator/agent-coordinator/internal/web"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// browser is somebody with a cookie.
type browser struct {
	t      *testing.T
	url    string
	cookie string
}

// page starts the service with its page.
func page(t *testing.T) (srv *httptest.Server, ana *client.AgentCoordinationClient) {
	t.Helper()
	store, hub := coord.New(pgtest.New(t, pgtest.MaxConns(6))), dispatch.New(nil)
	store.WakeTo(hub)
	cat, pipe := ops.Catalogue(ops.Deps{Store: store, Hub: hub}), &op.Pipeline{Resolver: store, Once: store}
	static, err := httpapi.NewKeys([]string{"reviewer", "reader"}, `{"reviewer": {"scopes": ["admin"]}, "reader": {"scopes": ["read"]}}`)
	if err != nil {
		t.Fatal(err)
	}
	door := httpapi.New(cat, pipe, httpapi.Options{Auth: store, Static: static, Ping: store.Ping})
	door.Mount("/ui", web.New(web.Options{Catalogue: cat, Pipeline: pipe, Authenticate: door.Authenticate, Observe: hub.Observe}))
	srv = httptest.NewServer(door)
	t.Cleanup(func() { door.Stop(); srv.Close() })
	if ana, err = client.New(srv.URL, "reviewer", client.WithAgent("ana", "codex"), client.WithSession("ana-s")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ana.Close)
	return srv, ana
}

func (b *browser) do(method, path string, form url.Values, headers ...string) (int, string, http.Header) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if b.cookie != "" {
		req.Header.Set("Cookie", b.cookie)
	}
	res, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if c := res.Header.Get("Set-Cookie"); strings.HasPrefix(c, "coord_key=") {
		b.cookie, _, _ = strings.Cut(c, ";")
	}
	return res.StatusCode, string(raw), res.Header
}

func (b *browser) get(path string) string {
	b.t.Helper()
	status, body, _ := b.do(http.MethodGet, path, nil)
	if status != http.StatusOK {
		_, said, _ := strings.Cut(body, "<main")
		b.t.Fatalf("GET %s: %d\n%s", path, status, said)
	}
	return body
}

func login(t *testing.T, url_, key string) *browser {
	t.Helper()
	b := &browser{t: t, url: url_}
	if status, body, _ := b.do(http.MethodPost, "/ui/login", url.Values{"key": {key}}); status != http.StatusOK || b.cookie == "" {
		t.Fatalf("login: %d %s", status, body)
	}
	return b
}

func TestLogin(t *testing.T) {
	t.Parallel()
	srv, _ := page(t)
	b := &browser{t: t, url: srv.URL}
	status, _, h := b.do(http.MethodGet, "/ui/locks?q=a", nil)
	if status != http.StatusSeeOther || h.Get("Location") != "/ui/login?next=%2Fui%2Flocks%3Fq%3Da" {
		t.Errorf("without a key: %d %s", status, h.Get("Location"))
	}
	if status, body, _ := b.do(http.MethodPost, "/ui/login", url.Values{"key": {"wrong"}}); status != http.StatusUnauthorized || !strings.Contains(body, "No key like this one") || b.cookie != "" {
		t.Errorf("a wrong key: %d %s", status, b.cookie)
	}
	_, _, h = b.do(http.MethodPost, "/ui/login", url.Values{"key": {"reviewer"}, "next": {"//evil.example/"}})
	if c := h.Get("Set-Cookie"); !strings.Contains(c, "HttpOnly") || !strings.Contains(c, "SameSite=Strict") || !strings.Contains(h.Get("Refresh"), "url=/ui/") {
		t.Errorf("the cookie is %q, the way on %q", c, h.Get("Refresh"))
	}
	if csp := h.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("policy %q", csp)
	}
	if status, _, _ := b.do(http.MethodPost, "/ui/act/retry", url.Values{"id": {"x"}}, "Sec-Fetch-Site", "cross-site"); status != http.StatusForbidden {
		t.Errorf("another site's form: %d", status)
	}

	// The one-time link.
	if status, _, _ := (&browser{t: t, url: srv.URL}).do(http.MethodPost, "/ui/link", nil, "X-Api-Key", "wrong"); status != http.StatusUnauthorized {
		t.Errorf("a link for a wrong key: %d", status)
	}
	_, body, _ := (&browser{t: t, url: srv.URL}).do(http.MethodPost, "/ui/link", nil, "X-Api-Key", "reader")
	path := regexp.MustCompile(`/ui/login\?link=[0-9a-f]+`).FindString(body)
	one := &browser{t: t, url: srv.URL}
	one.get(path)
	one.get("/ui/")
	if status, _, _ := (&browser{t: t, url: srv.URL}).do(http.MethodGet, path, nil); status != http.StatusGone {
		t.Errorf("the link worked twice: %d", status)
	}
}

// Every view, empty and full, has no inline script or style and says its finding as the title.
func TestViews(t *testing.T) {
	t.Parallel()
	srv, ana := page(t)
	b := login(t, srv.URL, "reviewer")
	empty := map[string]string{
		"/ui/": "Nothing needs you", "/ui/fleet": "No agents yet", "/ui/locks": "No locks held", "/ui/board": "No work is waiting", "/ui/sessions": "No sessions yet",
		"/ui/changes": "No changes yet", "/ui/inbox": "No unread messages", "/ui/memory": "No memories yet", "/ui/runners": "No runners are online", "/ui/audit": "Who changed what",
	}
	inline := regexp.MustCompile(`(?i) style="| on[a-z]+="|<script>|<style>|javascript:`)
	check := func(path, title string) string {
		t.Helper()
		body := b.get(path)
		if !strings.Contains(body, "<h1>"+title+"</h1>") {
			t.Errorf("%s has the title %q, want %q", path, regexp.MustCompile(`<h1>.*?</h1>`).FindString(body), title)
		}
		if hit := inline.FindString(body); hit != "" {
			t.Errorf("%s has inline code: %q", path, hit)
		}
		return body
	}
	for path, title := range empty {
		check(path, title)
	}

	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		_, err := ana.AcquireLock(ctx, client.AcquireLock{FilePath: fmt.Sprintf("src/api/f%d.go", i), Reason: "<b>moving</b> things"})
		must(err)
	}
	task, err := ana.SubmitWork(ctx, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "fix", Description: "repair the <login> form"}})
	must(err)
	_, err = ana.Remember(ctx, client.Remember{Summary: "the tests need a database", Lessons: []string{"start it first"}})
	must(err)
	bob, err := client.New(srv.URL, "reviewer", client.WithAgent("bob", "codex"), client.WithSession("bob-s"))
	must(err)
	defer bob.Close()
	_, err = bob.ReportChanges(ctx, client.ReportChanges{Files: []client.ReportedFile{{FilePath: "src/api/f1.go"}}, Tool: "Bash"})
	must(err)

	if body := check("/ui/", "One thing needs you"); !strings.Contains(body, "Written without a lock: src/api/f1.go") || !strings.Contains(body, "(1) One thing") {
		t.Error("the violation is not shown first")
	}
	if body := check("/ui/locks?sel=src/api/f1.go%7Cana-s", "3 locks, 0 waits"); strings.Contains(body, "<b>moving") || !strings.Contains(body, "&lt;b&gt;moving") || !strings.Contains(body, "1<span class=\"sr\"> written without a lock") {
		t.Error("the lock map is wrong")
	}
	check("/ui/board", "One task is ready")
	check("/ui/fleet", "2 agents, 1 at work")
	check("/ui/tasks/"+task.TaskID, "repair the &lt;login&gt; form")
	check("/ui/memory?q=do+the+tests+need+a+database", "One memory fits")
	if status, body, _ := b.do(http.MethodGet, "/ui/tasks/00000000-0000-0000-0000-000000000000", nil); status != http.StatusNotFound || !strings.Contains(body, "there is no task") {
		t.Errorf("no such task: %d", status)
	}
	if status, _, _ := b.do(http.MethodGet, "/ui/nowhere", nil); status != http.StatusNotFound {
		t.Errorf("no such page: %d", status)
	}

	// A part is the view alone; the same again costs nothing.
	_, part, h := b.do(http.MethodGet, "/ui/board", nil, "X-Part", "main")
	if strings.Contains(part, "<html") || !strings.Contains(part, `id="main"`) {
		t.Error("a part is a whole page")
	}
	if status, _, _ := b.do(http.MethodGet, "/ui/board", nil, "X-Part", "main", "X-Have", h.Get("X-View")); status != http.StatusNoContent {
		t.Errorf("an unchanged part: %d", status)
	}
}

func TestActs(t *testing.T) {
	t.Parallel()
	srv, ana := page(t)
	b, ctx := login(t, srv.URL, "reviewer"), context.Background()
	if _, err := ana.AcquireLock(ctx, client.AcquireLock{FilePath: "a.go"}); err != nil {
		t.Fatal(err)
	}
	if body := b.get("/ui/dialog/release-lock?id=a.go%7Cana"); !strings.Contains(body, "Take the lock away") || !strings.Contains(body, "a.go, held by ana") || !strings.Contains(body, "Cannot be undone") {
		t.Errorf("the dialog: %s", body)
	}
	act := func(who *browser, name, id, reason string) (int, string) {
		status, body, _ := who.do(http.MethodPost, "/ui/act/"+name, url.Values{"id": {id}, "reason": {reason}})
		return status, body
	}
	if status, body := act(b, "release-lock", "a.go|ana", ""); status != http.StatusUnprocessableEntity || !strings.Contains(body, "A reason is needed") {
		t.Errorf("without a reason: %d %s", status, body)
	}
	reader := login(t, srv.URL, "reader")
	if status, body := act(reader, "release-lock", "a.go|ana", "because"); status != http.StatusForbidden || !strings.Contains(body, "Nothing was changed") {
		t.Errorf("a reader: %d %s", status, body)
	}
	if body := reader.get("/ui/dialog/release-lock?id=a.go%7Cana"); !strings.Contains(body, "Your key does not allow this") {
		t.Errorf("the reader's dialog: %s", body)
	}
	if status, body := act(b, "release-lock", "a.go|ana", "ana is away"); status != http.StatusOK || !strings.Contains(body, "The lock is free") {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := act(b, "release-lock", "a.go|ana", "ana is away"); status != http.StatusConflict || !strings.Contains(body, "Nobody held it any more") {
		t.Errorf("too late: %d %s", status, body)
	}
	task, err := ana.SubmitWork(ctx, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "t", Description: "d"}})
	if err != nil {
		t.Fatal(err)
	}
	if status, body := act(b, "cancel-task", task.TaskID, "not needed"); status != http.StatusOK {
		t.Errorf("cancel: %d %s", status, body)
	}
	if status, body := act(b, "retry", task.TaskID, ""); status != http.StatusConflict || !strings.Contains(body, "Nothing was changed") {
		t.Errorf("trying a cancelled task again: %d %s", status, body)
	}
	if status, body := act(b, "message", "ana", "look at a.go"); status != http.StatusOK {
		t.Errorf("message: %d %s", status, body)
	}
	inbox, err := ana.ListMessages(ctx, client.ListMessages{})
	if err != nil || inbox.Count != 1 || inbox.Messages[0].Text != "look at a.go" {
		t.Errorf("%+v, %v", inbox, err)
	}
}

// The stream says at once that it is there, and then when something changed.
func TestLiveSaysThatSomethingChanged(t *testing.T) {
	t.Parallel()
	srv, ana := page(t)
	b := login(t, srv.URL, "reader")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/ui/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Cookie", b.cookie)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	buf := make([]byte, 256)
	read := func() string {
		n, err := res.Body.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	if first := read(); !strings.HasPrefix(first, "event: news") {
		t.Fatalf("the first word is %q", first)
	}
	if _, err := ana.SubmitWork(ctx, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "t", Description: "d"}}); err != nil {
		t.Fatal(err)
	}
	for {
		if strings.HasPrefix(read(), "event: news") { // beats may come before
			return
		}
	}
}
