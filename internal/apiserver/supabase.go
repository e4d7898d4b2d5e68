package apiserver

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/internal/pooler"
	"github.com/agent-coordinator/agent-coordinator/internal/supa"
)

// useSupabase makes lists be read through the project's Data API when one is set, and says in the metrics who answers.
func (s *server) useSupabase() error {
	var err error
	s.supabase, err = supa.Connect(supa.Config{URL: s.cfg.ProjectURL, Secret: s.cfg.Secret(), Public: s.cfg.Public(), TokenFile: s.cfg.TokenFile, Log: s.cfg.Log},
		s.hub, pooler.Session(s.cfg.DirectURL()) != "", s.store)
	if err != nil {
		return err
	}
	m, read := s.metrics, s.store.ReadStats
	m.Counter("coord_reads_postgres_total", "Lists read over the pool, under row level security.", func() float64 { return float64(read().Postgres) })
	m.Counter("coord_reads_data_api_total", "Lists read through Supabase's Data API.", func() float64 { return float64(read().DataAPI) })
	m.Counter("coord_reads_fallback_total", "Lists that the Data API could not answer; the pool did.", func() float64 { return float64(read().Fallback) })
	m.Gauge("coord_reads_data_api_down", "1 while the Data API is away and left alone.", func() float64 { return truth(read().Down) })
	m.Gauge("coord_reads_without_role", "1 when the database's user may not become a reader: row level security does not guard our own reads.",
		func() float64 { return truth(read().Bare) })
	if _, ok := s.supabase.Realtime(); ok {
		stats := func() supa.RealtimeStats { st, _ := s.supabase.Realtime(); return st }
		m.Gauge("coord_realtime_joined", "1 while Supabase Realtime tells of changes.", func() float64 { return truth(stats().Joined) })
		m.Counter("coord_realtime_changes_total", "Changes heard of through Supabase Realtime.", func() float64 { return float64(stats().Changes) })
		m.Counter("coord_realtime_renewals_total", "Times a newer access token was sent to Supabase Realtime.", func() float64 { return float64(stats().Renewals) })
		m.Counter("coord_realtime_reconnects_total", "Times Supabase Realtime was lost or not to be had.", func() float64 { return float64(stats().Reconnects) })
	}
	return nil
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// followSupabase runs what useSupabase set up.
func (s *server) followSupabase(ctx context.Context) error {
	s.supabase.Run(ctx)
	return nil
}
