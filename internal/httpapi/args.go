package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// bodyTimeout bounds how long a client may take to send its body.
const bodyTimeout = 30 * time.Second

// pathParams returns the parameters of a gin pattern. It panics when one is no member of the operation's input.
func pathParams(d *op.Def, pattern string) []string {
	var out []string
	for seg := range strings.SplitSeq(pattern, "/") {
		if seg == "" || seg[0] != ':' && seg[0] != '*' {
			continue
		}
		if d.In.Properties[seg[1:]] == nil {
			panic(fmt.Sprintf("operation %q: route %s: the input has no member %q", d.Name, pattern, seg[1:]))
		}
		out = append(out, seg[1:])
	}
	return out
}

// arguments merges body, query and path into one object; path wins over body, body over query. Codes: invalid,
// too_large.
func (s *Server) arguments(c *gin.Context, d *op.Def, params []string, hasBody bool) (map[string]any, error) {
	var args map[string]any
	if hasBody {
		body, err := s.body(c)
		if err != nil {
			return nil, err
		}
		if check := s.opts.Signed[c.FullPath()]; check != nil {
			if err := check(c.Request.Header, body); err != nil {
				return nil, err
			}
		}
		if args, err = decode(body, c.Request.Header); err != nil {
			return nil, err
		}
	}
	if args == nil {
		args = map[string]any{}
	}
	if c.Request.URL.RawQuery != "" {
		if err := mergeQuery(args, d, c.Request.URL.RawQuery); err != nil {
			return nil, err
		}
	}
	for _, name := range params {
		v := strings.TrimPrefix(c.Param(name), "/") // gin's catch-all keeps the slash before it
		if !utf8.ValidString(v) {
			return nil, fault.Invalid(name, "the path is not UTF-8", "encode it as UTF-8, then percent-encode")
		}
		if sent, ok := args[name].(string); ok && d.Listed && hasBody && sent != v {
			f := fault.Invalid(name, fmt.Sprintf("Event %s must match URL %s", name, name), "send the same in both places, or leave it out of the body")
			f.Status, f.Title = http.StatusBadRequest, http.StatusText(http.StatusBadRequest)
			return nil, f
		}
		args[name] = coerce(d.In.Properties[name], []string{v})
	}
	return args, nil
}

func mergeQuery(args map[string]any, d *op.Def, raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return fault.Invalid("", "the query string cannot be read", "percent-encode it")
	}
	for name, values := range query {
		for _, v := range append(values, name) {
			if !utf8.ValidString(v) {
				return fault.Invalid("", "the query string is not UTF-8", "encode it as UTF-8, then percent-encode")
			}
		}
		if _, sent := args[name]; sent {
			continue
		}
		property := name
		if to, ok := d.Aliases[name]; ok {
			property = to
		}
		if v := coerce(d.In.Properties[property], values); v != nil {
			args[name] = v
		}
	}
	return nil
}

// body reads the request's body, at most MaxBody bytes.
func (s *Server) body(c *gin.Context) ([]byte, error) {
	r := c.Request
	switch enc := r.Header.Get("Content-Encoding"); enc {
	case "", "identity":
	default:
		return nil, unsupported("bodies with Content-Encoding " + headerWord(enc) + " are not read")
	}
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, nil
	}
	if r.ContentLength > s.opts.MaxBody {
		c.Header("Connection", "close") // else the server would read all of it to reuse the connection
		return nil, s.tooLarge()
	}
	control := http.NewResponseController(c.Writer)
	if control.SetReadDeadline(time.Now().Add(bodyTimeout)) == nil {
		defer func() { _ = control.SetReadDeadline(time.Time{}) }() // else a long wait would end with the deadline
	}
	var body []byte
	var err error
	if n := r.ContentLength; n > 0 {
		body = make([]byte, n)
		_, err = io.ReadFull(r.Body, body)
	} else {
		body, err = io.ReadAll(http.MaxBytesReader(c.Writer, r.Body, s.opts.MaxBody))
	}
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return nil, s.tooLarge()
	case err != nil:
		return nil, fault.Invalid("", "the body ended early or came too slowly", "send the whole body at once")
	}
	return body, nil
}

func (s *Server) tooLarge() error {
	return fault.New(client.CodeTooLarge, fmt.Sprintf("the body is larger than %d bytes", s.opts.MaxBody), "", "send less, or in several calls")
}

// unsupported is a body in a form that the server does not read.
func unsupported(what string) error {
	f := fault.Invalid("", what, "send plain JSON with Content-Type: application/json")
	f.Status, f.Title = http.StatusUnsupportedMediaType, http.StatusText(http.StatusUnsupportedMediaType)
	return f
}

// decode reads a JSON object. The content type only matters for the error: many clients leave it out or wrong.
func decode(body []byte, h http.Header) (map[string]any, error) {
	if len(body) == 0 {
		return nil, nil
	}
	if !utf8.Valid(body) {
		return nil, fault.Invalid("", "the body is not UTF-8", "send JSON encoded as UTF-8")
	}
	var args map[string]any
	err := json.Unmarshal(body, &args)
	if err == nil {
		return args, nil
	}
	if ct, _, _ := strings.Cut(strings.ToLower(h.Get("Content-Type")), ";"); ct != "" && !strings.HasSuffix(strings.TrimSpace(ct), "json") {
		return nil, unsupported("the body is " + headerWord(strings.TrimSpace(ct)) + ", not JSON")
	}
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		line, column := position(body, syntax.Offset)
		return nil, fault.Invalid("", fmt.Sprintf("the body is not JSON: line %d, column %d: %v", line, column, syntax), "correct the JSON")
	case errors.As(err, &typ) && strings.HasPrefix(typ.Value, "number"):
		return nil, fault.Invalid(typ.Field, "a number in the body is out of range", "send a smaller number")
	}
	return nil, fault.Invalid("", "the body must be a JSON object", `send an object such as {"agent_id": "me"}`)
}

// position turns a byte offset into line and column, both from 1.
func position(body []byte, offset int64) (line, column int) {
	line, column = 1, 1
	for _, b := range body[:max(0, min(int64(len(body)), offset-1))] {
		if b == '\n' {
			line, column = line+1, 1
		} else {
			column++
		}
	}
	return line, column
}

// coerce turns the texts of one query or path parameter into what its schema wants. A text that does not fit stays a
// string, so that validation names it. nil: an empty text that cannot mean anything.
func coerce(s *huma.Schema, values []string) any {
	text := values[0]
	if s == nil || s.Type == huma.TypeString {
		return text
	}
	if text == "" && len(values) == 1 {
		return nil
	}
	switch s.Type {
	case huma.TypeArray:
		return coerceList(s, values)
	case huma.TypeInteger:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return float64(n)
		}
	case huma.TypeNumber:
		if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
			return n
		}
	case huma.TypeBoolean:
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	default: // objects and free values as JSON
		var v any
		if json.Unmarshal([]byte(text), &v) == nil {
			return v
		}
	}
	return text
}

// coerceList reads a=1&a=2, a=1,2 and a=[1,2].
func coerceList(s *huma.Schema, values []string) any {
	if len(values) == 1 {
		var list []any
		if strings.HasPrefix(values[0], "[") && json.Unmarshal([]byte(values[0]), &list) == nil {
			return list
		}
		values = strings.Split(values[0], ",")
	}
	list := make([]any, 0, len(values))
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			list = append(list, coerce(s.Items, []string{v}))
		}
	}
	return list
}
