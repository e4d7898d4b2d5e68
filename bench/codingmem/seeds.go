package main

import (
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
)

// generator holds the files of package world, to tell that it is the frozen one.
//
//go:embed world/*.go
var generator embed.FS

// frozen is the digest of the generator as it was before anything was tuned. The test seeds follow from it, so nobody
// can choose them, and another generator has other test worlds. A change of the generator needs a new digest here, new
// figures in docs/MEMORY_BENCHMARK.md, and makes no claim about figures of the old one.
const frozen = "3479e7a4f6768a1075bc0b88c4c2a3f20826d5c147ba385800de21e73184fc89"

// devSeeds are what parameters may be tuned on.
var devSeeds = []uint64{1, 2, 3, 4, 5}

// testSeeds are n seeds that follow from the frozen digest.
func testSeeds(n int) []uint64 {
	var out []uint64
	for i := range n {
		sum := sha256.Sum256([]byte(frozen + "/test/" + string(rune('a'+i))))
		out = append(out, binary.BigEndian.Uint64(sum[:8]))
	}
	return out
}

// digest is the present generator's, tests left out.
func digest() (string, error) {
	entries, err := generator.ReadDir("world")
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "_test.go") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	h := sha256.New()
	for _, n := range names {
		raw, err := generator.ReadFile("world/" + n)
		if err != nil {
			return "", err
		}
		h.Write([]byte(n + "\n"))
		h.Write(raw)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
