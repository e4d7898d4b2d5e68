package repo

import (
	"net/url"
	"path/filepath"
	"strings"
)

// NormaliseRemote turns a git remote into host/owner/name, the same for every spelling of it: scheme, user, password,
// port, the host's case, doubled slashes and a trailing .git do not matter. A remote on this machine gives "".
func NormaliseRemote(remote string) string {
	remote = strings.TrimSpace(remote)
	host, path := splitRemote(remote)
	if host == "" {
		return ""
	}
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if len(parts) == 0 {
		return ""
	}
	last := len(parts) - 1
	for strings.HasSuffix(parts[last], ".git") && len(parts[last]) > len(".git") {
		parts[last] = strings.TrimSuffix(parts[last], ".git")
	}
	if host = strings.TrimRight(strings.ToLower(host), "."); host == "" {
		return ""
	}
	if strings.HasPrefix(parts[0], "~") { // ssh://host/~user/name is user's folder
		parts[0] = strings.TrimPrefix(parts[0], "~")
		if parts[0] == "" {
			parts = parts[1:]
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return host + "/" + strings.Join(parts, "/")
}

// splitRemote returns host and path; host is empty for folders and for what is no remote.
func splitRemote(remote string) (host, path string) {
	if remote == "" || strings.HasPrefix(remote, "file:") {
		return "", ""
	}
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil || u.Hostname() == "" {
			return splitBadURL(remote)
		}
		return u.Hostname(), u.Path
	}
	if filepath.IsAbs(remote) || strings.HasPrefix(remote, ".") || strings.HasPrefix(remote, "~") {
		return "", ""
	}
	// user@host:path, as scp writes it. "C:\x" is a folder of Windows; "a/b:c" is one too.
	colon := strings.IndexByte(remote, ':')
	if end := strings.Index(remote, "]:"); strings.Contains(remote, "[") && end > 0 {
		colon = end + 1
	}
	if colon <= 1 || strings.ContainsAny(remote[:colon], `/\`) {
		return "", ""
	}
	host, path = remote[:colon], remote[colon+1:]
	host = strings.Trim(host[strings.LastIndexByte(host, '@')+1:], "[]")
	if h, _, ok := strings.Cut(host, ":"); ok && strings.Count(host, ":") == 1 {
		host = h
	}
	return host, path
}

// splitBadURL reads URLs that net/url refuses, with a password that was not escaped for one.
func splitBadURL(remote string) (host, path string) {
	_, rest, _ := strings.Cut(remote, "://")
	authority, path, _ := strings.Cut(rest, "/")
	host = authority[strings.LastIndexByte(authority, '@')+1:]
	host, _, _ = strings.Cut(host, ":")
	return host, path
}
