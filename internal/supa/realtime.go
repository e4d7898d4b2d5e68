package supa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/agent-coordinator/agent-coordinator/internal/loop"
)

// Hub is what changes are told to; *dispatch.Hub is one.
type Hub interface {
	Local(topics []string)
	Nudge(prefixes ...string)
	All()
}

// Realtime follows the tables of the publication supabase_realtime and makes waiting calls look when they change. It is
// for places where LISTEN is not to be had: hints are delivered at most once and only for rows that the key may see, so
// the slow re-checks stay as they are. After every (re)join everybody looks, since nobody knows what was missed.
type Realtime struct {
	cfg      Config
	address  url.URL
	hub      Hub
	every    time.Duration // heartbeat
	settle   time.Duration // how long changes are collected before they are told
	backoff  time.Duration
	arrays   bool // protocol 2.0.0, else 1.0.0; only Run's goroutine writes it
	known    bool // the server joined us by this protocol
	refs     atomic.Int64
	joined   atomic.Bool
	changes  atomic.Int64
	rejoined atomic.Int64
	renewed  atomic.Int64
}

// RealtimeStats are for the metrics.
type RealtimeStats struct {
	Joined     bool
	Changes    int64 // rows heard of since the start
	Reconnects int64 // times the channel was lost or not to be had
	Renewals   int64 // times a newer access token was sent
}

const (
	heartbeat      = 25 * time.Second
	settle         = 50 * time.Millisecond
	firstReconnect = 500 * time.Millisecond
	lastReconnect  = 30 * time.Second
	joinTimeout    = 10 * time.Second
	maxFrame       = 16 << 20 // bytes; a row comes whole
	channel        = "realtime:agent-coordinator"
	phoenix        = "phoenix"
	followedSchema = "public"
	itself         = "itself"
)

// followed are the tables whose changes somebody may wait for.
var followed = []string{"file_locks", "work_queue", "message_recipients", "sessions", "runs"}

// NewRealtime returns a follower; nothing is sent before Run.
func NewRealtime(cfg Config, hub Hub) (*Realtime, error) {
	u, err := cfg.base()
	if err != nil {
		return nil, err
	}
	u.Scheme = map[string]string{"https": "wss", "http": "ws"}[u.Scheme]
	u = u.JoinPath("realtime", "v1", "websocket")
	q := u.Query()
	q.Set("apikey", cfg.key())
	u.RawQuery = q.Encode()
	return &Realtime{cfg: cfg, address: *u, hub: hub, every: heartbeat, settle: settle, backoff: firstReconnect}, nil
}

// Stats returns the counters.
func (r *Realtime) Stats() RealtimeStats {
	return RealtimeStats{r.joined.Load(), r.changes.Load(), r.rejoined.Load(), r.renewed.Load()}
}

// Run follows until ctx is done. It outlives every outage.
func (r *Realtime) Run(ctx context.Context) {
	pause := r.backoff
	for ctx.Err() == nil {
		began := time.Now()
		err := r.session(ctx)
		if ctx.Err() != nil {
			r.joined.Store(false)
			return
		}
		if r.joined.Swap(false) {
			r.known = true
		} else if !r.known { // perhaps it speaks the other protocol
			r.arrays = !r.arrays
		}
		r.rejoined.Add(1)
		r.cfg.log().WarnContext(ctx, "Supabase Realtime is away; waiting calls look by themselves until it is back", "err", err)
		if time.Since(began) > lastReconnect {
			pause = r.backoff
		}
		if loop.Pause(ctx, pause+rand.N(pause)) != nil {
			return
		}
		pause = min(2*pause, lastReconnect)
	}
}

// message is one of Phoenix's: an object in protocol 1.0.0, an array in 2.0.0.
type message struct {
	JoinRef *string         `json:"join_ref,omitempty"`
	Ref     *string         `json:"ref"`
	Topic   string          `json:"topic"`
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
}

func (m *message) unmarshal(raw []byte) error {
	if len(raw) > 0 && raw[0] == '[' {
		return json.Unmarshal(raw, &[]any{&m.JoinRef, &m.Ref, &m.Topic, &m.Event, &m.Payload})
	}
	return json.Unmarshal(raw, m)
}

