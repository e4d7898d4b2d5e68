package inline

import (
	"errors"
	"fmt"
	"go/build"
	"go/version"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// goEnv keeps Go from fetching anything and from running anything of the tree.
var goEnv = []string{
	"GOTOOLCHAIN=local", "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0", "GOENV=off", "GOTELEMETRY=off", "GONOSUMDB=*", "GOSUMDB=off",
	"GOPATH=/tmp/go", "GOCACHE=/tmp/cache/go", "STATICCHECK_CACHE=/tmp/cache/staticcheck", "GOMAXPROCS=2",
}

// The flags are part of what results are cached under, so the cache is warmed with the same.
var (
	vetArgs         = []string{"vet", "-json"}
	staticcheckArgs = []string{"-f", "json", "-show-ignored", "-checks", "all,-ST1000,-ST1003,-ST1016,-ST1020,-ST1021,-ST1022,-ST1023"}
)

// planGo runs a type-checking tool on the packages with changed files, module by module.
func planGo(args ...string) func(*target) ([]invocation, []string) {
	return func(on *target) ([]invocation, []string) {
		t := Tool{Match: []string{"**/*.go"}, Exclude: elsewhere}
		modules := map[string][]string{} // folder of the module → its packages
		var order, notes []string
		for _, file := range t.fitting(on.files) {
			pkg := path.Dir(file)
			module, ok := moduleOf(on.dir, pkg)
			if !ok {
				notes = append(notes, fmt.Sprintf("%s was not type-checked: no go.mod is above it", file))
				continue
			}
			rel := "."
			if pkg != module {
				rel = "./" + strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")
			}
			if module == "." && pkg != "." {
				rel = "./" + pkg
			}
			if modules[module] == nil {
				order = append(order, module)
			}
			if !slices.Contains(modules[module], rel) {
				modules[module] = append(modules[module], rel)
			}
		}
		var out []invocation
		for _, module := range order {
			if why := unbuildable(filepath.Join(on.dir, module), on.version["govet"]); why != "" {
				notes = append(notes, fmt.Sprintf("Go module %s was not type-checked: %s", module, why))
				continue
			}
			pkgs := modules[module]
			pkgs = slices.DeleteFunc(pkgs, func(pkg string) bool {
				why := skipPackage(filepath.Join(on.dir, module, pkg))
				if why != "" {
					notes = append(notes, fmt.Sprintf("Go package %s was not type-checked: %s", path.Join(module, pkg), why))
				}
				return why != ""
			})
			for chunk := range slices.Chunk(pkgs, maxArgs) {
				out = append(out, invocation{args: slices.Concat(args, chunk), dir: path.Join(srcDir, module), anywhere: true})
			}
		}
		return out, notes
	}
}

// moduleOf is the folder of the nearest go.mod at or above the package.
func moduleOf(root, pkg string) (string, bool) {
	for dir := pkg; ; dir = path.Dir(dir) {
		if info, err := os.Stat(filepath.Join(root, dir, "go.mod")); err == nil && info.Mode().IsRegular() {
			return dir, true
		}
		if dir == "." || dir == "/" {
			return "", false
		}
	}
}

var (
	requires  = regexp.MustCompile(`(?m)^\s*require\b`)
	goLine    = regexp.MustCompile(`(?m)^\s*go\s+([0-9][0-9a-z.]*)`)
	goVersion = regexp.MustCompile(`go[0-9][0-9a-z.]*`)
)

// unbuildable says why the module cannot be type-checked here.
func unbuildable(dir, installed string) string {
	raw, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err.Error()
	}
	if m := goLine.FindSubmatch(raw); m != nil {
		have := goVersion.FindString(installed)
		if want := "go" + string(m[1]); have != "" && version.Compare(want, have) > 0 {
			return fmt.Sprintf("it needs %s, %s is installed", want, have)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "vendor", "modules.txt")); err == nil || !requires.Match(raw) {
		return ""
	}
	return "it requires modules that are not vendored, and there is no network here; that is tier 1's"
}

// skipPackage says why a package has nothing to check on this platform.
func skipPackage(dir string) string {
	platform := build.Default
	platform.CgoEnabled, platform.GOOS = true, "linux"
	pkg, err := platform.ImportDir(dir, 0)
	var none *build.NoGoError
	switch {
	case errors.As(err, &none):
		return "no file of it is for linux"
	case err == nil && len(pkg.CgoFiles) > 0:
		return "it uses cgo, which runs a compiler as the source asks"
	}
	return "" // what is wrong with it is the tool's to say
}
