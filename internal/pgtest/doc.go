// Package pgtest gives tests a real Postgres with the current schema: one server for all test processes
// of one user, one migrated template per state of the migration files, one cheap copy per test.
//
// # Use
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		t.Parallel()
//		pool := pgtest.New(t) // its own database, dropped afterwards
//	}
//
// # Promise
//
//   - Databases are independent: tests may run in parallel, within a package and across packages.
//   - Nothing is left: a database goes with its test, those of a killed process with the next run, the
//     server a few seconds after the last user.
//   - Main fails the package when goroutines are left over (goleak), without exceptions of its own.
//
// # Choices
//
// COORD_TEST_DATABASE_URL names a server to use instead (an administrator's connection string; the role
// must create databases and, unless they exist, the roles of the Data API). The server started here runs
// without fsync and allows 300 connections; a pool takes at most 8 of them unless MaxConns says otherwise.
//
// # Failure
//
// A server that cannot be had ends the test with its reason: tests of the store never skip silently. A
// pool that cannot be closed within ten seconds because a connection was not given back fails the test.
package pgtest
