// Package chat tells people through an outgoing webhook, in the form that Slack and what imitates it accept: a POST of
// {"text": …}. It is sent at least once: what was not answered with 2xx is sent again, and so may come twice.
package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
)

const (
	timeout = 15 * time.Second // of one message
	maxText = 3000             // characters; Slack cuts far above it, people read far below
	shown   = 300              // bytes of a refusal that are kept
)

// Webhook is the address of a channel. The address is a secret and stands in no error.
type Webhook struct {
	url  string
	http *http.Client
}

// New returns a webhook; address is http or https. A nil client is one that follows no redirects.
func New(address string, client *http.Client) (*Webhook, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the address of the channel is no http(s) URL")
	}
	if client == nil {
		client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return &Webhook{url: address, http: client}, nil
}

// Notify sends one message. ErrGone (wrapped): the message itself was refused, which no repetition changes. Any other
// error is worth another try.
func (w *Webhook) Notify(ctx context.Context, n gateway.Notification) error {
	body, err := json.Marshal(map[string]string{"text": Text(n)})
	if err != nil {
		return fmt.Errorf("%w: %w", gateway.ErrGone, err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address of the channel is no URL")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "agent-coordinator")
	res, err := w.http.Do(req)
	if err != nil {
		return fmt.Errorf("the channel cannot be reached: %w", withoutURL(err))
	}
	defer func() { _ = res.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(res.Body, shown)) // only to be shown
	switch {
	case res.StatusCode/100 == 2:
		return nil
	case res.StatusCode == http.StatusBadRequest || res.StatusCode == http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%w: the channel refused the message: %s: %s", gateway.ErrGone, res.Status, strings.TrimSpace(string(said)))
	}
	return fmt.Errorf("the channel answered %s: %s", res.Status, strings.TrimSpace(string(said)))
}

// withoutURL is what went wrong without the address.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Text is a notification as a message: what it is about in bold, what happened, where to look.
func Text(n gateway.Notification) string {
	var b strings.Builder
	if n.Project != "" {
		b.WriteString("[" + escape.Replace(n.Project) + "] ")
	}
	b.WriteString("*" + escape.Replace(n.Title) + "*")
	if n.Text != "" {
		text := []rune(n.Text)
		if len(text) > maxText {
			text = append(text[:maxText], '…')
		}
		b.WriteString("\n" + escape.Replace(string(text)))
	}
	if n.URL != "" {
		b.WriteString("\n" + n.URL)
	}
	return b.String()
}
