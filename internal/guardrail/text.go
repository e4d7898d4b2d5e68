package guardrail

import (
	"regexp"
	"strings"
	"sync"
)

// The statements of SQL that destroy. Names are skipped, they may be anything.
var (
	sqlComments = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/`)
	sqlStrings  = regexp.MustCompile(`'(?:[^']|'')*'`)
	dropBase    = regexp.MustCompile(`(?i)\bdrop\s+(database|schema)\b`)
	dropTable   = regexp.MustCompile(`(?i)\bdrop\s+table\b|\btruncate\s+(table\s+)?["\w]`)
	rowsOf      = regexp.MustCompile(`(?i)^\s*(delete\s+from|update)\s+\S+`)
	where       = regexp.MustCompile(`(?i)\b(where|limit|join|using|returning)\b`)
	setClause   = regexp.MustCompile(`(?i)\bset\b`)
)

// SQL says which rules the statements of a text meet.
func SQL(text string) []Finding {
	text = sqlComments.ReplaceAllString(text, " ")
	var out []Finding
	if m := dropBase.FindString(text); m != "" {
		out = append(out, Finding{DropDatabase, strings.ToLower(m)})
	}
	if m := dropTable.FindString(text); m != "" {
		out = append(out, Finding{DropTable, strings.ToLower(strings.TrimSpace(m))})
	}
	plain := sqlStrings.ReplaceAllString(text, "''")
	for line := range strings.FieldsFuncSeq(plain, func(r rune) bool { return r == ';' || r == '\n' }) {
		m := rowsOf.FindString(line)
		if m == "" || where.MatchString(line) || strings.HasPrefix(strings.ToLower(strings.TrimSpace(m)), "update") && !setClause.MatchString(line) {
			continue
		}
		return append(out, Finding{DeleteAllRows, strings.Join(strings.Fields(strings.ToLower(m)), " ") + " without where"})
	}
	return out
}

// request is what prose asks for, and the rule that is about it.
type request struct {
	rule string
	is   *regexp.Regexp
}

// requests are only what has hardly another meaning: an approval costs a person's time. Every hook is a process of its own
// and none reads prose, so the expressions are made when they are first needed.
var requests = sync.OnceValue(func() []request {
	return []request{
		{ForcePushMain, regexp.MustCompile(`(?i)\bgit\s+push\b[^\n;|&.]*\s(--force|--force-with-lease|-f)\b[^\n;|&.]*\b(main|master|develop|trunk|production)\b`)},
		{ForcePushMain, regexp.MustCompile(`(?i)\bgit\s+push\b[^\n;|&.]*\b(main|master|develop|trunk|production)\b[^\n;|&.]*\s(--force|-f)\b`)},
		{ForcePushMain, regexp.MustCompile(`(?i)\bgit\s+push\b[^\n;|&]*\s(--mirror\b|\+(main|master)\b|:(main|master)\b)`)},
		{ForcePush, regexp.MustCompile(`(?i)\bgit\s+push\b[^\n;|&]*\s(--force\b|-f\b|-[a-z]*f[a-z]*\b)`)},
		{ForcePush, regexp.MustCompile(`(?i)\bforce[- ]push(es|ing)?\b`)},
		{DeleteRoot, regexp.MustCompile(`\brm\s+(-[a-zA-Z]*\s+)*-[a-zA-Z]*[rR][a-zA-Z]*\s+(-[-a-zA-Z]+\s+)*["']?(/|~/?|/\*|\$HOME/?|/(etc|usr|var|home|root|opt|bin|lib|boot)/?\*?)["']?(\s|$|[;&|.,)` + "`" + `])`)},
		{DeleteGit, regexp.MustCompile(`\brm\s+(-[a-zA-Z]*\s+)*-[a-zA-Z]*[rR][a-zA-Z]*\s+\S*\.git/?(\s|$|[;&|.,)` + "`" + `])`)},
		{CleanAll, regexp.MustCompile(`\bgit\s+clean\s+[^\n;|&]*-[a-z]*(f[a-z]*[xX]|[xX][a-z]*f)`)},
		{RewriteHistory, regexp.MustCompile(`(?i)\bgit\s+(filter-branch|filter-repo)\b|\brewrit(e|es|ing)\s+(the\s+|git\s+)*history\s+of\s+(main|master)\b`)},
		{DropDatabase, regexp.MustCompile(`(?i)\bdrop\s+(the\s+)?(whole\s+|entire\s+|production\s+|prod\s+)*database\b|\bdrop\s+schema\s+\w|\bdropdb\s+\w`)},
		{DropTable, regexp.MustCompile(`\bDROP\s+TABLE\b|\bdrop\s+table\s+(if\s+exists\s+)?\w+\s*;|\bTRUNCATE\s+(TABLE\s+)?\w`)},
		{PipeToShell, regexp.MustCompile(`\b(curl|wget)\b[^\n|;]*\|\s*(sudo\s+)?(ba|z|da|k)?sh\b`)},
		{DestroyCloud, regexp.MustCompile(`(?i)\b(terraform|tofu|pulumi)\s+destroy\b|\bkubectl\s+delete\s+(namespace|ns)\b|\baws\s+s3\s+rb\b[^\n]*--force`)},
		{WriteDevice, regexp.MustCompile(`\bdd\b[^\n;|&]*\bof=/dev/(sd|hd|vd|nvme)|\bmkfs(\.\w+)?\s+/dev/`)},
	}
})

// not turns what follows it in a sentence into its opposite.
var not = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(not|never|no|don'?t|doesn'?t|won'?t|mustn'?t|cannot|can'?t|without|avoid|avoids|refuses?|refused|forbids?|forbidden|prevents?|blocks?|blocked|detects?|catch(es)?|guards? against|instead of|rather than|disallow(s|ed)?|warns?|why|document|explain(s)?|about|tests?\s+(that|for|of|whether|if)|examples?\s+of)\b[^.!?\n]*$`)
})

// InText says which rules a text in prose meets: the description of a task, the prompt of a run. What a sentence speaks
// against, or only of, is no finding.
func InText(text string) []Finding {
	var out []Finding
	seen := map[string]bool{}
	for _, a := range requests() {
		if seen[a.rule] || a.rule == ForcePush && seen[ForcePushMain] {
			continue
		}
		for _, at := range a.is.FindAllStringIndex(text, 20) {
			if not().MatchString(text[max(0, at[0]-120):at[0]]) {
				continue
			}
			seen[a.rule] = true
			out = append(out, Finding{a.rule, strings.Join(strings.Fields(text[at[0]:at[1]]), " ")})
			break
		}
	}
	return out
}
