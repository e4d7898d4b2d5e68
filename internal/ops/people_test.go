package ops_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// key makes a key and returns what it stands for.
func (w *world) key(args map[string]any) (client.CreatedKey, ident.Principal) {
	w.t.Helper()
	k := must[client.CreatedKey](w, admin, "", "", "create_key", args)
	p, err := w.store.Authenticate(context.Background(), k.Secret)
	if err != nil {
		w.t.Fatalf("the new key: %v", err)
	}
	return k, p
}

func TestKeysAreShownOnceAndKeptAsHash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, p := w.key(map[string]any{"name": "ci"})
	if !strings.HasPrefix(k.Secret, "ac_") || len(k.Secret) != 46 || !strings.HasPrefix(k.Secret, k.Key.Prefix) || len(k.Key.Prefix) > 9 {
		t.Fatalf("%+v", k)
	}
	if p.Name != "key:ci" || !p.May(ident.Write) || p.May(ident.Admin) || p.ProjectID == 0 {
		t.Fatalf("%+v", p)
	}
	leaks := scan[int](w, `select count(*) from coord.api_keys k, coord.audit_log a where position($1 in k::text) > 0 or position($1 in a::text) > 0`, k.Secret)
	if leaks != 0 {
		t.Fatal("the secret is in the database")
	}
	// A request key must not store the reply with the secret; the repeat is a conflict.
	r := w.req(admin, "", "", map[string]any{"name": "ci2"})
	r.RequestKey = "once"
	if _, err := send[client.CreatedKey](w, "create_key", r); err != nil {
		t.Fatal(err)
	}
	_, err := send[client.CreatedKey](w, "create_key", r)
	w.refused(err, client.CodeConflict)
	if n := scan[int](w, `select count(*) from coord.idempotency`); n != 0 {
		t.Fatal("a reply with a secret was remembered")
	}
	list := must[client.Keys](w, admin, "", "", "list_keys", nil)
	if list.Count != 2 || list.Keys[0].Status != "active" || list.Keys[0].Project != "demo" {
		t.Fatalf("%+v", list)
	}
	_, err = do[client.Keys](w, anyone, "", "", "list_keys", nil)
	w.refused(err, client.CodeForbidden)
	_, err = do[client.CreatedKey](w, admin, "", "", "create_key", map[string]any{"name": "x", "scopes": []any{"root"}})
	w.refused(err, client.CodeInvalid)
}

func TestRevokedAndExpiredKeysAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, _ := w.key(map[string]any{"name": "a"})
	if r := must[client.RevokedKey](w, admin, "", "", "revoke_key", map[string]any{"name": "a"}); !r.Success || r.Already {
		t.Fatalf("%+v", r)
	}
	_, err := w.store.Authenticate(t.Context(), k.Secret) // was cached: at once in this process
	w.refused(err, client.CodeUnauthenticated)
	if r := must[client.RevokedKey](w, admin, "", "", "revoke_key", map[string]any{"name": "a"}); !r.Already {
		t.Fatalf("%+v", r)
	}
	_, err = do[client.RevokedKey](w, admin, "", "", "revoke_key", map[string]any{"name": "nope"})
	w.refused(err, client.CodeNotFound)

	k, _ = w.key(map[string]any{"name": "b", "expires_in_days": 1.0})
	w.later(25 * time.Hour)
	_, err = coord.New(w.pool).Authenticate(t.Context(), k.Secret)
	w.refused(err, client.CodeUnauthenticated)
	if list := must[client.Keys](w, admin, "", "", "list_keys", map[string]any{"include_revoked": true}); list.Count != 2 || list.Keys[0].Status != "revoked" || list.Keys[1].Status != "expired" {
		t.Fatalf("%+v", list)
	}
	if n := w.audited("create_key", true) + w.audited("revoke_key", true); n != 3 {
		t.Errorf("%d audit rows, want 3", n)
	}
}

func TestBoundKeyActsOnlyAsItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, p := w.key(map[string]any{"name": "ana's", "agent_id": "ana", "agent_type": "codex"})
	me := must[client.WhoAmI](w, p, "", "", "whoami", nil)
	if me.AgentID != "ana" || me.AgentType != "codex" || me.Project != "demo" || me.BoundTo != "project" || me.SessionID != "agent:ana" {
		t.Fatalf("%+v", me)
	}
	_, err := do[client.Session](w, p, "bob", "", "register_session", map[string]any{})
	f := w.refused(err, client.CodeForbidden)
	if f.What != "API key is not permitted to act as requested agent_id" {
		t.Fatalf("%+v", f)
	}
	if n := scan[int](w, `select count(*) from coord.audit_log where operation = 'register_session' and not success and principal = 'key:ana''s' and agent_id = 'bob'`); n != 1 {
		t.Fatalf("%d audit rows of the refusal, want 1", n)
	}
	if n := scan[int](w, `select count(*) from public.agents where agent_id = 'bob'`); n != 0 {
		t.Fatal("the refused call left an agent")
	}
	r := w.req(p, "", "", map[string]any{})
	r.Claim.Project = "other"
	_, err = send[client.Session](w, "register_session", r)
	w.refused(err, client.CodeForbidden)
}

func TestAdministratorOfOneProjectStaysInIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, boss := w.key(map[string]any{"name": "boss", "scopes": []any{"admin"}})
	for _, args := range []map[string]any{
		{"name": "x", "all_projects": true}, {"name": "x", "project": "other"},
	} {
		_, err := do[client.CreatedKey](w, boss, "", "", "create_key", args)
		w.refused(err, client.CodeForbidden)
	}
	must[client.CreatedKey](w, boss, "", "", "create_key", map[string]any{"name": "mine"})
	_, all := w.key(map[string]any{"name": "everywhere", "all_projects": true})
	if all.ProjectID != 0 {
		t.Fatalf("%+v", all)
	}
	if list := must[client.Keys](w, boss, "", "", "list_keys", nil); list.Count != 2 {
		t.Fatalf("%+v", list)
	}
	_, err := do[client.RevokedKey](w, boss, "", "", "revoke_key", map[string]any{"name": "everywhere"})
	w.refused(err, client.CodeNotFound)
	_, err = do[client.CreatedPerson](w, boss, "", "", "create_person", map[string]any{"name": "me", "roles": []any{"admin"}})
	w.refused(err, client.CodeForbidden)
	must[client.Session](w, all, "zed", "", "register_session", map[string]any{})
	r := w.req(admin, "", "", nil)
	r.Claim.Project = "second"
	if _, err := send[client.WhoAmI](w, "whoami", r); err != nil {
		t.Fatal(err)
	}
	if list := must[client.Projects](w, boss, "", "", "list_projects", nil); list.Count != 1 || list.Projects[0].Project != "demo" {
		t.Fatalf("%+v", list)
	}
	_, err = do[client.Project](w, boss, "", "", "get_project", map[string]any{"project": "second"})
	w.refused(err, client.CodeNotFound)
}

func TestPersonsCapTheirKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := do[client.CreatedKey](w, admin, "", "", "create_key", map[string]any{"name": "k", "person": "eva"})
	w.refused(err, client.CodeNotFound)
	must[client.CreatedPerson](w, admin, "", "", "create_person", map[string]any{"name": "eva", "roles": []any{"read", "reviewer"}})
	k, p := w.key(map[string]any{"name": "k", "person": "eva"})
	if p.Name != "person:eva" || p.Person != "eva" || !p.May(ident.Reviewer) || p.May(ident.Write) {
		t.Fatalf("%+v", p)
	}
	if c := must[client.CreatedPerson](w, admin, "", "", "create_person", map[string]any{"name": "eva", "roles": []any{"read"}}); c.Created {
		t.Fatalf("%+v", c)
	}
	if p, err = w.store.Authenticate(t.Context(), k.Secret); err != nil || p.May(ident.Reviewer) {
		t.Fatalf("roles were taken away: %+v, %v", p, err)
	}
	if l := must[client.Persons](w, admin, "", "", "list_persons", nil); l.Count != 1 || l.Persons[0].Keys != 1 {
		t.Fatalf("%+v", l)
	}
}

func TestRepositoriesResolve(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := strings.Repeat("ab", 20)
	one := must[client.ResolvedRepository](w, anyone, "", "", "resolve_repository", map[string]any{"remote": "github.com/o/r", "root_commit": root, "name": "r"})
	if one.Project != "github.com/o/r" || one.Repository != "r" {
		t.Fatalf("%+v", one)
	}
	if two := must[client.ResolvedRepository](w, anyone, "", "", "resolve_repository", map[string]any{"remote": "github.com/o/r", "name": "clone"}); two != one {
		t.Fatalf("a clone is elsewhere: %+v", two)
	}
	if n := w.audited("resolve_repository", true); n != 1 {
		t.Fatalf("%d audit rows for one creation", n)
	}
	_, err := do[client.ResolvedRepository](w, anyone, "", "", "resolve_repository", map[string]any{})
	w.refused(err, client.CodeInvalid)
	_, bound := w.key(map[string]any{"name": "b"})
	in := must[client.ResolvedRepository](w, bound, "", "", "resolve_repository", map[string]any{"remote": "github.com/o/second", "name": "second"})
	if in.Project != "demo" {
		t.Fatalf("a bound key left its project: %+v", in)
	}
	_, err = do[client.ResolvedRepository](w, bound, "", "", "resolve_repository", map[string]any{"remote": "github.com/o/r", "project": "github.com/o/r"})
	w.refused(err, client.CodeForbidden)
	if p := must[client.Project](w, bound, "", "", "get_project", nil); p.Project != "demo" || len(p.Repositories) != 1 {
		t.Fatalf("%+v", p)
	}
}
