package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v88/github"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	ghexec "github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/github"
)

var (
	_ gateway.Forge       = (*Client)(nil)
	_ gateway.Redeliverer = (*Client)(nil)
	_ gateway.Membership  = (*Client)(nil)
	_ ghexec.Actions      = (*Client)(nil)
)

const (
	// DefaultAPI is github.com's; GitHub Enterprise Server has https://HOST/api/v3, data residency https://api.SUBDOMAIN.ghe.com.
	DefaultAPI = "https://api.github.com"

	callTimeout = 30 * time.Second
	// remembered is how long facts that hardly change are believed: default branches, installations, code owners.
	remembered = 5 * time.Minute
	// longestWait bounds how long one secondary limit silences the client.
	longestWait = 15 * time.Minute
	perPage     = 100
)

// Config is what the client needs to know.
type Config struct {
	API    string // base URL; "" means DefaultAPI
	Server string // base URL of the pages, to know which remotes are this GitHub's; "" is worked out from API
	Token  string
	// AppID with PrivateKey (PEM) authenticate as an App. InstallationID 0: looked up for every repository.
	AppID          int64
	PrivateKey     []byte
	InstallationID int64
	// Hooks are the repository hooks whose deliveries Redeliver looks at; an App's own hook is always looked at.
	Hooks     []Hook
	Transport http.RoundTripper // nil: the default one
	Now       func() time.Time
}

// Hook is a webhook of a repository.
type Hook struct {
	Repository string // normalised remote or owner/name
	ID         int64
}

// ErrNoCredentials says that neither a token nor an App is configured.
var ErrNoCredentials = errors.New("no GitHub credentials: set GATEWAY_GITHUB_TOKEN, or GITHUB_APP_ID and its private key")

// Client is one GitHub. It is safe for concurrent use.
type Client struct {
	config Config
	base   *url.URL
	host   string // of remotes, in lower case
	token  *gh.Client
	app    *gh.Client // with the App's own JWT; nil without an App

	mu            sync.Mutex
	hooks         map[Hook]bool
	installations map[string]fact[int64] // by owner/name
	clients       map[int64]*gh.Client   // by installation
	transports    map[int64]*ghinstallation.Transport
	branches      map[string]fact[string]     // default branch, by owner/name
	shown         map[string]shownStatus      // what was posted last, by repository, commit and context
	owners        map[string]fact[ownersFile] // by repository and ref
}

// fact is something that was true at a time.
type fact[T any] struct {
	value T
	at    time.Time
}

// New makes a client. It returns ErrNoCredentials, or says what is wrong with the configuration; it calls nobody.
func New(config Config) (*Client, error) {
	if config.API == "" {
		config.API = DefaultAPI
	}
	if config.Transport == nil {
		config.Transport = http.DefaultTransport
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	config.Transport = timed{config.Transport}
	base, err := baseURL(config.API)
	if err != nil {
		return nil, err
	}
	c := &Client{
		config: config, base: base, hooks: map[Hook]bool{}, installations: map[string]fact[int64]{}, clients: map[int64]*gh.Client{},
		transports: map[int64]*ghinstallation.Transport{}, branches: map[string]fact[string]{}, shown: map[string]shownStatus{},
		owners: map[string]fact[ownersFile]{},
	}
	if c.host, err = serverHost(config.Server, base); err != nil {
		return nil, err
	}
	for _, h := range config.Hooks {
		if err := c.AddHook(h); err != nil {
			return nil, err
		}
	}
	switch {
	case config.AppID != 0:
		tr, err := ghinstallation.NewAppsTransport(config.Transport, config.AppID, config.PrivateKey)
		if err != nil {
			return nil, fmt.Errorf("the private key of the GitHub App: %w", err)
		}
		tr.BaseURL = strings.TrimSuffix(base.String(), "/")
		c.app, err = c.client(tr)
		return c, err
	case config.Token != "":
		c.token, err = c.client(bearer{config.Transport, config.Token})
		return c, err
	}
	return nil, ErrNoCredentials
}

// baseURL reads an API's base: with or without /api/v3 and the last slash.
func baseURL(api string) (*url.URL, error) {
	base, err := url.Parse(api)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("GITHUB_API_URL %q is no http(s) URL; github.com's is %s", api, DefaultAPI)
	}
	base.Path = strings.TrimRight(base.Path, "/") + "/"
	base.RawQuery, base.Fragment, base.User = "", "", nil
	return base, nil
}

// serverHost returns the host that remotes of this GitHub have.
func serverHost(server string, base *url.URL) (string, error) {
	if server == "" {
		return strings.ToLower(strings.TrimPrefix(base.Hostname(), "api.")), nil
	}
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("GITHUB_SERVER_URL %q is no URL such as https://github.com", server)
	}
	return strings.ToLower(u.Hostname()), nil
}

func (c *Client) client(tr http.RoundTripper) (*gh.Client, error) {
	base := c.base.String()
	return gh.NewClient(gh.WithTransport(tr), gh.WithURLs(&base, &base), gh.WithUserAgent("agent-coordinator"),
		gh.WithMaxSecondaryRateLimitRetryAfterDuration(longestWait))
}

