package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, h http.HandlerFunc) *chat.Webhook {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	w, err := chat.New(srv.URL+"/services/T000/SECRET", srv.Client())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestMessageIsSlackCompatible(t *testing.T) {
	t.Parallel()
	var got map[string]any
	w := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.URL.Path != "/services/T000/SECRET" {
			t.Errorf("%s %s %s", r.Method, r.URL, r.Header)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
	})
	err := w.Notify(t.Context(), gateway.Notification{Project: "shop", Title: "a <b> & c needs you", Text: "x > y", URL: "https://host/changesets/1"})
	if err != nil || len(got) != 1 || got["text"] != "[shop] *a &lt;b&gt; &amp; c needs you*\nx &gt; y\nhttps://host/changesets/1" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestWhatIsTriedAgain(t *testing.T) {
	t.Parallel()
	for code, gone := range map[int]bool{400: true, 413: true, 404: false, 429: false, 500: false, 302: false} {
		w := serve(t, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Location", "http://127.0.0.1:1/")
			rw.WriteHeader(code)
			_, _ = rw.Write([]byte("no_service"))
		})
		err := w.Notify(t.Context(), gateway.Notification{Title: "x"})
		if err == nil || errors.Is(err, gateway.ErrGone) != gone || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%d: %v", code, err)
		}
	}
}

func TestTheAddressIsASecret(t *testing.T) {
	t.Parallel()
	w, err := chat.New("http://127.0.0.1:1/services/SECRET", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []context.Context{t.Context(), ctx} {
		if err := w.Notify(c, gateway.Notification{Title: "x"}); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "ftp://x/y", "slack", "https://"} {
		if _, err := chat.New(bad, nil); err == nil || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	if got := chat.Text(gateway.Notification{Title: "t", Text: strings.Repeat("é", 10_000)}); len([]rune(got)) > 3100 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d runes", len([]rune(got)))
	}
}
