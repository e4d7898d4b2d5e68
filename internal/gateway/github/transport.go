package github

import (
	"bytes"
	"context"
	"io"
	"net/http"
)

// timed bounds every call, the reading of its answer included. http.Client's own timeout would keep a goroutine for each
// answer that the library reads to the end and does not close, as it does with errors.
type timed struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t timed) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), callTimeout)
	resp, err := t.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &bounded{resp.Body, cancel}
	return resp, nil
}

// bounded frees the timer once the body has ended.
type bounded struct {
	body   io.ReadCloser
	cancel context.CancelFunc
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if err != nil {
		b.cancel()
	}
	return n, err
}

// Close implements io.Closer.
func (b *bounded) Close() error {
	defer b.cancel()
	return b.body.Close()
}

// bearer adds the token, to the API's own requests only: redirects to storage go without it.
type bearer struct {
	next  http.RoundTripper
	token string
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Response != nil && req.Response.Request != nil && req.URL.Host != req.Response.Request.URL.Host {
		return b.next.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(req)
}

// closing reads bodies of errors into memory: the App library forgets to close them.
type closing struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t closing) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err != nil || resp.StatusCode/100 == 2 {
		return resp, err
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(raw))
	return resp, nil
}
