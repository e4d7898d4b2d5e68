package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/internal/config"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
	"github.com/agent-coordinator/agent-coordinator/internal/gatewayserver"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

// gatewayGoals measure the verification gateway: how fast a webhook is acknowledged, and how fast changes are routed.
// The forge answers at once and nothing can run, so what is measured is ours alone.
var gatewayGoals = []goal{
	{"W1", "webhooks: time to the acknowledgement at 200 a second", (*rig).webhookAck},
	{"W2", "changes routed a second, from the inbox to verifying", (*rig).routed},
	{"W3", "a burst of webhooks at 1,000 a second", (*rig).webhookBurst},
	{"W4", "webhooks of 24 MB, eight at once", (*rig).largeWebhooks},
	{"W5", "routing by 500 policies over 3,000 files", (*rig).largeRouting},
	{"W6", "from a delivery to its verdict, tier 0", (*rig).timeToVerdict},
	{"W7", "200 pushes to one branch in 10 s", (*rig).forcePushes},
}

const (
	benchSecret = "bench"
	ackRate     = 200  // a second
	backlog     = 2000 // deliveries that wait when routing is measured
)

// hooked is a gateway in this process over a database of its own.
type hooked struct {
	url  string
	pool *pgxpool.Pool
	stop func() error
}

// hooked starts one whose forge says of every change that it changed the one file, "" a file of Go.
func (r *rig) hooked(ctx context.Context, name, path string, places ...gateway.Place) (*hooked, error) {
	dsn, err := r.copyDatabase(ctx, name)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return nil, err
	}
	env, err := config.LoadFrom[config.GatewayServer](map[string]string{
		"COORD_DATABASE_URL": dsn, "GATEWAY_ADDR": "127.0.0.1:0", "GITHUB_WEBHOOK_SECRET": benchSecret, "COORD_DB_CONNECTIONS": "16",
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	addr, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- gatewayserver.Run(ctx, gatewayserver.Config{
			GatewayServer: env, Dir: filepath.Join(r.dir, name), Forge: oneFile{path}, Places: func() ([]gateway.Place, error) { return places, nil },
		}, func(a string) { addr <- a })
	}()
	h := &hooked{pool: pool, stop: func() error { cancel(); pool.Close(); return <-ended }}
	select {
	case a := <-addr:
		h.url = "http://" + a + "/webhook/github"
		return h, nil
	case err := <-ended:
		cancel()
		pool.Close()
		return nil, errors.Join(errors.New("the gateway did not start"), err)
	}
}

type oneFile struct{ path string }

func (f oneFile) ChangedFiles(context.Context, gateway.ChangeRef) ([]route.File, bool, error) {
	return []route.File{{Path: cmp.Or(f.path, "internal/lock/lock.go"), Status: "modified", Additions: 40}}, false, nil
}

func (oneFile) Contributors(context.Context, gateway.ChangeRef) ([]string, error) { return nil, nil }

func (oneFile) Permission(context.Context, string, string) (string, error) { return "write", nil }
func (oneFile) PostStatus(context.Context, gateway.Status) error           { return nil }

// post delivers the n-th push, to a branch of its own, and returns how long the acknowledgement took.
func (h *hooked) post(ctx context.Context, n int) (time.Duration, error) {
	return h.push(ctx, n, fmt.Sprintf("b%d", n), fmt.Sprintf("%040d", 0), 8000) // real payloads are of about this size
}

// push delivers the n-th push with so many bytes of padding.
func (h *hooked) push(ctx context.Context, n int, branch, before string, padding int) (time.Duration, error) {
	body, err := json.Marshal(map[string]any{
		"ref": "refs/heads/" + branch, "before": before, "after": head(n), "sender": map[string]any{"login": "dev"},
		"repository": map[string]any{"id": 1, "full_name": "acme/shop", "clone_url": "https://git.example/acme/shop.git", "html_url": "https://git.example/acme/shop", "default_branch": "main", "pushed_at": 1000},
		"padding":    string(bytes.Repeat([]byte("x"), padding)),
	})
	if err != nil {
		return 0, err
	}
	return deliver(ctx, h.url, n, body)
}

// head is the commit of the n-th push.
func head(n int) string { return fmt.Sprintf("%040x", n+1) }

// deliver sends a signed push and returns how long the acknowledgement took.
func deliver(ctx context.Context, url string, n int, body []byte) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", "push")
	req.Header.Set("X-GitHub-Delivery", fmt.Sprintf("%08d-0000-0000-0000-000000000000", n))
	req.Header.Set(githubevent.SignatureHeader, githubevent.Sign(benchSecret, body))
	began := time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, res.Body) // the connection is used again
	_ = res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		return 0, fmt.Errorf("a delivery was answered by %d", res.StatusCode)
	}
	return time.Since(began), nil
}

// webhookAck sends at a fixed rate, whatever the answers take, while the gateway works on what came in.
func (r *rig) webhookAck(ctx context.Context) ([]Result, error) {
	h, err := r.hooked(ctx, "bench_hooks", "")
	if err != nil {
		return nil, err
	}
	took, failed := h.atRate(ctx, ackRate, ackRate*r.o.seconds*r.o.rounds)
	if err := errors.Join(failed, h.stop()); err != nil {
		return nil, err
	}
	line := func(what string, p, floor, stretch float64) Result {
		return Result{Goal: "W1", What: what, Value: percentile(took, p), Unit: "ms"}.atMost(floor, stretch).with("%d deliveries of 8 kB at %d/s, routed meanwhile, synchronous_commit=on", len(took), ackRate)
	}
	return []Result{line("webhook acknowledged, p50", 0.5, 10, 5), line("webhook acknowledged, p99", 0.99, 50, 25)}, nil
}

// atRate sends n pushes at a rate a second and returns what the acknowledgements took, in ms.
func (h *hooked) atRate(ctx context.Context, rate, n int) (took []float64, failed error) {
	var mu sync.Mutex
	var sending sync.WaitGroup
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for i := range n {
		<-tick.C
		sending.Go(func() {
			d, err := h.post(ctx, i)
			mu.Lock()
			defer mu.Unlock()
			took, failed = append(took, d.Seconds()*1000), errors.Join(failed, err)
		})
	}
	sending.Wait()
	return took, failed
}

// routed measures how fast a backlog becomes changesets under verification.
func (r *rig) routed(ctx context.Context) ([]Result, error) {
	h, err := r.hooked(ctx, "bench_routed", "")
	if err != nil {
		return nil, err
	}
	n := backlog
	if r.o.quick {
		n /= 4
	}
	// A policy set of the default size; the clock begins with the first delivery, so taking in is part of it.
	began := time.Now()
	var next atomic.Int64
	var failed error
	var mu sync.Mutex
	var sending sync.WaitGroup
	for range 16 {
		sending.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				if _, err := h.post(ctx, i); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	sending.Wait()
	if failed == nil {
		failed = h.until(ctx, `select count(*) = $1 from public.changesets where routed_at is not null`, n)
	}
	took := time.Since(began)
	if err := errors.Join(failed, h.stop()); err != nil {
		return nil, err
	}
	return []Result{Result{Goal: "W2", What: "deliveries to routed changesets", Value: float64(n) / took.Seconds(), Unit: "/s"}.atLeast(300, 600).
		with("%d deliveries at 16 clients, taken in, stored and routed by the seeded policies in %s", n, took.Round(time.Millisecond))}, nil
}

// until asks until the query says true.
func (h *hooked) until(ctx context.Context, query string, args ...any) error {
	for {
		var yes bool
		if err := h.pool.QueryRow(ctx, query, args...).Scan(&yes); err != nil || yes {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
