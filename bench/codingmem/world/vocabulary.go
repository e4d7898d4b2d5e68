package world

// A phrase has two sides: Doc is written into memories only, Ask into questions only. Where a question is to share words
// with its answer it uses Doc on purpose.
type phrase struct {
	doc, ask []string
	values   []string // what it can be set to
	key      string   // as settings files write it
}

var settings = []phrase{
	{[]string{"timeout", "deadline"}, []string{"patience until giving up", "utmost lingering"}, []string{"2s", "5s", "8s", "15s", "30s", "45s", "90s"}, "timeout"},
	{[]string{"pool size", "max connections"}, []string{"number of simultaneous handles", "handle ceiling"}, []string{"4", "8", "12", "20", "32", "64"}, "pool_size"},
	{[]string{"retry limit", "max attempts"}, []string{"how often it begins anew", "repetition amount"}, []string{"0", "2", "3", "5", "7", "10"}, "max_attempts"},
	{[]string{"TTL", "expiry"}, []string{"how soon items vanish", "lifetime of kept items"}, []string{"30s", "5m", "15m", "1h", "12h", "7d"}, "ttl"},
	{[]string{"batch size", "chunk size"}, []string{"quantity bundled together", "records each trip"}, []string{"50", "100", "250", "500", "1000", "4000"}, "batch_size"},
	{[]string{"log level", "verbosity"}, []string{"how chatty output gets", "noise in the console"}, []string{"debug", "info", "warn", "error"}, "log_level"},
	{[]string{"listen port", "bind address"}, []string{"which socket it occupies", "where clients reach it"}, []string{":7070", ":8081", ":8443", ":9090", ":9191"}, "listen"},
	{[]string{"throttle", "requests per second"}, []string{"traffic permitted each moment", "traffic ceiling"}, []string{"20", "50", "120", "300", "900"}, "throttle_rps"},
	{[]string{"memory limit", "heap cap"}, []string{"RAM ceiling", "biggest footprint permitted"}, []string{"128Mi", "256Mi", "512Mi", "1Gi", "2Gi"}, "memory_limit"},
	{[]string{"worker count", "parallelism"}, []string{"how much proceeds side by side", "simultaneous lanes"}, []string{"1", "2", "4", "6", "16"}, "workers"},
}

var symptoms = []phrase{
	{doc: []string{"deadlocks under load", "hangs under load"}, ask: []string{"freeze when busy"}},
	{doc: []string{"leaks goroutines", "goroutine leak"}, ask: []string{"resource usage growing endlessly"}},
	{doc: []string{"returns 502", "answers 502 at random"}, ask: []string{"trouble toward browsers"}},
	{doc: []string{"drops messages", "loses messages"}, ask: []string{"items getting swallowed"}},
	{doc: []string{"writes duplicate rows", "inserts twice"}, ask: []string{"same record appearing doubly"}},
	{doc: []string{"panics on empty input", "panic with an empty slice"}, ask: []string{"crash given blank data"}},
	{doc: []string{"is slow after deploy", "slow for minutes after deploy"}, ask: []string{"sluggishness once live"}},
	{doc: []string{"times out on cold start", "cold start exceeds the limit"}, ask: []string{"lateness at initial boot"}},
	{doc: []string{"shows the wrong timezone", "timezone off by an hour"}, ask: []string{"calendar mistakes"}},
	{doc: []string{"truncates long names", "cuts names at 32 bytes"}, ask: []string{"text being chopped"}},
	{doc: []string{"ignores cancellation", "keeps running after cancel"}, ask: []string{"continuing though aborted"}},
	{doc: []string{"corrupts checksums", "checksum mismatch"}, ask: []string{"tampering alarms"}},
	{doc: []string{"loops forever on redirect", "redirect loop"}, ask: []string{"endless hopping"}},
	{doc: []string{"flaps in CI", "flaky in CI"}, ask: []string{"unstable automation"}},
}

