package e2b

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// api is E2B's control plane, as its own SDK speaks to it.
type api struct {
	http *http.Client
	base string
	key  string
}

// created is a new sandbox.
type created struct {
	ID     string `json:"sandboxID"`
	Token  string `json:"envdAccessToken"`
	Domain string `json:"domain"`
}

// listed is a sandbox that runs.
type listed struct {
	ID       string            `json:"sandboxID"`
	Metadata map[string]string `json:"metadata"`
}

// spec is what a new sandbox shall be.
type spec struct {
	Template string            `json:"templateID"`
	Timeout  int               `json:"timeout"` // seconds; the service's own default is 15
	Metadata map[string]string `json:"metadata"`
	Internet bool              `json:"allow_internet_access"`
	Pause    bool              `json:"autoPause"` // false: it ends with its time
	Secure   bool              `json:"secure"`    // envd wants its token
}

// statusError is an answer that is none of the good ones.
type statusError struct {
	status int
	body   string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("E2B answered %d: %s", e.status, strings.TrimSpace(e.body))
}

const (
	callTimeout = 30 * time.Second
	maxWait     = 30 * time.Second // for a Retry-After
	maxTries    = 4
	maxReply    = 8 << 20
)

func (a *api) create(ctx context.Context, s spec) (created, error) {
	var out created
	err := a.call(ctx, http.MethodPost, "/v2/sandboxes", s, &out)
	if err == nil && out.ID == "" {
		err = errors.New("E2B named no sandbox")
	}
	return out, err
}

// list finds running sandboxes by one pair of their metadata, all pages of them.
func (a *api) list(ctx context.Context, key, value string) ([]listed, error) {
	var all []listed
	// As the SDK has it: both parts are encoded, then the pair as a query, then that as the parameter's value.
	pair := url.Values{url.PathEscape(key): {url.PathEscape(value)}}
	query := url.Values{"metadata": {pair.Encode()}, "limit": {"100"}}
	for {
		var page []listed
		next, err := a.page(ctx, "/v2/sandboxes?"+query.Encode(), &page)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if next == "" {
			return all, nil
		}
		query.Set("nextToken", next)
	}
}

// connect asks for a sandbox's access once more.
func (a *api) connect(ctx context.Context, id string, timeout time.Duration) (created, error) {
	var out created
	err := a.call(ctx, http.MethodPost, "/v2/sandboxes/"+url.PathEscape(id)+"/connect", map[string]int{"timeout": int(timeout.Seconds())}, &out)
	return out, err
}

// remove ends a sandbox; one that is gone is no error.
func (a *api) remove(ctx context.Context, id string) error {
	err := a.call(ctx, http.MethodDelete, "/sandboxes/"+url.PathEscape(id), nil, nil)
	if hasStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}

func hasStatus(err error, codes ...int) bool {
	var failed *statusError
	if !errors.As(err, &failed) {
		return false
	}
	for _, c := range codes {
		if failed.status == c {
			return true
		}
	}
	return false
}

func (a *api) call(ctx context.Context, method, path string, in, out any) error {
	_, err := a.send(ctx, method, path, in, out)
	return err
}

func (a *api) page(ctx context.Context, path string, out any) (next string, err error) {
	header, err := a.send(ctx, http.MethodGet, path, nil, out)
	return header.Get("x-next-token"), err
}

// send makes one call, again after 429 and 503 as often as the service asks for and we have patience.
func (a *api) send(ctx context.Context, method, path string, in, out any) (http.Header, error) {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return nil, err
		}
	}
	for try := 1; ; try++ {
		header, err := a.once(ctx, method, path, body, out)
		if !hasStatus(err, http.StatusTooManyRequests, http.StatusServiceUnavailable) || try == maxTries {
			return header, err
		}
		if !pause(ctx, retryAfter(header, try)) {
			return header, err
		}
	}
}

func (a *api) once(ctx context.Context, method, path string, body []byte, out any) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-API-KEY", a.key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := a.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return res.Header, err
	}
	if res.StatusCode >= 300 {
		return res.Header, &statusError{res.StatusCode, string(raw[:min(len(raw), 1000)])}
	}
	if out == nil {
		return res.Header, nil
	}
	return res.Header, json.Unmarshal(raw, out)
}

// retryAfter reads the header, seconds; without it the wait doubles from one second.
func retryAfter(h http.Header, try int) time.Duration {
	wait := time.Second << (try - 1)
	if n, err := strconv.Atoi(h.Get("Retry-After")); err == nil && n >= 0 {
		wait = time.Duration(n) * time.Second
	}
	return min(wait, maxWait)
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
