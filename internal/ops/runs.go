package ops

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// runs declares the operations of runs.
func runs(c *op.Catalogue, s *coord.Store, held heldOps) {
	op.Register(c, op.Op[client.CreateRun, client.CreatedRun]{
		Name: "create_run", Title: "Create a run", Text: "Starts a session or resumes one. The first runner that meets the demands of session, blueprint and request executes it; " +
			"a session has one run at work at a time, a further one waits behind it.",
		Routes: []op.Route{{Method: "POST", Path: "/runs"}}, Scope: ident.Write, Or: ident.Runner, Listed: true, CLI: "run create", Do: guardedRun(s, held),
	})
	op.Register(c, op.Op[client.ListRuns, client.Runs]{
		Name: "list_runs", Title: "List runs", Text: "Runs of the project, by pages.",
		Routes: []op.Route{{Method: "GET", Path: "/runs"}}, Scope: ident.Read, Listed: true, CLI: "run list", Do: s.ListRuns,
	})
	op.Register(c, op.Op[client.RunRef, client.Run]{
		Name: "get_run", Title: "Get a run", Text: "Reads one run.",
		Routes: []op.Route{{Method: "GET", Path: "/runs/:run_id"}}, Scope: ident.Read, Listed: true, CLI: "run get", Do: s.GetRun,
	})
	op.Register(c, op.Op[client.RunRef, client.RunWhy]{
		Name: "why_run", Title: "Why is a run pending", Text: "Says what a run waits for: its session, a time, its turn, or a runner; and for each runner what it lacks.",
		Routes: []op.Route{{Method: "GET", Path: "/runs/:run_id/why"}}, Scope: ident.Read, Listed: true, CLI: "run why", Do: s.WhyRun,
	})
	op.Register(c, op.Op[client.RunRef, client.StoppedRun]{
		Name: "stop_run", Title: "Stop a run", Text: "Stops a run: at once when nobody has it, else its runner is told until it reports.",
		Routes: []op.Route{{Method: "POST", Path: "/runs/:run_id/stop"}}, Scope: ident.Write, Or: ident.Runner, Listed: true, CLI: "run stop", Do: s.StopRun,
	})
}

// runners declares what runners call. Their long-poll GET /runner/runs is a route beside the operations.
func runners(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.RegisterRunner, client.RegisteredRunner]{
		Name: "register_runner", Title: "Register a runner", Text: "Makes a runner known under the id of its host, directory and profile. Refused while another process of that identity is heard.",
		Routes: []op.Route{{Method: "POST", Path: "/runner/register"}}, Scope: ident.Runner, Listed: true, CLI: "runner register", Do: s.RegisterRunner,
	})
	op.Register(c, op.Op[client.RunnerRef, client.Ok]{
		Name: "runner_heartbeat", Title: "Heartbeat of a runner", Text: "A sign of life. A runner that was stale is online again; polls and reports count as well.",
		Routes: []op.Route{{Method: "POST", Path: "/runner/heartbeat"}}, Scope: ident.Runner, Listed: true, CLI: "runner heartbeat", Do: s.RunnerHeartbeat,
	})
	op.Register(c, op.Op[client.None, client.Runners]{
		Name: "list_runners", Title: "List runners", Text: "The runners, with what they offer and when they were heard.",
		Routes: []op.Route{{Method: "GET", Path: "/runners"}}, Scope: ident.Read, Listed: true, CLI: "runner list",
		Do: func(ctx context.Context, c ident.Caller, _ client.None) (client.Runners, error) {
			return s.ListRunners(ctx, c)
		},
	})
	op.Register(c, op.Op[client.DeregisterRunner, client.DeregisteredRunner]{
		Name: "deregister_runner", Title: "Deregister a runner", Text: "Takes a runner off the list: itself at once, another at its next poll, which tells it to end.",
		Routes: []op.Route{{Method: "DELETE", Path: "/runners/:runner_id"}}, Scope: ident.Write, Or: ident.Runner, Listed: true, CLI: "runner remove", Do: s.DeregisterRunner,
	})
	reports(c, s)
}

// reports declares what a runner says about its runs.
func reports(c *op.Catalogue, s *coord.Store) {
	op.Register(c, op.Op[client.RunStarted, client.Ok]{
		Name: "run_started", Title: "Report a run started", Text: "The runner executes the run. Without this report the run goes to another after half a minute.",
		Routes: []op.Route{{Method: "POST", Path: "/runner/runs/:run_id/started"}}, Scope: ident.Runner, Listed: true, CLI: "runner started",
		Do: func(ctx context.Context, c ident.Caller, in client.RunStarted) (client.Ok, error) {
			return s.ReportRun(ctx, c, in.RunnerID, in.RunID, "started", "")
		},
	})
	op.Register(c, op.Op[client.RunCompleted, client.Ok]{
		Name: "run_completed", Title: "Report a run completed", Text: "The run's executor ended well. Its session is finished and its parent told.",
		Routes: []op.Route{{Method: "POST", Path: "/runner/runs/:run_id/completed"}}, Scope: ident.Runner, Listed: true, CLI: "runner completed",
		Do: func(ctx context.Context, c ident.Caller, in client.RunCompleted) (client.Ok, error) {
			return s.ReportRun(ctx, c, in.RunnerID, in.RunID, "completed", "")
		},
	})
	op.Register(c, op.Op[client.RunFailed, client.Ok]{
		Name: "run_failed", Title: "Report a run failed", Text: "The run's executor failed, and how. It is tried again while attempts remain; else its session has failed and its parent is told.",
		Routes: []op.Route{{Method: "POST", Path: "/runner/runs/:run_id/failed"}}, Scope: ident.Runner, Listed: true, CLI: "runner failed",
		Do: func(ctx context.Context, c ident.Caller, in client.RunFailed) (client.Ok, error) {
			return s.ReportRun(ctx, c, in.RunnerID, in.RunID, "failed", in.Error)
		},
	})
	op.Register(c, op.Op[client.RunStopped, client.Ok]{
		Name: "run_stopped", Title: "Report a run stopped", Text: "The runner ended the run's executor as it was told.",
		Routes: []op.Route{{Method: "POST", Path: "/runner/runs/:run_id/stopped"}}, Scope: ident.Runner, Listed: true, CLI: "runner stopped",
		Do: func(ctx context.Context, c ident.Caller, in client.RunStopped) (client.Ok, error) {
			return s.ReportRun(ctx, c, in.RunnerID, in.RunID, "stopped", in.Signal)
		},
	})
}
