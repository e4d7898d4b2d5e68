package httpapi

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-coordinator/agent-coordinator/internal/fault"
)

// beside are the routes that a server has beside its operations.
type beside struct {
	polls, live bool
	webhooks    map[string]Webhook
}

// Component responses that are no code's own.
const (
	responsesAt      = "#/components/responses/"
	badRequest       = "bad_request"
	unsupportedMedia = "unsupported_media"
)

// addFaults adds the answer of every code.
func addFaults(o *huma.Operation) {
	for _, c := range fault.Codes() {
		o.Responses[strconv.Itoa(fault.Status(c))] = &huma.Response{Ref: responsesAt + string(c)}
	}
}

// openOperations adds the routes that need no key.
func openOperations(doc *huma.OpenAPI) {
	for _, o := range [][3]string{
		{"/health", "get_health", "Whether the process lives, and whether its database answers; always 200"},
		{"/live", "get_live", "Whether the process lives"},
		{"/ready", "get_ready", "Whether calls can succeed; 503 while the database is away"},
	} {
		operation := &huma.Operation{
			OperationID: o[1], Summary: o[2], Tags: []string{"server"}, Security: []map[string][]string{{}},
			Responses: map[string]*huma.Response{"200": {
				Description: "the state",
				Content:     map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString}}}},
			}},
		}
		if o[0] == "/ready" {
			operation.Responses["503"] = &huma.Response{Ref: responsesAt + "unavailable"}
		}
		setOperation(doc, o[0], http.MethodGet, operation)
	}
	doc.Tags = append(doc.Tags, &huma.Tag{Name: "server"})
}

// besideOperations adds the routes that keep a connection, and the ones that check their senders themselves.
func besideOperations(doc *huma.OpenAPI, more beside) {
	text := &huma.Schema{Type: huma.TypeString}
	query := []*huma.Param{{Name: "session_id", In: "query", Description: "only this session", Schema: text}, {Name: "api_key", In: "query", Description: "the key, where no header can be sent", Schema: text}}
	any200 := func(media string) map[string]*huma.Response {
		return map[string]*huma.Response{"200": {Description: "see above", Content: map[string]*huma.MediaType{media: {Schema: &huma.Schema{}}}}}
	}
	add := func(path string, o *huma.Operation) {
		addFaults(o)
		setOperation(doc, path, http.MethodGet, o)
	}
	if more.polls {
		o := &huma.Operation{
			OperationID: "poll_runner", Summary: "Long-poll of a runner", Tags: []string{"runner"}, Responses: any200("application/json"),
			Description: "Waits up to half a minute. 200 with one of {\"stop_runs\": [ids]}, {\"deregistered\": true}, {\"run\": Run}; " +
				"204 when there was nothing; 401 for a runner that must register. A run is the runner's once it reports it started.",
			Parameters: []*huma.Param{{Name: "runner_id", In: "query", Required: true, Schema: text}},
		}
		o.Responses["204"] = &huma.Response{Description: "there was nothing to do in time"}
		add("/runner/runs", o)
	}
	if more.live {
		add("/sse/sessions", &huma.Operation{
			OperationID: "watch_sessions", Summary: "Live view as server-sent events", Tags: []string{"sse"}, Parameters: query, Responses: any200("text/event-stream"),
			Description: "Events init, session_created, session_updated, session_deleted, event, run_created, run_updated, run_failed, runner_registered, " +
				"runner_updated, runner_removed. Last-Event-ID replays what came after it; gap names numbers that are not kept any more. A key may stand in api_key.",
		})
		o := &huma.Operation{
			OperationID: "watch_sessions_ws", Summary: "Live view as WebSocket", Tags: []string{"ws"}, Parameters: query, Responses: any200("application/json"),
			Description: "The events of /sse/sessions as text frames, each an object with its type. What the client sends is ignored.",
		}
		o.Responses["101"] = &huma.Response{Description: "frames follow"}
		for _, status := range []string{"400", "426"} {
			o.Responses[status] = &huma.Response{Description: "not a WebSocket handshake", Content: map[string]*huma.MediaType{"text/plain": {Schema: text}}}
		}
		add("/ws", o)
	}
	for _, path := range slices.Sorted(maps.Keys(more.webhooks)) {
		o := &huma.Operation{
			OperationID: "receive_github", Summary: "Delivery of a webhook of GitHub", Tags: []string{"webhook"}, Security: []map[string][]string{{}},
			Description: "Signed in X-Hub-Signature-256 with the hook's secret; X-GitHub-Event and X-GitHub-Delivery name it. 202 says that it is stored: a redelivery is told as duplicate.",
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject}}}},
			Responses: map[string]*huma.Response{
				"202": {Description: "stored", Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject}}}},
				"400": {Ref: responsesAt + badRequest}, "415": {Ref: responsesAt + unsupportedMedia},
			},
		}
		addFaults(o)
		setOperation(doc, path, http.MethodPost, o)
	}
}
