package githubtest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GitHub's caps.
const (
	pullFileCap    = 3000
	compareFileCap = 300
	statusCap      = 1000
)

// Repo is a repository. Its exported members may be set before it is used; its methods lock.
type Repo struct {
	ID            int64
	Owner, Name   string
	DefaultBranch string
	Private       bool
	// Dir is a bare git repository that heads, files and commits are read from; "" for scripted ones.
	Dir string
	// CloneURL is what webhooks carry; "" for https://github.com/owner/name.git.
	CloneURL string

	s           *Server
	permissions map[string]string // by login
	pulls       map[int]*Pull
	comparisons map[string]Comparison
	history     map[string][]Commit // by head, newest first
	trees       map[string]tree
	contents    map[string]string // by ref and path
	commits     map[string]bool
	statuses    []Status
	checks      []*CheckRun
	workflows   map[string]*Workflow // by file name
	runs        []*Run
}

// File is a changed file.
type File struct {
	Path, Previous       string
	Status               string // added, removed, modified, renamed, …
	Additions, Deletions int
}

// Commit is a commit of a comparison.
type Commit struct {
	SHA, Author, Committer string // logins
	AuthorEmail            string
	Message                string
}

// Pull is a pull request.
type Pull struct {
	Number         int
	Title          string
	Head, HeadRef  string
	Base, BaseRef  string
	Author         string
	Fork           bool // from another repository
	ForkGone       bool // which was deleted
	Draft, Closed  bool
	Merged         bool
	Files          []File // scripted repositories
	ChangedFiles   int    // what the pull request claims; 0: the length of Files
	Labels         []string
	Reviews        []Review
	Association    string
	updated        time.Time
	filesOfPushing string // commit that the list of files tells of, when it is not Head
}

// Review is a review of a pull request.
type Review struct {
	ID     int64
	Login  string
	State  string // APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED
	Commit string
	Body   string
	At     time.Time
}

// Comparison is what comparing two commits gives.
type Comparison struct {
	Status  string // ahead, behind, diverged, identical
	Files   []File
	Commits []Commit
}

type tree struct {
	modes     map[string]string // by path
	truncated bool
}

// AddRepo makes a repository "owner/name" with a default branch main. dir is the bare git repository behind it, or "".
func (s *Server) AddRepo(fullName, dir string) *Repo {
	owner, name, _ := strings.Cut(fullName, "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &Repo{
		ID: s.id(), Owner: owner, Name: name, DefaultBranch: "main", Dir: dir, s: s, permissions: map[string]string{owner: "admin"}, pulls: map[int]*Pull{},
		comparisons: map[string]Comparison{}, history: map[string][]Commit{}, trees: map[string]tree{}, contents: map[string]string{}, commits: map[string]bool{}, workflows: map[string]*Workflow{},
	}
	s.repos[strings.ToLower(fullName)] = r
	return r
}

// FullName is owner/name.
func (r *Repo) FullName() string { return r.Owner + "/" + r.Name }

// Remote is the normalised remote.
func (r *Repo) Remote() string { return Host + "/" + r.FullName() }

func (r *Repo) htmlURL() string { return "https://" + Host + "/" + r.FullName() }

// SetPermission says what a login may do: admin, write, read, none.
func (r *Repo) SetPermission(login, permission string) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.permissions[login] = permission
}

// SetComparison scripts base...head.
func (r *Repo) SetComparison(base, head string, c Comparison) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.comparisons[base+"..."+head] = c
	r.commits[head] = true
}

// SetHistory scripts the commits that a head can reach, newest first.
func (r *Repo) SetHistory(head string, commits []Commit) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.history[head] = commits
	r.commits[head] = true
}

// SetTree scripts the tree of a commit: modes by path.
func (r *Repo) SetTree(sha string, modes map[string]string, truncated bool) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.trees[sha] = tree{modes, truncated}
	r.commits[sha] = true
}

// SetContent scripts a file of a commit or branch.
func (r *Repo) SetContent(ref, path, text string) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.contents[ref+":"+path] = text
}

// AddCommit makes a commit known, so that statuses can be set on it.
func (r *Repo) AddCommit(sha string) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.commits[sha] = true
}

// AddPull opens or replaces a pull request without an event.
func (r *Repo) AddPull(p Pull) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.putPull(&p)
}

func (r *Repo) putPull(p *Pull) {
	if p.BaseRef == "" {
		p.BaseRef = r.DefaultBranch
	}
	if p.Author == "" {
		p.Author = "ghost" // whom GitHub shows for accounts that are gone
	}
	p.updated = time.Now()
	r.pulls[p.Number] = p
	r.commits[p.Head] = true
}

