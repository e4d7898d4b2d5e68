package jsoncall_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/jsoncall"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestACall(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, r.Method+" "+r.Header.Get("Content-Type")+" "+string(body))
	}))
	defer s.Close()
	defer s.Client().CloseIdleConnections()
	for _, tc := range []struct {
		in    any
		limit int64
		want  string
	}{
		{map[string]int{"a": 1}, 100, `POST application/json {"a":1}`},
		{nil, 100, "POST  "},
		{nil, 4, "POST"},
	} {
		req, err := jsoncall.Request(t.Context(), http.MethodPost, s.URL, tc.in)
		if err != nil {
			t.Fatal(err)
		}
		status, answer, err := jsoncall.Do(s.Client(), req, tc.limit)
		if err != nil || status != http.StatusTeapot || string(answer) != tc.want || jsoncall.Good(status) {
			t.Errorf("%d %q %v, want %q", status, answer, err, tc.want)
		}
	}
	if _, err := jsoncall.Request(t.Context(), http.MethodPost, s.URL, func() {}); err == nil {
		t.Error("what is no JSON was sent")
	}
}
