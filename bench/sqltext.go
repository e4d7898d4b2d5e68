package main

import (
	"fmt"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/lockpath"
)

// The statements here are the ones that internal/coord sends: pgbench, pgx and the API run the same functions.
const (
	acquireSQL = `select coord.acquire_locks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, '', 'exclusive', 30, 'editing', false, null, null)`

	takeOneSQL = `select * from coord.acquire_lock($1, $2, $3, $4, $5, $6, $5, $5, 'default', '', 'exclusive', 30, 'editing')`
	holderSQL  = `select * from coord.lock_holder($1, $2, $3, $4, $5, '')`
	freeOneSQL = `select coord.release_lock($1, $2, $3, $4, $5, $6, $5)`
	checkSQL   = `select coord.check_locks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, null, null, 200)`
	claimSQL   = `select reply ->> 'reason', reply -> 'memo' from coord.claim_tasks($1, $2, 'bench', null, $3, 1, 1800, $4, $5, $6, null, null, null) limit 1`

	by       = "bench"
	heldPath = "src/held/file.go"
	// seat stands for the number of a client in a path; no pattern and no quoting changes it.
	seatMark = "0seat0"
)

// lockKeys are cleaned paths in the columns that the lock functions take. one is set when it is a single literal: the API
// takes the short path for that.
type lockKeys struct {
	one                                         *lockpath.Key
	space                                       []int64
	kind, base, key, path, repo, re, pre, likes []string
}

// keys cleans paths as the API does.
func (r *rig) keys(paths ...string) (lockKeys, error) {
	parsed, err := lockpath.ParseAll(paths)
	if err != nil {
		return lockKeys{}, err
	}
	var k lockKeys
	for _, p := range parsed {
		k.space, k.repo = append(k.space, r.seats.Home), append(k.repo, "default")
		k.kind, k.base, k.key, k.path = append(k.kind, string(rune(p.Kind))), append(k.base, p.Base), append(k.key, p.Key), append(k.path, p.Path)
		k.re, k.pre, k.likes = append(k.re, p.Re), append(k.pre, p.Pre), append(k.likes, p.Like)
	}
	if len(parsed) == 1 && parsed[0].Kind == lockpath.Literal {
		k.one = &parsed[0]
	}
	return k, nil
}

// oneArgs are the parameters of takeOneSQL and freeOneSQL.
func (k lockKeys) oneArgs(r *rig, session int64) []any {
	return []any{r.seats.Project, session, by, r.seats.Home, k.one.Key, k.one.Ancestors()}
}

// holderArgs are the parameters of holderSQL.
func (k lockKeys) holderArgs(r *rig, session int64) []any {
	return []any{r.seats.Project, session, r.seats.Home, k.one.Key, k.one.Ancestors()}
}

// holderScript is the look for pgbench.
func (k lockKeys) holderScript(r *rig) string {
	return fmt.Sprintf("select * from coord.lock_holder(%d, :s, %d, %s, %s, '');\n", r.seats.Project, r.seats.Home, quote(k.one.Key), quoteAll(k.one.Ancestors()))
}

// acquireArgs are the parameters of acquireSQL and releaseSQL.
func (k lockKeys) acquireArgs(r *rig, session int64) []any {
	return append([]any{r.seats.Project, session, by, r.seats.Home}, k.columns()...)
}

// checkArgs are the parameters of checkSQL.
func (k lockKeys) checkArgs(r *rig) []any {
	return append([]any{r.seats.Project, r.seats.Home}, k.columns()...)
}

func (k lockKeys) columns() []any {
	return []any{k.space, k.kind, k.base, k.key, k.path, k.repo, k.re, k.pre, k.likes}
}

// acquireScript is the call for pgbench, where :s is the client's session and seatMark its number.
func (k lockKeys) acquireScript(r *rig) string {
	if k.one != nil {
		return fmt.Sprintf("select * from coord.acquire_lock(%d, :s, '%s', %d, %s, %s, %[4]s, %[4]s, 'default', '', 'exclusive', 30, 'editing');\n",
			r.seats.Project, by, r.seats.Home, quote(k.one.Key), quoteAll(k.one.Ancestors()))
	}
	return k.generalAcquire(r)
}

func (k lockKeys) releaseScript(r *rig) string {
	if k.one != nil {
		return fmt.Sprintf("select coord.release_lock(%d, :s, '%s', %d, %s, %s, %[4]s);\n", r.seats.Project, by, r.seats.Home,
			quote(k.one.Key), quoteAll(k.one.Ancestors()))
	}
	return k.generalRelease(r)
}

func (k lockKeys) generalAcquire(r *rig) string {
	return fmt.Sprintf("select coord.acquire_locks(%d, :s, '%s', %d, %s, '', 'exclusive', 30, 'editing', false, null, null);\n",
		r.seats.Project, by, r.seats.Home, k.literal())
}

func (k lockKeys) generalRelease(r *rig) string {
	return fmt.Sprintf("select coord.release_locks(%d, :s, '%s', %d, %s, '', false, false);\n", r.seats.Project, by, r.seats.Home, k.literal())
}

// pairScript acquires and releases, as one client of pgbench does over and over.
func (k lockKeys) pairScript(r *rig) string {
	return r.seatScript() + k.acquireScript(r) + k.releaseScript(r)
}

func (r *rig) seatScript() string { return fmt.Sprintf("\\set s %d + :client_id\n", r.seats.First) }

// literal is the columns as SQL text.
func (k lockKeys) literal() string {
	spaces := make([]string, len(k.space))
	for i, s := range k.space {
		spaces[i] = fmt.Sprint(s)
	}
	cols := []string{"array[" + strings.Join(spaces, ",") + "]::bigint[]"}
	for _, col := range [][]string{k.kind, k.base, k.key, k.path, k.repo, k.re, k.pre, k.likes} {
		cols = append(cols, quoteAll(col))
	}
	return strings.Join(cols, ", ")
}

// quote is a text for pgbench, with the client's number in it. Our paths hold no quotes.
func quote(v string) string {
	v = strings.ReplaceAll(v, ":", "'||chr(58)||'") // pgbench sees a variable behind every colon
	return strings.ReplaceAll("'"+v+"'", seatMark, "'||:client_id::text||'")
}

func quoteAll(list []string) string {
	quoted := make([]string, len(list))
	for i, v := range list {
		quoted[i] = quote(v)
	}
	return "array[" + strings.Join(quoted, ",") + "]::text[]"
}
