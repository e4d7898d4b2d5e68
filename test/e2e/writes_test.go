//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	writesEach  = 5 * time.Millisecond // 200 writes a second
	writeHands  = 48
	writesShort = 15 * time.Second
	staticKey   = "writes-key-0123456789"
)

// TestWritesSurvive offers 200 writes a second to two API processes behind a proxy, while these are killed, backends of
// Postgres are killed, and connections on both sides are cut. Every write is repeated under its Idempotency-Key until it
// is answered with success. Then each must be there, once, and a repetition must get the very reply of the first time.
// E2E_WRITES is how long it goes on.
func TestWritesSurvive(t *testing.T) {
	length := writesShort
	if d, err := time.ParseDuration(os.Getenv("E2E_WRITES")); err == nil {
		length = d
	}
	w := newWriting(t)
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	var chaos sync.WaitGroup
	chaos.Go(func() { w.disturb(ctx) })
	offered := w.offer(ctx)
	chaos.Wait()
	w.checkReplies()
	w.checkRows(offered)
	t.Logf("%d writes in %s (200 offered a second), all acknowledged and there once; %d tries of which %d had no answer and %d said unavailable; "+
		"%d repetitions of an acknowledged write got its first reply; killed: %d API processes, %d backends of Postgres; cut: %d connections of clients, %d to the database",
		offered, length, w.tries.Load(), w.lost.Load(), w.unavailable.Load(), w.repeated.Load(), w.killed[0], w.killed[1], w.killed[2], w.killed[3])
}

type writing struct {
	t       *testing.T
	dir     string
	pool    *pgxpool.Pool
	url     string
	doors   *cutter // between the clients and the API processes
	base    *cutter // between these and Postgres
	addrs   []string
	dsn     string
	apis    []*victim
	http    *http.Client
	killed  [4]int
	replies sync.Map // number of the write → its first reply

	tries, lost, unavailable, repeated atomic.Int64
}

func newWriting(t *testing.T) *writing {
	t.Helper()
	in := up(t, "GATEWAY_ADDR=off", "COORD_RUNNER=none")
	pool, err := pgxpool.New(t.Context(), in.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	cfg, err := pgx.ParseConfig(in.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	w := &writing{t: t, dir: t.TempDir(), pool: pool, addrs: []string{spareAddr(t), spareAddr(t)}, apis: make([]*victim, 2)}
	network, address := "tcp", net.JoinHostPort(cfg.Host, fmt.Sprint(cfg.Port))
	if strings.HasPrefix(cfg.Host, "/") {
		network, address = "unix", filepath.Join(cfg.Host, fmt.Sprintf(".s.PGSQL.%d", cfg.Port))
	}
	w.base = newCutter(t, network, address)
	host, port, _ := net.SplitHostPort(w.base.addr())
	w.dsn = fmt.Sprintf("host=%s port=%s user=%s password=%s dbname=%s sslmode=disable", host, port, cfg.User, cfg.Password, cfg.Database)
	w.doors = newCutter(t, "tcp", w.addrs...)
	w.url = "http://" + w.doors.addr()
	w.http = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: writeHands}}
	t.Cleanup(w.http.CloseIdleConnections)
	for i := range w.apis {
		w.spawn(i, bin)
	}
	t.Cleanup(func() {
		for _, v := range w.apis {
			v.kill()
		}
	})
	eventually(t, 30*time.Second, "the API processes answer", func() error {
		return errors.Join(w.ready(0), w.ready(1))
	})
	return w
}

// ready says why the i-th API is not, if so.
func (w *writing) ready(i int) error {
	res, err := http.Get("http://" + w.addrs[i] + "/ready")
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%d", res.StatusCode)
	}
	return nil
}

// spawn starts the i-th API, of the programs in dir.
func (w *writing) spawn(i int, dir string) {
	cmd := exec.Command(filepath.Join(dir, "api"))
	cmd.Env = append(cleanEnv(), "COORD_DATABASE_URL="+w.dsn, "API_ADDR="+w.addrs[i], "COORDINATION_API_KEYS="+staticKey, "LOG_LEVEL=error", "COORD_HOME="+w.dir)
	w.apis[i] = launch(w.t, cmd, filepath.Join(w.dir, fmt.Sprintf("api-%d.log", i)))
}

