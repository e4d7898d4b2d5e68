//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	places "github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
	"github.com/agent-coordinator/agent-coordinator/internal/gatewayserver"
	"github.com/agent-coordinator/agent-coordinator/internal/obs"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

// childVar makes this test binary a gateway whose outside world is a folder: see gatewayChild.
const (
	childVar    = "E2E_GATEWAY_CHILD"
	stormSecret = "a-secret-of-the-storm"
)

// TestKilledGatewayLosesNothing sends deliveries at 32 clients, some of them twice and some heads in two events, while the
// gateway is killed (SIGKILL) and the database restarted (immediately, without a checkpoint). Afterwards everything that
// was acknowledged has been done, every head is one changeset with one run that was dispatched once, and all have passed.
// E2E_DELIVERIES sets how many (10000 in the long proof), with 20 kills and 5 restarts.
func TestKilledGatewayLosesNothing(t *testing.T) {
	n, kills, restarts := 1000, 6, 2
	if v, err := strconv.Atoi(os.Getenv("E2E_DELIVERIES")); err == nil {
		n, kills, restarts = v, 20, 5
	}
	in := up(t, "GATEWAY_ADDR=off", "COORD_RUNNER=none")
	s := &storm{install: in, t: t, addr: spareAddr(t), dir: t.TempDir(), acked: map[string]bool{}}
	s.spawn()
	t.Cleanup(func() { s.child.kill() })
	began := time.Now()
	var sending sync.WaitGroup
	var next atomic.Int64
	for range 32 {
		sending.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				s.send(i)
			}
		})
	}
	sent := make(chan struct{})
	go func() { sending.Wait(); close(sent) }()
	s.disturb(n, kills, restarts, sent)
	<-sent
	took := time.Since(began)
	s.settle(n)
	t.Logf("%d deliveries acknowledged in %s through %d kills of the gateway and %d restarts of Postgres; everything done %s after the last; refused and sent again %d times",
		len(s.acked), took.Round(time.Millisecond), kills, restarts, (time.Since(began) - took).Round(time.Millisecond), s.refused.Load())
}

// storm is an installation whose gateway is this test's own.
type storm struct {
	*install
	t       *testing.T
	addr    string
	dir     string
	child   *victim
	refused atomic.Int64

	mu    sync.Mutex
	acked map[string]bool
}

// spareAddr is an address that nobody listens on, so that the gateway can come back to it.
func spareAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// victim is a process that is killed.
type victim struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

func (v *victim) kill() {
	_ = v.cmd.Process.Kill()
	<-v.exited
}

func (s *storm) spawn() {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(cleanEnv(), childVar+"="+s.dir, "CHILD_ADDR="+s.addr, "CHILD_DB="+s.DatabaseURL)
	s.child = launch(s.t, cmd, filepath.Join(s.dir, "gateway.log"))
}

// launch starts a process that will be killed; it writes to the log.
func launch(t *testing.T, cmd *exec.Cmd, log string) *victim {
	t.Helper()
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	v := &victim{cmd: cmd, exited: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = cmd.Wait(); close(v.exited) }()
	return v
}

// headOf is the commit of the i-th delivery: every fifth tells of the same head as the one before, as a pull request.
func headOf(i int) (head int, pull bool) {
	if i%5 == 0 {
		return i - 1, true
	}
	return i, false
}

// send delivers until it is acknowledged; every seventh is delivered once more after that.
func (s *storm) send(i int) {
	head, pull := headOf(i)
	sha, id := fmt.Sprintf("%040x", head), fmt.Sprintf("%08d-0000-0000-0000-000000000000", i)
	repository := map[string]any{"id": 1, "full_name": "acme/shop", "clone_url": "https://git.example/acme/shop.git", "html_url": "https://git.example/acme/shop", "default_branch": "main", "pushed_at": 1000}
	event, payload := "push", map[string]any{"ref": fmt.Sprintf("refs/heads/b%d", head), "before": fmt.Sprintf("%040d", 0), "after": sha, "repository": repository, "sender": map[string]any{"login": "dev"}}
	if pull {
		side := map[string]any{"ref": fmt.Sprintf("b%d", head), "sha": sha, "repo": map[string]any{"id": 1, "full_name": "acme/shop"}}
		event, payload = "pull_request", map[string]any{"action": "opened", "number": head, "repository": repository, "sender": map[string]any{"login": "dev"}, "pull_request": map[string]any{
			"number": head, "state": "open", "updated_at": "2026-01-01T00:00:00Z", "user": map[string]any{"login": "dev"}, "head": side,
			"base": map[string]any{"ref": "main", "sha": fmt.Sprintf("%040x", 1<<40), "repo": map[string]any{"id": 1, "full_name": "acme/shop"}},
		}}
	}
	body, err := json.Marshal(payload)
	if err != nil {
		s.t.Error(err)
		return
	}
	times := 1
	if i%7 == 0 {
		times = 2
	}
	for times > 0 {
		if s.post(id, event, body) == http.StatusAccepted {
			times--
			s.mu.Lock()
			s.acked[id] = true
			s.mu.Unlock()
			continue
		}
		s.refused.Add(1)
		pause(50 * time.Millisecond)
	}
}

func (s *storm) post(id, event string, body []byte) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.addr+"/webhook/github", bytes.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", event)
	req.Header.Set("X-GitHub-Delivery", id)
	req.Header.Set(githubevent.SignatureHeader, githubevent.Sign(stormSecret, body))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// disturb kills and restarts as the deliveries go on, evenly spread.
