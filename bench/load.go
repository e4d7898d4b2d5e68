package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// step is one request of a client's round and a part of its expected reply.
type step struct{ req, want []byte }

// httpLoad runs clients, each with a connection of its own, through their steps over and over for d. It returns rounds
// per second and the median time of a round.
func httpLoad(ctx context.Context, addr string, d time.Duration, clients [][]step) (perSecond float64, p50 time.Duration, err error) {
	conns := make([]*wire, len(clients))
	for i := range conns {
		if conns[i], err = dialWire(addr); err != nil {
			return 0, 0, err
		}
		defer conns[i].close()
	}
	return drive(ctx, d, len(clients), func(_ context.Context, client int) error {
		for _, s := range clients[client] {
			if err := conns[client].do(s.req, s.want); err != nil {
				return err
			}
		}
		return nil
	})
}

// drive runs fn in n goroutines over and over for d. Each calls it once before the clock starts.
func drive(ctx context.Context, d time.Duration, n int, fn func(ctx context.Context, client int) error) (perSecond float64, p50 time.Duration, err error) {
	var (
		ready, done sync.WaitGroup
		total       atomic.Int64
		begin       = make(chan struct{})
		stop        atomic.Bool
		errs        = make([]error, n)
		times       = make([][]time.Duration, n)
	)
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			errs[i] = fn(ctx, i)
			ready.Done()
			<-begin
			at := time.Now()
			for errs[i] == nil && !stop.Load() {
				if errs[i] = fn(ctx, i); errs[i] != nil {
					break
				}
				now := time.Now()
				times[i] = append(times[i], now.Sub(at))
				at = now
			}
			total.Add(int64(len(times[i])))
		})
	}
	ready.Wait()
	start := time.Now()
	close(begin)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	stop.Store(true)
	took := time.Since(start) // rounds that end later are counted: at most one per client
	done.Wait()
	if err := errors.Join(append(errs, context.Cause(ctx))...); err != nil {
		return 0, 0, fmt.Errorf("load: %w", err)
	}
	var all []time.Duration
	for _, t := range times {
		all = append(all, t...)
	}
	return float64(total.Load()) / took.Seconds(), percentile(all, 0.5), nil
}
