package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

const (
	maxReply      = 32 << 20         // bytes of an API reply that are read
	connectWithin = 5 * time.Second  // to reach the API
	replySlack    = 10 * time.Second // beyond an operation's own time limit
)

// Remote is an Invoker that calls the HTTP API. It is safe for concurrent use.
type Remote struct {
	base string
	key  string
	http *http.Client
}

// NewRemote returns an invoker for the API at base (scheme and host, perhaps a path). key may be empty.
func NewRemote(base, key string) (*Remote, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the API address must look like https://host:port")
	}
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: connectWithin, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: connectWithin, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
	}
	return &Remote{base: strings.TrimRight(base, "/"), key: key, http: &http.Client{Transport: t}}, nil
}

// Close gives up idle connections.
func (r *Remote) Close() { r.http.CloseIdleConnections() }

// Call implements Invoker. An API that cannot be reached, or that answers with something else than this API would, is
// unavailable: nobody can tell then whether a change was made, so retries need a request key.
func (r *Remote) Call(ctx context.Context, d *op.Def, q op.Request) (op.Response, error) {
	args := maps.Clone(q.Args)
	if args == nil {
		args = map[string]any{}
	}
	key, invalid := d.Check(args, &q.Claim)
	if invalid != nil {
		return op.Response{}, invalid
	}
	if d.RefuseEmpty && len(args) == 0 && q.Claim.Agent != "" {
		args["agent_id"] = q.Claim.Agent // the API takes an empty body for a probe
	}
	if len(d.Routes) == 0 {
		return op.Response{}, fault.New(client.CodeNotFound, d.Name+" is not served over HTTP", "", "use the database directly")
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout+waitSeconds(args)+replySlack)
	defer cancel()
	req, err := r.request(ctx, d.Routes[0], args)
	if err != nil {
		return op.Response{}, err
	}
	r.identify(req.Header, q.Claim)
	if q.RequestKey != "" {
		key = q.RequestKey
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if q.RequestID != "" {
		req.Header.Set("X-Request-Id", q.RequestID)
	}
	res, err := r.http.Do(req)
	if err != nil {
		return op.Response{}, r.unreachable(ctx, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return op.Response{}, r.unreachable(ctx, err)
	}
	if res.StatusCode >= http.StatusBadRequest {
		return op.Response{}, problem(res, body)
	}
	if !json.Valid(body) || len(bytes.TrimSpace(body)) == 0 || bytes.TrimSpace(body)[0] != '{' {
		return op.Response{}, notOurs(res.StatusCode)
	}
	return op.Response{
		Body: json.RawMessage(body), Replayed: res.Header.Get("Idempotency-Replayed") == "true",
		Caller: ident.Caller{Project: q.Claim.Project, Repository: q.Claim.Repository, Agent: q.Claim.Agent, AgentType: q.Claim.AgentType, Session: q.Claim.Session},
	}, nil
}

// request spells args as the route wants them: path parameters, then a query for GET, else a JSON body.
func (r *Remote) request(ctx context.Context, route op.Route, args map[string]any) (*http.Request, error) {
	segments := strings.Split(route.Path, "/")
	for i, s := range segments {
		if s == "" || s[0] != ':' && s[0] != '*' {
			continue
		}
		v, ok := args[s[1:]]
		if !ok {
			return nil, fault.Invalid(s[1:], s[1:]+" is needed", "send it")
		}
		delete(args, s[1:])
		text := fmt.Sprint(v)
		if s[0] == ':' {
			segments[i] = url.PathEscape(text)
			continue
		}
		parts := strings.Split(text, "/")
		for j := range parts {
			parts[j] = url.PathEscape(parts[j])
		}
		segments[i] = strings.Join(parts, "/")
	}
	target := r.base + strings.Join(segments, "/")
	if route.Method == http.MethodGet {
		if q := query(args); q != "" {
			target += "?" + q
		}
		return newRequest(ctx, route.Method, target, nil)
	}
	body, err := json.Marshal(args)
	if err != nil {
		return nil, fault.Invalid("", "the request cannot be written as JSON", "send plain values")
	}
	return newRequest(ctx, route.Method, target, body)
}

func newRequest(ctx context.Context, method, target string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, fault.Invalid("", "an argument cannot be part of an address", "remove control characters")
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// query writes lists and objects as JSON: a comma in a path must not become two paths.
func query(args map[string]any) string {
	q := url.Values{}
	for k, v := range args {
		switch x := v.(type) {
		case string:
			q.Set(k, x)
		case bool:
			q.Set(k, strconv.FormatBool(x))
		case float64:
			q.Set(k, strconv.FormatFloat(x, 'f', -1, 64))
		case nil:
		default:
			q.Set(k, string(compact(x)))
		}
	}
	return q.Encode()
}

func (r *Remote) identify(h http.Header, c ident.Claim) {
	if r.key != "" {
		h.Set("X-API-Key", r.key)
	}
	for name, v := range map[string]string{
		"X-Agent-Id": c.Agent, "X-Agent-Type": c.AgentType, "X-Session-Id": c.Session, "X-Project": c.Project, "X-Repository": c.Repository,
	} {
		if v != "" {
			h.Set(name, v)
		}
	}
}

// waitSeconds is the time a call asked to block.
func waitSeconds(args map[string]any) time.Duration {
	s, _ := args["wait_seconds"].(float64)
	return time.Duration(max(s, 0) * float64(time.Second))
}

func (r *Remote) unreachable(ctx context.Context, err error) error {
	why := "the connection failed"
	var timeout net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled
	case errors.As(err, &timeout) && timeout.Timeout():
		why = "it did not answer in time"
	}
	return fault.New(client.CodeUnavailable, "the coordinator at "+r.host()+" cannot be reached", why,
		"stop and retry in a moment; this does not mean that there is no work or that a path is free")
}

func (r *Remote) host() string {
	u, err := url.Parse(r.base)
	if err != nil {
		return "its address"
	}
	return u.Host
}

// problem reads a failure; one that is no problem document comes from something between us and the API.
func problem(res *http.Response, body []byte) error {
	var f fault.Error
	if json.Unmarshal(body, &f) == nil && f.Code != "" && f.What != "" {
		return &f
	}
	return notOurs(res.StatusCode)
}

func notOurs(status int) error {
	return fault.New(client.CodeUnavailable, fmt.Sprintf("the coordinator's address answered %d with something else than its API", status),
		"a proxy, or another program under this address", "check COORDINATION_API_URL; this does not mean that there is no work or that a path is free")
}
