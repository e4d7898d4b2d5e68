package mcpstdio

import (
	"context"
	"log/slog"
	"time"
)

// Defaults of New. The quiet gap is exported because the streamable HTTP door
// needs the same pause before it answers a call that reported progress.
const (
	DefaultGrace       = 2 * time.Second
	DefaultQuietGap    = 40 * time.Millisecond
	DefaultMaxInFlight = 1024
	DefaultMaxMessage  = 4 << 20
)

// inFlightMessages bounds the bytes of all running requests together, in
// messages of the maximum size: 1024 requests of 4 MiB each would be 4 GiB.
const inFlightMessages = 16

// settleTime is how long cancelled handlers and the last lines may take after
// the grace is over.
const settleTime = 500 * time.Millisecond

type options struct {
	grace       time.Duration
	quietGap    time.Duration
	maxInFlight int
	maxMessage  int
	log         *slog.Logger
	context     func(context.Context) context.Context
	observe     func(ctx context.Context, method string) func(Outcome)
}

// Option changes one setting of New.
type Option func(*options)

// WithGrace sets how long running calls may take to finish after the input or
// the context ended. Zero cancels them at once; negative values count as zero.
func WithGrace(d time.Duration) Option {
	return func(o *options) { o.grace = max(d, 0) }
}

// WithQuietGap sets the least time between the last progress line of a request
// and its response. Zero keeps the order but drops the pause; negative values
// count as zero.
func WithQuietGap(d time.Duration) Option {
	return func(o *options) { o.quietGap = max(d, 0) }
}

// WithMaxInFlight sets how many requests and notifications may be in progress
// on one connection, open listen streams included; more are answered -32000.
// Values below 1 keep the default.
func WithMaxInFlight(n int) Option {
	return func(o *options) {
		if n > 0 {
			o.maxInFlight = n
		}
	}
}

// WithMaxMessage sets the longest accepted message in bytes, without its line
// end. Values below 1 keep the default.
func WithMaxMessage(bytes int) Option {
	return func(o *options) {
		if bytes > 0 {
			o.maxMessage = bytes
		}
	}
}

// WithLogger sets where the transport logs; the default is slog.Default. It
// must not write to the output of Serve. nil keeps the default.
func WithLogger(l *slog.Logger) Option {
	return func(o *options) {
		if l != nil {
			o.log = l
		}
	}
}

// WithContextFunc sets a function that is called once for each request and client
// notification, to put values into its context before mcp-go sees it.
// SessionFromContext already works on its argument. It must return a context
// derived from its argument, quickly: it runs on the reading goroutine.
func WithContextFunc(f func(context.Context) context.Context) Option {
	return func(o *options) { o.context = f }
}

// Outcome says how a request ended.
type Outcome struct {
	// Code is the JSON-RPC error code of the reply, 0 for a result. A tool
	// result with isError is a result.
	Code int
	// Cancelled is set when the client withdrew the request, so no reply was
	// written; Code is then what the reply would have had.
	Cancelled bool
	// Elapsed is the time from reading the request to handing over its reply,
	// quiet gap included.
	Elapsed time.Duration
}

// WithObserver sets a function that is called when a request starts, on the
// request's own goroutine; the function it returns is called when the request
// ended. The method comes from the client as it is: map unknown ones to one
// value before using it as a metric label. A nil second function is allowed.
func WithObserver(f func(ctx context.Context, method string) func(Outcome)) Option {
	return func(o *options) { o.observe = f }
}
