package guard

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{
		"curl -H 'Authorization: Bearer abcdef123456SECRET' https://x", "export API_KEY=SECRET1234", "psql postgres://joe:SECRET@db/x", "login --password SECRET9",
		"AWS_SECRET_ACCESS_KEY='SECRET/abc'", "sk-ant-SECRETSECRET0123456789", "ghp_SECRET0123456789abcdefABCDEF", "AKIASECRET1234567890", `{"token": "SECRETxyz"}`,
		"eyJhbGciOiJIUzI1NiJ9.SECRETSECRET.abc", "-----BEGIN RSA PRIVATE KEY-----\nSECRET\n-----END RSA PRIVATE KEY-----", "dG9SECRETh4Xz09aQpLmNbVcXzAsDfGhJkLqWeRtYuIoP12",
		"xoxb-SECRET-1234567890", "glpat-SECRET1234567890",
	} {
		if got := redact(secret); strings.Contains(got, "SECRET") && !strings.Contains(secret, "_SECRET_") || strings.Contains(got, "SECRET/abc") {
			t.Errorf("%q became %q", secret, got)
		}
	}
	for _, plain := range []string{
		"go test ./internal/guard -run TestTenSessions", "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904 broke it", "make build && npm run test:unit",
		"internal/gateway/executors/inline/sandbox_linux_amd64_test.go:12: undefined: x", "expected 3 tokens, got 4",
	} {
		if got := redact(plain); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host           Host
		event, answer  string
		worked, failed bool
	}{
		{ClaudeCode, "PostToolUse", `{"stdout":"ok","stderr":"","interrupted":false}`, true, false},
		{ClaudeCode, "PostToolUse", `{"stdout":"","interrupted":true}`, false, false},
		{ClaudeCode, "PostToolUseFailure", ``, false, true},
		{Codex, "PostToolUse", `"Chunk ID: 1\nProcess exited with code 2\nOutput:\nno"`, false, true},
		{Codex, "PostToolUse", `"Exit code: 0\nOutput:\nok"`, true, false},
		{Codex, "PostToolUse", `"{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}"`, false, true},
		{Cursor, "postToolUse", `{"exitCode":0,"stdout":"x"}`, true, false},
		{Gemini, "AfterTool", `{"llmContent":"Output: x\nExit Code: 3","returnDisplay":"x"}`, false, true},
		{Gemini, "AfterTool", `{"llmContent":"<untrusted_context>\nOutput: ok\nProcess Group PGID: 1\n</untrusted_context>","returnDisplay":"ok"}`, true, false},
		{Gemini, "AfterTool", `{"error":{"message":"no"}}`, false, true},
		{Codex, "PostToolUse", `"just text"`, false, false},
		{Codex, "PostToolUse", `[1]`, false, false},
	} {
		call := Call{Host: c.host, HostName: c.event, Event: AfterTool, Response: []byte(c.answer)}
		if r := call.outcome(); r.Worked != c.worked || r.Failed != c.failed {
			t.Errorf("%s %s %s: %+v", c.host, c.event, c.answer, r)
		}
	}
}

func TestLearn(t *testing.T) {
	t.Parallel()
	ran := func(text string) step { return step{Kind: stepRan, Text: text} }
	failed := func(text, why string) step { return step{Kind: stepFailed, Text: text, Error: why} }
	edited := func(text string) step { return step{Kind: stepEdited, Text: text} }
	for _, c := range []struct {
		name  string
		steps []step
		want  string // the lesson; empty: none
	}{
		{"an edit", []step{failed("go test ./...", "no"), edited("a.go"), ran("go test ./...")}, "it worked after changing a.go"},
		{"another way", []step{failed("npm test", "no"), ran("npm test -- --runInBand")}, "`npm test -- --runInBand` worked instead"},
		{"something run before", []step{failed("go test ./...", "no"), ran("go mod tidy"), ran("go test ./...")}, "it worked after running `go mod tidy`"},
		{"now and then", []step{failed("make test", "no"), ran("make test")}, ""},
		{"something else", []step{failed("make test", "no"), edited("a.go"), ran("cargo build")}, ""},
		{"twice", []step{failed("make x", "1"), edited("a.go"), failed("make x", "2"), edited("b.go"), ran("make x")}, "it worked after changing a.go, b.go"},
	} {
		l := learn(c.steps)
		got := ""
		if len(l.fixes) > 0 {
			got = l.fixes[0].Lessons[0]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	var many []step
	for i := range 200 {
		many = append(many, failed("make "+strings.Repeat("x", i+1), "no"), edited("a.go"), ran("make "+strings.Repeat("x", i+1)))
	}
	if l := learn(many); len(l.fixes) > maxFixes || len(l.ran) > 20 || len(l.edited) > 20 {
		t.Errorf("it has no bounds: %d fixes, %d commands", len(l.fixes), len(l.ran))
	}
}
