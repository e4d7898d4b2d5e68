package op

import "context"

type progressKey struct{}

// WithProgress lets the operation called with the returned context report how far it is. report gets rising values of
// done, total in the same unit (0: unknown) and a sentence; it must be safe for concurrent use and not block for long.
func WithProgress(ctx context.Context, report func(done, total float64, text string)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress reports how far the call of ctx is. It does nothing when nobody asked.
func Progress(ctx context.Context, done, total float64, text string) {
	if report, ok := ctx.Value(progressKey{}).(func(float64, float64, string)); ok {
		report(done, total, text)
	}
}
