package ops_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// opens reports whether a secret lets somebody in, asked of a process that has not seen it before.
func (w *world) opens(secret string) bool {
	w.t.Helper()
	_, err := coord.New(w.pool).Authenticate(w.t.Context(), secret)
	if err != nil {
		w.refused(err, client.CodeUnauthenticated)
	}
	return err == nil
}

func rotate(w *world, name, grace string) client.RotatedKey {
	w.t.Helper()
	return must[client.RotatedKey](w, admin, "", "", "rotate_key", map[string]any{"name": name, "grace": grace})
}

// A rotated key is the same key under a new secret; the old one is good for the grace and no longer.
func TestRotationKeepsTheOldSecretForItsGrace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old, before := w.key(map[string]any{"name": "ci", "agent_id": "ana", "agent_type": "codex", "scopes": []any{"write", "runner"}, "rate_limit": 7.0})
	now := must[client.RotatedKey](w, admin, "", "", "rotate_key", map[string]any{"name": "ci"})
	if now.Secret == old.Secret || now.Key.Prefix != now.Secret[:9] || now.Key.RotatedAt == "" || now.OldSecretUntil == "" {
		t.Fatalf("%+v", now)
	}
	for _, secret := range []string{old.Secret, now.Secret} {
		p, err := w.store.Authenticate(t.Context(), secret)
		if err != nil || p.Name != before.Name || p.Agent != "ana" || p.AgentType != "codex" || p.ProjectID != before.ProjectID || p.RateLimit != 7 ||
			p.Key != "key:ci" || !slices.Equal(p.Scopes, []ident.Scope{"write", "runner"}) {
			t.Fatalf("%+v %v", p, err)
		}
	}
	list := must[client.Keys](w, admin, "", "", "list_keys", nil)
	if list.Count != 1 || len(list.OldSecrets) != 1 || list.OldSecrets[0].Prefix != old.Secret[:9] || list.OldSecrets[0].Name != "ci" ||
		list.OldSecrets[0].ExpiresAt != now.OldSecretUntil || list.OldSecrets[0].LastUsedAt == "" || list.Keys[0].LastUsedAt == "" {
		t.Fatalf("%+v", list)
	}
	w.later(24*time.Hour - time.Minute)
	if !w.opens(old.Secret) || !w.opens(now.Secret) {
		t.Error("a secret ended before its time")
	}
	w.later(24*time.Hour + time.Minute)
	if w.opens(old.Secret) || !w.opens(now.Secret) {
		t.Error("the grace did not end, or the new secret did with it")
	}
	if list := must[client.Keys](w, admin, "", "", "list_keys", nil); len(list.OldSecrets) != 0 {
		t.Errorf("%+v", list.OldSecrets)
	}
	if n := w.audited("rotate_key", true); n != 1 {
		t.Errorf("%d audit rows, want 1", n)
	}
}

// A grace of 0 is for a key that got out: every older secret ends, in this process at once.
func TestRotationWithoutGraceEndsEveryOlderSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, _ := w.key(map[string]any{"name": "ci"})
	second := rotate(w, "ci", "720h")
	third := rotate(w, "ci", "1h")
	if list := must[client.Keys](w, admin, "", "", "list_keys", nil); len(list.OldSecrets) != 2 || list.OldSecrets[0].ExpiresAt != list.OldSecrets[1].ExpiresAt {
		t.Fatalf("an older secret outlives the last rotation's grace: %+v", list)
	}
	for _, s := range []string{first.Secret, second.Secret, third.Secret} {
		if _, err := w.store.Authenticate(t.Context(), s); err != nil { // now it is cached
			t.Fatal(err)
		}
	}
	last := rotate(w, "ci", "0")
	if last.OldSecretUntil != "" {
		t.Errorf("%+v", last)
	}
	for _, s := range []string{first.Secret, second.Secret, third.Secret} {
		_, err := w.store.Authenticate(t.Context(), s)
		w.refused(err, client.CodeUnauthenticated)
	}
	if !w.opens(last.Secret) || scan[int](w, `select count(*) from coord.old_secrets`) != 0 {
		t.Error("the newest secret must be the only one")
	}
}

