package httpapi

import "time"

// HeaderWithin shortens the time for a request's header, before Serve.
func (s *Server) HeaderWithin(d time.Duration) { s.headerTimeout = d }
