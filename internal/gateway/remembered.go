package gateway

import (
	"context"
	"sync"
	"time"
)

const (
	rememberFor  = time.Minute
	rememberMost = 1000
)

// remembered keeps answers that seldom change, for a minute each. The zero value is ready.
type remembered[T any] struct {
	mu  sync.Mutex
	all map[string]answer[T]
}

type answer[T any] struct {
	value T
	until time.Time
}

// find returns the answer for key, from ask when it is not known. A failure is not remembered.
func (r *remembered[T]) find(ctx context.Context, key string, ask func(context.Context, string) (T, error)) (T, error) {
	r.mu.Lock()
	known, ok := r.all[key]
	r.mu.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.value, nil
	}
	value, err := ask(ctx, key)
	if err != nil {
		return value, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil || len(r.all) >= rememberMost {
		r.all = map[string]answer[T]{}
	}
	r.all[key] = answer[T]{value, time.Now().Add(rememberFor)}
	return value, nil
}
