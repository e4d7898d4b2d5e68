// Package install registers the MCP server with coding hosts and takes that back.
//
// # Promise
//
//   - Nothing is written before the server was started and listed its tools.
//   - What others wrote stays as it is: JSON keeps its members and their order, TOML every byte outside our markers.
//     The file as it was is kept beside it. Doing it twice changes nothing the second time.
//   - No secret is written: variables are named, not copied. The command is an absolute path.
//   - Success means registered: the file is read again, and where the host's own command is installed, it lists us.
//
// # Failure
//
// ErrNotOurs: the host has an entry of our name that we did not write. ErrNoServer: mcp-server does not answer.
// A file that cannot be parsed is refused, never rewritten.
package install
