package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

const (
	burstRate  = 1000 // a second
	burst      = 5000
	largeBody  = 24 << 20
	largeOnes  = 8
	storm      = 200
	stormTime  = 10 * time.Second
	verdicts   = 40 // deliveries whose way to the verdict is timed
	manyRules  = 500
	manyPaths  = 3000
	routedOnce = 100 // routings that are timed
)

// webhookBurst sends 5,000 deliveries at 1,000 a second: what the acknowledgements take, and whether each is stored.
func (r *rig) webhookBurst(ctx context.Context) ([]Result, error) {
	h, err := r.hooked(ctx, "bench_burst", "")
	if err != nil {
		return nil, err
	}
	n := burst
	if r.o.quick {
		n /= 5
	}
	began := time.Now()
	took, failed := h.atRate(ctx, burstRate, n)
	sent := time.Since(began)
	var stored int
	if failed == nil {
		failed = h.pool.QueryRow(ctx, `select count(*) from coord.webhook_deliveries`).Scan(&stored)
	}
	if err := errors.Join(failed, h.stop()); err != nil {
		return nil, err
	}
	with := func(x Result) Result {
		return x.with("%d deliveries of 8 kB, sent within %s, routed meanwhile, synchronous_commit=on", n, sent.Round(100*time.Millisecond))
	}
	return []Result{
		with(Result{Goal: "W3", What: "burst acknowledged, p50", Value: percentile(took, 0.5), Unit: "ms"}.atMost(100, 50)),
		with(Result{Goal: "W3", What: "burst acknowledged, p99", Value: percentile(took, 0.99), Unit: "ms"}.atMost(250, 150)),
		Result{Goal: "W3", What: "acknowledged and not stored", Value: float64(n - stored), Unit: ""}.atMost(0, 0).with("%d acknowledged", n),
	}, nil
}

// largeWebhooks sends eight bodies of 24 MB at once to a gateway process of its own: how long the slowest took, and the most
// memory that the process ever had.
func (r *rig) largeWebhooks(ctx context.Context) ([]Result, error) {
	dsn, err := r.copyDatabase(ctx, "bench_large")
	if err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(r.bin, executable("gateway")))
	cmd.Env = environ(map[string]string{
		"COORD_DATABASE_URL": dsn, "GATEWAY_ADDR": addr, "GITHUB_WEBHOOK_SECRET": benchSecret, "GATEWAY_DIR": filepath.Join(r.dir, "large"), "LOG_LEVEL": "error",
	})
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the gateway: %w", err)
	}
	slowest, most, err := r.sendLarge(ctx, "http://"+addr, cmd.Process.Pid)
	if err := errors.Join(err, endProcess(cmd, &errs)); err != nil {
		return nil, err
	}
	out := []Result{Result{Goal: "W4", What: "24 MB acknowledged, the slowest of 8 at once", Value: slowest.Seconds(), Unit: "s"}.atMost(2*largeOnes, 2).with("signature checked, stored; three rounds")}
	if most > 0 {
		out = append(out, Result{Goal: "W4", What: "memory of the gateway at most", Value: float64(most) / (1 << 20), Unit: "MB"}.atMost(400, 200).with("VmHWM after three rounds"))
	}
	return out, nil
}

