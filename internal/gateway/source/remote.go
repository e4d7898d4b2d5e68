package source

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// remote is an address that has been allowed.
type remote struct {
	address  string // for git
	show     string // for people
	protocol string // the only one that git may speak
	base     string // scheme and host, the scope of the credentials; "" when none are sent
}

var scpLike = regexp.MustCompile(`^[A-Za-z0-9._-]+@([A-Za-z0-9.-]+):[^-].*$`)

// remote allows or refuses the address. Credentials in it are refused rather than dropped: they would be in logs by now.
func (s *Store) remote(address string) (remote, error) {
	refuse := func(why string) (remote, error) {
		return remote{}, fmt.Errorf("%w: %s", ErrRefused, why)
	}
	if filepath.IsAbs(address) {
		return s.local(address)
	}
	if m := scpLike.FindStringSubmatch(address); m != nil {
		if !slices.Contains(s.cfg.Hosts, m[1]) {
			return refuse("host " + m[1] + " is not among the allowed ones")
		}
		return remote{address: address, show: address, protocol: "ssh"}, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" && u.Scheme != "file" {
		return refuse("that is no address of a repository")
	}
	if _, secret := u.User.Password(); secret || u.User != nil && u.Scheme != "ssh" {
		return refuse("credentials do not belong into an address")
	}
	out := remote{address: address, show: u.Host + u.Path, protocol: u.Scheme}
	switch u.Scheme {
	case "file":
		return s.local(u.Path)
	case "https":
		out.base = "https://" + u.Host + "/"
	case "http":
		if slices.Contains(s.cfg.Insecure, u.Host) {
			out.base = "http://" + u.Host + "/"
			return out, nil
		}
		return refuse("plain http is not allowed for " + u.Host)
	case "ssh":
	default:
		return refuse("scheme " + u.Scheme + " is not allowed")
	}
	if !slices.Contains(s.cfg.Hosts, u.Host) {
		return refuse("host " + u.Host + " is not among the allowed ones")
	}
	return out, nil
}

// local allows a path below a configured folder, as it is once links are followed.
func (s *Store) local(name string) (remote, error) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return remote{}, fmt.Errorf("%w: %s cannot be read", ErrRefused, name)
	}
	for _, root := range s.cfg.LocalRoots {
		if rel, err := filepath.Rel(root, real); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return remote{address: real, show: real, protocol: "file"}, nil
		}
	}
	return remote{}, fmt.Errorf("%w: %s is in no folder that is allowed", ErrRefused, name)
}
