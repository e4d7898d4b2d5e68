package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	gh "github.com/google/go-github/v88/github"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
)

// maxDescription is the longest description of a commit status, in characters.
const maxDescription = 140

// errNoCommit is what a status on a commit that GitHub does not have comes to.
var errNoCommit = errors.New("GitHub has no such commit in this repository")

// shownStatus is what this process showed last on a commit.
type shownStatus struct {
	state       gateway.StatusState
	description string
	checkRun    int64 // 0: a commit status
}

// PostStatus implements gateway.Forge: a check run with App credentials, else a commit status. What is shown already is
// not sent again: GitHub keeps at most 1000 statuses for a commit and context, and counts each against its limits.
func (c *Client) PostStatus(ctx context.Context, s gateway.Status) error {
	client, owner, name, err := c.at(ctx, s.Repository)
	if err != nil {
		return err
	}
	key := strings.Join([]string{owner, name, s.HeadSHA, s.Context}, "/")
	c.mu.Lock()
	last, known := c.shown[key]
	c.mu.Unlock()
	if known && last.state == s.State && last.description == s.Description {
		return nil
	}
	now := shownStatus{state: s.State, description: s.Description}
	if c.app != nil {
		now.checkRun, err = c.showCheck(ctx, client, owner, name, s, last.checkRun)
	} else {
		err = showStatus(ctx, client, owner, name, s)
	}
	if err != nil {
		return statusError(s, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.shown) > 10_000 { // a memory to save calls, not a record
		clear(c.shown)
	}
	c.shown[key] = now
	return nil
}

func showStatus(ctx context.Context, client *gh.Client, owner, name string, s gateway.Status) error {
	status := gh.RepoStatus{State: gh.Ptr(string(s.State)), Context: gh.Ptr(s.Context), Description: gh.Ptr(cut(s.Description, maxDescription))}
	if u, ok := link(s.TargetURL); ok {
		status.TargetURL = gh.Ptr(u)
	}
	_, _, err := client.Repositories.CreateStatus(ctx, owner, name, s.HeadSHA, status)
	return err
}

// statusError tells what can be shown later from what never can.
func statusError(s gateway.Status, err error) error {
	err = classify(err)
	if status(err) == http.StatusUnprocessableEntity {
		switch {
		case says(err, "no commit found"):
			return fmt.Errorf("%w: %w: %s in %s: %w", gateway.ErrGone, errNoCommit, s.HeadSHA, s.Repository, err)
		case says(err, "maximum number of statuses"):
			return fmt.Errorf("%w: GitHub takes no more statuses on %s: %w", gateway.ErrGone, s.HeadSHA, err)
		}
	}
	return fmt.Errorf("showing %s on %s in %s: %w", s.Context, s.HeadSHA, s.Repository, err)
}

// cut bounds a text to n characters.
func cut(text string, n int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// link says whether a text is a URL that GitHub takes.
func link(text string) (string, bool) {
	u, err := url.Parse(text)
	return text, err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}
