package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	defaultRetries  = 3                      // tries after the first
	defaultMaxReply = 32 << 20               // bytes
	defaultTimeout  = 30 * time.Second       // of a call whose context has no deadline, beyond its wait_seconds
	firstBackoff    = 100 * time.Millisecond // doubled with each try, with jitter
	maxBackoff      = 5 * time.Second
	maxRetryAfter   = 30 * time.Second // the longest Retry-After that is obeyed
)

// AgentCoordinationClient calls the HTTP API. It has one method for every operation of the service; the method's
// name is the operation's in CamelCase, its input and output are the wire structs of this package.
//
// Failures that the service answered, and a service that cannot be reached, are *Error; use errors.As. The code
// unavailable means "cannot tell", never "nothing there". A context that ends gives an error that wraps ctx.Err().
//
// A call that failed because the service was away or busy is repeated with growing pauses. Calls that change
// something carry an Idempotency-Key, the same for all tries, so a change happens once however often it is sent.
//
// It is safe for concurrent use.
type AgentCoordinationClient struct {
	base     string
	headers  http.Header
	http     *http.Client
	retries  int
	maxReply int64
	told     func(Notices)
}

// Option changes a client as it is made.
type Option func(*AgentCoordinationClient)

// WithAgent names the agent that calls. agentType may be empty. A key that is bound to an agent needs neither.
func WithAgent(id, agentType string) Option {
	return func(c *AgentCoordinationClient) {
		c.set("X-Agent-Id", id)
		c.set("X-Agent-Type", agentType)
	}
}

// WithSession names the session that calls; without it the agent's implicit session is meant.
func WithSession(id string) Option {
	return func(c *AgentCoordinationClient) { c.set("X-Session-Id", id) }
}

// WithProject names the project; without it the key's own is meant, else "default".
func WithProject(name string) Option {
	return func(c *AgentCoordinationClient) { c.set("X-Project", name) }
}

// WithRepository names the repository of the project that paths are in; without it its first.
func WithRepository(name string) Option {
	return func(c *AgentCoordinationClient) { c.set("X-Repository", name) }
}

// WithHTTPClient uses a copy of h, which keeps its transport. Redirects are never followed: they would carry the key
// to another host.
func WithHTTPClient(h *http.Client) Option {
	return func(c *AgentCoordinationClient) {
		own := *h
		c.http = &own
	}
}

// WithRetries sets how often a call is repeated after it failed because the service was away (3 unless set).
func WithRetries(n int) Option { return func(c *AgentCoordinationClient) { c.retries = max(n, 0) } }

// WithMaxReply sets the largest reply in bytes that is read (32 MiB unless set); a larger one is too_large.
func WithMaxReply(n int64) Option { return func(c *AgentCoordinationClient) { c.maxReply = n } }

// WithNotices hands the notices that come with replies to tell, on the goroutine of the call: lost locks, messages, tasks
// that became ready. Each is delivered once. Without it none are asked for, and they wait for another door.
func WithNotices(tell func(Notices)) Option {
	return func(c *AgentCoordinationClient) { c.told = tell }
}

// New returns a client of the service at baseURL, such as http://127.0.0.1:8765. An empty key is not sent.
func New(baseURL, apiKey string, opts ...Option) (*AgentCoordinationClient, error) {
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("the service's address %q is not like http://127.0.0.1:8765", baseURL)
	}
	u.RawQuery, u.Fragment = "", ""
	c := &AgentCoordinationClient{
		base: strings.TrimSuffix(u.String(), "/"), headers: http.Header{}, retries: defaultRetries, maxReply: defaultMaxReply,
	}
	c.set("X-Api-Key", apiKey)
	for _, o := range opts {
		o(c)
	}
	if c.told == nil {
		c.set("X-Notices", "none")
	}
	if c.http == nil {
		c.http = &http.Client{}
		if t, ok := http.DefaultTransport.(*http.Transport); ok {
			c.http.Transport = t.Clone()
		}
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// Close lets go of idle connections. The client may be used again.
func (c *AgentCoordinationClient) Close() { c.http.CloseIdleConnections() }

func (c *AgentCoordinationClient) set(header, value string) {
	if value == "" {
		c.headers.Del(header)
		return
	}
	c.headers.Set(header, value)
}

type requestKey struct{}

// WithRequestKey makes a changing call carry this Idempotency-Key (at most 255 characters) instead of a random one: a
// program that restarts can then repeat a call of its earlier life.
func WithRequestKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, requestKey{}, key)
}

