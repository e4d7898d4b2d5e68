package op

import (
	"net/http"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/fault"
)

// wrongMember is one entry of a listed detail.
type wrongMember struct {
	Type  string   `json:"type"`
	Loc   []string `json:"loc"`
	Msg   string   `json:"msg"`
	Input any      `json:"input"`
}

// AsListed gives a validation failure the detail that clients of an older service read: one entry for each wrong
// member. Other failures, and those of operations that are not Listed, stay as they are.
func (d *Def) AsListed(f *fault.Error) *fault.Error {
	what, isText := f.Detail.(string)
	if !d.Listed || !isText || f.Status != http.StatusUnprocessableEntity {
		return f
	}
	from := "body"
	if len(d.Routes) > 0 && (d.Routes[0].Method == http.MethodGet || d.Routes[0].Method == http.MethodDelete) {
		from = "query"
	}
	var list []wrongMember
	for text := range strings.SplitSeq(what, "; ") {
		at, msg := f.Field, text
		if word, rest, ok := strings.Cut(text, " "); ok {
			head, _, _ := strings.Cut(word, ".")
			head, _, _ = strings.Cut(head, "[")
			if d.In.Properties[head] != nil {
				at, msg = word, rest
			}
		}
		loc := []string{from}
		if at != "" {
			loc = append(loc, strings.Split(at, ".")...)
		}
		list = append(list, wrongMember{Type: typeOf(msg), Loc: loc, Msg: msgOf(msg), Input: nil})
	}
	own := *f
	own.Detail = list
	return &own
}

// typeOf and msgOf translate the commonest texts into the words of the older service.
func typeOf(msg string) string {
	switch {
	case msg == "is needed":
		return "missing"
	case strings.HasPrefix(msg, "must be a string"):
		return "string_type"
	case strings.HasPrefix(msg, "must be a boolean"):
		return "bool_type"
	case strings.HasPrefix(msg, "must be an integer"):
		return "int_type"
	case strings.HasPrefix(msg, "must be an array"):
		return "list_type"
	case strings.HasPrefix(msg, "must be an object"):
		return "dict_type"
	case strings.HasPrefix(msg, "must be one of"):
		return "enum"
	}
	return "value_error"
}

func msgOf(msg string) string {
	switch {
	case msg == "is needed":
		return "Field required"
	case strings.HasPrefix(msg, "must "):
		return "Input should " + strings.TrimPrefix(msg, "must ")
	}
	return msg
}
