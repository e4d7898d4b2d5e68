package github

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	gh "github.com/google/go-github/v88/github"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

// GitHub's caps on lists of files, whatever the number of pages.
const (
	pullCap    = 3000
	compareCap = 300
)

// ChangedFiles implements gateway.Forge. A pull request's own list is used while its head is the one asked for, else the
// comparison of the base with the head. Modes come from the head's tree; without the whole tree a symlink could pass for a
// file, so the list counts as truncated then.
func (c *Client) ChangedFiles(ctx context.Context, ref gateway.ChangeRef) ([]route.File, bool, error) {
	client, owner, name, err := c.at(ctx, ref.Repository)
	if err != nil {
		return nil, false, err
	}
	var files []route.File
	truncated, listed := false, false
	if ref.PullNumber > 0 {
		if files, truncated, listed, err = c.pullFiles(ctx, client, owner, name, ref); err != nil {
			return nil, false, err
		}
	}
	if !listed {
		if files, truncated, err = c.compareFiles(ctx, client, owner, name, ref); err != nil {
			return nil, false, err
		}
	}
	if truncated || len(files) == 0 {
		return files, truncated, nil // an incomplete list is read from git, modes and all
	}
	whole, err := c.modes(ctx, client, owner, name, ref.HeadSHA, files)
	if err != nil {
		return nil, false, err
	}
	return files, !whole, nil
}

// pullFiles lists a pull request's files; listed is false when its head has moved on.
func (c *Client) pullFiles(ctx context.Context, client *gh.Client, owner, name string, ref gateway.ChangeRef) (files []route.File, truncated, listed bool, err error) {
	pull, _, err := client.PullRequests.Get(ctx, owner, name, ref.PullNumber)
	if err != nil {
		return nil, false, false, fmt.Errorf("pull request %d of %s: %w", ref.PullNumber, ref.Repository, classify(err))
	}
	if pull.GetHead().GetSHA() != ref.HeadSHA {
		return nil, false, false, nil
	}
	for opts := (&gh.ListOptions{PerPage: perPage}); ; {
		page, resp, err := client.PullRequests.ListFiles(ctx, owner, name, ref.PullNumber, opts)
		if err != nil {
			return nil, false, false, fmt.Errorf("files of pull request %d of %s: %w", ref.PullNumber, ref.Repository, classify(err))
		}
		for _, f := range page {
			// Somebody may push between the calls; every entry tells of which commit it is.
			if sha := commitOf(f.GetContentsURL()); sha != "" && sha != ref.HeadSHA && f.GetStatus() != "removed" {
				return nil, false, false, nil
			}
			files = append(files, file(f))
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	return files, len(files) >= pullCap || len(files) < pull.GetChangedFiles(), true, nil
}

// compareFiles lists what the head changes against its base: BaseSHA where the change has one of its own, else the
// default branch, from which a push to another branch is measured.
func (c *Client) compareFiles(ctx context.Context, client *gh.Client, owner, name string, ref gateway.ChangeRef) ([]route.File, bool, error) {
	base, onto, err := c.comparedWith(ctx, client, owner, name, ref)
	if err != nil {
		return nil, false, err
	}
	if base == "" {
		return nil, true, nil // the default branch's first head: there is nothing to compare it with here
	}
	got, _, err := client.Repositories.CompareCommits(ctx, owner, name, base, ref.HeadSHA, &gh.ListOptions{PerPage: 1})
	if err != nil {
		return nil, false, fmt.Errorf("comparing %s...%s in %s: %w", base, ref.HeadSHA, ref.Repository, classify(err))
	}
	files := make([]route.File, 0, len(got.Files))
	for _, f := range got.Files {
		files = append(files, file(f))
	}
	truncated := len(files) >= compareCap
	if onto && got.GetStatus() != "ahead" && got.GetStatus() != "identical" {
		// The branch was rewritten. GitHub compares with the merge base, so what the push took away is not in the list.
		truncated = true
	}
	return files, truncated, nil
}

// comparedWith says what to compare a head with; onto means that it is the branch's own former head.
func (c *Client) comparedWith(ctx context.Context, client *gh.Client, owner, name string, ref gateway.ChangeRef) (base string, onto bool, err error) {
	switch {
	case ref.BaseRef != "" && ref.BaseRef == ref.Branch && ref.PullNumber == 0:
		return ref.BaseSHA, true, nil
	case ref.BaseRef != "" && ref.BaseSHA != "":
		return ref.BaseSHA, false, nil
	case ref.BaseRef != "":
		return ref.BaseRef, false, nil
	}
	branch, err := c.defaultBranch(ctx, client, owner, name)
	if err != nil {
		return "", false, err
	}
	if ref.Branch == branch {
		return ref.BaseSHA, true, nil
	}
	return branch, false, nil
}

func file(f *gh.CommitFile) route.File {
	return route.File{
		Path: f.GetFilename(), PreviousPath: f.GetPreviousFilename(), Status: f.GetStatus(), Additions: f.GetAdditions(), Deletions: f.GetDeletions(),
	}
}

// commitOf returns the commit that a contents_url names.
func commitOf(contents string) string {
	u, err := url.Parse(contents)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Query().Get("ref"))
}

// modes fills in the files' modes from the head's tree and says whether the tree was whole.
func (c *Client) modes(ctx context.Context, client *gh.Client, owner, name, sha string, files []route.File) (bool, error) {
	tree, _, err := client.Git.GetTree(ctx, owner, name, sha, true)
	if err != nil {
		return false, fmt.Errorf("tree of %s in %s/%s: %w", sha, owner, name, classify(err))
	}
	modes := make(map[string]string, len(tree.Entries))
	for _, e := range tree.Entries {
		modes[e.GetPath()] = e.GetMode()
	}
	whole := !tree.GetTruncated()
	for i, f := range files {
		mode, ok := modes[f.Path]
		files[i].Mode = mode
		if !ok && f.Status != "removed" {
			whole = false
		}
	}
	return whole, nil
}
