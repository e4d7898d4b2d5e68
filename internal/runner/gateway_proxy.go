package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/jsoncall"
	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

const (
	maxGatewayBody  = 32 << 20         // bytes of one request of an executor
	gatewayPatience = 25 * time.Second // how long a coordinator that is away is waited for; executors give up at 30 s
	gatewayTimeout  = 30 * time.Second // of bind, events and metadata
)

// passed are the request headers that reach the coordinator; all others of an executor are dropped. The last ones are
// what MCP clients need.
var passed = []string{"Content-Type", "Accept", "Last-Event-Id", "Idempotency-Key", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"}

// openDoors opens the gateway and the MCP server on loopback. The returned function closes both.
func (r *Runner) openDoors(ctx context.Context) (func(), error) {
	var err error
	var lc net.ListenConfig
	if r.gateway, err = lc.Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if r.mcp, err = lc.Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(r.cfg.MCPPort)); err != nil {
		_ = r.gateway.Close()
		return nil, err
	}
	orchestrator, closeMCP := r.orchestrator()
	closeGateway := serve(r.gateway, r.gatewayHandler(), r.log("gateway"))
	closeServer := serve(r.mcp, orchestrator, r.log("mcp"))
	r.log("agent-runner").DebugContext(ctx, "Gateway on {gateway}, MCP server on {mcp}", "gateway", r.gateway.Addr(), "mcp", r.mcp.Addr())
	return func() {
		closeMCP()
		closeServer()
		closeGateway()
	}, nil
}

// serve runs a server on l until the returned function is called, which also cuts open connections.
func serve(l net.Listener, h http.Handler, log *slog.Logger) func() {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("The server ended: {err}", "err", err)
		}
	}()
	return func() {
		_ = srv.Close()
		<-done
	}
}

// gatewayURL is where the job's executor finds the coordinator. The token in it names the run, so that no other local
// process can speak for it.
func (r *Runner) gatewayURL(j *job) string {
	return "http://" + r.gateway.Addr().String() + "/r/" + j.token
}

// byToken splits /r/<token>/rest. It returns nil when the token is no living run's.
func (r *Runner) byToken(path string) (j *job, rest string) {
	token, rest, _ := strings.Cut(strings.TrimPrefix(path, "/r/"), "/")
	if !strings.HasPrefix(path, "/r/") || token == "" {
		return nil, ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tokens[token], "/" + rest
}

// gatewayHandler serves what executors call: /bind, /events and /metadata completed with what only the runner knows,
// everything else passed on to the coordinator with the runner's credentials. Executors cannot do the runner's own
// business (/runner/…, /runners).
func (r *Runner) gatewayHandler() http.Handler {
	proxy := r.passThrough()
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		j, path := r.byToken(req.URL.EscapedPath())
		if j == nil {
			refuse(w, http.StatusForbidden, "this gateway needs the URL that the executor was given, and its run must be running")
			return
		}
		req.Body = http.MaxBytesReader(w, req.Body, maxGatewayBody)
		if req.Header.Get("Traceparent") != "" { // the executor makes spans of its own
			req = req.WithContext(trace.Extract(req.Context(), req.Header))
		} else {
			req = req.WithContext(trace.Under(req.Context(), trace.Parent(j.ctx))) //nolint:contextcheck // only the name of the job's span is taken
		}
		route := req.Method + " " + path
		switch {
		case route == "POST /bind":
			r.enriched(w, req, j, "bind", func(body map[string]any) string {
				if s, _ := body["executor_session_id"].(string); s == "" {
					return "executor_session_id required"
				}
				delete(body, "session_id")
				body["hostname"], body["executor_profile"] = r.cfg.Hostname, r.cfg.Profile
				return ""
			})
		case route == "POST /events":
			r.enriched(w, req, j, "events", func(map[string]any) string { return "" })
		case route == "PATCH /metadata":
			r.enriched(w, req, j, "metadata", func(body map[string]any) string {
				delete(body, "session_id")
				return ""
			})
		case route == "POST /usage":
			r.usage(w, req, j)
		case !passable(path):
			refuse(w, http.StatusForbidden, "an executor may not act as the runner")
		default:
			proxy.ServeHTTP(w, req)
		}
	})
}

// passable reports whether the gateway passes the (escaped) path on. Dot segments and encoded slashes could name
// another path upstream than the one that was looked at here.
func passable(path string) bool {
	plain, err := url.PathUnescape(path)
	if err != nil || strings.Contains(strings.ToLower(path), "%2f") || strings.Contains(path, "//") {
		return false
	}
	for segment := range strings.SplitSeq(plain, "/") {
		if segment == "." || segment == ".." {
			return false
		}
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(plain, "/"), "/")
	return first != "runner" && first != "runners"
}