// AddHook makes Redeliver look at a repository's hook too; known ones are no error.
func (c *Client) AddHook(h Hook) error {
	if strings.Count(h.Repository, "/") == 1 {
		h.Repository = c.host + "/" + h.Repository
	}
	if _, _, err := c.split(h.Repository); err != nil || h.ID <= 0 {
		return fmt.Errorf("%q with id %d names no repository hook; write owner/name and the number at the end of the hook's page", h.Repository, h.ID)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hooks[h] = true
	return nil
}

// Repository says whether a normalised remote is one of this GitHub.
func (c *Client) Repository(remote string) bool {
	_, _, err := c.split(remote)
	return err == nil
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// split returns owner and name of a normalised remote, or gateway.ErrElsewhere (wrapped).
func (c *Client) split(remote string) (owner, name string, err error) {
	parts := strings.Split(remote, "/")
	if len(parts) != 3 || parts[0] != c.host {
		return "", "", fmt.Errorf("%w: %q is no repository of %s", gateway.ErrElsewhere, remote, c.host)
	}
	for _, p := range parts[1:] {
		if !namePattern.MatchString(p) || strings.Trim(p, ".") == "" {
			return "", "", fmt.Errorf("%w: %q is no repository's name", gateway.ErrElsewhere, remote)
		}
	}
	return parts[1], parts[2], nil
}

// at returns a client with the right to a repository, and the repository's owner and name.
func (c *Client) at(ctx context.Context, remote string) (*gh.Client, string, string, error) {
	owner, name, err := c.split(remote)
	if err != nil {
		return nil, "", "", err
	}
	if c.app == nil {
		return c.token, owner, name, nil
	}
	id := c.config.InstallationID
	if id == 0 {
		if id, err = c.installation(ctx, owner, name); err != nil {
			return nil, "", "", err
		}
	}
	client, err := c.installed(id)
	return client, owner, name, err
}

// installation looks up which installation of the App covers a repository.
func (c *Client) installation(ctx context.Context, owner, name string) (int64, error) {
	key := owner + "/" + name
	if id, ok := recall(c, c.installations, key); ok {
		return id, nil
	}
	i, _, err := c.app.Apps.GetRepositoryInstallation(ctx, owner, name)
	if err != nil {
		return 0, fmt.Errorf("the GitHub App's installation for %s: %w", key, classify(err))
	}
	keep(c, c.installations, key, i.GetID())
	return i.GetID(), nil
}

// installed returns the client of an installation. Each has a transport of its own: they cannot share one safely.
func (c *Client) installed(id int64) (*gh.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if client := c.clients[id]; client != nil {
		return client, nil
	}
	tr, err := ghinstallation.New(c.config.Transport, c.config.AppID, id, c.config.PrivateKey)
	if err != nil {
		return nil, err
	}
	tr.BaseURL = strings.TrimSuffix(c.base.String(), "/")
	tr.InstallationTokenOptions = &gh.InstallationTokenOptions{} // without it the library sends the body null
	tr.Client = &http.Client{Transport: closing{c.config.Transport}}
	client, err := c.client(tr)
	if err != nil {
		return nil, err
	}
	c.clients[id], c.transports[id] = client, tr
	return client, nil
}

// GitToken returns what git can fetch a repository with, as the password of the user x-access-token; "" for repositories
// of other hosts. An App's token ends within the hour.
func (c *Client) GitToken(ctx context.Context, repository string) (string, error) {
	if !c.Repository(repository) {
		return "", nil
	}
	if c.app == nil {
		return c.config.Token, nil
	}
	owner, name, err := c.split(repository)
	if err != nil {
		return "", err
	}
	id := c.config.InstallationID
	if id == 0 {
		if id, err = c.installation(ctx, owner, name); err != nil {
			return "", err
		}
	}
	if _, err := c.installed(id); err != nil {
		return "", err
	}
	c.mu.Lock()
	tr := c.transports[id]
	c.mu.Unlock()
	token, err := tr.Token(ctx)
	if err != nil {
		return "", fmt.Errorf("a token of the GitHub App for %s: %w", repository, err)
	}
	return token, nil
}

// defaultBranch returns the name of a repository's default branch.
func (c *Client) defaultBranch(ctx context.Context, client *gh.Client, owner, name string) (string, error) {
	key := owner + "/" + name
	if branch, ok := recall(c, c.branches, key); ok {
		return branch, nil
	}
	r, _, err := client.Repositories.Get(ctx, owner, name)
	if err != nil { // a repository that cannot be seen may be there all the same: this is "cannot tell", never "gone"
		return "", fmt.Errorf("the default branch of %s: %w", key, classify(err))
	}
	if r.GetDefaultBranch() == "" {
		return "", fmt.Errorf("GitHub names no default branch of %s", key)
	}
	keep(c, c.branches, key, r.GetDefaultBranch())
	return r.GetDefaultBranch(), nil
}

func recall[T any](c *Client, facts map[string]fact[T], key string) (T, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := facts[key]
	if !ok || c.config.Now().Sub(f.at) > remembered {
		var none T
		return none, false
	}
	return f.value, true
}

func keep[T any](c *Client, facts map[string]fact[T], key string, value T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.config.Now()
	if len(facts) > 1000 {
		for k, f := range facts {
			if now.Sub(f.at) > remembered {
				delete(facts, k)
			}
		}
	}
	facts[key] = fact[T]{value, now}
}
