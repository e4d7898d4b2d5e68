package inline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
)

// parser reads what a tool printed. dir is its working folder inside. The paths it returns are relative to the source.
type parser func(dir string, stdout, stderr []byte) ([]executors.Finding, error)

// levels are SARIF's, ranked.
var levels = map[string]int{"note": 1, "warning": 2, "error": 3}

// ruleCompile marks what keeps a package from being checked at all.
const ruleCompile = "compile"

// relative makes a tool's path one of the repository; "" when it is none of the change.
func relative(dir, name string) string {
	name = strings.TrimPrefix(name, "file://")
	if !path.IsAbs(name) {
		name = path.Join(dir, name)
	}
	name = path.Clean(name)
	for _, root := range []string{srcDir, changedDir} {
		if rel, ok := strings.CutPrefix(name, root+"/"); ok {
			return strings.TrimSuffix(strings.ToValidUTF8(rel, "\uFFFD"), setAside)
		}
	}
	return ""
}

type sarifLog struct {
	Runs []struct {
		Results []struct {
			RuleID       string                `json:"ruleId"`
			Level        string                `json:"level"`
			Message      struct{ Text string } `json:"message"`
			Suppressions []json.RawMessage     `json:"suppressions"`
			Fingerprints map[string]string     `json:"partialFingerprints"`
			Locations    []struct {
				Physical physical `json:"physicalLocation"`
			} `json:"locations"`
		} `json:"results"`
	} `json:"runs"`
}

type physical struct {
	Artifact struct {
		URI string `json:"uri"`
	} `json:"artifactLocation"`
	Region struct {
		StartLine int `json:"startLine"`
		EndLine   int `json:"endLine"`
	} `json:"region"`
}

// parseSARIF reads SARIF 2.1.0. A result without a level is a warning, as the standard has it.
func parseSARIF(dir string, stdout, _ []byte) ([]executors.Finding, error) {
	var log sarifLog
	if err := json.Unmarshal(stdout, &log); err != nil {
		return nil, fmt.Errorf("no SARIF: %w", err)
	}
	if log.Runs == nil {
		return nil, errors.New("no SARIF: it has no runs")
	}
	var out []executors.Finding
	for _, run := range log.Runs {
		for _, r := range run.Results {
			f := executors.Finding{Rule: r.RuleID, Level: or(r.Level, "warning"), Message: r.Message.Text}
			if len(r.Locations) > 0 {
				at := r.Locations[0].Physical
				name, err := url.PathUnescape(at.Artifact.URI)
				if err != nil {
					name = at.Artifact.URI
				}
				f.Path, f.Line, f.EndLine = relative(dir, name), at.Region.StartLine, at.Region.EndLine
			}
			for _, name := range slices.Sorted(maps.Keys(r.Fingerprints)) {
				f.Fingerprint = or(f.Fingerprint, r.Fingerprints[name])
			}
			if len(r.Suppressions) > 0 {
				f.Message += suppressed
			}
			out = append(out, f)
		}
	}
	return out, nil
}

var (
	placed     = regexp.MustCompile(`^(?:vet: )?(.+?):(\d+)(?::(\d+))?: (?:(error|warning|note|info): )?(.+)$`)
	coded      = regexp.MustCompile(`^(.*?)\s+\[([a-z][a-z0-9-]*)\]$`)
	typescript = regexp.MustCompile(`^(?:(.+?)\((\d+),(\d+)\): )?(error|warning) (TS\d+): (.+)$`)
)

// parseLines reads path:line[:column]: [level:] message, as compilers print; other lines are passed over.
func parseLines(dir string, stdout, stderr []byte) ([]executors.Finding, error) {
	var out []executors.Finding
	for line := range strings.Lines(string(stdout) + "\n" + string(stderr)) {
		m := placed.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[2])
		f := executors.Finding{Path: relative(dir, m[1]), Line: n, Level: strings.Replace(m[4], "info", "note", 1), Message: m[5]}
		if c := coded.FindStringSubmatch(f.Message); c != nil {
			f.Message, f.Rule = c[1], c[2]
		}
		out = append(out, f)
	}
	return out, nil
}

// parseGofmt reads a list of files, and what does not parse.
func parseGofmt(dir string, stdout, stderr []byte) ([]executors.Finding, error) {
	out, err := parseLines(dir, nil, stderr)
	for i := range out {
		out[i].Rule = "syntax"
	}
	for line := range strings.Lines(string(stdout)) {
		if name := strings.TrimSpace(line); name != "" {
			out = append(out, executors.Finding{Rule: "format", Path: relative(dir, name), Message: "the file is not formatted as gofmt does"})
		}
	}
	return out, err
}

// parseVet reads go vet -json: an object for each package, between comment lines, on either stream; and type errors.
func parseVet(dir string, stdout, stderr []byte) ([]executors.Finding, error) {
	var out []executors.Finding
	var rest bytes.Buffer
	for _, stream := range [][]byte{stdout, stderr} {
		objects, text := split(stream)
		rest.Write(text)
		for in := json.NewDecoder(bytes.NewReader(objects)); ; {
			var packages map[string]map[string]json.RawMessage
			err := in.Decode(&packages)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("go vet printed no JSON: %w", err)
			}
			for _, analyzers := range packages {
				for rule, raw := range analyzers {
					out = append(out, vetFindings(dir, rule, raw)...)
				}
			}
		}
	}
	broken, err := parseLines(dir, rest.Bytes(), nil)
	for i := range broken {
		broken[i].Rule, broken[i].Level = ruleCompile, "error"
	}
	return append(out, broken...), err
}

