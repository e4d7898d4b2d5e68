package github

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v88/github"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway"
	ghexec "github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/github"
)

// LimitError says that GitHub asks to wait; nothing was done. It is never a verdict.
type LimitError struct {
	At  time.Time // earliest time worth asking again
	Err error
}

// Until implements gateway.Busy.
func (e *LimitError) Until() time.Time { return e.At }

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("GitHub's rate limit is used up until %s: %s", e.At.UTC().Format(time.RFC3339), e.Err)
}

// Unwrap lets errors.Is find the cause and the executor's word for it.
func (e *LimitError) Unwrap() []error { return []error{e.Err, ghexec.ErrLimited} }

// classify gives an error of go-github the words of the rooms that ask.
func classify(err error) error {
	var (
		primary   *gh.RateLimitError
		secondary *gh.AbuseRateLimitError
		answer    *gh.ErrorResponse
		app       *ghinstallation.HTTPError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &primary):
		return &LimitError{At: primary.Rate.Reset.Time, Err: err}
	case errors.As(err, &secondary):
		wait := time.Minute // GitHub's advice when it names no time
		if secondary.RetryAfter != nil {
			wait = *secondary.RetryAfter
		}
		return &LimitError{At: time.Now().Add(wait), Err: err}
	case errors.As(err, &answer) && answer.Response != nil:
		switch code := answer.Response.StatusCode; {
		case code == http.StatusTooManyRequests, code == http.StatusForbidden && answer.Response.Header.Get("Retry-After") != "":
			return &LimitError{At: time.Now().Add(retryAfter(answer.Response.Header)), Err: err}
		case code == http.StatusGone, code == http.StatusUnavailableForLegalReasons:
			return fmt.Errorf("%w: %w", gateway.ErrGone, err)
		}
	case errors.As(err, &app) && app.Response != nil && app.Response.StatusCode == http.StatusTooManyRequests:
		return &LimitError{At: time.Now().Add(retryAfter(app.Response.Header)), Err: err}
	}
	return err
}

func retryAfter(h http.Header) time.Duration {
	wait, err := time.ParseDuration(h.Get("Retry-After") + "s")
	if err != nil || wait < 0 {
		return time.Minute
	}
	return min(wait, longestWait)
}

// status returns the HTTP status of an answer that was an error; 0 when there was none.
func status(err error) int {
	var answer *gh.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil {
		return answer.Response.StatusCode
	}
	return 0
}

// message is what GitHub gave as the reason, without addresses.
func message(err error) string {
	var answer *gh.ErrorResponse
	if errors.As(err, &answer) && answer.Message != "" {
		return answer.Message
	}
	return err.Error()
}

// says looks for a phrase in what GitHub gave as the reason. GitHub has no codes for some cases.
func says(err error, phrase string) bool {
	var answer *gh.ErrorResponse
	if !errors.As(err, &answer) {
		return false
	}
	phrase = strings.ToLower(phrase)
	if strings.Contains(strings.ToLower(answer.Message), phrase) {
		return true
	}
	for _, e := range answer.Errors {
		if strings.Contains(strings.ToLower(e.Message), phrase) {
			return true
		}
	}
	return false
}
