package recall

import (
	"slices"
	"testing"
)

func TestFormerValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"upload deadline 15s -> 8s":                            {"=15s"},
		"set the deadline to 5s, previously 2s, since it hung": {"=2s"},
		"timeout=45s was=90s":                                  {"=90s"},
		"bump zap from v1.26.0 to v1.27.0":                     {"=v1.26.0"},
		"auth goes with mTLS, not Kerberos":                    {"kerbero"},
		"uses keyset pagination instead of offsets; simpler":   {"offset"},
		"listen port\n-  listen: :9090\n+  listen: :8443":      {"9090"},
		"diff -OIDC\n+mTLS":                                    {"oidc"},
		"owner: Luca (before: Oskar (identity))":               {"oskar"},
		"the parser keeps comments":                            nil,
		"- a list\n- of things":                                nil,
		"run it from the root":                                 nil,
		"":                                                     nil,
	} {
		if got := formerValues(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What stands behind the type is no term: neither a score nor the type must change by it.
func TestFormerValuesAreNoTerms(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"config", ""} {
		with := Index(1, Document{Title: "pool size 8 -> 16", Type: kind})
		n := 0
		eachTerm(with.Sig, func(uint32, bool) { n++ })
		want := 4 // pool, size, 8, 16
		if n != want || len(formerOf(with.Sig)) != 1 {
			t.Errorf("type %q: %d terms and %d former values", kind, n, len(formerOf(with.Sig)))
		}
		if got := typeOf(with.Sig); (kind == "") != (got == 0) {
			t.Errorf("type %q is %x", kind, got)
		}
	}
}
