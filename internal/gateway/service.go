package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/loop"
)

// Place is an executor with how much of it this gateway may use.
type Place struct {
	executors.Executor
	Concurrency int           // runs at a time; 0: 4
	CheckEvery  time.Duration // how often a run is looked at without having been told of news; 0: 30 s
	Grace       time.Duration // given beyond a run's own timeout before the ladder gives it up; 0: 60 s
}

// Config is what a gateway works with. Store and Owner are needed; Forge, Source, Notifier and Redeliverer may be nil.
type Config struct {
	Store   *coord.Store
	Places  []Place
	Forge   Forge
	Source  Source
	Resend  Redeliverer
	Notify  Notifier
	Secrets []string // of the webhook: the current one, then the one before; none: nothing is accepted
	// Page is where a changeset can be looked at, such as https://host/changesets/; "" shows no link.
	Page    string
	Owner   string        // names this process among gateways of one database; "": made up
	Workers int           // deliveries and changesets worked on at a time; 0: 4
	Lease   time.Duration // how long a row stays this process's after its last sign of life; 0: 30 s
	Idle    time.Duration // how often a stage looks without having been told of news; 0: 2 s
	Queue   time.Duration // how long a run may wait for a gateway that can run it; 0: 2 h
	Blocked time.Duration // how long a changeset may stay blocked before it ends in error; 0: 24 h
	Report  func(name string, changed int, err error)
	Log     *slog.Logger
}

// Gateway is the running service. Its stages share nothing but the database.
type Gateway struct {
	cfg     Config
	store   *coord.Store
	log     *slog.Logger
	places  map[string]*Place
	big     *weights     // bodies in memory
	routed  atomic.Int64 // changes, by this process
	sending *weights     // large bodies on their way to the database
	stages  []*stage
	byName  map[string]*stage
	ladder  *ladder
	repos   remembered[coord.KnownRepository] // by remote
	resent  atomic.Int64                      // when deliveries were last asked for again
}

// New returns a gateway; nothing runs before Run.
func New(cfg Config) *Gateway {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Owner == "" {
		host, _ := os.Hostname() // a name without the host is one as well
		cfg.Owner = strings.Trim(host+"-"+randomWord(), "-")
	}
	cfg.Workers, cfg.Lease, cfg.Idle = or(cfg.Workers, 4), or(cfg.Lease, 30*time.Second), or(cfg.Idle, 2*time.Second)
	cfg.Queue, cfg.Blocked = or(cfg.Queue, 2*time.Hour), or(cfg.Blocked, 24*time.Hour)
	cfg.Secrets = slices.DeleteFunc(slices.Clone(cfg.Secrets), func(s string) bool { return strings.TrimSpace(s) == "" })
	g := &Gateway{cfg: cfg, store: cfg.Store, log: cfg.Log, places: map[string]*Place{}, big: newWeights(bodyBudget), sending: newWeights(1), byName: map[string]*stage{}}
	for i := range cfg.Places {
		p := cfg.Places[i]
		p.Concurrency, p.CheckEvery, p.Grace = or(p.Concurrency, 4), or(p.CheckEvery, 30*time.Second), or(p.Grace, time.Minute)
		g.places[p.Name()] = &p
	}
	g.ladder = newLadder(g)
	g.stage("inbox", "g:inbox", cfg.Idle, g.workInbox)
	g.stage("route", "g:route", cfg.Idle, g.routeSome)
	g.stage("runs", "g:runs", cfg.Idle, g.ladder.step)
	g.stage("outbox", "g:outbox", cfg.Idle, g.sendOutbox)
	g.stage("sweep", "", 10*time.Second, g.sweep)
	g.stage("tidy", "", time.Hour, g.tidy)
	if cfg.Resend != nil {
		g.stage("resend", "", time.Minute, g.resend)
	}
	return g
}

func or[T int | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

func randomWord() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Owner names this process among the gateways of one database.
func (g *Gateway) Owner() string { return g.cfg.Owner }

// Run works until ctx is done. What executors of this process run is then ended or left to the next lease.
func (g *Gateway) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range g.stages {
		group.Go(func() error { s.run(ctx); return nil })
	}
	group.Go(func() error { g.ladder.watch(ctx); return nil })
	return group.Wait()
}

// Hear is told of every topic that has news; "" means that anything may have.
func (g *Gateway) Hear(topic string) {
	for _, s := range g.stages {
		if s.topic != "" && (topic == s.topic || topic == "") {
			s.poke()
		}
	}
}

// stage is one loop over rows: it looks when it is told to, and now and then.
type stage struct {
	loop  loop.Loop
	topic string
	kick  chan struct{}
}

func (g *Gateway) stage(name, topic string, idle time.Duration, do func(context.Context) (int, error)) {
	s := &stage{
		topic: topic, kick: make(chan struct{}, 1),
		loop: loop.Loop{Name: "gateway_" + name, Every: idle, Timeout: 2 * time.Minute, Do: do, Report: g.cfg.Report, Log: g.log},
	}
	g.stages, g.byName[name] = append(g.stages, s), s
}

func (s *stage) poke() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// failurePause is how long a stage that failed waits before it looks again, doubled with every failure up to maxPause.
const (
	failurePause = 200 * time.Millisecond
	maxPause     = 15 * time.Second
)

func (s *stage) run(ctx context.Context) {
	failures := 0
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.kick:
		case <-timer.C:
		}
		pause := s.loop.Every
		for {
			changed, err := s.loop.RunOnce(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				if failures == 0 {
					s.loop.Log.WarnContext(ctx, "gateway stage failed; it is tried again", "loop", s.loop.Name, "err", err)
				}
				pause = min(failurePause<<min(failures, 8), maxPause)
				failures++
				break
			}
			failures = 0
			if changed == 0 {
				break
			}
		}
		timer.Reset(pause)
	}
}

// weights bounds how many bytes of bodies are in memory at once; who asks for much waits for the others.
type weights struct {
	mu   sync.Mutex
	free int64
	most int64
	wait []chan struct{}
}

func newWeights(most int64) *weights { return &weights{free: most, most: most} }

// take waits for n bytes (at most all of them) and returns how to give them back.
func (w *weights) take(ctx context.Context, n int64) (give func(), err error) {
	n = min(n, w.most)
	for {
		w.mu.Lock()
		if w.free >= n {
			w.free -= n
			w.mu.Unlock()
			return func() { w.give(n) }, nil
		}
		c := make(chan struct{})
		w.wait = append(w.wait, c)
		w.mu.Unlock()
		select {
		case <-c:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (w *weights) give(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free += n
	for _, c := range w.wait {
		close(c)
	}
	w.wait = nil
}
