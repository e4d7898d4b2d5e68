// Package repo finds out which repository a folder belongs to, in a way that gives every clone, worktree, container
// path and symlink of one repository the same answer, and translates paths as agents write them into the
// repository-relative ones that locks and tasks use.
//
// # What identifies a repository
//
// The normalised remote (host/owner/name) where there is one, else the root commit; both are reported, because the
// server keeps the other as an alias. Remotes that are folders of this machine identify nothing by themselves: they are
// followed to the repository they name, whose own remote and root commit count. `.coord.toml` at the root of the working
// tree (project = "…", repository = "…") and the variable COORD_PROJECT override.
//
// # Failure
//
// A folder that belongs to no repository is not an error: Repo.Git is false and the folder itself is the root. git is
// run without a shell, without the caller's GIT_* variables and with a time limit; what it cannot tell in time, the root
// commit of a very long history for one, is left empty.
package repo
