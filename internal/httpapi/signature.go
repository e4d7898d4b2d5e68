package httpapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
)

// headerAgentSignature carries "sha256=" and the HMAC-SHA256 of the raw body, in hex.
const headerAgentSignature = "X-Agent-Signature-256"

// SignedByAgent checks that a body was signed with one of the secrets, beside the key that every call needs. Without a secret
// no signature is asked for; one that is sent all the same is refused, for nothing can vouch for it.
func SignedByAgent(secrets []string) func(http.Header, []byte) error {
	return func(h http.Header, body []byte) error {
		sent := h.Get(headerAgentSignature)
		switch {
		case len(secrets) == 0 && sent == "":
			return nil
		case len(secrets) == 0:
			return unsigned("no secret is configured to check it with", "set AGENT_WEBHOOK_SECRET for the server, or leave the header out")
		case len(h.Values(headerAgentSignature)) != 1:
			return unsigned("the header is missing or there twice", "send "+headerAgentSignature+": sha256=<HMAC-SHA256 of the body, in hex>")
		}
		digest, ok := strings.CutPrefix(sent, "sha256=")
		claimed, err := hex.DecodeString(digest)
		if !ok || err != nil || len(claimed) != sha256.Size {
			return unsigned("the header is not of the form sha256=<64 hex digits>", "sign the raw body with HMAC-SHA256")
		}
		for _, secret := range secrets {
			mac := hmac.New(sha256.New, []byte(secret))
			_, _ = mac.Write(body) // never fails
			if hmac.Equal(mac.Sum(nil), claimed) {
				return nil
			}
		}
		return unsigned("it is of another body or another secret", "sign exactly the bytes that are sent with the secret of AGENT_WEBHOOK_SECRET")
	}
}

func unsigned(why, next string) error {
	return fault.New(client.CodeUnauthenticated, "the signature of the body does not hold", why, next)
}
