package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// runGoals are about runs, runners and what waits for them.
var runGoals = []goal{
	{"G6", "insert, claim and complete beside River, in batches", (*rig).besideRiverBatch},
	{"G7", "the same, one call per insert", (*rig).besideRiverSingle},
	{"G9", "a claim while somebody holds an old snapshot", (*rig).heldSnapshot},
	{"G10", "statements while 1,000 runners wait", (*rig).idleRunners},
	{"G11", "from the commit to a waiting runner, 1,000 parked", (*rig).wakes},
	{"G12", "submitting with and without wake-ups", (*rig).wakeCost},
	{"G14", "memory of a parked long-poll and a WebSocket", (*rig).parkedMemory},
	{"G16", "a soak of minutes; only when it is named", (*rig).soak},
	{"G17", "one item for 500 waiting runners", (*rig).herd},
	{"RUNS", "from POST /runs to the runner, cycles, backlog", (*rig).runCycles},
}

// asked reports whether a goal was named; some take too long to be part of every run.
func (r *rig) asked(name string) bool { return r.o.deep || slices.Contains(r.o.only, name) }

// delivery is one answer to a poll that brought something.
type delivery struct {
	runner string
	run    string
	at     time.Time
	conn   *wire
}

// fleet is a number of registered runners, each with a connection.
type fleet struct {
	r     *rig
	addr  string
	ids   []string
	conns []*wire
}

// fleets counts them: a runner's host, folder and profile are its identity.
var fleets atomic.Int64

// newFleet registers n runners that take what names the profile.
func (r *rig) newFleet(addr, profile string, n int) (*fleet, error) {
	fleets.Add(1)
	f := &fleet{r: r, addr: addr, ids: make([]string, n), conns: make([]*wire, n)}
	for i := range n {
		conn, err := dialWire(addr)
		if err != nil {
			f.close()
			return nil, err
		}
		f.conns[i] = conn
		body := fmt.Sprintf(`{"hostname": "bench-%d-%d", "project_dir": "/bench", "executor_profile": %q}`, fleets.Load(), i, profile)
		if err := conn.do(r.call("POST", "/runner/register", body), []byte("runner_id")); err != nil {
			f.close()
			return nil, err
		}
		if f.ids[i], err = member(conn.body, "runner_id"); err != nil {
			f.close()
			return nil, err
		}
	}
	return f, nil
}

func (f *fleet) close() {
	for i, conn := range f.conns {
		if conn == nil {
			continue
		}
		if f.ids[i] != "" {
			_ = conn.do(f.r.call("DELETE", "/runners/"+f.ids[i]+"?self=true", ""), nil) // a parked connection is cut instead
		}
		conn.close()
	}
}

// cut ends connections at once, parked or not.
func (f *fleet) cut() {
	for _, conn := range f.conns {
		if conn != nil {
			conn.close()
		}
	}
	f.conns = nil
}

// call is a request of nobody in particular.
func (r *rig) call(method, path, body string) []byte {
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: %s\r\nX-Project: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, r.key, project, len(body), body)
}

// member reads one text out of a reply.
func member(body []byte, name string) (string, error) {
	var all map[string]any
	if err := json.Unmarshal(body, &all); err != nil {
		return "", err
	}
	text, ok := all[name].(string)
	if !ok {
		return "", fmt.Errorf("%w: no %s in %.200s", errRefused, name, body)
	}
	return text, nil
}

// poll waits on runner i's connection until there is a run.
func (f *fleet) poll(i int) (delivery, error) {
	req := f.r.call("GET", "/runner/runs?runner_id="+f.ids[i], "")
	for {
		status, err := f.conns[i].ask(req, time.Minute)
		at := time.Now()
		if err != nil {
			return delivery{}, err
		}
		if status == 204 {
			continue
		}
		var answer struct {
			Run struct {
				RunID string `json:"run_id"`
			} `json:"run"`
		}
		if err := json.Unmarshal(f.conns[i].body, &answer); err != nil || status != 200 || answer.Run.RunID == "" {
			return delivery{}, fmt.Errorf("%w: poll: %d %.200s", errRefused, status, f.conns[i].body)
		}
		return delivery{f.ids[i], answer.Run.RunID, at, f.conns[i]}, nil
	}
}

