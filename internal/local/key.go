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
	return ensureKey(ctx, dsn, h.keyFile(), "local", ident.Admin)
}

// ensureRunnerKey is EnsureKey for the runner that `up` keeps: a key that can do what runners and their agents do.
func (h Home) ensureRunnerKey(ctx context.Context, dsn string) (key string, err error) {
	key, _, err = ensureKey(ctx, dsn, h.runnerKeyFile(), "runner", ident.Read, ident.Write, ident.Runner)
	return key, err
}

func ensureKey(ctx context.Context, dsn, file, what string, scopes ...ident.Scope) (key string, created bool, err error) {
	pool, err := coord.Open(ctx, dsn, 2)
	if err != nil {
		return "", false, err
	}
	defer pool.Close()
	store := coord.New(pool)
	if key, err = readKey(file); err != nil {
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
	in := client.CreateKey{Name: keyName(what, time.Now()), AllProjects: true}
	for _, s := range scopes {
		in.Scopes = append(in.Scopes, string(s))
	}
	made, err := store.CreateKey(ctx, caller, in)
	if err != nil {
		return "", false, err
	}
	return made.Secret, true, writeFile(file, []byte(made.Secret+"\n"))
}

// keyName is unique per machine and moment: a lost key file must not block on the name of the lost key.
func keyName(what string, now time.Time) string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "this machine"
	}
	return fmt.Sprintf("%s %s %s", what, host, now.UTC().Format("2006-01-02T15:04:05.000Z"))
}
