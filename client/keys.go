package client

// CreateKey makes an API key.
type CreateKey struct {
	Name          string   `json:"name" minLength:"1" maxLength:"200" doc:"unique name of the key"`
	Scopes        []string `json:"scopes,omitempty" maxItems:"5" enum:"read,write,runner,reviewer,admin" doc:"what it may do; write implies read, admin everything. Default: read and write, or the person's roles"`
	Project       string   `json:"project,omitempty" maxLength:"120" doc:"the one project it is good for; default: the caller's"`
	AllProjects   bool     `json:"all_projects,omitempty" doc:"good for every project instead"`
	AgentID       string   `json:"agent_id,omitempty" maxLength:"200" doc:"bind it to this agent: acting as another is refused"`
	AgentType     string   `json:"agent_type,omitempty" maxLength:"200" doc:"type of the bound agent"`
	Person        string   `json:"person,omitempty" maxLength:"200" doc:"person behind the key; it may do no more than the person's roles"`
	ExpiresInDays int      `json:"expires_in_days,omitempty" minimum:"1" maximum:"3650" doc:"default: never"`
	RateLimit     int      `json:"rate_limit,omitempty" minimum:"1" maximum:"100000" doc:"its own limit of requests a second; default: the server's"`
	StreamLimit   int      `json:"stream_limit,omitempty" minimum:"1" maximum:"100000" doc:"its own limit of waiting calls and open streams at a time; default: the server's"`
}

// Key describes an API key. The secret itself is never kept.
type Key struct {
	Name        string   `json:"name"`
	Prefix      string   `json:"prefix" doc:"first characters of the secret, to recognise it"`
	Scopes      []string `json:"scopes"`
	Project     string   `json:"project,omitempty" doc:"absent: every project"`
	AgentID     string   `json:"agent_id,omitempty"`
	AgentType   string   `json:"agent_type,omitempty"`
	Person      string   `json:"person,omitempty"`
	Status      string   `json:"status" enum:"active,expired,revoked"`
	CreatedAt   string   `json:"created_at"`
	ExpiresAt   string   `json:"expires_at,omitempty"`
	RevokedAt   string   `json:"revoked_at,omitempty"`
	RotatedAt   string   `json:"rotated_at,omitempty" doc:"when it got the secret it has now"`
	LastUsedAt  string   `json:"last_used_at,omitempty" doc:"to the minute"`
	RateLimit   int      `json:"rate_limit,omitempty" doc:"requests a second; absent: the server's default"`
	StreamLimit int      `json:"stream_limit,omitempty" doc:"waiting calls and open streams at a time; absent: the server's default"`
}

// OldSecret is a secret from before a rotation that is still good.
type OldSecret struct {
	Name       string `json:"name" doc:"the key's name"`
	Prefix     string `json:"prefix" doc:"first characters of the secret"`
	ExpiresAt  string `json:"expires_at" doc:"when it ends"`
	LastUsedAt string `json:"last_used_at,omitempty" doc:"to the minute; absent: never since the rotation or before"`
}

// CreatedKey is a new key with its secret, which is shown this once.
type CreatedKey struct {
	Success bool   `json:"success"`
	Secret  string `json:"secret" doc:"send it as X-API-Key; it cannot be shown again"`
	Key     Key    `json:"key"`
}

// ListKeys filters the keys.
type ListKeys struct {
	IncludeRevoked bool `json:"include_revoked,omitempty" doc:"also revoked and expired keys"`
}

// Keys is a list of keys, by name.
type Keys struct {
	Keys       []Key       `json:"keys"`
	Count      int         `json:"count"`
	OldSecrets []OldSecret `json:"old_secrets" doc:"secrets from before a rotation whose grace still runs"`
}

// RotateKey gives a key a new secret.
type RotateKey struct {
	Name  string `json:"name" minLength:"1" maxLength:"200" doc:"name of the key"`
	Grace string `json:"grace,omitempty" default:"24h" pattern:"^(0|[1-9][0-9]{0,5}[smh])$" example:"24h" doc:"how long the old secret stays good: 24h, 90m, 30s; 0 ends it at once; at most 720h"`
}

// RotatedKey is the key with its new secret, which is shown this once.
type RotatedKey struct {
	Success        bool   `json:"success"`
	Secret         string `json:"secret" doc:"send it as X-API-Key; it cannot be shown again"`
	OldSecretUntil string `json:"old_secret_until,omitempty" doc:"until when the old secret is good; absent: it ended"`
	Key            Key    `json:"key"`
}

// LimitKey sets a key's own limits. A limit that is left out goes back to the server's default.
type LimitKey struct {
	Name        string `json:"name" minLength:"1" maxLength:"200" doc:"name of the key"`
	RateLimit   int    `json:"rate_limit,omitempty" minimum:"1" maximum:"100000" doc:"requests a second; default: the server's"`
	StreamLimit int    `json:"stream_limit,omitempty" minimum:"1" maximum:"100000" doc:"waiting calls and open streams at a time; default: the server's"`
}

// LimitedKey confirms it.
type LimitedKey struct {
	Success bool `json:"success"`
	Key     Key  `json:"key"`
}

// RevokeKey ends a key.
type RevokeKey struct {
	Name string `json:"name" minLength:"1" maxLength:"200" doc:"name of the key"`
}

// RevokedKey confirms it.
type RevokedKey struct {
	Success bool   `json:"success"`
	Name    string `json:"name"`
	Already bool   `json:"already,omitempty" doc:"it was revoked before"`
}
