package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/local"
	"github.com/agent-coordinator/agent-coordinator/internal/mcpapi"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// endpoint is the API that operations go to.
type endpoint struct {
	url, key string
	project  string // of calls that name none
	source   string // where it was found, for doctor
}

// endpoint finds the API: flags, environment, what `up` started. A key without an address goes with up's address.
func (a *app) endpoint() (endpoint, error) {
	e := endpoint{url: a.apiURL, key: a.apiKey, source: "--api-url"}
	if e.url == "" {
		e.url, e.source = a.Getenv("COORDINATION_API_URL"), "COORDINATION_API_URL"
	}
	if e.key == "" {
		e.key = a.Getenv("COORDINATION_API_KEY")
	}
	if e.url != "" {
		e.url = strings.TrimRight(e.url, "/")
		return e, nil
	}
	home, err := local.FindHome()
	if err != nil {
		return e, err
	}
	up, err := home.ReadUp()
	if errors.Is(err, fs.ErrNotExist) {
		return e, fault.New(client.CodeUnavailable, "no API to talk to", "nothing is up on this machine and no address was given",
			"start one with `coordctl up`, or name one with --api-url or COORDINATION_API_URL")
	}
	if err != nil {
		return e, err
	}
	e.url, e.project, e.source = up.APIURL, up.Project, "up.json"
	if e.key == "" {
		e.key = up.APIKey
	}
	return e, nil
}

// call runs an operation over HTTP and returns the reply's bytes. Failures are faults.
func (a *app) call(ctx context.Context, d *op.Def, args map[string]any, requestKey string) ([]byte, error) {
	e, err := a.endpoint()
	if err != nil {
		return nil, err
	}
	remote, err := mcpapi.NewRemote(e.url, e.key)
	if err != nil {
		return nil, usageError{err}
	}
	defer remote.Close()
	if args, err = plainArgs(args); err != nil {
		return nil, err
	}
	res, err := remote.Call(ctx, d, op.Request{Args: args, Claim: a.claim(e, d), RequestKey: requestKey})
	if err != nil {
		return nil, err
	}
	raw, ok := res.Body.(json.RawMessage)
	if !ok {
		return nil, fmt.Errorf("%s: the reply is a %T", d.Name, res.Body)
	}
	return raw, nil
}

// claim is who the call acts for. The default agent goes only with calls that act for one, since a key may be bound
// to another.
func (a *app) claim(e endpoint, d *op.Def) ident.Claim {
	c := ident.Claim{
		Project: firstOf(a.who.project, e.project), Repository: a.who.repository, AgentType: a.who.agentType, Session: a.who.session,
	}
	if d.Acts || a.who.agent != a.defaultAgent() {
		c.Agent = a.who.agent
	}
	return c
}

// plainArgs gives arguments the types that JSON decoding would, which validation expects.
func plainArgs(args map[string]any) (map[string]any, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, usagef("the input cannot be sent: %w", err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, usagef("the input cannot be sent: %w", err)
	}
	return out, nil
}
