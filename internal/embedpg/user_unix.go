//go:build unix

package embedpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// dbUser is the account that runs Postgres. drop is false when that is the caller.
type dbUser struct {
	name     string
	uid, gid int
	drop     bool
}

// chooseUser keeps the caller unless it is root, which Postgres refuses. Root uses the account that owns
// the cluster already, else COORD_PG_USER, postgres, SUDO_USER, nobody: the first that exists.
func chooseUser(dataDir string) (dbUser, error) {
	euid := os.Geteuid()
	owner, owned, err := ownerOf(dataDir)
	if err != nil {
		return dbUser{}, err
	}
	if euid != 0 {
		if owned && owner != euid {
			return dbUser{}, fmt.Errorf("%w: %s belongs to uid %d, we are uid %d", ErrNotOurs, dataDir, owner, euid)
		}
		return dbUser{name: strconv.Itoa(euid), uid: euid, gid: os.Getegid()}, nil
	}
	asked := os.Getenv("COORD_PG_USER")
	if owned && owner == 0 {
		return dbUser{}, fmt.Errorf("%w: %s belongs to root, which cannot run Postgres", ErrNotOurs, dataDir)
	}
	if owned {
		u, err := user.LookupId(strconv.Itoa(owner))
		if err != nil {
			return dbUser{}, fmt.Errorf("%w: the owner of %s: %w", ErrDBUser, dataDir, err)
		}
		if asked != "" && asked != u.Username {
			return dbUser{}, fmt.Errorf("%w: COORD_PG_USER is %s but %s belongs to %s", ErrDBUser, asked, dataDir, u.Username)
		}
		return fromAccount(u)
	}
	if asked != "" {
		// By name only: initdb looks the account up and fails for a bare number.
		u, err := user.Lookup(asked)
		if err != nil {
			return dbUser{}, fmt.Errorf("%w: COORD_PG_USER: %w", ErrDBUser, err)
		}
		return fromAccount(u)
	}
	for _, name := range []string{"postgres", os.Getenv("SUDO_USER"), "nobody"} {
		if name == "" || name == "root" {
			continue
		}
		if u, err := user.Lookup(name); err == nil {
			return fromAccount(u)
		}
	}
	return dbUser{}, fmt.Errorf("%w: Postgres does not run as root; create an account and name it in COORD_PG_USER", ErrDBUser)
}

func fromAccount(u *user.User) (dbUser, error) {
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err := errors.Join(err1, err2); err != nil {
		return dbUser{}, fmt.Errorf("%w: account %s: %w", ErrDBUser, u.Username, err)
	}
	if uid == 0 {
		return dbUser{}, fmt.Errorf("%w: Postgres does not run as %s (uid 0)", ErrDBUser, u.Username)
	}
	return dbUser{name: u.Username, uid: uid, gid: gid, drop: true}, nil
}

// own hands a path to the account that runs Postgres.
func (u dbUser) own(path string) error {
	if !u.drop {
		return nil
	}
	if err := os.Chown(path, u.uid, u.gid); err != nil {
		return fmt.Errorf("hand %s to %s: %w", path, u.name, err)
	}
	return nil
}

func ownerOf(path string) (uid int, exists bool, err error) {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, false, nil
	case err != nil:
		return 0, false, fmt.Errorf("look at the data directory: %w", err)
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false, fmt.Errorf("look at %s: no owner information", path)
	}
	return int(sys.Uid), true, nil
}

// mustBeOurs refuses a control directory that another account made, as anybody can below /tmp: it would
// read our password there or name programs for us to run.
func mustBeOurs(dir string) error {
	owner, _, err := ownerOf(dir)
	if err != nil {
		return err
	}
	if owner != os.Geteuid() && owner != 0 {
		return fmt.Errorf("%w: %s belongs to uid %d", ErrNotOurs, dir, owner)
	}
	return nil
}

// canEnter reports whether the account may walk through every directory down to dir, by owner, group and
// other bits (access control lists are not consulted).
func canEnter(u dbUser, dir string) bool {
	if !u.drop {
		return true
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	for p := real; ; p = filepath.Dir(p) {
		st, err := os.Stat(p)
		if err != nil {
			return false
		}
		sys, ok := st.Sys().(*syscall.Stat_t)
		if !ok {
			return false
		}
		bit := fs.FileMode(0o001)
		switch {
		case int(sys.Uid) == u.uid:
			bit = 0o100
		case int(sys.Gid) == u.gid:
			bit = 0o010
		}
		if st.Mode().Perm()&bit == 0 {
			return false
		}
		if p == filepath.Dir(p) {
			return true
		}
	}
}
