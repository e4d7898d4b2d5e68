package apiserver

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/openapitest"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// probeAPI asks a server for everything that its OpenAPI document names.
func probeAPI(t *testing.T, seed uint64, fitting, mutated int) {
	t.Helper()
	dsn := pgtest.DSN(t)
	url := start(t, configured(t, dsn, map[string]string{
		"COORDINATION_API_KEY_IDENTITIES": `{"` + testKey + `":{"scopes":["admin"]}}`, "RUNNER_POLL_TIMEOUT": "0.2",
	}))
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	openapitest.Probe{
		URL: url, Key: testKey, Seed: seed, Fitting: fitting, Mutated: mutated, State: func() string { return openapitest.Fingerprint(t, conn) },
	}.Run(t)
}

// TestGeneratedRequests: whatever is sent to any route, the reply is one that the document describes and never a 5xx, and
// what is refused changes nothing.
func TestGeneratedRequests(t *testing.T) {
	t.Parallel()
	probeAPI(t, 1, 4, 1)
}
