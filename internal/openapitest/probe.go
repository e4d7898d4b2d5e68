package openapitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// Probe is what is asked of a server.
type Probe struct {
	URL, Key string
	Seed     uint64
	// Fitting requests of each operation; every mutation comes Mutated times.
	Fitting, Mutated int
	// State says what the server holds, so that refused requests can be seen to change nothing; nil: not looked at.
	State func() string
	// Skip names operations ("GET /ws") that are not asked.
	Skip []string
}

// streamTime is how long a reply may take that never ends by itself; its head is what counts.
const streamTime = 2 * time.Second

// Run asks everything, and reports through t: a reply of 5xx, one that the document does not describe, and one that
// refuses and yet changed something.
func (p Probe) Run(t *testing.T) {
	t.Helper()
	run := &run{Probe: p, t: t, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2}}, answers: map[int]int{}, kinds: map[string]int{}, accepted: map[string]bool{}}
	t.Cleanup(run.http.CloseIdleConnections)
	status, _, raw, err := run.send(Request{Operation: Operation{Method: http.MethodGet}, Target: "/openapi.json"})
	if err != nil || status != http.StatusOK {
		t.Fatalf("openapi.json: %d, %v", status, err)
	}
	if run.doc, err = Parse(raw); err != nil {
		t.Fatal(err)
	}
	run.gen = &generator{
		Rand: rand.New(rand.NewPCG(p.Seed, 1)), doc: run.doc, known: map[string][]any{}, //nolint:gosec // repeatable, not secret
		fixed: map[string]any{"agent_id": "probe", "wait_seconds": 0.0},
	}
	operations := run.asked()
	for range max(1, p.Fitting/2) { // things that exist, which later requests name
		for _, o := range operations {
			run.fitting(o)
		}
	}
	for _, o := range operations {
		run.mutated(o)
		for range p.Fitting / 2 {
			run.fitting(o)
		}
	}
	var never []string
	for _, o := range operations {
		if !run.accepted[o.Method+" "+o.Path] {
			never = append(never, o.Method+" "+o.Path)
		}
	}
	t.Logf("seed %d: %d operations, %d requests, answered %v; odd ones accepted: %v; no request accepted of %d operations: %v",
		p.Seed, len(operations), run.sent, run.answers, run.kinds, len(never), never)
}

type run struct {
	Probe
	t       *testing.T
	http    *http.Client
	doc     *Document
	gen     *generator
	sent    int
	answers map[int]int
	kinds   map[string]int // odd requests that were accepted

	accepted map[string]bool // operations of which some request was accepted
}

func (r *run) asked() []Operation {
	var out []Operation
	for _, o := range r.doc.Operations() {
		skip := false
		for _, s := range r.Skip {
			skip = skip || s == o.Method+" "+o.Path
		}
		if !skip {
			out = append(out, o)
		}
	}
	return out
}

func (r *run) fitting(o Operation) {
	d, _ := r.gen.draft(o)
	if status, _, body := r.ask(r.gen.finish(o, "fitting", d)); status < 300 {
		r.learn(o, body)
	}
}

func (r *run) mutated(o Operation) {
	var refused []Request
	for range r.Mutated {
		for _, m := range mutations {
			d, schemas := r.gen.draft(o)
			if !m.apply(r.gen, &d, schemas) {
				continue
			}
			request := r.gen.finish(o, m.kind, d)
			status, _, _ := r.ask(request)
			switch {
			case status == http.StatusForbidden, status == http.StatusPreconditionRequired:
				// The first is audited, the second waits for another person: both are written, as they must be.
			case status >= 400:
				refused = append(refused, request)
			case m.bad:
				r.t.Errorf("accepted with %d: %s", status, request)
			}
		}
	}
	r.harmless(refused)
}

// harmless asks again what was refused, and looks whether something changed; if so, one after the other, twice: the
// server's own loops change things, too, but a request that changes something does so each time.
func (r *run) harmless(refused []Request) {
	if r.State == nil {
		return
	}
	before := r.State()
	for _, request := range refused {
		r.ask(request)
	}
	if r.State() == before {
		return
	}
	for _, request := range refused {
		changed := 0
		for range 2 {
			before = r.State()
			if status, _, _ := r.ask(request); status >= 400 && r.State() != before {
				changed++
			}
		}
		if changed == 2 {
			r.t.Errorf("refused, and yet something changed: %s\n%s", request, firstDifference(before, r.State()))
		}
	}
}

func firstDifference(a, b string) string {
	old := strings.Split(a, "\n")
	for i, line := range strings.Split(b, "\n") {
		if i >= len(old) || old[i] != line {
			return line
		}
	}
	return ""
}

// ask sends a request and checks its reply.
func (r *run) ask(request Request) (int, string, []byte) {
	r.t.Helper()
	status, contentType, body, err := r.send(request)
	if err != nil {
		r.t.Errorf("no reply: %v: %s", err, request)
		return 599, "", nil
	}
	r.sent++
	r.answers[status]++
	if status < 400 {
		r.accepted[request.Operation.Method+" "+request.Operation.Path] = true
		if request.Kind != "fitting" {
			r.kinds[request.Kind]++
		}
	}
	if status >= 500 {
		r.t.Errorf("%d: %s\n%.500s", status, request, body)
		return status, contentType, body
	}
	if wrong := r.doc.Check(request.Operation, status, contentType, body); wrong != "" {
		r.t.Errorf("%d: %s: %s\n%.500s", status, wrong, request, body)
	}
	return status, contentType, body
}

func (r *run) send(request Request) (status int, contentType string, body []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, request.Operation.Method, r.URL+request.Target, bytes.NewReader(request.Body))
	if err != nil {
		return 0, "", nil, err
	}
	req.Header.Set("X-Api-Key", r.Key)
	for name, v := range request.Headers {
		req.Header[http.CanonicalHeaderKey(name)] = []string{v}
	}
	res, err := r.http.Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer res.Body.Close()
	contentType = res.Header.Get("Content-Type")
	if strings.HasPrefix(contentType, "text/event-stream") {
		stop := time.AfterFunc(streamTime, cancel)
		defer stop.Stop()
		head := make([]byte, 64)
		n, _ := res.Body.Read(head)
		return res.StatusCode, contentType, head[:n], nil
	}
	body, err = io.ReadAll(res.Body)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, "", nil, err
	}
	return res.StatusCode, contentType, body, nil
}

// remembered bounds the values that are kept of one member.
const remembered = 12

// learn keeps the ids and names of a reply.
func (r *run) learn(o Operation, body []byte) {
	var v any
	if json.Unmarshal(body, &v) == nil {
		r.gen.noun = o.noun()
		r.keep("", v)
	}
}

func (r *run) keep(name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			r.keep(k, v[k])
		}
	case []any:
		for _, x := range v[:min(len(v), 3)] {
			r.keep(strings.TrimSuffix(name, "s"), x)
		}
	case string:
		if v == "" || len(v) > 300 || !strings.HasSuffix(name, "id") && !strings.HasSuffix(name, "token") && name != "name" && name != "file_path" {
			return
		}
		if name == "id" {
			name = strings.TrimSuffix(r.gen.noun, "s") + "_id"
		}
		r.put(name, v)
		r.put(r.gen.noun+"."+name, v)
	case float64:
		if strings.HasSuffix(name, "token") {
			r.put(name, v)
		}
	}
}

// put adds a value to a pool, in place of any other one when it is full.
func (r *run) put(pool string, v any) {
	if list := r.gen.known[pool]; len(list) < remembered {
		r.gen.known[pool] = append(list, v)
	} else {
		list[r.gen.IntN(len(list))] = v
	}
}
