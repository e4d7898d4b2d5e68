package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/agent-coordinator/agent-coordinator/internal/embedpg"
)

// server is a private Postgres.
type server struct {
	dir  string
	pg   *embedpg.Server
	pool *pgxpool.Pool // of the database with the plain text
}

func startServer(ctx context.Context) (s *server, err error) {
	s = &server{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "coord-codingmem-"); err != nil {
		return nil, err
	}
	if s.pg, err = embedpg.Start(ctx, embedpg.Options{Dir: filepath.Join(s.dir, "pg"), Grace: 10 * time.Second}); err != nil {
		return nil, err
	}
	if err = s.pg.EnsureDatabase(ctx, "texts"); err != nil {
		return nil, err
	}
	if s.pool, err = pgxpool.New(ctx, s.pg.DSN("texts")); err != nil {
		return nil, err
	}
	_, err = s.pool.Exec(ctx, `create table memory (project bigint, id bigint, text text,
		words tsvector generated always as (to_tsvector('english', text)) stored, primary key (project, id));
		create index on memory using gin (words)`)
	return s, err
}

func (s *server) close() error {
	var err error
	if s.pool != nil {
		s.pool.Close()
	}
	if s.pg != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		data := s.pg.Info().DataDir
		err = errors.Join(s.pg.Close(), embedpg.Stop(ctx, filepath.Join(s.dir, "pg")))
		if data != "" {
			err = errors.Join(err, os.RemoveAll(filepath.Dir(data)))
		}
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// load replaces the texts.
func (s *server) load(ctx context.Context, corpora []*corpus) error {
	if _, err := s.pool.Exec(ctx, `truncate memory`); err != nil {
		return err
	}
	for _, c := range corpora {
		rows := pgx.CopyFromSlice(len(c.docs), func(i int) ([]any, error) { return []any{c.number, int64(i + 1), c.docs[i].text}, nil })
		if _, err := s.pool.CopyFrom(ctx, pgx.Identifier{"memory"}, []string{"project", "id", "text"}, rows); err != nil {
			return err
		}
	}
	_, err := s.pool.Exec(ctx, `vacuum analyze memory`)
	return err
}

// fullText is Postgres' own search.
type fullText struct {
	pool *pgxpool.Pool
	c    *corpus
	sql  string
}

const (
	andSQL = `select id from memory, plainto_tsquery('english', $2) q where project = $1 and words @@ q
		order by ts_rank(words, q) desc, id desc limit $3`
	orSQL = `select id from memory, (select replace(plainto_tsquery('english', $2)::text, '&', '|')::tsquery q) x where project = $1 and words @@ q
		order by ts_rank(words, q) desc, id desc limit $3`
)

func (s *server) systems() []named {
	with := func(sql string) func(*corpus) (system, error) {
		return func(c *corpus) (system, error) { return &fullText{s.pool, c, sql}, nil }
	}
	return []named{{"Postgres AND + ts_rank", with(andSQL)}, {"Postgres OR + ts_rank", with(orSQL)}}
}

func (f *fullText) answer(ctx context.Context, q *question) (reply, error) {
	rows, err := f.pool.Query(ctx, f.sql, f.c.number, q.Text, depth)
	if err != nil {
		return reply{}, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return reply{ids: ids, absent: len(ids) == 0, nothing: len(ids) == 0}, err
}