func (s *storm) disturb(n, kills, restarts int, sent <-chan struct{}) {
	for i := 1; i <= kills; i++ {
		for { // wait for the i-th part of the way
			s.mu.Lock()
			at := len(s.acked)
			s.mu.Unlock()
			if at >= i*n/(kills+1) {
				break
			}
			select {
			case <-sent:
			case <-time.After(10 * time.Millisecond):
				continue
			}
			break
		}
		s.child.kill()
		if i*restarts/kills > (i-1)*restarts/kills {
			s.restartPostgres()
		}
		s.spawn()
	}
}

// restartPostgres stops the server as a power cut would (SIGQUIT); `coordctl up` starts it again.
func (s *storm) restartPostgres() {
	out, err := s.coordctl(s.t, "status", "--json")
	var st struct {
		Postgres struct {
			PID int `json:"pid"`
		} `json:"postgres"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(out), &st)
	}
	if err != nil || st.Postgres.PID == 0 {
		s.t.Errorf("the server's process: %v\n%s", err, out)
		return
	}
	if err := syscall.Kill(st.Postgres.PID, syscall.SIGQUIT); err != nil {
		s.t.Error(err)
	}
}

// settle waits until everything is done, then looks whether it is right.
func (s *storm) settle(n int) {
	t, ctx := s.t, context.Background()
	var conn *pgx.Conn
	var err error
	scan := func(sql string, args ...any) (v int) {
		if err := conn.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return v
	}
	eventually(t, time.Minute, "Postgres is back", func() error { conn, err = pgx.Connect(ctx, s.DatabaseURL); return err })
	defer conn.Close(ctx)
	eventually(t, 5*time.Minute, "everything is done", func() error {
		if open := scan(`select count(*) from coord.webhook_deliveries where state in ('received', 'failed')`); open > 0 {
			return fmt.Errorf("%d deliveries wait", open)
		}
		if open := scan(`select count(*) from public.changesets where not coord.changeset_final(state)`); open > 0 {
			return fmt.Errorf("%d changesets are under way", open)
		}
		return nil
	})
	heads := map[int]bool{}
	for i := 1; i <= n; i++ {
		h, _ := headOf(i)
		heads[h] = true
	}
	ids := make([]string, 0, len(s.acked))
	for id := range s.acked {
		ids = append(ids, id)
	}
	for what, got := range map[string][2]int{
		"acknowledged and gone":        {scan(`select count(*) from unnest($1::text[]) i where not exists (select from coord.webhook_deliveries d where d.delivery_id = i and d.state = 'processed')`, ids), 0},
		"changesets":                   {scan(`select count(*) from public.changesets`), len(heads)},
		"heads":                        {scan(`select count(distinct head_sha) from public.changesets`), len(heads)},
		"changesets that did not pass": {scan(`select count(*) from public.changesets where state <> 'passed'`), 0},
		"runs":                         {scan(`select count(*) from public.verification_results`), len(heads)},
		"dispatched":                   {dispatched(t, s.dir), len(heads)},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %d, want %d", what, got[0], got[1])
		}
	}
	if t.Failed() {
		raw, _ := os.ReadFile(filepath.Join(s.dir, "gateway.log"))
		t.Logf("gateway:\n%s", raw[max(0, len(raw)-20_000):])
	}
}

// dispatched counts the runs that the outside was asked for.
func dispatched(t *testing.T, dir string) int {
	entries, err := os.ReadDir(filepath.Join(dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// gatewayChild is the gateway under test: everything real but the forge, where every change is to README.md, and the place
// of verification, which is a folder: a run is a file there, made once and for all.
func gatewayChild(dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	env, err := config.LoadFrom[config.GatewayServer](map[string]string{
		"COORD_DATABASE_URL": os.Getenv("CHILD_DB"), "GATEWAY_ADDR": os.Getenv("CHILD_ADDR"), "GITHUB_WEBHOOK_SECRET": stormSecret, "COORD_DB_CONNECTIONS": "16",
	})
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "runs"), 0o755)
	}
	if err == nil {
		err = gatewayserver.Run(ctx, gatewayserver.Config{
			GatewayServer: env, Dir: filepath.Join(dir, "state"), Forge: readme{}, Log: obs.NewLogger(os.Stderr, "warn", false),
			Places: func() ([]gateway.Place, error) {
				return []gateway.Place{{Executor: folder(filepath.Join(dir, "runs")), Concurrency: 64, CheckEvery: 100 * time.Millisecond}}, nil
			},
		}, nil)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

type readme struct{}

func (readme) ChangedFiles(context.Context, gateway.ChangeRef) ([]route.File, bool, error) {
	return []route.File{{Path: "README.md", Status: "modified", Additions: 1}}, false, nil
}
func (readme) Contributors(context.Context, gateway.ChangeRef) ([]string, error) { return nil, nil }
func (readme) Permission(context.Context, string, string) (string, error)        { return "write", nil }
func (readme) PostStatus(context.Context, gateway.Status) error                  { return nil }

type folder string

func (folder) Name() string { return "inline" }

func (folder) Available(context.Context, places.Job) error { return nil }

func (f folder) Start(_ context.Context, j places.Job) (places.Started, error) {
	file, err := os.OpenFile(filepath.Join(string(f), j.ID), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return places.Started{ExternalID: j.ID}, nil
	}
	if err != nil {
		return places.Started{}, err
	}
	return places.Started{ExternalID: j.ID}, file.Close()
}

func (f folder) Check(_ context.Context, j places.Job) (*places.Outcome, error) {
	if _, err := os.Stat(filepath.Join(string(f), j.ID)); err != nil {
		return nil, places.ErrLost
	}
	return &places.Outcome{Conclusion: places.Success}, nil
}

func (folder) Cancel(context.Context, places.Job) error { return nil }