// report says what became of a delivered run, on the connection it came by.
func (d delivery) report(r *rig, kinds ...string) error {
	for _, kind := range kinds {
		if err := d.conn.do(r.call("POST", "/runner/runs/"+d.run+"/"+kind, fmt.Sprintf(`{"runner_id": %q}`, d.runner)), []byte(`"ok":true`)); err != nil {
			return err
		}
	}
	return nil
}

// runBody is a POST /runs for a profile.
func runBody(profile string) string {
	return fmt.Sprintf(`{"type": "start_session", "prompt": "bench", "additional_demands": {"executor_profile": %q}}`, profile)
}

// post creates a run and returns its id.
func (r *rig) post(conn *wire, profile string) (string, error) {
	if err := conn.do(r.call("POST", "/runs", runBody(profile)), []byte("run_id")); err != nil {
		return "", err
	}
	return member(conn.body, "run_id")
}

// runCycles measures the way of a run: to a waiting runner, round and round, and out of a backlog.
func (r *rig) runCycles(ctx context.Context) ([]Result, error) {
	var out []Result
	for _, writers := range []int{0, 16} {
		all, _, err := r.wakeTimes(ctx, "latency", 1, writers, 100*r.o.rounds)
		if err != nil {
			return nil, err
		}
		what := "POST /runs sent → runner has it, idle"
		if writers > 0 {
			what = fmt.Sprintf("the same under %d writers", writers)
		}
		out = append(out, millis("RUNS", what+", p50", all, 0.5), millis("RUNS", what+", p99", all, 0.99))
	}
	for _, n := range []int{1, 8, 64} {
		rate, err := r.closedLoop(ctx, n)
		if err != nil {
			return nil, err
		}
		out = append(out, Result{
			Goal: "RUNS", What: fmt.Sprintf("cycles, %d runners", n), Value: rate, Unit: "runs/s", Verdict: verdictInfo,
			Note: "post, poll, started, completed, each durable; a loop's next run follows its last",
		})
	}
	for _, n := range []int{1, 8, 64} {
		rate, err := r.drain(ctx, n, 300*r.o.seconds)
		if err != nil {
			return nil, err
		}
		out = append(out, Result{
			Goal: "RUNS", What: fmt.Sprintf("backlog, %d runners", n), Value: rate, Unit: "runs/s", Verdict: verdictInfo,
			Note: "poll, started, completed; the runs were posted before",
		})
	}
	return out, nil
}

// millis is one percentile as a line of its own.
func millis(goal, what string, times []time.Duration, p float64) Result {
	return Result{Goal: goal, What: what, Value: float64(percentile(slices.Clone(times), p).Microseconds()) / 1000, Unit: "ms", Verdict: verdictInfo}
}

// wakeTimes parks n runners and posts samples runs one after the other while writers keep committing. sent are the times
// from sending the POST to the runner having the run, acked those from the POST's reply (none: the runner was quicker).
func (r *rig) wakeTimes(ctx context.Context, profile string, n, writers, samples int) (sent, acked []time.Duration, err error) {
	f, err := r.newFleet(r.api.addr, profile, n)
	if err != nil {
		return nil, nil, err
	}
	defer f.cut()
	got := make(chan delivery, n)
	failed := make(chan error, n)
	for i := range n {
		go func() {
			for {
				d, err := f.poll(i)
				if err != nil {
					failed <- err
					return
				}
				got <- d
				if err := d.report(r, "completed"); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	if err := r.parked(ctx, n); err != nil {
		return nil, nil, err
	}
	poster, err := dialWire(r.api.addr)
	if err != nil {
		return nil, nil, err
	}
	defer poster.close()
	var stop func() error
	for i := range samples + 1 {
		if i < 2 { // the first looks of those that wait, and with the first run those at a new lane, are over then
			if err := settled(ctx, r.api.addr); err != nil {
				return nil, nil, err
			}
		}
		if i == 1 {
			stop = r.write(ctx, writers)
			defer func() { err = errors.Join(err, stop()) }()
		}
		start := time.Now()
		id, err := r.post(poster, profile)
		if err != nil {
			return nil, nil, err
		}
		ack := time.Now()
		select {
		case d := <-got:
			if d.run != id {
				return nil, nil, fmt.Errorf("runner got %s, posted %s", d.run, id)
			}
			if i > 0 {
				sent, acked = append(sent, d.at.Sub(start)), append(acked, max(0, d.at.Sub(ack)))
			}
		case err := <-failed:
			return nil, nil, err
		case <-time.After(10 * time.Second):
			return nil, nil, errors.New("a posted run reached no runner within ten seconds")
		}
		time.Sleep(2 * time.Millisecond) // its runner polls again
	}
	return sent, acked, nil
}

// write keeps n clients committing until the returned function is called.
func (r *rig) write(ctx context.Context, n int) (stop func() error) {
	if n == 0 {
		return func() error { return nil }
	}
	var done atomic.Bool
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			conn, err := dialWire(r.api.addr)
			if errs[i] = err; err != nil {
				return
			}
			defer conn.close()
			req := request("POST", "/work/submit", r.key, fmt.Sprintf("writer-%d", i), `{"task_type": "noise", "description": "bench"}`)
			for !done.Load() && ctx.Err() == nil && errs[i] == nil {
				errs[i] = conn.do(req, []byte(`"success":true`))
			}
		})
	}
	return func() error {
		done.Store(true)
		wg.Wait()
		return errors.Join(errs...)
	}
}

