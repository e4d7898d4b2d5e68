package mcpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpstdio"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// Listed reports whether d is a tool of the profile.
func Listed(d *op.Def, full bool) bool {
	return d.Tool.Profile == op.Core || full && d.Tool.Profile == op.Full
}

// Tool is d as tools/list shows it.
func Tool(d *op.Def, full bool) mcp.Tool {
	text := d.Tool.Text
	if text == "" {
		text = d.Text
	}
	// Hosts decide by these hints whether a call needs a person's approval, so none is left to its default.
	never := false
	destructive, readOnly := d.Tool.Destructive, d.Tool.ReadOnly
	idempotent := d.Tool.Idempotent || readOnly
	return mcp.Tool{
		Name: d.Name, Title: d.Title, Description: text,
		RawInputSchema: inputSchema(d, full), RawOutputSchema: outputSchema(d, full),
		Annotations: mcp.ToolAnnotation{
			ReadOnlyHint: &readOnly, DestructiveHint: &destructive, IdempotentHint: &idempotent, OpenWorldHint: &never,
		},
	}
}

// ModelBytes is what d costs a model: the bytes of name, description and input schema.
func ModelBytes(d *op.Def, full bool) int {
	t := Tool(d, full)
	return len(t.Name) + len(t.Description) + len(t.RawInputSchema)
}

func (d *Door) addTools() {
	for _, def := range d.cat.Defs() {
		if Listed(def, d.opt.Full) {
			d.mcp.AddTool(Tool(def, d.opt.Full), d.handler(def))
		}
	}
}

// handler runs one tool call. It never returns an error: a model can read a tool result and correct itself, but not a
// JSON-RPC error.
func (d *Door) handler(def *op.Def) func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return func(ctx context.Context, req mcp.CallToolRequest) (res *mcp.CallToolResult, _ error) {
		defer func() {
			if p := recover(); p != nil {
				d.opt.Log.ErrorContext(ctx, "tool call panicked", "op", def.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				res = failed(fault.From(fmt.Errorf("panic in %s", def.Name)))
			}
		}()
		ctx, settle := d.withProgress(ctx, req.Params.Meta)
		out, err := d.call(ctx, def, req)
		settle()
		if err != nil {
			return failed(fault.From(err)), nil
		}
		return &mcp.CallToolResult{
			StructuredContent: json.RawMessage(out),
			Content:           []mcp.Content{mcp.NewTextContent(string(out))},
		}, nil
	}
}

// call is handler without the envelope: it returns the result object.
func (d *Door) call(ctx context.Context, def *op.Def, req mcp.CallToolRequest) ([]byte, error) {
	args, err := arguments(def, req.Params.Arguments)
	if err != nil {
		return nil, err
	}
	if err := d.mapPaths(ctx, def, args); err != nil {
		return nil, err
	}
	resp, err := d.invoke(ctx, def, args, metaFields(req.Params.Meta))
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("encode the reply of %s: %w", def.Name, err)
	}
	return finish(def, raw, d.notices.take(ctx, resp.Caller)), nil
}

// invoke runs def as whoever the request says, and has the session kept alive.
func (d *Door) invoke(ctx context.Context, def *op.Def, args map[string]any, meta map[string]any) (op.Response, error) {
	p, claim, err := d.opt.Identify(ctx, meta)
	if err != nil {
		return op.Response{}, err
	}
	req := op.Request{Principal: p, Claim: claim, Args: args, Strict: true, Door: "mcp", RequestID: requestID(meta)}
	claim = claimOf(claim, args, def)
	resp, err := d.inv.Call(ctx, def, req)
	if err != nil {
		return resp, err
	}
	d.calledIn(resp.Caller.ProjectID)
	switch {
	case d.opt.Keeper == nil:
	case def.Name == opEndSession:
		d.opt.Keeper.drop(claim)
	default:
		resp.Caller = d.opt.Keeper.seen(p, claim, resp.Caller)
	}
	return resp, nil
}

// claimOf is the claim with the session a call named in its arguments, so that this one is kept alive.
func claimOf(claim ident.Claim, args map[string]any, def *op.Def) ident.Claim {
	if def.In.Properties["session_id"] == nil {
		if s, ok := args["session_id"].(string); ok && s != "" {
			claim.Session = s
		}
	}
	return claim
}

// arguments reads what the client sent as a fresh object.
func arguments(def *op.Def, sent any) (map[string]any, error) {
	switch a := sent.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return a, nil
	}
	return nil, fault.New(client.CodeInvalid, "the arguments of "+def.Name+" must be an object",
		fmt.Sprintf("a %T was sent", sent), `send {"name": value, ...}`)
}

// withProgress lets the operation report progress when the client asked for it. settle is called before the result
// is returned: on transports that do not keep the quiet gap themselves it waits for it.
func (d *Door) withProgress(ctx context.Context, meta *mcp.Meta) (_ context.Context, settle func()) {
	if meta == nil || meta.ProgressToken == nil {
		return ctx, func() {}
	}
	report := mcpstdio.Progress(ctx, meta)
	var sent atomic.Bool
	pctx := op.WithProgress(ctx, func(done, total float64, text string) {
		if report(done, total, text) == nil {
			sent.Store(true)
		}
	})
	return pctx, func() {
		if sent.Load() && mcpstdio.SessionFromContext(ctx) == nil {
			pause(ctx, quietGap)
		}
	}
}

// failed is a fault as the model reads it: one text, and the whole problem as data.
func failed(f *fault.Error) *mcp.CallToolResult {
	text := sentence(f.What)
	if f.Why != "" {
		text += " " + sentence(f.Why)
	}
	if f.Next != "" {
		text += " Next: " + sentence(f.Next)
	}
	return &mcp.CallToolResult{IsError: true, StructuredContent: f, Content: []mcp.Content{mcp.NewTextContent(text)}}
}

// sentence ends a text with a full stop unless it ends with a mark.
func sentence(s string) string {
	if s == "" {
		return s
	}
	switch s[len(s)-1] {
	case '.', '!', '?', ':':
		return s
	}
	return s + "."
}
