package githubevent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// MaxBody is the largest body that GitHub delivers, in bytes (25 MiB); larger payloads are not sent at all.
const MaxBody = 25 << 20

// maxHeader bounds the headers that end up in keys of tables.
const maxHeader = 100

// Envelope is what the headers of a delivery say.
type Envelope struct {
	Event      string // X-GitHub-Event
	Delivery   string // X-GitHub-Delivery in lower case; a redelivery carries the same one
	HookID     string // X-GitHub-Hook-ID; "" from old servers
	TargetType string // repository, organization, integration, business
	TargetID   string
}

// What ReadEnvelope and Payload can find wrong.
var (
	// ErrHeaders: an X-GitHub header is absent or not a plain token (400).
	ErrHeaders = errors.New("the X-GitHub headers are incomplete")
	// ErrContentType: neither JSON nor a form (415).
	ErrContentType = errors.New("the content type is neither application/json nor application/x-www-form-urlencoded")
	// ErrPayload: the body holds no JSON object (400).
	ErrPayload = errors.New("the body holds no JSON object")
)

// ReadEnvelope reads the headers of a delivery. It returns ErrHeaders (wrapped) when event or delivery id are missing or
// would make poor keys.
func ReadEnvelope(h http.Header) (Envelope, error) {
	e := Envelope{
		Event:      h.Get("X-GitHub-Event"),
		Delivery:   strings.ToLower(h.Get("X-GitHub-Delivery")),
		HookID:     h.Get("X-GitHub-Hook-ID"),
		TargetType: h.Get("X-GitHub-Hook-Installation-Target-Type"),
		TargetID:   h.Get("X-GitHub-Hook-Installation-Target-ID"),
	}
	switch {
	case !token(e.Event):
		return Envelope{}, fmt.Errorf("%w: X-GitHub-Event", ErrHeaders)
	case !token(e.Delivery):
		return Envelope{}, fmt.Errorf("%w: X-GitHub-Delivery", ErrHeaders)
	}
	for _, optional := range []*string{&e.HookID, &e.TargetType, &e.TargetID} {
		if !token(*optional) {
			*optional = ""
		}
	}
	return e, nil
}

// token says whether a header's value is a short word of letters, digits, dashes and underscores.
func token(s string) bool {
	if s == "" || len(s) > maxHeader {
		return false
	}
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
		default:
			return false
		}
	}
	return true
}

// Payload returns the JSON object of a body whose signature was checked: the body itself, or the form's member "payload".
// It returns ErrContentType or ErrPayload, wrapped.
func Payload(contentType string, body []byte) ([]byte, error) {
	trimmed, err := Unwrap(contentType, body)
	switch {
	case err != nil:
		return nil, err
	case !json.Valid(trimmed):
		return nil, ErrPayload
	case len(bytes.TrimSpace(trimmed[1:len(trimmed)-1])) == 0:
		return nil, fmt.Errorf("%w with members", ErrPayload)
	}
	return trimmed, nil
}

// Unwrap is Payload for a body that Payload accepted before: whether it is JSON throughout is not looked at again, which
// Parse does by itself.
func Unwrap(contentType string, body []byte) ([]byte, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, fmt.Errorf("%w: %.100q", ErrContentType, contentType)
	}
	switch media {
	case "application/json":
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil || len(form["payload"]) != 1 {
			return nil, fmt.Errorf("%w: the form needs exactly one member payload", ErrPayload)
		}
		body = []byte(form["payload"][0])
	default:
		return nil, fmt.Errorf("%w: %.100q", ErrContentType, media)
	}
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, ErrPayload
	}
	return trimmed, nil
}
