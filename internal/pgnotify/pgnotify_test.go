package pgnotify

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestEncodeDecode(t *testing.T) {
	t.Parallel()
	got := encode("me", map[string]int{"w:1:1:5": 3})
	if !slices.Equal(got, []string{"me w:1:1:5*3"}) {
		t.Fatalf("encoded %q", got)
	}
	sender, topics, all := decode(got[0])
	if sender != "me" || all || !slices.Equal(topics, []string{"w:1:1:5", "w:1:1:5", "w:1:1:5"}) {
		t.Fatalf("decoded %s %v %v", sender, topics, all)
	}
	many := map[string]int{}
	for i := range 2000 {
		many[fmt.Sprintf("w:1:1:%d", i)] = 1
	}
	parts := encode("me", many)
	for _, p := range parts {
		if len(p) >= 8000 {
			t.Fatalf("%d bytes", len(p))
		}
		_, topics, _ := decode(p)
		for _, topic := range topics {
			delete(many, topic)
		}
	}
	if len(parts) < 2 || len(many) != 0 {
		t.Fatalf("%d parts, %d topics lost", len(parts), len(many))
	}
	for i := range 10_000 {
		many[fmt.Sprintf("w:1:1:%d", i)] = 1
	}
	for _, topics := range []map[string]int{many, {strings.Repeat("x", 8000): 1}, {"a b": 1}} {
		if got := encode("me", topics); !slices.Equal(got, []string{"me *"}) {
			t.Fatalf("%d parts", len(got))
		}
	}
	for _, p := range []string{"", "you *", "   "} {
		if _, _, all := decode(p); !all {
			t.Errorf("%q must wake everybody", p)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("me w:1:1:5*3 x*99999 y*-1 *")
	f.Fuzz(func(t *testing.T, payload string) {
		_, topics, _ := decode(payload)
		if len(topics) > maxCount*(len(payload)+1) {
			t.Fatalf("%d topics out of %d bytes", len(topics), len(payload))
		}
	})
}

// process is one service process: a hub and its notifier.
type process struct {
	*dispatch.Hub
	n    *Notifier
	stop func()
}

func start(t *testing.T, pool *pgxpool.Pool, dsn string) process {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	n := New(Config{Pool: pool, ListenDSN: dsn, Every: time.Millisecond})
	p := process{Hub: dispatch.New(n.Send), n: n}
	ready := p.Park("any")
	var running sync.WaitGroup
	running.Go(func() { n.Run(ctx, p.Hub) })
	p.stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(p.stop)
	if dsn != "" {
		receive(t, ready) // everybody is woken once it listens
	}
	ready.Close()
	return p
}

func receive(t *testing.T, w *dispatch.Waiter) {
	t.Helper()
	timer := time.NewTimer(20 * time.Second)
	defer timer.Stop()
	select {
	case <-w.C:
	case <-timer.C:
		t.Fatal("not woken")
	}
}

func TestNewsReachesOtherProcessesAndNotOneself(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	pool := open(t, dsn)
	here, there, deaf := start(t, pool, dsn), start(t, pool, dsn), start(t, pool, "")
	mine, theirs, second := here.Park("w:1:1:1"), there.Park("w:1:1:1"), there.Park("w:1:1:1")
	defer mine.Close()
	defer theirs.Close()
	defer second.Close()
	deaf.Wake([]string{"w:1:1:1", "w:1:1:1"})
	receive(t, mine)
	receive(t, theirs)
	receive(t, second)
	here.Wake([]string{"w:1:1:1"})
	receive(t, mine) // at once, locally
	receive(t, theirs)
	echo := here.Park("w:1:1:2")
	defer echo.Close()
	here.Wake([]string{"w:1:1:3"})
	deaf.Wake([]string{"w:1:1:2"})
	receive(t, echo)
	if heard := here.n.Stats().Heard; heard != 2 {
		t.Fatalf("here heard %d notifications, want the deaf one's two", heard)
	}
}

func TestManyWritesAreFewNotifications(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	pool := open(t, dsn)
	p := start(t, pool, "")
	other := start(t, pool, dsn)
	last := other.Park("last")
	defer last.Close()
	for i := range 5000 {
		p.Wake([]string{fmt.Sprint("w:1:1:", i%10)})
	}
	p.Wake([]string{"last"})
	receive(t, last)
	if sent := p.n.Stats().Sent; sent > 500 {
		t.Fatalf("%d notifications for 5001 changes", sent)
	}
}

func TestLostConnectionComesBackAndWakesEverybody(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	pool := open(t, dsn)
	p := start(t, pool, dsn)
	w := p.Park("w:1:1:1")
	defer w.Close()
	if _, err := pool.Exec(context.Background(), `select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and query = 'listen coord'`); err != nil {
		t.Fatal(err)
	}
	receive(t, w)
	if p.n.Stats().Reconnects != 1 {
		t.Fatalf("%+v", p.n.Stats())
	}
	start(t, pool, "").Wake([]string{"w:1:1:1"})
	receive(t, w)
}

// A flush that fails is tried again; nothing is forgotten, and Send never waits.
func TestOutageDelaysNews(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	pool := open(t, dsn)
	listener := start(t, pool, dsn)
	w := listener.Park("w:1:1:1")
	defer w.Close()
	away := true
	var mu sync.Mutex
	cfg := pool.Config().Copy()
	cfg.PrepareConn = nil
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		if away {
			away = false
			return nil, errors.New("away")
		}
		return dial(ctx, network, addr)
	}
	broken, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broken.Close)
	p := start(t, broken, "")
	p.Wake([]string{"w:1:1:1"})
	receive(t, w)
	if p.n.Stats().Failed == 0 {
		t.Fatal("the first flush should have failed")
	}
	p.stop()
}

func open(t *testing.T, dsn string) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = 3
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}
