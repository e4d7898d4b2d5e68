package apiserver

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/op"
	"github.com/agent-coordinator/agent-coordinator/internal/openapitest"
	"github.com/agent-coordinator/agent-coordinator/internal/ops"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// door sends requests to a running server.
type door struct {
	url    string
	client *http.Client
}

func newDoor(t testing.TB, url string) *door {
	t.Helper()
	tr := &http.Transport{MaxIdleConnsPerHost: 4}
	t.Cleanup(tr.CloseIdleConnections)
	return &door{url, &http.Client{Transport: tr}}
}

// send returns status and body of one request with the test key.
func (d *door) send(t testing.TB, method, path string, body []byte, headers ...string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, d.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", testKey)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := d.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, out
}

// routes are all routes of the catalogue, with parameters filled by value.
func routes(value string) (out []op.Route, defs []*op.Def) {
	for _, d := range ops.Catalogue(ops.Deps{}).Defs() {
		for _, r := range d.Routes {
			segs := strings.Split(r.Path, "/")
			for i, s := range segs {
				if s != "" && (s[0] == ':' || s[0] == '*') {
					segs[i] = value
				}
			}
			out, defs = append(out, op.Route{Method: r.Method, Path: strings.Join(segs, "/")}), append(defs, d)
		}
	}
	return out, defs
}

// mayTouch are calls for which an empty body is the ordinary request, and what they write.
var mayTouch = map[string]string{
	"/discovery/cleanup": "an administrator's call with its defaults; the audit trail says that it ran",
}

// TestEmptyProbes: clients find out what a server offers by posting an empty body with their key. The answer must be
// neither 401, 403, 404 nor 5xx, and nothing may change, whether the key is free or bound to an agent.
func TestEmptyProbes(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	d := newDoor(t, start(t, configured(t, dsn, map[string]string{
		"COORDINATION_API_KEYS":           testKey + ",bound",
		"COORDINATION_API_KEY_IDENTITIES": `{"bound":{"agent_id":"probe","agent_type":"t","scopes":["admin"]},"` + testKey + `":{"scopes":["admin"]}}`,
	})))
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `select coord.ensure_project('default')`); err != nil { // with its policies, as the first call would
		t.Fatal(err)
	}
	before := openapitest.Fingerprint(t, conn)
	all, _ := routes("x")
	for _, r := range all {
		if r.Method == http.MethodGet || r.Method == http.MethodDelete || strings.Contains(r.Path, "/x") {
			continue
		}
		for _, key := range []string{testKey, "bound"} {
			for _, body := range []string{"", "{}", `{"foo":1}`} {
				status, out := d.send(t, r.Method, r.Path, []byte(body), "X-API-Key", key)
				if status >= 500 || status == 401 || status == 403 || status == 404 {
					t.Errorf("%s %s %s as %s: %d %.200s", r.Method, r.Path, body, key, status, out)
				}
			}
		}
		after := openapitest.Fingerprint(t, conn)
		if after != before && mayTouch[r.Path] == "" {
			t.Errorf("%s %s: an empty body changed the database", r.Method, r.Path)
		}
		before = after
	}
}

// TestEveryRouteNeedsTheKey: with a wrong key every route of the catalogue answers 401, whatever else is wrong.
func TestEveryRouteNeedsTheKey(t *testing.T) {
	t.Parallel()
	d := newDoor(t, start(t, configured(t, pgtest.DSN(t), nil)))
	all, _ := routes("x")
	for _, r := range append(all, op.Route{Method: "POST", Path: "/mcp"}) {
		status, out := d.send(t, r.Method, r.Path, []byte(`{`), "X-API-Key", "wrong")
		if status != 401 {
			t.Errorf("%s %s: %d %.200s", r.Method, r.Path, status, out)
		}
	}
}
