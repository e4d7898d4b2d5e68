package apiserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// keepAlive is a client with a connection for each of n workers.
func keepAlive(b *testing.B, n int) *http.Client {
	tr := &http.Transport{MaxIdleConnsPerHost: n, MaxConnsPerHost: n}
	b.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func exchange(b *testing.B, c *http.Client, method, url, body string) {
	req, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("X-API-Key", testKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		b.Fatalf("%d %s %v", resp.StatusCode, raw, err)
	}
}

// workers runs fn b.N times from n goroutines and reports the median latency.
func workers(b *testing.B, n int, fn func(worker, i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	took := make([][]time.Duration, n)
	b.ResetTimer()
	for w := range n {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				t := time.Now()
				fn(w, int(i))
				took[w] = append(took[w], time.Since(t))
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkDoor puts the door beside what it stands on: a bare statement, the bare HTTP server, and calls.
func BenchmarkDoor(b *testing.B) {
	dsn := pgtest.DSN(b)
	url := start(b, configured(b, dsn, map[string]string{"COORD_DB_CONNECTIONS": "16"}))
	pool, err := pgxpool.New(b.Context(), dsn+"&pool_max_conns=16")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	for _, n := range []int{1, 16} {
		c := keepAlive(b, n)
		b.Run(fmt.Sprintf("select1/%d", n), func(b *testing.B) {
			workers(b, n, func(int, int) {
				var one int
				if err := pool.QueryRow(context.Background(), "select 1").Scan(&one); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run(fmt.Sprintf("live/%d", n), func(b *testing.B) {
			workers(b, n, func(int, int) { exchange(b, c, "GET", url+"/live", "") })
		})
		b.Run(fmt.Sprintf("check_locks/%d", n), func(b *testing.B) {
			workers(b, n, func(int, int) {
				exchange(b, c, "POST", url+"/locks/check", `{"agent_id":"a","file_paths":["src/main.go"]}`)
			})
		})
		exchange(b, c, "POST", url+"/locks/acquire", `{"agent_id":"holder","file_path":"held.go"}`)
		b.Run(fmt.Sprintf("refused/%d", n), func(b *testing.B) {
			workers(b, n, func(w, _ int) {
				exchange(b, c, "POST", url+"/locks/acquire", fmt.Sprintf(`{"agent_id":"w%d","file_path":"held.go"}`, w))
			})
		})
		b.Run(fmt.Sprintf("pair/%d", n), func(b *testing.B) {
			workers(b, n, func(w, _ int) {
				body := fmt.Sprintf(`{"agent_id":"w%d","file_path":"w%d.go"}`, w, w)
				exchange(b, c, "POST", url+"/locks/acquire", body)
				exchange(b, c, "POST", url+"/locks/release", body)
			})
		})
	}
}
