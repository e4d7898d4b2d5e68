package coord

import (
	"context"
	"crypto/rand"
	"encoding/base64"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// keyShown is how many characters of a secret are kept in clear, to recognise it: "ac_" and six more, 36 of 256 bits.
const keyShown = 9

// NewKey returns a fresh secret: "ac_" and 32 random bytes in base64url.
func NewKey() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return "ac_" + base64.RawURLEncoding.EncodeToString(b[:])
}

// CreateKey makes a key and returns its secret, once. A caller whose own key is bound to a project can make keys for
// that project only. Errors: conflict when the name is taken, not_found for an unknown person.
func (s *Store) CreateKey(ctx context.Context, c ident.Caller, in client.CreateKey) (client.CreatedKey, error) {
	if in.AllProjects && in.Project != "" {
		return client.CreatedKey{}, fault.Invalid("project", "project and all_projects exclude each other", "send one of them")
	}
	project := c.ProjectID
	if in.Project != "" {
		id, err := s.projectID(ctx, in.Project, 0)
		if err != nil {
			return client.CreatedKey{}, err
		}
		project = id
	}
	if c.Bound && (in.AllProjects || project != c.ProjectID) {
		return client.CreatedKey{}, fault.New(client.CodeForbidden, "this key may make keys for its own project only",
			"it is bound to one project", "use an administrator's key that is good for every project")
	}
	secret := NewKey()
	hash := HashKey(secret)
	key, err := reply[client.Key](ctx, s, `select coord.create_key($1, $2, $3, $4, $5, $6, $7, nullif($8, ''), nullif($9, ''), nullif($10, ''), nullif($11, 0))`,
		c.ProjectID, c.By, in.Name, hash[:], secret[:keyShown], in.Scopes, keyProject(in, project), in.AgentID, in.AgentType, in.Person, in.ExpiresInDays)
	if err != nil {
		return client.CreatedKey{}, err
	}
	return client.CreatedKey{Success: true, Secret: secret, Key: key}, nil
}

// keyProject is the project a new key is bound to, nil for every project.
func keyProject(in client.CreateKey, project int64) *int64 {
	if in.AllProjects {
		return nil
	}
	return &project
}

// ListKeys lists the keys the caller may manage: those of its project if its own key is bound to one, else all.
func (s *Store) ListKeys(ctx context.Context, c ident.Caller, in client.ListKeys) (client.Keys, error) {
	return reply[client.Keys](ctx, s, `select coord.list_keys($1, $2)`, boundProject(c), in.IncludeRevoked)
}

// RevokeKey ends a key at once in this process and within cacheAge in others. Error: not_found.
func (s *Store) RevokeKey(ctx context.Context, c ident.Caller, in client.RevokeKey) (client.RevokedKey, error) {
	out, err := reply[client.RevokedKey](ctx, s, `select coord.revoke_key($1, $2, $3, $4)`, c.ProjectID, boundProject(c), c.By, in.Name)
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	clear(s.cache.keys)
	return out, err
}

// boundProject is the project the caller's key is bound to, nil when it is good for all.
func boundProject(c ident.Caller) *int64 {
	if c.Bound {
		return &c.ProjectID
	}
	return nil
}
