package ops

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// work declares the operations of the work queue.
func work(c *op.Catalogue, d Deps, held heldOps) {
	workers(c, d)
	submitters(c, d, held)
	workReads(c, d)
}

// workers declares what an agent does that takes tasks.
func workers(c *op.Catalogue, d Deps) {
	s := d.Store
	op.Register(c, op.Op[client.GetWork, client.Work]{
		Name: "get_work", Title: "Get work", Text: "Claims the best task for you, by priority (1 first), then age, and returns it with what you need to begin. " +
			"It stays yours while its lease is renewed. success false with reason no_tasks_available says that there is none; queue tells why.",
		Routes: []op.Route{{Method: "POST", Path: "/work/claim"}}, Scope: ident.Write, Acts: true, CLI: "work claim",
		Tool:  op.Tool{Profile: op.Core, Text: "Claim the best task for you. Lock its files first; end with complete_work."},
		Waits: true, RefuseEmpty: true, Do: knowing(s, newClaiming(d).get),
	})
	op.Register(c, op.Op[client.CompleteWork, client.TaskChange]{
		Name: "complete_work", Title: "Complete work", Text: "Ends a task you claimed: success true completes it and unblocks what depends on it; false fails it for good, or, with retryable, " +
			"sends it back after a pause while attempts remain.",
		Routes: []op.Route{{Method: "POST", Path: "/work/complete"}}, Scope: ident.Write, Acts: true, CLI: "work complete",
		Tool: op.Tool{Profile: op.Core, Text: "End a task you claimed.", Idempotent: true}, RefuseEmpty: true, Do: learning(s, s.CompleteWork),
	})
	op.Register(c, op.Op[client.CompleteTasks, client.CompletedTasks]{
		Name: "complete_tasks", Title: "Complete several tasks", Text: "Ends several tasks you claimed in one transaction; each has its own outcome.",
		Routes: []op.Route{{Method: "POST", Path: "/work/complete/batch"}}, Scope: ident.Write, Acts: true, CLI: "work complete-many",
		Tool: op.Tool{Profile: op.Full, Idempotent: true}, RefuseEmpty: true, Do: s.CompleteTasks,
	})
	op.Register(c, op.Op[client.UpdateWork, client.TaskChange]{
		Name: "update_work", Title: "Update work", Text: "For a task you claimed: heartbeat renews its lease; progress also shows others how far it is; release gives it back (the attempt counts).",
		Routes: []op.Route{{Method: "POST", Path: "/work/update"}}, Scope: ident.Write, Acts: true, CLI: "work update",
		Tool: op.Tool{Profile: op.Core, Text: "Renew, report on, or give back a task you claimed."}, RefuseEmpty: true,
		Do: func(ctx context.Context, c ident.Caller, in client.UpdateWork) (client.TaskChange, error) {
			switch in.Action {
			case "release":
				return s.ReleaseWork(ctx, c, client.ReleaseWork{TaskID: in.TaskID, Reason: in.Note, LeaseToken: in.LeaseToken})
			case "progress":
				return s.ProgressWork(ctx, c, client.ProgressWork{TaskID: in.TaskID, Percent: in.Percent, Note: in.Note, LeaseToken: in.LeaseToken})
			}
			return s.HeartbeatWork(ctx, c, client.HeartbeatWork{TaskID: in.TaskID, LeaseSeconds: in.LeaseSeconds, LeaseToken: in.LeaseToken})
		},
	})
	op.Register(c, op.Op[client.HeartbeatWork, client.TaskChange]{
		Name: "heartbeat_work", Title: "Renew a task's lease", Text: "Renews the lease of a task you claimed, for as long as it was claimed or for lease_seconds.",
		Routes: []op.Route{{Method: "POST", Path: "/work/heartbeat"}}, Scope: ident.Write, Acts: true, CLI: "work heartbeat",
		Tool: op.Tool{Profile: op.Full, Idempotent: true}, RefuseEmpty: true, Do: s.HeartbeatWork,
	})
	op.Register(c, op.Op[client.None, client.RenewedWork]{
		Name: "renew_work", Title: "Renew all leases", Text: "Renews the lease of every task the session holds, each for as long as it was claimed. MCP servers and runners call it with their heartbeat.",
		Routes: []op.Route{{Method: "POST", Path: "/work/renew"}}, Scope: ident.Write, Acts: true, CLI: "work renew", RefuseEmpty: true,
		Do: func(ctx context.Context, c ident.Caller, _ client.None) (client.RenewedWork, error) {
			n, err := s.RenewWork(ctx, c)
			return client.RenewedWork{Success: err == nil, Renewed: n}, err
		},
	})
	op.Register(c, op.Op[client.ProgressWork, client.TaskChange]{
		Name: "progress_work", Title: "Report progress", Text: "Shows others how far a task you claimed is, and renews its lease.",
		Routes: []op.Route{{Method: "POST", Path: "/work/progress"}}, Scope: ident.Write, Acts: true, CLI: "work progress",
		Tool: op.Tool{Profile: op.Full, Idempotent: true}, RefuseEmpty: true, Do: s.ProgressWork,
	})
	op.Register(c, op.Op[client.ReleaseWork, client.TaskChange]{
		Name: "release_work", Title: "Release a task", Text: "Gives a task you claimed back to the queue at once. The attempt counts; a task without attempts left is dead.",
		Routes: []op.Route{{Method: "POST", Path: "/work/release"}}, Scope: ident.Write, Acts: true, CLI: "work release",
		Tool: op.Tool{Profile: op.Full}, RefuseEmpty: true, Do: s.ReleaseWork,
	})
}

