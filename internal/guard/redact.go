package guard

import "regexp"

// secrets are tokens and passwords as they stand in commands and in what programs print.
var secrets = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)`), redacted},
	{regexp.MustCompile(`\b(sk|pk|rk)[-_](ant-|live_|test_|proj-)?[A-Za-z0-9_-]{10,}`), redacted},
	{regexp.MustCompile(`\b(gh[pousr]_|github_pat_|glpat-|xox[abprs]-|npm_|pypi-|dop_v1_|hf_|AIza|ya29\.)[A-Za-z0-9_.-]{10,}`), redacted},
	{regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{12,}\b`), redacted},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(\.[A-Za-z0-9_-]*)?`), redacted},
	{regexp.MustCompile(`(?i)\b(bearer|basic|token)(\s+)[A-Za-z0-9+/_.=~-]{8,}`), "$1$2" + redacted},
	{regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+@`), "$1" + redacted + "@"},
	{regexp.MustCompile(`(?i)([A-Z0-9_.-]*(pass(word|wd|phrase)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential|auth)[A-Z0-9_]*["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s"',;&|]+)`), "$1" + redacted},
	{regexp.MustCompile(`(?i)(--?(pass(word|wd|phrase)?|secret|token|api[-_]?key|access[-_]?key)[= ]+)("[^"]*"|'[^']*'|[^\s"',;&|]+)`), "$1" + redacted},
	{regexp.MustCompile(`\b[A-Za-z0-9+/_-]*[0-9][A-Za-z0-9+/_-]{38,}={0,2}`), ""}, // by looksRandom
}

const redacted = "[redacted]"

// redact takes what looks like a secret out of text before it is kept. It errs on the side of taking out too much.
func redact(text string) string {
	for _, s := range secrets {
		if s.put != "" {
			text = s.find.ReplaceAllString(text, s.put)
			continue
		}
		text = s.find.ReplaceAllStringFunc(text, func(word string) string {
			if looksRandom(word) {
				return redacted
			}
			return word
		})
	}
	return text
}

// looksRandom tells a key from a long path: it has digits, both cases, and no words between separators. A commit's name
// (hexadecimal, lower case) is none.
func looksRandom(word string) bool {
	var lower, upper, digit, slash int
	for _, r := range word {
		switch {
		case r >= '0' && r <= '9':
			digit++
		case r >= 'a' && r <= 'z':
			lower++
		case r >= 'A' && r <= 'Z':
			upper++
		case r == '/':
			slash++
		}
	}
	return lower > 3 && upper > 3 && digit > 3 && slash < 3
}
