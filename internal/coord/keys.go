package coord

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

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
	key, err := reply[client.Key](ctx, s, `select coord.make_key($1, $2, $3, $4, $5, $6, $7, nullif($8, ''), nullif($9, ''), nullif($10, ''), nullif($11, 0), nullif($12, 0), nullif($13, 0))`,
		c.ProjectID, c.By, in.Name, hash[:], secret[:keyShown], in.Scopes, keyProject(in, project), in.AgentID, in.AgentType, in.Person, in.ExpiresInDays,
		in.RateLimit, in.StreamLimit)
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
	defer s.forgetKeys()
	return reply[client.RevokedKey](ctx, s, `select coord.revoke_key($1, $2, $3, $4)`, c.ProjectID, boundProject(c), c.By, in.Name)
}

// maxGrace is the longest that a secret may stay good after its rotation.
const maxGrace = 720 * time.Hour

// RotateKey gives a key a new secret and returns it, once. Errors: not_found; conflict when it was revoked, has expired or
// is being rotated at the same moment.
func (s *Store) RotateKey(ctx context.Context, c ident.Caller, in client.RotateKey) (client.RotatedKey, error) {
	grace, err := time.ParseDuration(in.Grace)
	if err != nil || grace < 0 || grace > maxGrace {
		return client.RotatedKey{}, fault.Invalid("grace", "grace must be between 0 and 720h", "give a time such as 24h, 90m or 0")
	}
	secret := NewKey()
	hash := HashKey(secret)
	defer s.forgetKeys()
	out, err := reply[client.RotatedKey](ctx, s, `select coord.rotate_key($1, $2, $3, $4, $5, $6, $7)`,
		c.ProjectID, boundProject(c), c.By, in.Name, hash[:], secret[:keyShown], grace)
	if err == nil {
		out.Secret = secret
	}
	return out, err
}

// LimitKey sets a key's own limits. Errors: not_found; conflict when it was revoked or has expired.
func (s *Store) LimitKey(ctx context.Context, c ident.Caller, in client.LimitKey) (client.LimitedKey, error) {
	defer s.forgetKeys()
	return reply[client.LimitedKey](ctx, s, `select coord.limit_key($1, $2, $3, $4, nullif($5, 0), nullif($6, 0))`,
		c.ProjectID, boundProject(c), c.By, in.Name, in.RateLimit, in.StreamLimit)
}

// forgetKeys makes this process ask the database about every key again.
func (s *Store) forgetKeys() {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	clear(s.cache.keys)
}

// boundProject is the project the caller's key is bound to, nil when it is good for all.
func boundProject(c ident.Caller) *int64 {
	if c.Bound {
		return &c.ProjectID
	}
	return nil
}
