// Package ident holds the few words about who calls: Principal (what a key stands for), Claim (who the request says
// acts), Caller (both, resolved). Every room shares them; nothing here does any work.
package ident

import (
	"errors"
	"slices"
)

// Scope is what a key may do. admin implies every other; write implies read.
type Scope string

// The five scopes.
const (
	Read     Scope = "read"
	Write    Scope = "write"
	Runner   Scope = "runner"
	Reviewer Scope = "reviewer"
	Admin    Scope = "admin"
)

// Principal is what an API key (or the local socket) stands for.
type Principal struct {
	Name      string  // "key:ci", "person:ana", "local"
	Scopes    []Scope // granted scopes
	Agent     string  // bound agent; empty: may act as any
	AgentType string  // bound agent's type
	ProjectID int64   // bound project; 0: any
	Person    string  // the person behind the key, if any

	Key         string // which key it is, whatever its secret: limits are counted by it; empty: no key was needed
	RateLimit   int    // its own limit of requests a second; 0: the server's default
	StreamLimit int    // its own limit of waiting calls and open streams; 0: the server's default
}

// May reports whether the principal holds scope s.
func (p Principal) May(s Scope) bool {
	return slices.Contains(p.Scopes, s) || slices.Contains(p.Scopes, Admin) ||
		(s == Read && (slices.Contains(p.Scopes, Write) || slices.Contains(p.Scopes, Reviewer) || slices.Contains(p.Scopes, Runner)))
}

// Claim is who a request says it acts for. Empty members were not sent.
type Claim struct {
	Project    string // project name
	Repository string // repository within the project
	Agent      string
	AgentType  string
	Session    string // external session id; empty: the agent's implicit session
}

// Caller is a resolved call: what functions of the data layer take.
type Caller struct {
	ProjectID  int64
	Project    string
	Repository string // default repository of this caller's paths; empty: the project's first
	Agent      string // empty on calls that act for nobody
	AgentType  string
	Session    string // external id
	SessionID  int64  // internal id of the session; 0 when Agent is empty
	By         string // principal's name, for the audit trail
	Person     string
	Scopes     []Scope
	Bound      bool   // the key belongs to this project alone
	RequestKey string // idempotency key, empty: none
	RequestID  string
	Door       string // "http", "mcp", "cli"
}

// ErrSessionLapsed is returned by the data layer when the caller's session is no longer active; the pipeline opens
// it again and repeats the call once.
var ErrSessionLapsed = errors.New("session lapsed")
