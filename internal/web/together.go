package web

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// atOnce bounds what one request asks the database at the same time, so that a page leaves connections to the agents.
const atOnce = 4

// together does what does not depend on each other at the same time, waits for all, and returns the first error in the
// order given. A panic in one of them is an error of this request.
func together(parts ...func() error) error {
	errs, free := make([]error, len(parts)), make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, part := range parts {
		free <- struct{}{}
		all.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					errs[i] = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
				}
				<-free
			}()
			errs[i] = part()
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// asks is an operation to be asked together with others, its reply going where to points.
func asks[T any](q *request, to *T, name string, args map[string]any) func() error {
	return func() (err error) {
		*to, err = ask[T](q, name, args)
		return err
	}
}

// timing is what a request spent its time on, shown by the browser's developer tools.
type timing struct {
	mu    sync.Mutex
	parts []string
}

func (t *timing) since(what string, from time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts = append(t.parts, fmt.Sprintf("%s;dur=%.1f", what, float64(time.Since(from).Microseconds())/1000))
}

// header is the value of Server-Timing, the whole first. Durations are in milliseconds.
func (t *timing) header(began time.Time) string {
	t.since("all", began)
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.parts, ", ")
}
