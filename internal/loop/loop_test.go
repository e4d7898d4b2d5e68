package loop

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// starts runs a loop for d of fake time and returns when each run began, from the start.
func starts(t *testing.T, l Loop, d time.Duration) []time.Duration {
	t.Helper()
	var at []time.Duration
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		began, do := time.Now(), l.Do
		l.Do = func(ctx context.Context) (int, error) {
			at = append(at, time.Since(began))
			return do(ctx)
		}
		if err := l.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return at
}

func TestPauses(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	tests := []struct {
		name    string
		results []any // per run: what it changed, or its error; the last one repeats
		want    []int // seconds of the first runs
	}{
		{"while there is work", []any{1}, []int{5, 6, 7, 8}},
		{"while there is none", []any{0}, []int{5, 10, 15, 20}},
		{"alert without work", []any{-1}, []int{5, 6, 7}},
		{"work comes and goes", []any{0, 2, 0}, []int{5, 10, 11, 16}},
		{"failures back off and recover", []any{failed, failed, failed, 1}, []int{5, 7, 11, 19, 20}},
		{"failures are bounded", []any{failed}, []int{5, 7, 11, 19, 35, 65, 95}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := 0
			l := Loop{Name: "l", Every: time.Second, Idle: 5 * time.Second, Do: func(context.Context) (int, error) {
				r := tt.results[min(n, len(tt.results)-1)]
				n++
				if err, ok := r.(error); ok {
					return 0, err
				}
				changed, _ := r.(int)
				return changed, nil
			}}
			got := starts(t, l, 100*time.Second)
			for i, want := range tt.want {
				if i >= len(got) || got[i] != time.Duration(want)*time.Second {
					t.Fatalf("runs began at %v, want %v s", got[:min(len(got), len(tt.want))], tt.want)
				}
			}
		})
	}
}

func TestJitterSpreads(t *testing.T) {
	t.Parallel()
	l := Loop{Name: "l", Every: time.Second, Jitter: time.Second, Do: func(context.Context) (int, error) { return 1, nil }}
	at := starts(t, l, time.Minute)
	for i := 1; i < len(at); i++ {
		if d := at[i] - at[i-1]; d < time.Second || d >= 2*time.Second {
			t.Errorf("pause of %s", d)
		}
	}
	if len(at) < 30 {
		t.Errorf("%d runs", len(at))
	}
}

func TestARunIsBoundedAndNeverOverlaps(t *testing.T) {
	t.Parallel()
	running, timeouts := 0, 0
	l := Loop{Name: "l", Every: time.Second, Timeout: 3 * time.Second, Do: func(ctx context.Context) (int, error) {
		if running++; running > 1 {
			t.Error("two runs at once")
		}
		defer func() { running-- }()
		<-ctx.Done()
		if ctx.Err() == context.DeadlineExceeded {
			timeouts++
		}
		return 0, ctx.Err()
	}}
	starts(t, l, 30*time.Second)
	if timeouts < 3 {
		t.Errorf("%d timeouts", timeouts)
	}
}

func TestPanicsAreErrorsAndReported(t *testing.T) {
	t.Parallel()
	var reported error
	l := Loop{
		Name: "l", Do: func(context.Context) (int, error) { panic("boom") },
		Report: func(_ string, _ int, err error) { reported = err },
	}
	if _, err := l.RunOnce(t.Context()); err == nil || !strings.Contains(err.Error(), "boom") || reported == nil {
		t.Errorf("got %v, reported %v", err, reported)
	}
}

func TestLogsChangesOfStateOnly(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	n := 0
	l := Loop{Name: "l", Every: time.Second, Log: slog.New(slog.NewTextHandler(&log, nil)), Do: func(context.Context) (int, error) {
		if n++; n <= 4 {
			return 0, errors.New("away")
		}
		return 1, nil
	}}
	starts(t, l, 60*time.Second)
	if lines := strings.Count(log.String(), "\n"); lines != 2 || !strings.Contains(log.String(), "works again") {
		t.Errorf("%d lines:\n%s", lines, log.String())
	}
}
