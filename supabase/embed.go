// Package supabase holds the database's definition: one set of migration files that the Supabase CLI and
// our own migrator both read, and the bootstrap that a plain Postgres needs before them.
//
// Promise: the files in the binary are the files in the tree; nothing else in the module embeds SQL files.
// Failure: a tree without migrations does not compile.
package supabase

import (
	"embed"
	"io/fs"
)

//go:embed migrations/*.sql
var migrations embed.FS

//go:embed bootstrap/*.sql
var bootstrap embed.FS

// Migrations is the set of migrations, at its root: files named <14 digits>_<noun>.sql.
var Migrations = mustSub(migrations, "migrations")

// Bootstrap holds what runs outside the migrations, at its root: 00_plain_postgres.sql, the roles and
// schemas that Supabase brings itself, and legacy_grants.sql, which only tests apply.
var Bootstrap = mustSub(bootstrap, "bootstrap")

// mustSub cannot fail: fs.Sub refuses invalid paths only, and both are literals.
func mustSub(fsys fs.FS, dir string) fs.FS {
	sub, err := fs.Sub(fsys, dir)
	if err != nil {
		panic(err)
	}
	return sub
}
