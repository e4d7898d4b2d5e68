package check

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// TestComposeProcesses starts what the compose file starts, in its order, as plain processes: the same arguments and
// environment, but for addresses and folders; and runs the health checks that it names.
func TestComposeProcesses(t *testing.T) {
	t.Parallel()
	c := &composed{t: t, project: project(t, maps.Clone(settings)), dir: t.TempDir(), bin: build(t)}
	// What is a name in the network of the containers is a port here.
	c.replace = strings.NewReplacer(
		"postgres://coord:pw@postgres:5432/coord?sslmode=disable", pgtest.Empty(t),
		"0.0.0.0:8765", c.free("api"), "127.0.0.1:8765", c.free("api"), "api:8765", c.free("api"),
		"0.0.0.0:8080", c.free("gateway"), "127.0.0.1:8080", c.free("gateway"),
		"/workspace", c.dir, "/var/lib/agent-coordinator", c.dir,
	)
	migrate := c.command("migrate")
	if out, err := migrate.CombinedOutput(); err != nil {
		t.Fatalf("migrate: %v\n%s", err, out)
	}
	for _, name := range []string{"api", "gateway", "runner"} {
		c.start(name)
	}
	within(t, "the runner is online", func() error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.free("api")+"/runners", nil)
		if err != nil {
			return err
		}
		req.Header.Set("X-Api-Key", settings["COORDINATION_API_KEY"])
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		var list struct{ Runners []struct{ Status string } }
		if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
			return err
		}
		if len(list.Runners) != 1 || list.Runners[0].Status != "online" {
			return fmt.Errorf("%d %+v", res.StatusCode, list)
		}
		return nil
	})
}

type composed struct {
	t        *testing.T
	project  *types.Project
	dir, bin string
	replace  *strings.Replacer
	ports    map[string]string
}

// free is a free address of this machine, the same for the same name.
func (c *composed) free(name string) string {
	if c.ports == nil {
		c.ports = map[string]string{}
	}
	if c.ports[name] == "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			c.t.Fatal(err)
		}
		defer l.Close()
		c.ports[name] = l.Addr().String()
	}
	return c.ports[name]
}

func (c *composed) command(name string) *exec.Cmd {
	c.t.Helper()
	s, err := c.project.GetService(name)
	if err != nil {
		c.t.Fatal(err)
	}
	argv := append(append([]string{}, s.Entrypoint...), s.Command...)
	cmd := exec.Command(filepath.Join(c.bin, argv[0]), argv[1:]...)
	cmd.Dir = c.dir
	// As in the image: nothing of this process's own environment.
	cmd.Env = []string{"PATH=" + c.bin + ":/usr/local/bin:/usr/bin:/bin", "COORD_HOME=" + filepath.Join(c.dir, name), "HOME=" + c.dir}
	for k, v := range s.Environment {
		if v != nil {
			cmd.Env = append(cmd.Env, k+"="+c.replace.Replace(*v))
		}
	}
	return cmd
}

// start runs a service until the test ends, and waits until it is healthy.
func (c *composed) start(name string) {
	c.t.Helper()
	log, err := os.Create(filepath.Join(c.dir, name+".log"))
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := c.command(name)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		err := cmd.Wait()
		_ = log.Close()
		if text, _ := os.ReadFile(log.Name()); err != nil || c.t.Failed() {
			c.t.Errorf("%s: %v\n%s", name, err, text)
		}
	})
	s, _ := c.project.GetService(name) // command found it
	if s.HealthCheck == nil {
		return
	}
	within(c.t, name+" is healthy", func() error {
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Duration(*s.HealthCheck.Timeout))
		defer cancel()
		check := make([]string, 0, len(s.HealthCheck.Test))
		for _, word := range s.HealthCheck.Test[1:] {
			check = append(check, c.replace.Replace(word))
		}
		if _, err := exec.LookPath(check[0]); err != nil {
			c.t.Skipf("SKIPPED here: %s is not installed on this machine", check[0])
		}
		if out, err := exec.CommandContext(ctx, check[0], check[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
}

// build builds the programs into a folder like the image's.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for to, from := range map[string]string{
		"api": "cmd/api", "gateway": "cmd/gateway", "coordctl": "cmd/coordctl", "agent-runner": "cmd/agent-runner",
		"executors/test-executor/ao-test-exec": "executors/test-executor",
	} {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", filepath.Join(dir, to), "./"+from)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", from, err, out)
		}
	}
	return dir
}

func within(t *testing.T, what string, ok func() error) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for {
		err := ok()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: %v", what, err)
		}
	}
}
