package config

import (
	"net/url"
	"reflect"
	"regexp"
	"strings"
)

// Setting is a variable as it may be shown to others.
type Setting struct {
	Name   string
	Shown  string // what may be shown of the value
	Secret string // the value, when it is or may hold a secret; never to be shown
}

// secretName matches variables whose values are secrets, whole or in part.
var secretName = regexp.MustCompile(`KEY|SECRET|TOKEN|PASSWORD|IDENTITIES|URL|ENDPOINT`)

// notSecret are those that match all the same and hold none.
var notSecret = regexp.MustCompile(`_FILE$|^TLS_`)

// Settings lists the variables that are set. Of addresses the scheme, the host and, for a database, its name are shown: paths
// and queries hold keys too. Of other secrets it is shown that they are set.
func Settings(getenv func(string) string) []Setting {
	var out []Setting
	for _, p := range parts {
		t := reflect.TypeOf(p.value)
		for i := range t.NumField() {
			f := t.Field(i)
			name := f.Tag.Get("env")
			value := getenv(name)
			if strings.TrimSpace(value) == "" {
				continue
			}
			s := Setting{Name: name, Shown: value}
			if f.Type.Kind() == reflect.String && secretName.MatchString(name) && !notSecret.MatchString(name) {
				s.Secret, s.Shown = value, "(set)"
				if u, err := url.Parse(value); err == nil && u.Host != "" {
					s.Shown = u.Scheme + "://" + u.Host
					if strings.HasPrefix(u.Scheme, "postgres") {
						s.Shown += u.Path
					}
				}
			}
			out = append(out, s)
		}
	}
	return out
}
