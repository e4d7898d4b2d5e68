package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/local"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// endpoint is the API that operations go to.
type endpoint struct {
	url, key string
	project  string // of calls that name none
	source   string // where it was found, for doctor
}

// endpoint finds the API: flags, environment, what `up` started. A key without an address goes with up's address.
func (a *app) endpoint() (endpoint, error) {
	e := endpoint{url: a.apiURL, key: a.apiKey, source: "--api-url"}
	if e.url == "" {
		e.url, e.source = a.Getenv("COORDINATION_API_URL"), "COORDINATION_API_URL"
	}
	if e.key == "" {
		e.key = a.Getenv("COORDINATION_API_KEY")
	}
	if e.url != "" {
		e.url = strings.TrimRight(e.url, "/")
		return e, nil
	}
	home, err := local.FindHome()
	if err != nil {
		return e, err
	}
	up, err := home.ReadUp()
	if errors.Is(err, fs.ErrNotExist) {
		return e, fault.New(client.CodeUnavailable, "no API to talk to", "nothing is up on this machine and no address was given",
			"start one with `coordctl up`, or name one with --api-url or COORDINATION_API_URL")
	}
	if err != nil {
		return e, err
	}
	e.url, e.project, e.source = up.APIURL, up.Project, "up.json"
	if e.key == "" {
		e.key = up.APIKey
	}
	return e, nil
}

const replyLimit = 64 << 20

// call runs an operation and returns the reply's bytes. Failures are faults.
func (a *app) call(ctx context.Context, d *op.Def, args map[string]any, requestKey string) ([]byte, error) {
	e, err := a.endpoint()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout+waitOf(args)+10*time.Second)
	defer cancel()
	agent := a.agentFor(d)
	if d.RefuseEmpty && len(args) == 0 && agent != "" {
		args = map[string]any{"agent_id": agent} // the API takes an empty body for a probe
	}
	req, err := newRequest(ctx, e.url, d, args)
	if err != nil {
		return nil, err
	}
	a.sign(req, e, agent)
	if requestKey != "" {
		req.Header.Set("Idempotency-Key", requestKey)
	}
	return send(req, e.url)
}

func send(req *http.Request, base string) ([]byte, error) {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fault.New(client.CodeUnavailable, "the API does not answer", cause(err),
			"check that it runs ("+base+"/live), or start it with `coordctl up`; this does not mean that there is no work or that a path is free")
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, replyLimit))
	if err != nil {
		return nil, fault.New(client.CodeUnavailable, "the reply broke off", cause(err), "look before you repeat: the change may have happened")
	}
	if res.StatusCode >= http.StatusBadRequest {
		return nil, decodeFault(res, raw)
	}
	return raw, nil
}

// cause is the last error of a chain: net/http wraps a refused connection in the whole address.
func cause(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}

func decodeFault(res *http.Response, raw []byte) error {
	var f fault.Error
	if json.Unmarshal(raw, &f) == nil && f.Code != "" {
		return &f
	}
	return fault.New(client.CodeInternal, "the API answered "+res.Status, fmt.Sprintf("%.300s", raw), "check that the address is an Agent Coordinator's")
}

func waitOf(args map[string]any) time.Duration {
	switch s := args["wait_seconds"].(type) {
	case int64:
		return time.Duration(s) * time.Second
	case float64:
		return time.Duration(s * float64(time.Second))
	}
	return 0
}

// newRequest puts arguments into the canonical route's path, then the query (GET, DELETE) or the body.
func newRequest(ctx context.Context, base string, d *op.Def, args map[string]any) (*http.Request, error) {
	route := d.Routes[0]
	rest := make(map[string]any, len(args))
	for k, v := range args {
		rest[k] = v
	}
	segments := strings.Split(route.Path, "/")
	for i, s := range segments {
		if s == "" || (s[0] != ':' && s[0] != '*') {
			continue
		}
		value, ok := rest[s[1:]]
		if !ok || fmt.Sprint(value) == "" {
			return nil, usagef("--%s is needed", flagName(s[1:]))
		}
		delete(rest, s[1:])
		segments[i] = url.PathEscape(fmt.Sprint(value))
		if s[0] == '*' {
			segments[i] = strings.ReplaceAll(segments[i], "%2F", "/")
		}
	}
	target := base + strings.Join(segments, "/")
	if route.Method == http.MethodGet || route.Method == http.MethodDelete {
		if q := query(rest); q != "" {
			target += "?" + q
		}
		return request(ctx, route.Method, target, nil)
	}
	body, err := json.Marshal(rest)
	if err != nil {
		return nil, usagef("the input cannot be sent: %w", err)
	}
	return request(ctx, route.Method, target, body)
}

func request(ctx context.Context, method, target string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, usagef("address of the API: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// query sends lists and objects as JSON, so that a comma in an element stays one.
func query(args map[string]any) string {
	q := url.Values{}
	for k, v := range args {
		switch v := v.(type) {
		case []string, []any, map[string]any:
			raw, _ := json.Marshal(v) // it came from JSON
			q.Set(k, string(raw))
		default:
			q.Set(k, fmt.Sprint(v))
		}
	}
	return q.Encode()
}

// agentFor is who to send: the default agent goes only with calls that act for one, since a key may be bound to another.
func (a *app) agentFor(d *op.Def) string {
	if d.Acts || a.who.agent != a.defaultAgent() {
		return a.who.agent
	}
	return ""
}

// sign adds key and identity.
func (a *app) sign(req *http.Request, e endpoint, agent string) {
	set := func(header, value string) {
		if value != "" {
			req.Header.Set(header, value)
		}
	}
	project := a.who.project
	if project == "" {
		project = e.project
	}
	set("X-API-Key", e.key)
	set("X-Project", project)
	set("X-Repository", a.who.repository)
	set("X-Session-Id", a.who.session)
	set("X-Agent-Type", a.who.agentType)
	set("X-Agent-Id", agent)
}
