package web

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
)

// linkFor is how long a one-time link is good.
const linkFor = 10 * time.Minute

// loginFor is how long a browser stays logged in.
const loginFor = 12 * time.Hour

// links are one-time links that stand for a key: for the person at the terminal, who need not copy the key.
type links struct {
	mu   sync.Mutex
	keys map[string]link
}

type link struct {
	key   string
	until time.Time
}

func newLinks() *links { return &links{keys: map[string]link{}} }

// add returns the path of a new link for key.
func (l *links) add(key string) string {
	raw := make([]byte, 20)
	_, _ = rand.Read(raw) // never fails
	token := hex.EncodeToString(raw)
	l.mu.Lock()
	defer l.mu.Unlock()
	for t, x := range l.keys {
		if time.Now().After(x.until) {
			delete(l.keys, t)
		}
	}
	l.keys[token] = link{key, time.Now().Add(linkFor)}
	return "/ui/login?link=" + token
}

// take returns the key of a link, once.
func (l *links) take(token string) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x, ok := l.keys[token]
	delete(l.keys, token)
	return x.key, ok && time.Now().Before(x.until)
}

// linkPath is where programs of this machine ask for a one-time link. It looks at the key in the header alone, never at
// a cookie, so that it matters not who sent the browser here.
const linkPath = "/ui/link"

// link answers {"path": "/ui/login?link=…"}: a page that logs in with the caller's key, once, within ten minutes.
func (p *Page) link(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("X-Api-Key")
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if _, err := p.opts.Authenticate(r.Context(), key); err != nil || key == "" {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"code":"unauthenticated","what":"send a valid key in X-API-Key"}`))
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"path": p.links.add(key)})
}

type loginData struct{ Asset, Theme, Next, Problem string }

// Icon is the tab's icon.
func (loginData) Icon() string { return "ok" }

func (p *Page) loginForm(w http.ResponseWriter, r *http.Request) {
	if token := r.URL.Query().Get("link"); token != "" {
		if key, ok := p.links.take(token); ok {
			p.admit(w, r, key, "/ui/")
			return
		}
		p.showLogin(w, r, http.StatusGone, "This link was used or is older than ten minutes. `coordctl status` prints a new one.")
		return
	}
	if _, err := p.opts.Authenticate(r.Context(), ""); err == nil { // authentication is off
		http.Redirect(w, r, "/ui/", http.StatusSeeOther)
		return
	}
	p.showLogin(w, r, http.StatusOK, "")
}

func (p *Page) showLogin(w http.ResponseWriter, r *http.Request, status int, problem string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	next := r.URL.Query().Get("next")
	if err := p.tmpl.ExecuteTemplate(w, "login", loginData{p.asset, theme(r), safeNext(next), problem}); err != nil {
		p.opts.Log.ErrorContext(r.Context(), "login not rendered", "err", err)
	}
}

func (p *Page) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	key := strings.TrimSpace(r.PostFormValue("key"))
	if _, err := p.opts.Authenticate(r.Context(), key); err != nil || key == "" {
		if err != nil && !fault.Is(err, client.CodeUnauthenticated) {
			p.showLogin(w, r, http.StatusServiceUnavailable, "The key could not be checked: the database does not answer. Try again.")
			return
		}
		p.showLogin(w, r, http.StatusUnauthorized, "No key like this one. A person creates one with `coordctl keys create`.")
		return
	}
	p.admit(w, r, key, safeNext(r.PostFormValue("next")))
}

// admit puts the key into a cookie that only this page gets.
func (p *Page) admit(w http.ResponseWriter, r *http.Request, key, next string) {
	http.SetCookie(w, &http.Cookie{
		Name: keyCookie, Value: key, Path: "/ui", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: int(loginFor.Seconds()),
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	})
	// Strict cookies are not sent with a navigation that another site began; a page of ours leads on.
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Refresh", "0; url="+next)
	_ = p.tmpl.ExecuteTemplate(w, "admitted", loginData{p.asset, theme(r), next, ""}) // a plain link
}

// safeNext allows paths of this page only.
func safeNext(next string) string {
	if strings.HasPrefix(next, "/ui/") && !strings.ContainsAny(next, "\\\r\n;") {
		return next
	}
	return "/ui/"
}

func (p *Page) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: keyCookie, Path: "/ui", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: -1})
	http.Redirect(w, r, "/ui/login", http.StatusSeeOther)
}

// theme is light, dark or empty: as the system says.
func theme(r *http.Request) string {
	if c, err := r.Cookie(themeCookie); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

func (p *Page) theme(w http.ResponseWriter, r *http.Request) {
	value := r.PostFormValue("theme")
	if value != "light" && value != "dark" {
		value = ""
	}
	http.SetCookie(w, &http.Cookie{Name: themeCookie, Value: value, Path: "/ui", SameSite: http.SameSiteStrictMode, MaxAge: 365 * 24 * 3600})
	http.Redirect(w, r, safeNext(r.PostFormValue("next")), http.StatusSeeOther)
}
