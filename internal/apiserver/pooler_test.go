package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/migrate"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// Two servers that know nothing but a transaction pooler: no LISTEN, no sessions, statements on any of four
// connections. Everything works; who waits is woken by re-checks.
func TestEverythingWorksThroughATransactionPooler(t *testing.T) {
	t.Parallel()
	direct := pgtest.DSN(t)
	pooled := pgtest.Pooled(t, direct)
	if _, err := migrate.Up(t.Context(), pooled, migrate.Options{}); !errors.Is(err, migrate.ErrPooler) {
		t.Errorf("a migration through the pooler: %v", err)
	}
	a, b := start(t, configured(t, pooled, nil)), start(t, configured(t, pooled, nil))
	agent := func(url, name string) *client.AgentCoordinationClient {
		c, err := client.New(url, testKey, client.WithAgent(name, "codex"), client.WithSession(name), client.WithProject("demo"), client.WithRetries(0))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	ctx := t.Context()
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			c := agent([]string{a, b}[i%2], fmt.Sprintf("agent-%d", i))
			for n := range 15 {
				if err := everyKindOfCall(ctx, c, i, n); err != nil {
					t.Errorf("agent %d, round %d: %v", i, n, err)
					return
				}
			}
		})
	}
	wg.Wait()

	ana, bob := agent(a, "ana"), agent(b, "bob")
	if got, err := ana.AcquireLock(ctx, client.AcquireLock{FilePath: "shared.go"}); err != nil || !got.Success {
		t.Fatalf("%+v, %v", got, err)
	}
	wg.Go(func() {
		got, err := bob.AcquireLock(ctx, client.AcquireLock{FilePath: "shared.go", WaitSeconds: 30})
		if err != nil || !got.Success {
			t.Errorf("bob waits on another server: %+v, %v", got, err)
		}
		work, err := bob.GetWork(ctx, client.GetWork{TaskTypes: []string{"later"}, WaitSeconds: 30})
		if err != nil || !work.Success {
			t.Errorf("bob waits for work: %+v, %v", work, err)
		}
		mail, err := bob.ListMessages(ctx, client.ListMessages{WaitSeconds: 30})
		if err != nil || mail.Count != 1 {
			t.Errorf("bob waits for mail: %+v, %v", mail, err)
		}
	})
	for _, step := range []func() error{
		func() error { _, err := ana.ReleaseLock(ctx, client.ReleaseLock{All: true}); return err },
		func() error {
			_, err := ana.SubmitWork(ctx, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "later", Description: "d", InputData: map[string]any{"k": []int{1}}}})
			return err
		},
		func() error {
			_, err := ana.SendMessage(ctx, client.SendMessage{To: []string{"bob"}, Text: "hello", AllowUnknown: true}) // he may not have begun
			return err
		},
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()

	metrics := metricsOf(t, a)
	for _, want := range []string{"coord_notify_heard_total 0\n", "coord_reads_without_role 0\n"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %q", want)
		}
	}
}

// everyKindOfCall makes one of each kind: locks by the fast and the general path, the queue, a repeated request key
// (a transaction of several statements), lists (a batch under a role of its own), memory.
func everyKindOfCall(ctx context.Context, c *client.AgentCoordinationClient, i, n int) error {
	path := fmt.Sprintf("dir%d/f%d.go", i, n)
	if got, err := c.AcquireLock(ctx, client.AcquireLock{FilePath: path}); err != nil || !got.Success {
		return fmt.Errorf("acquire: %+v, %w", got, err)
	}
	if got, err := c.AcquireLock(ctx, client.AcquireLock{FilePaths: []string{fmt.Sprintf("g%d/*.go", i), fmt.Sprintf("h%d/", i)}}); err != nil || !got.Success {
		return fmt.Errorf("acquire several: %+v, %w", got, err)
	}
	list, err := c.CheckLocks(ctx, client.CheckLocks{})
	if err != nil || list.Count < 3 {
		return fmt.Errorf("list: %+v, %w", list, err)
	}
	if got, err := c.ReleaseLock(ctx, client.ReleaseLock{All: true}); err != nil || !got.Success {
		return fmt.Errorf("release: %+v, %w", got, err)
	}
	key := client.WithRequestKey(ctx, fmt.Sprintf("key-%d-%d", i, n))
	spec := client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "t", Description: "d", InputData: map[string]any{"a": map[string]any{"b": 1.5}}}}
	first, err := c.SubmitWork(key, spec)
	if err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	if again, err := c.SubmitWork(key, spec); err != nil || again.TaskID != first.TaskID {
		return fmt.Errorf("submit again: %+v, %w", again, err)
	}
	work, err := c.GetWork(ctx, client.GetWork{TaskTypes: []string{"t"}})
	if err != nil || !work.Success {
		return fmt.Errorf("claim: %+v, %w", work, err)
	}
	if got, err := c.CompleteWork(ctx, client.CompleteWork{TaskID: *work.TaskID, Success: true, Result: map[string]any{"x": "y"}}); err != nil || !got.Success {
		return fmt.Errorf("complete: %+v, %w", got, err)
	}
	if _, err := c.ListWork(ctx, client.ListWork{}); err != nil {
		return fmt.Errorf("tasks: %w", err)
	}
	if _, err := c.WhoIsActive(ctx, client.WhoIsActive{}); err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	return nil
}

// metricsOf is the text of a server's metrics.
func metricsOf(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