// call does one operation. pattern is the operation's route; members named in it go into the path, the others into
// the query (GET, DELETE) or the body.
func call[Out any](ctx context.Context, c *AgentCoordinationClient, method, pattern string, in any) (Out, error) {
	var out Out
	key, _ := ctx.Value(requestKey{}).(string)
	if key == "" {
		key = randomKey()
	}
	target, body, wait, err := encode(method, pattern, in, key)
	if err != nil {
		return out, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultTimeout+wait)
		defer cancel()
	}
	for try := 0; ; try++ {
		reply, err := c.send(ctx, method, target, body, key)
		if err == nil {
			if err := json.Unmarshal(reply, &out); err != nil {
				return out, &Error{
					Type: "about:blank", Status: http.StatusOK, Code: CodeInternal, What: "the reply cannot be read: " + err.Error(),
					Next: "check that the address is that of the service, and the versions of both sides",
				}
			}
			c.tell(reply)
			return out, nil
		}
		if try >= c.retries || !again(err) {
			return out, err
		}
		if !pause(ctx, try, err) {
			if ctx.Err() != nil {
				err = fmt.Errorf("the call was given up: %w; the last try: %w", ctx.Err(), err)
			}
			return out, err
		}
	}
}

// tell hands on the notices of a reply.
func (c *AgentCoordinationClient) tell(reply []byte) {
	if c.told == nil || !bytes.Contains(reply, []byte(`"notices":[{`)) {
		return
	}
	var news struct {
		Notices []Notice `json:"notices"`
		More    int      `json:"notices_more"`
	}
	if json.Unmarshal(reply, &news) == nil && len(news.Notices) > 0 {
		c.told(Notices{Notices: news.Notices, More: news.More})
	}
}

// send does one try. The error is an *Error or wraps ctx.Err().
func (c *AgentCoordinationClient) send(ctx context.Context, method, target string, body []byte, key string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+target, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Type: "about:blank", Status: http.StatusUnprocessableEntity, Code: CodeInvalid, What: "the call has no valid address: " + err.Error()}
	}
	req.Header = c.headers.Clone()
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if method != http.MethodGet {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, away(ctx, err)
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(res.Body, c.maxReply+1))
	switch {
	case err != nil:
		return nil, away(ctx, err)
	case int64(len(reply)) > c.maxReply:
		return nil, &Error{Type: "about:blank", Status: res.StatusCode, Code: CodeTooLarge, What: fmt.Sprintf("the reply is larger than %d bytes", c.maxReply), Next: "ask for less: use limit"}
	case res.StatusCode == http.StatusNoContent:
		return []byte("{}"), nil
	case res.StatusCode >= 200 && res.StatusCode < 300:
		return reply, nil
	}
	return nil, failure(res, reply)
}

