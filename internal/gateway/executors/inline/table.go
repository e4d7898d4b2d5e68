package inline

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

var (
	elsewhere = []string{"**/vendor/**", "**/node_modules/**", "**/testdata/**"}
	scripts   = []string{"**/*.{js,jsx,mjs,cjs,ts,tsx,mts,cts}"}
	python    = []string{"**/*.{py,pyi}"}
)

// builtins are the tools that are looked for. Their configuration is ours or the base commit's, never the change's.
func builtins() []Tool {
	return []Tool{
		{
			Name: "gofmt", Match: []string{"**/*.go"}, Exclude: elsewhere, Args: []string{"-l", "{files}"},
			Version: []string{"-h"}, OK: []int{0}, Findings: []int{2}, Level: "error", parse: parseGofmt,
		},
		{Name: "govet", Program: "go", Version: []string{"version"}, OK: []int{0}, Findings: []int{1}, plan: planGo(vetArgs...), parse: parseVet, cache: true},
		{
			Name: "staticcheck", Version: []string{"-version"}, OK: []int{0}, Findings: []int{1}, cache: true,
			plan: planGo(staticcheckArgs...), parse: parseStaticcheck,
		},
		{
			// -exit-code sets leaks apart from failures, which are 1.
			Name: "gitleaks", Version: []string{"version"}, OK: []int{0}, Findings: []int{7}, plan: planGitleaks,
			Level: "error", Force: true, parse: parseSARIF,
		},
		{Name: "shellcheck", OK: []int{0}, Findings: []int{1}, plan: planShellcheck, parse: parseShellcheck},
		{Name: "tsc", OK: []int{0}, Findings: []int{1, 2}, Level: "error", plan: planTypeScript, parse: parseTypeScript},
		{
			Name: "oxlint", Match: scripts, Exclude: elsewhere, OK: []int{0}, Findings: []int{1}, Format: "sarif",
			Args: []string{"--config={config}/oxlintrc.json", "--disable-nested-config", "--no-ignore", "--threads=2", "--format=sarif", "{files}"},
		},
		{
			Name: "biome", Match: scripts, Exclude: elsewhere, OK: []int{0}, Findings: []int{1}, Format: "sarif",
			Args: []string{"lint", "--config-path={config}", "--reporter=sarif", "--max-diagnostics=none", "--no-errors-on-unmatched", "{files}"},
		},
		{
			Name: "ruff", Match: python, Exclude: elsewhere, OK: []int{0}, Findings: []int{1}, Format: "sarif", Level: "error",
			Args: []string{"check", "--no-cache", "--no-fix", "--ignore-noqa", "--no-force-exclude", "--output-format=sarif", "{files}"},
		},
		{
			Name: "mypy", Match: []string{"**/*.py"}, Exclude: elsewhere, OK: []int{0}, Findings: []int{1}, Format: "lines", Level: "error",
			Args: []string{"--config-file={config}/mypy.ini", "--cache-dir=/dev/null", "--no-error-summary", "--no-color-output", "--no-pretty", "{files}"},
		},
	}
}

// configurations are built in; a file of the same name in the operator's folder replaces one.
var configurations = map[string]string{
	"oxlintrc.json": `{"categories": {"correctness": "error", "suspicious": "warn"}}`,
	"biome.json":    `{"root": true, "vcs": {"enabled": false}, "linter": {"enabled": true, "rules": {"recommended": true}}, "assist": {"enabled": false}}`,
	"mypy.ini":      "[mypy]\nignore_missing_imports = True\nfollow_imports = silent\nincremental = False\nplugins =\n",
	"gitleaks.toml": "title = \"built-in rules\"\n[extend]\nuseDefault = true\n",
}

// suspects are files by which a tree tells tools what to overlook: the base commit's are used, the change's never.
var suspects = []string{
	"**/.gitleaks.toml", "**/.gitleaksignore", "**/staticcheck.conf", "**/.shellcheckrc", "**/shellcheckrc",
	"**/{ruff,.ruff}.toml", "**/pyproject.toml", "**/setup.cfg", "**/{mypy,.mypy}.ini", "**/{biome,.biome}.{json,jsonc}",
	"**/.oxlintrc.{json,jsonc}", "**/tsconfig*.json",
}

