// Package client is the public Go SDK of Agent Coordinator: the wire structs (one file per noun), the error type
// that every door answers with, and AgentCoordinationClient, which calls the HTTP API.
//
// The server, the runner and users share these structs, so a field's name, limits and text are written once, in
// the struct's tags: json is the name, doc the text, minimum, maximum, minLength, maxLength, enum, default and
// example what validation and every schema say.
package client
