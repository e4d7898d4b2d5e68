package coord

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// claimMemo is what the database told a claimer about itself: the demand classes it may take, as of an epoch, and a
// digest of what it offers. coord.claim_work checks both and sends new ones when they no longer hold, so a stale memo
// costs time, never correctness.
type claimMemo struct {
	Classes []int32 `json:"classes"`
	Epoch   int32   `json:"epoch"`
	Caps    string  `json:"caps"`
}

// claimKey names a claimer: a session and the filter of its calls.
type claimKey struct {
	project, session int64
	types, tags      string // sorted, joined by NUL, after a leading NUL; empty: none given
}

func newClaimKey(c ident.Caller, in client.GetWork) claimKey {
	return claimKey{c.ProjectID, c.SessionID, joined(in.TaskTypes), joined(in.Tags)}
}

func joined(words []string) string {
	if len(words) == 0 {
		return ""
	}
	words = slices.Clone(words)
	slices.Sort(words)
	return "\x00" + strings.Join(slices.Compact(words), "\x00")
}

func (claimKey) list(words string) []string {
	if words == "" {
		return nil
	}
	return strings.Split(words[1:], "\x00")
}

// kind is a set of claimers that offer the same: they share their classes.
type kind struct {
	project int64
	caps    string
}

// group is what is known about a kind. ask serialises its questions to the database.
type group struct {
	memo claimMemo
	next *question
	ask  sync.Mutex
}

// question has not been put to the database yet: everybody who comes before it is shares its answer.
type question struct {
	done chan struct{}
	err  error
}

// claimCache remembers memos. The zero value is ready.
type claimCache struct {
	mu    sync.Mutex
	caps  map[claimKey]string
	kinds map[kind]*group
}

// group finds or makes the group of a claimer. The caller holds m.mu.
func (m *claimCache) group(project int64, caps string) *group {
	if m.caps == nil || len(m.caps) >= cacheSize || len(m.kinds) >= cacheSize {
		m.caps, m.kinds = map[claimKey]string{}, map[kind]*group{}
	}
	g := m.kinds[kind{project, caps}]
	if g == nil {
		g = &group{memo: claimMemo{Classes: []int32{}}}
		m.kinds[kind{project, caps}] = g
	}
	return g
}

func (m *claimCache) get(k claimKey) claimMemo {
	m.mu.Lock()
	defer m.mu.Unlock()
	if g := m.kinds[kind{k.project, m.caps[k]}]; g != nil {
		return g.memo
	}
	return claimMemo{Classes: []int32{}}
}

// put remembers a memo; grew tells that it has classes its kind did not have.
func (m *claimCache) put(k claimKey, memo claimMemo) (grew bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.group(k.project, memo.Caps)
	m.caps[k] = memo.Caps
	if g.memo.Epoch > memo.Epoch {
		return false
	}
	memo.Classes = append([]int32{}, memo.Classes...)
	grew = len(memo.Classes) > len(g.memo.Classes)
	g.memo = memo
	return grew
}

// join returns the next question about a claimer's kind; mine: the caller is the one to put it.
func (m *claimCache) join(k claimKey) (g *group, q *question, mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g = m.group(k.project, m.caps[k])
	if g.next != nil {
		return g, g.next, false
	}
	g.next = &question{done: make(chan struct{})}
	return g, g.next, true
}

// begin closes the question to latecomers.
func (m *claimCache) begin(g *group) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g.next = nil
}

// WorkTopics are what a waiting claimer parks on, as far as is known: its classes' lanes, and the news that there is
// a new class.
func (s *Store) WorkTopics(c ident.Caller, in client.GetWork) []string {
	memo := s.claims.get(newClaimKey(c, in))
	prefix := fmt.Sprintf("w:%d:%d:", c.ProjectID, WorkQueue)
	out := make([]string, 0, len(memo.Classes)+1)
	out = append(out, prefix+"+")
	for _, class := range memo.Classes {
		out = append(out, fmt.Sprint(prefix, class))
	}
	return out
}

// LearnWork asks which classes the claimer may take, after the news that there is a new one. Claimers that offer the
// same and ask at the same time share one question. grew is true for the one whose question found a new class for
// them: it should look for work, the others are woken by lane.
func (s *Store) LearnWork(ctx context.Context, c ident.Caller, in client.GetWork) (grew bool, err error) {
	key := newClaimKey(c, in)
	g, q, mine := s.claims.join(key)
	if !mine {
		select {
		case <-q.done:
			return false, q.err
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	defer close(q.done)
	g.ask.Lock() // for at most learnTimeout
	defer g.ask.Unlock()
	s.claims.begin(g)
	ask, cancel := context.WithTimeout(context.WithoutCancel(ctx), learnTimeout)
	defer cancel()
	var memo claimMemo
	memo, q.err = reply[claimMemo](ask, s, `select coord.work_classes($1, $2, $3, $4)`, c.ProjectID, c.SessionID, key.list(key.types), key.list(key.tags))
	if q.err != nil {
		return false, q.err
	}
	return s.claims.put(key, memo), nil
}

const learnTimeout = 5 * time.Second
