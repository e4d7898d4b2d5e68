package embedpg

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// systemHome is root's state folder: /root is closed to the account that runs Postgres.
const systemHome = "/var/lib/agent-coordinator"

// Home is the one state folder of the product: COORD_HOME, else /var/lib/agent-coordinator for root, else
// the user's data directory. It is not created.
func Home() (string, error) {
	if dir := os.Getenv("COORD_HOME"); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("COORD_HOME: %w", err)
		}
		return abs, nil
	}
	if os.Geteuid() == 0 {
		return systemHome, nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "agent-coordinator"), nil
	}
	if runtime.GOOS == "windows" {
		if dir := os.Getenv("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "agent-coordinator"), nil
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no place for state, set COORD_HOME: %w", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "agent-coordinator"), nil
	}
	return filepath.Join(home, ".local", "share", "agent-coordinator"), nil
}

// DefaultDir is the control directory of the user's own server: COORD_PG_ROOT, else postgres in Home.
func DefaultDir() (string, error) {
	if dir := os.Getenv("COORD_PG_ROOT"); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("COORD_PG_ROOT: %w", err)
		}
		return abs, nil
	}
	home, err := Home()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, "postgres"), nil
}

// layout names every file of one server. ctl is ours; store belongs to the account that runs Postgres and
// equals ctl unless that account cannot enter it.
type layout struct{ ctl, store string }

func (l layout) startLock() string  { return filepath.Join(l.ctl, "start.lock") }
func (l layout) usersLock() string  { return filepath.Join(l.ctl, "users.lock") }
func (l layout) watchLock() string  { return filepath.Join(l.ctl, "watch.lock") }
func (l layout) infoFile() string   { return filepath.Join(l.ctl, "info.json") }
func (l layout) secretFile() string { return filepath.Join(l.ctl, "password") }
func (l layout) graceFile() string  { return filepath.Join(l.ctl, "grace") }
func (l layout) watchLog() string   { return filepath.Join(l.ctl, "watcher.log") }
func (l layout) pointer() string    { return filepath.Join(l.ctl, "store.path") }
func (l layout) data() string       { return filepath.Join(l.store, "data") }
func (l layout) serverLog() string  { return filepath.Join(l.store, "server.log") }

// readLayout finds the files of an existing control directory without changing anything.
func readLayout(dir string) (layout, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return layout{}, fmt.Errorf("control directory: %w", err)
	}
	l := layout{ctl: abs, store: abs}
	b, err := os.ReadFile(l.pointer())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err != nil:
		return l, fmt.Errorf("read the pointer to the cluster: %w", err)
	}
	l.store = strings.TrimSpace(string(b))
	if !filepath.IsAbs(l.store) {
		return l, fmt.Errorf("%w: %s does not hold an absolute path", ErrNotOurs, l.pointer())
	}
	return l, nil
}

// prepareLayout creates the directories and decides who runs Postgres. It is idempotent and may run in
// several processes at once.
func prepareLayout(dir string) (layout, dbUser, error) { return prepareLayoutIn(dir, systemHome) }

func prepareLayoutIn(dir, system string) (layout, dbUser, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return layout{}, dbUser{}, fmt.Errorf("control directory: %w", err)
	}
	if err := makeControlDir(abs, system); err != nil {
		return layout{}, dbUser{}, err
	}
	l, err := readLayout(abs)
	if err != nil {
		return l, dbUser{}, err
	}
	u, err := chooseUser(l.data())
	if err != nil || !u.drop {
		return l, u, err
	}
	// Root runs Postgres under another account, which must be able to walk to its files.
	if l.store == l.ctl {
		if err := openForTraversal(l.ctl); err != nil {
			return l, u, err
		}
		if canEnter(u, l.ctl) {
			return l, u, nil
		}
		l.store = relocated(system, l.ctl)
		if err := makeControlDir(l.store, system); err != nil {
			return l, u, err
		}
		if err := writeFileAtomic(l.pointer(), []byte(l.store+"\n")); err != nil {
			return l, u, err
		}
	}
	if !canEnter(u, l.store) {
		return l, u, fmt.Errorf("%w: %s cannot enter %s; set COORD_PG_ROOT to a directory it can reach", ErrDBUser, u.name, l.store)
	}
	return l, u, nil
}

// relocated is the place below system for a control directory that the database's account cannot enter.
func relocated(system, ctl string) string {
	sum := sha256.Sum256([]byte(ctl))
	return filepath.Join(system, "clusters", hex.EncodeToString(sum[:8]))
}

// makeControlDir creates dir, closed to other accounts. Root's directories can be walked through instead,
// because another account runs Postgres inside them; the same holds for our folder in /var/lib, which
// some other part of the product may have created closed.
func makeControlDir(dir, system string) error {
	if os.Geteuid() != 0 {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("create the control directory: %w", err)
		}
		return mustBeOurs(dir)
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return fmt.Errorf("create the control directory: %w", err)
	}
	for p := dir; strings.HasPrefix(p+"/", system+"/"); p = filepath.Dir(p) {
		if err := openForTraversal(p); err != nil {
			return err
		}
	}
	return mustBeOurs(dir)
}

// openForTraversal lets other accounts walk through dir, not list it. Files inside stay closed (0600).
func openForTraversal(dir string) error {
	st, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("control directory: %w", err)
	}
	if mode := st.Mode().Perm(); mode&0o011 != 0o011 {
		if err := os.Chmod(dir, mode|0o011); err != nil {
			return fmt.Errorf("open the control directory for traversal: %w", err)
		}
	}
	return nil
}

// writeFileAtomic replaces path by rename, so that a reader sees the old or the new content. Mode 0600.
func writeFileAtomic(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // gone after the rename; otherwise a stray temporary file
	_, werr := f.Write(content)
	if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
