package githubtest

import (
	"fmt"
	"strings"
	"time"
)

// Zeros stands for no commit.
var Zeros = strings.Repeat("0", 40)

// Push is a push to a branch or tag.
type Push struct {
	Branch  string
	Tag     string // instead of Branch
	Before  string // "" for a new branch
	After   string // "" for a deleted one
	Pusher  string
	Forced  bool
	Message string
}

// Push tells the hooks of a push.
func (r *Repo) Push(p Push) []int {
	ref := "refs/heads/" + p.Branch
	if p.Tag != "" {
		ref = "refs/tags/" + p.Tag
	}
	payload := object{"ref": ref, "before": orZeros(p.Before), "after": orZeros(p.After), "created": p.Before == "", "deleted": p.After == "", "forced": p.Forced, "commits": []any{}}
	if p.After != "" {
		r.AddCommit(p.After)
		person := object{"name": p.Pusher, "email": p.Pusher + "@example.org", "username": p.Pusher}
		payload["head_commit"] = object{"id": p.After, "message": p.Message, "author": person, "committer": person}
	}
	payload["compare"] = fmt.Sprintf("%s/compare/%.12s...%.12s", r.htmlURL(), orZeros(p.Before), orZeros(p.After))
	if p.Pusher != "" {
		payload["sender"] = userObject(p.Pusher)
	}
	return r.Emit("push", payload)
}

func orZeros(sha string) string {
	if sha == "" {
		return Zeros
	}
	return sha
}

// OpenPull opens a pull request and tells the hooks.
func (r *Repo) OpenPull(p Pull) []int {
	r.AddPull(p)
	return r.emitPull(p.Number, "opened", nil)
}

// Synchronize moves a pull request's head and tells the hooks.
func (r *Repo) Synchronize(number int, head string, files []File) []int {
	r.s.mu.Lock()
	p := r.pulls[number]
	before := p.Head
	p.Head, p.Files = head, files
	r.putPull(p)
	r.s.mu.Unlock()
	return r.emitPull(number, "synchronize", object{"before": before, "after": head})
}

// ChangePull changes a pull request and tells the hooks of the action, such as closed, ready_for_review, labeled.
func (r *Repo) ChangePull(number int, action string, change func(*Pull)) []int {
	r.s.mu.Lock()
	p := r.pulls[number]
	change(p)
	r.putPull(p)
	r.s.mu.Unlock()
	return r.emitPull(number, action, nil)
}

func (r *Repo) emitPull(number int, action string, more object) []int {
	r.s.mu.Lock()
	p := r.pulls[number]
	payload := object{"action": action, "number": number, "pull_request": r.pullObject(p, false), "sender": userObject(p.Author)}
	r.s.mu.Unlock()
	for k, v := range more {
		payload[k] = v
	}
	return r.Emit("pull_request", payload)
}

// Review adds a review to a pull request and tells the hooks.
func (r *Repo) Review(number int, review Review) []int {
	r.s.mu.Lock()
	p := r.pulls[number]
	if review.ID == 0 {
		review.ID = r.s.id()
	}
	review.At = time.Now()
	p.Reviews = append(p.Reviews, review)
	action := "submitted"
	if review.State == "DISMISSED" {
		action = "dismissed"
	}
	payload := object{
		"action": action, "pull_request": r.pullObject(p, false), "sender": userObject(review.Login),
		"review": object{
			"id": review.ID, "user": userObject(review.Login), "state": strings.ToLower(review.State), "commit_id": orNil(review.Commit), "body": orNil(review.Body),
			"submitted_at": stamp(review.At), "author_association": "MEMBER",
		},
	}
	r.s.mu.Unlock()
	return r.Emit("pull_request_review", payload)
}

// Comment adds a comment to an issue or pull request and tells the hooks.
func (r *Repo) Comment(number int, login, body string) []int {
	r.s.mu.Lock()
	issue := object{"number": number, "state": "open", "title": "", "labels": []any{}}
	if r.pulls[number] != nil {
		issue["pull_request"] = object{"url": fmt.Sprintf("https://api.github.com/repos/%s/pulls/%d", r.FullName(), number)}
	}
	payload := object{
		"action": "created", "issue": issue, "sender": userObject(login),
		"comment": object{"id": r.s.id(), "body": body, "user": userObject(login), "author_association": "MEMBER", "created_at": stamp(time.Now())},
	}
	r.s.mu.Unlock()
	return r.Emit("issue_comment", payload)
}

// Label tells the hooks that a label of an issue was added or removed; all are the labels afterwards.
func (r *Repo) Label(number int, title, body, label string, added bool, all ...string) []int {
	action := "unlabeled"
	if added {
		action = "labeled"
	}
	labels := []any{}
	for _, l := range all {
		labels = append(labels, object{"name": l})
	}
	return r.Emit("issues", object{
		"action": action, "label": object{"name": label},
		"issue": object{"number": number, "title": title, "body": body, "state": "open", "labels": labels, "updated_at": stamp(time.Now())},
	})
}

// MergeGroup tells the hooks of a group of the merge queue: checks_requested or destroyed.
func (r *Repo) MergeGroup(action, head, base string) []int {
	r.AddCommit(head)
	return r.Emit("merge_group", object{"action": action, "merge_group": object{
		"head_sha": head, "head_ref": "refs/heads/gh-readonly-queue/" + r.DefaultBranch + "/pr-1-" + base, "base_sha": base, "base_ref": "refs/heads/" + r.DefaultBranch,
		"head_commit": object{"id": head, "message": "Merge pull request"},
	}})
}
