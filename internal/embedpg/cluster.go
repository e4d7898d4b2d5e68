package embedpg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// createCluster makes the data directory: beside its place, then by rename, so that it exists whole or
// not at all. What a starter left that died is removed; only names that we made are touched.
func createCluster(ctx context.Context, l layout, u dbUser, b Binaries, password string, unsafe bool) error {
	for _, pattern := range []string{"data.init-*", "pw-*"} {
		stale, err := filepath.Glob(filepath.Join(l.store, pattern))
		if err != nil {
			return fmt.Errorf("create the cluster: %w", err)
		}
		for _, path := range stale {
			// An initdb that outlived its starter may still be writing: then the next start removes it.
			_ = os.RemoveAll(path)
		}
	}
	tmp, err := os.MkdirTemp(l.store, "data.init-")
	if err != nil {
		return fmt.Errorf("create the cluster: %w", err)
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // gone after the rename
	if err := u.own(tmp); err != nil {
		return err
	}
	if err := initdb(ctx, l, u, b, tmp, password, unsafe); err != nil {
		return err
	}
	if err := includeOurConf(tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, l.data()); err != nil {
		return fmt.Errorf("move the new cluster to its place: %w", err)
	}
	return syncDir(l.store)
}

// initdb fills dir. Sorting by bytes is fast and never changes with the C library; the character class
// must know UTF-8, or lower() and trigrams ignore every letter outside ASCII. The name of such a locale
// differs between systems, so the next one is tried when initdb refuses.
func initdb(ctx context.Context, l layout, u dbUser, b Binaries, dir, password string, unsafe bool) error {
	pwfile, err := writePasswordFile(l, u, password)
	if err != nil {
		return err
	}
	defer os.Remove(pwfile) //nolint:errcheck // mode 0600; the next start removes a leftover
	ctypes := []string{"C.UTF-8", "en_US.UTF-8", "C"}
	if runtime.GOOS == "windows" {
		ctypes = []string{"C"}
	}
	for _, ctype := range ctypes {
		args := []string{
			"-D", dir, "-U", superuser, "--pwfile=" + pwfile, "--auth=scram-sha-256", "--encoding=UTF8",
			"--locale=C", "--lc-ctype=" + ctype, "--text-search-config=english", "--data-checksums",
		}
		if unsafe {
			args = append(args, "--no-sync")
		}
		if _, err = run(u.command(ctx, b.program("initdb"), args...)); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("create the cluster: %w", err)
	}
	return nil
}

// writePasswordFile makes a file that initdb, under its own account, can read.
func writePasswordFile(l layout, u dbUser, password string) (string, error) {
	f, err := os.CreateTemp(l.store, "pw-")
	if err != nil {
		return "", fmt.Errorf("write the password for initdb: %w", err)
	}
	_, err = f.WriteString(password + "\n")
	if err := errors.Join(err, f.Close(), u.own(f.Name())); err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("write the password for initdb: %w", err)
	}
	return f.Name(), nil
}

// ourConf is the file in the data directory that carries our settings; postgresql.conf stays initdb's
// but for the line that includes it, and a person's additions below that line win.
const ourConf = "coord.conf"

func includeOurConf(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("configure the cluster: %w", err)
	}
	_, err = f.WriteString("\n# rewritten at every start; put your own settings below this line\ninclude_if_exists = '" + ourConf + "'\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("configure the cluster: %w", err)
	}
	return nil
}

// settings is the configuration for one start. 300 connections: forty agents whose servers each hold six at
// their busiest, an API of 16, a gateway of 8, and room for a second of each during a restart; a slot that
// is not used costs a few kilobytes. WAL may grow to 4 GB under load before a checkpoint is forced, so that
// bursts do not write full pages again and again; at rest it stays at 80 MB.
func settings(port int, socket string, lz4, unsafe bool, extra map[string]string) map[string]string {
	s := map[string]string{
		"listen_addresses":                    "127.0.0.1",
		"port":                                strconv.Itoa(port),
		"unix_socket_directories":             socket,
		"unix_socket_permissions":             "0700",
		"max_connections":                     "300",
		"shared_buffers":                      buffers(),
		"max_wal_size":                        "4GB",
		"checkpoint_timeout":                  "15min",
		"wal_compression":                     "on",
		"autovacuum_naptime":                  "10s",
		"idle_in_transaction_session_timeout": "60s", // one forgotten transaction slows every claim
		"random_page_cost":                    "1.1",
		"jit":                                 "off",
		"log_checkpoints":                     "off",
		"logging_collector":                   "off",
		"log_line_prefix":                     "%m [%p] %a ",
	}
	if lz4 {
		s["wal_compression"] = "lz4"
	}
	if unsafe {
		s["fsync"], s["full_page_writes"] = "off", "off" // commits stay synchronous: a killed server loses nothing
	}
	maps.Copy(s, extra)
	return s
}

// writeConf replaces coord.conf. The server reads it as its own account.
func writeConf(dataDir string, u dbUser, s map[string]string) error {
	var b strings.Builder
	b.WriteString("# written by agent-coordinator at every start\n")
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%s = '%s'\n", name, strings.ReplaceAll(s[name], "'", "''"))
	}
	path := filepath.Join(dataDir, ourConf)
	if err := writeFileAtomic(path, []byte(b.String())); err != nil {
		return err
	}
	return u.own(path)
}

// supportsLZ4 asks the server program whether it was built with lz4; naming it otherwise stops the start.
func supportsLZ4(ctx context.Context, u dbUser, b Binaries, dataDir string) bool {
	_, err := run(u.command(ctx, b.program("postgres"), "-D", dataDir, "-c", "wal_compression=lz4", "-C", "wal_compression"))
	return err == nil
}

// resetPassword gives the superuser a new password while the server is stopped, for a cluster whose
// password file was lost.
func resetPassword(ctx context.Context, u dbUser, b Binaries, dataDir, password string) error {
	cmd := u.command(ctx, b.program("postgres"), "--single", "-D", dataDir, superuser)
	cmd.Stdin = strings.NewReader("alter role " + superuser + " password '" + password + "'\n") // hex digits only
	if _, err := run(cmd); err != nil {
		return fmt.Errorf("set a new password: %w", err)
	}
	return nil
}

func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be synced there
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}
