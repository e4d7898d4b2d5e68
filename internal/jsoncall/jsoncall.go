// Package jsoncall makes HTTP calls with JSON, for programs that know the coordinator by its wire only. It depends on
// the standard library alone and holds no policy: no retries, no credentials, no meaning of a status.
package jsoncall

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
)

// Request is a request with in as its JSON body; nil sends no body.
func Request(ctx context.Context, method, url string, in any) (*http.Request, error) {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err == nil && in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, err
}

// Do sends a request and reads at most limit bytes of its answer. Errors are those of net/http.
func Do(c *http.Client, req *http.Request, limit int64) (status int, answer []byte, err error) {
	res, err := c.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(res.Body, limit))
	return res.StatusCode, answer, err
}

// Good reports whether a status says that the call succeeded.
func Good(status int) bool { return status >= 200 && status <= 299 }
