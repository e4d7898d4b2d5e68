package embedpg

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// endpoint is the content of info.json: where the server was last started.
type endpoint struct {
	Port      int       `json:"port"`
	SocketDir string    `json:"socket_dir,omitempty"`
	PID       int       `json:"pid"`
	DataDir   string    `json:"data_dir"`
	BinDir    string    `json:"bin_dir"`
	Version   string    `json:"version"`
	Account   string    `json:"account,omitempty"`
	StartedAt time.Time `json:"started_at"`
}

// readEndpoint returns the zero value when there is none, or none that can be read: it is rebuilt then.
func readEndpoint(l layout) endpoint {
	var e endpoint
	raw, err := os.ReadFile(l.infoFile())
	if err != nil || json.Unmarshal(raw, &e) != nil {
		return endpoint{}
	}
	return e
}

func writeEndpoint(l layout, e endpoint) error {
	raw, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return fmt.Errorf("write info.json: %w", err)
	}
	return writeFileAtomic(l.infoFile(), append(raw, '\n'))
}

// secret returns the superuser's password, made on first use. It is kept apart from info.json and written
// before the cluster exists, so that no crash can leave a cluster whose password nobody knows. Other
// local users can reach the port: hence a password even on loopback.
func secret(l layout) (password string, created bool, err error) {
	raw, err := os.ReadFile(l.secretFile())
	if err == nil && len(raw) > 0 {
		return strings.TrimSpace(string(raw)), false, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, fmt.Errorf("read the password: %w", err)
	}
	b := make([]byte, 24)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	password = hex.EncodeToString(b)
	return password, true, writeFileAtomic(l.secretFile(), []byte(password+"\n"))
}

// dsn is a connection string that names everything, so that no default of the caller's environment
// enters. The socket is used where there is one.
func (e endpoint) dsn(password, dbname string, tcp bool) string {
	q := url.Values{"sslmode": {"disable"}, "target_session_attrs": {"any"}}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(superuser, password), Path: "/" + dbname}
	if e.SocketDir != "" && !tcp {
		q.Set("host", e.SocketDir)
		q.Set("port", strconv.Itoa(e.Port))
	} else {
		u.Host = "127.0.0.1:" + strconv.Itoa(e.Port)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// postmasterPID is what the server itself writes into its data directory.
type postmasterPID struct {
	pid       int
	port      int
	socketDir string
}

// readPostmasterPID reports ok=false when there is no such file or it is not complete yet.
func readPostmasterPID(dataDir string) (p postmasterPID, ok bool) {
	raw, err := os.ReadFile(filepath.Join(dataDir, "postmaster.pid"))
	if err != nil {
		return p, false
	}
	// pid, data directory, start time, port, socket directory, listen address, shared memory, status
	lines := strings.Split(string(raw), "\n")
	if len(lines) > 0 {
		p.pid, _ = strconv.Atoi(strings.TrimSpace(lines[0])) // 0 means unreadable
	}
	if len(lines) > 4 {
		p.port, _ = strconv.Atoi(strings.TrimSpace(lines[3]))
		p.socketDir = strings.TrimSpace(lines[4])
	}
	return p, p.pid > 0
}
