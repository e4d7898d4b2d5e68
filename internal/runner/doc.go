// Package runner is the agent runner: it registers with a coordinator, long-polls it for runs, executes each run as a
// child process (an executor) and reports how it ended.
//
// What it promises:
//
//   - A run is spawned only after the coordinator acknowledged its start, so a run that was delivered twice runs once.
//   - How a run ended is written to the state file before it is sent, and sent until the coordinator acknowledged or
//     refused it; neither a restart of the coordinator nor one of the runner loses it.
//   - A stop reaches the executor's whole process group: SIGTERM, after the grace (5 s) SIGKILL. It never holds up the
//     poller.
//   - Output of executors is read while they run; only the tails are kept. A chatty executor cannot block itself.
//   - A runner that was killed ends what it left behind at its next start, and reports those runs failed.
//   - Shutting down it first stops claiming, then ends its children, reports them, and deregisters.
//
// Processes that an executor detached into a session of their own (setsid) are daemons on purpose and not touched.
//
// It knows no database. It talks to the coordinator over HTTP only, in the format that coordinators of the same
// family speak; members that such a coordinator does not know (instance_id, capacity) are ignored by it.
package runner
