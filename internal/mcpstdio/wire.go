package mcpstdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"
)

// codeBusy is the answer to a request that is valid but not served now. It lies
// in the range that MCP leaves to implementations (-32000 to -32019).
const codeBusy = -32000

// envelope is what the transport reads of a message. mcp-go decodes the message
// itself; this only decides where it goes.
type envelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
	Params  struct {
		RequestID json.RawMessage `json:"requestId"`
		Meta      struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

type messageKind int

const (
	kindInvalid messageKind = iota
	kindRequest
	kindNotification
	kindResponse
)

// openEnvelope reads the outer fields of message. The error is non-nil only if
// message is not JSON. A field of the wrong type is left empty: a wrong id or
// method makes the message invalid, a wrong params is mcp-go's to report.
func openEnvelope(message []byte) (envelope, error) {
	var e envelope
	err := json.Unmarshal(message, &e)
	var wrongType *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &wrongType) {
		return envelope{}, err
	}
	return e, nil
}

func (e *envelope) kind() messageKind {
	hasOutcome := e.Result != nil || e.Error != nil
	switch {
	case e.JSONRPC != mcp.JSONRPC_VERSION:
		return kindInvalid
	case e.Method == "" && hasOutcome:
		return kindResponse
	case e.Method == "" || hasOutcome:
		return kindInvalid
	case e.ID == nil:
		return kindNotification
	default:
		return kindRequest
	}
}

// idKey maps a JSON-RPC id to a map key, so that 1 and 1.0 are the same request
// and 1 and "1" are not. ok is false for null and what else may not be an id.
func idKey(raw json.RawMessage) (key string, ok bool) {
	if len(raw) == 0 {
		return "", false
	}
	if raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return "", false
		}
		return "s" + s, true
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return "n" + strconv.FormatInt(n, 10), true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return "", false
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return "n" + strconv.FormatInt(int64(f), 10), true
	}
	return "n" + strconv.FormatFloat(f, 'g', -1, 64), true
}

// usableID returns raw if it may stand in a reply, else nil, which is written
// as null.
func usableID(raw json.RawMessage) json.RawMessage {
	if _, ok := idKey(raw); ok {
		return raw
	}
	return nil
}

func requestID(raw json.RawMessage) mcp.RequestId {
	if raw == nil {
		return mcp.NewRequestId(nil)
	}
	return mcp.NewRequestId(raw)
}

// errorReply is an error for the request raw, or for nobody if raw is nil.
func errorReply(raw json.RawMessage, code int, text string) mcp.JSONRPCError {
	return mcp.NewJSONRPCError(requestID(raw), code, text, nil)
}

// withID puts the client's own spelling of the id into a reply: mcp-go decodes
// numbers as float64, which changes ids above 2^53.
func withID(reply mcp.JSONRPCMessage, raw json.RawMessage) (_ mcp.JSONRPCMessage, code int) {
	switch r := reply.(type) {
	case mcp.JSONRPCResponse:
		r.ID = requestID(raw)
		return r, 0
	case mcp.JSONRPCError:
		r.ID = requestID(raw)
		return r, r.Error.Code
	default:
		return errorReply(raw, mcp.INTERNAL_ERROR, "the server produced no reply"), mcp.INTERNAL_ERROR
	}
}

// line encodes a message as one line. What cannot be encoded becomes an error
// for the request raw, so that it is answered at all.
func line(message any, raw json.RawMessage) ([]byte, error) {
	b, err := json.Marshal(message)
	if err == nil {
		return append(b, '\n'), nil
	}
	b, err2 := json.Marshal(errorReply(raw, mcp.INTERNAL_ERROR, "the result cannot be encoded as JSON"))
	if err2 != nil {
		return nil, errors.Join(err, err2)
	}
	return append(b, '\n'), err
}

// lastID matches an id that is the last member of the outermost object: after
// its value only one brace follows.
var lastID = regexp.MustCompile(`"id"\s*:\s*(-?[0-9]+|"(?:[^"\\]|\\.)*")\s*\}\s*$`)

// idOfCut finds the id of a message of which only the head and the tail are
// known. It returns nil unless the head shows a method, because a reply to the
// id of a response would end an unrelated request of the client.
func idOfCut(head, tail []byte) json.RawMessage {
	var id json.RawMessage
	var isRequest bool
	dec := json.NewDecoder(bytes.NewReader(head))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for {
		key, err := dec.Token()
		if err != nil || key == json.Delim('}') {
			break
		}
		// Decode fails at the member that the head cuts off, which ends the
		// search: nested members are never looked at.
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break
		}
		switch key {
		case "id":
			id = usableID(value)
		case "method":
			isRequest = true
		}
	}
	if !isRequest {
		return nil
	}
	if id == nil {
		if m := lastID.FindSubmatch(tail); m != nil {
			id = usableID(m[1])
		}
	}
	return bytes.Clone(id)
}
