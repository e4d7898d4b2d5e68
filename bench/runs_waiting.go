package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/dispatch"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/pgnotify"
)

const (
	parkedRunners = 1000
	statsSettle   = 11 * time.Second // idle server processes report their counters every ten seconds
	idleWindow    = 15 * time.Second // shorter than a poll
)

var waitersLine = regexp.MustCompile(`(?m)^coord_waiters (\d+)$`)

// parked waits until n calls are parked at the API.
func (r *rig) parked(ctx context.Context, n int) error { return r.parkedAt(ctx, r.api.addr, n) }

func (r *rig) parkedAt(ctx context.Context, addr string, n int) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		body, err := fetch(ctx, "http://"+addr+"/metrics")
		if err != nil {
			return err
		}
		if m := waitersLine.FindStringSubmatch(body); m != nil {
			if have, err := strconv.Atoi(m[1]); err == nil && have >= n {
				return nil
			}
		}
	}
	return fmt.Errorf("%d calls never parked", n)
}

func fetch(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return string(raw), err
}

// own is an API of its own on a database of its own, so that what it asks can be counted.
func (r *rig) own(ctx context.Context, name string, settings ...string) (*rig, *apiProcess, error) {
	dsn, err := r.copyDatabase(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	admin, err := pgx.Connect(ctx, r.pg.AdminDSN())
	if err != nil {
		return nil, nil, err
	}
	defer admin.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to send
	for _, set := range settings {
		if _, err := admin.Exec(ctx, "alter database "+name+" set "+set); err != nil {
			return nil, nil, err
		}
	}
	pool, err := coord.Open(ctx, dsn, 2)
	if err != nil {
		return nil, nil, err
	}
	defer pool.Close()
	store := coord.New(pool)
	c, err := store.Resolve(ctx, ident.Principal{Name: "bench", Scopes: []ident.Scope{ident.Admin}}, ident.Claim{Project: project}, false)
	if err != nil {
		return nil, nil, err
	}
	key, err := store.CreateKey(ctx, c, client.CreateKey{Name: "bench", Scopes: []string{"read", "write", "runner"}})
	if err != nil {
		return nil, nil, err
	}
	other := *r
	other.dsn, other.key, other.undo = dsn, key.Secret, nil
	other.api, err = other.serve(ctx)
	if err != nil {
		return nil, nil, err
	}
	r.undo = append(r.undo, other.api.stop)
	return &other, other.api, nil
}

// wait parks every runner of a fleet and leaves it there.
func (f *fleet) wait() (deliveries chan delivery) {
	deliveries = make(chan delivery, len(f.ids))
	for i := range f.ids {
		go func() {
			if d, err := f.poll(i); err == nil {
				deliveries <- d
			}
		}()
	}
	return deliveries
}

// wakes measures the way from a commit to one of 1,000 parked runners, quiet and under 16 writers.
func (r *rig) wakes(ctx context.Context) ([]Result, error) {
	var out []Result
	for _, writers := range []int{0, inserters} {
		sent, acked, err := r.wakeTimes(ctx, fmt.Sprintf("wake-%d", writers), parkedRunners, writers, 60*r.o.rounds)
		if err != nil {
			return nil, err
		}
		what := "POST acknowledged → runner has the bytes"
		if writers > 0 {
			what += fmt.Sprintf(", %d writers", writers)
		}
		p50, p99 := millis("G11", what+", p50", acked, 0.5), millis("G11", what+", p99", acked, 0.99)
		note := fmt.Sprintf("from sending the POST: p50 %.2f ms, p99 %.2f ms", millis("", "", sent, 0.5).Value, millis("", "", sent, 0.99).Value)
		out = append(out, p50.atMost(2, 0.3).with("%s", note), p99.atMost(20, 3))
	}
	return out, nil
}

var usesLine = regexp.MustCompile(`(?m)^coord_db_uses_total (\S+)$`)

// uses is how often an API took a connection out of its pool.
func uses(ctx context.Context, addr string) (float64, error) {
	body, err := fetch(ctx, "http://"+addr+"/metrics")
	if err != nil {
		return 0, err
	}
	m := usesLine.FindStringSubmatch(body)
	if m == nil {
		return 0, errors.New("the API does not count its statements")
	}
	return strconv.ParseFloat(m[1], 64)
}

// settled waits until an API asks its database no more than an idle one does. A poll is counted as waiting before its first
// look: that look is the poll's, not the waiting's.
func settled(ctx context.Context, addr string) error {
	for last := -1.0; ; {
		now, err := uses(ctx, addr)
		if err != nil || now-last < 3 {
			return err
		}
		last = now
		time.Sleep(500 * time.Millisecond)
	}
}

// idleRunners counts what the service asks the database while nothing happens, without runners and with 1,000 parked.
func (r *rig) idleRunners(ctx context.Context) ([]Result, error) {
	own, api, err := r.own(ctx, "idle")
	if err != nil {
		return nil, err
	}
	window := func() (float64, error) {
		before, err := uses(ctx, api.addr)
		if err != nil {
			return 0, err
		}
		time.Sleep(idleWindow)
		after, err := uses(ctx, api.addr)
		return (after - before) / idleWindow.Seconds(), err
	}
	r.say("G10: an idle server, alone")
	alone, err := window()
	if err != nil {
		return nil, err
	}
	f, err := own.newFleet(api.addr, "idle", parkedRunners)
	if err != nil {
		return nil, err
	}
	defer f.cut()
	began := time.Now()
	f.wait()
	if err := own.parkedAt(ctx, api.addr, parkedRunners); err != nil {
		return nil, err
	}
	if err := settled(ctx, api.addr); err != nil {
		return nil, err
	}
	parking := time.Since(began)
	r.say("G10: with 1,000 runners parked")
	with, err := window()
	if err != nil {
		return nil, err
	}
	res := Result{
		Goal: "G10", What: "statements/s that 1,000 waiting runners add", Value: max(0, with-alone), Unit: "1/s",
		Ours: &Figure{"with 1,000 runners", with, "1/s"}, Theirs: &Figure{"alone", alone, "1/s"},
	}
	return []Result{res.atMost(0.2, 0.05).with("in %s of their polls, which parked within %.1f s (over 14 s, renewals of 30-second polls fall into the window); alone are the sweeps of an idle server",
		idleWindow, parking.Seconds())}, nil
}

// herd counts how often the database is asked when one run arrives for 500 waiting runners.
func (r *rig) herd(ctx context.Context) ([]Result, error) {
	const n = 500
	own, api, err := r.own(ctx, "herd", "track_functions = 'pl'")
	if err != nil {
		return nil, err
	}
	f, err := own.newFleet(api.addr, "herd", n)
	if err != nil {
		return nil, err
	}
	defer f.cut()
	warm, err := dialWire(api.addr)
	if err != nil {
		return nil, err
	}
	defer warm.close()
	arrived := f.wait()
	if err := own.parkedAt(ctx, api.addr, n); err != nil {
		return nil, err
	}
	take := func() error {
		if _, err := own.post(warm, "herd"); err != nil {
			return err
		}
		select {
		case <-arrived:
			return nil
		case <-time.After(10 * time.Second):
			return errors.New("nobody got the run")
		}
	}
	if err := take(); err != nil { // the demands are new now: everybody looks once
		return nil, err
	}
	conn, err := pgx.Connect(ctx, own.dsn)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to send
	looks := func() (n float64, err error) {
		time.Sleep(statsSettle)
		err = conn.QueryRow(ctx, "select coalesce(sum(calls), 0) from pg_stat_user_functions where schemaname = 'coord' and funcname = 'poll_runner'").Scan(&n)
		return n, err
	}
	before, err := looks()
	if err != nil {
		return nil, err
	}
	if err := take(); err != nil {
		return nil, err
	}
	after, err := looks()
	if err != nil {
		return nil, err
	}
	res := Result{Goal: "G17", What: "claim statements for one run, 500 runners parked", Value: after - before, Unit: ""}
	return []Result{res.atMost(2, 1)}, nil
}

// parkedMemory measures resident memory per parked long-poll and per open WebSocket, of a server of its own.
func (r *rig) parkedMemory(ctx context.Context) ([]Result, error) {
	own, api, err := r.own(ctx, "parked")
	if err != nil {
		return nil, err
	}
	pid, err := pidOf(api.addr)
	if err != nil {
		return nil, err
	}
	f, err := own.newFleet(api.addr, "parked", parkedRunners)
	if err != nil {
		return nil, err
	}
	base, err := resident(pid)
	if err != nil {
		f.cut()
		return nil, err
	}
	f.wait()
	if err := own.parkedAt(ctx, api.addr, parkedRunners); err != nil {
		return nil, err
	}
	polls, err := resident(pid)
	if err != nil {
		return nil, err
	}
	f.cut()
	own2, api2, err := r.own(ctx, "sockets")
	if err != nil {
		return nil, err
	}
	pid2, err := pidOf(api2.addr)
	if err != nil {
		return nil, err
	}
	base2, err := resident(pid2)
	if err != nil {
		return nil, err
	}
	for range parkedRunners {
		ws, _, err := websocket.Dial(ctx, "ws://"+api2.addr+"/ws?api_key="+own2.key, nil)
		if err != nil {
			return nil, err
		}
		defer ws.CloseNow() //nolint:errcheck // the server goes first
		if _, _, err := ws.Read(ctx); err != nil {
			return nil, err
		}
	}
	sockets, err := resident(pid2)
	if err != nil {
		return nil, err
	}
	before, err := uses(ctx, api2.addr)
	if err != nil {
		return nil, err
	}
	time.Sleep(idleWindow)
	after, err := uses(ctx, api2.addr)
	if err != nil {
		return nil, err
	}
	line := func(what string, kb, floor, stretch float64) Result {
		return Result{Goal: "G14", What: what, Value: kb / parkedRunners, Unit: "KB"}.atMost(floor, stretch)
	}
	return []Result{
		line("resident memory per parked long-poll", polls-base, 25, 8).with("1,000 of them, connections open before"),
		line("resident memory per WebSocket", sockets-base2, 45, 12).with("1,000 of them, connection included; %.0f MB before", base2/1024),
		{Goal: "G14", What: "statements/s of a server with 1,000 idle WebSockets", Value: (after - before) / idleWindow.Seconds(), Unit: "1/s", Verdict: verdictInfo, Note: "the sweeps of an idle server are in it"},
	}, nil
}

// resident is a process's resident memory in KB.
func resident(pid int) (kb float64, err error) {
	time.Sleep(time.Second)
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			return strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 64)
		}
	}
	return 0, errors.New("the system does not tell resident memory")
}

