package githubevent

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	branchPrefix = "refs/heads/"
	tagPrefix    = "refs/tags/"
	// queuePrefix is where GitHub's merge queue keeps its branches; merge_group speaks for them.
	queuePrefix = "gh-readonly-queue/"
)

// parsers is the catalogue of events that we read. What is not in it is ignored.
var parsers = map[string]func(*wire, *Event) error{
	"push":                      parsePush,
	"pull_request":              parsePull,
	"pull_request_review":       parseReview,
	"issue_comment":             parseComment,
	"issues":                    parseIssue,
	"check_run":                 parseCheckRun,
	"check_suite":               parseCheckSuite,
	"workflow_run":              parseWorkflowRun,
	"workflow_job":              parseWorkflowJob,
	"merge_group":               parseMergeGroup,
	"ping":                      parsePing,
	"installation":              parseInstallation,
	"installation_repositories": parseInstallation,
}

// Parse reads the payload of an event. It returns ErrMalformed (wrapped) when a known event lacks what it must have;
// unknown events and actions are no error but KindIgnored.
func Parse(event string, payload []byte) (Event, error) {
	parse, known := parsers[event]
	e := Event{Name: event}
	if !known {
		e.ignore("events of this type decide nothing here")
		return e, nil
	}
	w, err := decode(payload)
	if err != nil {
		return Event{}, fmt.Errorf("%w: %s: %w", ErrMalformed, event, err)
	}
	e.Action = clip(w.Action, maxHeader)
	e.Repository = w.Repository.repository()
	e.InstallationID = w.Installation.ID
	e.Sender = w.Sender.account()
	if err := parse(w, &e); err != nil {
		return Event{}, fmt.Errorf("%w: %s %s: %w", ErrMalformed, event, e.Action, err)
	}
	if e.needsRepository() && (e.Repository.Remote == "" || e.Repository.FullName == "") {
		return Event{}, fmt.Errorf("%w: %s %s: no repository", ErrMalformed, event, e.Action)
	}
	return e, nil
}

func (e *Event) ignore(why string) { e.Kind, e.Ignored = KindIgnored, why }

func (e *Event) ignoreAction() {
	e.ignore(fmt.Sprintf("the action %q of %s changes nothing that is verified", e.Action, e.Name))
}

func (e *Event) needsRepository() bool {
	return !slices.Contains([]Kind{KindIgnored, KindPing, KindInstallation}, e.Kind)
}

func parsePush(w *wire, e *Event) error {
	if strings.HasPrefix(w.Ref, tagPrefix) {
		e.ignore("a tag was pushed, no branch")
		return nil
	}
	branch, ok := strings.CutPrefix(w.Ref, branchPrefix)
	switch {
	case !ok && strings.HasPrefix(w.Ref, "refs/"):
		e.ignore("neither a branch nor a tag was pushed")
		return nil
	case !ok || branch == "":
		return missing("ref")
	case strings.HasPrefix(branch, queuePrefix):
		e.ignore("a branch of the merge queue; its merge_group event speaks for it")
		return nil
	}
	if w.Repository != nil {
		e.At = w.Repository.PushedAt.Time
	}
	c := &Change{Source: SourcePush, Branch: branch, FetchRef: w.Ref, Forced: w.Forced, URL: w.Compare, Author: e.Sender}
	e.Change = c
	after, ok := sha(w.After)
	if !ok {
		return missing("after")
	}
	c.Before, _ = sha(w.Before)
	if zero(c.Before) {
		c.Before = ""
	}
	if w.Deleted || zero(after) {
		e.Kind, c.FetchRef = KindGone, ""
		return nil
	}
	e.Kind, c.Head = KindHead, after
	c.Created = w.Created || c.Before == ""
	if h := w.HeadCommit; h != nil {
		title, _, _ := strings.Cut(h.Message, "\n")
		c.Title = clip(title, 1024)
		c.Committers = h.people()
	}
	return nil
}