// submitters declares what an agent or person does that gives tasks.
func submitters(c *op.Catalogue, d Deps, held heldOps) {
	s := d.Store
	op.Register(c, op.Op[client.SubmitWork, client.SubmittedWork]{
		Name: "submit_work", Title: "Submit work", Text: "Puts a task into the queue. It is ready once its dependencies completed and its start time came; the first agent that meets its demands gets it.",
		Routes: []op.Route{{Method: "POST", Path: "/work/submit"}}, Scope: ident.Write, CLI: "work submit", Mailbox: true, Aliases: map[string]string{"task_description": "description"},
		Tool: op.Tool{Profile: op.Core, Text: "Queue a task for any agent."}, RefuseEmpty: true,
		Do: guarded(s, held, "submit_work", func(in client.SubmitWork) []client.TaskSpec { return []client.TaskSpec{in.TaskSpec} },
			func(f client.FlaggedWork) client.SubmittedWork {
				return client.SubmittedWork{Status: "awaiting_approval", FlaggedWork: f}
			}, s.SubmitWork),
	})
	op.Register(c, op.Op[client.SubmitTasks, client.SubmittedTasks]{
		Name: "submit_tasks", Title: "Submit several tasks", Text: "Puts many tasks into the queue, all or none. depends_on may name tasks of the batch by their ref. Cycles are refused.",
		Routes: []op.Route{{Method: "POST", Path: "/work/submit/batch"}}, Scope: ident.Write, CLI: "work submit-many",
		Tool: op.Tool{Profile: op.Full}, RefuseEmpty: true,
		Do: guarded(s, held, "submit_tasks", func(in client.SubmitTasks) []client.TaskSpec {
			var out []client.TaskSpec
			for _, t := range in.Tasks {
				out = append(out, t.TaskSpec)
			}
			return out
		}, func(f client.FlaggedWork) client.SubmittedTasks {
			return client.SubmittedTasks{TaskIDs: []string{}, Tasks: []client.SubmittedTask{}, FlaggedWork: f}
		}, s.SubmitTasks),
	})
	op.Register(c, op.Op[client.CancelWork, client.TaskChange]{
		Name: "cancel_work", Title: "Cancel a task", Text: "Cancels a task for good, with everything that depends on it. For its submitter, its claimant, or a reviewer.",
		Routes: []op.Route{{Method: "POST", Path: "/work/cancel"}}, Scope: ident.Write, CLI: "work cancel", Mailbox: true,
		Tool: op.Tool{Profile: op.Full, Destructive: true, Idempotent: true}, RefuseEmpty: true, Do: s.CancelWork,
	})
	op.Register(c, op.Op[client.TaskRef, client.TaskChange]{
		Name: "retry_work", Title: "Retry a task", Text: "Puts a failed or dead task back into the queue, its attempts counted anew. For its submitter or a reviewer.",
		Routes: []op.Route{{Method: "POST", Path: "/work/retry"}}, Scope: ident.Write, CLI: "work retry", Mailbox: true,
		Tool: op.Tool{Profile: op.Full}, RefuseEmpty: true, Do: s.RetryWork,
	})
	op.Register(c, op.Op[client.PrioritiseWork, client.TaskChange]{
		Name: "prioritise_work", Title: "Change a task's priority", Text: "Gives a task another priority; one that is ready moves in its lane at once. For its submitter or a reviewer.",
		Routes: []op.Route{{Method: "POST", Path: "/work/prioritise"}}, Scope: ident.Write, CLI: "work prioritise", Mailbox: true,
		Tool: op.Tool{Profile: op.Full, Idempotent: true}, RefuseEmpty: true, Do: s.PrioritiseWork,
	})
}