// enriched sends the body, changed by f, to the session's endpoint and the answer back. f returns what is missing.
func (r *Runner) enriched(w http.ResponseWriter, req *http.Request, j *job, endpoint string, f func(map[string]any) string) {
	if raw := r.complete(w, req, j, f); raw != nil {
		r.forward(w, req, j, "/sessions/"+url.PathEscape(j.SessionID)+"/"+endpoint, raw)
	}
}

// usage passes on what an executor says that its run used, as the use of that run: keys are the run's own.
func (r *Runner) usage(w http.ResponseWriter, req *http.Request, j *job) {
	raw := r.complete(w, req, j, func(body map[string]any) string {
		reports, _ := body["reports"].([]any)
		for _, x := range reports {
			report, ok := x.(map[string]any)
			key, _ := report["key"].(string)
			if !ok || key == "" {
				return "each of reports needs a key"
			}
			report["key"] = "run:" + j.RunID + ":" + key
			report["run_id"], report["session"], report["agent"], report["source"] = j.RunID, j.SessionID, agentID(j), "executor"
		}
		delete(body, "session_id")
		return ""
	})
	if raw != nil {
		r.forward(w, req, j, "/usage", raw)
	}
}

// complete reads the body of a call about the job's session, changed by f; nil: the call was refused.
func (r *Runner) complete(w http.ResponseWriter, req *http.Request, j *job, f func(map[string]any) string) []byte {
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "the request body is too large")
		return nil
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		refuse(w, http.StatusBadRequest, "Request body required")
		return nil
	}
	var body map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // large numbers in tool output pass unchanged
	if err := decoder.Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, "Invalid JSON: "+err.Error())
		return nil
	}
	session, _ := body["session_id"].(string)
	if session == "" {
		refuse(w, http.StatusBadRequest, "session_id required")
		return nil
	}
	if session != j.SessionID {
		refuse(w, http.StatusForbidden, "the session is not this run's")
		return nil
	}
	if missing := f(body); missing != "" {
		refuse(w, http.StatusBadRequest, missing)
		return nil
	}
	if raw, err = json.Marshal(body); err != nil {
		refuse(w, http.StatusBadRequest, "Invalid JSON: "+err.Error())
		return nil
	}
	return raw
}

// forward sends the request; while the coordinator is away it is repeated with the same request key, for at most
// gatewayPatience.
func (r *Runner) forward(w http.ResponseWriter, req *http.Request, j *job, path string, body []byte) {
	ctx, cancel := context.WithTimeout(req.Context(), gatewayTimeout)
	defer cancel()
	key, began, pause := randomToken(16), time.Now(), r.newBackoff()
	for {
		status, answer, err := r.forwardOnce(ctx, req.Method, j, path, key, body)
		away := err != nil || status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
		if away && time.Since(began) < gatewayPatience && pause.wait(ctx) {
			continue
		}
		if err != nil {
			refuse(w, http.StatusBadGateway, "the coordinator cannot be reached: "+err.Error())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(answer) // the executor went away
		return
	}
}

func (r *Runner) forwardOnce(ctx context.Context, method string, j *job, path, key string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.api.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	r.api.authorise(req.Header)
	trace.Inject(ctx, req.Header)
	return jsoncall.Do(r.api.http, req, maxReply)
}

// passThrough is the transparent part: any method and path, streams included. The coordinator learns the session that
// acts, so that locks and tasks taken through it are that session's.
func (r *Runner) passThrough() http.Handler {
	return &httputil.ReverseProxy{
		Transport: r.api.http.Transport, FlushInterval: -1,
		ErrorLog: slog.NewLogLogger(r.log("gateway").Handler(), slog.LevelDebug),
		Rewrite: func(p *httputil.ProxyRequest) {
			j, path := r.byToken(p.In.URL.EscapedPath())
			target, err := url.Parse(r.api.base + path)
			if err != nil || j == nil {
				target = &url.URL{} // the run ended meanwhile; the transport refuses it
			}
			target.RawQuery = p.In.URL.RawQuery
			p.Out.URL, p.Out.Host = target, target.Host
			p.Out.Header = http.Header{}
			for _, name := range passed {
				if v := p.In.Header.Values(name); len(v) > 0 {
					p.Out.Header[name] = v
				}
			}
			r.api.authorise(p.Out.Header)
			trace.Inject(p.In.Context(), p.Out.Header)
			if j != nil {
				r.api.in(j.Project).authorise(p.Out.Header)
				p.Out.Header.Set("X-Session-Id", j.SessionID)
				p.Out.Header.Set("X-Agent-Id", agentID(j))
			}
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			refuse(w, http.StatusBadGateway, "the coordinator cannot be reached: "+err.Error())
		},
	}
}

// agentID is whom a job acts for in the coordination tools: its agent, else the session itself.
func agentID(j *job) string { return cmp.Or(j.AgentName, j.SessionID) }

func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"detail": detail}) // the executor went away
}
