package pgtest

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Pooled starts a pgbouncer in transaction mode in front of the database of dsn, and returns the connection string that
// goes through it. Statements of one client go to any of four connections. It ends with the test. Without the program the
// test is skipped; .ci/run installs it (Debian: pgbouncer).
func Pooled(t testing.TB, dsn string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/pgbouncer"); err != nil {
			t.Skip("SKIPPED, nothing was proven: pgbouncer is not installed (apt-get install pgbouncer)")
		}
	}
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "coord-pgbouncer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	port := freePort(t)
	users, ini := filepath.Join(dir, "users.txt"), filepath.Join(dir, "pgbouncer.ini")
	write(t, users, fmt.Sprintf("%q %q\n", cfg.User, cfg.Password))
	host := cfg.Host
	if strings.HasPrefix(host, "/") { // the socket's folder is closed to the account below; the server listens on loopback, too
		host = "127.0.0.1"
	}
	account := ""
	if os.Getuid() == 0 { // it refuses to be root
		account = "user = nobody\n"
		if u, err := user.Lookup("nobody"); err == nil {
			uid, _ := strconv.Atoi(u.Uid)
			gid, _ := strconv.Atoi(u.Gid)
			for _, f := range []string{dir, users} {
				if err := os.Chown(f, uid, gid); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// No ignore_startup_parameters: a client that sets what a pool cannot keep is refused, as by Supavisor.
	write(t, ini, fmt.Sprintf("[databases]\n* = host=%s port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"+
		"auth_type = trust\nauth_file = %s\npool_mode = transaction\ndefault_pool_size = 4\nmax_client_conn = 300\n%s", host, cfg.Port, port, users, account))
	if err := os.Chmod(ini, 0o644); err != nil { //nolint:gosec // no secret in it
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-q", ini)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	for end := time.Now().Add(10 * time.Second); ; {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatalf("pgbouncer does not listen: %v", err)
		}
		<-time.After(20 * time.Millisecond)
	}
	return (&url.URL{
		Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Host: address, Path: "/" + cfg.Database, RawQuery: "sslmode=disable&pgbouncer=true",
	}).String()
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%T", l.Addr())
	}
	return addr.Port
}
