package route

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// index finds the paths of one change, by their numbers, by what patterns say about them.
type index struct {
	paths     []string
	names     []string // last segments
	every     []int32
	byExt     map[string][]int32
	byBase    map[string][]int32
	bySegment map[string][]int32
	bases     []int32 // in order of their names
}

// clean makes a path what patterns are matched against: relative, without dots, in Unicode's composed form.
func clean(p string) string {
	return norm.NFC.String(strings.TrimPrefix(path.Clean("/"+p), "/"))
}

// pathsOf are the paths that a change touches, both of a rename, each once and in order.
func pathsOf(files []File) []string {
	out := make([]string, 0, len(files))
	for i := range files {
		for _, p := range [2]string{files[i].Path, files[i].PreviousPath} {
			if p = clean(p); p != "" {
				out = append(out, p)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// words are the keys that the patterns of a router look for; only they are indexed.
type words struct{ exts, bases, segments map[string]bool }

func newWords() words {
	return words{exts: map[string]bool{}, bases: map[string]bool{}, segments: map[string]bool{}}
}

func (w words) add(g glob) {
	for _, a := range g.alternatives {
		switch a.look {
		case byExt:
			w.exts[a.key] = true
		case byBase:
			w.bases[a.key] = true
		case bySegment:
			w.segments[a.key] = true
		}
	}
}

func newIndex(paths []string, w words) *index {
	x := &index{
		paths: paths, byExt: map[string][]int32{}, byBase: map[string][]int32{}, bySegment: map[string][]int32{},
		names: make([]string, len(paths)), every: make([]int32, len(paths)),
	}
	for i, p := range paths {
		id := int32(i)
		name := path.Base(p)
		x.names[i], x.every[i] = name, id
		if w.bases[name] {
			x.byBase[name] = append(x.byBase[name], id)
		}
		if ext := path.Ext(name); w.exts[ext] {
			x.byExt[ext] = append(x.byExt[ext], id)
		}
		for rest, more := p, true; more; {
			var seg string
			if seg, rest, more = strings.Cut(rest, "/"); w.segments[seg] {
				if ids := x.bySegment[seg]; len(ids) == 0 || ids[len(ids)-1] != id {
					x.bySegment[seg] = append(ids, id)
				}
			}
		}
	}
	x.bases = slices.Clone(x.every)
	slices.SortFunc(x.bases, func(a, b int32) int { return strings.Compare(x.names[a], x.names[b]) })
	return x
}

// first is the number of the first path that g matches and no exclude does, -1 when there is none.
func (x *index) first(g *glob, excludes []glob) int32 {
	for i := range g.alternatives {
		if id := x.firstOf(&g.alternatives[i], excludes); id >= 0 {
			return id
		}
	}
	return -1
}

func (x *index) firstOf(a *alternative, excludes []glob) int32 {
	fits := func(id int32) bool {
		p := x.paths[id]
		return a.matches(p) && !slices.ContainsFunc(excludes, func(e glob) bool { return e.matches(p) })
	}
	var ids []int32
	switch a.look {
	case byExt:
		ids = x.byExt[a.key]
	case byBase:
		ids = x.byBase[a.key]
	case bySegment:
		ids = x.bySegment[a.key]
	case byBasePrefix:
		ids = x.withBase(a.key)
	default:
		ids = x.every
	}
	if i := slices.IndexFunc(ids, fits); i >= 0 {
		return ids[i]
	}
	return -1
}

// withBase are the paths whose last segment begins with prefix.
func (x *index) withBase(prefix string) []int32 {
	from, _ := slices.BinarySearchFunc(x.bases, prefix, func(id int32, key string) int {
		return strings.Compare(x.names[id], key)
	})
	n := 0
	for from+n < len(x.bases) && strings.HasPrefix(x.names[x.bases[from+n]], prefix) {
		n++
	}
	return x.bases[from : from+n]
}