// What ended does not come back by a rotation, and a grace does not outlive the key.
func TestRotationOfWhatEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old, _ := w.key(map[string]any{"name": "short", "expires_in_days": 1.0})
	now := rotate(w, "short", "720h")
	if now.OldSecretUntil != now.Key.ExpiresAt {
		t.Errorf("the old secret outlives its key: %+v", now)
	}
	w.later(25 * time.Hour)
	if w.opens(old.Secret) || w.opens(now.Secret) {
		t.Error("an expired key opens")
	}
	w.key(map[string]any{"name": "gone"})
	held := rotate(w, "gone", "1h")
	must[client.RevokedKey](w, admin, "", "", "revoke_key", map[string]any{"name": "gone"})
	if w.opens(held.Secret) {
		t.Error("a revoked key opens")
	}
	for name, code := range map[string]client.Code{"short": client.CodeConflict, "gone": client.CodeConflict, "never": client.CodeNotFound} {
		_, err := do[client.RotatedKey](w, admin, "", "", "rotate_key", map[string]any{"name": name})
		w.refused(err, code)
	}
	w.key(map[string]any{"name": "x"})
	for _, grace := range []string{"", "721h", "-1h", "soon", "1d", "1.5h"} {
		_, err := do[client.RotatedKey](w, admin, "", "", "rotate_key", map[string]any{"name": "x", "grace": grace})
		w.refused(err, client.CodeInvalid)
	}
	_, err := do[client.RotatedKey](w, anyone, "", "", "rotate_key", map[string]any{"name": "x"})
	w.refused(err, client.CodeForbidden)
	_, boss := w.key(map[string]any{"name": "boss", "scopes": []any{"admin"}})
	w.key(map[string]any{"name": "everywhere", "all_projects": true})
	_, err = do[client.RotatedKey](w, boss, "", "", "rotate_key", map[string]any{"name": "everywhere"})
	w.refused(err, client.CodeNotFound)
	if n := scan[int](w, `select count(*) from coord.api_keys where rotated_at is not null and name in ('x', 'everywhere')`); n != 0 {
		t.Error("a refused rotation changed a key")
	}
}

// Of rotations at the same moment each winner's secret is good, and what a loser was told is a conflict.
func TestRotationsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.key(map[string]any{"name": "ci"})
	var mu sync.Mutex
	var wg sync.WaitGroup
	var secrets []string
	for range 8 {
		wg.Go(func() {
			out, err := do[client.RotatedKey](w, admin, "", "", "rotate_key", map[string]any{"name": "ci", "grace": "1h"})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				secrets = append(secrets, out.Secret)
				return
			}
			w.refused(err, client.CodeConflict)
		})
	}
	wg.Wait()
	if len(secrets) == 0 {
		t.Fatal("nobody won")
	}
	for _, s := range secrets {
		if !w.opens(s) {
			t.Error("a winner's secret is not good")
		}
	}
	if n := w.audited("rotate_key", true); n != len(secrets) {
		t.Errorf("%d audit rows for %d rotations", n, len(secrets))
	}
}

func TestLimitsOfAKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, p := w.key(map[string]any{"name": "ci", "rate_limit": 5.0, "stream_limit": 2.0})
	if p.RateLimit != 5 || p.StreamLimit != 2 || k.Key.RateLimit != 5 || k.Key.StreamLimit != 2 {
		t.Fatalf("%+v %+v", p, k)
	}
	out := must[client.LimitedKey](w, admin, "", "", "limit_key", map[string]any{"name": "ci", "stream_limit": 9.0})
	if out.Key.RateLimit != 0 || out.Key.StreamLimit != 9 {
		t.Fatalf("%+v", out)
	}
	if p, err := w.store.Authenticate(t.Context(), k.Secret); err != nil || p.RateLimit != 0 || p.StreamLimit != 9 {
		t.Fatalf("%+v %v", p, err)
	}
	_, err := do[client.LimitedKey](w, admin, "", "", "limit_key", map[string]any{"name": "ci", "rate_limit": 0.0})
	w.refused(err, client.CodeInvalid)
}
