// Package mcpapi is the MCP door: it derives an mcp-go server from the catalogue of operations and carries tool calls,
// resources and prompts to it. It sees operations and who calls, never the data layer.
//
// # Promise
//
//   - tools/list is a function of the catalogue and the profile alone: the same bytes for every client, in order of
//     name. The core profile stays within the budget of Budget.
//   - Every tool is annotated, has an output schema, and answers with a JSON object, at most MaxResult bytes. What
//     does not fit is cut with a sentence that says how to narrow the question.
//   - Wrong arguments, refusals and outages are tool results with isError, so that the model reads them; JSON-RPC
//     errors are for messages that name no tool. No result carries SQL, a stack or an internal error's text.
//   - Progress of a call reaches the client before its result, and only when it asked.
//   - The sessions that called through a Keeper are kept alive and their locks renewed while it runs.
//
// # Failure
//
// When the database or the API cannot be reached, tools answer `unavailable`; the lists, prompts and instructions work
// all the same.
package mcpapi
