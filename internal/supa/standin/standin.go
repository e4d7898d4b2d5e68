// Package standin answers a small part of PostgREST's HTTP interface from a Postgres, for tests: reading tables and views
// with select, filters, order, limit and offset; inserting, changing and deleting rows. As PostgREST does, it becomes the
// role of the caller's key with `set local role` and hands on the claims, so row level security and grants decide.
//
// It knows the keys of both families: sb_publishable_… is anon, sb_secret_… is service_role, a JWT signed with Secret
// (HS256) is what its claim role says. Errors carry PostgREST's codes and statuses. Whatever it does not know is a 400.
package standin

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Server answers for the database of Pool, whose user may become the three roles. MaxRows cuts replies silently, 0: never.
type Server struct {
	Pool           *pgxpool.Pool
	Secret         string // of the JWTs
	PublishableKey string
	SecretKey      string
	MaxRows        int
}

// Token signs claims as the project would.
func (s *Server) Token(claims string) string {
	enc := base64.RawURLEncoding.EncodeToString
	head := enc([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + enc([]byte(claims))
	return head + "." + enc(s.sign(head))
}

func (s *Server) sign(head string) []byte {
	mac := hmac.New(sha256.New, []byte(s.Secret))
	mac.Write([]byte(head)) // never fails
	return mac.Sum(nil)
}

type problem struct {
	status        int
	Code          string `json:"code"`
	Message       string `json:"message"`
	Details, Hint *string
}

func (p *problem) Error() string { return p.Message }

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	rows, status, err := s.serve(r)
	var p *problem
	switch {
	case err == nil:
		w.WriteHeader(status)
		_, _ = w.Write(rows)
		return
	case !errors.As(err, &p):
		p = &problem{status: http.StatusServiceUnavailable, Code: "PGRST000", Message: "Could not connect with the database"}
	}
	w.WriteHeader(p.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": p.Code, "message": p.Message, "details": p.Details, "hint": p.Hint})
}

// identity is the role and the claims behind the request's keys.
func (s *Server) identity(r *http.Request) (role, claims string, err error) {
	apikey := r.Header.Get("apikey")
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case apikey == "":
		return "", "", &problem{status: 401, Code: "PGRST302", Message: "No API key found in request"}
	case apikey == s.SecretKey && bearer == "":
		return "service_role", `{"role": "service_role"}`, nil
	case apikey == s.PublishableKey && bearer == "":
		return "anon", `{"role": "anon"}`, nil
	case strings.HasPrefix(apikey, "sb_") && (apikey != s.PublishableKey || strings.HasPrefix(bearer, "sb_")), bearer == "":
		return "", "", &problem{status: 401, Code: "PGRST301", Message: "Unregistered API key"}
	}
	head, sig, ok := cutLast(bearer, ".")
	got, err := base64.RawURLEncoding.DecodeString(sig)
	_, payload, _ := strings.Cut(head, ".")
	raw, errClaims := base64.RawURLEncoding.DecodeString(payload)
	var c struct{ Role string }
	if !ok || err != nil || errClaims != nil || !hmac.Equal(got, s.sign(head)) || json.Unmarshal(raw, &c) != nil {
		return "", "", &problem{status: 401, Code: "PGRST301", Message: "JWSError JWSInvalidSignature"}
	}
	return c.Role, string(raw), nil
}

func cutLast(s, sep string) (string, string, bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func (s *Server) serve(r *http.Request) ([]byte, int, error) {
	role, claims, err := s.identity(r)
	if err != nil {
		return nil, 0, err
	}
	table, ok := strings.CutPrefix(r.URL.Path, "/rest/v1/")
	if !ok || strings.Contains(table, "/") {
		return nil, 0, &problem{status: 404, Code: "PGRST125", Message: "Invalid path specified in request URL"}
	}
	sql, args, status, err := s.statement(r, pgx.Identifier{"public", table}.Sanitize())
	if err != nil {
		return nil, 0, err
	}
	rows, err := s.run(r.Context(), role, claims, sql, args)
	return rows, status, translate(err, role, table)
}

func (s *Server) run(ctx context.Context, role, claims, sql string, args []any) (rows []byte, err error) {
	tx, err := s.Pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, `select set_config('search_path', 'public', true), set_config('request.jwt.claims', $1, true), set_config('role', $2, true)`, claims, role); err != nil {
		return nil, err
	}
	if err := tx.QueryRow(ctx, sql, args...).Scan(&rows); err != nil {
		return nil, err
	}
	return rows, tx.Commit(ctx)
}

// statement is the request as SQL that answers one json array.
func (s *Server) statement(r *http.Request, table string) (sql string, args []any, status int, err error) {
	where, err := conditions(r)
	if err != nil {
		return "", nil, 0, err
	}
	const wrap = "with r as (%s) select coalesce(json_agg(r), '[]') from r"
	switch r.Method {
	case http.MethodGet:
		sql, err = s.query(r, table, where)
		return fmt.Sprintf(wrap, sql), args, http.StatusOK, err
	case http.MethodDelete:
		return fmt.Sprintf(wrap, "delete from "+table+where+" returning *"), args, http.StatusOK, nil
	case http.MethodPost, http.MethodPatch:
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return "", nil, 0, &problem{status: 400, Code: "PGRST102", Message: "Empty or invalid json"}
		}
		var names, values, sets []string
		for name, value := range body {
			args = append(args, value)
			names = append(names, pgx.Identifier{name}.Sanitize())
			values = append(values, "$"+strconv.Itoa(len(args)))
			sets = append(sets, names[len(names)-1]+" = "+values[len(values)-1])
		}
		if r.Method == http.MethodPatch {
			return fmt.Sprintf(wrap, "update "+table+" set "+strings.Join(sets, ", ")+where+" returning *"), args, http.StatusOK, nil
		}
		return fmt.Sprintf(wrap, "insert into "+table+" ("+strings.Join(names, ", ")+") values ("+strings.Join(values, ", ")+") returning *"), args, http.StatusCreated, nil
	}
	return "", nil, 0, &problem{status: 405, Code: "PGRST117", Message: "Unsupported HTTP method: " + r.Method}
}