// workReads declares what changes nothing.
func workReads(c *op.Catalogue, d Deps) {
	s := d.Store
	op.Register(c, op.Op[client.TaskRef, client.TaskReply]{
		Name: "get_task", Title: "Get a task", Text: "Reads one task with its result, whoever has it, and why it is not ready if it is not. Claims nothing.",
		Routes: []op.Route{{Method: "POST", Path: "/work/get"}, {Method: "GET", Path: "/work/tasks/:task_id"}}, Scope: ident.Read, CLI: "work get",
		Tool: op.Tool{Profile: op.Core, Text: "Read a task and its result; claims nothing.", ReadOnly: true}, RefuseEmpty: true, Do: s.GetTask,
	})
	op.Register(c, op.Op[client.ListWork, client.Tasks]{
		Name: "list_work", Title: "List tasks", Text: "Tasks, newest first, filtered by state, type, tag, label, claimant or submitter.",
		Routes: []op.Route{{Method: "GET", Path: "/work"}, {Method: "POST", Path: "/work/list"}}, Scope: ident.Read, CLI: "work list",
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, Do: s.ListWork,
	})
	op.Register(c, op.Op[client.ReadyWork, client.Tasks]{
		Name: "ready_work", Title: "List ready tasks", Text: "What can be claimed now, in the order it will be: priority, then age.",
		Routes: []op.Route{{Method: "GET", Path: "/work/ready"}}, Scope: ident.Read, CLI: "work ready",
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, Do: s.ReadyWork,
	})
	op.Register(c, op.Op[client.BlockedWork, client.Tasks]{
		Name: "blocked_work", Title: "List blocked tasks", Text: "What waits for dependencies, oldest first, each with the reason.",
		Routes: []op.Route{{Method: "GET", Path: "/work/blocked"}}, Scope: ident.Read, CLI: "work blocked",
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, Do: s.BlockedWork,
	})
	op.Register(c, op.Op[client.TaskRef, client.WhyNotReady]{
		Name: "why_not_ready", Title: "Why is a task not ready", Text: "Says what a task waits for: dependencies, a time, its claimant, or an agent that meets its demands.",
		Routes: []op.Route{{Method: "GET", Path: "/work/why/:task_id"}}, Scope: ident.Read, CLI: "work why",
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, Do: s.WhyNotReady,
	})
	op.Register(c, op.Op[client.None, client.WorkStats]{
		Name: "work_stats", Title: "Queue figures", Text: "How many tasks are ready (by type and demands), blocked, scheduled and in work, and how the latest ended.",
		Routes: []op.Route{{Method: "GET", Path: "/work/stats"}}, Scope: ident.Read, CLI: "work stats",
		Tool: op.Tool{Profile: op.Full, ReadOnly: true},
		Do: func(ctx context.Context, c ident.Caller, _ client.None) (client.WorkStats, error) {
			return s.WorkStats(ctx, c)
		},
	})
}
