package gatewayserver

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/openapitest"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// probeGateway asks a gateway for everything that its OpenAPI document names.
func probeGateway(t *testing.T, seed uint64, fitting, mutated int) {
	t.Helper()
	dsn := pgtest.DSN(t)
	url := start(t, dsn, map[string]string{"COORDINATION_API_KEY_IDENTITIES": `{"` + testKey + `":{"scopes":["admin"]}}`, "GITHUB_WEBHOOK_SECRET": "s"})
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
	probeGateway(t, 1, 4, 2)
}
