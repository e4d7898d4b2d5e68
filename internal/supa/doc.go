// Package supa reads lists through Supabase's Data API and follows Supabase Realtime. It is the only importer of
// supabase-go.
//
// Promise: whatever is away or refuses here is an error that the caller can fall back from; nothing here is ever the
// only way to an answer. A call ends with its context. Keys appear in no error and in no log line.
//
// Both families of keys work: the legacy JWTs (anon, service_role), sent as apikey and bearer token, and the newer
// sb_publishable_… and sb_secret_…, which are no JWTs and are sent as apikey alone. No key is ever decoded.
package supa

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
)

// Config says where the project is. Secret is a secret or service_role key and reads every project; Public a publishable
// or anon key and reads what is open to everybody. One of them is needed; Secret wins. Log may be nil.
type Config struct {
	URL    string // https://<ref>.supabase.co
	Secret string
	Public string
	// TokenFile holds an access token for Realtime, a JWT that lives shorter than a key and that somebody else renews; empty:
	// the key is the token, if it is a JWT.
	TokenFile string
	Log       *slog.Logger
}

// ErrNoKey means that a project is set without a key.
var ErrNoKey = errors.New("SUPABASE_URL is set without a key: set SUPABASE_SECRET_KEY (or SUPABASE_SERVICE_KEY), or SUPABASE_PUBLISHABLE_KEY (or SUPABASE_ANON_KEY)")

// key is the key that is sent.
func (c Config) key() string {
	if c.Secret != "" {
		return c.Secret
	}
	return c.Public
}

// token is the access token for Realtime at this moment, empty when there is none.
func (c Config) token() string {
	if c.TokenFile != "" {
		if raw, err := os.ReadFile(c.TokenFile); err == nil {
			return strings.TrimSpace(string(raw))
		}
	}
	if opaque(c.key()) { // only a JWT is an access token
		return ""
	}
	return c.key()
}

// base is the project's address.
func (c Config) base() (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(c.URL, "/"))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return nil, errors.New("SUPABASE_URL is not like https://abcdefghijklmnop.supabase.co")
	}
	if c.key() == "" {
		return nil, ErrNoKey
	}
	if strings.ContainsAny(c.key(), " \r\n\t") {
		return nil, fmt.Errorf("the Supabase key contains blanks: copy it again")
	}
	return u, nil
}

func (c Config) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}

// opaque keys are no JWTs: they must not be sent as bearer tokens.
func opaque(key string) bool { return strings.HasPrefix(key, "sb_") }
