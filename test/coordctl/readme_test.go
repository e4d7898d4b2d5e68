package coordctl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestReadmeCommands runs the README's commands in their order. `make up` is what make does after building; the other
// make targets are tested by being what runs this test, or in test/house.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(raw), -1)
	exit := regexp.MustCompile(`# exit code (\d)`)
	var vars []string
	ran := 0
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSpace(line)
			command, _, _ := strings.Cut(line, "#")
			switch {
			case strings.HasPrefix(command, "make up"):
				u := p.up()
				var at struct{ Project string }
				if err := json.Unmarshal([]byte(p.must("bin/coordctl projects show --json")), &at); err != nil {
					t.Fatal(err)
				}
				vars = []string{"API=" + u.APIURL, "KEY=" + u.APIKey, "PROJECT=" + at.Project}
				continue
			case strings.HasPrefix(command, "make "), command == "":
				continue
			case strings.HasPrefix(command, "curl ") && p.sh("command -v curl").code != 0:
				t.Log("curl is not installed: its line is not run")
				continue
			}
			want := 0
			if m := exit.FindStringSubmatch(line); m != nil {
				want, _ = strconv.Atoi(m[1]) // a digit
			}
			r := p.sh(line, vars...)
			if r.code != want {
				t.Errorf("%s\nexit code %d, want %d\n%s%s", line, r.code, want, r.out, r.err)
			}
			if strings.HasPrefix(line, "curl ") && !strings.Contains(r.out, `"locked_by":"bob"`) {
				t.Errorf("%s\nanswered %s", line, r.out)
			}
			ran++
		}
	}
	if ran < 9 {
		t.Errorf("only %d commands were found in README.md", ran)
	}
}