func (m message) marshal(arrays bool) ([]byte, error) {
	if arrays {
		return json.Marshal([]any{m.JoinRef, m.Ref, m.Topic, m.Event, m.Payload})
	}
	return json.Marshal(m)
}

// status is a reply's or a system message's.
type status struct {
	Status    string          `json:"status"`
	Extension string          `json:"extension"`
	Message   string          `json:"message"`
	Response  json.RawMessage `json:"response"`
}

var (
	errRejected = errors.New("the channel was refused")
	errClosed   = errors.New("the channel was closed by the server")
	errSilent   = errors.New("the server missed a heartbeat")
)

// session is one connection's life.
func (r *Realtime) session(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dial, done := context.WithTimeout(ctx, joinTimeout)
	defer done()
	conn, res, err := websocket.Dial(dial, r.endpoint(), nil) //nolint:bodyclose // websocket.Dial says: never needed
	if err != nil {
		if res != nil {
			return fmt.Errorf("the server answered %s", res.Status) // the error itself would show the address, and the key in it
		}
		return errors.New("the server cannot be reached")
	}
	defer conn.CloseNow() //nolint:errcheck // nothing is owed to the other side
	conn.SetReadLimit(maxFrame)
	joinRef, token, err := r.join(ctx, conn)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(nil)
	news := make(chan change, 256)
	beats := make(chan string, 1)
	wg.Go(func() { cancel(r.beat(ctx, conn, beats, joinRef, token)) })
	wg.Go(func() { r.tell(ctx, news) })
	late := time.AfterFunc(joinTimeout, func() {
		if !r.joined.Load() {
			cancel(fmt.Errorf("%w: no confirmation", errRejected))
		}
	})
	defer late.Stop()
	for {
		m, err := receive(ctx, conn)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		if err := r.take(ctx, m, joinRef, news, beats); err != nil {
			return err
		}
	}
}

// endpoint is the address with the key and the protocol's version; it is never shown.
func (r *Realtime) endpoint() string {
	u, q := r.address, r.address.Query()
	q.Set("vsn", map[bool]string{false: "1.0.0", true: "2.0.0"}[r.arrays])
	u.RawQuery = q.Encode()
	return u.String()
}

func receive(ctx context.Context, conn *websocket.Conn) (message, error) {
	var m message
	_, raw, err := conn.Read(ctx)
	if err != nil {
		return m, err
	}
	if err := m.unmarshal(raw); err != nil {
		return m, fmt.Errorf("a frame that is no Phoenix message: %w", err)
	}
	return m, nil
}

// send sends an event and returns its number. join is the number of the join that the event belongs to; itself for a join,
// empty for none.
func (r *Realtime) send(ctx context.Context, conn *websocket.Conn, topic, event string, payload any, join string) (string, error) {
	body, err := json.Marshal(payload)
	if err != nil {
		return "", err
	}
	ref := strconv.FormatInt(r.refs.Add(1), 10)
	m := message{Ref: &ref, Topic: topic, Event: event, Payload: body}
	switch join {
	case "":
	case itself:
		m.JoinRef = &ref
	default:
		m.JoinRef = &join
	}
	raw, err := m.marshal(r.arrays)
	if err != nil {
		return "", err
	}
	return ref, conn.Write(ctx, websocket.MessageText, raw)
}

// join asks for the changes of the followed tables.
func (r *Realtime) join(ctx context.Context, conn *websocket.Conn) (ref, token string, err error) {
	type wanted struct {
		Event  string `json:"event"`
		Schema string `json:"schema"`
		Table  string `json:"table"`
	}
	var all []wanted
	for _, t := range followed {
		all = append(all, wanted{"*", followedSchema, t})
	}
	payload := map[string]any{"config": map[string]any{
		"broadcast": map[string]any{"ack": false, "self": false}, "presence": map[string]any{"key": ""},
		"postgres_changes": all, "private": false,
	}}
	if token = r.cfg.token(); token != "" {
		payload["access_token"] = token
	}
	ref, err = r.send(ctx, conn, channel, "phx_join", payload, itself)
	return ref, token, err
}

