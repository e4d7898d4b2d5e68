package coord_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// clock is the time of one test's database.
type clock struct {
	t    *testing.T
	pool *pgxpool.Pool
}

// fakeClock stops the database's clock at noon of an ordinary day.
func fakeClock(t *testing.T, pool *pgxpool.Pool) *clock {
	t.Helper()
	c := &clock{t, pool}
	c.exec(`create table coord.test_clock (at timestamptz not null)`)
	c.exec(`insert into coord.test_clock values ('2030-06-03T12:00:00Z')`)
	c.exec(`create or replace function coord.now() returns timestamptz language sql volatile parallel safe
		as $$ select at from coord.test_clock $$`)
	return c
}

// pass lets time pass.
func (c *clock) pass(d time.Duration) {
	c.t.Helper()
	c.exec(`update coord.test_clock set at = at + $1::interval`, d)
}

func (c *clock) now() time.Time {
	c.t.Helper()
	var at time.Time
	if err := c.pool.QueryRow(context.Background(), `select coord.now()`).Scan(&at); err != nil {
		c.t.Fatal(err)
	}
	return at
}

func (c *clock) exec(sql string, args ...any) {
	c.t.Helper()
	if _, err := c.pool.Exec(context.Background(), sql, args...); err != nil {
		c.t.Fatalf("%s: %v", sql, err)
	}
}
