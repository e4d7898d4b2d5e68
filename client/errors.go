package client

import "fmt"

// Code is the stable, machine-readable name of a failure. New codes may be added; none changes its meaning.
type Code string

// The codes every door uses. The table in internal/fault maps them to HTTP statuses and SQL states.
const (
	CodeInvalid          Code = "invalid"           // 422: the request is wrong; nothing was changed
	CodeUnauthenticated  Code = "unauthenticated"   // 401: no key, or one that is not known
	CodeForbidden        Code = "forbidden"         // 403: the key may not do this, or not as this agent
	CodeNotFound         Code = "not_found"         // 404: there is no such thing in this project
	CodeConflict         Code = "conflict"          // 409: the state does not allow it, or a request key was reused
	CodeLeaseLost        Code = "lease_lost"        // 410: the fencing token or lease sent is stale
	CodeApprovalRequired Code = "approval_required" // 428: it waits for a person now; nothing was changed
	CodeTooLarge         Code = "too_large"         // 413: the request is larger than the door accepts
	CodeExhausted        Code = "exhausted"         // 429: a limit was reached; retry after RetryAfter
	CodeInternal         Code = "internal"          // 500: a defect of the server
	CodeUnavailable      Code = "unavailable"       // 503: cannot tell; the database or server is away. Never "nothing found"
)

// Error is the body of every failure (RFC 9457 problem+json with members of our own) and what the SDK returns.
type Error struct {
	Type       string `json:"type"`                                                                   // always "about:blank" or a URI of the documentation
	Title      string `json:"title"`                                                                  // the HTTP status in words
	Status     int    `json:"status"`                                                                 // the HTTP status
	Detail     any    `json:"detail"`                                                                 // What, as old clients read it; a few routes put an object or array here
	Code       Code   `json:"code"`                                                                   // stable code
	What       string `json:"what"`                                                                   // what failed, one sentence
	Why        string `json:"why,omitempty"`                                                          // the cause
	Next       string `json:"next,omitempty"`                                                         // one next step; never a destructive command
	Field      string `json:"field,omitempty"`                                                        // the offending field of the request
	Retryable  bool   `json:"retryable" doc:"true when the same call may succeed later"`              // may the same call succeed later
	RetryAfter int    `json:"retry_after,omitempty" doc:"seconds to wait before another try"`         // seconds
	ActID      string `json:"act_id,omitempty" doc:"with code approval_required: the act that waits"` // see list_acts
	RequestID  string `json:"request_id,omitempty"`                                                   // find the call in the server's log
}

// Error says what failed and why, and what to do next.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s", e.Code, e.What)
	if e.Why != "" {
		s += " (" + e.Why + ")"
	}
	if e.Next != "" {
		s += "; " + e.Next
	}
	return s
}
