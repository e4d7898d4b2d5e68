package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/mcpclient"
)

// mcpCommand is mcp-server as a host starts it, on our database. A folder that is no checkout goes by its name, which is
// here that of the project's repository.
func (r *rig) mcpCommand() (*exec.Cmd, error) {
	dir := filepath.Join(r.dir, "default")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(r.bin, executable("mcp-server")))
	cmd.Dir = dir
	cmd.Env = environ(map[string]string{
		"COORD_DATABASE_URL": r.dsn, "COORD_PROJECT": project, "AGENT_ID": "mcp", "AGENT_TYPE": "bench", "SESSION_ID": "mcp", "COORD_HOME": filepath.Join(r.dir, "home"),
	})
	return cmd, nil
}

func (r *rig) startMCP(ctx context.Context) (*mcpclient.Client, error) {
	cmd, err := r.mcpCommand()
	if err != nil {
		return nil, err
	}
	return mcpclient.Start(ctx, cmd, "bench")
}

func endMCP(c *mcpclient.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	return c.Close(ctx)
}

// mcpCall compares a tool call over standard streams with the SQL it runs.
func (r *rig) mcpCall(ctx context.Context) (out []Result, err error) {
	c, err := r.startMCP(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := endMCP(c); err == nil {
			err = e
		}
	}()
	conn, err := pgx.Connect(ctx, r.dsn)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to send
	k, err := r.keys(heldPath)
	if err != nil {
		return nil, err
	}
	args := k.checkArgs(r)
	raw := func() (float64, error) {
		_, p50, err := drive(ctx, r.duration()/2, 1, func(ctx context.Context, _ int) error {
			var reply []byte
			return conn.QueryRow(ctx, checkSQL, args...).Scan(&reply)
		})
		return float64(p50.Microseconds()) / 1000, err
	}
	tool := func() (float64, error) {
		_, p50, err := drive(ctx, r.duration()/2, 1, func(ctx context.Context, _ int) error {
			var reply struct{ Locks []struct{} }
			err := c.Call(ctx, "check_locks", map[string]any{"file_paths": []string{heldPath}}, &reply)
			if err == nil && len(reply.Locks) != 1 {
				err = fmt.Errorf("check_locks found %d locks", len(reply.Locks))
			}
			return err
		})
		return float64(p50.Microseconds()) / 1000, err
	}
	p, err := r.alternate(tool, raw)
	if err != nil {
		return nil, err
	}
	res := compare("G13", "check_locks over MCP stdio, p50", p, "tool", "raw pgx", "ms")
	note := fmt.Sprintf("%.1f times the statement alone", res.Value)
	res.Value, res.Unit, res.Range = p.Ours-p.Theirs, "ms more", ""
	return []Result{res.atMost(0.5, 0.12).with("%s", note)}, nil
}

// starting measures from exec to the first answer.
func (r *rig) starting(ctx context.Context) ([]Result, error) {
	var api, mcp, tool []float64
	for range max(r.o.rounds, 5) {
		took, err := r.startAPI(ctx)
		if err != nil {
			return nil, err
		}
		api = append(api, took)
		hello, call, err := r.helloMCP(ctx)
		if err != nil {
			return nil, err
		}
		mcp, tool = append(mcp, hello), append(tool, call)
	}
	line := func(what string, values []float64) Result {
		return Result{
			Goal: "G15", What: what, Value: median(values), Unit: "ms", Verdict: verdictInfo,
			Range: number(percentile(values, 0)) + "–" + number(percentile(values, 1)),
		}
	}
	return []Result{
		line("API, exec to the first 200 from the database", api).atMost(250, 30).with("with migrations already applied"),
		line("MCP, spawn to the reply to initialize", mcp).atMost(100, 10),
		line("MCP, spawn to the first tool's answer from the database", tool),
	}, nil
}

func (r *rig) startAPI(ctx context.Context) (ms float64, err error) {
	addr, err := freeAddr()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	p, err := r.spawnAPI(addr)
	if err != nil {
		return 0, err
	}
	_, err = r.firstAnswer(ctx, addr, 30*time.Second)
	took := time.Since(start)
	if e := p.stop(); err == nil {
		err = e
	}
	return float64(took.Microseconds()) / 1000, err
}

func (r *rig) helloMCP(ctx context.Context) (hello, call float64, err error) {
	start := time.Now()
	c, err := r.startMCP(ctx)
	if err != nil {
		return 0, 0, err
	}
	hello = float64(time.Since(start).Microseconds()) / 1000
	err = c.Call(ctx, "check_locks", map[string]any{"file_paths": []string{heldPath}}, nil)
	call = float64(time.Since(start).Microseconds()) / 1000
	if e := endMCP(c); err == nil {
		err = e
	}
	return hello, call, err
}
