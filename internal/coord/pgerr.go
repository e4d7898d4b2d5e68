package coord

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// mapErr turns what pgx returns into a fault. Errors raised by our functions carry code, why and next; everything
// that means "the database did not answer" is unavailable; the rest stays as it is (fault.From makes it internal).
func mapErr(err error) error {
	if err == nil {
		return nil
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return mapPg(pg, err)
	}
	var f *fault.Error
	var netErr net.Error
	var connErr *pgconn.ConnectError
	switch {
	case errors.As(err, &f):
		return err
	case errors.Is(err, pgx.ErrNoRows):
		return errNoRows
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &connErr), errors.As(err, &netErr), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed), pgconn.SafeToRetry(err), pgconn.Timeout(err):
		return fault.Unavailable(errors.New("the connection to the database failed"))
	}
	return err
}

// raised is the detail JSON of coord.fail.
type raised struct {
	Code  client.Code `json:"code"`
	Why   string      `json:"why"`
	Field string      `json:"field"`
}

func mapPg(pg *pgconn.PgError, err error) error {
	if status, ok := strings.CutPrefix(pg.Code, "PT"); ok {
		if status == "440" {
			return ident.ErrSessionLapsed
		}
		var r raised
		if json.Unmarshal([]byte(pg.Detail), &r) != nil || r.Code == "" {
			r.Code = codeOf(status)
		}
		f := fault.New(r.Code, pg.Message, r.Why, pg.Hint)
		f.Field = r.Field
		if n, err := strconv.Atoi(status); err == nil && http.StatusText(n) != "" { // usually the code's own
			f.Status, f.Title = n, http.StatusText(n)
		}
		return f
	}
	switch pg.Code[:2] {
	case "22": // a value of the request that Postgres cannot represent, e.g. a NUL character
		return fault.Invalid("", "a value cannot be stored: "+pg.Message, "remove control characters and check sizes")
	case "08", "53", "57", "58", "55", "25":
		return fault.Unavailable(errors.New("the database answered " + pg.Code))
	case "40": // serialisation failure or deadlock: nothing was changed
		f := fault.New(client.CodeUnavailable, "the database asked to repeat the call", "SQL state "+pg.Code, "retry; nothing was changed")
		return f
	}
	return err
}

func codeOf(status string) client.Code {
	n, _ := strconv.Atoi(status)
	for _, c := range fault.Codes() {
		if fault.Status(c) == n {
			return c
		}
	}
	return client.CodeInternal
}
