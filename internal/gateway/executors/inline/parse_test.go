package inline

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
)

// What tools print that are not installed here is taken from their documentation; the others are exercised for real.
func TestReadsWhatToolsPrint(t *testing.T) {
	t.Parallel()
	table := map[string]Tool{}
	for _, tool := range builtins() {
		table[tool.Name] = tool
	}
	const sarif = `{"version":"2.1.0","runs":[{"results":[
		{"ruleId":"F401","message":{"text":"unused"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"file:///src/a%20b.py"},"region":{"startLine":1,"endLine":2}}}],"partialFingerprints":{"k":"v"}},
		{"ruleId":"R","level":"error","message":{"text":"out"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"../../etc/passwd"}}}]},
		{"ruleId":"S","level":"none","message":{"text":"quiet"},"suppressions":[{"kind":"inSource"}]}]}]}`
	for name, tt := range map[string]struct {
		tool string
		e    ended
		want []executors.Finding
		fail bool
	}{
		"SARIF": {tool: "oxlint", e: ended{exit: 1, stdout: []byte(sarif)}, want: []executors.Finding{
			{Tool: "oxlint", Rule: "F401", Level: "warning", Message: "unused", Path: "a b.py", Line: 1, EndLine: 2, Fingerprint: "v"},
			{Tool: "oxlint", Rule: "R", Level: "error", Message: "out"},
			{Tool: "oxlint", Rule: "S", Level: "none", Message: "quiet" + suppressed},
		}},
		"SARIF without results":      {tool: "ruff", e: ended{stdout: []byte(`{"runs":[{"results":[]}]}`)}},
		"no SARIF":                   {tool: "ruff", e: ended{stdout: []byte("Segmentation fault")}, fail: true},
		"torn SARIF":                 {tool: "ruff", e: ended{exit: 1, stdout: []byte(sarif[:200])}, fail: true},
		"not SARIF":                  {tool: "ruff", e: ended{stdout: []byte(`{}`)}, fail: true},
		"unknown exit code":          {tool: "ruff", e: ended{exit: 2, stdout: []byte(sarif)}, fail: true},
		"findings promised and none": {tool: "mypy", e: ended{exit: 1, stderr: []byte("error: cannot read config")}, fail: true},
		"mypy": {tool: "mypy", e: ended{exit: 1, stdout: []byte("p/a.py:3: error: Incompatible types in assignment  [assignment]\np/a.py:4: note: see below\n")}, want: []executors.Finding{
			{Tool: "mypy", Rule: "assignment", Level: "error", Message: "Incompatible types in assignment", Path: "p/a.py", Line: 3},
			{Tool: "mypy", Level: "note", Message: "see below", Path: "p/a.py", Line: 4},
		}},
		"a killed tool": {tool: "govet", e: ended{exit: 137}, fail: true},
		"go vet": {tool: "govet", e: ended{exit: 1, stderr: []byte("# x\n{\n\t\"x\": {\n\t\t\"printf\": [\n\t\t\t{\"posn\": \"/src/a.go:6:14\", \"message\": \"wrong\"}\n\t\t]\n\t}\n}\n# y\nvet: ./b.go:6:2: undefined: f\n")}, want: []executors.Finding{
			{Tool: "govet", Rule: "printf", Level: "error", Message: "wrong", Path: "a.go", Line: 6},
			{Tool: "govet", Rule: "compile", Level: "error", Message: "undefined: f", Path: "b.go", Line: 6},
		}},
		"tsc": {tool: "tsc", e: ended{exit: 2, stdout: []byte("a/b.ts(5,29): error TS1005: ':' expected.\nerror TS5023: Unknown option.\n")}, want: []executors.Finding{
			{Tool: "tsc", Rule: "TS1005", Level: "error", Message: "':' expected.", Path: "a/b.ts", Line: 5},
			{Tool: "tsc", Rule: "TS5023", Level: "error", Message: "Unknown option."},
		}},
	} {
		tool := table[tt.tool]
		got, err := tool.read(srcDir, tt.e)
		if (err != nil) != tt.fail || !tt.fail && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\ngot  %+v (%v)\nwant %+v", name, got, err, tt.want)
		}
	}
}

func TestToolsOfTheOperator(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "tools.json")
	if tools, err := LoadTools(path); err != nil || tools != nil {
		t.Errorf("no file: %v, %v", tools, err)
	}
	for _, tt := range []struct{ text, want string }{
		{`[{"name": "semgrep", "match": ["**/*.py"], "args": ["--config={config}/semgrep.yml", "{files}"], "ok": [0], "findings": [1], "format": "sarif"}]`, ""},
		{`{`, "unexpected end"},
		{`[{"name": "Sem/grep"}]`, "no name of a tool"},
		{`[{"name": "x", "program": "../../bin/sh", "match": ["*"], "ok": [0], "format": "lines"}]`, "plain name"},
		{`[{"name": "x", "match": ["[a"], "ok": [0], "format": "lines"}]`, "no glob"},
		{`[{"name": "x", "ok": [0], "format": "lines"}]`, "fits no file"},
		{`[{"name": "x", "match": ["*"], "ok": [0], "format": "xml"}]`, "format"},
		{`[{"name": "x", "match": ["*"], "format": "lines"}]`, "ok is empty"},
		{`[{"name": "x", "match": ["*"], "ok": [0], "format": "lines", "level": "fatal"}]`, "level"},
	} {
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadTools(path)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
}

func TestScriptTools(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Write("README.md", "x\n")
	base := b.Commit("main")
	b.Write("a.ts", "const a: number = \"s\";\ndebugger;\nif (a == NaN) { console.log(a) }\n")
	b.Write("b.ts", "export function f( { return 1 }\n")
	b.Write(".oxlintrc.json", `{"categories": {"correctness": "off"}, "ignorePatterns": ["**"]}`)
	b.Write("biome.json", `{"linter": {"enabled": false}}`)
	head := b.Commit("main")
	for tool, want := range map[string][]string{
		"oxlint": {"oxlint eslint(no-debugger) a.ts:2", "gateway configuration .oxlintrc.json:0"},
		"biome":  {"biome lint/suspicious/noDebugger a.ts:2", "biome parse b.ts:1", "gateway configuration biome.json:0"},
		"tsc":    {"tsc TS1005 b.ts:1"},
	} {
		job := b.job(base, head, tool)
		if err := b.exec.Available(t.Context(), job); err != nil {
			t.Logf("SKIPPED %s: %v", tool, err)
			continue
		}
		expect(t, b.verify(job), executors.Failure, want...)
	}
	b.Write("tsconfig.json", `{"compilerOptions": {"strict": true, "noEmit": true}}`)
	b.Write("a.ts", "export const a: number = 1;\n")
	b.Write("b.ts", "import { a } from \"./a\";\nexport const b: number = a;\n")
	base = b.Commit("main")
	b.Write("a.ts", "export const a: string = \"1\";\n")
	job := b.job(base, b.Commit("main"), "tsc")
	if err := b.exec.Available(t.Context(), job); err == nil {
		expect(t, b.verify(job), executors.Failure, "tsc TS2322 b.ts:2") // where the change does not touch
	}
}
