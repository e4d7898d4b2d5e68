package coord

import (
	"context"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

// sqlSpans makes a span of each statement that serves a traced call. What loops ask by themselves has none: nobody would
// look for it, and there is much of it.
type sqlSpans struct{ inner *otelpgx.Tracer }

func newSQLSpans() pgx.QueryTracer {
	return sqlSpans{otelpgx.NewTracer(otelpgx.WithTracerProvider(trace.Provider()), otelpgx.WithDisableConnectionDetailsInAttributes())}
}

// TraceQueryStart implements pgx.QueryTracer. Statements are ours and hold no values; parameters are not recorded.
func (t sqlSpans) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if !trace.Within(ctx) {
		return context.WithValue(ctx, untracedKey{}, true)
	}
	return t.inner.TraceQueryStart(ctx, conn, data)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (t sqlSpans) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	if ctx.Value(untracedKey{}) == nil {
		t.inner.TraceQueryEnd(ctx, conn, data)
	}
}

type untracedKey struct{}

// KeepTrace remembers the span that ctx is in as the one that something began with: a run (kind run) or a changeset. It is
// a courtesy: a failure is nobody's.
func (s *Store) KeepTrace(ctx context.Context, kind, id string) {
	if parent := trace.Parent(ctx); parent != "" && id != "" {
		_ = exec(ctx, s, `select coord.keep_trace($1, $2, $3)`, kind, id, parent)
	}
}

// TraceOf is the span that something began with, empty when that is not known or nothing is traced.
func (s *Store) TraceOf(ctx context.Context, kind, id string) string {
	if !trace.Enabled() || id == "" {
		return ""
	}
	parent, err := one[string](ctx, s, `select coalesce(coord.trace_of($1, $2), '')`, kind, id)
	if err != nil {
		return ""
	}
	return parent
}
