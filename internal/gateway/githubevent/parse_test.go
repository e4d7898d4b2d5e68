package githubevent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	head   = "ec26c3e57ca3a959ca5aad62de7213c562f8c821"
	before = "6113728f27ae82c7b1a177c8d03f9e96e0adf246"
	zeros  = "0000000000000000000000000000000000000000"
)

const repository = `"repository":{"id":7,"full_name":"Acme/Shop","html_url":"https://GitHub.com/Acme/Shop","clone_url":"https://github.com/Acme/Shop.git",` +
	`"default_branch":"main","pushed_at":1557933657,"updated_at":"2019-05-15T15:20:41Z"},"sender":{"login":"ada","id":3,"type":"User"}`

func pull(extra string) string {
	return `"pull_request":{"number":7,"title":"T","state":"open","html_url":"https://github.com/Acme/Shop/pull/7","user":{"login":"ada","id":3,"type":"User"},
	"author_association":"MEMBER","labels":[{"name":"locked:src/a"}],"updated_at":"2019-05-15T15:20:33Z",
	"head":{"ref":"topic","sha":"` + strings.ToUpper(head) + `","repo":{"id":7,"full_name":"Acme/Shop"}},
	"base":{"ref":"main","sha":"` + before + `","repo":{"id":7,"full_name":"Acme/Shop"}}` + extra + `}`
}

func object(members ...string) string { return "{" + strings.Join(members, ",") + "}" }

func parse(t *testing.T, event, payload string) Event {
	t.Helper()
	e, err := Parse(event, []byte(payload))
	if err != nil {
		t.Fatalf("%s: %v", event, err)
	}
	return e
}

func TestParsePush(t *testing.T) {
	t.Parallel()
	push := func(ref, from, to, extra string) string {
		return object(`"ref":"`+ref+`"`, `"before":"`+from+`"`, `"after":"`+to+`"`, repository+extra)
	}
	e := parse(t, "push", push("refs/heads/feature/x", before, head, `,"forced":true,"head_commit":{"message":"One\n\ntwo","author":{"email":"a@x","username":"ada"},"committer":{"email":"noreply@github.com","username":"web-flow"}}`))
	if e.Kind != KindHead || e.Change.Branch != "feature/x" || e.Change.Head != head || e.Change.Before != before || !e.Change.Forced ||
		e.Change.Title != "One" || e.Change.FetchRef != "refs/heads/feature/x" || e.Change.Created {
		t.Errorf("got %+v %+v", e, e.Change)
	}
	if e.Repository.Remote != "github.com/Acme/Shop" || e.Repository.DefaultBranch != "main" || e.Sender.Login != "ada" {
		t.Errorf("repository %+v sender %+v", e.Repository, e.Sender)
	}
	if want := time.Unix(1557933657, 0).UTC(); !e.At.Equal(want) {
		t.Errorf("at %v, want %v", e.At, want)
	}
	if want := []string{"ada", "a@x", "web-flow", "noreply@github.com"}; !slices.Equal(e.Change.Committers, want) {
		t.Errorf("committers %v", e.Change.Committers)
	}
	if e = parse(t, "push", push("refs/heads/new", zeros, head, `,"created":true`)); e.Kind != KindHead || !e.Change.Created || e.Change.Before != "" {
		t.Errorf("new branch: %+v", e.Change)
	}
	if e = parse(t, "push", push("refs/heads/old", before, zeros, `,"deleted":true`)); e.Kind != KindGone || e.Change.Head != "" || e.Change.Branch != "old" || e.Change.Before != before {
		t.Errorf("deleted branch: %+v", e.Change)
	}
	sha256 := strings.Repeat("ab", 32)
	if e = parse(t, "push", push("refs/heads/x", strings.Repeat("0", 64), sha256, "")); e.Kind != KindHead || e.Change.Head != sha256 || !e.Change.Created {
		t.Errorf("sha-256 repository: %+v", e.Change)
	}
	for ref, why := range map[string]string{
		"refs/tags/v1": "tag", "refs/notes/commits": "notes", "refs/heads/gh-readonly-queue/main/pr-104-929f8209": "queue",
	} {
		if e = parse(t, "push", push(ref, zeros, head, "")); e.Kind != KindIgnored || e.Ignored == "" || e.Change != nil {
			t.Errorf("%s: %+v", why, e)
		}
	}
}

