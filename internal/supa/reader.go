package supa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/supabase-community/postgrest-go"
	"github.com/supabase-community/supabase-go"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
)

// Reader reads rows through the Data API. It implements coord.RowReader and is safe for concurrent use.
type Reader struct {
	cfg  Config
	base *url.URL
	via  *http.Transport

	page    atomic.Int64 // the largest complete page seen: the server cuts none that is smaller
	failing atomic.Bool
	mu      sync.Mutex
	visible map[int64]time.Time // projects that the public key sees, until when that is believed
}

// visibleFor is how long a project that was open is taken to be so still.
const visibleFor = 10 * time.Second

// NewReader returns a reader of the project's Data API; nothing is sent yet.
func NewReader(cfg Config) (*Reader, error) {
	base, err := cfg.base()
	if err != nil {
		return nil, err
	}
	if err := register(); err != nil {
		return nil, err
	}
	return &Reader{cfg: cfg, base: base, via: newTransport(), visible: map[int64]time.Time{}}, nil
}

// Close lets go of idle connections.
func (r *Reader) Close() { r.via.CloseIdleConnections() }

// errPartial means that the Data API has an answer that may not be the whole one.
var errPartial = errors.New("the Data API does not tell everything")

// ReadRows implements coord.RowReader.
func (r *Reader) ReadRows(ctx context.Context, q coord.RowQuery) (json.RawMessage, error) {
	raw, err := r.read(ctx, q)
	if err == nil && r.failing.CompareAndSwap(true, false) {
		r.cfg.log().InfoContext(ctx, "the Data API answers again")
	}
	if err != nil && fault.Is(err, client.CodeUnavailable) && r.failing.CompareAndSwap(false, true) {
		r.cfg.log().WarnContext(ctx, "the Data API cannot be read; the database answers instead", "err", fault.From(err).Why)
	}
	return raw, err
}

func (r *Reader) read(ctx context.Context, q coord.RowQuery) (json.RawMessage, error) {
	if r.cfg.Secret == "" { // an empty answer could mean: not yours to see
		if err := r.mustSee(ctx, q.Project.ProjectID); err != nil {
			return nil, err
		}
	}
	raw, n, err := r.fetch(ctx, q, 0, q.Limit)
	if err != nil {
		return nil, err
	}
	// The server returns at most so many rows as its administrator set, without a word. A page that is smaller than one
	// it returned whole before is whole; else one more row is asked for.
	if n > 0 && n < q.Limit && int64(n) >= r.page.Load() {
		_, more, err := r.fetch(ctx, q, n, 1)
		if err != nil {
			return nil, err
		}
		if more > 0 {
			return nil, fmt.Errorf("%w: it cuts lists after %d rows", errPartial, n)
		}
	}
	if page := r.page.Load(); int64(n) > page {
		r.page.CompareAndSwap(page, int64(n))
	}
	return raw, nil
}

// mustSee fails unless the key sees the project.
func (r *Reader) mustSee(ctx context.Context, project int64) error {
	r.mu.Lock()
	known := time.Now().Before(r.visible[project])
	r.mu.Unlock()
	if known {
		return nil
	}
	raw, status, err := r.execute(ctx, func(c *supabase.Client) *postgrest.FilterBuilder {
		return c.From("projects").Select("id", "", false).Eq("id", strconv.FormatInt(project, 10))
	})
	if err != nil {
		return failure(status, err)
	}
	if n, err := count(raw); err != nil || n == 0 {
		return fmt.Errorf("%w: the project is not open to the publishable key (%w)", errPartial, errors.Join(err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.visible[project] = time.Now().Add(visibleFor)
	return nil
}

// fetch reads limit rows from offset on and counts them.
func (r *Reader) fetch(ctx context.Context, q coord.RowQuery, offset, limit int) (json.RawMessage, int, error) {
	var wrong error
	raw, status, err := r.execute(ctx, func(c *supabase.Client) *postgrest.FilterBuilder {
		f := c.From(q.View).Select(strings.Join(q.Columns, ","), "", false).Eq("project_id", strconv.FormatInt(q.Project.ProjectID, 10))
		for _, w := range q.Where {
			var value string
			if value, wrong = literal(w); wrong != nil {
				return nil
			}
			f = f.Filter(w.Column, w.Op, value)
		}
		for _, o := range q.Order {
			name, desc := strings.CutPrefix(o, "-")
			f = f.Order(name, &postgrest.OrderOpts{Ascending: !desc})
		}
		return f.Range(offset, offset+limit-1, "")
	})
	if wrong != nil {
		return nil, 0, wrong
	}
	if err != nil {
		return nil, 0, failure(status, err)
	}
	n, err := count(raw)
	return raw, n, err
}

// execute runs one request with a client of its own: an error stays in a client of supabase-go for ever.
func (r *Reader) execute(ctx context.Context, build func(*supabase.Client) *postgrest.FilterBuilder) (raw []byte, status int, err error) {
	c := &call{ctx: ctx, base: r.base, key: r.cfg.key(), via: r.via}
	address, end := begin(c)
	defer end()
	sb, err := supabase.NewClient(address, c.key, nil)
	if err != nil {
		return nil, 0, err
	}
	f := build(sb)
	if f == nil {
		return nil, 0, nil
	}
	raw, _, err = f.Execute()
	return raw, c.status, err
}

// literal is a filter's value as PostgREST reads it. Values of lists are quoted, since commas and brackets part them.
func literal(w coord.RowFilter) (string, error) {
	switch v := w.Value.(type) {
	case string:
		if w.Op == "cs" {
			return "{" + quoted(v) + "}", nil
		}
		return v, nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case []string:
		all := make([]string, len(v))
		for i := range v {
			all[i] = quoted(v[i])
		}
		return "(" + strings.Join(all, ",") + ")", nil
	}
	return "", fmt.Errorf("a %T cannot be compared with %s", w.Value, w.Column)
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func count(raw []byte) (int, error) {
	var rows []json.RawMessage
	if err := json.Unmarshal(raw, &rows); err != nil {
		return 0, fmt.Errorf("the Data API's reply is no list: %w", err)
	}
	return len(rows), nil
}

// failure says whether the Data API is away (so that it is left alone for a while) or refuses this one read.
func failure(status int, err error) error {
	if status >= 400 && status < 500 && status != http.StatusUnauthorized && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout {
		return fmt.Errorf("the Data API refuses the read: %w", err)
	}
	return fault.New(client.CodeUnavailable, "the Data API cannot be read", strings.ReplaceAll(err.Error(), scheme+"://", ""), "retry; the database itself may answer")
}
