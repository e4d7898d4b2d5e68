package guardrail

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Place is where a command would run. Empty members are not known.
type Place struct {
	Dir    string // its working directory, absolute
	Tree   string // the root of the working tree
	Home   string
	Branch string   // what is checked out
	Temp   []string // directories whose contents are nobody's
}

// Command says which rules a simple command meets: its name and arguments as the shell would pass them. sure is false when
// further words could not be read.
func Command(words []string, sure bool, at Place) []Finding {
	if len(words) == 0 {
		return nil
	}
	c := &call{args: words[1:], sure: sure, at: at}
	switch name := filepath.Base(words[0]); name {
	case "rm", "rmdir", "srm":
		c.rm(name)
	case "find":
		c.find()
	case "git":
		c.git()
	case "chmod", "chown":
		c.permissions(name)
	case "dd":
		c.dd()
	case "shred", "wipefs", "blkdiscard":
		c.devices(name)
	case "dropdb":
		c.found(DropDatabase, "drops the database "+c.last())
	case "mysqladmin":
		if slices.Contains(c.args, "drop") {
			c.found(DropDatabase, "drops the database "+c.last())
		}
	case "redis-cli", "valkey-cli":
		if c.word("flushall") || c.word("flushdb") {
			c.found(DropDatabase, "empties the database")
		}
	case "mongo", "mongosh":
		if strings.Contains(strings.Join(c.args, " "), "dropDatabase(") {
			c.found(DropDatabase, "drops a database")
		}
	case "docker", "podman", "kubectl", "terraform", "tofu", "aws", "gcloud", "gsutil", "pulumi":
		c.infrastructure(name)
	case "coordctl":
		c.self()
	default:
		switch {
		case strings.HasPrefix(name, "mkfs"):
			c.devices(name)
		case SQLClient(name):
			c.out = append(c.out, SQL(strings.Join(c.args, "\n"))...)
		}
	}
	return c.out
}

// SQLClient reports whether a program of that name runs SQL that it is given.
func SQLClient(name string) bool {
	switch name {
	case "psql", "mysql", "mariadb", "sqlite3", "duckdb", "sqlcmd", "clickhouse-client", "cockroach", "usql", "pgcli":
		return true
	}
	return false
}

type call struct {
	args []string
	sure bool
	at   Place
	out  []Finding
}

func (c *call) found(rule, why string) {
	if !slices.ContainsFunc(c.out, func(f Finding) bool { return f.Rule == rule }) {
		c.out = append(c.out, Finding{rule, why})
	}
}

func (c *call) last() string {
	if len(c.args) == 0 {
		return ""
	}
	return c.args[len(c.args)-1]
}

func (c *call) word(w string) bool {
	return slices.ContainsFunc(c.args, func(a string) bool { return strings.EqualFold(a, w) })
}

// flag reports whether a short letter (alone or among others) or one of the long options is given.
func (c *call) flag(letters string, long ...string) bool {
	for _, a := range c.args {
		switch {
		case a == "--":
			return false
		case strings.HasPrefix(a, "--"):
			name, _, _ := strings.Cut(a, "=")
			if slices.Contains(long, name) {
				return true
			}
		case len(a) > 1 && a[0] == '-' && strings.ContainsAny(a[1:], letters):
			return true
		}
	}
	return false
}

// operands are the arguments that are no options.
func (c *call) operands() []string {
	var out []string
	for i, a := range c.args {
		if a == "--" {
			return append(out, c.args[i+1:]...)
		}
		if len(a) < 2 || a[0] != '-' {
			out = append(out, a)
		}
	}
	return out
}

func (c *call) rm(name string) {
	tree := name == "rmdir" || c.flag("rR", "--recursive")
	for _, target := range c.operands() {
		c.deletes(target, tree && name != "rmdir")
	}
}

// deletes judges the deletion of one path, with everything below it.
func (c *call) deletes(target string, below bool) {
	full := c.abs(target)
	if full == "" || !below {
		return
	}
	all := false // what lies in it, instead of itself
	if base := filepath.Base(full); base == "*" || base == ".*" || base == "{*,.*}" {
		full, all = filepath.Dir(full), true
	}
	switch {
	case vital(full, c.at.Home):
		c.found(DeleteRoot, "deletes "+full)
	case filepath.Base(full) == ".git" || strings.Contains(full, "/.git/") && (strings.HasSuffix(full, "/objects") || strings.HasSuffix(full, "/refs")) || all && filepath.Base(full) == ".git":
		c.found(DeleteGit, "deletes "+full)
	case c.at.Tree == "":
	case within(c.at.Tree, full): // the tree, or what it lies in
		c.found(DeleteRoot, "deletes the working tree "+c.at.Tree)
	case !within(full, c.at.Tree) && !c.spare(full):
		c.found(DeleteOutside, "deletes "+full+", which is outside the working tree")
	}
}

// vital is what a machine or a person cannot do without.
func vital(full, home string) bool {
	if full == "/" || home != "" && (full == home || within(home, full)) {
		return true
	}
	parts := strings.Split(strings.Trim(full, "/"), "/")
	switch parts[0] {
	case "etc", "usr", "bin", "sbin", "lib", "lib64", "boot", "dev", "proc", "sys", "System", "Library":
		return len(parts) <= 2 && parts[0] != "dev"
	case "var", "opt", "home", "root", "Users", "srv", "mnt", "media", "Applications":
		return len(parts) == 1
	}
	return false
}

