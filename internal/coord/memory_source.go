package coord

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"
)

// memorySource reads one project's memories for package recall.
type memorySource struct {
	s       *Store
	project int64
}

// MemorySource is one project's memories as package recall reads them, for measurements of the ranking alone.
func (s *Store) MemorySource(project int64) recall.Source { return memorySource{s, project} }

// Stats implements recall.Source.
func (m memorySource) Stats(ctx context.Context, terms []int64) (recall.Stats, error) {
	rows, err := list[struct {
		N, Groups         int64
		LenTitle, LenBody float64
		DF                []int64
	}](ctx, m.s, `select * from coord.memory_stats($1, $2)`, m.project, terms)
	if err != nil {
		return recall.Stats{}, err
	}
	if len(rows) != 1 || len(rows[0].DF) != len(terms) {
		return recall.Stats{}, fmt.Errorf("coord.memory_stats answered %d rows", len(rows))
	}
	return recall.Stats(rows[0]), nil
}

// Candidates implements recall.Source.
func (m memorySource) Candidates(ctx context.Context, p recall.Pick) ([]recall.Doc, error) {
	if len(p.Any)+len(p.All)+len(p.One) > 0 {
		var sets [6][]int64
		copy(sets[:], p.All)
		return m.docs(ctx, `select * from coord.memories_with($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
			m.project, p.Any, sets[0], sets[1], sets[2], sets[3], sets[4], sets[5], p.One, p.Other, p.Need, p.Archived, p.Limit)
	}
	return m.docs(ctx, `select * from coord.memories_newest($1, $2, $3, $4)`, m.project, p.Need, p.Archived, p.Limit)
}

// Windows implements recall.Source.
func (m memorySource) Windows(ctx context.Context, spans []recall.Span) ([]recall.Doc, error) {
	if len(spans) == 0 {
		return nil, nil
	}
	groups, from, to := make([]int64, len(spans)), make([]int32, len(spans)), make([]int32, len(spans))
	for i, s := range spans {
		groups[i], from[i], to[i] = s.Group, s.From, s.To
	}
	return m.docs(ctx, `select * from coord.memory_windows($1, $2, $3, $4)`, m.project, groups, from, to)
}

// Similar implements recall.Source.
func (m memorySource) Similar(ctx context.Context, words []string) (map[string][]recall.Similar, error) {
	rows, err := list[struct {
		Asked, Word string
		Score       float32
	}](ctx, m.s, `select * from coord.similar_words($1, $2)`, m.project, words)
	out := map[string][]recall.Similar{}
	for _, r := range rows {
		out[r.Asked] = append(out[r.Asked], recall.Similar{Word: r.Word, Score: float64(r.Score)})
	}
	return out, err
}

// docs reads index rows without reflection: thousands come with every recall. All values but sig are integers of known
// width in Postgres' binary format; sig is copied out of the connection's buffer.
func (m memorySource) docs(ctx context.Context, sql string, args ...any) ([]recall.Doc, error) {
	rows, err := m.s.q(ctx).Query(ctx, sql, append([]any{pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args...)...)
	if err != nil {
		return nil, mapErr(err)
	}
	defer rows.Close()
	var out []recall.Doc
	var arena []byte
	for rows.Next() {
		v := rows.RawValues()
		if len(v) != 10 || len(v[0]) != 8 || len(v[2]) != 4 || len(v[3]) != 2 || len(v[8]) != 2 {
			return nil, fmt.Errorf("an index row has an unknown form")
		}
		sig := v[9]
		if cap(arena)-len(arena) < len(sig) {
			arena = make([]byte, 0, max(64<<10, len(sig)))
		}
		at := len(arena)
		arena = append(arena, sig...)
		out = append(out, recall.Doc{
			ID: int64(binary.BigEndian.Uint64(v[0])), Group: int64(binary.BigEndian.Uint64(v[1])), Seq: int32(binary.BigEndian.Uint32(v[2])),
			Kind: recall.Kind(v[3][1]), CreatedAt: int64(binary.BigEndian.Uint64(v[4])),
			LenTitle: binary.BigEndian.Uint16(v[5]), LenBody: binary.BigEndian.Uint16(v[6]),
			Flags: binary.BigEndian.Uint16(v[7]), Skill: v[8][1], Sig: arena[at:len(arena):len(arena)],
		})
	}
	return out, mapErr(rows.Err())
}
