package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubevent"
	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

const (
	bodyBudget = 64 << 20         // bytes of bodies in memory at once
	largeBody  = 4 << 20          // what it takes goes back to the system at once
	readTime   = 20 * time.Second // for a body to arrive
	storeTime  = 8 * time.Second  // GitHub gives up after 10 s; then it is better to have said so
	sourceName = "github"         // of deliveries
	minWeight  = int64(64 << 10)  // what a small body counts as

	traceHeader = "traceparent" // of a delivery: the span of the request that brought it, not one that the sender named
)

// Accepted is the reply to a delivery: it is stored, and will be worked on.
type Accepted struct {
	Delivery  string `json:"delivery_id"`
	Duplicate bool   `json:"duplicate"` // it was stored before
}

// ReceiveGitHub serves POST /webhook/github: signature first, then the durable inbox, then 202. Nothing else happens before
// the answer. Without a secret, or without the database, it answers 503, so that GitHub marks the delivery as failed.
func (g *Gateway) ReceiveGitHub(r *http.Request) (status int, reply any, err error) {
	if len(g.cfg.Secrets) == 0 {
		f := fault.New(client.CodeUnavailable, "webhooks are not accepted", "no secret is configured to check their signatures with",
			"set GITHUB_WEBHOOK_SECRET to the secret of the hook and start the gateway again")
		return 0, nil, f
	}
	if r.ContentLength > githubevent.MaxBody {
		return 0, nil, tooLarge()
	}
	weight := r.ContentLength
	if weight < 0 {
		weight = githubevent.MaxBody
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTime)
	defer cancel()
	give, err := g.big.take(ctx, max(weight, minWeight))
	if err != nil {
		return 0, nil, fault.Unavailable(errors.New("too many large deliveries at once"))
	}
	release := give
	defer func() {
		if weight >= largeBody {
			// The next one needs as much: without this, the process would grow by several bodies before memory that nobody
			// uses is taken up again, and would keep what it once had.
			debug.FreeOSMemory()
		}
		release()
	}()
	body, err := readBody(r)
	if err != nil {
		return 0, nil, err
	}
	if err := githubevent.Verify(r.Header, body, g.cfg.Secrets...); err != nil {
		return 0, nil, fault.New(client.CodeUnauthenticated, "the delivery is not signed by a secret known here", err.Error(),
			"give the hook the secret of GITHUB_WEBHOOK_SECRET; only X-Hub-Signature-256 counts")
	}
	envelope, err := githubevent.ReadEnvelope(r.Header)
	if err != nil {
		return 0, nil, badRequest(http.StatusBadRequest, err)
	}
	if _, err := githubevent.Payload(r.Header.Get("Content-Type"), body); err != nil {
		if errors.Is(err, githubevent.ErrContentType) {
			return 0, nil, badRequest(http.StatusUnsupportedMediaType, err)
		}
		return 0, nil, badRequest(http.StatusBadRequest, err)
	}
	ctx, cancel = context.WithTimeout(r.Context(), storeTime)
	defer cancel()
	headers := map[string]string{
		"Content-Type": r.Header.Get("Content-Type"), "X-GitHub-Hook-ID": envelope.HookID,
		"X-GitHub-Hook-Installation-Target-Type": envelope.TargetType, "X-GitHub-Hook-Installation-Target-ID": envelope.TargetID,
	}
	if parent := trace.Parent(ctx); parent != "" {
		headers[traceHeader] = parent
	}
	// The driver's message holds a body once more while it is on its way: of large ones, one at a time.
	done, err := g.sending.take(ctx, storing(len(body)))
	if err != nil {
		return 0, nil, fault.Unavailable(errors.New("the delivery could not be stored in time"))
	}
	release = func() { done(); give() }
	duplicate, err := g.store.StoreDelivery(ctx, coord.Delivery{
		Source: sourceName, DeliveryID: envelope.Delivery, Event: envelope.Event, Body: body, Headers: headers,
	})
	if err != nil {
		return 0, nil, fault.Unavailable(errors.New("the delivery could not be stored"))
	}
	return http.StatusAccepted, Accepted{Delivery: envelope.Delivery, Duplicate: duplicate}, nil
}

// storing is what a body counts as while it is stored: a small one as nothing, a large one as all.
func storing(n int) int64 {
	if n < largeBody {
		return 0
	}
	return 1
}

// readBody reads a body into memory of its own size, so that a large one is held once.
func readBody(r *http.Request) ([]byte, error) {
	limited := http.MaxBytesReader(nil, r.Body, githubevent.MaxBody)
	var body []byte
	var err error
	if n := r.ContentLength; n >= 0 {
		body = make([]byte, n)
		_, err = io.ReadFull(limited, body)
	} else {
		body, err = io.ReadAll(limited)
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, tooLarge()
	case err != nil:
		return nil, badRequest(http.StatusBadRequest, errors.New("the body broke off"))
	}
	return body, nil
}

func tooLarge() *fault.Error {
	return fault.New(client.CodeTooLarge, "the delivery is larger than 25 MiB", "GitHub itself sends none larger", "")
}

func badRequest(status int, err error) *fault.Error {
	f := fault.New(client.CodeInvalid, err.Error(), "", "")
	f.Status, f.Title = status, http.StatusText(status)
	return f
}