// query is the select of a GET.
func (s *Server) query(r *http.Request, table, where string) (string, error) {
	q := r.URL.Query()
	columns := []string{}
	for name := range strings.SplitSeq(q.Get("select"), ",") {
		if name == "" || name == "*" {
			columns = append(columns, "*")
			continue
		}
		columns = append(columns, pgx.Identifier{name}.Sanitize())
	}
	sql := "select " + strings.Join(columns, ", ") + " from " + table + where
	var order []string
	for _, o := range strings.FieldsFunc(q.Get("order"), func(c rune) bool { return c == ',' }) {
		parts := strings.Split(o, ".")
		term := pgx.Identifier{parts[0]}.Sanitize()
		for _, p := range parts[1:] {
			word, ok := map[string]string{"asc": " asc", "desc": " desc", "nullsfirst": " nulls first", "nullslast": " nulls last"}[p]
			if !ok {
				return "", &problem{status: 400, Code: "PGRST100", Message: "failed to parse order (" + o + ")"}
			}
			term += word
		}
		order = append(order, term)
	}
	if len(order) > 0 {
		sql += " order by " + strings.Join(order, ", ")
	}
	limit := s.MaxRows
	for _, name := range []string{"limit", "offset"} {
		n, err := strconv.Atoi(q.Get(name))
		if q.Get(name) != "" && (err != nil || n < 0) {
			return "", &problem{status: 400, Code: "PGRST100", Message: "failed to parse " + name}
		}
		if name == "offset" {
			sql += " offset " + strconv.Itoa(n)
		} else if q.Get(name) != "" && (limit == 0 || n < limit) {
			limit = n
		}
	}
	if limit > 0 || q.Get("limit") != "" {
		sql += " limit " + strconv.Itoa(limit)
	}
	return sql, nil
}

var operators = map[string]string{"eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "cs": "@>"}

// conditions are the filters of the query, a where clause. Literals have no type: Postgres reads them as the column's.
func conditions(r *http.Request) (string, error) {
	var all []string
	for name, values := range r.URL.Query() {
		if name == "select" || name == "order" || name == "limit" || name == "offset" || name == "columns" {
			continue
		}
		column := pgx.Identifier{name}.Sanitize()
		for _, v := range values {
			op, operand, _ := strings.Cut(v, ".")
			inner, open := strings.CutPrefix(operand, "(")
			inner, closed := strings.CutSuffix(inner, ")")
			items, isList := list(inner)
			switch {
			case operators[op] != "":
				all = append(all, fmt.Sprintf("%s %s %s", column, operators[op], literal(operand)))
			case op == "in" && open && closed && isList:
				all = append(all, fmt.Sprintf("%s in (%s)", column, items))
			case op == "is" && operand == "null":
				all = append(all, column+" is null")
			default:
				return "", &problem{status: 400, Code: "PGRST100", Message: "failed to parse filter (" + v + ")"}
			}
		}
	}
	if len(all) == 0 {
		return "", nil
	}
	return " where " + strings.Join(all, " and "), nil
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// list reads a,"b,c",… as SQL literals.
func list(s string) (string, bool) {
	var out []string
	for s != "" {
		var item string
		if s[0] == '"' {
			var b strings.Builder
			i := 1
			for ; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
				if i < len(s) {
					b.WriteByte(s[i])
				}
			}
			if i >= len(s) {
				return "", false
			}
			item, s = b.String(), strings.TrimPrefix(s[i+1:], ",")
		} else {
			item, s, _ = strings.Cut(s, ",")
		}
		out = append(out, literal(item))
	}
	return strings.Join(out, ", "), len(out) > 0
}

// translate gives a Postgres error PostgREST's status.
func translate(err error, role, table string) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	p := &problem{status: http.StatusBadRequest, Code: pg.Code, Message: pg.Message}
	switch {
	case pg.Code == "42501" && role == "anon":
		p.status = http.StatusUnauthorized
	case pg.Code == "42501":
		p.status = http.StatusForbidden
	case pg.Code == "42P01":
		p.status, p.Code, p.Message = http.StatusNotFound, "PGRST205", "Could not find the table 'public."+table+"' in the schema cache"
	case pg.Code == "57014", pg.Code == "57P01":
		p.status = http.StatusInternalServerError
	}
	return p
}