func TestParsePullRequest(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"opened", "synchronize", "reopened", "ready_for_review", "converted_to_draft"} {
		e := parse(t, "pull_request", object(`"action":"`+action+`"`, `"before":"`+before+`"`, pull(`,"draft":true`), repository))
		c := e.Change
		if e.Kind != KindHead || c.Head != head || c.Base != before || c.BaseRef != "main" || c.PullRequest != 7 || c.Fork || !c.Draft ||
			c.FetchRef != "refs/pull/7/head" || c.AuthorAssociation != "MEMBER" || e.At.Year() != 2019 {
			t.Errorf("%s: %+v", action, c)
		}
		if (c.Before == before) != (action == "synchronize") {
			t.Errorf("%s: before %q", action, c.Before)
		}
	}
	if e := parse(t, "pull_request", object(`"action":"closed"`, pull(`,"merged":true`), repository)); e.Kind != KindGone || !e.Change.Merged {
		t.Errorf("closed: %+v", e)
	}
	if e := parse(t, "pull_request", object(`"action":"edited"`, `"changes":{"title":{"from":"x"}}`, pull(""), repository)); e.Kind != KindIgnored {
		t.Errorf("edited title: %+v", e)
	}
	if e := parse(t, "pull_request", object(`"action":"edited"`, `"changes":{"base":{"ref":{"from":"x"}}}`, pull(""), repository)); e.Kind != KindHead {
		t.Errorf("edited base: %+v", e)
	}
	e := parse(t, "pull_request", object(`"action":"labeled"`, `"label":{"name":"locked:src/b"}`, pull(""), repository))
	if e.Kind != KindLabels || !e.Labels.Added || e.Labels.Name != "locked:src/b" || !slices.Equal(e.Labels.All, []string{"locked:src/a"}) || !e.Labels.PullRequest {
		t.Errorf("labeled: %+v", e.Labels)
	}
	if e := parse(t, "pull_request", object(`"action":"assigned"`, pull(""), repository)); e.Kind != KindIgnored || e.Change != nil {
		t.Errorf("assigned: %+v", e)
	}
	for name, headRepo := range map[string]string{
		"a fork": `{"id":8,"full_name":"eve/Shop"}`, "a fork that is gone": `null`, "a repository without id": `{"full_name":"eve/Shop"}`,
	} {
		p := strings.Replace(pull(""), `"repo":{"id":7,"full_name":"Acme/Shop"}},
	"base"`, `"repo":`+headRepo+`},
	"base"`, 1)
		if e := parse(t, "pull_request", object(`"action":"opened"`, p, repository)); !e.Change.Fork {
			t.Errorf("%s is no fork: %+v", name, e.Change)
		}
	}
}

