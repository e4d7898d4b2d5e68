package local

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// principal is who runs commands on this machine with the database's own credentials.
var principal = ident.Principal{Name: "local", Scopes: []ident.Scope{ident.Admin}}

// EnsureKey returns the installation's own administrator key, made once and kept in the folder of state. A key that
// the database no longer knows (a fresh database, a revoked key) is replaced.
func (h Home) EnsureKey(ctx context.Context, dsn string) (key string, created bool, err error) {
	pool, err := coord.Open(ctx, dsn, 2)
	if err != nil {
		return "", false, err
	}
	defer pool.Close()
	store := coord.New(pool)
	if key, err = h.ReadKey(); err != nil {
		return "", false, err
	}
	if key != "" {
		_, err = store.Authenticate(ctx, key)
		if err == nil || !fault.Is(err, client.CodeUnauthenticated) {
			return key, false, err
		}
	}
	caller, err := store.Resolve(ctx, principal, ident.Claim{}, false)
	if err != nil {
		return "", false, err
	}
	made, err := store.CreateKey(ctx, caller, client.CreateKey{Name: keyName(time.Now()), Scopes: []string{string(ident.Admin)}, AllProjects: true})
	if err != nil {
		return "", false, err
	}
	return made.Secret, true, writeFile(h.keyFile(), []byte(made.Secret+"\n"))
}

// keyName is unique per machine and moment: a lost key file must not block on the name of the lost key.
func keyName(now time.Time) string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "this machine"
	}
	return fmt.Sprintf("local %s %s", host, now.UTC().Format("2006-01-02T15:04:05.000Z"))
}
