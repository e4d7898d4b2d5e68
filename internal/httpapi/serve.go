package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	drainTime      = 10 * time.Second // for calls in flight when the server stops
	idleTimeout    = 2 * time.Minute
	headerTimeout  = 5 * time.Second
	writeTimeout   = time.Minute // for a client to take an answer that is ready
	maxHeaderBytes = 32 << 10
)

// Serve answers on ln until ctx is done, then stops: no new connections, waiting calls are answered at once, others
// get up to 10 s. It returns nil after a clean stop.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: s.headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		// No WriteTimeout: calls wait and streams stay open. Each call's own deadline bounds it, and write sets one for the answer.
	}
	done := make(chan error, 1)
	go func() {
		if srv.TLSConfig = s.opts.Face.TLS; srv.TLSConfig != nil {
			done <- srv.ServeTLS(ln, "", "")
			return
		}
		done <- srv.Serve(ln)
	}()
	select {
	case err := <-done:
		s.Stop()
		return err
	case <-ctx.Done():
	}
	s.Stop()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	err := srv.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.WarnContext(ctx, "calls still ran after the drain and were dropped")
		err = srv.Close()
	}
	if end := <-done; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}