func TestParseOthers(t *testing.T) {
	t.Parallel()
	e := parse(t, "pull_request_review", object(`"action":"submitted"`, `"review":{"id":5,"state":"APPROVED","commit_id":"`+before+`","body":null,"user":{"login":"bob","id":4},"submitted_at":"2019-05-15T15:20:38Z"}`, pull(""), repository))
	if e.Kind != KindReview || e.Review.State != "approved" || e.Review.Commit != before || e.Change.Head != head || e.Review.Reviewer.Login != "bob" {
		t.Errorf("review: %+v", e.Review)
	}
	e = parse(t, "pull_request_review", object(`"action":"dismissed"`, `"review":{"id":5,"state":"dismissed","commit_id":null,"user":null}`, pull(""), repository))
	if e.Review.State != "dismissed" || e.Review.Commit != "" || e.At.IsZero() {
		t.Errorf("dismissed: %+v", e.Review)
	}
	e = parse(t, "issue_comment", object(`"action":"created"`, `"issue":{"number":7,"state":"open","pull_request":{}}`, `"comment":{"id":9,"body":"/override flaky host","user":{"login":"bob"},"author_association":"OWNER"}`, repository))
	if e.Kind != KindComment || !e.Comment.PullRequest || *e.Comment.Command != (Command{Name: "override", Argument: "flaky host"}) {
		t.Errorf("comment: %+v", e.Comment)
	}
	for _, action := range []string{"edited", "deleted"} {
		if e = parse(t, "issue_comment", object(`"action":"`+action+`"`, `"issue":{"number":7}`, `"comment":{"id":9,"body":"/approve"}`, repository)); e.Kind != KindIgnored {
			t.Errorf("%s comment: %+v", action, e)
		}
	}
	if e = parse(t, "issue_comment", object(`"action":"created"`, `"issue":{"number":7}`, `"comment":{"id":9,"body":"thanks"}`, repository)); e.Kind != KindIgnored {
		t.Errorf("chat: %+v", e)
	}
	e = parse(t, "issues", object(`"action":"labeled"`, `"label":{"name":"agent:bo"}`, `"issue":{"number":3,"title":"Do","body":"it","state":"open","labels":[{"name":"agent:bo"},{"name":"status:assigned"}]}`, repository))
	if e.Kind != KindLabels || e.Labels.Title != "Do" || !e.Labels.Open || !slices.Equal(AssignedAgents(e.Labels.All), []string{"bo"}) {
		t.Errorf("issue: %+v", e.Labels)
	}
	// GitHub's own example has dates without zone here.
	e = parse(t, "check_run", object(`"action":"rerequested"`, `"check_run":{"id":4,"name":"gateway/verdict","head_sha":"`+head+`","external_id":"cs1","app":{"id":12},"check_suite":{"head_branch":"topic","created_at":"2018-04-25 20:42:10","updated_at":"2018-04-25 20:42:10"}}`, repository))
	if e.Kind != KindRerequest || e.Rerequest.Head != head || e.Rerequest.ExternalID != "cs1" || e.Rerequest.AppID != 12 || e.Rerequest.Branch != "topic" {
		t.Errorf("check run: %+v", e.Rerequest)
	}
	e = parse(t, "check_run", object(`"action":"requested_action"`, `"requested_action":{"identifier":"rerun"}`, `"check_run":{"id":4,"head_sha":"`+head+`"}`, repository))
	if e.Rerequest.Action != "rerun" {
		t.Errorf("button: %+v", e.Rerequest)
	}
	e = parse(t, "check_suite", object(`"action":"rerequested"`, `"check_suite":{"head_sha":"`+head+`","head_branch":null,"updated_at":"2018-04-25 20:42:10"}`, repository))
	if e.Kind != KindRerequest || e.Rerequest.CheckRun != 0 || e.At.Year() != 2018 {
		t.Errorf("check suite: %+v at %v", e.Rerequest, e.At)
	}
	e = parse(t, "workflow_run", object(`"action":"completed"`, `"workflow_run":{"id":11,"run_attempt":2,"display_title":"verify 0F8FAD5B-D9CB-469F-A165-70867728950E","event":"workflow_dispatch","status":"completed","conclusion":"skipped","head_sha":"`+head+`"}`, repository))
	if r := e.WorkflowRun; e.Kind != KindWorkflowRun || r.CorrelationID != "0f8fad5b-d9cb-469f-a165-70867728950e" || r.Conclusion != "skipped" || r.Attempt != 2 {
		t.Errorf("workflow run: %+v", e.WorkflowRun)
	}
	e = parse(t, "workflow_job", object(`"action":"completed"`, `"workflow_job":{"run_id":11,"name":"build","status":"completed","conclusion":"success","completed_at":"2019-05-15T15:20:38Z"}`, repository))
	if e.Kind != KindWorkflowJob || e.WorkflowRun.ID != 11 || e.WorkflowRun.JobConclusion != "success" || e.At.IsZero() {
		t.Errorf("workflow job: %+v", e.WorkflowRun)
	}
	e = parse(t, "merge_group", object(`"action":"checks_requested"`, `"merge_group":{"head_sha":"`+head+`","head_ref":"refs/heads/gh-readonly-queue/main/pr-1-x","base_sha":"`+before+`","base_ref":"refs/heads/main"}`, repository))
	if e.Kind != KindHead || e.Change.Source != SourceMergeGroup || e.Change.BaseRef != "main" || e.Change.Base != before {
		t.Errorf("merge group: %+v", e.Change)
	}
	e = parse(t, "merge_group", object(`"action":"destroyed"`, `"reason":"merged"`, `"merge_group":{"head_sha":"`+head+`"}`, repository))
	if e.Kind != KindGone || !e.Change.Merged {
		t.Errorf("merge group gone: %+v", e.Change)
	}
	if e = parse(t, "ping", `{"zen":"x","hook_id":109948940,"hook":{"type":"Organization","events":["*"],"active":true},"sender":{"login":"ada"}}`); e.Kind != KindPing || e.Hook.ID != 109948940 {
		t.Errorf("ping: %+v", e.Hook)
	}
	e = parse(t, "installation", `{"action":"created","installation":{"id":2,"app_id":5725,"created_at":1525109898,"account":{"login":"acme"}},"repositories":[{"full_name":"acme/shop"}]}`)
	if e.Kind != KindInstallation || e.Installation.AppID != 5725 || !slices.Equal(e.Installation.Added, []string{"acme/shop"}) {
		t.Errorf("installation: %+v", e.Installation)
	}
	for _, name := range []string{"star", "", "Push", "pull_request_review_comment", "\x00"} {
		if e = parse(t, name, `{"anything":true}`); e.Kind != KindIgnored || e.Ignored == "" {
			t.Errorf("%q: %+v", name, e)
		}
	}
}