// offer starts a write every writesEach until ctx is done, waits until all are acknowledged, and returns how many.
func (w *writing) offer(ctx context.Context) int {
	numbers := make(chan int, 1<<20)
	var hands sync.WaitGroup
	for range writeHands {
		hands.Go(func() {
			for n := range numbers {
				w.write(n)
			}
		})
	}
	tick := time.NewTicker(writesEach)
	defer tick.Stop()
	began, n := time.Now(), 0
	for ctx.Err() == nil {
		for ; n < int(time.Since(began)/writesEach); n++ { // a tick that came late brings several
			numbers <- n
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	close(numbers)
	hands.Wait()
	return n
}

// call is the n-th write: a task, a lock, a memory or a message.
func call(n int) (path string, body map[string]any) {
	agent, name := fmt.Sprintf("hand-%d", n%64), fmt.Sprintf("write-%d", n)
	switch n % 4 {
	case 0:
		return "/work/submit", map[string]any{"agent_id": agent, "task_type": "t", "description": name}
	case 1:
		return "/locks/acquire", map[string]any{"agent_id": agent, "file_path": name + ".go", "ttl_minutes": 480}
	case 2:
		return "/memory/store", map[string]any{"agent_id": agent, "summary": name + " was remembered"}
	}
	return "/messages/send", map[string]any{"agent_id": agent, "to": []string{"reader"}, "allow_unknown": true, "text": name}
}

// write repeats the n-th write until it succeeds, and repeats some that did.
func (w *writing) write(n int) {
	first := w.send(n)
	w.replies.Store(n, first)
	if n%5 == 0 {
		w.again(n, first)
	}
}

func (w *writing) again(n int, first []byte) {
	w.repeated.Add(1)
	if again := w.send(n); !sameJSON(again, first) {
		w.t.Errorf("write %d: the repetition got %s, the first try %s", n, again, first)
	}
}

// sameJSON compares replies: a stored one comes back with its members in another order.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// send repeats until there is success, and returns the reply.
func (w *writing) send(n int) []byte {
	path, body := call(n)
	raw, _ := json.Marshal(body) // texts and numbers
	pause := 20 * time.Millisecond
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); pause = min(2*pause, time.Second) {
		w.tries.Add(1)
		status, reply, err := w.try(n, path, raw)
		switch {
		case err != nil:
			w.lost.Add(1)
		case status == http.StatusServiceUnavailable:
			w.unavailable.Add(1)
		case status == http.StatusOK:
			return reply
		default:
			w.t.Errorf("write %d: %d %s", n, status, reply)
			return nil
		}
		time.Sleep(pause/2 + rand.N(pause))
	}
	w.t.Errorf("write %d: no success in two minutes", n)
	return nil
}

func (w *writing) try(n int, path string, body []byte) (int, []byte, error) {
	req, err := http.NewRequest(http.MethodPost, w.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.GetBody = nil // Go repeats a request with an Idempotency-Key by itself; here every try is counted
	req.Header.Set("X-Api-Key", staticKey)
	req.Header.Set("X-Notices", "none")
	req.Header.Set("Idempotency-Key", fmt.Sprintf("write-%d", n))
	res, err := w.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(res.Body)
	return res.StatusCode, reply, err
}

// disturb kills and cuts at random until ctx is done.
func (w *writing) disturb(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(200*time.Millisecond + rand.N(1500*time.Millisecond)):
		}
		switch dice := rand.IntN(10); {
		case dice < 2:
			i := rand.IntN(2)
			w.apis[i].kill()
			w.killed[0]++
			time.Sleep(rand.N(500 * time.Millisecond))
			w.spawn(i, bin)
		case dice < 4:
			w.killBackend(ctx)
		case dice < 7:
			w.killed[2] += w.doors.cut(1 + rand.IntN(12))
		default:
			w.killed[3] += w.base.cut(1 + rand.IntN(4))
		}
	}
}

// killBackend kills a process of Postgres that serves an API: all sessions end, and Postgres recovers from its log.
func (w *writing) killBackend(ctx context.Context) {
	var pid int
	if err := w.pool.QueryRow(ctx, `select pid from pg_stat_activity where application_name = 'agent-coordinator' and backend_type = 'client backend' order by random() limit 1`).Scan(&pid); err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
		w.killed[1]++
	}
}

// checkReplies repeats every twentieth write once more, now that all is quiet.
func (w *writing) checkReplies() {
	w.replies.Range(func(n, first any) bool {
		if n.(int)%20 == 1 {
			w.again(n.(int), first.([]byte))
		}
		return true
	})
}

// checkRows looks every write up in its table.
func (w *writing) checkRows(offered int) {
	w.t.Helper()
	have := map[string]int{}
	for _, query := range []string{
		`select description from public.work_queue`, `select replace(file_path, '.go', '') from public.lock_list`,
		`select split_part(summary, ' ', 1) from public.memory_episodic`, `select m.text from public.messages m join public.message_recipients r on r.message_id = m.id`,
	} {
		rows, err := w.pool.Query(w.t.Context(), query)
		if err != nil {
			w.t.Fatal(err)
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			w.t.Fatalf("%s: %v", query, err)
		}
		for _, name := range names {
			have[name]++
		}
	}
	var missing, double []int
	for n := range offered {
		switch have[fmt.Sprintf("write-%d", n)] {
		case 0:
			missing = append(missing, n)
		case 1:
		default:
			double = append(double, n)
		}
	}
	if len(missing) > 0 || len(double) > 0 {
		w.t.Errorf("%d acknowledged writes are missing, %d are there twice: %v %v", len(missing), len(double), missing[:min(9, len(missing))], double[:min(9, len(double))])
	}
}

// cutter is a proxy that cuts connections.
type cutter struct {
	listener net.Listener
	network  string
	backends []string

	mu    sync.Mutex
	conns []net.Conn // clients' sides
}

func newCutter(t *testing.T, network string, backends ...string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{listener: l, network: network, backends: backends}
	t.Cleanup(func() { _ = l.Close(); c.cut(1 << 20) })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(conn)
		}
	}()
	return c
}

func (c *cutter) addr() string { return c.listener.Addr().String() }

func (c *cutter) serve(client net.Conn) {
	defer client.Close()
	var server net.Conn
	for _, i := range rand.Perm(len(c.backends)) { // a process that was killed is not waited for
		var err error
		if server, err = net.DialTimeout(c.network, c.backends[i], time.Second); err == nil {
			break
		}
	}
	if server == nil {
		return
	}
	defer server.Close()
	c.mu.Lock()
	c.conns = append(c.conns, client)
	c.mu.Unlock()
	go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
	_, _ = io.Copy(client, server)
	c.mu.Lock()
	c.conns = slices.DeleteFunc(c.conns, func(x net.Conn) bool { return x == client })
	c.mu.Unlock()
}

// cut resets up to n connections, whatever is under way on them, and returns how many.
func (c *cutter) cut(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n = min(n, len(c.conns))
	for i, at := range rand.Perm(len(c.conns)) {
		if i == n {
			break
		}
		if tcp, ok := c.conns[at].(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.conns[at].Close()
	}
	return n
}