// pidOf is the API process that was told to listen on an address.
func pidOf(addr string) (int, error) {
	found, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return 0, err
	}
	for _, path := range found {
		raw, err := os.ReadFile(path)
		if err == nil && strings.Contains("\x00"+string(raw), "\x00API_ADDR="+addr+"\x00") {
			return strconv.Atoi(filepath.Base(filepath.Dir(path)))
		}
	}
	return 0, fmt.Errorf("no process listens on %s", addr)
}

// wakeCost compares submitting with and without wake-ups: another process listens, and somebody waits there.
func (r *rig) wakeCost(ctx context.Context) ([]Result, error) {
	dsn, err := r.copyDatabase(ctx, "wakecost")
	if err != nil {
		return nil, err
	}
	here, err := coord.Open(ctx, dsn, queueConns)
	if err != nil {
		return nil, err
	}
	defer here.Close()
	there, err := coord.Open(ctx, dsn, 2)
	if err != nil {
		return nil, err
	}
	defer there.Close()
	listening, cancel := context.WithCancel(ctx)
	defer cancel()
	sender := pgnotify.New(pgnotify.Config{Pool: here, ListenDSN: dsn})
	hub := dispatch.New(sender.Send)
	go sender.Run(listening, hub)
	receiver := pgnotify.New(pgnotify.Config{Pool: there, ListenDSN: dsn})
	other := dispatch.New(nil)
	go receiver.Run(listening, other)
	quiet, loud := coord.New(here), coord.New(here)
	loud.WakeTo(hub)
	c, err := quiet.Resolve(ctx, ident.Principal{Name: "bench", Scopes: []ident.Scope{ident.Admin}}, ident.Claim{Project: project}, false)
	if err != nil {
		return nil, err
	}
	submit := func(s *coord.Store) func(context.Context, int) error {
		return func(ctx context.Context, _ int) error {
			_, err := s.SubmitWork(ctx, c, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "noop", Description: "bench"}})
			return err
		}
	}
	if err := submit(quiet)(ctx, 0); err != nil { // makes the lane
		return nil, err
	}
	waiter := other.Park(fmt.Sprintf("w:%d:1:1", c.ProjectID), fmt.Sprintf("r:%d:work", c.ProjectID))
	defer waiter.Close()
	var woken atomic.Int64
	go func() {
		for {
			select {
			case <-listening.Done():
				return
			case <-waiter.C:
				waiter.Why()
				woken.Add(1)
			}
		}
	}()
	d := time.Duration(r.o.seconds) * time.Second
	p, err := r.alternate(
		func() (float64, error) { rate, _, err := drive(ctx, d, inserters, submit(loud)); return rate, err },
		func() (float64, error) { rate, _, err := drive(ctx, d, inserters, submit(quiet)); return rate, err })
	if err != nil {
		return nil, err
	}
	if woken.Load() == 0 {
		return nil, errors.New("nobody was woken: this would measure nothing")
	}
	res := compare("G12", "submitting, 16 clients, one commit each", p, "with wake-ups", "without", "tasks/s")
	return []Result{res.atLeast(0.85, 0.97).with("another process listens and has a waiter, who was woken %d times", woken.Load())}, nil
}
