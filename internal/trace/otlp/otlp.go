// Package otlp hands spans over to a collector: OpenTelemetry's SDK and its exporter, for the programs that trace.
package otlp

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"

	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

// flushWithin is how long a stopping process tries to hand over its last spans.
const flushWithin = 3 * time.Second

// Start sends spans to the collector that OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) names,
// as protobuf over HTTP; without one, or with OTEL_SDK_DISABLED=true, it does nothing and tracing costs nothing. The other
// OTEL_ variables (headers, sampler, batch sizes, service name, resource attributes) hold as OpenTelemetry defines them.
// stop hands over what is left. A collector that is away is no failure: spans are dropped and the log says so once.
func Start(ctx context.Context, service, version string, log *slog.Logger) (stop func(), err error) {
	stop = func() {}
	getenv, once := os.Getenv, sync.Once{}
	if getenv("OTEL_EXPORTER_OTLP_ENDPOINT")+getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return stop, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return stop, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	res, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName(service), semconv.ServiceVersion(version)), resource.WithFromEnv(),
		resource.WithTelemetrySDK(), resource.WithHost())
	if err != nil && res == nil {
		return stop, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { // the first tells enough of a collector that is away
		once.Do(func() {
			log.WarnContext(ctx, "spans could not be handed over; others may be lost without a word", "err", err)
		})
	}))
	trace.On(provider)
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushWithin)
		defer cancel()
		_ = provider.Shutdown(ctx) // spans are a courtesy
	}, nil
}
