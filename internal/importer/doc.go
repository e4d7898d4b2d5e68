// Package importer takes over what other tools hold: issues of beads (its JSONL export), boards of vibe-kanban (its SQLite
// database), mailboxes of mcp_agent_mail (its SQLite database or its archive of files).
//
// # What it promises
//
// Open work becomes tasks with their order of dependence, what is done becomes experiences that recall finds, valid
// reservations become locks, unread mail is delivered. Reading and writing are apart: Found is everything that was read, so
// that a dry run counts what a real one does. Doing it again imports what is new: tasks are recognised by a label,
// experiences by an id made of their source. A row that cannot be read is named with its place and skipped; what is left
// out on purpose is counted with the reason.
//
// # Failure
//
// A file that is no such export is an error before anything is written. The source is opened for reading only.
package importer