func TestParseMalformed(t *testing.T) {
	t.Parallel()
	noRepository := `"sender":{"login":"ada"}`
	for event, payloads := range map[string][]string{
		"push": {
			`{}`, `[]`, `null`, `"x"`, ``, object(`"ref":"refs/heads/"`, repository), object(`"ref":7`, repository),
			object(`"ref":"refs/heads/a"`, `"after":"HEAD"`, repository), object(`"ref":"refs/heads/a"`, `"after":""`, repository),
			object(`"ref":"refs/heads/a"`, `"after":"`+head+`"`, noRepository), object(`"ref":"main"`, `"after":"`+head+`"`, repository),
			object(`"ref":"refs/heads/a"`, `"after":"`+head+`"`, `"repository":{"full_name":"a/b"}`),
		},
		"pull_request": {
			object(`"action":"opened"`, repository), object(`"action":"opened"`, `"pull_request":{"number":7}`, repository),
			object(`"action":"opened"`, strings.Replace(pull(""), `"number":7`, `"number":0`, 1), repository), object(`"action":7`, pull(""), repository),
		},
		"pull_request_review": {object(`"action":"submitted"`, repository), object(`"action":"submitted"`, `"review":{}`, repository)},
		"issue_comment":       {object(`"action":"created"`, repository), object(`"action":"created"`, `"comment":{"body":"/approve"}`, repository)},
		"issues":              {object(`"action":"labeled"`, repository)},
		"check_run":           {object(repository), object(`"action":"rerequested"`, `"check_run":{"head_sha":"x"}`, repository)},
		"check_suite":         {object(repository), object(`"action":"rerequested"`, `"check_suite":{}`, repository)},
		"workflow_run":        {object(repository), object(`"workflow_run":{"id":-1}`, repository)},
		"workflow_job":        {object(repository)},
		"merge_group":         {object(repository), object(`"merge_group":{"head_sha":"`+zeros+`"}`, repository)},
		"installation":        {object(noRepository)},
	} {
		for i, payload := range payloads {
			if e, err := Parse(event, []byte(payload)); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s #%d: got %+v, %v", event, i, e, err)
			}
		}
	}
}

func TestNullCharactersAreReplaced(t *testing.T) {
	t.Parallel()
	e := parse(t, "issues", object(`"action":"opened"`, `"issue":{"number":3,"title":"a\u0000b","body":"c\u0000d"}`, repository))
	if strings.ContainsRune(e.Labels.Title+e.Labels.Body, 0) || e.Labels.Title != "a\uFFFDb" {
		t.Errorf("got %q %q", e.Labels.Title, e.Labels.Body)
	}
}

