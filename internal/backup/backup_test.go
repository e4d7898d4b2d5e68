package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/backup"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// furnish puts something of several kinds into a database and returns its caller.
func furnish(t *testing.T, s *coord.Store) ident.Caller {
	t.Helper()
	ctx := context.Background()
	c, err := s.Resolve(ctx, ident.Principal{Name: "key:x", Scopes: []ident.Scope{ident.Admin}}, ident.Claim{Project: "demo", Agent: "ana", Session: "s"}, true)
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(nil, err)
	must(s.AcquireLock(ctx, c, client.AcquireLock{FilePath: "a.go", Reason: "tab\t, \"quotes\", \\N and \\."}, nil))
	must(s.SubmitWork(ctx, c, client.SubmitWork{TaskSpec: client.TaskSpec{TaskType: "t", Description: "line one\nline two", InputData: map[string]any{"k": nil}}}))
	must(s.ClaimWork(ctx, c, client.GetWork{}))
	must(s.CreateOrchestratedSession(ctx, c, client.CreateOrchestratedSession{SessionID: "ses_1"}))
	must(s.CreateKey(ctx, c, client.CreateKey{Name: "k", AllProjects: true}))
	furnishGateway(t, s, c)
	return c
}

// gatewayTables are those that furnishGateway writes.
var gatewayTables = []string{"changesets", "verification_results", "approval_queue", "agent_trust", "coord.webhook_deliveries", "verification_policies"}

// furnishGateway puts a change under verification: routed, with a run and an approval that is asked for.
func furnishGateway(t *testing.T, s *coord.Store, c ident.Caller) {
	t.Helper()
	ctx := context.Background()
	fatal := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.StoreDelivery(ctx, coord.Delivery{Source: "github", DeliveryID: "72d3162e", Event: "push", Body: []byte("{\"a\": \"\u0000\tb\\\"}"), Headers: map[string]string{"X": "y"}})
	fatal(err)
	_, err = s.SetTrust(ctx, c, client.SetTrust{Agent: "ana", Level: new(int)})
	fatal(err)
	_, err = s.SubmitChangeset(ctx, c, client.SubmitChangeset{Repository: "git.example/acme/shop", Branch: "b", HeadSHA: strings.Repeat("ab", 20), Title: "tab\tand \\N"})
	fatal(err)
	policies, err := s.ListPolicies(ctx, c)
	fatal(err)
	due, err := s.TakeChangesets(ctx, 10, time.Minute)
	if err != nil || len(due) != 1 || len(policies.Policies) == 0 {
		t.Fatalf("%d changesets to route, %d policies, %v", len(due), len(policies.Policies), err)
	}
	policy := policies.Policies[0]
	stored, err := s.StoreRoute(ctx, due[0], coord.Routing{
		Provenance: "api", Contributors: []string{"dev"}, Files: []client.ChangedFile{{Path: "a.go", Status: "modified"}},
		Decision: client.RouteDecision{Tiers: []int{policy.Tier}}, Runs: []coord.RoutedStep{{Step: client.RouteStep{Policy: policy.Name, Tier: policy.Tier, Executor: "inline", Required: true}, Policy: policy}},
		Approvals: []coord.WantedApproval{{Policy: policy.Name, Reason: "asked", Count: 1}},
	})
	if err != nil || !stored {
		t.Fatalf("stored %v, %v", stored, err)
	}
}

// fingerprint is every row of every table of ours, and where the sequences stand.
func fingerprint(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()
	ctx := context.Background()
	rows, _ := pool.Query(ctx, `select c.oid::regclass::text from pg_class c where relkind = 'r' and relpersistence = 'p' and relnamespace in ('public'::regnamespace, 'coord'::regnamespace) order by 1`)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, table := range tables {
		var text *string
		if err := pool.QueryRow(ctx, fmt.Sprintf(`select string_agg(r::text, E'\n' order by r::text) from %s r`, table)).Scan(&text); err != nil {
			t.Fatal(err)
		}
		if text != nil {
			b.WriteString(table + "\n" + *text + "\n")
		}
	}
	var sequences string
	if err := pool.QueryRow(ctx, `select string_agg(format('%s %s', sequencename, last_value), E'\n' order by schemaname, sequencename) from pg_sequences where schemaname in ('public', 'coord')`).Scan(&sequences); err != nil {
		t.Fatal(err)
	}
	return b.String() + sequences
}

func open(t *testing.T, dsn string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// What is saved comes back row by row, into an empty database and over another one; the coordinator goes on from there.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dsn, empty, other := pgtest.DSN(t), pgtest.Empty(t), pgtest.DSN(t)
	source := open(t, dsn)
	furnish(t, coord.New(source))
	want := fingerprint(t, source)
	for _, table := range gatewayTables {
		if !strings.Contains("\n"+want, "\n"+table+"\n") {
			t.Errorf("nothing in %s is saved and restored here", table)
		}
	}
	var file bytes.Buffer
	m, err := backup.Write(ctx, dsn, &file)
	if err != nil || m.Schema == 0 || len(m.Tables) < 30 {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err := backup.Read(ctx, empty, bytes.NewReader(file.Bytes()), false); err != nil {
		t.Fatal(err)
	}
	target := open(t, empty)
	if got := fingerprint(t, target); got != want {
		t.Errorf("restored:\n%s\nsaved:\n%s", got, want)
	}
	furnish2 := coord.New(target)
	c, err := furnish2.Resolve(ctx, ident.Principal{Name: "key:x"}, ident.Claim{Project: "demo", Agent: "bob", Session: "b"}, true)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := furnish2.AcquireLock(ctx, c, client.AcquireLock{FilePath: "new.go"}, nil); err != nil || !got.Result.Success {
		t.Errorf("after the restore: %+v, %v", got, err)
	}
	if tag, err := target.Exec(ctx, `delete from coord.audit_log`); err == nil {
		t.Errorf("the audit's guard is off: %s", tag)
	}

	full := open(t, other)
	furnish(t, coord.New(full))
	kept := fingerprint(t, full)
	if _, err := backup.Read(ctx, other, bytes.NewReader(file.Bytes()), false); !errors.Is(err, backup.ErrNotEmpty) {
		t.Errorf("over a full database: %v", err)
	}
	if got := fingerprint(t, full); got != kept {
		t.Error("a refused restore changed something")
	}
	if _, err := backup.Read(ctx, other, bytes.NewReader(file.Bytes()), true); err != nil {
		t.Fatal(err)
	}
	if got := fingerprint(t, full); got != want {
		t.Error("what was there before is mixed with what was saved")
	}
	ours, err := coord.Open(ctx, other, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	if err := ours.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Read(ctx, other, bytes.NewReader(file.Bytes()), true); !errors.Is(err, backup.ErrInUse) {
		t.Errorf("under a running coordinator: %v", err)
	}
}

func TestBrokenFilesChangeNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dsn := pgtest.DSN(t)
	pool := open(t, dsn)
	furnish(t, coord.New(pool))
	var file bytes.Buffer
	if _, err := backup.Write(ctx, dsn, &file); err != nil {
		t.Fatal(err)
	}
	want := fingerprint(t, pool)
	for name, broken := range map[string][]byte{
		"nothing": nil, "text": []byte("hello"), "half": file.Bytes()[:file.Len()/2], "without its end": file.Bytes()[:file.Len()-4],
	} {
		if _, err := backup.Read(ctx, dsn, bytes.NewReader(broken), true); !errors.Is(err, backup.ErrNoBackup) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := fingerprint(t, pool); got != want {
		t.Error("a broken file changed something")
	}
}
