// Package support puts together what somebody who helps needs to see, in one file: versions, settings, figures and logs.
//
// Promise: no secret and nothing that agents remember, say or work on goes in. Settings are shown by what they are, not by
// what they are called; then every text is scrubbed of each secret that this installation knows and of whatever looks
// like one. Scrubbing says [redacted] and can take too much.
package support

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const redacted = "[redacted]"

// shortest is the length from which a known secret is looked for: a shorter one would take words apart.
const shortest = 6

// Scrubber takes secrets out of texts.
type Scrubber struct{ known []string }

// NewScrubber knows these secrets: whole values of settings, of which lists and JSON are taken apart.
func NewScrubber(secrets ...string) *Scrubber {
	s := &Scrubber{}
	for _, v := range secrets {
		s.add(v)
		for part := range strings.SplitSeq(v, ",") {
			s.add(part)
		}
		if u, err := url.Parse(v); err == nil && u.User != nil {
			password, _ := u.User.Password()
			s.add(password)
		}
		var object map[string]any
		if json.Unmarshal([]byte(v), &object) == nil {
			for k := range object {
				s.add(k)
			}
		}
	}
	slices.SortFunc(s.known, func(a, b string) int { return len(b) - len(a) }) // the longest first: one may be within another
	return s
}

func (s *Scrubber) add(v string) {
	if v = strings.TrimSpace(v); len(v) < shortest || slices.Contains(s.known, v) {
		return
	}
	s.known = append(s.known, v)
	if escaped := url.QueryEscape(v); escaped != v {
		s.known = append(s.known, escaped)
	}
}

// looks are what secrets look like; the first group of each stays.
var looks = []*regexp.Regexp{
	regexp.MustCompile(`()\b(?:ac_[A-Za-z0-9_-]{20,}|sb_secret_[A-Za-z0-9_-]+|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|e2b_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,})`),
	regexp.MustCompile(`()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`),                                                                 // a JWT
	regexp.MustCompile(`([a-z][a-z0-9+.-]*://[^\s:/@"']*:)[^\s@"']+(?:@)`),                                                                         // a password in an address
	regexp.MustCompile(`(?i)((?:password|passwd|secret|token|api[_-]?key|authorization|x-api-key|link)"?\s*[=:]\s*"?(?:bearer )?)[^\s"',;&}]{6,}`), // a value with a telling name
	regexp.MustCompile(`(?i)(bearer )[A-Za-z0-9._~+/=-]{8,}`),
	regexp.MustCompile(`(https://hooks\.[^/\s"]+/)[^\s"]+`),
	regexp.MustCompile(`()-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`),
}

// Scrub returns text without secrets.
func (s *Scrubber) Scrub(text string) string {
	for _, k := range s.known {
		text = strings.ReplaceAll(text, k, redacted)
	}
	for _, re := range looks {
		text = re.ReplaceAllString(text, "${1}"+redacted)
	}
	return text
}

// Postgres drops the lines of a server's log that quote statements and rows.
func Postgres(log string) string {
	var out strings.Builder
	quoting := false
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "\t") && quoting {
			continue // the statement goes on
		}
		if quoting = quotes.MatchString(line); !quoting {
			out.WriteString(line)
		}
	}
	return out.String()
}

var quotes = regexp.MustCompile(`\b(STATEMENT|DETAIL|CONTEXT|QUERY|HINT):  `)

// Tail is the last n lines of a text.
func Tail(text string, n int) string {
	lines := strings.SplitAfter(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "") + "\n"
}