// encode splits the members of in over path, query and body. wait is its wait_seconds. A body that would be empty says
// the request key: the service takes an empty one for a probe and refuses it.
func encode(method, pattern string, in any, key string) (target string, body []byte, wait time.Duration, err error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return "", nil, 0, fmt.Errorf("the input is not JSON: %w", err)
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &members); err != nil {
		return "", nil, 0, fmt.Errorf("the input is no object: %w", err)
	}
	var seconds float64
	if json.Unmarshal(members["wait_seconds"], &seconds) == nil {
		wait = time.Duration(seconds * float64(time.Second))
	}
	segments := strings.Split(pattern, "/")
	for i, seg := range segments {
		if seg == "" || (seg[0] != ':' && seg[0] != '*') {
			continue
		}
		value := plain(members[seg[1:]])
		delete(members, seg[1:])
		if value == "" {
			return "", nil, 0, &Error{Type: "about:blank", Status: http.StatusUnprocessableEntity, Code: CodeInvalid, What: seg[1:] + " is needed", Field: seg[1:]}
		}
		parts := []string{value}
		if seg[0] == '*' {
			parts = strings.Split(value, "/")
		}
		for j := range parts {
			parts[j] = url.PathEscape(parts[j])
		}
		segments[i] = strings.Join(parts, "/")
	}
	target = strings.Join(segments, "/")
	if method == http.MethodGet || method == http.MethodDelete {
		query := url.Values{}
		for name, value := range members {
			query.Set(name, plain(value))
		}
		if len(query) > 0 {
			target += "?" + query.Encode()
		}
		return target, nil, wait, nil
	}
	if len(members) == 0 {
		members["request_key"], _ = json.Marshal(key) // a string always marshals
	}
	body, err = json.Marshal(members)
	return target, body, wait, err
}

// plain is a JSON value as a query says it: strings bare, all else as JSON.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// away is the error of a service that did not answer.
func away(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("the call was given up: %w", ctx.Err())
	}
	return &Error{
		Type: "about:blank", Title: http.StatusText(http.StatusServiceUnavailable), Status: http.StatusServiceUnavailable, Code: CodeUnavailable,
		What: "the service cannot be reached", Why: err.Error(), Next: "check that it runs (coordctl status) and try again; this does not mean that there is nothing", Retryable: true,
	}
}

// failure reads an answer that is not 2xx. Something in between (a proxy) may have sent what is no problem+json.
func failure(res *http.Response, reply []byte) *Error {
	e := &Error{}
	if json.Unmarshal(reply, e) == nil && e.Code != "" {
		if e.Status == 0 {
			e.Status = res.StatusCode
		}
		return e
	}
	e = &Error{Type: "about:blank", Title: http.StatusText(res.StatusCode), Status: res.StatusCode, Code: codeOf(res.StatusCode), What: "the service answered " + res.Status}
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		e.Why, e.Next = "it redirects to "+res.Header.Get("Location"), "use that address"
	}
	e.RetryAfter, _ = strconv.Atoi(res.Header.Get("Retry-After"))
	e.Retryable = e.Code == CodeUnavailable || e.Code == CodeExhausted
	return e
}

func codeOf(status int) Code {
	switch status {
	case http.StatusUnauthorized:
		return CodeUnauthenticated
	case http.StatusForbidden:
		return CodeForbidden
	case http.StatusNotFound:
		return CodeNotFound
	case http.StatusConflict:
		return CodeConflict
	case http.StatusGone:
		return CodeLeaseLost
	case http.StatusRequestEntityTooLarge:
		return CodeTooLarge
	case http.StatusTooManyRequests:
		return CodeExhausted
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return CodeUnavailable
	}
	if status >= 400 && status < 500 {
		return CodeInvalid
	}
	return CodeInternal
}

// again reports whether another try may help.
func again(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Retryable || e.Status >= 500)
}

// pause waits before the next try; false when the context ends first.
func pause(ctx context.Context, try int, err error) bool {
	d := min(firstBackoff<<min(try, 10), maxBackoff)
	if n, randErr := rand.Int(rand.Reader, big.NewInt(int64(d))); randErr == nil {
		d = d/2 + time.Duration(n.Int64())/2 // between half and all of it, so that clients do not return in step
	}
	var e *Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		d = max(d, min(time.Duration(e.RetryAfter)*time.Second, maxRetryAfter))
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func randomKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return hex.EncodeToString(b[:])
}
