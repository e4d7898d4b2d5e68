package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/local"
	"github.com/agent-coordinator/agent-coordinator/internal/runner"
)

// Values of COORD_RUNNER beside names.
const (
	runnerAuto = "auto"
	runnerNone = "none"
)

// runnerOptions says which runner `up` keeps running; nil: none.
func (a *app) runnerOptions(home local.Home, f upFlags) (*local.RunnerOptions, error) {
	cfg, err := config.Load[config.LocalRunner]()
	if err != nil {
		return nil, usageError{err}
	}
	name := firstOf(f.runner, cfg.Name)
	if f.noRunner || name == runnerNone {
		return nil, nil //nolint:nilnil // no runner is an answer
	}
	program := runnerPath()
	if _, err := os.Stat(program); err != nil {
		if name == runnerAuto {
			return nil, nil //nolint:nilnil // coordctl alone is installed
		}
		return nil, usagef("there is no %s: run make build, install agent-runner beside coordctl, or use --no-runner", program)
	}
	auto := name == runnerAuto
	if auto {
		name = "test-executor"
		if _, err := exec.LookPath("claude"); err == nil {
			name = runner.DefaultExecutor
		}
	}
	if _, _, err := runner.Select(filepath.Dir(program), name); err != nil {
		if auto {
			a.progress("no runner is started: " + err.Error())
			return nil, nil //nolint:nilnil // said above
		}
		return nil, usageError{err}
	}
	work, err := filepath.Abs(firstOf(cfg.Work, filepath.Join(home.Dir, "workspace")))
	if err != nil {
		return nil, err
	}
	return &local.RunnerOptions{Program: program, Profile: name, ProjectDir: work}, nil
}

// runnerPath is agent-runner beside this program.
func runnerPath() string { return beside("agent-runner") }

// describeRunner is one line about the runner that `up` keeps.
func describeRunner(r *local.UpRunner) string {
	if r == nil {
		return "none (coordctl up --runner NAME; make build puts agent-runner beside coordctl)"
	}
	what := r.Profile
	if r.Profile == "test-executor" {
		what += " (it echoes prompts; with the claude command installed it is claude-code)"
	}
	return fmt.Sprintf("%s, pid %d, works in %s", what, r.PID, r.ProjectDir)
}

// checkRunner is doctor's look at the runner.
func checkRunner(up *local.Up) check {
	c := check{Name: "agent runner", Verdict: good}
	switch {
	case up == nil:
		c.Verdict, c.Found, c.Fix = warn, "not looked at: nothing is up", "coordctl up"
	case up.Runner == nil:
		c.Verdict, c.Found, c.Fix = warn, "none runs beside the API: runs wait for one of another machine", "coordctl up --runner claude-code, or start agent-runner"
	case !up.Runner.Alive():
		c.Verdict, c.Found, c.Fix = bad, fmt.Sprintf("%s, but pid %d is gone", up.Runner.Profile, up.Runner.PID), "read "+up.Runner.Log
	default:
		c.Found = describeRunner(up.Runner)
	}
	if up != nil && up.Runner != nil && c.Verdict == good && up.Runner.Profile != "test-executor" {
		if _, err := exec.LookPath("claude"); err != nil {
			c.Verdict, c.Found, c.Fix = warn, c.Found+"; the claude command is not on the PATH", "install it: npm install -g @anthropic-ai/claude-code"
		}
	}
	return c
}
