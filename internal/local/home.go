package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
)

// Home is the folder of state.
type Home struct{ Dir string }

// FindHome returns the folder of state; it need not exist.
func FindHome() (Home, error) {
	dir, err := embedpg.Home()
	return Home{dir}, err
}

// Make creates the folder. Root's can be walked through, because another account runs Postgres below it; nothing in
// it is readable to others.
func (h Home) Make() error {
	mode := fs.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711
	}
	if err := os.MkdirAll(h.Dir, mode); err != nil {
		return fmt.Errorf("folder of state (COORD_HOME): %w", err)
	}
	return nil
}

func (h Home) upFile() string   { return filepath.Join(h.Dir, "up.json") }
func (h Home) keyFile() string  { return filepath.Join(h.Dir, "key") }
func (h Home) lockFile() string { return filepath.Join(h.Dir, "up.lock") }

// LogFile is where a detached `up` writes.
func (h Home) LogFile() string { return filepath.Join(h.Dir, "up.log") }

// BackupDir holds what reset saved.
func (h Home) BackupDir() string { return filepath.Join(h.Dir, "backups") }

// Up is what runs, as up.json tells it to tools and tests.
type Up struct {
	APIURL      string    `json:"api_url"`
	GatewayURL  *string   `json:"gateway_url"` // null until there is a gateway
	DatabaseURL string    `json:"database_url"`
	Project     string    `json:"project"`
	APIKey      string    `json:"api_key"`
	PID         int       `json:"pid"`
	Runner      *UpRunner `json:"runner"` // null: no runner is kept running
}

// ReadUp reads up.json: fs.ErrNotExist when nothing runs. What it says may be stale: see Running.
func (h Home) ReadUp() (Up, error) {
	var u Up
	raw, err := os.ReadFile(h.upFile())
	if err != nil {
		return u, err
	}
	if err := json.Unmarshal(raw, &u); err != nil {
		return u, fmt.Errorf("%s: %w", h.upFile(), err)
	}
	return u, nil
}

// Running returns what runs; ok is false when nothing does, a stale up.json included.
func (h Home) Running(ctx context.Context) (u Up, ok bool) {
	u, err := h.ReadUp()
	if err != nil || !processLives(u.PID) {
		return Up{}, false
	}
	return u, Live(ctx, u.APIURL) == nil
}

// Live asks an API whether it lives.
func Live(ctx context.Context, apiURL string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(apiURL, "/")+"/live", nil)
	if err != nil {
		return fmt.Errorf("API address: %w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("the API does not answer: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s/live answers %s: something else listens there", apiURL, res.Status)
	}
	return nil
}

func (h Home) writeUp(u Up) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(u); err != nil {
		return fmt.Errorf("write up.json: %w", err)
	}
	return writeFile(h.upFile(), b.Bytes())
}

// removeUp removes up.json if it is still ours.
func (h Home) removeUp() error {
	u, err := h.ReadUp()
	if err == nil && u.PID != os.Getpid() {
		return nil
	}
	if err := os.Remove(h.upFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove up.json: %w", err)
	}
	return nil
}

// ReadKey returns the installation's own key, empty when there is none yet.
func (h Home) ReadKey() (string, error) { return readKey(h.keyFile()) }

func readKey(file string) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the local key: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// writeFile writes for the owner only, by rename: a reader sees the old content or the new, never a part.
func writeFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // what counts is the first error
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}
