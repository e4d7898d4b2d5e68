package config

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", os.Getenv("UPDATE_GOLDEN") != "", "rewrite golden files")

func TestGoldenEnvExample(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", ".env.example")
	if *update {
		if err := os.WriteFile(path, []byte(Example()), 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != Example() {
		t.Error(".env.example differs from the structs; run: go test ./internal/config -run Golden -update")
	}
}

func TestEveryVariableIsDescribedOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range parts {
		typ := reflect.TypeOf(p.value)
		for i := range typ.NumField() {
			f := typ.Field(i)
			name := f.Tag.Get("env")
			if name == "" || f.Tag.Get("doc") == "" || seen[name] {
				t.Errorf("%s.%s: env %q, doc %q, seen before: %v", typ, f.Name, name, f.Tag.Get("doc"), seen[name])
			}
			seen[name] = true
		}
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := LoadFrom[API](map[string]string{"AUTH_ENABLED": "", "API_ADDR": " "})
	if err != nil {
		t.Fatal(err)
	}
	if c.Addr != "127.0.0.1:8765" || !c.AuthEnabled || c.MaxConns != 12 || c.URL() != "" || c.KeyList() != nil || c.Origins() != nil || c.Level != "info" {
		t.Errorf("unexpected defaults: %+v", c)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		vars        map[string]string
		url, direct string
	}{
		{"ours wins", map[string]string{"COORD_DATABASE_URL": "a", "DATABASE_URL": "b"}, "a", "a"},
		{"an empty one does not", map[string]string{"COORD_DATABASE_URL": " ", "DATABASE_URL": "b"}, "b", "b"},
		{"direct", map[string]string{"DATABASE_URL": "b", "DIRECT_URL": "c"}, "b", "c"},
		{"our direct", map[string]string{"DATABASE_URL": "b", "DIRECT_URL": "c", "COORD_DIRECT_URL": "d"}, "b", "d"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := LoadFrom[Database](tt.vars)
			if err != nil || c.URL() != tt.url || c.DirectURL() != tt.direct {
				t.Errorf("got %q, %q, %v", c.URL(), c.DirectURL(), err)
			}
		})
	}
}

func TestSessionPrecedence(t *testing.T) {
	t.Parallel()
	c, err := LoadFrom[MCP](map[string]string{
		"SESSION_ID": "s", "CLAUDE_CODE_SESSION_ID": "c", "COORDINATOR_HTTP_URL": "http://h:1/",
	})
	if err != nil || c.Session() != "s" || c.Remote.URL() != "http://h:1" {
		t.Errorf("got %q, %q, %v", c.Session(), c.Remote.URL(), err)
	}
}

func TestListsAreTrimmed(t *testing.T) {
	t.Parallel()
	c, err := LoadFrom[HTTP](map[string]string{"COORDINATION_API_KEYS": " a ,, b,", "CORS_ORIGINS": "*"})
	if err != nil || !reflect.DeepEqual(c.KeyList(), []string{"a", "b"}) || !reflect.DeepEqual(c.Origins(), []string{"*"}) {
		t.Errorf("got %q, %q, %v", c.KeyList(), c.Origins(), err)
	}
}

func TestAWrongValueNamesItsVariable(t *testing.T) {
	t.Parallel()
	_, err := LoadFrom[HTTP](map[string]string{"AUTH_ENABLED": "perhaps"})
	if err == nil || !strings.Contains(err.Error(), "AuthEnabled") && !strings.Contains(err.Error(), "AUTH_ENABLED") {
		t.Errorf("got %v", err)
	}
}
