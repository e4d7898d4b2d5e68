package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"scalars keep their order", `{"b":1,"a":"x","empty":"","none":null,"yes":true}`, "b:   1\na:   x\nyes: yes\n"},
		{"big numbers stay exact", `{"n":9007199254740993}`, "n: 9007199254740993\n"},
		{"nested", `{"task":{"id":"t","tags":["a","b"]}}`, "task:\n  id:   t\n  tags: a, b\n"},
		{
			"tables drop empty columns", `{"locks":[{"file_path":"a","reason":"","n":1},{"file_path":"bb","n":2}],"count":2}`,
			"locks (2):\n  FILE_PATH  N\n  a          1\n  bb         2\ncount: 2\n",
		},
		{"notices come last", `{"notices":[{"text":"look"}],"success":true}`, "success: yes\n! look\n"},
		{"a list", `[{"a":1}]`, "A\n1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := render(&out, []byte(tt.in)); err != nil || out.String() != tt.want {
				t.Errorf("got %q (%v), want %q", out.String(), err, tt.want)
			}
		})
	}
	if err := render(&bytes.Buffer{}, []byte("{")); err == nil {
		t.Error("half an object was rendered")
	}
}

func TestShellWord(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a/b.go": "a/b.go", "": "''", "it's": `'it'\''s'`, "src/**": "'src/**'"} {
		if got := shellWord(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestCellIsShort(t *testing.T) {
	t.Parallel()
	if got := cell(strings.Repeat("ä", 500) + "\nx"); len([]rune(got)) != maxCell {
		t.Errorf("%d characters", len([]rune(got)))
	}
}
