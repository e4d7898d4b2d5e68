// Package pooler tells whether a connection string leads to Postgres itself or to a transaction pooler (Supavisor, pgbouncer)
// that hands every transaction to another connection. Behind one there are no sessions: no LISTEN, no session locks, no
// settings at the start, no named statements.
package pooler

import (
	"github.com/jackc/pgx/v5"
)

// Port is where Supabase's transaction pooler listens.
const Port = 6543

// marker is the parameter by which other libraries are told of a transaction pooler: …/postgres?pgbouncer=true. A server
// would refuse it.
const marker = "pgbouncer"

// Between reports whether cfg leads to a transaction pooler: its port is 6543, or its URL says pgbouncer=true. It takes that
// word out of cfg, so that cfg can be connected with.
func Between(cfg *pgx.ConnConfig) bool {
	said := cfg.RuntimeParams[marker]
	delete(cfg.RuntimeParams, marker)
	return cfg.Port == Port || said == "true"
}

// Session is s when sessions hold on it, and empty when a transaction pooler stands in the way or s is no connection
// string.
func Session(s string) string {
	cfg, err := pgx.ParseConfig(s)
	if err != nil || Between(cfg) {
		return ""
	}
	return s
}
