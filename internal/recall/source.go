package recall

import "context"

// Source is where memories of one project are read from.
type Source interface {
	// Stats returns the size of the project's index and, for each term, in how many memories it is (as last counted: a
	// lag is harmless).
	Stats(ctx context.Context, terms []int64) (Stats, error)
	// Candidates returns memories as Pick says.
	Candidates(ctx context.Context, p Pick) ([]Doc, error)
	// Windows returns the memories of every span, in any order.
	Windows(ctx context.Context, spans []Span) ([]Doc, error)
	// Similar returns for each word, unstemmed, the known words most like it, the best two; nil when that is not to be had.
	Similar(ctx context.Context, words []string) (map[string][]Similar, error)
}

// Stats describes a project's index.
type Stats struct {
	N, Groups         int64   // memories, sessions
	LenTitle, LenBody float64 // means, in tokens
	DF                []int64 // per asked term
}

// Pick says which memories to return: those with any of Any, those with all of one of All, those with one of One and one
// of Other; the newest when all of these are empty. In each case only those that have all of Need, at most Limit.
type Pick struct {
	Any        []int64
	All        [][]int64 // at most six
	One, Other []int64
	Need       []int64
	Archived   bool // also archived ones
	Limit      int
}

// newest reports whether no term is asked for.
func (p *Pick) newest() bool { return len(p.Any)+len(p.All)+len(p.One) == 0 }

// Span is a stretch of a session: memories From ≤ Seq ≤ To.
type Span struct {
	Group    int64
	From, To int32
}

// Similar is a known word and how like the asked one it is, 0..1.
type Similar struct {
	Word  string
	Score float64
}

// Flags of a Doc.
const (
	Archived uint16 = 1 << iota // kept out unless asked for
	Stale                       // bound to a file that changed since
	Imported                    // from a file, not from a session
	Good                        // its outcome was good
	Bad                         // its outcome was bad
)

// Kind tells the layers apart.
type Kind uint8

// The two layers that are searched.
const (
	Episodic   Kind = 1
	Procedural Kind = 2
)

// Doc is one memory of the index.
type Doc struct {
	ID                int64 // ascending with age of insertion
	Group             int64 // session; 0: none
	Seq               int32 // place in it; a gap wider than the radius separates stretches of work
	Kind              Kind
	CreatedAt         int64 // Unix seconds
	LenTitle, LenBody uint16
	Flags             uint16
	Skill             uint8 // a skill's success mean, percent
	Sig               []byte
}
