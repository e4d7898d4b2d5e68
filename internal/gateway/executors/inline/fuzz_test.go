package inline

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// FuzzTools: what a tool prints about a hostile tree is read without a crash, and no finding names a path outside it.
func FuzzTools(f *testing.F) {
	f.Add([]byte(`{"runs":[{"results":[{"ruleId":"r","level":"error","message":{"text":"m"},"partialFingerprints":{"a":"b"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"file:///src/..%2f..%2fetc/passwd"},"region":{"startLine":-1}}}]}]}]}`), 1)
	f.Add([]byte("# pkg\n./a.go:3:5: undefined: x\nvet: b.go:1:1: bad\n"), 1)
	f.Add([]byte("a.go\n../../b.go\n"), 2)
	f.Add([]byte(`{"p": {"printf": [{"posn": "/src/a.go:1:2", "message": "m"}]}}`), 1)
	f.Add([]byte(`{"code":"SA1","location":{"file":"a.go","line":1},"message":"m"}`+"\n"), 1)
	f.Add([]byte(`{"comments":[{"file":"a.sh","level":"info","message":"m","line":1,"code":1}]}`), 1)
	f.Add([]byte("src/a.ts(3,4): error TS1: m\nerror TS2: n\n"), 1)
	tools := builtins()
	for name := range formats {
		tools = append(tools, Tool{Name: name, Format: name, OK: []int{0}, Findings: []int{1}})
	}
	f.Fuzz(func(t *testing.T, out []byte, exit int) {
		for i := range tools {
			for _, e := range []ended{{stdout: out, exit: exit}, {stderr: out, exit: exit}} {
				found, err := tools[i].read(srcDir, e)
				if err != nil {
					continue
				}
				for _, x := range found {
					if path.IsAbs(x.Path) || slices.Contains(strings.Split(x.Path, "/"), "..") {
						t.Fatalf("%s names %q", tools[i].Name, x.Path)
					}
					if x.Tool == "" || len(x.Message) > 2100 || levels[x.Level] == 0 && x.Level != "none" {
						t.Fatalf("%s: %+v", tools[i].Name, x)
					}
				}
			}
		}
	})
}
