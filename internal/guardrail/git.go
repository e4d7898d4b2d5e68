package guardrail

import (
	"regexp"
	"slices"
	"strings"
)

// Protected reports whether a branch is one that everybody builds on.
func Protected(branch string) bool {
	branch = strings.TrimPrefix(branch, "refs/heads/")
	return slices.Contains([]string{"main", "master", "develop", "trunk", "production", "staging"}, branch) || protected.MatchString(branch)
}

var protected = regexp.MustCompile(`^(release|hotfix)[/-]`)

// git judges the subcommands that overwrite or throw away what others or the past have.
func (c *call) git() {
	for len(c.args) > 0 && strings.HasPrefix(c.args[0], "-") { // -C dir, -c name=value, --git-dir=…
		if a := c.args[0]; (a == "-C" || a == "-c" || a == "--git-dir" || a == "--work-tree") && len(c.args) > 1 {
			c.args = c.args[1:]
			c.at.Branch = "" // of another place
		}
		c.args = c.args[1:]
	}
	if len(c.args) == 0 {
		return
	}
	sub := c.args[0]
	c.args = c.args[1:]
	switch sub {
	case "push":
		c.push()
	case "reset":
		if c.flag("", "--hard") {
			c.found(ResetHard, "throws away every change in the working tree")
		}
	case "clean":
		if c.flag("f", "--force") && c.flag("xX") && !c.flag("ni", "--dry-run", "--interactive") {
			c.found(CleanAll, "deletes every file that git ignores")
		}
	case "filter-branch", "filter-repo":
		if !c.flag("h", "--help", "--analyze", "--dry-run") {
			c.found(RewriteHistory, "git "+sub+" rewrites every commit")
		}
	case "reflog":
		if c.word("expire") && slices.ContainsFunc(c.args, func(a string) bool {
			return a == "--expire=now" || a == "--expire=all" || a == "--expire-unreachable=now"
		}) {
			c.found(RewriteHistory, "forgets every earlier state of the branches")
		}
	case "gc", "prune":
		if slices.ContainsFunc(c.args, func(a string) bool { return a == "--prune=now" || a == "--prune=all" || a == "--expire=now" }) {
			c.found(RewriteHistory, "deletes every commit that no branch names")
		}
	case "stash":
		if len(c.args) > 0 && c.args[0] == "clear" {
			c.found(DiscardStash, "throws away every stash")
		}
	}
}

// push judges what is pushed by force and what is deleted on the remote. --force-with-lease overwrites only what its author
// has seen; on a protected branch it is refused like --force.
func (c *call) push() {
	force, lease := c.flag("f", "--force"), c.flag("", "--force-with-lease")
	if c.flag("n", "--dry-run") {
		return
	}
	ops := c.operands()
	if c.flag("", "--mirror") {
		c.found(ForcePushMain, "makes the remote a copy of this repository: what it lacks is deleted there")
		return
	}
	if len(ops) > 0 {
		ops = ops[1:] // the remote
	}
	if c.flag("", "--prune") && (c.flag("", "--all") || len(ops) > 0) {
		c.found(DeleteBranch, "deletes branches on the remote")
	}
	if len(ops) == 0 && c.sure && (force || lease) {
		switch {
		case Protected(c.at.Branch) || force && c.flag("", "--all"):
			c.found(ForcePushMain, "overwrites the history of "+c.at.Branch)
		case force:
			c.found(ForcePush, "overwrites the history of "+c.at.Branch)
		}
		return
	}
	if len(ops) == 0 && force {
		c.found(ForcePush, "overwrites the history of a branch")
	}
	for _, spec := range ops {
		c.refspec(spec, force, lease)
	}
}

func (c *call) refspec(spec string, force, lease bool) {
	plus := strings.HasPrefix(spec, "+")
	from, to, both := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
	if !both {
		to = from
	}
	if to == "HEAD" || to == "@" {
		to = c.at.Branch
	}
	if strings.HasPrefix(to, "refs/tags/") {
		return
	}
	deletes := c.flag("d", "--delete") || both && from == ""
	switch {
	case deletes && Protected(to):
		c.found(ForcePushMain, "deletes "+to+" on the remote")
	case deletes:
		c.found(DeleteBranch, "deletes "+to+" on the remote")
	case (force || lease || plus) && Protected(to):
		c.found(ForcePushMain, "overwrites the history of "+to+" on the remote")
	case force || plus:
		c.found(ForcePush, "overwrites the history of "+to+" on the remote")
	}
}