// MovePullFiles makes the list of files tell of another commit than the pull request's head, as it does for a moment after
// a push.
func (r *Repo) MovePullFiles(number int, sha string) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.pulls[number].filesOfPushing = sha
}

// has says whether the repository has a commit. s.mu is held.
func (r *Repo) has(sha string) bool {
	return r.commits[sha] || r.Dir != "" && r.gitHas(sha)
}

func (s *Server) repoHandlers() map[string]handler {
	return map[string]handler{
		"GET /repos/{owner}/{repo}": func(c *call) reply { return answer(http.StatusOK, c.repo.restObject()) },
		"GET /repos/{owner}/{repo}/pulls/{pull_number}": func(c *call) reply {
			if p := c.pull(); p != nil {
				return answer(http.StatusOK, c.repo.pullObject(p, true))
			}
			return notFound()
		},
		"GET /repos/{owner}/{repo}/pulls/{pull_number}/files":           pullFiles,
		"GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews":         pullReviews,
		"GET /repos/{owner}/{repo}/compare/{basehead}":                  compare,
		"GET /repos/{owner}/{repo}/commits":                             listCommits,
		"GET /repos/{owner}/{repo}/git/trees/{tree_sha}":                readTree,
		"GET /repos/{owner}/{repo}/contents/{path}":                     contents,
		"GET /repos/{owner}/{repo}/collaborators/{username}/permission": permission,
	}
}

func (r *Repo) restObject() object {
	return object{
		"id": r.ID, "name": r.Name, "full_name": r.FullName(), "private": r.Private, "default_branch": r.DefaultBranch,
		"html_url": r.htmlURL(), "clone_url": r.clone(), "fork": false, "owner": userObject(r.Owner),
	}
}

func (r *Repo) clone() string {
	if r.CloneURL != "" {
		return r.CloneURL
	}
	return r.htmlURL() + ".git"
}

func userObject(login string) any {
	if login == "" {
		return nil
	}
	id := int64(0)
	for _, b := range []byte(login) {
		id = id*31%1_000_003 + int64(b)
	}
	return object{"login": login, "id": id, "type": "User", "html_url": "https://" + Host + "/" + login}
}

func (c *call) pull() *Pull { return c.repo.pulls[atoi(c.params["pull_number"], 0)] }

func (r *Repo) pullObject(p *Pull, rest bool) object {
	state := "open"
	if p.Closed {
		state = "closed"
	}
	own := object{"id": r.ID, "name": r.Name, "full_name": r.FullName()}
	headRepo := any(own)
	switch {
	case p.ForkGone:
		headRepo = nil
	case p.Fork:
		headRepo = object{"id": r.ID + 500_000, "name": r.Name, "full_name": p.Author + "/" + r.Name}
	}
	labels := []any{}
	for _, l := range p.Labels {
		labels = append(labels, object{"name": l})
	}
	o := object{
		"id": r.ID*1000 + int64(p.Number), "number": p.Number, "state": state, "title": p.Title, "body": nil, "draft": p.Draft, "merged": p.Merged,
		"html_url": r.htmlURL() + "/pull/" + strconv.Itoa(p.Number), "user": userObject(p.Author), "labels": labels, "updated_at": stamp(p.updated),
		"author_association": association(p.Association),
		"head":               object{"ref": p.HeadRef, "sha": p.Head, "label": p.HeadRef, "repo": headRepo},
		"base":               object{"ref": p.BaseRef, "sha": p.Base, "label": p.BaseRef, "repo": own},
	}
	if rest {
		o["changed_files"] = max(p.ChangedFiles, len(r.filesOf(p)))
	}
	return o
}

func association(s string) string {
	if s == "" {
		return "CONTRIBUTOR"
	}
	return s
}

func (r *Repo) filesOf(p *Pull) []File {
	if p.Files != nil || r.Dir == "" {
		return p.Files
	}
	c, ok := r.gitCompare(p.Base, p.Head)
	if !ok {
		return nil
	}
	return c.Files
}

func (r *Repo) fileObject(f File, sha string) object {
	o := object{
		"filename": f.Path, "status": f.Status, "additions": f.Additions, "deletions": f.Deletions, "changes": f.Additions + f.Deletions,
		"sha":          "bbcd538c8e72b8c175046e27cc8f907076331401",
		"contents_url": "https://api.github.com/repos/" + r.FullName() + "/contents/" + f.Path + "?ref=" + sha,
	}
	if f.Previous != "" {
		o["previous_filename"] = f.Previous
	}
	return o
}

