package githubtest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // GitHub sends the old signature beside the new one
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
)

// Hook is a webhook of a repository, or of an App for all its repositories.
type Hook struct {
	ID     int64
	URL    string
	Secret string
	// Form sends application/x-www-form-urlencoded.
	Form bool
	// Lose makes deliveries fail without being sent, as a broken network does.
	Lose func(event, action string) bool

	repo       *Repo
	app        *App
	deliveries []*Delivery
}

// Delivery is one attempt at delivering an event.
type Delivery struct {
	ID         int64
	GUID       string
	Event      string
	Action     string
	At         time.Time
	StatusCode int // 0: no answer
	Redelivery bool
	payload    []byte
}

// AddHook sets up a repository's webhook.
func (r *Repo) AddHook(h Hook) *Hook {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	h.ID, h.repo = r.s.id(), r
	r.s.hooks = append(r.s.hooks, &h)
	return &h
}

// AddHook sets up an App's webhook.
func (a *App) AddHook(s *Server, h Hook) *Hook {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.ID, h.app = s.id(), a
	s.hooks = append(s.hooks, &h)
	return &h
}

// Deliveries returns the attempts so far, oldest first.
func (s *Server) Deliveries(h *Hook) []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Delivery, 0, len(h.deliveries))
	for _, d := range h.deliveries {
		out = append(out, *d)
	}
	return out
}

// Emit sends an event of the repository to every hook that hears it, and returns the answers' status codes; 0 where there
// was none. repository and sender are added.
func (r *Repo) Emit(event string, payload map[string]any) []int {
	s := r.s
	s.mu.Lock()
	full := object{"repository": r.eventObject(), "sender": userObject(r.Owner)}
	for k, v := range payload {
		full[k] = v
	}
	action, _ := full["action"].(string)
	type job struct {
		h *Hook
		d *Delivery
	}
	var jobs []job
	for _, h := range s.hooks {
		if h.repo != r && (h.app == nil || !h.app.covers(r)) {
			continue
		}
		if h.app != nil {
			full["installation"] = object{"id": h.app.InstallationID}
		}
		raw, err := json.Marshal(full)
		if err != nil {
			s.violate("payload of %s: %v", event, err)
			continue
		}
		d := &Delivery{ID: s.id(), GUID: guid(), Event: event, Action: action, payload: raw}
		jobs = append(jobs, job{h, d})
	}
	s.mu.Unlock()
	var codes []int
	for _, j := range jobs {
		codes = append(codes, s.deliver(j.h, j.d))
	}
	return codes
}

func (r *Repo) eventObject() object {
	o := r.restObject()
	o["pushed_at"], o["updated_at"] = time.Now().Unix(), stamp(time.Now())
	return o
}

// deliver makes one attempt.
func (s *Server) deliver(h *Hook, d *Delivery) int {
	d.At = time.Now()
	if h.Lose == nil || !h.Lose(d.Event, d.Action) {
		d.StatusCode = s.post(h, d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.deliveries = append(h.deliveries, d)
	return d.StatusCode
}

// Redelivered waits for the redeliveries that were asked for so far.
func (s *Server) Redelivered() { s.again.Wait() }

func (s *Server) post(h *Hook, d *Delivery) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // as github.com waits
	defer cancel()
	body, contentType := d.payload, "application/json"
	if h.Form {
		body, contentType = []byte("payload="+url.QueryEscape(string(d.payload))), "application/x-www-form-urlencoded"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return 0
	}
	old := hmac.New(sha1.New, []byte(h.Secret))
	old.Write(body)
	target, targetID := "repository", int64(0)
	if h.app != nil {
		target, targetID = "integration", h.app.ID
	} else {
		targetID = h.repo.ID
	}
	for k, v := range map[string]string{
		"Content-Type": contentType, "User-Agent": "GitHub-Hookshot/044aadd", "X-GitHub-Event": d.Event, "X-GitHub-Delivery": d.GUID,
		"X-GitHub-Hook-ID": strconv.FormatInt(h.ID, 10), "X-GitHub-Hook-Installation-Target-Type": target,
		"X-GitHub-Hook-Installation-Target-ID": strconv.FormatInt(targetID, 10),
		"X-Hub-Signature":                      "sha1=" + hex.EncodeToString(old.Sum(nil)), githubevent.SignatureHeader: githubevent.Sign(h.Secret, body),
	} {
		req.Header.Set(k, v)
	}
	resp, err := s.web.Client().Do(req)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

func guid() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (s *Server) hookHandlers() map[string]handler {
	ofRepo := func(c *call) *Hook {
		for _, h := range s.hooks {
			if h.repo == c.repo && strconv.FormatInt(h.ID, 10) == c.params["hook_id"] {
				return h
			}
		}
		return nil
	}
	ofApp := func(c *call) *Hook {
		for _, h := range s.hooks {
			if h.app != nil && h.app == c.who.app && c.who.kind == "app" {
				return h
			}
		}
		return nil
	}
	return map[string]handler{
		"GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries":                         func(c *call) reply { return s.listDeliveries(c, ofRepo(c)) },
		"GET /app/hook/deliveries":                                                     func(c *call) reply { return s.listDeliveries(c, ofApp(c)) },
		"POST /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts": func(c *call) reply { return s.redeliver(c, ofRepo(c)) },
		"POST /app/hook/deliveries/{delivery_id}/attempts":                             func(c *call) reply { return s.redeliver(c, ofApp(c)) },
	}
}

func (s *Server) listDeliveries(c *call, h *Hook) reply {
	if h == nil {
		return notFound()
	}
	q := c.URL.Query()
	size := max(1, min(atoi(q.Get("per_page"), 30), 100))
	from := atoi(q.Get("cursor"), 0)
	all := slices.Clone(h.deliveries)
	slices.Reverse(all) // newest first
	from = min(from, len(all))
	to := min(from+size, len(all))
	out := []any{}
	for _, d := range all[from:to] {
		status := "OK"
		if d.StatusCode/100 != 2 {
			status = "failed"
		}
		out = append(out, object{
			"id": d.ID, "guid": d.GUID, "event": d.Event, "action": orNil(d.Action), "delivered_at": stamp(d.At), "status": status, "status_code": d.StatusCode,
			"redelivery": d.Redelivery, "duration": 0.03, "installation_id": nil, "repository_id": nil,
		})
	}
	var header http.Header
	if to < len(all) {
		q.Set("cursor", strconv.Itoa(to))
		header = http.Header{"Link": {fmt.Sprintf(`<http://%s%s?%s>; rel="next"`, c.Host, c.URL.Path, q.Encode())}}
	}
	return reply{status: http.StatusOK, header: header, body: out}
}

func (s *Server) redeliver(c *call, h *Hook) reply {
	if h == nil {
		return notFound()
	}
	for _, d := range h.deliveries {
		if strconv.FormatInt(d.ID, 10) == c.params["delivery_id"] {
			again := &Delivery{ID: s.id(), GUID: d.GUID, Event: d.Event, Action: d.Action, Redelivery: true, payload: d.payload}
			s.again.Add(1)
			s.after(0, func() {
				defer s.again.Done()
				s.deliver(h, again)
			})
			return answer(http.StatusAccepted, object{})
		}
	}
	return notFound()
}