var causes = []phrase{
	{doc: []string{"a mutex held across I/O"}, ask: []string{"exclusive region around disk traffic"}},
	{doc: []string{"an unbounded channel"}, ask: []string{"buffer lacking any ceiling"}},
	{doc: []string{"a missing index on the join"}, ask: []string{"full scan of big relations"}},
	{doc: []string{"a write to a nil map"}, ask: []string{"uninitialised dictionary"}},
	{doc: []string{"skew between node clocks"}, ask: []string{"machines disagreeing about noon"}},
	{doc: []string{"a stale DNS entry"}, ask: []string{"outdated hostname resolution"}},
	{doc: []string{"an int32 overflow"}, ask: []string{"number too big for its width"}},
	{doc: []string{"an error nobody looked at"}, ask: []string{"mishap silently discarded"}},
	{doc: []string{"a race in shutdown"}, ask: []string{"two threads stopping together"}},
	{doc: []string{"mixed unicode normalisation"}, ask: []string{"accented characters judged unequal"}},
	{doc: []string{"a transaction left open"}, ask: []string{"dangling unit kept alive"}},
	{doc: []string{"an off-by-one in the cursor"}, ask: []string{"final element forgotten"}},
	{doc: []string{"a default of zero"}, ask: []string{"unset knob"}},
	{doc: []string{"a thundering herd of reconnects"}, ask: []string{"avalanche of clients"}},
}

var fixes = []string{
	"moved the call out of the critical section", "bounded the channel and shed the rest", "added a partial index",
	"guarded the first write", "switched to the monotonic clock", "resolve the host per attempt", "widened the column to bigint",
	"propagate the error and count it", "wait for the group on close", "normalise to NFC at the edge", "defer the rollback",
	"compare with <= and test the boundary", "reject zero in validation", "added jitter and a circuit breaker",
}

var topics = []phrase{
	{doc: []string{"storage engine"}, ask: []string{"where content ends up", "persistence choice"}, values: []string{"SQLite", "Postgres", "Badger", "RocksDB", "S3"}},
	{doc: []string{"wire format"}, ask: []string{"encoding between machines", "how payloads appear"}, values: []string{"JSON", "protobuf", "msgpack", "CBOR"}},
	{doc: []string{"auth scheme"}, ask: []string{"how clients prove themselves"}, values: []string{"mTLS", "OIDC", "API keys", "PASETO"}},
	{doc: []string{"id scheme"}, ask: []string{"how unique identifiers get made"}, values: []string{"UUIDv7", "ULID", "snowflakes", "bigserial"}},
	{doc: []string{"queue transport"}, ask: []string{"what carries asynchronous errands"}, values: []string{"NATS", "Kafka", "SQS", "RabbitMQ"}},
	{doc: []string{"pagination style"}, ask: []string{"how big lists get walked"}, values: []string{"keyset", "offset", "opaque cursors"}},
	{doc: []string{"deploy strategy"}, ask: []string{"how fresh binaries reach production"}, values: []string{"blue-green", "canary", "rolling"}},
	{doc: []string{"consistency level"}, ask: []string{"guarantees readers have"}, values: []string{"read-committed", "serializable", "eventual"}},
	{doc: []string{"error style"}, ask: []string{"shape of mishaps"}, values: []string{"problem+json", "typed codes", "gRPC status"}},
	{doc: []string{"invalidation rule"}, ask: []string{"moment saved values get thrown away"}, values: []string{"write-through", "lazy expiry", "versioned keys"}},
}

var reasons = []string{
	"it is cheaper to operate", "benchmarks favoured it", "ops asked for it", "security review demanded it",
	"the licence is cleaner", "p99 was too high", "customers complained", "the incident review said so",
}

// aspects are what can be seen in code; values contradict each other.
var aspects = []phrase{
	{doc: []string{"miss"}, ask: []string{"outcome when absent"}, values: []string{"returns nil on a miss", "returns ErrNotFound on a miss"}},
	{doc: []string{"concurrent use"}, ask: []string{"several threads sharing it"}, values: []string{"is safe for concurrent use", "is not safe for concurrent use"}},
	{doc: []string{"context"}, ask: []string{"whether clients may abort it"}, values: []string{"takes the context first", "has no context parameter"}},
	{doc: []string{"closing the body"}, ask: []string{"whose duty cleanup is"}, values: []string{"closes the body itself", "leaves closing the body to its caller"}},
	{doc: []string{"order"}, ask: []string{"sequence of outcomes"}, values: []string{"keeps insertion order", "sorts by key"}},
	{doc: []string{"UTC"}, ask: []string{"which zone gets kept"}, values: []string{"stores UTC", "stores local time instead of UTC"}},
	{doc: []string{"cap on results"}, ask: []string{"most elements yielded"}, values: []string{"caps results at 100", "caps results at 500"}},
	{doc: []string{"internal retries"}, ask: []string{"repeating by itself"}, values: []string{"retries internally", "never retries"}},
	{doc: []string{"slice"}, ask: []string{"arguments recycled afterwards"}, values: []string{"copies the slice", "aliases the slice"}},
	{doc: []string{"connect"}, ask: []string{"moment of dialling"}, values: []string{"connects lazily", "connects at construction"}},
}