// split parts JSON objects, which begin and end at the start of a line, from other lines.
func split(stream []byte) (objects, text []byte) {
	inside := false
	for line := range bytes.Lines(stream) {
		switch {
		case bytes.HasPrefix(line, []byte("{")):
			inside = !bytes.HasPrefix(line, []byte("{}"))
			objects = append(objects, line...)
		case inside:
			objects = append(objects, line...)
			inside = !bytes.HasPrefix(line, []byte("}"))
		case !bytes.HasPrefix(line, []byte("# ")):
			text = append(text, line...)
		}
	}
	return objects, text
}

func vetFindings(dir, rule string, raw json.RawMessage) []executors.Finding {
	var list []struct {
		Posn    string `json:"posn"`
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &list) != nil {
		var failed struct {
			Error string `json:"error"`
		}
		_ = json.Unmarshal(raw, &failed)
		return []executors.Finding{{Rule: ruleCompile, Level: "error", Message: or(failed.Error, string(raw))}}
	}
	var out []executors.Finding
	for _, d := range list {
		m := placed.FindStringSubmatch(d.Posn + ": x")
		f := executors.Finding{Rule: rule, Level: "error", Message: d.Message}
		if m != nil {
			f.Path = relative(dir, m[1])
			f.Line, _ = strconv.Atoi(m[2])
		}
		out = append(out, f)
	}
	return out
}

// parseStaticcheck reads its JSON lines. Its exit code says nothing about levels: what may be a bug (SA) and what does
// not compile is an error, style is a warning, and what a directive hides is marked.
func parseStaticcheck(dir string, stdout, _ []byte) ([]executors.Finding, error) {
	var out []executors.Finding
	in := bufio.NewScanner(bytes.NewReader(stdout))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var d struct {
			Code, Severity, Message string
			Location                struct {
				File string
				Line int
			}
		}
		if err := json.Unmarshal(in.Bytes(), &d); err != nil {
			return nil, fmt.Errorf("staticcheck printed no JSON: %w", err)
		}
		f := executors.Finding{Rule: d.Code, Level: "warning", Message: d.Message, Path: relative(dir, d.Location.File), Line: d.Location.Line}
		if strings.HasPrefix(d.Code, "SA") || d.Code == ruleCompile {
			f.Level = "error"
		}
		if d.Severity == "ignored" {
			f.Message += suppressed
		}
		out = append(out, f)
	}
	return out, in.Err()
}

func parseShellcheck(dir string, stdout, _ []byte) ([]executors.Finding, error) {
	var report struct {
		Comments []struct {
			File, Level, Message string
			Line, EndLine, Code  int
		}
	}
	if err := json.Unmarshal(stdout, &report); err != nil {
		return nil, fmt.Errorf("shellcheck printed no JSON: %w", err)
	}
	var out []executors.Finding
	for _, c := range report.Comments {
		level := c.Level
		if levels[level] == 0 { // info, style
			level = "note"
		}
		out = append(out, executors.Finding{
			Rule: fmt.Sprintf("SC%d", c.Code), Level: level, Message: c.Message, Path: relative(dir, c.File), Line: c.Line, EndLine: c.EndLine,
		})
	}
	return out, nil
}

func parseTypeScript(dir string, stdout, _ []byte) ([]executors.Finding, error) {
	var out []executors.Finding
	for line := range strings.Lines(string(stdout)) {
		if m := typescript.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			n, _ := strconv.Atoi(m[2])
			f := executors.Finding{Rule: m[5], Level: m[4], Message: m[6], Line: n}
			if m[1] != "" {
				f.Path = relative(dir, m[1])
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// read turns a tool's end into findings. The exit code decides first: one that the table does not know is the tool's
// failure, and so is a code that promises findings when there are none.
func (t *Tool) read(dir string, e ended) ([]executors.Finding, error) {
	expected := slices.Contains(t.Findings, e.exit)
	if !expected && !slices.Contains(t.OK, e.exit) {
		return nil, fmt.Errorf("exit code %d, which is not one of its verdicts: %s", e.exit, tail(append(e.stdout, e.stderr...), 800))
	}
	parse := t.parse
	if parse == nil {
		parse = formats[t.Format]
	}
	found, err := parse(dir, e.stdout, e.stderr)
	if err != nil {
		return nil, err
	}
	if expected && len(found) == 0 {
		return nil, fmt.Errorf("exit code %d without anything that is understood: %s", e.exit, tail(append(e.stdout, e.stderr...), 800))
	}
	for i := range found {
		f := &found[i]
		f.Tool = t.Name
		if f.Level = or(f.Level, t.Level); t.Force || levels[f.Level] == 0 && f.Level != "none" {
			f.Level = or(t.Level, "warning")
		}
		if len(f.Message) > 2000 {
			f.Message = strings.ToValidUTF8(f.Message[:2000], "") + "…"
		}
	}
	return found, nil
}
