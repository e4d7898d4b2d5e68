package coord

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"
)

const (
	embedBatch  = 64              // memories of one request
	embedRounds = 8               // requests of one sweep
	embedWait   = 2 * time.Second // for the vector of a question; words alone answer after it
	nearMost    = 50              // memories near by meaning
)

// Vectors the database can keep.
const (
	vectorsYes = 1 + iota
	vectorsNo
)

// Embedder makes vectors of texts. It may fail; recall goes by words then.
type Embedder interface {
	Name() string
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// EmbedWith sets a model that makes vectors of memories and questions. They are used where the database has pgvector.
func (s *Store) EmbedWith(e Embedder) { s.minds.embedder = e }

// vectorsReady reports whether vectors can be kept, and makes ready for them once. Without pgvector it is asked again only
// by the next process.
func (s *Store) vectorsReady(ctx context.Context) (bool, error) {
	if s.minds.embedder == nil {
		return false, nil
	}
	if known := s.minds.vectors.Load(); known != 0 {
		return known == vectorsYes, nil
	}
	ready, err := one[bool](ctx, s, `select coord.prepare_vectors($1)`, s.minds.embedder.Name())
	if err != nil {
		return false, err
	}
	if ready {
		s.minds.vectors.Store(vectorsYes)
	} else {
		s.minds.vectors.Store(vectorsNo)
	}
	return ready, nil
}

// EmbedMemories gives the next memories without a vector theirs, the newest first, and returns how many: at most 512. It
// is safe beside itself. Error: the model's, upon which the next call goes on.
func (s *Store) EmbedMemories(ctx context.Context) (int, error) {
	if ready, err := s.vectorsReady(ctx); err != nil || !ready {
		return 0, err
	}
	done := 0
	for range embedRounds {
		n, more, err := s.embedSome(ctx)
		done += n
		if err != nil || !more {
			return done, err
		}
	}
	return done, nil
}

func (s *Store) embedSome(ctx context.Context) (n int, more bool, err error) {
	rows, err := list[struct {
		ProjectID, ID int64
		Rev           int32
		Body          string
	}](ctx, s, `select * from coord.memories_to_embed($1)`, embedBatch)
	if err != nil || len(rows) == 0 {
		return 0, false, err
	}
	texts := make([]string, len(rows))
	projects, ids, revs := make([]int64, len(rows)), make([]int64, len(rows)), make([]int32, len(rows))
	for i, r := range rows {
		texts[i], projects[i], ids[i], revs[i] = r.Body, r.ProjectID, r.ID, r.Rev
	}
	vectors, err := s.minds.embedder.Embed(ctx, texts)
	if err != nil {
		return 0, false, fmt.Errorf("embed memories: %w", err)
	}
	dims := len(vectors[0])
	flat := make([]float32, 0, dims*len(vectors))
	for _, v := range vectors {
		flat = append(flat, v...)
	}
	n, err = one[int](ctx, s, `select coord.put_vectors($1, $2, $3, $4, $5, $6)`, s.minds.embedder.Name(), projects, ids, revs, dims, flat)
	return n, len(rows) == embedBatch && n > 0, err
}

// meaning is the vector of a question; nil, and a note where that is news, when there is none.
func (s *Store) meaning(ctx context.Context, text string) ([]float32, string) {
	if text == "" || s.minds.embedder == nil {
		return nil, ""
	}
	ready, err := s.vectorsReady(ctx)
	switch {
	case err != nil:
		return nil, "searched by words alone: the database was not ready for vectors"
	case !ready:
		return nil, "searched by words alone: the database has no pgvector"
	}
	ctx, cancel := context.WithTimeout(ctx, embedWait)
	defer cancel()
	vectors, err := s.minds.embedder.Embed(ctx, []string{cutText(text, 8000)})
	if err != nil {
		return nil, "searched by words alone: " + err.Error()
	}
	return vectors[0], ""
}

// withMeaning adds to what was found by words the memories near by meaning.
func (s *Store) withMeaning(ctx context.Context, q recall.Query, r recall.Result, vector []float32) (recall.Result, error) {
	var need []int64
	for _, t := range q.Need {
		need = append(need, recall.Hash64(q.Project, t))
	}
	near, err := memorySource{s, q.Project}.docs(ctx, `select * from coord.memories_near($1, $2, $3, $4, $5, $6)`,
		q.Project, s.minds.embedder.Name(), vector, need, q.Archived, max(nearMost, q.Limit))
	if err != nil {
		return r, err
	}
	return recall.Fuse(r, near, q, s.recallParams()), nil
}
