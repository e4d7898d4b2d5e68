package coordctl

import (
	"strings"
	"testing"
)

// The hooks as git and a coding host run them: coordctl install git, then a commit of what somebody else holds.
func TestGuardAtTheCommit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.up()
	git := "git -c user.name=b -c user.email=b@x "
	p.must("printf '#!/bin/sh\\ntouch ran\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && echo bin > .gitignore")
	if out := p.must("bin/coordctl install git"); !strings.Contains(out, "pre-commit, commit-msg, pre-push") || !strings.Contains(out, "run first, as before: pre-commit") {
		t.Errorf("install git said: %s", out)
	}
	p.must(git + "add .gitignore && " + git + "commit -qm ignore && test -f ran")
	p.must("bin/coordctl lock acquire --agent-id ana --session-id ana-s --file-path src/form.go --reason 'rewriting the form'")
	p.must("echo x > src/form.go && echo y > src/free.go && git add src")

	r := p.sh(git + "commit -qm both")
	if r.code == 0 || !strings.Contains(r.err, "src/form.go is held by ana") || !strings.Contains(r.err, "rewriting the form") || strings.Contains(r.err, "free.go") {
		t.Fatalf("the commit: %d\n%s%s", r.code, r.out, r.err)
	}
	p.must("git reset -q src/form.go && " + git + "commit -qm free")
	p.must("git add src && COORD_BYPASS='ana agreed' " + git + "commit -qm bypass")
	if out := p.must("bin/coordctl lock violations --json"); !strings.Contains(out, "ana agreed") {
		t.Errorf("the bypass was not recorded: %s", out)
	}
	// The holder's own commit carries the fencing token.
	p.must("echo z > src/form.go && git add src && "+git+"commit -qm held", "AGENT_ID=ana", "SESSION_ID=ana-s")
	if out := p.must("git log -1 --format=%B"); !strings.Contains(out, "Coord-Session: ana-s") || !strings.Contains(out, "Coord-Fence: ") {
		t.Errorf("the holder's commit message: %s", out)
	}
	p.must("bin/coordctl down")
	if r := p.sh(git + "commit -q --allow-empty -m down"); r.code != 0 {
		t.Errorf("an empty commit with nothing up: %s", r.err)
	}
	if r := p.sh("echo w > src/form.go && git add src && " + git + "commit -qm unchecked"); r.code != 0 || !strings.Contains(r.err, "NOT checked") {
		t.Errorf("with nothing up the guard fails open, and says so: %d\n%s", r.code, r.err)
	}
	p.must("bin/coordctl uninstall git && grep -q 'touch ran' .git/hooks/pre-commit && ! test -e .git/hooks/pre-push")
}
