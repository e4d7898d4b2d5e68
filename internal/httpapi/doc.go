// Package httpapi is the HTTP door: it serves every operation of a catalogue under its routes, with keys, request
// ids, problem+json errors, an OpenAPI description and a page that shows it. It sees operations, never nouns and
// never the data layer.
//
// # Promise
//
//   - The key is checked first, then the request's form; nothing is changed by a request that fails either.
//   - Every failure is problem+json with a stable code; a defect is 500 with a request id and nothing else. An outage
//     is 503 with Retry-After, never an empty list.
//   - Arguments may stand in the JSON body, the query or the path; path wins over body, body over query. Members
//     that no operation knows are ignored and named in X-Unknown-Fields.
//   - A call that waits is answered when the server stops (503, retryable), and cancelled when its client leaves.
package httpapi