// people returns everybody whom a commit names.
func (c *wireCommit) people() []string {
	var out []string
	for _, s := range []string{c.Author.Username, c.Author.Email, c.Committer.Username, c.Committer.Email} {
		if s = clip(s, 300); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func parsePull(w *wire, e *Event) error {
	p := w.PullRequest
	if p == nil {
		return missing("pull_request")
	}
	c, err := p.change()
	if err != nil {
		return err
	}
	if w.Repository != nil && p.UpdatedAt.IsZero() {
		p.UpdatedAt = w.Repository.UpdatedAt
	}
	e.Change, e.At = c, p.UpdatedAt.Time
	switch e.Action {
	case "opened", "reopened", "ready_for_review", "converted_to_draft":
		e.Kind = KindHead
	case "synchronize":
		e.Kind = KindHead
		if before, ok := sha(w.Before); ok && !zero(before) {
			c.Before = before
		}
	case "edited":
		if w.Changes.Base == nil {
			e.Change = nil
			e.ignore("the base branch stayed the same; title and text are not verified")
			return nil
		}
		e.Kind = KindHead
	case "closed":
		e.Kind, c.Merged = KindGone, p.Merged
	case "labeled", "unlabeled":
		e.Kind = KindLabels
		e.Labels = &Labels{
			Number: p.Number, PullRequest: true, Added: e.Action == "labeled", All: c.Labels, Open: p.State != "closed",
			Title: c.Title, Body: clip(p.Body, MaxText), URL: p.HTMLURL,
		}
		if w.Label != nil {
			e.Labels.Name = clip(w.Label.Name, 300)
		}
	default:
		e.Change = nil
		e.ignoreAction()
	}
	return nil
}

func (p *wirePull) change() (*Change, error) {
	head, ok := sha(p.Head.SHA)
	if !ok || zero(head) {
		return nil, missing("pull_request.head.sha")
	}
	if p.Number <= 0 {
		return nil, missing("pull_request.number")
	}
	base, _ := sha(p.Base.SHA)
	c := &Change{
		Source: SourcePullRequest, Branch: p.Head.Ref, FetchRef: "refs/pull/" + strconv.Itoa(p.Number) + "/head",
		Head: head, Base: base, BaseRef: p.Base.Ref, PullRequest: p.Number, Title: clip(p.Title, 1024), URL: p.HTMLURL,
		Author: p.User.account(), AuthorAssociation: p.Association, Draft: p.Draft, Labels: names(p.Labels),
	}
	if p.Head.Repo != nil {
		c.HeadRepository = p.Head.Repo.FullName
	}
	// Without one of the two there is no telling whose branch it is: treat it as a stranger's.
	c.Fork = p.Head.Repo == nil || p.Base.Repo == nil || p.Head.Repo.ID != p.Base.Repo.ID || p.Head.Repo.ID == 0
	return c, nil
}

func parseMergeGroup(w *wire, e *Event) error {
	g := w.MergeGroup
	if g == nil {
		return missing("merge_group")
	}
	head, ok := sha(g.HeadSHA)
	if !ok || zero(head) {
		return missing("merge_group.head_sha")
	}
	base, _ := sha(g.BaseSHA)
	title, _, _ := strings.Cut(g.HeadCommit.Message, "\n")
	c := &Change{
		Source: SourceMergeGroup, Branch: strings.TrimPrefix(g.HeadRef, branchPrefix), FetchRef: g.HeadRef, Head: head,
		Base: base, BaseRef: strings.TrimPrefix(g.BaseRef, branchPrefix), Title: clip(title, 1024), Author: e.Sender,
		Committers: g.HeadCommit.people(),
	}
	if w.Repository != nil {
		e.At = w.Repository.PushedAt.Time
	}
	switch e.Action {
	case "checks_requested":
		e.Kind, e.Change = KindHead, c
	case "destroyed":
		c.Merged = w.Reason == "merged"
		e.Kind, e.Change = KindGone, c
	default:
		e.ignoreAction()
	}
	return nil
}

func parseReview(w *wire, e *Event) error {
	r := w.Review
	switch {
	case r == nil:
		return missing("review")
	case w.PullRequest == nil:
		return missing("pull_request")
	case e.Action != "submitted" && e.Action != "dismissed":
		e.ignoreAction()
		return nil
	}
	// The list of a pull request's files and its heads are short in this event, but number and head are there.
	c, err := w.PullRequest.change()
	if err != nil {
		return err
	}
	commit, ok := sha(r.CommitID)
	if !ok {
		commit = "" // a vote for no commit in particular; whoever counts must refuse it
	}
	e.Kind, e.Change, e.At = KindReview, c, r.SubmittedAt.Time
	e.Review = &Review{
		ID: r.ID, State: strings.ToLower(r.State), Commit: commit, Reviewer: r.User.account(), Association: r.Association,
		Body: clip(r.Body, MaxText), SubmittedAt: r.SubmittedAt.Time,
	}
	if e.Action == "dismissed" {
		e.Review.State = "dismissed"
		e.At = w.PullRequest.UpdatedAt.Time
	}
	return nil
}

func parseIssue(w *wire, e *Event) error {
	i := w.Issue
	if i == nil || i.Number <= 0 {
		return missing("issue")
	}
	switch e.Action {
	case "opened", "reopened", "closed", "deleted", "transferred", "labeled", "unlabeled":
	default:
		e.ignoreAction()
		return nil
	}
	l := &Labels{
		Number: i.Number, PullRequest: i.PullRequest != nil, Added: e.Action != "unlabeled", All: names(i.Labels),
		Title: clip(i.Title, 1024), Body: clip(i.Body, MaxText), URL: i.HTMLURL,
		Open: i.State != "closed" && e.Action != "deleted" && e.Action != "transferred",
	}
	if w.Label != nil {
		l.Name = clip(w.Label.Name, 300)
	}
	e.Kind, e.Labels, e.At = KindLabels, l, i.UpdatedAt.Time
	return nil
}

func parseComment(w *wire, e *Event) error {
	switch {
	case w.Comment == nil:
		return missing("comment")
	case w.Issue == nil || w.Issue.Number <= 0:
		return missing("issue")
	case e.Action != "created":
		// An edited comment is signed by whoever edited it, which need not be its author.
		e.ignore("commands are taken from new comments only")
		return nil
	}
	e.Kind, e.At = KindComment, w.Comment.CreatedAt.Time
	e.Comment = &Comment{
		ID: w.Comment.ID, Number: w.Issue.Number, PullRequest: w.Issue.PullRequest != nil, Open: w.Issue.State != "closed",
		Author: w.Comment.User.account(), Association: w.Comment.Association, Body: clip(w.Comment.Body, MaxText), URL: w.Comment.HTMLURL,
	}
	e.Comment.Command = ParseCommand(e.Comment.Body)
	if e.Comment.Command == nil {
		e.ignore("the comment holds no command")
	}
	return nil
}

func parseCheckRun(w *wire, e *Event) error {
	c := w.CheckRun
	if c == nil {
		return missing("check_run")
	}
	if e.Action != "rerequested" && e.Action != "requested_action" {
		e.ignore("checks report what ran; only asking for one again starts anything")
		return nil
	}
	head, ok := sha(c.HeadSHA)
	if !ok {
		return missing("check_run.head_sha")
	}
	e.Kind = KindRerequest
	e.Rerequest = &Rerequest{
		Head: head, Branch: c.CheckSuite.HeadBranch, CheckRun: c.ID, Name: clip(c.Name, 1024), ExternalID: clip(c.ExternalID, 1024),
		AppID: c.App.ID,
	}
	if e.Action == "requested_action" {
		e.Rerequest.Action = clip(w.RequestedAction.Identifier, 100)
	}
	return nil
}

func parseCheckSuite(w *wire, e *Event) error {
	s := w.CheckSuite
	if s == nil {
		return missing("check_suite")
	}
	if e.Action != "rerequested" {
		e.ignore("push and pull_request tell of new heads; only asking for the suite again starts anything")
		return nil
	}
	head, ok := sha(s.HeadSHA)
	if !ok {
		return missing("check_suite.head_sha")
	}
	e.Kind, e.At = KindRerequest, s.UpdatedAt.Time
	e.Rerequest = &Rerequest{Head: head, Branch: s.HeadBranch, AppID: s.App.ID}
	return nil
}

func parseWorkflowRun(w *wire, e *Event) error {
	r := w.WorkflowRun
	if r == nil || r.ID <= 0 {
		return missing("workflow_run")
	}
	head, _ := sha(r.HeadSHA)
	e.Kind, e.At = KindWorkflowRun, r.UpdatedAt.Time
	e.WorkflowRun = &WorkflowRun{
		ID: r.ID, Attempt: r.RunAttempt, Name: clip(r.Name, 1024), Path: clip(r.Path, 1024), DisplayTitle: clip(r.DisplayTitle, 1024),
		CorrelationID: Correlation(r.DisplayTitle), Event: r.Event, Status: r.Status, Conclusion: r.Conclusion, HeadSHA: head,
		HeadBranch: r.HeadBranch, URL: r.HTMLURL,
	}
	return nil
}

func parseWorkflowJob(w *wire, e *Event) error {
	j := w.WorkflowJob
	if j == nil || j.RunID <= 0 {
		return missing("workflow_job")
	}
	head, _ := sha(j.HeadSHA)
	e.Kind, e.At = KindWorkflowJob, j.CompletedAt.Time
	if e.At.IsZero() {
		e.At = j.StartedAt.Time
	}
	e.WorkflowRun = &WorkflowRun{
		ID: j.RunID, Attempt: j.RunAttempt, Name: clip(j.WorkflowName, 1024), HeadSHA: head, HeadBranch: j.HeadBranch, URL: j.HTMLURL,
		Job: clip(j.Name, 1024), JobStatus: j.Status, JobConclusion: j.Conclusion,
	}
	return nil
}

func parsePing(w *wire, e *Event) error {
	e.Kind = KindPing
	e.Hook = &Hook{ID: w.HookID, Type: w.Hook.Type, Events: w.Hook.Events, Active: w.Hook.Active}
	return nil
}

func parseInstallation(w *wire, e *Event) error {
	if w.Installation.ID <= 0 {
		return missing("installation.id")
	}
	i := &Installation{ID: w.Installation.ID, AppID: w.Installation.AppID, Account: w.Installation.Account.account()}
	i.Added, i.Removed = fullNames(w.RepositoriesAdded), fullNames(w.RepositoriesRemoved)
	switch e.Action {
	case "created", "unsuspend", "new_permissions_accepted":
		i.Added = append(i.Added, fullNames(w.Repositories)...)
	case "deleted", "suspend":
		i.Removed = append(i.Removed, fullNames(w.Repositories)...)
	}
	e.Kind, e.Installation = KindInstallation, i
	return nil
}

func fullNames(repositories []wireRepository) []string {
	var out []string
	for _, r := range repositories {
		if r.FullName != "" {
			out = append(out, r.FullName)
		}
	}
	return out
}

var (
	shaPattern  = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	uuidPattern = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
)

// sha returns an object name in lower case, and whether it is one.
func sha(s string) (string, bool) {
	s = strings.ToLower(s)
	return s, shaPattern.MatchString(s)
}

// zero says whether an object name stands for "none".
func zero(sha string) bool { return sha != "" && strings.Trim(sha, "0") == "" }

// Correlation returns the first uuid in the title of a run, in lower case; "" when there is none.
func Correlation(title string) string { return strings.ToLower(uuidPattern.FindString(title)) }

type missing string

func (m missing) Error() string { return string(m) + " is missing or not what it must be" }
