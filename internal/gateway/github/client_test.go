package github_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	ghexec "github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/github"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/github"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubtest"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

func TestMain(m *testing.M) {
	code := m.Run()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if err := goleak.Find(); err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

var (
	head   = strings.Repeat("a", 40)
	other  = strings.Repeat("b", 40)
	base   = strings.Repeat("c", 40)
	mainly = "main"
)

// config is a client's configuration for the fake.
func config(s *githubtest.Server) github.Config {
	return github.Config{API: s.URL, Server: "https://" + githubtest.Host, Token: githubtest.Token}
}

func client(t *testing.T, c github.Config) *github.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c.Transport = transport
	got, err := github.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func start(t *testing.T) (*githubtest.Server, *githubtest.Repo, *github.Client) {
	t.Helper()
	s := githubtest.New(t)
	return s, s.AddRepo("acme/shop", ""), client(t, config(s))
}

func numbered(n int) ([]githubtest.File, map[string]string) {
	files, modes := make([]githubtest.File, 0, n), map[string]string{}
	for i := range n {
		path := fmt.Sprintf("src/f%04d.go", i)
		files = append(files, githubtest.File{Path: path, Status: "modified", Additions: 1, Deletions: 2})
		modes[path] = "100644"
	}
	return files, modes
}

func TestFilesOfAPullRequest(t *testing.T) {
	t.Parallel()
	_, r, c := start(t)
	r.AddPull(githubtest.Pull{Number: 7, Head: head, HeadRef: "topic", Base: base, Author: "ada", Files: []githubtest.File{
		{Path: "a.go", Status: "modified", Additions: 3, Deletions: 1},
		{Path: "new/b.go", Previous: "old/b.go", Status: "renamed"},
		{Path: "gone.go", Status: "removed", Deletions: 9},
		{Path: "vendor/lib", Status: "added"},
		{Path: "ln", Status: "added"},
	}})
	r.SetTree(head, map[string]string{"a.go": "100644", "new/b.go": "100755", "vendor/lib": "160000", "ln": "120000"}, false)
	ref := gateway.ChangeRef{Repository: r.Remote(), PullNumber: 7, HeadSHA: head, BaseRef: mainly, BaseSHA: base, Branch: "topic"}
	got, truncated, err := c.ChangedFiles(t.Context(), ref)
	want := []route.File{
		{Path: "a.go", Status: "modified", Additions: 3, Deletions: 1, Mode: "100644"},
		{Path: "new/b.go", PreviousPath: "old/b.go", Status: "renamed", Mode: "100755"},
		{Path: "gone.go", Status: "removed", Deletions: 9},
		{Path: "vendor/lib", Status: "added", Mode: "160000"},
		{Path: "ln", Status: "added", Mode: "120000"},
	}
	if err != nil || truncated || !slices.Equal(got, want) {
		t.Fatalf("got %+v, %v, %v", got, truncated, err)
	}
	r.SetTree(head, map[string]string{"a.go": "100644"}, true)
	if _, truncated, err = c.ChangedFiles(t.Context(), ref); err != nil || !truncated {
		t.Errorf("a tree that is not whole: %v, %v", truncated, err)
	}
}

func TestFilesBeyondTheCaps(t *testing.T) {
	t.Parallel()
	_, r, c := start(t)
	for _, n := range []int{0, 1, 100, 101, 2999, 3000, 3100} {
		files, modes := numbered(n)
		r.AddPull(githubtest.Pull{Number: 7, Head: head, HeadRef: "topic", Base: base, Files: files})
		r.SetTree(head, modes, false)
		got, truncated, err := c.ChangedFiles(t.Context(), gateway.ChangeRef{Repository: r.Remote(), PullNumber: 7, HeadSHA: head})
		if err != nil || len(got) != min(n, 3000) || truncated != (n >= 3000) {
			t.Errorf("pull request of %d files: %d, truncated %v, %v", n, len(got), truncated, err)
		}
	}
	files, modes := numbered(5)
	r.AddPull(githubtest.Pull{Number: 7, Head: head, HeadRef: "topic", Base: base, Files: files, ChangedFiles: 6})
	r.SetTree(head, modes, false)
	if _, truncated, err := c.ChangedFiles(t.Context(), gateway.ChangeRef{Repository: r.Remote(), PullNumber: 7, HeadSHA: head}); err != nil || !truncated {
		t.Errorf("a list shorter than the pull request claims: %v, %v", truncated, err)
	}
	for _, n := range []int{0, 299, 300, 301} {
		files, modes := numbered(n)
		r.SetComparison("main", other, githubtest.Comparison{Status: "ahead", Files: files})
		r.SetTree(other, modes, false)
		got, truncated, err := c.ChangedFiles(t.Context(), gateway.ChangeRef{Repository: r.Remote(), Branch: "topic", HeadSHA: other})
		if err != nil || len(got) != min(n, 300) || truncated != (n >= 300) {
			t.Errorf("comparison of %d files: %d, truncated %v, %v", n, len(got), truncated, err)
		}
	}
}

// A pull request's list tells of its present head; a changeset of another head must not be routed by it.
func TestFilesOfAHeadThatMovedOn(t *testing.T) {
	t.Parallel()
	s, r, c := start(t)
	r.AddPull(githubtest.Pull{Number: 7, Head: other, HeadRef: "topic", Base: base, Files: []githubtest.File{{Path: "harmless.md", Status: "added"}}})
	r.SetComparison(base, head, githubtest.Comparison{Status: "ahead", Files: []githubtest.File{{Path: "src/auth/token.go", Status: "added"}}})
	r.SetTree(head, map[string]string{"src/auth/token.go": "100644"}, false)
	ref := gateway.ChangeRef{Repository: r.Remote(), PullNumber: 7, HeadSHA: head, BaseRef: mainly, BaseSHA: base}
	check := func(when string) {
		t.Helper()
		got, _, err := c.ChangedFiles(t.Context(), ref)
		if err != nil || len(got) != 1 || got[0].Path != "src/auth/token.go" {
			t.Errorf("%s: got %+v, %v", when, got, err)
		}
	}
	check("before the call")
	r.AddPull(githubtest.Pull{Number: 7, Head: head, HeadRef: "topic", Base: base, Files: []githubtest.File{{Path: "harmless.md", Status: "added"}}})
	r.MovePullFiles(7, other)
	check("between the calls")
	if n := s.Calls("GET /repos/{owner}/{repo}/compare/{basehead}"); n != 2 {
		t.Errorf("%d comparisons", n)
	}
}

func TestFilesOfAPushToTheDefaultBranch(t *testing.T) {
	t.Parallel()
	_, r, c := start(t)
	r.SetComparison(base, head, githubtest.Comparison{Status: "ahead", Files: []githubtest.File{{Path: "a.go", Status: "modified"}}})
	r.SetTree(head, map[string]string{"a.go": "100644"}, false)
	ref := gateway.ChangeRef{Repository: r.Remote(), Branch: mainly, HeadSHA: head, BaseSHA: base}
	if got, truncated, err := c.ChangedFiles(t.Context(), ref); err != nil || truncated || len(got) != 1 {
		t.Errorf("push: %+v, %v, %v", got, truncated, err)
	}
	r.SetComparison(base, head, githubtest.Comparison{Status: "diverged", Files: []githubtest.File{{Path: "a.go", Status: "modified"}}})
	if _, truncated, err := c.ChangedFiles(t.Context(), ref); err != nil || !truncated {
		t.Errorf("force-push: %v, %v", truncated, err)
	}
	ref.BaseSHA = ""
	if _, truncated, err := c.ChangedFiles(t.Context(), ref); err != nil || !truncated {
		t.Errorf("first push: %v, %v", truncated, err)
	}
}

func TestContributors(t *testing.T) {
	t.Parallel()
	_, r, c := start(t)
	commits := []githubtest.Commit{
		{SHA: head, Author: "ada", Committer: "web-flow", Message: "x\n\nCo-authored-by: Eve <42+eve@users.noreply.github.com>\nCo-Authored-By: Mal <mal@example.org>\n"},
		{SHA: other, AuthorEmail: "Unknown@Example.org", Committer: "bob"},
	}
	for i := range 300 {
		commits = append(commits, githubtest.Commit{SHA: other, Author: fmt.Sprintf("u%d", i%3), Committer: "bob"})
	}
	r.AddPull(githubtest.Pull{Number: 7, Head: head, Base: base, Author: "opener"})
	r.SetComparison(base, head, githubtest.Comparison{Status: "ahead", Commits: commits})
	got, err := c.Contributors(t.Context(), gateway.ChangeRef{Repository: r.Remote(), PullNumber: 7, HeadSHA: head, BaseRef: mainly, BaseSHA: base})
	want := []string{"ada", "bob", "eve", "mal@example.org", "opener", "u0", "u1", "u2", "unknown@example.org"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	r.SetHistory(head, commits[:2])
	got, err = c.Contributors(t.Context(), gateway.ChangeRef{Repository: r.Remote(), Branch: mainly, HeadSHA: head})
	if want := []string{"ada", "bob", "eve", "mal@example.org", "unknown@example.org"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("a branch's first push: %v, %v", got, err)
	}
	for _, ref := range []gateway.ChangeRef{
		{Repository: r.Remote(), Branch: "local", HeadSHA: other}, {Repository: r.Remote(), Branch: mainly, HeadSHA: other}, {Repository: r.Remote(), PullNumber: 99, HeadSHA: other},
	} {
		if got, err := c.Contributors(t.Context(), ref); !errors.Is(err, gateway.ErrGone) {
			t.Errorf("a commit that GitHub does not have: %v, %v", got, err)
		}
		if got, _, err := c.ChangedFiles(t.Context(), ref); err == nil && ref.Branch != mainly {
			t.Errorf("files of a commit that GitHub does not have: %v", got)
		}
	}
	if got, err := c.Contributors(t.Context(), gateway.ChangeRef{Repository: "github.com/acme/secret", Branch: "x", BaseRef: mainly, HeadSHA: other}); err == nil || errors.Is(err, gateway.ErrGone) {
		t.Errorf("a repository that the token cannot see: %v, %v", got, err)
	}
}

func TestPermission(t *testing.T) {
	t.Parallel()
	s, r, c := start(t)
	for login, level := range map[string]string{"ada": "admin", "wes": "write", "rae": "read", "nat": "none"} {
		r.SetPermission(login, level)
		if got, err := c.Permission(t.Context(), r.Remote(), login); err != nil || got != level {
			t.Errorf("%s: %q, %v", login, got, err)
		}
	}
	for _, stranger := range []string{"nobody", "a/../b", "", "x y"} {
		if got, err := c.Permission(t.Context(), r.Remote(), stranger); err != nil || got != "none" {
			t.Errorf("%q: %q, %v", stranger, got, err)
		}
	}
	op := "GET /repos/{owner}/{repo}/collaborators/{username}/permission"
	s.Fail(githubtest.Fault{Operation: op, Times: 1, Status: http.StatusForbidden, Body: `{"message":"Must have push access to view collaborator permission."}`})
	if got, err := c.Permission(t.Context(), r.Remote(), "ada"); err == nil {
		t.Errorf("a token without the right to ask: %q", got)
	}
}

func TestReviewsStand(t *testing.T) {
	t.Parallel()
	_, r, c := start(t)
	var reviews []githubtest.Review
	for i := range 40 { // more than a page of chatter
		reviews = append(reviews, githubtest.Review{ID: int64(i), Login: "chatty", State: "COMMENTED", Commit: head})
	}
	reviews = append(reviews,
		githubtest.Review{ID: 50, Login: "bob", State: "APPROVED", Commit: other}, githubtest.Review{ID: 51, Login: "bob", State: "COMMENTED", Commit: head},
		githubtest.Review{ID: 52, Login: "cid", State: "APPROVED", Commit: head}, githubtest.Review{ID: 53, Login: "cid", State: "CHANGES_REQUESTED", Commit: head},
		githubtest.Review{ID: 54, State: "APPROVED", Commit: head})
	r.AddPull(githubtest.Pull{Number: 7, Head: head, Reviews: reviews})
	got, err := c.Reviews(t.Context(), r.Remote(), 7)
	if err != nil || len(got) != 2 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if got[0].Reviewer.Login != "bob" || got[0].State != "approved" || got[0].Commit != other || got[1].State != "changes_requested" {
		t.Errorf("got %+v", got)
	}
}

func TestOwners(t *testing.T) {
	t.Parallel()
	s, r, c := start(t)
	r.SetContent(base, "docs/CODEOWNERS", "* @nobody\n")
	r.SetContent(base, ".github/CODEOWNERS", "*.go @gopher\n/src/auth/ @acme/security sec@example.org\nbad[line @x\n/src/auth/open.go\n")
	got, err := c.Owners(t.Context(), r.Remote(), base, []string{"a/b.go", "src/auth/token.go", "src/auth/open.go", "README.md"})
	if err != nil || len(got) != 2 || !slices.Equal(got["a/b.go"], []string{"@gopher"}) || !slices.Equal(got["src/auth/token.go"], []string{"@acme/security", "sec@example.org"}) {
		t.Errorf("got %v, %v", got, err)
	}
	calls := s.Calls("GET /repos/{owner}/{repo}/contents/{path}")
	if _, err := c.Owners(t.Context(), r.Remote(), base, []string{"x.go"}); err != nil || s.Calls("GET /repos/{owner}/{repo}/contents/{path}") != calls {
		t.Errorf("read again: %v", err)
	}
	if got, err := c.Owners(t.Context(), r.Remote(), other, []string{"x.go"}); err != nil || len(got) != 0 {
		t.Errorf("a commit without the file: %v, %v", got, err)
	}
	s.AddMember("acme/security", "sam")
	for login, want := range map[string]bool{"sam": true, "eve": false} {
		if in, err := c.InTeam(t.Context(), r.Remote(), "@acme/security", login); err != nil || in != want {
			t.Errorf("%s in the team: %v, %v", login, in, err)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	s, r, c := start(t)
	r.AddCommit(head)
	op := "POST /repos/{owner}/{repo}/statuses/{sha}"
	st := gateway.Status{Repository: r.Remote(), HeadSHA: head, Context: gateway.StatusContext, State: gateway.StatusPending, Description: "Tier 0 runs", TargetURL: "not a url"}
	post := func(st gateway.Status) {
		t.Helper()
		if err := c.PostStatus(t.Context(), st); err != nil {
			t.Fatal(err)
		}
	}
	post(st)
	post(st) // coalesced
	st.State, st.Description, st.TargetURL = gateway.StatusFailure, strings.Repeat("é", 500), "https://gateway.example.org/changesets/1"
	post(st)
	got := r.Statuses(head)
	if len(got) != 2 || got[0].State != "pending" || got[0].TargetURL != "" || got[1].State != "failure" || len([]rune(got[1].Description)) != 140 || got[1].TargetURL == "" || got[1].Context != "gateway/verdict" {
		t.Errorf("got %+v", got)
	}
	if n := s.Calls(op); n != 2 {
		t.Errorf("%d calls", n)
	}
	st.HeadSHA = other
	if err := c.PostStatus(t.Context(), st); !errors.Is(err, gateway.ErrGone) {
		t.Errorf("a commit that is not there: %v", err)
	}
	st.Repository = "gitlab.com/acme/shop"
	if err := c.PostStatus(t.Context(), st); !errors.Is(err, gateway.ErrElsewhere) {
		t.Errorf("another host: %v", err)
	}
	st.Repository, st.HeadSHA = r.Remote(), head
	st.Description = "again"
	s.Fail(githubtest.Fault{Operation: op, Times: 1, Status: http.StatusBadGateway, Body: `{}`})
	if err := c.PostStatus(t.Context(), st); err == nil || errors.Is(err, gateway.ErrGone) {
		t.Errorf("a bad gateway: %v", err)
	}
	post(st)
}

func TestStatusesRunOut(t *testing.T) {
	t.Parallel()
	_, r, c := start(t)
	r.AddCommit(head)
	for i := range 1000 {
		st := gateway.Status{Repository: r.Remote(), HeadSHA: head, Context: gateway.StatusContext, State: gateway.StatusPending, Description: fmt.Sprint(i)}
		if err := c.PostStatus(t.Context(), st); err != nil {
			t.Fatal(err)
		}
	}
	st := gateway.Status{Repository: r.Remote(), HeadSHA: head, Context: gateway.StatusContext, State: gateway.StatusSuccess, Description: "one too many"}
	if err := c.PostStatus(t.Context(), st); !errors.Is(err, gateway.ErrGone) {
		t.Errorf("got %v", err)
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	s, r, _ := start(t)
	r.AddCommit(head)
	app := s.NewApp(r)
	cfg := config(s)
	cfg.AppID, cfg.PrivateKey = app.ID, app.PrivateKey
	c := client(t, cfg)
	var findings []executors.Finding
	for i := range 120 {
		findings = append(findings, executors.Finding{Tool: "vet", Rule: "copylocks", Level: []string{"error", "warning", "note"}[i%3], Message: "m", Path: "a.go", Line: i})
	}
	st := gateway.Status{Repository: r.Remote(), HeadSHA: head, Context: gateway.StatusContext, State: gateway.StatusPending, Description: "Tier 0 runs", ChangesetID: "cs1", TargetURL: "https://gateway.example.org/1"}
	for _, next := range []gateway.StatusState{gateway.StatusPending, gateway.StatusPending, gateway.StatusFailure} {
		st.State = next
		if next == gateway.StatusFailure {
			st.Findings, st.Description = findings, "vet: 120 findings"
		}
		if err := c.PostStatus(t.Context(), st); err != nil {
			t.Fatal(err)
		}
	}
	// After a restart nothing is known; the same status must not double the annotations.
	c = client(t, cfg)
	if err := c.PostStatus(t.Context(), st); err != nil {
		t.Fatal(err)
	}
	got := r.CheckRuns(head)
	if len(got) != 1 || got[0].Status != "completed" || got[0].Conclusion != "failure" || len(got[0].Annotations) != 120 || got[0].ExternalID != "cs1" || len(got[0].Actions) != 1 {
		t.Fatalf("got %d: %+v", len(got), got[0])
	}
	if a := got[0].Annotations[0]; a["start_line"] != float64(1) || a["annotation_level"] != "failure" {
		t.Errorf("annotation %v", a)
	}
	// Another round: a completed check run stays, a new one stands above it.
	for _, next := range []gateway.StatusState{gateway.StatusPending, gateway.StatusError, gateway.StatusPending, gateway.StatusSuccess} {
		st.State, st.Findings, st.Description = next, nil, "round two: "+string(next)
		if err := c.PostStatus(t.Context(), st); err != nil {
			t.Fatal(err)
		}
	}
	got = r.CheckRuns(head)
	conclusions := []string{}
	for _, run := range got {
		conclusions = append(conclusions, run.Conclusion)
	}
	if !slices.Equal(conclusions, []string{"failure", "failure", "success"}) || got[1].Title != "Could not be verified: round two: error" {
		t.Errorf("conclusions %v, title %q", conclusions, got[1].Title)
	}
	if len(r.Statuses(head)) != 0 {
		t.Error("an App shows check runs, no statuses beside them")
	}
	if token, err := c.GitToken(t.Context(), r.Remote()); err != nil || !strings.HasPrefix(token, "ghs_") {
		t.Errorf("token for git: %q, %v", token, err)
	}
	if n := s.Calls("POST /app/installations/{installation_id}/access_tokens"); n != 2 {
		t.Errorf("%d installation tokens for two clients", n)
	}
}

// A fault in the credentials is told as such, and never as an answer.
func TestCredentials(t *testing.T) {
	t.Parallel()
	s, r, _ := start(t)
	if _, err := github.New(github.Config{}); !errors.Is(err, github.ErrNoCredentials) {
		t.Errorf("none: %v", err)
	}
	if _, err := github.New(github.Config{AppID: 5, PrivateKey: []byte("no key")}); err == nil {
		t.Error("a broken key is accepted")
	}
	for _, bad := range []github.Config{{API: "ftp://x", Token: "t"}, {API: "api.github.com", Token: "t"}, {Server: "github.com", Token: "t"}, {Token: "t", Hooks: []github.Hook{{Repository: "x"}}}} {
		if _, err := github.New(bad); err == nil {
			t.Errorf("accepted %+v", bad)
		}
	}
	cfg := config(s)
	cfg.Token = "ghp_wrong"
	if got, err := client(t, cfg).Permission(t.Context(), r.Remote(), "ada"); err == nil {
		t.Errorf("a wrong token: %q", got)
	}
	elsewhere := s.NewApp() // installed nowhere
	cfg.AppID, cfg.PrivateKey = elsewhere.ID, elsewhere.PrivateKey
	if got, err := client(t, cfg).Permission(t.Context(), r.Remote(), "ada"); err == nil {
		t.Errorf("an App that is not installed: %q", got)
	}
}

func TestBaseURLs(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	r := s.AddRepo("acme/shop", "")
	r.SetPermission("ada", "write")
	for _, api := range []string{s.URL, s.URL + "/", s.URL + "/api/v3", s.URL + "/api/v3/"} {
		cfg := config(s)
		cfg.API = api
		if got, err := client(t, cfg).Permission(t.Context(), r.Remote(), "ada"); err != nil || got != "write" {
			t.Errorf("%s: %q, %v", api, got, err)
		}
	}
	for api, host := range map[string]string{
		"": "github.com", "https://api.github.com": "github.com", "https://GHE.corp.example/api/v3/": "ghe.corp.example", "https://api.octo.ghe.com": "octo.ghe.com",
	} {
		c, err := github.New(github.Config{API: api, Token: "t"})
		if err != nil || !c.Repository(host+"/acme/shop") || c.Repository("evil.example/acme/shop") || c.Repository(host+"/../x") || c.Repository(host+"/a/b/c") {
			t.Errorf("%q: %v", api, err)
		}
	}
}

// GitHub asking to wait is an error of its own, and the client waits: nothing more is sent.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	op := "GET /repos/{owner}/{repo}/collaborators/{username}/permission"
	for name, limit := range map[string]func(*githubtest.Server){
		"primary":   func(s *githubtest.Server) { s.Limit(0, time.Now().Add(time.Hour)) },
		"secondary": func(s *githubtest.Server) { s.Fail(githubtest.SecondaryLimit(op, 1, time.Minute)) },
		"bare 429": func(s *githubtest.Server) {
			s.Fail(githubtest.Fault{Operation: op, Times: 9, Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"7"}}, Body: `{"message":"slow down"}`})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, r, c := start(t)
			r.SetPermission("ada", "write")
			limit(s)
			_, err := c.Permission(t.Context(), r.Remote(), "ada")
			var wait *github.LimitError
			if !errors.As(err, &wait) || !errors.Is(err, ghexec.ErrLimited) || time.Until(wait.Until()) <= 0 {
				t.Fatalf("got %v", err)
			}
			if name == "bare 429" {
				return
			}
			if _, err := c.Permission(t.Context(), r.Remote(), "ada"); !errors.As(err, &wait) || s.Calls(op) != 1 {
				t.Errorf("asked %d times: %v", s.Calls(op), err)
			}
		})
	}
}

func TestCancelledContext(t *testing.T) {
	t.Parallel()
	_, r, c := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Permission(ctx, r.Remote(), "ada"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
