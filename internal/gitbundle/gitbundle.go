// Package gitbundle reads the header of a git bundle: which commits it brings and which it builds on. What follows the
// header is for git to check.
package gitbundle

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrMalformed (wrapped): that is no bundle that can be taken.
var ErrMalformed = errors.New("that is no git bundle")

// MaxNeeds is how many commits a bundle may build on.
const MaxNeeds = 16

const maxRefs = 1000

// Header is what a bundle says of itself.
type Header struct {
	Refs  map[string]string // name of a ref to what it points to
	Needs []string          // commits that the bundle builds on
}

// Brings says whether one of the bundle's refs is the commit.
func (h Header) Brings(sha string) bool {
	for _, at := range h.Refs {
		if at == sha {
			return true
		}
	}
	return false
}

var isObject = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// Read reads the header of versions 2 and 3.
func Read(raw []byte) (Header, error) {
	bad := func(why string) (Header, error) { return Header{}, fmt.Errorf("%w: %s", ErrMalformed, why) }
	h := Header{Refs: map[string]string{}}
	first := true
	for line := range bytes.Lines(raw) {
		if line[len(line)-1] != '\n' {
			break
		}
		text := string(line[:len(line)-1])
		switch {
		case first && text != "# v2 git bundle" && text != "# v3 git bundle":
			return bad("it does not begin like one")
		case first:
			first = false
		case text == "":
			if len(h.Refs) == 0 {
				return bad("it brings nothing")
			}
			return h, nil
		case text[0] == '@':
			if !strings.HasPrefix(text, "@object-format=") {
				return bad("it asks for what is not supported: " + text[:min(len(text), 60)])
			}
		case text[0] == '-':
			sha, _, _ := strings.Cut(text[1:], " ")
			if !isObject.MatchString(sha) || len(h.Needs) == MaxNeeds {
				return bad("what it builds on cannot be read")
			}
			h.Needs = append(h.Needs, sha)
		default:
			sha, name, _ := strings.Cut(text, " ")
			if !isObject.MatchString(sha) || name == "" || len(h.Refs) == maxRefs {
				return bad("what it brings cannot be read")
			}
			h.Refs[name] = sha
		}
	}
	return bad("its header has no end")
}
