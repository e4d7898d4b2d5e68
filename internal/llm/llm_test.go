package llm_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSummarise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		answer  string
		want    string
		failure string
	}{
		"fine":     {200, `{"choices":[{"message":{"role":"assistant","content":" short \n"}}]}`, "short", ""},
		"refused":  {429, `{"error":"secret-key over quota"}`, "", "answered 429"},
		"empty":    {200, `{"choices":[]}`, "", "answered nothing"},
		"nonsense": {200, `<html>`, "", "not what the protocol says"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var in struct {
					Model     string `json:"model"`
					MaxTokens int    `json:"max_tokens"`
				}
				if json.NewDecoder(r.Body).Decode(&in) != nil || in.Model != "m" || in.MaxTokens != 50 || r.URL.Path != "/v1/chat/completions" ||
					r.Header.Get("Authorization") != "Bearer secret-key" {
					t.Errorf("%s %+v", r.URL.Path, in)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.answer))
			}))
			defer srv.Close()
			client := llm.New(srv.URL+"/v1/", "secret-key", "m")
			got, err := client.Summarise(t.Context(), "long", 50)
			if got != c.want || (err == nil) != (c.failure == "") {
				t.Fatalf("%q, %v", got, err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.failure) || strings.Contains(err.Error(), "secret-key")) {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := llm.New("http://127.0.0.1:1", "", "m").Summarise(t.Context(), "x", 5); err == nil {
		t.Error("nobody listens there")
	}
}
