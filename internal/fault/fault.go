// Package fault is the one table of failures: code ↔ SQL state ↔ HTTP status ↔ retryable, and the constructors
// that every room uses. A fault says what, why and next; it never carries SQL, a stack, or a destructive hint.
package fault

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// Error is the failure that crosses rooms and doors.
type Error = client.Error

type row struct {
	status    int
	retryable bool
}

var table = map[client.Code]row{
	client.CodeInvalid:          {http.StatusUnprocessableEntity, false},
	client.CodeUnauthenticated:  {http.StatusUnauthorized, false},
	client.CodeForbidden:        {http.StatusForbidden, false},
	client.CodeNotFound:         {http.StatusNotFound, false},
	client.CodeConflict:         {http.StatusConflict, false},
	client.CodeLeaseLost:        {http.StatusGone, false},
	client.CodeApprovalRequired: {http.StatusPreconditionRequired, false},
	client.CodeTooLarge:         {http.StatusRequestEntityTooLarge, false},
	client.CodeExhausted:        {http.StatusTooManyRequests, true},
	client.CodeInternal:         {http.StatusInternalServerError, false},
	client.CodeUnavailable:      {http.StatusServiceUnavailable, true},
}

// Status returns the HTTP status of a code, 500 for an unknown one.
func Status(c client.Code) int {
	if r, ok := table[c]; ok {
		return r.status
	}
	return http.StatusInternalServerError
}

// Codes lists every code, for the documentation and the tests.
func Codes() []client.Code {
	out := make([]client.Code, 0, len(table))
	for c := range table {
		out = append(out, c)
	}
	return out
}

// New builds a fault. Empty why or next are left out.
func New(c client.Code, what, why, next string) *Error {
	r, ok := table[c]
	if !ok {
		r = row{http.StatusInternalServerError, false}
	}
	e := &Error{
		Type: "about:blank", Title: http.StatusText(r.status), Status: r.status,
		Detail: what, Code: c, What: what, Why: why, Next: next, Retryable: r.retryable,
	}
	if r.retryable {
		e.RetryAfter = 1
	}
	return e
}

// Invalid is a wrong request; field names the offending member (empty: the whole body).
func Invalid(field, what, next string) *Error {
	e := New(client.CodeInvalid, what, "", next)
	e.Field = field
	return e
}

// NotFound says that thing has no such name or id in the caller's project.
func NotFound(thing, id string) *Error {
	return New(client.CodeNotFound, fmt.Sprintf("no %s %q in this project", thing, id), "", "check the id and the project")
}

// Unavailable wraps an outage: the caller must treat it as "cannot tell".
func Unavailable(cause error) *Error {
	return New(client.CodeUnavailable, "the coordinator cannot reach its database", cause.Error(),
		"stop and retry in a moment; this does not mean that there is no work or that a path is free")
}

// From turns any error into a fault: faults pass, a done context is unavailable, all else internal with a text
// that reveals nothing.
func From(err error) *Error {
	var f *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return New(client.CodeUnavailable, "the call ran out of time", "the server was busy or the caller went away",
			"retry; use a request key so that a repeated change happens once")
	}
	return New(client.CodeInternal, "the server failed on this call", "a defect; the server's log has it under the request id",
		"retry once; if it persists, report the request id")
}

// Is reports whether err is a fault of code c.
func Is(err error, c client.Code) bool {
	var f *Error
	return errors.As(err, &f) && f.Code == c
}
