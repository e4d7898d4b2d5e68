package httpapi

import (
	"strconv"
	"sync"
	"time"
)

// hints remember when each session was last asked for notices, so that an ordinary call costs no statement for
// them: a session is asked when its topic had news, else at most once per noticeAge.
type hints struct {
	mu    sync.Mutex
	asked map[string]time.Time
}

const (
	noticeAge  = 15 * time.Second // how late news from a process that did not tell may come
	hintsLimit = 20_000           // sessions remembered; a full map is emptied
)

func newHints() *hints { return &hints{asked: map[string]time.Time{}} }

// topicOf names a session's notices as internal/dispatch does.
func topicOf(project, session int64) string {
	b := make([]byte, 0, 32)
	b = append(b, "n:"...)
	b = strconv.AppendInt(b, project, 10)
	b = append(b, ':')
	return string(strconv.AppendInt(b, session, 10))
}

// note forgets that a topic's session was asked. The empty topic means that anything may have changed.
func (h *hints) note(topic string) {
	if topic != "" && (len(topic) < 2 || topic[:2] != "n:") {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if topic == "" {
		clear(h.asked)
		return
	}
	delete(h.asked, topic)
}

// due reports whether to ask for the session's notices now, and remembers that it was asked.
func (h *hints) due(project, session int64, now time.Time) bool {
	topic := topicOf(project, session)
	h.mu.Lock()
	defer h.mu.Unlock()
	if at, ok := h.asked[topic]; ok && now.Sub(at) < noticeAge {
		return false
	}
	if len(h.asked) >= hintsLimit {
		clear(h.asked)
	}
	h.asked[topic] = now
	return true
}
