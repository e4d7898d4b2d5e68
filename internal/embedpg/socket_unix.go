//go:build unix

package embedpg

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxSocketPath is the shortest limit of a socket's path among the systems we know (macOS).
const maxSocketPath = 103

// socketDir makes the directory of the Unix socket, open to the account that runs Postgres only (root
// enters it anyway). A path too long for a socket is replaced by a short one below /tmp.
func socketDir(l layout, u dbUser) (string, error) {
	dir := filepath.Join(l.store, "sock")
	if len(filepath.Join(dir, ".s.PGSQL.65535.lock")) > maxSocketPath {
		sum := sha256.Sum256([]byte(l.store))
		dir = filepath.Join("/tmp", "coord-pg-"+hex.EncodeToString(sum[:8]))
	}
	err := os.Mkdir(dir, 0o700)
	switch {
	case err == nil:
		return dir, u.own(dir)
	case !errors.Is(err, fs.ErrExist):
		return "", fmt.Errorf("create the socket directory: %w", err)
	}
	// It was there: below /tmp anybody may have put it there.
	st, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("socket directory: %w", err)
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok || !st.IsDir() {
		return "", fmt.Errorf("%w: %s is not a directory", ErrNotOurs, dir)
	}
	if int(sys.Uid) == os.Geteuid() && u.drop { // made by us, not handed over yet
		if err := u.own(dir); err != nil {
			return "", err
		}
	} else if int(sys.Uid) != u.uid {
		return "", fmt.Errorf("%w: %s belongs to uid %d", ErrNotOurs, dir, sys.Uid)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return "", fmt.Errorf("socket directory: %w", err)
	}
	return dir, nil
}
