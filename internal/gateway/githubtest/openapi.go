package githubtest

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// published is GitHub's own description of the operations below; testdata/README.md says where it is from.
//
//go:embed testdata/github.openapi.json
var published []byte

// Operations are what the fake serves, as GitHub names them.
var Operations = []string{
	"GET /repos/{owner}/{repo}",
	"GET /repos/{owner}/{repo}/pulls/{pull_number}",
	"GET /repos/{owner}/{repo}/pulls/{pull_number}/files",
	"GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews",
	"GET /repos/{owner}/{repo}/compare/{basehead}",
	"GET /repos/{owner}/{repo}/commits",
	"GET /repos/{owner}/{repo}/git/trees/{tree_sha}",
	"GET /repos/{owner}/{repo}/contents/{path}",
	"GET /repos/{owner}/{repo}/collaborators/{username}/permission",
	"POST /repos/{owner}/{repo}/statuses/{sha}",
	"POST /repos/{owner}/{repo}/check-runs",
	"PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}",
	"GET /repos/{owner}/{repo}/commits/{ref}/check-runs",
	"POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches",
	"GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs",
	"GET /repos/{owner}/{repo}/actions/runs/{run_id}",
	"GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs",
	"POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel",
	"GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries",
	"POST /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts",
	"GET /app/hook/deliveries",
	"POST /app/hook/deliveries/{delivery_id}/attempts",
	"GET /repos/{owner}/{repo}/installation",
	"POST /app/installations/{installation_id}/access_tokens",
	"GET /orgs/{org}/teams/{team_slug}/memberships/{username}",
}

// operation is one of Operations, ready to check requests and answers against.
type operation struct {
	name  string
	route *routers.Route
	query []string // names of the parameters that the query may have
}

// operations parses the description once; it takes a moment.
var operations = sync.OnceValues(func() (map[string]*operation, error) {
	doc, err := openapi3.NewLoader().LoadFromData(published)
	if err != nil {
		return nil, fmt.Errorf("GitHub's OpenAPI description: %w", err)
	}
	out := map[string]*operation{}
	for _, name := range Operations {
		method, path, _ := strings.Cut(name, " ")
		item := doc.Paths.Value(path)
		if item == nil || item.GetOperation(method) == nil {
			return nil, fmt.Errorf("GitHub's OpenAPI description has no %s", name)
		}
		o := &operation{name: name, route: &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: item.GetOperation(method)}}
		for _, p := range o.route.Operation.Parameters {
			if p.Value.In == "query" {
				o.query = append(o.query, p.Value.Name)
			}
			if p.Value.Name == "created" {
				// The description's text says what its form does not: a range of the search syntax, such as ">=2026-01-01T00:00:00Z".
				p.Value.Schema.Value.Format = ""
			}
		}
		out[name] = o
	}
	return out, nil
})

func (o *operation) input(r *http.Request, params map[string]string) *openapi3filter.RequestValidationInput {
	options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, MultiError: true, IncludeResponseStatus: true}
	options.WithCustomSchemaErrorFunc(func(err *openapi3.SchemaError) string { // without the whole schema
		return strings.Join(err.JSONPointer(), "/") + ": " + err.Reason
	})
	return &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: o.route, Options: options}
}

// request checks a request: its parameters, their names included, and its body.
func (o *operation) request(r *http.Request, params map[string]string) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	for name := range query {
		if !slices.Contains(o.query, name) {
			return fmt.Errorf("GitHub knows no parameter %q here", name)
		}
	}
	return openapi3filter.ValidateRequest(context.Background(), o.input(r, params))
}

// response checks an answer of ours: every member of it must exist at GitHub and have the right type.
func (o *operation) response(r *http.Request, params map[string]string, status int, header http.Header, body []byte) error {
	if o.route.Operation.Responses.Status(status) == nil {
		return fmt.Errorf("GitHub never answers %d here", status)
	}
	in := &openapi3filter.ResponseValidationInput{RequestValidationInput: o.input(r, params), Status: status, Header: header, Options: o.input(r, params).Options}
	in.SetBodyBytes(body)
	return openapi3filter.ValidateResponse(context.Background(), in)
}
