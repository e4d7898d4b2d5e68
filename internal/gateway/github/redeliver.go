package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	gh "github.com/google/go-github/v88/github"
)

const (
	// maxAttempts bounds how often one delivery is asked for again: what we refuse every time is not worth more.
	maxAttempts = 5
	// maxDeliveries bounds how many deliveries of one hook are looked at in a sweep.
	maxDeliveries = 5000
)

// Redeliver implements gateway.Redeliverer: of every known hook it lists the deliveries since then, and asks GitHub to
// send those again of which no attempt was answered with success. The sender keeps the delivery's id, so one that did
// arrive after all is recognised. GitHub keeps deliveries for three days.
func (c *Client) Redeliver(ctx context.Context, since time.Time) (int, error) {
	c.mu.Lock()
	hooks := make([]Hook, 0, len(c.hooks))
	for h := range c.hooks {
		hooks = append(hooks, h)
	}
	c.mu.Unlock()
	total := 0
	var failed []error
	for _, h := range hooks {
		n, err := c.redeliverHook(ctx, h, since)
		total += n
		if err != nil {
			failed = append(failed, fmt.Errorf("deliveries of hook %d of %s: %w", h.ID, h.Repository, classify(err)))
		}
	}
	if c.app != nil {
		n, err := redeliver(ctx, since, c.app.Apps.ListHookDeliveries, func(ctx context.Context, id int64) error {
			_, _, err := c.app.Apps.RedeliverHookDelivery(ctx, id)
			return err
		})
		total += n
		if err != nil {
			failed = append(failed, fmt.Errorf("deliveries of the GitHub App's hook: %w", classify(err)))
		}
	}
	return total, errors.Join(failed...)
}

func (c *Client) redeliverHook(ctx context.Context, h Hook, since time.Time) (int, error) {
	client, owner, name, err := c.at(ctx, h.Repository)
	if err != nil {
		return 0, err
	}
	return redeliver(ctx, since, func(ctx context.Context, opts *gh.ListCursorOptions) ([]*gh.HookDelivery, *gh.Response, error) {
		return client.Repositories.ListHookDeliveries(ctx, owner, name, h.ID, opts)
	}, func(ctx context.Context, id int64) error {
		_, _, err := client.Repositories.RedeliverHookDelivery(ctx, owner, name, h.ID, id)
		return err
	})
}

// delivery is what is known of one delivery over all its attempts.
type delivery struct {
	newest   int64
	attempts int
	arrived  bool
}

func redeliver(ctx context.Context, since time.Time, list func(context.Context, *gh.ListCursorOptions) ([]*gh.HookDelivery, *gh.Response, error), again func(context.Context, int64) error) (int, error) {
	known, order := map[string]*delivery{}, []string{}
	looked := 0
	for opts := (&gh.ListCursorOptions{PerPage: perPage}); looked < maxDeliveries; {
		page, resp, err := list(ctx, opts)
		if err != nil {
			return 0, err
		}
		old := false
		for _, d := range page { // newest first
			looked++
			if d.GetDeliveredAt().Before(since) {
				old = true
				break
			}
			k := known[d.GetGUID()]
			if k == nil {
				k = &delivery{newest: d.GetID()}
				known[d.GetGUID()] = k
				order = append(order, d.GetGUID())
			}
			k.attempts++
			k.arrived = k.arrived || d.GetStatusCode() >= 200 && d.GetStatusCode() < 300
		}
		if old || resp.Cursor == "" {
			break
		}
		opts.Cursor = resp.Cursor
	}
	sent := 0
	for i := len(order) - 1; i >= 0; i-- { // oldest first, as things happened
		d := known[order[i]]
		if d.arrived || d.attempts >= maxAttempts {
			continue
		}
		err := again(ctx, d.newest)
		var accepted *gh.AcceptedError
		if err != nil && !errors.As(err, &accepted) {
			return sent, err
		}
		sent++
	}
	return sent, nil
}
