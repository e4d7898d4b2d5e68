package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/executor"
)

// Whatever lines the CLI prints, the events that come of them can be posted and the turn ends.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"type":"system","subtype":"init","session_id":"x"}
{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"out"}],"is_error":true}]}}
{"type":"result","subtype":"success","result":"done"}`))
	f.Add([]byte(`{"type":"assistant","message":{"content":"plain"}}
not json
{"type":"result","is_error":true,"errors":["e"]}`))
	f.Add([]byte(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":null,"input":[1]}]}}`))
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{}`)
	}))
	f.Cleanup(service.Close)
	gw, err := executor.NewGateway(service.URL, "ses_1")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(gw.Close)
	f.Fuzz(func(t *testing.T, out []byte) {
		if bytes.Count(out, []byte("\n")) > 20 { // each line may be a call
			return
		}
		s := &session{gw: gw, log: io.Discard, prompt: "p", tools: map[string]toolUse{}}
		for line := range bytes.Lines(out) {
			if !s.line(t.Context(), line) {
				t.Fatalf("ended: %v", s.fatal)
			}
		}
		if s.result == nil {
			return
		}
		if s.result.text() == "" {
			t.Fatal("a result that says nothing")
		}
		if err := s.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
