package support

import (
	"strings"
	"testing"
)

func TestScrub(t *testing.T) {
	t.Parallel()
	s := NewScrubber("plain-secret", "one-key,two-key", `{"bound-key": {"agent_id": "a"}}`, "postgres://u:pass%21word@h/db", "ab", "with space!")
	for _, in := range []string{
		"x plain-secret y", "one-key", "two-key", "bound-key", "with space!", "with+space%21", "pass!word",
		"ac_0123456789012345678901234567", "sb_secret_abc", "ghp_0123456789abcdef", "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "Bearer abcdefgh12",
		"postgres://user:hunter22@host/db", `"password": "hunter22"`, "token=hunter22", "X-API-Key: hunter22", "https://hooks.slack.com/services/T0/B0/x",
		"http://127.0.0.1:8765/ui/login?link=hunter22aa", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
	} {
		out := s.Scrub(in)
		if !strings.Contains(out, redacted) || strings.Contains(out, "hunter22") || strings.Contains(out, "MIIE") {
			t.Errorf("%q became %q", in, out)
		}
	}
	for _, in := range []string{"coord_locks 1", "a keyboard and a tokeniser", "postgres://host/db", "table abc", "the key: none"} {
		if out := s.Scrub(in); out != in {
			t.Errorf("%q became %q", in, out)
		}
	}
}

func TestPostgresLog(t *testing.T) {
	t.Parallel()
	log := "LOG:  ready\nERROR:  duplicate key\nDETAIL:  Key (name)=(secret)\nSTATEMENT:  insert\n\tinto x values ('secret')\nLOG:  again\n"
	if got := Postgres(log); got != "LOG:  ready\nERROR:  duplicate key\nLOG:  again\n" {
		t.Errorf("%q", got)
	}
	if got := Tail("a\nb\nc\n", 2); got != "b\nc\n" {
		t.Errorf("%q", got)
	}
}
