// Package local is the one local installation of a user: its folder, its database, its key, the file that says what
// runs (up.json), and the functions that bring it up and take it down.
//
// # Promise
//
//   - up.json exists only while the API answers (or its process was killed, which Running notices). It is written
//     by rename, for its owner only, and removed by the process that wrote it.
//   - One `up` at a time: the others report the first.
//   - A foreign database is never migrated unless asked for by name; an embedded one is restarted when it dies.
//
// # Failure
//
// OpenDatabase fails with embedpg's and migrate's errors, which name the ways out; ErrPortTaken names who listens.
package local
