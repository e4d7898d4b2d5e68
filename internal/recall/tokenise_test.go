package recall_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-coordinator/agent-coordinator/internal/recall"
)

func terms(text string) string {
	var out []string
	recall.Terms(text, func(t string) { out = append(out, t) })
	return strings.Join(out, " ")
}

// The vocabulary is a contract with every stored index: a change here needs a new TokeniserVersion.
func TestTerms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                  "",
		"the and of":                        "",
		"Parsing the configuration failed.": "pars configur fail",
		"parseConfig":                       "=parseconfig pars configur",
		"parseHTTPConfig2":                  "=parsehttpconfig2 pars http configur",
		"max_retry_count":                   "=max_retry_count maximum retri count",
		"__init__":                          "initi",
		"E1042":                             "=e1042 1042",
		"error SQLSTATE 23505":              "error sqlstate 23505",
		"ERR_MODULE_NOT_FOUND":              "=err_module_not_found error modul found",
		"internal/coord/db.go":              "=internal/coord/db.go =db.go intern coord databas go",
		"db.go:42:7: undefined: foo":        "=db.go databas go undefin foo", // the line is not part of the name
		"strings.Builder":                   "=strings.builder string builder",
		"std::vector<int>":                  "=std::vector std vector integ",
		"v1.2.3":                            "=v1.2.3 =v1",
		"commit 4c1b2079ab":                 "commit =4c1b2079ab",
		"id 123e4567-e89b-12d3-a456-426614174000": "id =123e4567-e89b-12d3-a456-426614174000",
		"don't use the parser's cache":            "use parser cach",
		"re-try back-off":                         "=re-try re tri =back-off back",
		"https://example.com/a":                   "https =example.com/a exampl com",
		"naïve Größe":                             "naïve größe",
		"設定ファイル":                                  "設定 定フ ファ ァイ イル",
		"the retries retried a retry":             "retri retri retri",
		"404":                                     "404",
		"2026-01-02":                              "=2026-01-02 2026 01 02",
		"deadbeef facade":                         "deadbeef facad",
		"x":                                       "",
		"step 3 of 12":                            "step 3 12",
	} {
		if got := terms(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{"parseConfig(E1042)", "a/b//c..d::e->f", "\xff\xfe", "日本語abc", "'''", strings.Repeat("aB", 400), ":12:3", "a:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		recall.Terms(s, func(term string) {
			if term == "" || term == "=" || len(term) > 300 {
				t.Fatalf("%q gives the term %q", s, term)
			}
			if utf8.ValidString(s) && !utf8.ValidString(term) {
				t.Fatalf("%q gives a broken term %q", s, term)
			}
		})
	})
}

func TestIndexKeepsAttributesAndBounds(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 5000 {
		body.WriteString(strings.Repeat(string(rune('a'+i%26)), 3+i%7))
		body.WriteByte(byte('a' + i%23))
		body.WriteByte(byte('a' + i/26%23))
		body.WriteByte(' ')
	}
	e := recall.Index(7, recall.Document{Title: "parseConfig", Body: body.String(), Tags: []string{"CI"}, Agent: "ana", Type: "Error", Path: "a/B.go"})
	if len(e.Terms) > 600 || len(e.Sig) > 5*600 || e.LenBody > 4000 {
		t.Errorf("%d terms, %d bytes, length %d", len(e.Terms), len(e.Sig), e.LenBody)
	}
	for _, term := range []string{recall.TagTerm("ci"), recall.AgentTerm("ana"), recall.TypeTerm("error"), recall.PathTerm("a/b.go"), "=parseconfig"} {
		if _, ok := slices.BinarySearch(e.Terms, recall.Hash64(7, term)); !ok {
			t.Errorf("%s is not indexed", term)
		}
	}
	if recall.Hash64(7, "x") == recall.Hash64(8, "x") {
		t.Error("projects share hashes")
	}
	if len(e.Words) == 0 || len(e.Words) > 128 {
		t.Errorf("%d words for the vocabulary", len(e.Words))
	}
}
