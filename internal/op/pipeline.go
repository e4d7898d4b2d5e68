package op

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/trace"
)

// Resolver turns a principal and a claim into a caller (opening the agent's session when acts) and records refusals.
type Resolver interface {
	Resolve(ctx context.Context, p ident.Principal, claim ident.Claim, acts bool) (ident.Caller, error)
	// Forget drops what is cached about the caller's session, so that the next Resolve opens it again.
	Forget(c ident.Caller)
	// Denied writes the audit row of a forbidden call.
	Denied(ctx context.Context, p ident.Principal, claim ident.Claim, operation, why string)
}

// Once runs a call under a request key inside one transaction: the first run's reply is stored with its changes, a
// repeat gets that reply. The same key with another body hash is a conflict.
type Once interface {
	Once(ctx context.Context, c ident.Caller, operation string, bodyHash []byte, run func(ctx context.Context) (json.RawMessage, error)) (reply json.RawMessage, replayed bool, err error)
}

// Observer sees every finished call (metrics). code is empty on success.
type Observer func(operation, door string, code client.Code, took time.Duration)

// Pipeline runs operations. All members but Observe and Log are needed.
type Pipeline struct {
	Resolver Resolver
	Once     Once
	Observe  Observer
	Log      *slog.Logger
}

// Request is one call as a door received it. Args is consumed.
type Request struct {
	Principal  ident.Principal
	Claim      ident.Claim // from headers, environment or _meta; members of Args take precedence
	Args       map[string]any
	Strict     bool // refuse unknown members (MCP) instead of naming them (HTTP)
	RequestKey string
	RequestID  string
	Door       string
	FromBody   bool // HTTP with a body: RefuseEmpty applies
}

// Response is a call's outcome. Body marshals to a JSON object.
type Response struct {
	Body     any
	Unknown  []string // members of the request that were ignored
	Replayed bool     // the reply of an earlier call with the same request key
	Caller   ident.Caller
}

// Call runs d. Every failure is a *fault.Error.
func (p *Pipeline) Call(ctx context.Context, d *Def, r Request) (res Response, err error) {
	start := time.Now()
	ctx, span := trace.Start(ctx, d.Name, trace.Internal, "coord.operation", d.Name, "coord.door", r.Door)
	defer func() {
		if v := recover(); v != nil { // a defect of one operation ends one call, whatever the door
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
		err = p.finish(ctx, d, r, err, time.Since(start))
		span.Set("coord.project", res.Caller.Project, "coord.agent", res.Caller.Agent)
		span.End(codeOf(err))
	}()
	return p.call(ctx, d, r)
}

// codeOf is the code of a fault, empty when there is none.
func codeOf(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return string(f.Code)
	}
	return ""
}

// finish turns err into a fault of this call, logs defects and counts.
func (p *Pipeline) finish(ctx context.Context, d *Def, r Request, err error, took time.Duration) error {
	if err == nil {
		if p.Observe != nil {
			p.Observe(d.Name, r.Door, "", took)
		}
		return nil
	}
	own := *fault.From(err) // a fault may be shared; the request's id is this call's
	own.RequestID = r.RequestID
	if own.Code == client.CodeInternal && p.Log != nil {
		p.Log.ErrorContext(ctx, "operation failed", "op", d.Name, "request_id", r.RequestID, "err", err)
	}
	if p.Observe != nil {
		p.Observe(d.Name, r.Door, own.Code, took)
	}
	return &own
}

func (p *Pipeline) call(ctx context.Context, d *Def, r Request) (Response, error) {
	var res Response
	if !r.Principal.May(d.Scope) && (d.Or == "" || !r.Principal.May(d.Or)) {
		why := "the key lacks the scope " + string(d.Scope)
		p.Resolver.Denied(ctx, r.Principal, r.Claim, d.Name, why)
		return res, fault.New(client.CodeForbidden, "this key may not call "+d.Name, why, "use a key with the scope "+string(d.Scope))
	}
	args := r.Args
	if args == nil {
		args = map[string]any{}
	}
	if r.FromBody && d.RefuseEmpty && !d.says(args) {
		return res, fault.Invalid("agent_id", "an empty request changes nothing", "send at least agent_id in the body")
	}
	if err := d.takeIdentity(args, &r.Claim); err != nil {
		return res, d.AsListed(err)
	}
	var invalid *fault.Error
	if r.RequestKey, invalid = d.takeKey(args, r.RequestKey); invalid != nil {
		return res, d.AsListed(invalid)
	}
	unknown, invalid := d.prepare(args, r.Strict)
	res.Unknown = sorted(unknown)
	if invalid != nil {
		return res, d.AsListed(invalid)
	}
	body, err := json.Marshal(args)
	if err != nil {
		return res, fault.Invalid("", "the request cannot be read again", "send plain JSON")
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout+waitOf(args))
	defer cancel()
	return p.run(ctx, d, r, body, res)
}

// waitOf is the time a call may block beyond its timeout.
func waitOf(args map[string]any) time.Duration {
	if s, ok := args["wait_seconds"].(float64); ok && s > 0 {
		return time.Duration(s * float64(time.Second))
	}
	return 0
}

// run resolves the caller and does the operation; a session that lapsed in between is opened again, once.
func (p *Pipeline) run(ctx context.Context, d *Def, r Request, body []byte, res Response) (Response, error) {
	for attempt := 0; ; attempt++ {
		c, err := p.Resolver.Resolve(ctx, r.Principal, r.Claim, d.Acts)
		if err != nil {
			if fault.Is(err, client.CodeForbidden) {
				p.Resolver.Denied(ctx, r.Principal, r.Claim, d.Name, fault.From(err).What)
			}
			return res, err
		}
		c.RequestKey, c.RequestID, c.Door = r.RequestKey, r.RequestID, r.Door
		res.Caller = c
		res.Body, res.Replayed, err = p.do(ctx, d, c, body)
		if errors.Is(err, ident.ErrSessionLapsed) && attempt == 0 {
			p.Resolver.Forget(c)
			continue
		}
		if fault.Is(err, client.CodeForbidden) { // the operation's own refusal: what it wrote is undone, so it is recorded here
			p.Resolver.Denied(ctx, r.Principal, r.Claim, d.Name, fault.From(err).What)
		}
		return res, err
	}
}

func (p *Pipeline) do(ctx context.Context, d *Def, c ident.Caller, body []byte) (any, bool, error) {
	if c.RequestKey == "" || d.Waits || d.Scope == ident.Read {
		out, err := d.do(ctx, c, body)
		return out, false, err
	}
	hash := sha256.Sum256(body)
	reply, replayed, err := p.Once.Once(ctx, c, d.Name, hash[:], func(ctx context.Context) (json.RawMessage, error) {
		out, err := d.do(ctx, c, body)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	})
	return reply, replayed, err
}
