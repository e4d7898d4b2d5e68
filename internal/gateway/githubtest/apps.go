package githubtest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// App is a GitHub App.
type App struct {
	ID             int64
	InstallationID int64
	PrivateKey     []byte // PEM

	key    *rsa.PrivateKey
	repos  map[*Repo]bool
	tokens map[string]time.Time
	// TokenLife is how long an installation's token is good for; GitHub's is an hour.
	TokenLife time.Duration
}

// identity is who makes a request.
type identity struct {
	kind string // user, app, installation; "" nobody
	app  *App
}

// NewApp registers an App and installs it on the repositories.
func (s *Server) NewApp(repos ...*Repo) *App {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &App{
		ID: s.id(), InstallationID: s.id(), key: key, repos: map[*Repo]bool{}, tokens: map[string]time.Time{}, TokenLife: time.Hour,
		PrivateKey: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
	}
	for _, r := range repos {
		a.repos[r] = true
	}
	s.apps[a.ID] = a
	return a
}

func (a *App) covers(r *Repo) bool { return a.repos[r] }

// identify reads an Authorization header. s.mu is held.
func (s *Server) identify(header string) identity {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "bearer") && !strings.EqualFold(scheme, "token") {
		return identity{}
	}
	if token == Token {
		return identity{kind: "user"}
	}
	for _, a := range s.apps {
		if end, ok := a.tokens[token]; ok && time.Now().Before(end) {
			return identity{kind: "installation", app: a}
		}
	}
	if a := s.appOf(token); a != nil {
		return identity{kind: "app", app: a}
	}
	return identity{}
}

// appOf checks an App's JWT: RS256, not older than a minute ago in the future, ten minutes at most.
func (s *Server) appOf(token string) *App {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	raw, err1 := base64.RawURLEncoding.DecodeString(parts[1])
	signature, err2 := base64.RawURLEncoding.DecodeString(parts[2])
	var claims struct {
		Issuer  any   `json:"iss"`
		Issued  int64 `json:"iat"`
		Expires int64 `json:"exp"`
	}
	if err1 != nil || err2 != nil || json.Unmarshal(raw, &claims) != nil {
		return nil
	}
	now := time.Now().Unix()
	if claims.Expires <= now || claims.Expires > now+600 || claims.Issued > now+60 {
		return nil
	}
	id, err := strconv.ParseInt(fmt.Sprint(claims.Issuer), 10, 64)
	a := s.apps[id]
	if err != nil || a == nil {
		return nil
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(&a.key.PublicKey, crypto.SHA256, digest[:], signature) != nil {
		return nil
	}
	return a
}

func (s *Server) appHandlers() map[string]handler {
	return map[string]handler{
		"GET /repos/{owner}/{repo}/installation": func(c *call) reply {
			if c.who.kind != "app" || !c.who.app.covers(c.repo) {
				return notFound()
			}
			return answer(http.StatusOK, object{"id": c.who.app.InstallationID, "app_id": c.who.app.ID, "target_type": "Organization"})
		},
		"POST /app/installations/{installation_id}/access_tokens": func(c *call) reply {
			if c.who.kind != "app" {
				return refuse(http.StatusUnauthorized, "A JSON web token could not be decoded")
			}
			a := c.who.app
			if c.params["installation_id"] != strconv.FormatInt(a.InstallationID, 10) {
				return notFound()
			}
			token := "ghs_" + strconv.FormatInt(s.id(), 10)
			a.tokens[token] = time.Now().Add(a.TokenLife)
			return answer(http.StatusCreated, object{
				"token": token, "expires_at": stamp(a.tokens[token]), "permissions": object{"checks": "write", "actions": "write", "contents": "read"},
			})
		},
		"GET /orgs/{org}/teams/{team_slug}/memberships/{username}": func(c *call) reply {
			if !s.members[c.params["org"]+"/"+c.params["team_slug"]+"/"+c.params["username"]] {
				return notFound()
			}
			return answer(http.StatusOK, object{"url": s.URL + c.URL.Path, "role": "member", "state": "active"})
		},
	}
}
