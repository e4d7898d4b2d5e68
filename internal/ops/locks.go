package ops

import (
	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// locks declares the operations on file locks.
func locks(c *op.Catalogue, d Deps, held heldOps) {
	s := d.Store
	op.Register(c, op.Op[client.AcquireLock, client.LockResult]{
		Name: "acquire_lock", Title: "Acquire lock",
		Text: "Reserves a path, a directory, a glob or a logical key, or several at once, all or none. Call it before editing any file. " +
			"Success carries expires_at and a fencing token; asking again for what the session holds renews it. A refusal names who holds what until when, and what is free nearby. " +
			"wait_seconds waits in line, first come first served.",
		Routes: []op.Route{{Method: "POST", Path: "/locks/acquire"}}, Scope: ident.Write, Acts: true, Waits: true, RefuseEmpty: true,
		Tool: op.Tool{Profile: op.Core, Idempotent: true, Text: "Call before editing any file. Locks a path, dir/ or glob (file_paths: all or none); again = renew. " +
			"success:false names holder, reason, expiry and what is free nearby: then leave it alone, work elsewhere or wait."},
		CLI: "lock acquire", Do: waiter{store: s, hub: d.Hub}.acquire,
	})
	op.Register(c, op.Op[client.ReleaseLock, client.ReleaseResult]{
		Name: "release_lock", Title: "Release lock",
		Text: "Gives back locks as soon as the edit is done: one path, several, or all of the session. Only the owner can; " +
			"without a session the path is freed in whichever session of the agent holds it. What others wait for goes to the next in line.",
		Routes: []op.Route{{Method: "POST", Path: "/locks/release"}}, Scope: ident.Write, Acts: true, RefuseEmpty: true,
		Tool: op.Tool{Profile: op.Core, Idempotent: true, Text: "Call as soon as an edit is done. Releases file_path, file_paths or all of this session's locks; the next in line gets them. " +
			"success:false: you held none of it."},
		CLI: "lock release", Do: s.ReleaseLock,
	})
	op.Register(c, op.Op[client.CheckLocks, client.Locks]{
		Name: "check_locks", Title: "Check locks",
		Text:   "Lists live locks: holder, reason, expiry, fencing token. file_paths narrows it to locks that overlap these paths. Takes nothing.",
		Routes: []op.Route{{Method: "POST", Path: "/locks/check"}, {Method: "GET", Path: "/locks"}}, Scope: ident.Read,
		Tool: op.Tool{Profile: op.Core, ReadOnly: true, Text: "Call to see who holds what before planning; takes nothing. Lists locks that overlap file_paths (left out: all) with holder, reason and expiry."},
		CLI:  "lock list", Do: s.CheckLocks,
	})
	op.Register(c, op.Op[client.LockStatus, client.LockState]{
		Name: "lock_status", Title: "Lock status", Text: "Tells whether a lock overlaps one path, and which.",
		Routes: []op.Route{{Method: "GET", Path: "/locks/status/*file_path"}}, Scope: ident.Read,
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, CLI: "lock status", Do: s.LockStatus,
	})
	op.Register(c, op.Op[client.VerifyLock, client.VerifiedLock]{
		Name: "verify_lock", Title: "Verify lock",
		Text:   "Checks a fencing token right before a write: valid, or lease_lost (410) when the lock expired, was released or passed to another.",
		Routes: []op.Route{{Method: "POST", Path: "/locks/verify"}}, Scope: ident.Read,
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, CLI: "lock verify", Do: s.VerifyLock,
	})
	op.Register(c, op.Op[client.ForceReleaseLock, client.ForceReleased]{
		Name: "force_release_lock", Title: "Force-release lock",
		Text:   "A reviewer takes a lock away from its holder, who is told why. For a stuck team; the holder may still be writing.",
		Routes: []op.Route{{Method: "POST", Path: "/locks/force-release"}, {Method: "DELETE", Path: "/locks/*file_path"}}, Scope: ident.Reviewer,
		Tool: op.Tool{Profile: op.Full, Destructive: true}, CLI: "lock force-release",
		Do: secondPerson(s, held, forceRelease, "force_release_lock", func(in client.ForceReleaseLock) (string, string) {
			return "take the lock on " + in.FilePath + " away", in.Reason
		}, s.ForceReleaseLock),
	})
	op.Register(c, op.Op[client.RenewLocks, client.RenewedLocks]{
		Name: "renew_locks", Title: "Renew locks",
		Text:   "Prolongs every lock of the session. Expired ones are not brought back.",
		Routes: []op.Route{{Method: "POST", Path: "/locks/renew"}}, Scope: ident.Write, Acts: true,
		Tool: op.Tool{Profile: op.Full, Idempotent: true}, CLI: "lock renew", Do: s.RenewLocks,
	})
	op.Register(c, op.Op[client.ReportChanges, client.ReportedChanges]{
		Name: "report_changes", Title: "Report changes",
		Text: "Tells which files a tool call, a commit or a push changed. Files that another session holds are recorded as violations and told to " +
			"their holder; digests mark memories about other contents stale. Hooks send it.",
		Routes: []op.Route{{Method: "POST", Path: "/locks/changes"}}, Scope: ident.Write, Acts: true, RefuseEmpty: true,
		Tool: op.Tool{Profile: op.Full, Idempotent: true}, CLI: "lock report", Do: s.ReportChanges,
	})
	op.Register(c, op.Op[client.ListViolations, client.Violations]{
		Name: "list_violations", Title: "List violations", Text: "Lists changes of files that another session held: who changed what, how, and whose lock it was.",
		Routes: []op.Route{{Method: "GET", Path: "/locks/violations"}}, Scope: ident.Read,
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, CLI: "lock violations", Do: s.ListViolations,
	})
	op.Register(c, op.Op[client.ListLockWaits, client.LockWaits]{
		Name: "list_lock_waits", Title: "List lock waits", Text: "Lists who waits for which lock, first in line first, and who is in the way.",
		Routes: []op.Route{{Method: "GET", Path: "/locks/waits"}}, Scope: ident.Read,
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, CLI: "lock waits", Do: s.ListLockWaits,
	})
}
