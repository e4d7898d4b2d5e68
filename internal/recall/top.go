package recall

import (
	"cmp"
	"slices"
)

// place is a scored candidate.
type place struct {
	score float64
	id    int64
	doc   int32 // place in the candidates
}

// before is the order of results: score, then the newer memory.
func before(a, b place) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.id, a.id)) }

// top keeps the best of many places: a binary heap whose root is the worst kept.
type top struct {
	most int
	heap []place
}

func newTop(most int) *top { return &top{most: most, heap: make([]place, 0, most)} }

func (t *top) offer(p place) {
	if len(t.heap) < t.most {
		t.heap = append(t.heap, p)
		for i := len(t.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if before(t.heap[up], t.heap[i]) > 0 {
				return
			}
			t.heap[up], t.heap[i] = t.heap[i], t.heap[up]
			i = up
		}
		return
	}
	if before(p, t.heap[0]) > 0 {
		return
	}
	t.heap[0] = p
	for i := 0; ; {
		worst := i
		for _, down := range [2]int{2*i + 1, 2*i + 2} {
			if down < len(t.heap) && before(t.heap[down], t.heap[worst]) > 0 {
				worst = down
			}
		}
		if worst == i {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}

// sorted is what was kept, the best first.
func (t *top) sorted() []place {
	slices.SortFunc(t.heap, before)
	return t.heap
}
