package embedpg

import (
	"errors"
	"log/slog"
	"os"
	"time"
)

// DefaultGrace is how long a server outlives its last user. MCP hosts restart their servers often.
const DefaultGrace = 60 * time.Second

// MinMajor is the oldest Postgres major version that is accepted.
const MinMajor = 15

// superuser is the role that owns the cluster, as on Supabase.
const superuser = "postgres"

// Errors to be recognised with errors.Is. Their wrapping text names the ways out.
var (
	// ErrNoBinaries means that no usable Postgres was found and none could be fetched.
	ErrNoBinaries = errors.New("no Postgres server binaries")
	// ErrMajor means that the cluster's major version differs from every Postgres found.
	ErrMajor = errors.New("the cluster belongs to another major version of Postgres")
	// ErrNotOurs means that a directory holds something we must not touch.
	ErrNotOurs = errors.New("the directory is not a cluster of ours")
	// ErrDBUser means that the account which has to run Postgres is missing or unsuitable.
	ErrDBUser = errors.New("no account to run Postgres")
	// ErrNotAlive means that the server does not answer, or that another one answers in its place.
	ErrNotAlive = errors.New("the server is not alive")
	// ErrNoHook means that the program does not call RunWatcherIfAsked first thing in main.
	ErrNoHook = errors.New("embedpg.RunWatcherIfAsked was not called at the start of main")
)

// Options says which server is wanted. The zero value is the user's own server in its default place.
type Options struct {
	// Dir is the control directory; default DefaultDir().
	Dir string
	// Grace is how long the server outlives its last user: 0 keeps what the running server has
	// (DefaultGrace for a new one), below 0 means for ever, until Stop.
	Grace time.Duration
	// Unsafe trades durability for speed (fsync off). For tests.
	Unsafe bool
	// Settings are added to the server's configuration when this call starts it; a server that runs
	// already keeps its own.
	Settings map[string]string
	// Log receives what was decided; default: discarded.
	Log *slog.Logger
	// Progress receives one line per step that a person may have to wait for; default: none.
	Progress func(string)
}

func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" {
		dir, err := DefaultDir()
		if err != nil {
			return o, err
		}
		o.Dir = dir
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o, nil
}

// libpqEnv lists the variables that libpq and pgx read as defaults. A PGSERVICE or PGOPTIONS meant for
// another server would break or bend the connections to ours.
var libpqEnv = []string{
	"PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGPASSWORD", "PGPASSFILE", "PGAPPNAME",
	"PGCONNECT_TIMEOUT", "PGSSLMODE", "PGSSLKEY", "PGSSLCERT", "PGSSLCERTMODE", "PGSSLSNI", "PGSSLROOTCERT",
	"PGSSLPASSWORD", "PGSSLNEGOTIATION", "PGTARGETSESSIONATTRS", "PGSERVICE", "PGSERVICEFILE", "PGTZ",
	"PGOPTIONS", "PGMINPROTOCOLVERSION", "PGMAXPROTOCOLVERSION", "PGCHANNELBINDING", "PGREQUIREAUTH",
	"PGDATESTYLE", "PGCLIENTENCODING", "PGDATA",
}

// clearLibpqEnv removes them from this process: whoever uses the embedded server talks to no other.
func clearLibpqEnv() {
	for _, name := range libpqEnv {
		if _, set := os.LookupEnv(name); set {
			_ = os.Unsetenv(name) // fails on invalid names only
		}
	}
}
