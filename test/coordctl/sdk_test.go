package coordctl

import (
	"os"
	"os/exec"
	"path/filepath"
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

// What npm would publish holds what an import needs, and nothing of the tests; the same for the wheel.
func TestSDKPackages(t *testing.T) {
	t.Parallel()
	t.Run("npm", func(t *testing.T) {
		t.Parallel()
		need(t, "npm")
		out := run(t, filepath.Join(root, "sdk", "typescript"), "npm", "pack", "--dry-run", "--json", "--ignore-scripts")
		for _, file := range []string{`"index.js"`, `"index.d.ts"`, `"operations.js"`, `"types.d.ts"`, `"README.md"`} {
			if !strings.Contains(out, file) {
				t.Errorf("the package lacks %s", file)
			}
		}
		if strings.Contains(out, "test/") {
			t.Error("the package holds the tests")
		}
	})
	t.Run("wheel", func(t *testing.T) {
		t.Parallel()
		need(t, "python3")
		python := ""
		for _, p := range []string{"python3", "/usr/bin/python3"} {
			if exec.Command(p, "-c", "import setuptools, wheel, pip").Run() == nil {
				python = p
			}
		}
		if python == "" {
			t.Skip("SKIPPED, nothing was proven: no Python here has setuptools, wheel and pip (Debian: python3-setuptools python3-wheel python3-pip)")
		}
		dir := t.TempDir() // building leaves files beside the sources
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "sdk", "python"))); err != nil {
			t.Fatal(err)
		}
		run(t, dir, python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "-w", "dist", ".")
		wheels, err := filepath.Glob(filepath.Join(dir, "dist", "agent_coordinator-*.whl"))
		if err != nil || len(wheels) != 1 {
			t.Fatalf("%v, %v", wheels, err)
		}
		list := run(t, dir, python, "-m", "zipfile", "-l", wheels[0])
		for _, file := range []string{"client.py", "operations.py", "types.py", "py.typed"} {
			if !strings.Contains(list, "agent_coordinator/"+file) {
				t.Errorf("the wheel lacks %s", file)
			}
		}
	})
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
