package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// ticks is the unit of /proc's times: a hundredth of a second on every Linux.
const ticks = 100.0

// cpu is the processor time, in seconds, that this process and its database sessions have used so far; false where
// /proc does not tell (another system, another machine). On a busy machine it says more than the clock does.
func (b *bench) cpu(ctx context.Context) (client, server float64, ok bool) {
	if client, ok = used(os.Getpid()); !ok {
		return 0, 0, false
	}
	rows, err := b.pool.Query(ctx, `select pid from pg_stat_activity where datname = current_database()`)
	if err != nil {
		return 0, 0, false
	}
	defer rows.Close()
	for rows.Next() {
		var pid int
		if rows.Scan(&pid) != nil {
			return 0, 0, false
		}
		if s, here := used(pid); here {
			server += s
		}
	}
	return client, server, rows.Err() == nil && server > 0
}

// used is the processor time of a process in seconds, its own and the system's for it.
func used(pid int) (float64, bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(raw), ") ") // the command's name may hold blanks
	var user, system float64
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, false
	}
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0, false
	}
	return (user + system) / ticks, true
}