// closedLoop is n loops, each posting a run for its own runner and executing it. It returns runs per second.
func (r *rig) closedLoop(ctx context.Context, n int) (float64, error) {
	each := make([]*fleet, n)
	posters := make([]*wire, n)
	for i := range n {
		var err error
		if each[i], err = r.newFleet(r.api.addr, fmt.Sprintf("loop-%d", i), 1); err != nil {
			return 0, err
		}
		defer each[i].cut()
		if posters[i], err = dialWire(r.api.addr); err != nil {
			return 0, err
		}
		defer posters[i].close()
	}
	rate, _, err := drive(ctx, time.Duration(r.o.seconds*r.o.rounds)*time.Second, n, func(_ context.Context, i int) error {
		if _, err := r.post(posters[i], fmt.Sprintf("loop-%d", i)); err != nil {
			return err
		}
		d, err := each[i].poll(0)
		if err != nil {
			return err
		}
		return d.report(r, "started", "completed")
	})
	return rate, err
}

// drain posts total runs, then lets n runners execute them. It returns runs per second.
func (r *rig) drain(ctx context.Context, n, total int) (float64, error) {
	var posting sync.WaitGroup
	errs := make([]error, 8)
	for w := range errs {
		posting.Go(func() {
			conn, err := dialWire(r.api.addr)
			if errs[w] = err; err != nil {
				return
			}
			defer conn.close()
			for i := w; i < total && errs[w] == nil && ctx.Err() == nil; i += len(errs) {
				_, errs[w] = r.post(conn, "drain")
			}
		})
	}
	posting.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	f, err := r.newFleet(r.api.addr, "drain", n)
	if err != nil {
		return 0, err
	}
	var left atomic.Int64
	left.Store(int64(total))
	done := make(chan error, n)
	start := time.Now()
	for i := range n {
		go func() {
			for {
				d, err := f.poll(i)
				if err == nil {
					err = d.report(r, "started", "completed")
				}
				if now := left.Add(-1); err != nil || now <= 0 {
					done <- err
					return
				}
			}
		}()
	}
	err = <-done
	took := time.Since(start)
	f.cut() // the others wait in vain
	for range n - 1 {
		<-done
	}
	return float64(total) / took.Seconds(), err
}

// ask sends a request and reads its reply, which may have no body (204), within a time.
func (w *wire) ask(req []byte, within time.Duration) (status int, err error) {
	_ = w.conn.SetDeadline(time.Now().Add(within)) // a closed connection fails the write
	if _, err := w.conn.Write(req); err != nil {
		return 0, err
	}
	status, length, err := w.head()
	if status == 204 { // it has no length and needs none
		return status, nil
	}
	if err != nil {
		return status, err
	}
	w.body = slices.Grow(w.body[:0], length)[:length]
	_, err = io.ReadFull(w.in, w.body)
	return status, err
}
