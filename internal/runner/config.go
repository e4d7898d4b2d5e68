package runner

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Defaults of Config.
const (
	DefaultCoordinatorURL = "http://localhost:8765"
	DefaultPollTimeout    = 30 * time.Second
	DefaultMaxRuns        = 32

	stopGrace      = 5 * time.Second  // from SIGTERM to SIGKILL
	flushGrace     = 10 * time.Second // for the last reports while shutting down
	pollMargin     = 5 * time.Second  // the HTTP client waits this much longer than the coordinator
	callTimeout    = 15 * time.Second // of one short call
	firstBackoff   = 200 * time.Millisecond
	longestBackoff = 4 * time.Second // after an outage work goes on within this time
	duplicateRetry = 5 * time.Second // between registrations while our own dead instance still counts as online
	duplicateLimit = 11 * time.Minute
)

// ErrDuplicate means that another runner with this host, project folder and profile is alive.
var ErrDuplicate = errors.New("a runner with this identity is already running")

// ErrRefused means that the coordinator does not accept the key (401 or 403 at registration).
var ErrRefused = errors.New("the coordinator refused the registration")

// Config is all that a runner needs to know. Log, ProjectDir, Executor and StateDir are required.
type Config struct {
	CoordinatorURL      string
	APIKey              string   // sent as bearer token; empty: none
	Project             string   // X-Project of every call; empty: the key's own
	ProjectDir          string   // absolute; working folder of runs that name none
	Hostname            string   // empty: the machine's
	Profile             string   // executor_profile of the registration; empty: the executor's name
	Executor            Executor //
	Tags                []string
	RequireMatchingTags bool
	MCPPort             int           // of the embedded MCP server; 0: a free one
	PollTimeout         time.Duration // how long the coordinator may hold a poll; 0: 30 s
	Heartbeat           time.Duration // 0: as the coordinator says, else 60 s
	MaxRuns             int           // runs at once; 0: 32, negative: no limit
	RunTimeout          time.Duration // a run that takes longer is ended and reported failed; 0: none
	Drain               time.Duration // how long a shutdown waits for runs to end by themselves; 0: not at all
	StateDir            string        // folder of state files, made if absent
	Env                 []string      // environment of executors before ours is added; nil: this process's
	Log                 *slog.Logger

	grace   time.Duration // tests shorten it
	backoff time.Duration // the same
}

// normalise fills in defaults and checks what cannot work.
func (c *Config) normalise() error {
	c.CoordinatorURL = strings.TrimRight(cmp.Or(c.CoordinatorURL, DefaultCoordinatorURL), "/")
	u, err := url.Parse(c.CoordinatorURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("the coordinator's address %q is not like %s", c.CoordinatorURL, DefaultCoordinatorURL)
	}
	if c.ProjectDir, err = filepath.Abs(c.ProjectDir); err != nil {
		return err
	}
	if info, err := os.Stat(c.ProjectDir); err != nil || !info.IsDir() {
		return fmt.Errorf("the project folder %s is not a folder", c.ProjectDir)
	}
	if c.Hostname == "" {
		if c.Hostname, err = os.Hostname(); err != nil {
			return err
		}
	}
	if c.Executor.path == "" {
		return errors.New("no executor was chosen")
	}
	if c.StateDir == "" || c.Log == nil {
		return errors.New("runner: StateDir and Log are required")
	}
	c.Profile = cmp.Or(c.Profile, c.Executor.Type)
	c.PollTimeout = cmp.Or(c.PollTimeout, DefaultPollTimeout)
	c.MaxRuns = cmp.Or(c.MaxRuns, DefaultMaxRuns)
	c.grace = cmp.Or(c.grace, stopGrace)
	c.backoff = cmp.Or(c.backoff, firstBackoff)
	if c.Env == nil {
		c.Env = os.Environ()
	}
	return nil
}
