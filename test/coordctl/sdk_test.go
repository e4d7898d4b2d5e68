package coordctl

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The SDKs of other languages, against the real service.
func TestSDKs(t *testing.T) {
	t.Parallel()
	sdk, err := filepath.Abs(filepath.Join(root, "sdk"))
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	u := p.up()
	vars := []string{"COORDINATION_API_URL=" + u.APIURL, "COORDINATION_API_KEY=" + u.APIKey, "SDK=" + sdk, "PYTHONDONTWRITEBYTECODE=1"}
	t.Run("TypeScript", func(t *testing.T) {
		t.Parallel()
		need(t, "node")
		p.must(`cd "$SDK/typescript" && node --test test/`, vars...)
	})
	t.Run("Python", func(t *testing.T) {
		t.Parallel()
		need(t, "python3")
		p.must(`cd "$SDK/python" && python3 -m unittest discover -s tests`, vars...)
	})
}

// People get packages: packed, installed where nothing else is, and the program of their README run against the real
// service, until it held its lock and did its task.
func TestSDKPackages(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	u := p.up()
	t.Run("npm", func(t *testing.T) {
		t.Parallel()
		need(t, "npm")
		dir, app := t.TempDir(), t.TempDir()
		run(t, filepath.Join(root, "sdk", "typescript"), "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", dir)
		archive := only(t, filepath.Join(dir, "agent-coordinator-*.tgz"))
		if list := run(t, dir, "tar", "tzf", archive); strings.Contains(list, "test/") || !strings.Contains(list, "package/index.d.ts") {
			t.Errorf("the package holds\n%s", list)
		}
		write(t, filepath.Join(app, "package.json"), `{"name": "app", "private": true, "type": "module"}`)
		run(t, app, "npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", archive)
		write(t, filepath.Join(app, "main.js"), readmeProgram(t, "typescript", "js", u))
		programRuns(t, p, app, "node", "main.js")
	})
	t.Run("wheel", func(t *testing.T) {
		t.Parallel()
		need(t, "python3")
		python := ""
		for _, candidate := range []string{"python3", "/usr/bin/python3"} {
			if exec.Command(candidate, "-c", "import setuptools, wheel, pip, ensurepip").Run() == nil {
				python = candidate
			}
		}
		if python == "" {
			t.Skip("SKIPPED, nothing was proven: no Python here has setuptools, wheel, pip and venv (Debian: python3-setuptools python3-wheel python3-pip python3-venv)")
		}
		dir, app := t.TempDir(), t.TempDir() // building leaves files beside the sources
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "sdk", "python"))); err != nil {
			t.Fatal(err)
		}
		run(t, dir, python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "-w", "dist", ".")
		wheel := only(t, filepath.Join(dir, "dist", "agent_coordinator-*.whl"))
		if list := run(t, dir, python, "-m", "zipfile", "-l", wheel); strings.Contains(list, "tests/") || !strings.Contains(list, "agent_coordinator/py.typed") {
			t.Errorf("the wheel holds\n%s", list)
		}
		run(t, app, python, "-m", "venv", "env")
		own := filepath.Join(app, "env", "bin", "python")
		run(t, app, own, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel)
		write(t, filepath.Join(app, "main.py"), readmeProgram(t, "python", "python", u))
		programRuns(t, p, app, own, "-u", "main.py")
	})
}

// readmeProgram is the first program of an SDK's README, with this service's address and key, and a project of its own.
func readmeProgram(t *testing.T, sdk, language string, u up) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "sdk", sdk, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(text)
	const address, key = `"http://127.0.0.1:8765"`, `"ac_…"`
	if block == nil || !strings.Contains(string(block[1]), address) || !strings.Contains(string(block[1]), key) {
		t.Fatalf("the README of %s has no program that names %s and %s", sdk, address, key)
	}
	return strings.NewReplacer(address, strconv.Quote(u.APIURL), key, strconv.Quote(u.APIKey)).Replace(string(block[1]))
}

// programRuns runs a program whose worker does not end by itself until it held its lock and a task of its kind was done.
func programRuns(t *testing.T, p *place, dir string, argv ...string) {
	t.Helper()
	var task struct {
		ID string `json:"task_id"`
	}
	submitted := p.must("bin/coordctl work submit --task-type build --description 'the documents' --json", "COORD_PROJECT=default", "AGENT_ID=somebody")
	if err := json.Unmarshal([]byte(submitted), &task); err != nil || task.ID == "" {
		t.Fatalf("%v: %s", err, submitted)
	}
	out, err := os.Create(filepath.Join(dir, "out.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	said := func() string { text, _ := os.ReadFile(out.Name()); return string(text) }
	eventually(t, "the program's lock and task", func() bool {
		done := p.must("bin/coordctl work get "+task.ID+" --json", "COORD_PROJECT=default")
		return strings.Contains(said(), "mine, under token") && strings.Contains(done, `"completed"`)
	})
}

func only(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("SKIPPED, nothing was proven: %s is not installed", program)
	}
}

func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}
