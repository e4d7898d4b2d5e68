// Package e2btest is a fake of E2B for tests: the control plane and the daemon in its sandboxes, with real processes in
// folders of this machine. Our client drives it, and so does E2B's own SDK, which is what makes it worth believing.
package e2btest

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Fake is the service. Its fields may be set before the first call.
type Fake struct {
	URL string // of the control plane and of every sandbox

	mu     sync.Mutex
	server *httptest.Server
	root   string
	key    string
	boxes  map[string]*Box
	made   []Box // every sandbox that ever was
	Faults Faults
}

// Faults are what can go wrong on purpose.
type Faults struct {
	RateLimited int  // how many creations are answered with 429 and Retry-After first
	LoseCreated bool // creates the sandbox, then answers 500
	CutStream   int  // this many streams break off after their first data
	NoEnd       bool // the end event never comes, though the stream ends well
	DieAfter    int  // the sandbox dies when this many commands have begun
}

// Box is a sandbox.
type Box struct {
	ID, Template, Token string
	Metadata            map[string]string
	EnvVars             map[string]string
	Started, End        time.Time
	Dir                 string // the user's home
	Commands            []string
	Uploads             []string

	processes map[uint32]*process
	nextPID   uint32
}

// New starts the service; root holds the sandboxes' homes. Close it.
func New(root, key string) *Fake {
	f := &Fake{root: root, key: key, boxes: map[string]*Box{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v2/sandboxes", f.authorized(f.create))
	mux.HandleFunc("POST /sandboxes", f.authorized(f.create))
	mux.HandleFunc("GET /v2/sandboxes", f.authorized(f.list))
	mux.HandleFunc("GET /sandboxes/{id}", f.authorized(f.show))
	mux.HandleFunc("DELETE /sandboxes/{id}", f.authorized(f.remove))
	mux.HandleFunc("POST /sandboxes/{id}/timeout", f.authorized(f.timeout))
	mux.HandleFunc("POST /v2/sandboxes/{id}/connect", f.authorized(f.connect))
	mux.HandleFunc("POST /sandboxes/{id}/connect", f.authorized(f.connect))
	mux.HandleFunc("GET /health", f.inside(func(w http.ResponseWriter, _ *http.Request, _ *Box) { w.WriteHeader(http.StatusNoContent) }))
	mux.HandleFunc("POST /files", f.inside(f.write))
	mux.HandleFunc("GET /files", f.inside(f.read))
	mux.HandleFunc("POST /process.Process/{method}", f.inside(f.process))
	f.server = httptest.NewServer(mux)
	f.URL = f.server.URL
	return f
}

// Close kills every sandbox and stops the service.
func (f *Fake) Close() {
	f.mu.Lock()
	for _, b := range f.boxes {
		b.kill()
	}
	f.boxes = map[string]*Box{}
	f.mu.Unlock()
	f.server.CloseClientConnections()
	f.server.Close()
}

// Running lists the sandboxes that are there.
func (f *Fake) Running() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for id := range f.boxes {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// Made counts the sandboxes that ever were made with this pair of metadata.
func (f *Fake) Made(key, value string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.made {
		if b.Metadata[key] == value {
			n++
		}
	}
	return n
}

// Kill ends every sandbox, as the service does with one whose time is up.
func (f *Fake) Kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, b := range f.boxes {
		b.kill()
		delete(f.boxes, id)
	}
}

// Ran counts how often commands with this text were begun.
func (f *Fake) Ran(text string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.made {
		for _, c := range f.made[i].Commands {
			if strings.Contains(c, text) {
				n++
			}
		}
	}
	for _, b := range f.boxes {
		for _, c := range b.Commands {
			if strings.Contains(c, text) {
				n++
			}
		}
	}
	return n
}

func (f *Fake) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-API-KEY") != f.key {
			fail(w, http.StatusUnauthorized, "invalid API key")
			return
		}
		next(w, r)
	}
}

func fail(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]any{"code": status, "message": message})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func token() string {
	raw := make([]byte, 10)
	_, _ = rand.Read(raw)
	return "i" + hex.EncodeToString(raw)
}

