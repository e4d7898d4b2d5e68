// Package migrate brings a database to the schema that this binary carries, with golang-migrate as the
// engine and in step with the Supabase CLI: both read the same files and either may run first.
//
// # Promise
//
//   - Up applies every missing file once, in order of version, and reports what it applied. Run again it
//     does nothing. Any number of processes may call it at once on one database.
//   - A file is applied whole or not at all, and the note that it was applied is written in the same
//     transaction. A process that dies at any moment leaves a database from which the next Up continues.
//   - A database with tables that are not ours is not touched unless the caller says so (ErrForeign).
//   - What the Supabase CLI applied is adopted, not applied again; what we apply stands in its history.
//
// # Rules for files
//
// Name <14 digits>_<noun>.sql, versions strictly increasing, forward only. No begin or commit: a file is
// one transaction already. CREATE INDEX CONCURRENTLY stands alone in its file, with IF NOT EXISTS (DROP:
// with IF EXISTS), because it cannot be part of a transaction and must be repeatable. Check tells.
//
// # Failure
//
// ErrPooler for a connection string of a transaction pooler (port 6543, or pgbouncer=true), where session locks do not hold.
// ErrForeign as above. ErrFiles for a set that breaks the rules. ErrUnknownVersion when the database is at
// a version that lies inside our range but is not one of ours. A failing file gives *FileError with the
// server's own error inside; the database stays at the version before it. A database newer than this
// binary is left alone and is not an error: older binaries keep working beside newer ones.
//
// # Locks
//
// One session advisory lock per database, polled: a process that waits inside the server holds a snapshot,
// and the CREATE INDEX CONCURRENTLY of the lock's holder would wait for that snapshot for ever.
package migrate
