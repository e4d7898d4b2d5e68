// Package guardrail knows commands that destroy what cannot be brought back: which rule a command meets, and what is done
// with it unless a project says otherwise. It is pure; who reads a shell's text asks it about one simple command at a time
// (Command), who has prose asks about that (InText).
//
// It is conservative in one direction: what the words do not show for certain is no finding. So an ordinary command is never
// stopped by mistake; what slips by is met again at the commit, at the push and in the verification.
package guardrail

import "slices"

// Action is what is done with a command.
type Action string

// The actions, strictest first.
const (
	Deny  Action = "deny"  // refused; a person may approve the one command
	Ask   Action = "ask"   // the host asks its person; where it cannot, as Deny
	Allow Action = "allow" // goes on, on record
)

// Rule is one of the rules as delivered.
type Rule struct {
	Name, Text string
	Default    Action
}

// The rules' names.
const (
	DeleteRoot     = "delete-root"
	DeleteGit      = "delete-git"
	DeleteOutside  = "delete-outside"
	ForcePush      = "force-push"
	ForcePushMain  = "force-push-protected"
	DeleteBranch   = "delete-remote-branch"
	ResetHard      = "reset-hard"
	CleanAll       = "clean-all"
	RewriteHistory = "rewrite-history"
	DiscardStash   = "discard-stash"
	DropDatabase   = "drop-database"
	DropTable      = "drop-table"
	DeleteAllRows  = "delete-all-rows"
	PipeToShell    = "pipe-to-shell"
	WriteDevice    = "write-device"
	OpenPermission = "open-permissions"
	DestroyCloud   = "destroy-infrastructure"
	ApproveSelf    = "approve-self"
)

// Rules lists them.
func Rules() []Rule {
	return []Rule{
		{DeleteRoot, "deletes the root of the machine, a home directory or a whole working tree", Deny},
		{DeleteGit, "deletes the .git of a repository: every commit that was not pushed is gone", Deny},
		{DeleteOutside, "deletes a directory outside the working tree (and outside the temporary directories)", Ask},
		{ForcePushMain, "overwrites the history of main, master, develop, trunk or a release branch on a remote", Deny},
		{ForcePush, "overwrites the history of a branch on a remote", Ask},
		{DeleteBranch, "deletes a branch or every branch on a remote", Ask},
		{ResetHard, "throws away every change in a working tree in which another session has changed files", Ask},
		{CleanAll, "deletes every file that git ignores: local configuration, data, environments", Ask},
		{RewriteHistory, "rewrites the history of a repository: filter-branch, filter-repo, expiring the reflog, pruning at once", Ask},
		{DiscardStash, "throws away every stash", Ask},
		{DropDatabase, "drops a database or a schema", Deny},
		{DropTable, "drops or empties a table", Ask},
		{DeleteAllRows, "deletes or changes every row of a table: no WHERE", Ask},
		{PipeToShell, "runs in a shell what it has just loaded from the network", Ask},
		{WriteDevice, "writes to a disk as a whole: dd, mkfs, wipefs", Deny},
		{OpenPermission, "opens everything below the root of the machine or a home directory to everybody", Deny},
		{DestroyCloud, "destroys infrastructure: terraform destroy, kubectl delete namespace, removing a bucket with its contents", Ask},
		{ApproveSelf, "decides in an agent's own session what waits for a person: approving acts, lifting holds, changing rules and budgets", Deny},
	}
}

// Known reports whether name is a rule's, and its default.
func Known(name string) (Rule, bool) {
	list := Rules()
	i := slices.IndexFunc(list, func(r Rule) bool { return r.Name == name })
	if i < 0 {
		return Rule{}, false
	}
	return list[i], true
}

// Finding is a rule that a command meets, and on what.
type Finding struct {
	Rule string
	Why  string // what it would destroy, in a few words
}
