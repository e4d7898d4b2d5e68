package web

import (
	"fmt"
	"net/http"
	"time"
)

const (
	newsEvery = time.Second     // at most one word of news
	beatEvery = 3 * time.Second // a sign of life; the page takes silence of 5 s for a lost connection
)

// live says that something changed. What changed the browser sees when it asks for its view again, so that an event that
// was missed costs nothing: the first thing every connection gets is news.
func (p *Page) live(w http.ResponseWriter, q *request) {
	flush := http.NewResponseController(w)
	_ = flush.SetWriteDeadline(time.Time{}) // not every server has one
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	news := make(chan struct{}, 1)
	if p.opts.Observe != nil {
		defer p.opts.Observe(func(string) {
			select {
			case news <- struct{}{}:
			default:
			}
		})()
	}
	say := func(event string) bool {
		_, err := fmt.Fprintf(w, "event: %s\ndata: %d\n\n", event, time.Now().UnixMilli())
		return err == nil && flush.Flush() == nil
	}
	if !say("news") {
		return
	}
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	var told time.Time
	for {
		select {
		case <-q.Context().Done():
			return
		case <-beat.C:
			if !say("beat") {
				return
			}
		case <-news:
			if wait := newsEvery - time.Since(told); wait > 0 {
				select {
				case <-q.Context().Done():
					return
				case <-time.After(wait):
				}
			}
			told = time.Now()
			if !say("news") {
				return
			}
		}
	}
}