func TestParseCommand(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]*Command{
		"/rerun":                      {Name: "rerun"},
		"  /ReRun 1  ":                {Name: "rerun", Argument: "1"},
		"LGTM\r\n/approve\r\n":        {Name: "approve"},
		"/deny no tests":              {Name: "deny", Argument: "no tests"},
		"/override host is down":      {Name: "override", Argument: "host is down"},
		"/cancel":                     {Name: "cancel"},
		"/override":                   nil,
		"/override   ":                nil,
		"> /approve":                  nil,
		"please /approve":             nil,
		"`/approve`":                  nil,
		"```\n/approve\n```":          nil,
		"```\n/approve":               nil,
		"````\n```\n/approve\n````":   nil,
		"~~~\n/deny\n~~~\n/approve x": {Name: "approve", Argument: "x"},
		"    /approve":                nil,
		"\t/approve":                  nil,
		"/approved":                   nil,
		"//approve":                   nil,
		"/retest":                     nil,
		"":                            nil,
	} {
		got := ParseCommand(body)
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%q: got %+v, want %+v", body, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	labels := []string{"bug", "locked:src/auth", " Locked: docs/a b.md ", "locked:", "agent:alice", "agent: bob"}
	if got := LockedPaths(labels); !slices.Equal(got, []string{"src/auth", "docs/a b.md"}) {
		t.Errorf("locked paths %q", got)
	}
	if got := AssignedAgents(labels); got != nil {
		t.Errorf("assigned without the status label: %q", got)
	}
	if got := AssignedAgents(append(labels, "Status:Assigned")); !slices.Equal(got, []string{"alice", "bob"}) {
		t.Errorf("assigned %q", got)
	}
	for branch, want := range map[string]string{
		"agent/alice/t1": "alice t1 true", "agent/alice": "  false", "agent/a/b/c": "  false", "agents/a/b": "  false", "agent//b": "  false", "x/agent/a/b": "  false",
	} {
		agent, task, ok := AgentBranch(branch)
		if got := fmt.Sprint(agent, " ", task, " ", ok); got != want {
			t.Errorf("%s: %q", branch, got)
		}
	}
}

// FuzzParse: whatever arrives, Parse neither panics nor lets through a head that is no sha or an event without repository,
// and it says the same thing twice.
func FuzzParse(f *testing.F) {
	f.Add("push", object(`"ref":"refs/heads/a"`, `"after":"`+head+`"`, repository))
	f.Add("pull_request", object(`"action":"opened"`, pull(""), repository))
	f.Add("issue_comment", object(`"action":"created"`, `"issue":{"number":7}`, `"comment":{"body":"/approve"}`, repository))
	f.Add("check_run", object(`"action":"rerequested"`, `"check_run":{"head_sha":"`+head+`"}`, repository))
	f.Add("workflow_run", object(`"workflow_run":{"id":11,"updated_at":1e99}`, repository))
	f.Fuzz(func(t *testing.T, event, payload string) {
		e, err := Parse(event, []byte(payload))
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		switch {
		case e.Kind == "":
			t.Fatal("no kind")
		case e.Kind == KindIgnored && e.Ignored == "":
			t.Fatal("ignored without a reason")
		case e.Kind == KindHead && !shaPattern.MatchString(e.Change.Head):
			t.Fatalf("head %q", e.Change.Head)
		case e.needsRepository() && e.Repository.Remote == "":
			t.Fatal("no repository")
		}
		again, err := Parse(event, []byte(payload))
		if err != nil || again.Kind != e.Kind || again.Ignored != e.Ignored {
			t.Fatalf("told otherwise the second time: %+v, %v", again, err)
		}
	})
}

// FuzzEnvelope: no header and no body gets past the checks by accident, and none of them panics.
func FuzzEnvelope(f *testing.F) {
	f.Add("application/json", body, "sha256=00")
	f.Add("application/x-www-form-urlencoded", "payload=%7B%22a%22%3A1%7D", "sha1=00")
	f.Fuzz(func(t *testing.T, contentType, body, signature string) {
		if Verify(map[string][]string{SignatureHeader: {signature}}, []byte(body), "s3cret") == nil && !strings.EqualFold(signature, Sign("s3cret", []byte(body))) {
			t.Fatalf("accepted %q", signature)
		}
		if payload, err := Payload(contentType, []byte(body)); err == nil && (payload[0] != '{' || len(payload) < 3) {
			t.Fatalf("accepted %q", payload)
		}
	})
}

// FuzzReadEnvelope: what becomes a key of a table is a short plain word.
func FuzzReadEnvelope(f *testing.F) {
	f.Add("push", "72d3162e-cc78-11e3-81ab-4c9367dc0958", "1")
	f.Add("", "A b", "\x00")
	f.Fuzz(func(t *testing.T, event, delivery, hook string) {
		h := map[string][]string{"X-Github-Event": {event}, "X-Github-Delivery": {delivery}, "X-Github-Hook-Id": {hook}}
		e, err := ReadEnvelope(h)
		if err != nil {
			if !errors.Is(err, ErrHeaders) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		for _, v := range []string{e.Event, e.Delivery, e.HookID} {
			if len(v) > maxHeader || strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r > 'z' }) {
				t.Fatalf("%q", v)
			}
		}
	})
}