// within reports whether p is dir or lies below it.
func within(p, dir string) bool {
	return dir != "" && (p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/"))
}

// spare is where deleting is ordinary: temporary directories and caches.
func (c *call) spare(full string) bool {
	for _, t := range append([]string{"/tmp", "/var/tmp", "/private/tmp", "/dev/shm"}, c.at.Temp...) {
		if t != "" && full != t && within(full, t) {
			return true
		}
	}
	if c.at.Home != "" {
		for _, t := range []string{".cache", ".npm", ".gradle/caches", ".m2/repository", "go/pkg", "Library/Caches", ".cargo/registry"} {
			if within(full, filepath.Join(c.at.Home, t)) {
				return true
			}
		}
	}
	return slices.Contains([]string{"node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".venv", "venv", "dist", "build", "target", ".next"}, filepath.Base(full))
}

func (c *call) abs(p string) string {
	if p == "~" || strings.HasPrefix(p, "~/") {
		if c.at.Home == "" {
			return ""
		}
		p = c.at.Home + p[1:]
	}
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	if c.at.Dir == "" {
		return ""
	}
	return filepath.Join(c.at.Dir, p)
}

// find judges find … -delete and find … -exec rm: without any test it deletes all there is.
func (c *call) find() {
	i := slices.IndexFunc(c.args, func(a string) bool { return strings.HasPrefix(a, "-") || a == "!" || a == "(" })
	if i < 0 {
		return
	}
	roots, expr := c.args[:i], c.args[i:]
	deletes := slices.Contains(expr, "-delete")
	for j, a := range expr {
		deletes = deletes || (a == "-exec" || a == "-execdir") && j+1 < len(expr) && filepath.Base(expr[j+1]) == "rm"
	}
	if !deletes {
		return
	}
	narrowed := slices.ContainsFunc(expr, func(a string) bool {
		return slices.Contains([]string{"-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-mtime", "-mmin", "-newer", "-empty", "-size", "-user", "-perm", "-atime", "-ctime"}, a)
	})
	if len(roots) == 0 {
		roots = []string{"."}
	}
	for _, r := range roots {
		if full := c.abs(r); full != "" && (!narrowed || vital(full, c.at.Home)) {
			c.deletes(r, true)
		}
	}
}

func (c *call) permissions(name string) {
	if !c.flag("R", "--recursive") {
		return
	}
	ops := c.operands()
	if len(ops) < 2 || name == "chmod" && !slices.Contains([]string{"777", "0777", "a+rwx", "ugo+rwx", "a=rwx", "000", "0000"}, ops[0]) {
		return
	}
	for _, target := range ops[1:] {
		if full := c.abs(strings.TrimSuffix(target, "/*")); full != "" && vital(full, c.at.Home) {
			c.found(OpenPermission, "changes who may use "+full+" and everything below it")
		}
	}
}

var disk = regexp.MustCompile(`^/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|md)`)

// Device reports whether writing to a path writes to a disk as a whole.
func Device(p string) bool { return disk.MatchString(p) }

func (c *call) dd() {
	for _, a := range c.args {
		if to, ok := strings.CutPrefix(a, "of="); ok && Device(to) {
			c.found(WriteDevice, "writes to "+to)
		}
	}
}

func (c *call) devices(name string) {
	for _, a := range c.operands() {
		if Device(a) {
			c.found(WriteDevice, name+" writes to "+a)
		}
	}
}

func (c *call) infrastructure(name string) {
	text := " " + strings.Join(c.args, " ") + " "
	has := func(parts ...string) bool {
		for _, p := range parts {
			if !strings.Contains(text, " "+p+" ") {
				return false
			}
		}
		return true
	}
	switch name {
	case "terraform", "tofu", "pulumi":
		if len(c.args) > 0 && c.args[0] == "destroy" && !has("-help") && !has("--help") || has("apply", "-destroy") {
			c.found(DestroyCloud, name+" destroys what it made")
		}
	case "kubectl":
		if has("delete", "namespace") || has("delete", "ns") || has("delete", "--all") || has("delete", "pv") {
			c.found(DestroyCloud, "deletes "+strings.TrimSpace(text)[len("delete"):])
		}
	case "aws":
		if has("s3", "rb", "--force") || has("s3", "rm", "--recursive") || has("rds", "delete-db-instance") || has("cloudformation", "delete-stack") {
			c.found(DestroyCloud, "deletes with everything in it: "+c.last())
		}
	case "gcloud":
		if has("projects", "delete") || has("sql", "instances", "delete") {
			c.found(DestroyCloud, "deletes "+c.last())
		}
	case "gsutil":
		if has("rb") && has("-f") || has("rm", "-r") {
			c.found(DestroyCloud, "deletes "+c.last())
		}
	case "docker", "podman":
		if has("system", "prune") && strings.Contains(text, " --volumes ") || has("volume", "prune") && (has("-a") || has("--all")) {
			c.found(DestroyCloud, "deletes volumes and what is in them")
		}
	}
	if name == "docker" || name == "podman" || name == "kubectl" { // exec … psql -c …
		if i := slices.IndexFunc(c.args, func(a string) bool { return SQLClient(path.Base(a)) || a == "dropdb" }); slices.Contains(c.args, "exec") && i >= 0 {
			c.out = append(c.out, Command(c.args[i:], c.sure, Place{})...)
		}
	}
}

// self judges what only a person decides.
func (c *call) self() {
	ops := c.operands()
	for len(ops) > 0 && !slices.Contains([]string{"act", "hold", "guardrail", "safeguards", "budget", "change", "approval", "runner"}, ops[0]) {
		ops = ops[1:] // values of options before it
	}
	if len(ops) < 2 {
		return
	}
	switch words := ops[0] + " " + ops[1]; words {
	case "act approve", "act deny", "hold resume", "hold undrain", "guardrail set", "safeguards set", "budget set", "budget delete", "change approve", "change override", "runner undrain":
		c.found(ApproveSelf, "coordctl "+words+" is a person's decision")
	}
}
