// Package trace makes OpenTelemetry spans, and nothing at all until On was called: then Start returns the context it was
// given and no memory is taken. It knows the API of OpenTelemetry alone; package obs brings the SDK and the exporter.
//
// Spans hold names, ids and codes: never bodies, keys, queries of URLs or values of SQL parameters.
package trace

import (
	"context"
	"net/http"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Kind says which side of a call a span is.
type Kind = trace.SpanKind

// The kinds in use.
const (
	Internal = trace.SpanKindInternal
	Server   = trace.SpanKindServer
	Producer = trace.SpanKindProducer
	Consumer = trace.SpanKindConsumer
)

var (
	tracer atomic.Pointer[trace.Tracer]
	made   atomic.Pointer[trace.TracerProvider]
	format propagation.TraceContext
)

const scope = "github.com/agent-coordinator/agent-coordinator"

// On makes spans of provider from now on.
func On(provider trace.TracerProvider) {
	t := provider.Tracer(scope)
	made.Store(&provider)
	tracer.Store(&t)
}

// Provider is what On was called with, nil before: for libraries that make spans themselves.
func Provider() trace.TracerProvider {
	if p := made.Load(); p != nil {
		return *p
	}
	return nil
}

// Enabled reports whether spans are made.
func Enabled() bool { return tracer.Load() != nil }

// Span is one that was started; the zero value is none.
type Span struct{ span trace.Span }

// Start begins a span under the one in ctx. pairs are names and values of attributes; empty values are left out. To be
// ended by End.
func Start(ctx context.Context, name string, kind Kind, pairs ...string) (context.Context, Span) {
	t := tracer.Load()
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := (*t).Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes(pairs)...))
	return ctx, Span{span}
}

func attributes(pairs []string) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, attribute.String(pairs[i], pairs[i+1]))
		}
	}
	return out
}

// Set adds attributes.
func (s Span) Set(pairs ...string) {
	if s.span != nil {
		s.span.SetAttributes(attributes(pairs)...)
	}
}

// SetInt adds an attribute that is a number.
func (s Span) SetInt(name string, n int) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int(name, n))
	}
}

// End ends the span; a failure is a short code or reason, empty for none.
func (s Span) End(failure string) {
	if s.span == nil {
		return
	}
	if failure != "" {
		s.span.SetStatus(codes.Error, failure)
	}
	s.span.End()
}

// header carries one traceparent.
type header struct{ parent string }

func (h *header) Get(name string) string {
	if name == "traceparent" {
		return h.parent
	}
	return ""
}

func (h *header) Set(name, value string) {
	if name == "traceparent" {
		h.parent = value
	}
}
func (h *header) Keys() []string { return []string{"traceparent"} }

// Parent is the traceparent of the span in ctx, empty when there is none.
func Parent(ctx context.Context) string {
	if !Enabled() {
		return ""
	}
	var h header
	format.Inject(ctx, &h)
	return h.parent
}

// Under is ctx under the span that a traceparent names; ctx itself when that is none.
func Under(ctx context.Context, parent string) context.Context {
	if parent == "" || !Enabled() {
		return ctx
	}
	return format.Extract(ctx, &header{parent})
}

// Inject tells the receiver of a request which span it belongs to.
func Inject(ctx context.Context, h http.Header) {
	if Enabled() {
		format.Inject(ctx, propagation.HeaderCarrier(h))
	}
}

// Extract is ctx under the span that a request came from.
func Extract(ctx context.Context, h http.Header) context.Context {
	if !Enabled() {
		return ctx
	}
	return format.Extract(ctx, propagation.HeaderCarrier(h))
}

// Within reports whether ctx is under a span that is recorded.
func Within(ctx context.Context) bool {
	return Enabled() && trace.SpanFromContext(ctx).IsRecording()
}
