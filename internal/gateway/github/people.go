package github

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	gh "github.com/google/go-github/v88/github"
	"github.com/hmarr/codeowners"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
)

// maxCommits bounds how many commits Contributors reads; a change with more cannot be approved through the gateway.
// maxHistory is how many it reads of a branch's first push, which may bring a whole project along.
const (
	maxCommits = 5000
	maxHistory = 1000
)

// Contributors implements gateway.Forge: logins of authors, committers, co-authors and the pull request's opener, sorted;
// an e-mail address where GitHub knows no account for it. gateway.ErrGone (wrapped): the repository is there, and has no
// such commit or pull request.
func (c *Client) Contributors(ctx context.Context, ref gateway.ChangeRef) ([]string, error) {
	client, owner, name, err := c.at(ctx, ref.Repository)
	if err != nil {
		return nil, err
	}
	// A 404 below means "no such commit" only if the repository itself can be seen.
	if _, err := c.defaultBranch(ctx, client, owner, name); err != nil {
		return nil, err
	}
	who := map[string]bool{}
	if ref.PullNumber > 0 {
		pull, _, err := client.PullRequests.Get(ctx, owner, name, ref.PullNumber)
		if err != nil {
			return nil, gone(fmt.Errorf("pull request %d of %s: %w", ref.PullNumber, ref.Repository, classify(err)))
		}
		who[pull.GetUser().GetLogin()] = true
	}
	base, _, err := c.comparedWith(ctx, client, owner, name, ref)
	if err != nil {
		return nil, err
	}
	if base == "" {
		err = history(ctx, client, owner, name, ref.HeadSHA, who)
	} else {
		err = compared(ctx, client, owner, name, base, ref.HeadSHA, who)
	}
	if err != nil {
		return nil, gone(err)
	}
	delete(who, "")
	delete(who, "web-flow") // GitHub itself, for commits made on its pages
	delete(who, "noreply@github.com")
	out := make([]string, 0, len(who))
	for w := range who {
		out = append(out, w)
	}
	slices.Sort(out)
	return out, nil
}

// gone marks a 404 in a repository that can be seen.
func gone(err error) error {
	if status(err) == http.StatusNotFound {
		return fmt.Errorf("%w: %w", gateway.ErrGone, err)
	}
	return err
}

// compared adds everybody in base...head.
func compared(ctx context.Context, client *gh.Client, owner, name, base, head string, who map[string]bool) error {
	seen := 0
	for opts := (&gh.ListOptions{PerPage: perPage}); ; {
		got, resp, err := client.Repositories.CompareCommits(ctx, owner, name, base, head, opts)
		if err != nil {
			return fmt.Errorf("commits of %s...%s in %s/%s: %w", base, head, owner, name, classify(err))
		}
		for _, commit := range got.Commits {
			people(commit, who)
		}
		seen += len(got.Commits)
		switch {
		case resp.NextPage == 0 && seen < got.GetTotalCommits():
			return fmt.Errorf("GitHub listed %d of %d commits of %s", seen, got.GetTotalCommits(), head)
		case resp.NextPage == 0:
			return nil
		case seen >= maxCommits:
			return fmt.Errorf("%s has more than %d commits; who wrote them cannot be told", head, maxCommits)
		}
		opts.Page = resp.NextPage
	}
}

// history adds everybody in the newest commits of head.
func history(ctx context.Context, client *gh.Client, owner, name, head string, who map[string]bool) error {
	opts := &gh.CommitsListOptions{SHA: head, ListOptions: gh.ListOptions{PerPage: perPage}}
	for seen := 0; seen < maxHistory; {
		page, resp, err := client.Repositories.ListCommits(ctx, owner, name, opts)
		if err != nil {
			return fmt.Errorf("commits of %s in %s/%s: %w", head, owner, name, classify(err))
		}
		for _, commit := range page {
			people(commit, who)
		}
		seen += len(page)
		if resp.NextPage == 0 {
			return nil
		}
		opts.Page = resp.NextPage
	}
	return nil
}

var (
	coAuthor = regexp.MustCompile(`(?mi)^co-authored-by:.*<([^<>\s]+)>\s*$`)
	noReply  = regexp.MustCompile(`(?i)^(?:[0-9]+\+)?([a-z0-9-]+)@users\.noreply\.`)
)

// people adds everybody whom a commit names.
func people(commit *gh.RepositoryCommit, who map[string]bool) {
	add := func(login, email string) {
		if login == "" {
			if m := noReply.FindStringSubmatch(email); m != nil {
				login = m[1]
			} else {
				login = strings.ToLower(email)
			}
		}
		who[login] = true
	}
	add(commit.GetAuthor().GetLogin(), commit.GetCommit().GetAuthor().GetEmail())
	add(commit.GetCommitter().GetLogin(), commit.GetCommit().GetCommitter().GetEmail())
	for _, m := range coAuthor.FindAllStringSubmatch(commit.GetCommit().GetMessage(), -1) {
		add("", m[1])
	}
}

// Permission implements gateway.Forge: admin, write, read or none (GitHub counts maintain as write, triage as read).
func (c *Client) Permission(ctx context.Context, repository, login string) (string, error) {
	client, owner, name, err := c.at(ctx, repository)
	if err != nil {
		return "", err
	}
	if !namePattern.MatchString(strings.TrimSuffix(login, "[bot]")) {
		return "none", nil
	}
	level, _, err := client.Repositories.GetPermissionLevel(ctx, owner, name, login)
	if status(err) == http.StatusNotFound {
		return "none", nil
	}
	if err != nil {
		return "", fmt.Errorf("what %s may do in %s: %w", login, repository, classify(err))
	}
	switch p := level.GetPermission(); p {
	case "admin", "write", "read":
		return p, nil
	case "maintain":
		return "write", nil
	case "triage":
		return "read", nil
	}
	return "none", nil
}

