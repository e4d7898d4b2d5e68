package gatewayserver

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	ghexec "github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/github"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/github"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/source"
	"github.com/agent-coordinator/agent-coordinator/internal/repo"
)

// workflowsAtOnce bounds the workflow runs that one gateway has open; GitHub queues what is beyond the account's own limit.
const workflowsAtOnce = 32

// github connects to the GitHub that is configured; nil without credentials, which is no error.
func (s *server) github() (*github.Client, error) {
	c := s.cfg.GitHub
	cfg := github.Config{API: c.GitHubAPI, Server: c.GitHubServer, Token: cmp.Or(c.GatewayToken, c.GitHubToken), AppID: c.GitHubAppID, InstallationID: c.GitHubInstallationID}
	if c.GitHubAppID != 0 {
		var err error
		if cfg.PrivateKey, err = os.ReadFile(c.GitHubAppKeyFile); err != nil {
			return nil, fmt.Errorf("GITHUB_APP_PRIVATE_KEY_FILE: %w", err)
		}
	}
	for _, h := range config.List(c.GitHubHooks) {
		name, number, _ := strings.Cut(h, ":")
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("GITHUB_HOOKS: %q is not of the form owner/name:id", h)
		}
		cfg.Hooks = append(cfg.Hooks, github.Hook{Repository: name, ID: id})
	}
	client, err := github.New(cfg)
	if errors.Is(err, github.ErrNoCredentials) {
		return nil, nil
	}
	return client, err
}

// workflows is GitHub Actions as a place of verification.
func (s *server) workflows(client *github.Client) gateway.Place {
	c := s.cfg.GitHub
	options := ghexec.Options{Workflow: c.GitHubWorkflow, ForkWorkflow: c.GitHubForkWorkflow}
	return gateway.Place{Executor: ghexec.New(client, options), Concurrency: workflowsAtOnce}
}

// gitCredentials lets git fetch what the client may read, from that GitHub alone.
func gitCredentials(client *github.Client) source.Credentials {
	return func(ctx context.Context, cloneURL string) (string, error) {
		remote := repo.NormaliseRemote(cloneURL)
		if !client.Repository(remote) {
			return "", nil
		}
		token, err := client.GitToken(ctx, remote)
		if err != nil || token == "" {
			return "", err
		}
		return "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token)), nil
	}
}
