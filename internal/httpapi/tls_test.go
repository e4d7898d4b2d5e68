package httpapi

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// issue writes a fresh certificate for 127.0.0.1 and returns it.
func issue(t *testing.T, certFile, keyFile string, serial int64) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "coordinator"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) {
		if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(keyFile, "PRIVATE KEY", raw)
	write(certFile, "CERTIFICATE", der)
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// The server speaks TLS, refuses old versions and plain HTTP, and takes up a renewed certificate while it runs.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first := issue(t, certFile, keyFile, 1)
	conf, err := LoadTLS(certFile, keyFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := New(op.NewCatalogue(), nil, Options{Version: "v", Face: Face{TLS: conf}})
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	ask := func(trusted *x509.Certificate, scheme string, most uint16) (status int, err error) {
		pool := x509.NewCertPool()
		pool.AddCert(trusted)
		tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MaxVersion: most}, DisableKeepAlives: true, ForceAttemptHTTP2: true} //nolint:gosec // old versions are what is tried
		req, err := http.NewRequestWithContext(t.Context(), "GET", scheme+"://"+ln.Addr().String()+"/live", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			return 0, err
		}
		return resp.StatusCode, resp.Body.Close()
	}
	if status, err := ask(first, "https", 0); err != nil || status != 200 {
		t.Fatalf("%d %v", status, err)
	}
	if _, err := ask(first, "https", tls.VersionTLS11); err == nil {
		t.Error("TLS 1.1 was accepted")
	}
	if status, err := ask(first, "http", 0); err == nil && status == 200 {
		t.Error("plain HTTP was answered")
	}
	if err := os.WriteFile(keyFile, []byte("half a renewal"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &certificate{certFile: certFile, keyFile: keyFile, log: s.log, cert: &tls.Certificate{}, stamp: "old"}
	if got, err := c.get(&tls.ClientHelloInfo{}); err != nil || got == nil {
		t.Errorf("the certificate before must stay: %v %v", got, err)
	}
	second := issue(t, certFile, keyFile, 2)
	c.looked = time.Time{}
	if got, err := c.get(&tls.ClientHelloInfo{}); err != nil || got.Leaf == nil || got.Leaf.SerialNumber.Cmp(second.SerialNumber) != 0 {
		t.Errorf("the renewed certificate was not taken up: %v", err)
	}
}

func TestTLSNeedsBothFiles(t *testing.T) {
	t.Parallel()
	if conf, err := LoadTLS("", "", nil); conf != nil || err != nil {
		t.Errorf("%v %v", conf, err)
	}
	for _, files := range [][2]string{{"cert.pem", ""}, {"", "key.pem"}, {"/nowhere/cert.pem", "/nowhere/key.pem"}} {
		if _, err := LoadTLS(files[0], files[1], nil); err == nil {
			t.Errorf("%v was accepted", files)
		}
	}
}