// Reviews returns the standing review of each reviewer of a pull request: the last one that approves, asks for changes or
// was dismissed. A mere comment changes nothing. Commit is what it was for.
func (c *Client) Reviews(ctx context.Context, repository string, number int) ([]githubevent.Review, error) {
	client, owner, name, err := c.at(ctx, repository)
	if err != nil {
		return nil, err
	}
	standing := map[string]githubevent.Review{}
	var order []string
	for opts := (&gh.ListOptions{PerPage: perPage}); ; {
		page, resp, err := client.PullRequests.ListReviews(ctx, owner, name, number, opts)
		if err != nil {
			return nil, fmt.Errorf("reviews of pull request %d of %s: %w", number, repository, classify(err))
		}
		for _, r := range page { // in the order in which they were made
			state, login := strings.ToLower(r.GetState()), r.GetUser().GetLogin()
			if login == "" || state != "approved" && state != "changes_requested" && state != "dismissed" {
				continue
			}
			if _, ok := standing[login]; !ok {
				order = append(order, login)
			}
			standing[login] = githubevent.Review{
				ID: r.GetID(), State: state, Commit: strings.ToLower(r.GetCommitID()), Association: r.GetAuthorAssociation(), Body: r.GetBody(),
				Reviewer:    githubevent.Account{Login: login, ID: r.GetUser().GetID(), Type: r.GetUser().GetType()},
				SubmittedAt: r.GetSubmittedAt().Time,
			}
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	out := make([]githubevent.Review, 0, len(order))
	for _, login := range order {
		out = append(out, standing[login])
	}
	return out, nil
}

// InTeam says whether a login is an active member of org/team. It needs the right to read the organisation's members.
func (c *Client) InTeam(ctx context.Context, repository, team, login string) (bool, error) {
	client, _, _, err := c.at(ctx, repository)
	if err != nil {
		return false, err
	}
	org, slug, ok := strings.Cut(strings.TrimPrefix(team, "@"), "/")
	if !ok || !namePattern.MatchString(org) || !namePattern.MatchString(slug) || !namePattern.MatchString(login) {
		return false, nil
	}
	m, _, err := client.Teams.GetTeamMembershipBySlug(ctx, org, slug, login)
	if status(err) == http.StatusNotFound {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("whether %s is in %s: %w", login, team, classify(err))
	}
	return m.GetState() == "active", nil
}

// ownersFile is a parsed CODEOWNERS; nil rules: the repository has none.
type ownersFile struct{ rules codeowners.Ruleset }

// The places that GitHub looks at, in its order, and how large a file it reads.
var ownersPaths = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

const maxOwners = 3 << 20

// Owners returns the owners of each path by the CODEOWNERS file of ref, which must be the base and never the change: logins
// as "@login", teams as "@org/team", or e-mail addresses. Paths without owner are left out; a repository without the file
// has no owners, which is no error. A line that GitHub cannot read is skipped as GitHub does.
func (c *Client) Owners(ctx context.Context, repository, ref string, paths []string) (map[string][]string, error) {
	client, owner, name, err := c.at(ctx, repository)
	if err != nil {
		return nil, err
	}
	key := owner + "/" + name + "@" + ref
	file, ok := recall(c, c.owners, key)
	if !ok {
		if file, err = readOwners(ctx, client, owner, name, ref); err != nil {
			return nil, err
		}
		keep(c, c.owners, key, file)
	}
	out := map[string][]string{}
	for _, path := range paths {
		rule, err := file.rules.Match(path)
		if err != nil || rule == nil {
			continue
		}
		for _, o := range rule.Owners {
			out[path] = append(out[path], o.String())
		}
	}
	return out, nil
}

func readOwners(ctx context.Context, client *gh.Client, owner, name, ref string) (ownersFile, error) {
	for _, path := range ownersPaths {
		content, _, _, err := client.Repositories.GetContents(ctx, owner, name, path, &gh.RepositoryContentGetOptions{Ref: ref})
		if status(err) == http.StatusNotFound {
			continue
		}
		if err != nil {
			return ownersFile{}, fmt.Errorf("%s of %s/%s at %s: %w", path, owner, name, ref, classify(err))
		}
		if content == nil || content.GetType() != "file" || content.GetSize() > maxOwners {
			return ownersFile{}, nil // GitHub ignores it as well
		}
		text, err := content.GetContent()
		if err != nil {
			return ownersFile{}, fmt.Errorf("%s of %s/%s at %s: %w", path, owner, name, ref, err)
		}
		return ownersFile{parseOwners([]byte(text))}, nil
	}
	return ownersFile{}, nil
}

// parseOwners reads line by line, so that one bad line does not take away the others.
func parseOwners(text []byte) codeowners.Ruleset {
	var rules codeowners.Ruleset
	for line := range bytes.Lines(text) {
		parsed, err := codeowners.ParseFile(bytes.NewReader(line))
		if err != nil {
			var none codeowners.Ruleset
			parsed = none
		}
		rules = append(rules, parsed...)
	}
	return rules
}
