package coordctl

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecondUpJoinsTheFirst(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.up()
	if !strings.HasPrefix(first.Gate, "http://127.0.0.1:") {
		t.Errorf("gateway_url is %q", first.Gate)
	}
	if second := p.up(); second != first {
		t.Errorf("the second up says %+v, the first %+v", second, first)
	}
	if out := p.must("bin/coordctl up"); !strings.Contains(out, "up already") || !strings.Contains(out, first.APIURL) {
		t.Errorf("up in the foreground says %s", out)
	}
	if out := p.must("bin/coordctl down"); !strings.Contains(out, "the API") || !strings.Contains(out, "Postgres") {
		t.Errorf("down says %s", out)
	}
	if _, err := os.Stat(filepath.Join(p.home, "up.json")); !os.IsNotExist(err) {
		t.Errorf("up.json after down: %v", err)
	}
	if r := p.sh("bin/coordctl status"); r.code != 3 {
		t.Errorf("status after down: exit code %d\n%s", r.code, r.out)
	}
	if r := p.sh("bin/coordctl lock list"); r.code != 3 || !strings.Contains(r.err, "coordctl up") {
		t.Errorf("lock list after down: exit code %d\n%s", r.code, r.err)
	}
}

// TestKilledUp: a killed `up` leaves a stale up.json; nothing that was answered is lost, and the next start is clean.
func TestKilledUp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.up()
	p.must("bin/coordctl lock acquire src/a.go --agent-id ana")
	kill(t, first.PID)
	eventually(t, "status noticing it", func() bool { return p.sh("bin/coordctl status").code == 3 })
	second := p.up()
	if second.PID == first.PID || second.APIKey != first.APIKey {
		t.Errorf("after the kill: %+v, before: %+v", second, first)
	}
	if out := p.must("bin/coordctl lock list --json"); !strings.Contains(out, `"ana"`) {
		t.Errorf("the lock is gone: %s", out)
	}
}

// TestKilledPostgres: while the database is away calls say that they cannot tell; it comes back by itself.
func TestKilledPostgres(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.up()
	p.must("bin/coordctl lock acquire src/a.go --agent-id ana")
	pid, running := p.postgres()
	if !running {
		t.Fatal("it does not run")
	}
	kill(t, pid)
	eventually(t, "the lock being listed again", func() bool {
		r := p.sh("bin/coordctl lock list --json")
		if r.code != 0 && r.code != 3 {
			t.Fatalf("exit code %d\n%s", r.code, r.err)
		}
		if r.code == 0 && !strings.Contains(r.out, `"ana"`) {
			t.Fatalf("an outage looks like an empty list: %s", r.out)
		}
		now, up := p.postgres()
		return r.code == 0 && up && now != pid
	})
}

func TestTakenPort(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	p := newPlace(t)
	r := p.sh("bin/coordctl up", "API_ADDR="+ln.Addr().String())
	if r.code != 1 || !strings.Contains(r.err, ln.Addr().String()) || !strings.Contains(r.err, "API_ADDR=127.0.0.1:0") {
		t.Errorf("exit code %d\n%s", r.code, r.err)
	}
	if _, running := p.postgres(); running {
		t.Error("Postgres was started for nothing")
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.up()
	p.must("bin/coordctl lock acquire src/a.go --agent-id ana")
	if r := p.sh("bin/coordctl reset --yes"); r.code != 1 || !strings.Contains(r.err, "down") {
		t.Errorf("reset while up: exit code %d\n%s", r.code, r.err)
	}
	p.must("bin/coordctl down")
	if r := p.sh("echo n | bin/coordctl reset"); r.code != 2 {
		t.Errorf("a no: exit code %d\n%s", r.code, r.err)
	}
	var kept struct {
		Kept struct {
			Path  string
			Bytes int64
		}
	}
	if err := json.Unmarshal([]byte(p.must("bin/coordctl reset --yes --json")), &kept); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(kept.Kept.Path); err != nil || kept.Kept.Bytes == 0 {
		t.Errorf("kept %+v, %v", kept, err)
	}
	p.up()
	if out := p.must("bin/coordctl lock list --json"); strings.Contains(out, `"ana"`) {
		t.Errorf("the lock is still there: %s", out)
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if r := p.sh("bin/coordctl doctor"); r.code != 1 || !strings.Contains(r.out, "coordctl up") {
		t.Errorf("with nothing up: exit code %d\n%s", r.code, r.out)
	}
	p.up()
	var d struct {
		Healthy bool
		Checks  []struct{ Name, Verdict, Found, Fix string }
	}
	if err := json.Unmarshal([]byte(p.must("bin/coordctl doctor --json")), &d); err != nil {
		t.Fatal(err)
	}
	if !d.Healthy || len(d.Checks) < 7 {
		t.Errorf("%+v", d)
	}
	if r := p.sh("bin/coordctl doctor", "COORDINATION_API_KEY=wrong"); r.code != 1 || !strings.Contains(r.out, "Invalid API key") {
		t.Errorf("with a wrong key: exit code %d\n%s", r.code, r.out)
	}
}

// TestForeignDatabase: a database of somebody else's is neither used nor changed unless that was asked for.
func TestForeignDatabase(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	u := p.up()
	if p.sh("command -v psql").code != 0 {
		t.Skip("psql is not installed: no foreign database can be made here")
	}
	foreign := strings.Replace(u.DB, "/coord?", "/theirs?", 1)
	libpq := func(url string) string { return strings.Split(url, "?")[0] }
	p.must("psql -q -v ON_ERROR_STOP=1 -c 'create database theirs' '" + libpq(u.DB) + "'")
	p.must("psql -q -v ON_ERROR_STOP=1 -c 'create table invoices (id int)' '" + libpq(foreign) + "'")
	r := p.sh("bin/coordctl migrate", "DATABASE_URL="+foreign)
	if r.code == 0 || !strings.Contains(r.err, "something else") {
		t.Errorf("exit code %d\n%s%s", r.code, r.out, r.err)
	}
	if out := p.must("bin/coordctl migrate --migrate-foreign", "DATABASE_URL="+foreign); !strings.Contains(out, "applied") {
		t.Errorf("with the flag: %s", out)
	}
}
