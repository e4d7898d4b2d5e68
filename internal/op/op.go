// Package op declares operations once and runs them the same way for every door.
//
// An Op is a typed declaration: name, text, routes, scope, input and output structs, and the function that does it.
// Register turns it into a Def: schemas, validation and a type-erased call. Pipeline.Call is the only way to run one:
// identity, scope, deadline, idempotency, metrics and the log line happen there, whatever the door.
// The package knows no noun. A bad declaration panics at start.
package op

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// Profile says in which MCP tool profile a tool is listed.
type Profile int

// Core tools are always listed; Full ones under COORD_TOOL_PROFILE=full; NoTool is not offered over MCP.
const (
	NoTool Profile = iota
	Core
	Full
)

// Tool is an operation's face over MCP. Text replaces Op.Text there when set (the byte budget is tight).
type Tool struct {
	Profile     Profile
	Text        string
	ReadOnly    bool
	Idempotent  bool
	Destructive bool
}

// Route is one HTTP spelling of an operation, in gin's pattern syntax (":id", "*path").
type Route struct{ Method, Path string }

// Op declares one operation. In and Out are structs of package client.
type Op[In, Out any] struct {
	Name    string // verb_noun, the tool's name and the operation id
	Title   string
	Text    string  // what it does, when to use it, what comes back
	Routes  []Route // the first is canonical; the others are old spellings
	Scope   ident.Scope
	Acts    bool              // acts for an agent: agent_id is needed, a session is opened
	Mailbox bool              // acts for an agent where one is named: a person who calls has an address of their own
	Tool    Tool              // zero: no tool
	CLI     string            // "lock acquire": words of the coordctl command; empty: derived from Name
	Aliases map[string]string // old field spelling → field
	Timeout time.Duration     // default 5 s; wait_seconds, when the input has it, is added
	// Waits marks operations that may block on wait_seconds: Do then applies the request key itself, per attempt.
	Waits bool
	// Or is a second scope that suffices.
	Or ident.Scope
	// Status is the HTTP status of success, 200 when 0. 204 answers without a body.
	Status int
	// Listed makes validation failures carry, in "detail", a list of {type, loc, msg, input}: clients of an older service
	// read that.
	Listed bool
	// RefuseEmpty makes an empty HTTP body 422 even when nothing is required (probes must not claim work).
	RefuseEmpty bool
	Do          func(ctx context.Context, c ident.Caller, in In) (Out, error)
}

// Def is a registered operation, its types erased.
type Def struct {
	Name, Title, Text, CLI string
	Routes                 []Route
	Scope                  ident.Scope
	Acts, Waits, Mailbox   bool
	RefuseEmpty            bool
	Or                     ident.Scope
	Status                 int
	Listed                 bool
	Tool                   Tool
	Timeout                time.Duration
	Aliases                map[string]string
	In, Out                *huma.Schema // without identity members; nested structs inlined
	PathFields             []string     // input members that hold file paths (tag kind:"path")
	RareFields             []string     // input members shown over MCP only in the full profile (tag mcp:"full")
	RareOut                []string     // output members whose schema is shown over MCP only in the full profile (the same tag)
	Types                  [2]reflect.Type

	defaults map[string]any // of optional members, as JSON would give them
	do       func(ctx context.Context, c ident.Caller, args []byte) (any, error)
}

// Catalogue is the ordered set of all operations.
type Catalogue struct {
	defs   []*Def
	byName map[string]*Def
	routes map[Route]string
	reg    huma.Registry
}

// NewCatalogue returns an empty catalogue.
func NewCatalogue() *Catalogue {
	return &Catalogue{byName: map[string]*Def{}, routes: map[Route]string{}, reg: inline{}}
}

// Defs returns the operations in order of registration.
func (c *Catalogue) Defs() []*Def { return c.defs }

// Get returns the operation of that name, nil when there is none.
func (c *Catalogue) Get(name string) *Def { return c.byName[name] }

// Register adds an operation. It panics on a bad declaration: no name, text or scope, a name or route taken twice,
// an alias for a member that does not exist.
func Register[In, Out any](c *Catalogue, o Op[In, Out]) {
	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	d := &Def{
		Name: o.Name, Title: o.Title, Text: o.Text, CLI: o.CLI, Routes: o.Routes, Scope: o.Scope, Acts: o.Acts, Waits: o.Waits, Mailbox: o.Mailbox,
		RefuseEmpty: o.RefuseEmpty, Or: o.Or, Status: o.Status, Listed: o.Listed, Tool: o.Tool, Timeout: o.Timeout, Aliases: o.Aliases, Types: [2]reflect.Type{in, out},
		In: schemaOf(c.reg, in), Out: outSchema(c.reg, out), do: typed(o.Do),
	}
	if d.CLI == "" {
		d.CLI = strings.ReplaceAll(d.Name, "_", "-")
	}
	if d.Status == 0 {
		d.Status = http.StatusOK
	}
	if d.Timeout == 0 {
		d.Timeout = 5 * time.Second
	}
	d.PathFields, d.RareFields = taggedFields(in)
	_, d.RareOut = taggedFields(out)
	d.defaults = defaultsOf(d.In)
	if err := c.check(d); err != nil {
		panic(fmt.Sprintf("operation %q: %v", d.Name, err))
	}
	c.defs = append(c.defs, d)
	c.byName[d.Name] = d
	for _, r := range d.Routes {
		c.routes[r] = d.Name
	}
}

var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

func (c *Catalogue) check(d *Def) error {
	switch {
	case d.Name == "" || d.Title == "" || d.Text == "":
		return fmt.Errorf("name, title and text are needed")
	case d.Scope == "":
		return fmt.Errorf("a scope is needed")
	case c.byName[d.Name] != nil:
		return fmt.Errorf("registered twice")
	case d.do == nil:
		return fmt.Errorf("nothing to do")
	}
	for i, r := range d.Routes {
		if other := c.routes[r]; other != "" {
			return fmt.Errorf("route %s %s is %s's", r.Method, r.Path, other)
		}
		if !slices.Contains(methods, r.Method) || !strings.HasPrefix(r.Path, "/") || slices.Contains(d.Routes[:i], r) {
			return fmt.Errorf("route %s %s is none", r.Method, r.Path)
		}
	}
	for old, name := range d.Aliases {
		if d.In.Properties[name] == nil || d.In.Properties[old] != nil || slices.Contains(identityFields, old) {
			return fmt.Errorf("alias %s → %s does not fit the input", old, name)
		}
	}
	return nil
}
