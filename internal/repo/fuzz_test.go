package repo

import (
	"strings"
	"testing"
)

// FuzzNormaliseRemote: the name of a repository holds no password, and naming it again changes nothing.
func FuzzNormaliseRemote(f *testing.F) {
	for _, s := range []string{"git@github.com:acme/shop.git", "https://u:p%zz@h:8443/a/b.git/", "ssh://git@[::1]:22/~u/r", `C:\x`, "h:/a//b.git.git", "file:///x", "a@b@c:d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, remote string) {
		name := NormaliseRemote(remote)
		if name == "" {
			return
		}
		host, path, ok := strings.Cut(name, "/")
		if !ok || host == "" || path == "" || strings.Contains(host, "@") {
			t.Fatalf("%q is %q", remote, name)
		}
		if again := NormaliseRemote("https://" + name); !strings.ContainsAny(name, "%?#[]:\\ ") && again != "" && again != name && isPlainASCII(name) {
			t.Fatalf("%q is %q, and that is %q", remote, name, again)
		}
	})
}

func isPlainASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) && !strings.Contains(s, "~") && !strings.Contains(s, "@")
}
