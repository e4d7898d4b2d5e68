package mcpstdio

import (
	"encoding/json"
	"testing"
)

// FuzzEnvelope: a message's kind and the id of its answer are read of anything that a client sends, and an answer to it
// is one line of JSON.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"x"}}}`), 10)
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`), 0)
	f.Add([]byte(`{"method":"m","params":[1,2],"id":"last\u0000"}`), 20)
	f.Add([]byte(`{"id":{"a":1},"error":null,"method":7}`), 5)
	f.Fuzz(func(t *testing.T, message []byte, cut int) {
		if cut >= 0 && cut < len(message) {
			if id := idOfCut(message[:cut], message[cut:]); id != nil && !json.Valid(id) {
				t.Fatalf("%q has the id %q", message, id)
			}
		}
		e, err := openEnvelope(message)
		if err != nil {
			return
		}
		if _, ok := idKey(e.ID); e.kind() == kindRequest && ok != (usableID(e.ID) != nil) {
			t.Fatalf("%q: %q", message, e.ID)
		}
		out, err := line(errorReply(usableID(e.ID), -32600, "no"), nil)
		if err != nil || !json.Valid(out) || out[len(out)-1] != '\n' {
			t.Fatalf("%q is answered with %q: %v", message, out, err)
		}
	})
}
