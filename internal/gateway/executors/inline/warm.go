package inline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// warmTimeout bounds the filling of the cache; a cold machine takes a minute.
const warmTimeout = 10 * time.Minute

// popular packages are compiled and examined beforehand. Ours is the only source that ever writes to the cache: a change
// gets a copy, so that none can poison another's.
var popular = []string{
	"bufio", "bytes", "cmp", "context", "crypto/hmac", "crypto/rand", "crypto/sha256", "crypto/tls", "database/sql", "embed", "encoding/base64",
	"encoding/binary", "encoding/csv", "encoding/hex", "encoding/json", "encoding/xml", "errors", "expvar", "flag", "fmt", "go/ast", "go/parser",
	"hash/fnv", "html/template", "io/fs", "iter", "log", "log/slog", "maps", "math/big", "math/rand/v2", "mime/multipart", "net/http/httptest",
	"net/http/httputil", "net/mail", "net/netip", "net/url", "os/exec", "os/signal", "path/filepath", "reflect", "regexp", "runtime/debug",
	"runtime/pprof", "slices", "sort", "strconv", "strings", "sync/atomic", "testing/fstest", "testing/iotest", "text/tabwriter", "text/template",
	"time", "unicode/utf8",
}

// warmUp fills the cache once for each version of the tools, and says when it is there.
func (e *Executor) warmUp(ctx context.Context, b *Box) {
	defer close(b.warm)
	var using []*found
	names := ""
	for _, t := range b.tools {
		if t.cache {
			using = append(using, t)
			names += t.Name + " " + t.version + "\n"
		}
	}
	if len(using) == 0 {
		return
	}
	sum := sha256.Sum256([]byte(names + strings.Join(e.cfg.Warm, " ")))
	seed := filepath.Join(e.cfg.Dir, "seed-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(seed); err == nil {
		b.seed = seed
		return
	}
	if err := e.fill(ctx, b, using, seed); err != nil {
		if ctx.Err() != nil {
			return
		}
		e.cfg.Log.WarnContext(ctx, "Go's cache could not be warmed: checks of Go code take longer", "err", err)
		return
	}
	b.seed = seed
}

func (e *Executor) fill(ctx context.Context, b *Box, using []*found, seed string) error {
	ctx, cancel := context.WithTimeout(ctx, warmTimeout)
	defer cancel()
	tmp, err := os.MkdirTemp(e.cfg.Dir, "warming")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	src, cache := filepath.Join(tmp, "src"), filepath.Join(tmp, "cache")
	program := "package warm\n\nimport (\n\t_ \"" + strings.Join(e.cfg.Warm, "\"\n\t_ \"") + "\"\n)\n"
	err = errors.Join(os.Chmod(tmp, 0o711), os.Mkdir(src, 0o755), os.Mkdir(cache, 0o755),
		os.WriteFile(filepath.Join(src, "go.mod"), []byte("module warm\n\ngo 1.22\n"), 0o644),
		os.WriteFile(filepath.Join(src, "warm.go"), []byte(program), 0o644))
	if err == nil && b.uid >= 0 {
		err = os.Chown(cache, b.uid, b.gid)
	}
	if err != nil {
		return err
	}
	for _, t := range using {
		args := staticcheckArgs
		if t.Name == "govet" {
			args = vetArgs
		}
		c := call{
			argv: slices.Concat([]string{t.path}, args, []string{"."}), source: src,
			env:   append(toolEnv(e.cfg.Path, &t.Tool), "GOCACHE=/tmp/cache/go", "GOMAXPROCS=2"),
			binds: slices.Concat(t.binds, []bind{{outside: cache, inside: "/tmp/cache", write: true}}),
		}
		got, err := b.run(ctx, c)
		if err == nil && (got.exit != 0 || got.timedOut) {
			err = fmt.Errorf("%s ended with %d: %s", t.Name, got.exit, tail(append(got.stdout, got.stderr...), 500))
		}
		if err != nil {
			return err
		}
	}
	err = os.Rename(cache, seed)
	if _, there := os.Stat(seed); there == nil {
		return nil // another process was first
	}
	return err
}

// patience is how long a run waits for the cache when the gateway has just been installed; then it goes on without.
const patience = 3 * time.Minute

// await waits until the cache is there, or is known not to come.
func (b *Box) await(ctx context.Context) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-b.warm:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// layOut makes a cache of links to the warmed one's files, which cannot be written; where cp cannot link, of copies.
const layOut = `cp -Rs /seed /tmp/cache 2>/dev/null || { rm -rf /tmp/cache && cp -R /seed /tmp/cache; } && exec "$@"`

// warmed gives the call a copy of the cache, if there is one.
func (b *Box) warmed(c *call) {
	select {
	case <-b.warm:
	default:
		return
	}
	if b.seed == "" {
		return
	}
	c.binds = append(c.binds, bind{outside: b.seed, inside: "/seed"})
	c.argv = append([]string{"/bin/sh", "-c", layOut, "sh"}, c.argv...)
}
