package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/apiserver"
	"github.com/agent-coordinator/agent-coordinator/internal/config"
)

// apiProcess is a running API, as a process or, for a profile, inside this one.
type apiProcess struct {
	addr string
	stop func() error
}

// apiEnv is the API's environment: as installed, with authentication on and no key but the database's.
func apiEnv(dsn, addr string) map[string]string {
	return map[string]string{"COORD_DATABASE_URL": dsn, "API_ADDR": addr, "LOG_LEVEL": "warn", "AUTH_ENABLED": "true"}
}

// environ is ours without what would configure the coordinator, with the given variables.
func environ(vars map[string]string) []string {
	out := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}
	for k, v := range vars {
		out = append(out, k+"="+v)
	}
	return out
}

// freeAddr is a loopback address nobody listens on.
func freeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}

// serve starts the API and waits until it answers from the database.
func (r *rig) serve(ctx context.Context) (*apiProcess, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	var p *apiProcess
	if r.o.profile != "" {
		p, err = r.serveHere(ctx, addr)
	} else {
		p, err = r.spawnAPI(addr)
	}
	if err != nil {
		return nil, err
	}
	if _, err := r.firstAnswer(ctx, addr, 30*time.Second); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

func (r *rig) spawnAPI(addr string) (*apiProcess, error) {
	cmd := exec.Command(filepath.Join(r.bin, executable("api")))
	cmd.Env = environ(apiEnv(r.dsn, addr))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the API: %w", err)
	}
	return &apiProcess{addr: addr, stop: func() error { return endProcess(cmd, &errs) }}, nil
}

// endProcess ends a process we started, politely, then not.
func endProcess(cmd *exec.Cmd, errs *bytes.Buffer) error {
	_ = cmd.Process.Signal(syscall.SIGTERM) // where that does not exist, the timer kills it
	kill := time.AfterFunc(stopTime, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %.500s", filepath.Base(cmd.Path), err, errs.Bytes())
	}
	return nil
}

// serveHere runs the API in this process under the CPU profiler. The load is in the profile, too.
func (r *rig) serveHere(ctx context.Context, addr string) (*apiProcess, error) {
	cfg, err := config.LoadFrom[config.API](apiEnv(r.dsn, addr))
	if err != nil {
		return nil, err
	}
	f, err := os.Create(r.o.profile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- apiserver.Run(ctx, apiserver.Config{API: cfg}, nil) }()
	return &apiProcess{addr: addr, stop: func() error {
		pprof.StopCPUProfile()
		cancel()
		return errors.Join(<-done, f.Close())
	}}, nil
}

func executable(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}

// firstAnswer asks for locks until the API answers from the database, and returns how long that took.
func (r *rig) firstAnswer(ctx context.Context, addr string, within time.Duration) (time.Duration, error) {
	start := time.Now()
	req := request("POST", "/locks/check", r.key, "probe", `{"file_path": "src/none.go"}`)
	var last error
	for time.Since(start) < within && ctx.Err() == nil {
		w, err := dialWire(addr)
		if err == nil {
			err = w.do(req, []byte(`"locks"`))
			w.close()
		}
		if err == nil {
			return time.Since(start), nil
		}
		last = err
		time.Sleep(500 * time.Microsecond)
	}
	return 0, errors.Join(fmt.Errorf("the API did not answer within %s: %w", within, last), context.Cause(ctx))
}
