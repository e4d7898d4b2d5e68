package migrate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrFiles means that the set of migration files breaks a rule of the package.
var ErrFiles = errors.New("invalid set of migrations")

// file is one migration.
type file struct {
	version uint64 // <14 digits>, read as a number
	name    string // the noun
	path    string
	sql     string
	// alone marks a file that cannot run inside a transaction: CREATE or DROP INDEX CONCURRENTLY.
	alone bool
}

var (
	fileName     = regexp.MustCompile(`^(\d{14})_([a-z0-9_]+)\.sql$`)
	blockComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	lineComment  = regexp.MustCompile(`--[^\n]*`)
	concurrently = regexp.MustCompile(`(?i)\bindex\s+concurrently\b`)
	repeatable   = regexp.MustCompile(`(?is)^\s*(create\s+(unique\s+)?index\s+concurrently\s+if\s+not\s+exists|drop\s+index\s+concurrently\s+if\s+exists)\s[^;]*;?\s*$`)
	transaction  = regexp.MustCompile(`(?im)^\s*(begin|commit|rollback|start\s+transaction)\s*(work|transaction)?\s*;`)
)

// Check makes sure that the set in fsys follows the rules of the package.
func Check(fsys fs.FS) error {
	_, err := load(fsys)
	return err
}

// load reads the set in order of version.
func load(fsys fs.FS) ([]file, error) {
	paths, err := fs.Glob(fsys, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFiles, err)
	}
	files := make([]file, 0, len(paths))
	for _, p := range paths {
		f, err := loadOne(fsys, p)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	for i := 1; i < len(files); i++ {
		if files[i].version <= files[i-1].version {
			return nil, fmt.Errorf("%w: %s and %s have the same version", ErrFiles, files[i-1].path, files[i].path)
		}
	}
	return files, nil
}

func loadOne(fsys fs.FS, p string) (file, error) {
	m := fileName.FindStringSubmatch(p)
	if m == nil {
		return file{}, fmt.Errorf("%w: %s is not named <14 digits>_<noun>.sql", ErrFiles, p)
	}
	version, err := strconv.ParseUint(m[1], 10, 64)
	if err != nil {
		return file{}, fmt.Errorf("%w: %s: %w", ErrFiles, p, err)
	}
	raw, err := fs.ReadFile(fsys, p)
	if err != nil {
		return file{}, fmt.Errorf("%w: %w", ErrFiles, err)
	}
	f := file{version: version, name: m[2], path: p, sql: string(raw)}
	bare := lineComment.ReplaceAllString(blockComment.ReplaceAllString(f.sql, ""), "")
	if transaction.MatchString(bare) {
		return f, fmt.Errorf("%w: %s begins or ends a transaction; a file is one already", ErrFiles, p)
	}
	if f.alone = concurrently.MatchString(bare); f.alone && !repeatable.MatchString(bare) {
		return f, fmt.Errorf("%w: %s: an index statement with CONCURRENTLY stands alone in its file and says IF [NOT] EXISTS", ErrFiles, p)
	}
	return f, nil
}

// text is a version as the file names and Supabase's history write it.
func (f file) text() string { return fmt.Sprintf("%014d", f.version) }

// indexOf returns the position of version, -1 when it is not in the set.
func indexOf(files []file, version uint64) int {
	return slices.IndexFunc(files, func(f file) bool { return f.version == version })
}

// sourceFS shows the files to golang-migrate under the names it demands (x.up.sql for x.sql), each with a
// last statement that notes the file in Supabase's history. The server runs a file sent as one message in
// one transaction, so the note is true whatever dies when. golang-migrate's own mark is set before and
// after the file and cannot tell a file that was applied from one that was not.
type sourceFS struct{ files []file }

func (s sourceFS) Open(name string) (fs.File, error) {
	for _, f := range s.files {
		if f.upName() == name {
			sql := f.sql
			if !f.alone {
				sql += "\n;\n" + noteSQL(f)
			}
			return &memFile{Reader: strings.NewReader(sql), info: memInfo{name: name, size: int64(len(sql))}}, nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadDir lists the root, the only directory.
func (s sourceFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	out := make([]fs.DirEntry, 0, len(s.files))
	for _, f := range s.files {
		out = append(out, fs.FileInfoToDirEntry(memInfo{name: f.upName(), size: int64(len(f.sql))}))
	}
	return out, nil
}

func (f file) upName() string { return strings.TrimSuffix(f.path, ".sql") + ".up.sql" }

// noteSQL has no parameters because the whole file is sent without any; version and name are made of
// digits, small letters and underscores.
func noteSQL(f file) string {
	return "insert into supabase_migrations.schema_migrations (version, name) values ('" + f.text() + "', '" + f.name + "') on conflict do nothing;\n"
}

type memFile struct {
	io.Reader
	info memInfo
}

func (f *memFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *memFile) Close() error               { return nil }

type memInfo struct {
	name string
	size int64
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) Mode() fs.FileMode  { return 0o444 }
func (i memInfo) ModTime() time.Time { return time.Time{} }
func (i memInfo) IsDir() bool        { return false }
func (i memInfo) Sys() any           { return nil }