func (r *rig) sendLarge(ctx context.Context, url string, pid int) (slowest time.Duration, most int64, err error) {
	for began := time.Now(); ; {
		res, err := http.Get(url + "/ready")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Since(began) > 30*time.Second {
			return 0, 0, errors.Join(errors.New("the gateway did not start"), err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	padding := strings.Repeat("x", largeBody)
	for round := range 3 {
		var mu sync.Mutex
		var sending sync.WaitGroup
		for i := range largeOnes {
			sending.Go(func() {
				n := round*largeOnes + i
				body, failed := json.Marshal(map[string]any{"ref": "refs/tags/v1", "after": head(n), "before": head(n), "padding": padding, "repository": map[string]any{"full_name": "acme/shop"}})
				var took time.Duration
				if failed == nil {
					took, failed = deliver(ctx, url+"/webhook/github", n, body)
				}
				mu.Lock()
				defer mu.Unlock()
				slowest, err = max(slowest, took), errors.Join(err, failed)
			})
		}
		sending.Wait()
	}
	return slowest, mostMemory(pid), err
}

// mostMemory is the most that a process ever had in memory, in bytes; 0 where the system does not say.
func mostMemory(pid int) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// largeRouting decides about a change of 3,000 files by 500 policies, again and again.
func (r *rig) largeRouting(context.Context) ([]Result, error) {
	policies := make([]route.Policy, 0, manyRules)
	for i := range manyRules {
		p := route.Policy{Name: fmt.Sprintf("p%d", i), Tier: i % 4, Required: true, Enabled: true, Executors: []string{"github"}, FoldCase: i%7 == 0}
		p.Patterns = [][]string{
			{fmt.Sprintf("services/s%d/**", i)},
			{fmt.Sprintf("**/*.{x%d,y%d}", i, i)},
			{fmt.Sprintf("**/team%d/**", i), fmt.Sprintf("**/owner-%d.yml", i)},
			{fmt.Sprintf("**/config%d*.y*ml", i)},
			{fmt.Sprintf("**/*secret%d*", i)},
			{"**/*.go"},
		}[i%6]
		p.ExcludePatterns = []string{"**/testdata/**"}
		policies = append(policies, p)
	}
	compiled, err := route.Compile(policies)
	if err != nil {
		return nil, err
	}
	files := make([]route.File, 0, manyPaths)
	for i := range manyPaths {
		files = append(files, route.File{Path: fmt.Sprintf("services/svc%d/internal/pkg%d/file_%d.%s", i%50, i%300, i, []string{"go", "ts", "sql"}[i%3]), Status: "modified", Additions: i % 40})
	}
	began := time.Now()
	for range routedOnce {
		if d := compiled.Route(route.Change{Files: files, TrustLevel: 2}); len(d.Tiers) == 0 {
			return nil, errors.New("nothing was decided")
		}
	}
	return []Result{Result{Goal: "W5", What: "routings a second, 500 policies, 3,000 files", Value: routedOnce / time.Since(began).Seconds(), Unit: "/s"}.atLeast(50, 100).with("policies compiled once, as the gateway keeps them; deciding alone, without storing")}, nil
}

// ready is a place where everything succeeds as soon as it is asked.
type ready struct{}

func (ready) Name() string                                   { return "inline" }
func (ready) Available(context.Context, executors.Job) error { return nil }
func (ready) Cancel(context.Context, executors.Job) error    { return nil }
func (ready) Start(context.Context, executors.Job) (executors.Started, error) {
	return executors.Started{ExternalID: "x"}, nil
}

func (ready) Check(context.Context, executors.Job) (*executors.Outcome, error) {
	return &executors.Outcome{Conclusion: executors.Success}, nil
}

// timeToVerdict times changes that need tier 0 alone, one at a time, whose check takes no time: what is ours of the wait.
func (r *rig) timeToVerdict(ctx context.Context) ([]Result, error) {
	h, err := r.hooked(ctx, "bench_verdict", "README.md", gateway.Place{Executor: ready{}, CheckEvery: 100 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	var took []float64
	for n := range verdicts {
		began := time.Now()
		if _, err = h.post(ctx, n); err == nil {
			err = h.until(ctx, `select exists (select from public.changesets where head_sha = $1 and state = 'passed')`, head(n))
		}
		if err != nil {
			break
		}
		took = append(took, time.Since(began).Seconds()*1000)
	}
	if err := errors.Join(err, h.stop()); err != nil {
		return nil, err
	}
	line := func(what string, p, floor, stretch float64) Result {
		return Result{Goal: "W6", What: what, Value: percentile(took, p), Unit: "ms"}.atMost(floor, stretch).with("%d deliveries one after the other; the check itself takes no time and is looked at every 200 ms", len(took))
	}
	return []Result{line("delivery to verdict, p50", 0.5, 1500, 500), line("delivery to verdict, p95", 0.95, 5000, 1000)}, nil
}

// slow is a place where runs go on until they are ended.
type slow struct{ ready }

func (slow) Check(context.Context, executors.Job) (*executors.Outcome, error) { return nil, nil }

// forcePushes pushes 200 times to one branch in ten seconds: how long after the last everything older is over.
func (r *rig) forcePushes(ctx context.Context) ([]Result, error) {
	h, err := r.hooked(ctx, "bench_storm", "README.md", gateway.Place{Executor: slow{}, CheckEvery: 100 * time.Millisecond, Concurrency: 8})
	if err != nil {
		return nil, err
	}
	n, within := storm, stormTime
	if r.o.quick {
		n, within = n/4, within/4
	}
	tick := time.NewTicker(within / time.Duration(n))
	defer tick.Stop()
	before := fmt.Sprintf("%040d", 0)
	for i := range n {
		<-tick.C
		if _, err = h.push(ctx, i, "storm", before, 1000); err != nil {
			break
		}
		before = head(i)
	}
	began := time.Now()
	var live int
	if err == nil {
		err = h.until(ctx, `select exists (select from public.changesets where head_sha = $1 and state = 'verifying') and not exists (
			select from public.changesets where head_sha <> $1 and state <> 'superseded') and not exists (select from public.verification_results where head_sha <> $1 and (status <> 'completed' or cancel_due))`, before)
	}
	took := time.Since(began)
	if err == nil {
		err = liveLadders(ctx, h.pool, &live)
	}
	if err := errors.Join(err, h.stop()); err != nil {
		return nil, err
	}
	return []Result{
		Result{Goal: "W7", What: "last push to the end of all older runs", Value: took.Seconds(), Unit: "s"}.atMost(5, 1).with("%d pushes to one branch in %s, each run going on until it is ended", n, within),
		Result{Goal: "W7", What: "live ladders in the end", Value: float64(live), Unit: ""}.atMost(1, 1).with("of %d heads", n),
	}, nil
}

func liveLadders(ctx context.Context, pool *pgxpool.Pool, n *int) error {
	return pool.QueryRow(ctx, `select count(*) from public.changesets where state in ('received', 'routing', 'verifying', 'awaiting_approval')`).Scan(n)
}