// beat sends heartbeats; one that is not answered before the next is due ends the connection.
// With it goes a newer access token, if there is one, so that the channel outlives the one it was joined with.
func (r *Realtime) beat(ctx context.Context, conn *websocket.Conn, answered <-chan string, joinRef, token string) error {
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	waiting := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case ref := <-answered:
			if ref == waiting {
				waiting = ""
			}
		case <-tick.C:
			if waiting != "" {
				return errSilent
			}
			if now := r.cfg.token(); now != "" && now != token {
				if _, err := r.send(ctx, conn, channel, "access_token", map[string]string{"access_token": now}, joinRef); err != nil {
					return err
				}
				token = now
				r.renewed.Add(1)
			}
			ref, err := r.send(ctx, conn, phoenix, "heartbeat", struct{}{}, "")
			if err != nil {
				return err
			}
			waiting = ref
		}
	}
}

// take handles one message.
func (r *Realtime) take(ctx context.Context, m message, joinRef string, news chan<- change, beats chan<- string) error {
	switch {
	case m.Topic == phoenix && m.Event == "phx_reply" && m.Ref != nil:
		select {
		case beats <- *m.Ref:
		default:
		}
	case m.Topic != channel:
	case m.Event == "phx_error", m.Event == "phx_close":
		return errClosed
	case m.Event == "phx_reply" && m.Ref != nil && *m.Ref == joinRef:
		var s status
		if err := json.Unmarshal(m.Payload, &s); err != nil || s.Status != "ok" {
			return fmt.Errorf("%w: %.300s", errRejected, s.Response)
		}
	case m.Event == "system":
		var s status
		if err := json.Unmarshal(m.Payload, &s); err != nil || s.Extension != "postgres_changes" {
			return nil //nolint:nilerr // what others say is not ours to judge
		}
		if s.Status != "ok" {
			return fmt.Errorf("%w: %.300s", errRejected, s.Message)
		}
		r.joined.Store(true)
		r.hub.All()
	case m.Event == "postgres_changes":
		r.changes.Add(1)
		select {
		case news <- read(m.Payload):
		case <-ctx.Done():
		}
	}
	return nil
}

// change is a row of a table; project 0: unknown.
type change struct {
	table   string
	project int64
}

func read(payload json.RawMessage) change {
	type row struct {
		Project int64 `json:"project_id"`
	}
	var p struct {
		Data struct {
			Table  string `json:"table"`
			Record *row   `json:"record"`
			Old    *row   `json:"old_record"`
		} `json:"data"`
	}
	if json.Unmarshal(payload, &p) != nil {
		return change{}
	}
	c := change{table: p.Data.Table}
	for _, r := range []*row{p.Data.Record, p.Data.Old} {
		if r != nil && c.project == 0 {
			c.project = r.Project
		}
	}
	return c
}

// tell collects changes for a moment and passes them on.
func (r *Realtime) tell(ctx context.Context, news <-chan change) {
	for {
		var all []change
		select {
		case <-ctx.Done():
			return
		case c := <-news:
			all = append(all, c)
		}
		timer := time.NewTimer(r.settle)
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case c := <-news:
				if !slices.Contains(all, c) {
					all = append(all, c)
				}
			case <-timer.C:
				waiting = false
			}
		}
		r.hint(all)
	}
}

// hint says which topics the changes concern, see package dispatch.
func (r *Realtime) hint(all []change) {
	var topics, prefixes []string
	for _, c := range all {
		p := strconv.FormatInt(c.project, 10)
		switch {
		case c.project == 0 && c.table != "runs":
			r.hub.All()
			return
		case c.table == "file_locks":
			topics, prefixes = append(topics, "r:"+p+":locks"), append(prefixes, "l:"+p+":")
		case c.table == "work_queue":
			topics, prefixes = append(topics, "r:"+p+":work"), append(prefixes, "w:"+p+":")
		case c.table == "message_recipients":
			prefixes = append(prefixes, "n:"+p+":")
		case c.table == "sessions":
			topics = append(topics, "r:live")
		case c.table == "runs": // runners serve every project
			topics, prefixes = append(topics, "r:live"), append(prefixes, "w:0:", "u:")
		}
	}
	slices.Sort(topics)
	if topics = slices.Compact(topics); len(topics) > 0 {
		r.hub.Local(topics)
	}
	if len(prefixes) > 0 {
		r.hub.Nudge(prefixes...)
	}
}