func pullFiles(c *call) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	files := c.repo.filesOf(p)
	files = files[:min(len(files), pullFileCap)]
	sha := p.Head
	if p.filesOfPushing != "" {
		sha = p.filesOfPushing
	}
	from, to, header := c.page(len(files), 30)
	out := []any{}
	for _, f := range files[from:to] {
		out = append(out, c.repo.fileObject(f, sha))
	}
	return reply{status: http.StatusOK, header: header, body: out}
}

func pullReviews(c *call) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	from, to, header := c.page(len(p.Reviews), 30)
	out := []any{}
	for _, r := range p.Reviews[from:to] {
		o := object{"id": r.ID, "user": userObject(r.Login), "state": r.State, "commit_id": orNil(r.Commit), "body": r.Body, "author_association": "MEMBER"}
		if !r.At.IsZero() {
			o["submitted_at"] = stamp(r.At)
		}
		out = append(out, o)
	}
	return reply{status: http.StatusOK, header: header, body: out}
}

func compare(c *call) reply {
	base, head, ok := strings.Cut(c.params["basehead"], "...")
	if !ok {
		return notFound()
	}
	got, ok := c.repo.comparisons[base+"..."+head]
	if !ok && c.repo.Dir != "" {
		got, ok = c.repo.gitCompare(base, head)
	}
	if !ok {
		return notFound()
	}
	from, to, header := c.page(len(got.Commits), 250)
	commits, files := []any{}, []any{}
	for _, commit := range got.Commits[from:to] {
		commits = append(commits, commit.object())
	}
	if atoi(c.URL.Query().Get("page"), 1) <= 1 { // files are on the first page only
		for _, f := range got.Files[:min(len(got.Files), compareFileCap)] {
			files = append(files, c.repo.fileObject(f, head))
		}
	}
	return reply{status: http.StatusOK, header: header, body: object{
		"status": got.Status, "total_commits": len(got.Commits), "ahead_by": len(got.Commits), "commits": commits, "files": files,
	}}
}

func (commit Commit) object() object {
	email := commit.AuthorEmail
	if email == "" {
		email = commit.Author + "@example.org"
	}
	return object{
		"sha": commit.SHA, "author": userObject(commit.Author), "committer": userObject(commit.Committer),
		"commit": object{"message": commit.Message, "author": object{"email": email}, "committer": object{"email": email}},
	}
}

func listCommits(c *call) reply {
	head := c.URL.Query().Get("sha")
	got, ok := c.repo.history[head]
	if !ok && c.repo.Dir != "" {
		got, ok = c.repo.gitLog(head)
	}
	if !ok {
		return notFound()
	}
	from, to, header := c.page(len(got), 30)
	commits := []any{}
	for _, commit := range got[from:to] {
		commits = append(commits, commit.object())
	}
	return reply{status: http.StatusOK, header: header, body: commits}
}

func readTree(c *call) reply {
	sha := c.params["tree_sha"]
	got, ok := c.repo.trees[sha]
	if !ok && c.repo.Dir != "" {
		got, ok = c.repo.gitTree(sha)
	}
	if !ok {
		return notFound()
	}
	paths := make([]string, 0, len(got.modes))
	for p := range got.modes {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	entries := []any{}
	for _, p := range paths {
		kind := "blob"
		if got.modes[p] == "160000" {
			kind = "commit"
		}
		entries = append(entries, object{"path": p, "mode": got.modes[p], "type": kind, "sha": "bbcd538c8e72b8c175046e27cc8f907076331401"})
	}
	return answer(http.StatusOK, object{"sha": sha, "tree": entries, "truncated": got.truncated})
}

func contents(c *call) reply {
	ref, path := c.URL.Query().Get("ref"), c.params["path"]
	if ref == "" {
		ref = c.repo.DefaultBranch
	}
	text, ok := c.repo.contents[ref+":"+path]
	if !ok && c.repo.Dir != "" {
		text, ok = c.repo.gitShow(ref, path)
	}
	if !ok {
		return notFound()
	}
	return answer(http.StatusOK, object{
		"type": "file", "encoding": "base64", "size": len(text), "name": path[strings.LastIndex(path, "/")+1:], "path": path,
		"content": base64.StdEncoding.EncodeToString([]byte(text)), "sha": "bbcd538c8e72b8c175046e27cc8f907076331401",
		"url": c.repo.s.URL + c.URL.Path, "git_url": nil, "html_url": nil, "download_url": nil,
		"_links": object{"self": fmt.Sprint(c.repo.s.URL, c.URL.Path), "git": nil, "html": nil},
	})
}

func permission(c *call) reply {
	login := c.params["username"]
	level, ok := c.repo.permissions[login]
	if !ok {
		return refuse(http.StatusNotFound, "%s is not a user", login)
	}
	return answer(http.StatusOK, object{"permission": level, "role_name": level, "user": userObject(login)})
}