func (f *Fake) create(w http.ResponseWriter, r *http.Request) {
	var in struct {
		TemplateID string            `json:"templateID"`
		Timeout    int               `json:"timeout"`
		Metadata   map[string]string `json:"metadata"`
		EnvVars    map[string]string `json:"envVars"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.TemplateID == "" {
		fail(w, http.StatusBadRequest, "templateID is required")
		return
	}
	if in.Timeout == 0 {
		in.Timeout = 15
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Faults.RateLimited > 0 {
		f.Faults.RateLimited--
		w.Header().Set("Retry-After", "0")
		fail(w, http.StatusTooManyRequests, "rate limit exceeded")
		return
	}
	now := time.Now()
	b := &Box{
		ID: token(), Template: in.TemplateID, Token: token(), Metadata: in.Metadata, EnvVars: in.EnvVars,
		Started: now, End: now.Add(time.Duration(in.Timeout) * time.Second), processes: map[uint32]*process{}, nextPID: 100,
	}
	b.Dir = filepath.Join(f.root, b.ID)
	if err := os.MkdirAll(b.Dir, 0o755); err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	f.boxes[b.ID] = b
	f.made = append(f.made, Box{ID: b.ID, Metadata: b.Metadata})
	if f.Faults.LoseCreated {
		f.Faults.LoseCreated = false
		fail(w, http.StatusInternalServerError, "the answer was lost")
		return
	}
	reply(w, http.StatusCreated, b.access())
}

func (b *Box) access() map[string]any {
	return map[string]any{
		"sandboxID": b.ID, "templateID": b.Template, "clientID": "fake", "envdVersion": "0.5.8", "envdAccessToken": b.Token, "domain": nil,
	}
}

func (b *Box) info() map[string]any {
	return map[string]any{
		"sandboxID": b.ID, "templateID": b.Template, "clientID": "fake", "envdVersion": "0.5.8", "metadata": b.Metadata, "state": "running",
		"startedAt": b.Started.UTC().Format(time.RFC3339), "endAt": b.End.UTC().Format(time.RFC3339), "cpuCount": 2, "memoryMB": 512, "diskSizeMB": 1024,
	}
}

func (f *Fake) list(w http.ResponseWriter, r *http.Request) {
	want, err := url.ParseQuery(r.URL.Query().Get("metadata"))
	if err != nil {
		fail(w, http.StatusBadRequest, "metadata is no query")
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out := []map[string]any{}
	for _, b := range f.boxes {
		match := true
		for key, values := range want { // each part is encoded by itself, within the encoded pair
			k, _ := url.PathUnescape(key)
			v, _ := url.PathUnescape(values[0])
			match = match && b.Metadata[k] == v
		}
		if match {
			out = append(out, b.info())
		}
	}
	reply(w, http.StatusOK, out)
}

// box finds the sandbox of the path; the lock is held by the caller.
func (f *Fake) box(w http.ResponseWriter, r *http.Request) *Box {
	b := f.boxes[r.PathValue("id")]
	if b == nil {
		fail(w, http.StatusNotFound, "sandbox not found")
	}
	return b
}

func (f *Fake) show(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b := f.box(w, r); b != nil {
		reply(w, http.StatusOK, b.info())
	}
}

func (f *Fake) remove(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b := f.box(w, r); b != nil {
		f.forget(b)
		w.WriteHeader(http.StatusNoContent)
	}
}

// forget ends a sandbox, keeping what is asked for later. The lock is held.
func (f *Fake) forget(b *Box) {
	b.kill()
	for i := range f.made {
		if f.made[i].ID == b.ID {
			f.made[i].Commands, f.made[i].Uploads = b.Commands, b.Uploads
		}
	}
	delete(f.boxes, b.ID)
}

func (f *Fake) timeout(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.box(w, r) != nil {
		w.WriteHeader(http.StatusNoContent)
	}
}

func (f *Fake) connect(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b := f.box(w, r); b != nil {
		reply(w, http.StatusOK, b.access())
	}
}

// inside finds the sandbox that a call to the daemon is for.
func (f *Fake) inside(next func(http.ResponseWriter, *http.Request, *Box)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		b := f.boxes[r.Header.Get("E2b-Sandbox-Id")]
		f.mu.Unlock()
		switch {
		case b == nil:
			reply(w, http.StatusBadGateway, map[string]any{"sandboxId": r.Header.Get("E2b-Sandbox-Id"), "message": "The sandbox was not found", "code": 502})
		case r.Header.Get("X-Access-Token") != b.Token:
			fail(w, http.StatusUnauthorized, "unauthorized")
		default:
			next(w, r, b)
		}
	}
}

// place is the path inside the sandbox as one of this machine: all of it is below the home.
func (b *Box) place(name string) string {
	return filepath.Join(b.Dir, filepath.Clean("/"+strings.TrimPrefix(name, "/home/user")))
}

func (f *Fake) write(w http.ResponseWriter, r *http.Request, b *Box) {
	name := r.URL.Query().Get("path")
	var body io.Reader = r.Body
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		part, header, err := r.FormFile("file")
		if err != nil {
			fail(w, http.StatusBadRequest, err.Error())
			return
		}
		defer part.Close()
		body = part
		if name == "" {
			name = header.Filename
		}
	}
	at := b.place(name)
	raw, err := io.ReadAll(body)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(at), 0o755)
	}
	if err == nil {
		err = os.WriteFile(at, raw, 0o644)
	}
	if err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	f.mu.Lock()
	b.Uploads = append(b.Uploads, name)
	f.mu.Unlock()
	reply(w, http.StatusOK, []map[string]string{{"name": filepath.Base(name), "path": name, "type": "file"}})
}

func (f *Fake) read(w http.ResponseWriter, r *http.Request, b *Box) {
	raw, err := os.ReadFile(b.place(r.URL.Query().Get("path")))
	if err != nil {
		fail(w, http.StatusNotFound, "file not found")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(raw)
}
