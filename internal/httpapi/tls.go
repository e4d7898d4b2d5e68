package httpapi

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certLook is how often a certificate's files are looked at for a newer one.
const certLook = 10 * time.Second

// certificate is one that is read again when its files change, as renewals do every few weeks.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu     sync.Mutex
	cert   *tls.Certificate
	stamp  string // of the files that cert was read from
	looked time.Time
}

// LoadTLS makes a server's configuration of a certificate (with its chain) and its key, both PEM. A renewed certificate is
// taken up by itself; while the files do not fit together, as in the middle of a renewal, the one before stays. It returns
// nil when neither is named.
func LoadTLS(certFile, keyFile string, log *slog.Logger) (*tls.Config, error) {
	if certFile == "" && keyFile == "" {
		return nil, nil
	}
	if certFile == "" || keyFile == "" {
		return nil, errors.New("TLS_CERT_FILE and TLS_KEY_FILE go together: set both or none")
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if err := c.read(); err != nil {
		return nil, fmt.Errorf("TLS_CERT_FILE, TLS_KEY_FILE: %w", err)
	}
	c.looked = time.Now()
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}, nil
}

func (c *certificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < certLook {
		return c.cert, nil
	}
	c.looked = time.Now()
	if c.stamps() != c.stamp {
		if err := c.read(); err != nil {
			c.log.WarnContext(hello.Context(), "the changed certificate cannot be read; the one before stays in use", "err", err)
		}
	}
	return c.cert, nil
}

func (c *certificate) read() error {
	stamp := c.stamps()
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.cert, c.stamp = &pair, stamp
	return nil
}

// stamps says which state of the files was seen; it follows links, as those of certbot.
func (c *certificate) stamps() string {
	var out string
	for _, f := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(f); err == nil {
			out += fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size(), " ")
		}
	}
	return out
}