// gitleaks reads a file of this name in the folder that it searches, whatever it is told; so it gets another name there.
const (
	gitleaksIgnore = ".gitleaksignore"
	setAside       = ".set-aside"
)

// planGitleaks scans the changed files alone. The rules are the base's, if it has some, else ours; .gitleaksignore is
// the base's likewise, as every suspect in the checkout is.
func planGitleaks(on *target) ([]invocation, []string) {
	if len(on.files) == 0 {
		return nil, nil
	}
	config, ignored := configDir+"/gitleaks.toml", "/dev/null"
	if _, err := os.Stat(filepath.Join(on.dir, ".gitleaks.toml")); err == nil {
		config = srcDir + "/.gitleaks.toml"
	}
	if _, err := os.Stat(filepath.Join(on.dir, gitleaksIgnore)); err == nil {
		ignored = srcDir + "/" + gitleaksIgnore
	}
	return []invocation{{only: true, dir: changedDir, args: []string{
		"dir", ".", "--config", config, "--gitleaks-ignore-path", ignored, "--ignore-gitleaks-allow", "--redact=100", "--no-banner", "--no-color",
		"--log-level", "error", "--exit-code", "7", "--max-archive-depth", "2", "--report-format", "sarif", "--report-path", "-",
	}}}, nil
}

// planShellcheck takes scripts by their ending, and by their first line.
func planShellcheck(on *target) ([]invocation, []string) {
	var files []string
	for _, f := range on.files {
		if matches(elsewhere, f) {
			continue
		}
		if matches([]string{"**/*.{sh,bash,dash,ksh}"}, f) || path.Ext(f) == "" && shebang(filepath.Join(on.dir, f)) {
			files = append(files, f)
		}
	}
	var out []invocation
	for chunk := range slices.Chunk(files, maxArgs) {
		out = append(out, invocation{args: expand([]string{"--format=json1", "--", "{files}"}, chunk)})
	}
	return out, nil
}

func shebang(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 64)
	n, _ := f.Read(head)
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	fields := strings.Fields(strings.TrimPrefix(string(line), "#!"))
	return bytes.HasPrefix(line, []byte("#!")) && slices.ContainsFunc(fields, func(f string) bool {
		return slices.Contains([]string{"sh", "bash", "dash", "ksh"}, path.Base(f))
	})
}

// planTypeScript checks types where everything that types need is in the tree, else the syntax of the changed files.
func planTypeScript(on *target) ([]invocation, []string) {
	t := Tool{Match: []string{"**/*.{ts,tsx,mts,cts}"}, Exclude: elsewhere}
	files := t.fitting(on.files)
	if len(files) == 0 {
		return nil, nil
	}
	if _, err := os.Stat(filepath.Join(on.dir, "tsconfig.json")); err == nil {
		if why := needsPackages(on.dir); why == "" {
			return []invocation{{anywhere: true, args: []string{"--noEmit", "--pretty", "false", "--project", "."}}}, nil
		}
	}
	var out []invocation
	for chunk := range slices.Chunk(files, maxArgs) {
		out = append(out, invocation{args: expand([]string{
			"--noEmit", "--noCheck", "--noResolve", "--skipLibCheck", "--ignoreConfig", "--jsx", "preserve", "--pretty", "false", "{files}",
		}, chunk)})
	}
	return out, []string{"tsc looked at the syntax alone: types need packages that are not in the tree; that is tier 1's"}
}

// needsPackages says why types cannot be checked without a network.
func needsPackages(dir string) string {
	if info, err := os.Stat(filepath.Join(dir, "node_modules")); err == nil && info.IsDir() {
		return ""
	}
	raw, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	var pkg struct {
		Dependencies    map[string]string `json:"dependencies"`
		DevDependencies map[string]string `json:"devDependencies"`
	}
	if err != nil || json.Unmarshal(raw, &pkg) != nil {
		return "package.json cannot be read"
	}
	for name := range pkg.DevDependencies {
		if name != "typescript" {
			return "it needs " + name
		}
	}
	for name := range pkg.Dependencies {
		return "it needs " + name
	}
	return ""
}
