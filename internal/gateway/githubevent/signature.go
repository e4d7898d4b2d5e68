package githubevent

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
)

// SignatureHeader carries "sha256=" and the HMAC-SHA256 of the raw body in hex. GitHub sends the SHA-1 form beside it,
// which nobody here reads.
const SignatureHeader = "X-Hub-Signature-256"

const signaturePrefix = "sha256="

// What Verify can find wrong.
var (
	// ErrNoSecret: nothing is configured to check a signature with. The route must refuse to serve (503).
	ErrNoSecret = errors.New("no webhook secret is configured")
	// ErrNoSignature: the header is absent (401).
	ErrNoSignature = errors.New("the request carries no " + SignatureHeader + " header")
	// ErrSignature: the header is not one well-formed signature of this body under a known secret (401).
	ErrSignature = errors.New("the signature does not match the body under any configured secret")
)

// Verify says whether the body was signed with one of the secrets: the current one and, while it is being rotated, the one
// before. Empty secrets count as none. body is what came over the wire, before any decoding. It returns ErrNoSecret,
// ErrNoSignature or ErrSignature.
func Verify(header http.Header, body []byte, secrets ...string) error {
	usable := make([]string, 0, len(secrets))
	for _, s := range secrets {
		if strings.TrimSpace(s) != "" {
			usable = append(usable, s)
		}
	}
	if len(usable) == 0 {
		return ErrNoSecret
	}
	values := header.Values(SignatureHeader)
	if len(values) == 0 {
		return ErrNoSignature
	}
	if len(values) > 1 { // which one a proxy before us looked at is anybody's guess
		return ErrSignature
	}
	digest, ok := strings.CutPrefix(values[0], signaturePrefix)
	if !ok {
		return ErrSignature
	}
	claimed, err := hex.DecodeString(digest)
	if err != nil || len(claimed) != sha256.Size {
		return ErrSignature
	}
	matched := false
	for _, s := range usable { // every secret is tried, so that the time does not tell which one matched
		if hmac.Equal(claimed, mac(s, body)) {
			matched = true
		}
	}
	if !matched {
		return ErrSignature
	}
	return nil
}

// Sign returns the value of SignatureHeader for a body, as GitHub computes it.
func Sign(secret string, body []byte) string {
	return signaturePrefix + hex.EncodeToString(mac(secret, body))
}

func mac(secret string, body []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write(body)
	return h.Sum(nil)
}
