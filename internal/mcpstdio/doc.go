// Package mcpstdio serves one MCP server over newline-delimited JSON-RPC, in
// practice the standard streams of a process that an agent host started. It is
// a transport: it moves messages for mcp-go's MCPServer and knows no tool,
// resource or noun of the program above it.
//
// It exists because the stdio loop that comes with mcp-go writes progress after
// the response it belongs to, drops notifications in a burst, runs five calls
// at a time, answers cancelled calls, loses replies when stdin closes and keeps
// one session per process.
//
// # Promise
//
//   - One writer. Every line is one whole message; nothing else of this process
//     reaches the stream when main begins with TakeStdout.
//   - The notifications of a request are written in the order its handler sent
//     them and before its response, never after it. A request that sent
//     progress is answered no sooner than the quiet gap (40 ms) after its last
//     progress line, because clients that read both at once drop the progress.
//     Other requests do not wait for that gap.
//   - No notification is dropped: a handler that sends faster than the client
//     reads waits. list_changed and resources/updated are hints without
//     content, so equal ones that are still waiting to be written become one.
//   - Requests run side by side, so a blocked call delays nobody. Only messages
//     that change the session keep their order of arrival: initialize is
//     finished before the next line is read; resources/subscribe,
//     resources/unsubscribe, logging/setLevel and client notifications are
//     handled one after another.
//   - A request gets at most one reply. One that the client cancelled gets
//     none, neither do its later notifications. A cancel that crosses the reply
//     on the wire is ignored, as is a cancel of initialize.
//   - Both protocol eras work on one stream, message by message: revisions up
//     to 2025-11-25 through initialize, 2026-07-28 through per-request _meta.
//     Each subscriptions/listen stream gets what its own filter asked for,
//     after its acknowledgement, tagged with its subscription id.
//   - Connections share nothing: two Serve calls in one process have their own
//     sessions, requests and subscriptions.
//
// # Failure rules
//
// Messages that cannot be served are answered and the stream goes on:
//
//	not JSON                                   -32700, id null
//	longer than the cap (4 MiB)                -32600, with the id if it is a
//	                                           request and the id is near the
//	                                           start or the end of the line
//	not a JSON-RPC 2.0 request or notification -32600, with the id if usable
//	an id that is in use by a running request  -32600, id null: an answer under
//	                                           that id would end the first one
//	too many requests, or bytes of requests    -32000, retry after a reply
//	arriving during shutdown                   -32000
//	a handler that panics                      -32603, details to the log only
//	a batch                                    -32600, except for a client that
//	                                           negotiated 2025-03-26, the only
//	                                           revision that has batches
//
// Responses are ignored: the server sends no requests. Blank lines are skipped.
//
// The end of the input and the end of Serve's context start the same shutdown:
// nothing new is accepted, listen streams are closed with their result, running
// calls get the grace (2 s) to finish and be answered, then their contexts are
// cancelled with ErrShutdown and they have another half second to return. A
// write error ends the connection at once, cancelling everything with
// ErrDisconnected. Serve leaves no goroutine behind except what it cannot stop:
// a Read or Write call that does not return, and handlers that ignore their
// context. Requests that did not end are reported as ErrAbandoned.
package mcpstdio