var conventions = []phrase{
	{doc: []string{"error wrapping"}, ask: []string{"adorning mishaps"}, values: []string{"wrap with %w and an operation name", "use the fault package only"}},
	{doc: []string{"test naming"}, ask: []string{"titling unit trials"}, values: []string{"t.Run names in kebab case", "t.Run names are sentences"}},
	{doc: []string{"commit style"}, ask: []string{"wording of history items"}, values: []string{"conventional commits with a scope", "plain sentences, ticket id last"}},
	{doc: []string{"logging"}, ask: []string{"structured diagnostics"}, values: []string{"slog with snake_case keys", "zap with dotted keys"}},
	{doc: []string{"import grouping"}, ask: []string{"arranging what tops a program"}, values: []string{"std, third party, ours", "one block, goimports decides"}},
	{doc: []string{"migrations"}, ask: []string{"altering relations politely"}, values: []string{"one migration per pull request", "expand first, contract a week later"}},
	{doc: []string{"feature flags"}, ask: []string{"initial position of toggles"}, values: []string{"flags default to off", "flags default to on in staging"}},
	{doc: []string{"mocks"}, ask: []string{"faking persistence"}, values: []string{"no mocks of the store", "mocks only at the network edge"}},
	{doc: []string{"branches"}, ask: []string{"diverging lines of development"}, values: []string{"short branches rebased daily", "merge commits, no rebase"}},
	{doc: []string{"comments"}, ask: []string{"remarks inside programs"}, values: []string{"comments say why", "doc comment on every exported name"}},
}

var purposes = []phrase{
	{doc: []string{"run the integration tests"}, ask: []string{"exercise everything end to end"}, values: []string{"make it", "go test -tags=integration ./...", "task test:int", "npm run test:e2e"}},
	{doc: []string{"regenerate mocks"}, ask: []string{"refresh fakes"}, values: []string{"go generate ./...", "make mocks", "mockery --all"}},
	{doc: []string{"apply migrations"}, ask: []string{"bring relations up to date"}, values: []string{"goose up", "make db/migrate", "dbmate up"}},
	{doc: []string{"lint the tree"}, ask: []string{"enforce house appearance"}, values: []string{"golangci-lint run", "make lint", "task lint"}},
	{doc: []string{"seed the dev db"}, ask: []string{"fill a sandbox with sample data"}, values: []string{"make seed", "go run ./cmd/seed", "psql -f seed.sql"}},
	{doc: []string{"build the container image"}, ask: []string{"produce a runnable box"}, values: []string{"docker buildx bake", "ko build ./cmd/api", "make image"}},
	{doc: []string{"tail staging logs"}, ask: []string{"watch diagnostics live"}, values: []string{"stern -n staging api", "kubectl logs -f deploy/api", "make logs"}},
	{doc: []string{"run benchmarks"}, ask: []string{"gauge speed"}, values: []string{"go test -bench=. -count=6", "make bench", "task perf"}},
	{doc: []string{"cut a release"}, ask: []string{"prepare the upcoming edition"}, values: []string{"goreleaser release", "make release", "gh release create"}},
	{doc: []string{"roll back a deploy"}, ask: []string{"retract what is live"}, values: []string{"helm rollback api", "make rollback", "argocd app rollback api"}},
	{doc: []string{"regenerate protobufs"}, ask: []string{"rebuild interface stubs"}, values: []string{"buf generate", "make proto", "protoc -I proto"}},
	{doc: []string{"capture a CPU profile"}, ask: []string{"discover hot spots"}, values: []string{"curl :6060/debug/pprof/profile", "make pprof", "go tool pprof -http=:0"}},
	{doc: []string{"rotate certificates"}, ask: []string{"exchange expiring credentials"}, values: []string{"cfssl gencert", "make certs", "step ca renew"}},
	{doc: []string{"publish the docs"}, ask: []string{"bring manuals online"}, values: []string{"mkdocs gh-deploy", "make docs", "hugo --minify"}},
}

var failures = []string{"needs Node 22", "is broken on arm64", "was deleted", "finds its port taken", "misses an env var", "hangs since the move"}
