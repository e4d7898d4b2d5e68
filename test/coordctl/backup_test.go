package coordctl

import (
	"path/filepath"
	"strings"
	"testing"
)

// An installation is saved while it runs, and brought back on another machine's empty one and over its own.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	p, elsewhere := newPlace(t), newPlace(t)
	p.up()
	p.must("bin/coordctl lock acquire src/a.go --agent-id ana --reason keep")
	file := filepath.Join(p.dir, "saved.tar.gz")
	if out := p.must("bin/coordctl backup " + file); !strings.Contains(out, "saved") || !strings.Contains(out, file) {
		t.Errorf("backup says %s", out)
	}
	if r := p.sh("bin/coordctl backup " + file); r.code == 0 {
		t.Errorf("an older backup was overwritten: %s", r.out)
	}
	if r := p.sh("bin/coordctl restore " + file); r.code == 0 || !strings.Contains(r.err, "coordctl down") {
		t.Errorf("a restore under a running installation: %d %s", r.code, r.err)
	}
	elsewhere.must("bin/coordctl restore " + file)
	elsewhere.up()
	if out := elsewhere.must("bin/coordctl lock list --json"); !strings.Contains(out, `"keep"`) {
		t.Errorf("the restored installation lists %s", out)
	}
	p.must("bin/coordctl lock release src/a.go --agent-id ana")
	p.must("bin/coordctl down")
	if r := p.sh("bin/coordctl restore " + file + " --yes"); r.code == 0 || !strings.Contains(r.err, "--replace") {
		t.Errorf("over what is there, unasked: %d %s", r.code, r.err)
	}
	p.must("bin/coordctl restore " + file + " --replace --yes")
	p.up()
	if out := p.must("bin/coordctl lock list --json"); !strings.Contains(out, `"keep"`) {
		t.Errorf("after the restore: %s", out)
	}
}
