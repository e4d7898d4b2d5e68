package supa

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/internal/coord"
)

// Link is what one process uses of a Supabase project. The zero value uses nothing.
type Link struct {
	reader   *Reader
	realtime *Realtime
}

// Connect makes stores read lists through the project's Data API and, where the process cannot LISTEN, hub hear of
// changes through Realtime once Run runs. Without cfg.URL nothing is used.
func Connect(cfg Config, hub Hub, listens bool, stores ...*coord.Store) (*Link, error) {
	l := &Link{}
	if cfg.URL == "" {
		return l, nil
	}
	var err error
	if l.reader, err = NewReader(cfg); err != nil {
		return nil, err
	}
	for _, s := range stores {
		s.ReadWith(l.reader)
	}
	if !listens {
		l.realtime, err = NewRealtime(cfg, hub)
	}
	return l, err
}

// Run follows changes until ctx is done; it returns at once when that is not needed.
func (l *Link) Run(ctx context.Context) {
	if l.realtime != nil {
		l.realtime.Run(ctx)
	}
	if l.reader != nil {
		l.reader.Close()
	}
}

// Realtime returns the counters of the follower; ok is false when there is none.
func (l *Link) Realtime() (stats RealtimeStats, ok bool) {
	if l.realtime == nil {
		return stats, false
	}
	return l.realtime.Stats(), true
}
