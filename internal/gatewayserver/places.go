package gatewayserver

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/inline"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/github"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/source"
)

// places builds what the environment configures: git, and where verification runs. What is not configured is left out;
// policies that need it are blocked, and say so.
func (s *server) places() (gateway.Config, error) {
	var out gateway.Config
	forge, err := s.github()
	if err != nil {
		return out, err
	}
	src, err := s.source(forge)
	if err != nil {
		return out, err
	}
	out.Source, out.Forge = src, s.cfg.Forge
	if forge != nil && s.cfg.Forge == nil {
		out.Forge, out.Resend = forge, forge
	}
	if s.cfg.Places != nil {
		out.Places, err = s.cfg.Places()
		return out, err
	}
	static, err := s.static(src)
	if err != nil {
		return out, err
	}
	out.Places = append(out.Places, static)
	if forge != nil {
		out.Places = append(out.Places, s.workflows(forge))
	}
	more, err := s.elsewhere(src)
	out.Places = append(out.Places, more...)
	return out, err
}

// static is tier 0 on this machine. It finds out by itself whether its sandbox holds here, and runs nothing otherwise.
func (s *server) static(src *source.Store) (gateway.Place, error) {
	cfg := inline.Config{
		Source: src, Dir: filepath.Join(s.cfg.Dir, "inline"), Path: filepath.SplitList(s.cfg.ToolPath), ConfigDir: s.cfg.ToolConfig, Log: s.cfg.Log,
		UID: s.cfg.ToolUser, GID: s.cfg.ToolUser, Parallel: s.cfg.ToolRuns, Cgroup: s.cfg.ToolCgroup,
		Limits: inline.Limits{Processes: s.cfg.ToolProcesses, Memory: s.cfg.ToolMemoryMB << 20},
	}
	if len(cfg.Path) == 0 {
		cfg.Path = nil
	}
	e, err := inline.New(cfg)
	if err != nil {
		return gateway.Place{}, err
	}
	s.closers = append(s.closers, e.Close)
	if s.cfg.WebhookSecret != "" { // changes will come: the sandbox is tried and Go's cache warmed before the first one waits for it
		s.prepare = append(s.prepare, func(ctx context.Context) { _, _ = e.Probe(ctx) }) // it logs what is missing
	}
	return gateway.Place{Executor: e, Concurrency: 2 * runtime.NumCPU(), CheckEvery: checkHere, Grace: graceHere}, nil
}

// checkHere is how often runs on this machine are looked at; it costs nothing.
const checkHere = 100 * time.Millisecond

// source keeps mirrors of the repositories that may be fetched. forge may be nil.
func (s *server) source(forge *github.Client) (*source.Store, error) {
	c := s.cfg.Gateway
	hosts := config.List(c.GitHosts)
	if len(hosts) == 0 {
		hosts = []string{"github.com"}
		if u, err := url.Parse(s.cfg.GitHubAPI); err == nil && u.Hostname() != "api.github.com" {
			hosts = append(hosts, u.Hostname())
		}
	}
	v := s.cfg.Verification
	cfg := source.Config{
		Dir: filepath.Join(s.cfg.Dir, "git"), Hosts: hosts, Insecure: config.List(c.GitPlainHosts), LocalRoots: config.List(c.GitRoots),
		MaxBytes: v.MirrorMaxMB << 20, MaxTree: v.TreeMaxMB << 20, Timeout: v.FetchTimeout.D(), Depth: v.FetchDepth,
	}
	cfg.Bundles = s.store.BundleOf
	if forge != nil {
		cfg.Credentials = gitCredentials(forge)
	}
	if err := os.MkdirAll(s.cfg.Dir, 0o711); err != nil {
		return nil, err
	}
	return source.Open(cfg)
}
