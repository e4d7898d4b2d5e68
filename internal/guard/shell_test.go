package guard_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/guard"
)

// tree makes files below a new folder; a name that ends in a slash is a folder.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		p := filepath.Join(root, filepath.FromSlash(n))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(n, "/") {
			err = os.MkdirAll(p, 0o755)
		} else {
			err = os.WriteFile(p, []byte("x\n"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// read returns what a command writes as words: relative paths, "-path" for a deletion, "path/**" for a tree, and "?"
// when the reading is unsure.
func read(root, command string) string {
	r := guard.ReadShell(command, root, func(name string) string { return map[string]string{"HOME": "/home/ana", "OUT": "out.txt"}[name] })
	var out []string
	for _, w := range r.Writes {
		rel, err := filepath.Rel(root, w.Path)
		if err != nil || strings.HasPrefix(rel, "..") {
			rel = w.Path
		}
		if w.Tree {
			rel += "/**"
		}
		if w.Delete {
			rel = "-" + rel
		}
		out = append(out, rel)
	}
	slices.Sort(out)
	if r.Unsure {
		out = append(out, "?")
	}
	return strings.Join(out, " ")
}

func TestReadShell(t *testing.T) {
	t.Parallel()
	root := tree(t, "a.go", "b.go", "src/x.go", "src/y.go", "dir/", "fix.patch")
	diff := "--- a/src/x.go\n+++ b/src/x.go\n@@ -1 +1 @@\n-x\n+y\n"
	if err := os.WriteFile(filepath.Join(root, "fix.patch"), []byte(diff), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ command, want string }{
		{"echo hi > a.go", "a.go"},
		{"echo hi >> src/new.go", "src/new.go"},
		{"echo hi >| a.go", "a.go"},
		{"make &> build.log", "build.log ?"},
		{"cat <<EOF > a.go\nx > y\nEOF", "a.go"},
		{"cat > 'a b.go' <<'EOF'\n$(rm b.go)\nEOF", "a b.go"},
		{"echo x | tee a.go src/x.go >/dev/null", "a.go src/x.go"},
		{"echo x | sudo tee -a a.go", "a.go"},
		{"sed -i 's/a/b/' a.go b.go", "a.go b.go"},
		{"sed -i.bak -e 's/a/b/' a.go", "a.go"},
		{"sed -ni 's/a/b/p' a.go", "a.go"},
		{"sed --in-place=.o 's/a/b/' src/*.go", "src/x.go src/y.go"},
		{"sed -n 's/i/j/p' a.go", ""},
		{"sed 's/i/j/' a.go", ""},
		{"sed -e 's/i/j/' a.go > b.go", "b.go"},
		{"perl -pi -e 's/a/b/' a.go", "a.go"},
		{"perl -i -pe 's/a/b/' a.go b.go", "a.go b.go"},
		{"awk -i inplace '{print}' a.go", "a.go"},
		{"awk '{print $1}' a.go", ""},
		{"mv a.go b.go", "-a.go b.go"},
		{"mv a.go dir", "-a.go dir/a.go"},
		{"mv -t dir a.go b.go", "-a.go -b.go dir/a.go dir/b.go"},
		{"mv src lib", "-src lib/**"},
		{"cp a.go dir/", "dir/a.go"},
		{"cp -r src copy", "copy/**"},
		{"cp a.go b.go dir", "dir/a.go dir/b.go"},
		{"install -m 755 a.go bin/a", "bin/a"},
		{"ln -sf a.go b.go", "b.go"},
		{"rm -rf src a.go", "-a.go -src"},
		{"rm src/*", "-src/x.go -src/y.go"},
		{"touch new.go", "new.go"},
		{"truncate -s 0 a.go", "a.go"},
		{"dd if=/dev/zero of=a.go bs=1 count=1", "a.go"},
		{"sort -o a.go a.go", "a.go"},
		{"curl -s -o a.go http://x", "a.go"},
		{"wget -O a.go http://x", "a.go"},
		{"patch -p1 < fix.patch", "?"},
		{"patch -p1 -i fix.patch", "src/x.go"},
		{"patch a.go < fix.patch", "a.go"},
		{"git apply fix.patch", "src/x.go"},
		{"git checkout -- a.go", "a.go"},
		{"git checkout HEAD~1 -- src/x.go", "src/x.go"},
		{"git checkout a.go", "a.go"},
		{"git checkout main", "?"},
		{"git checkout -b topic", ""},
		{"git restore a.go", "a.go"},
		{"git restore --staged a.go", ""},
		{"git rm a.go", "-a.go"},
		{"git rm --cached a.go", ""},
		{"git mv a.go c.go", "-a.go c.go"},
		{"git -C src checkout -- x.go", "src/x.go"},
		{"git stash pop", "?"},
		{"git reset --hard", "?"},
		{"gofmt -w a.go", "a.go"},
		{"gofmt -l .", ""},
		{"vim -c wq a.go", "a.go"},
		{"sh -c 'echo x > a.go'", "a.go"},
		{"bash -lc 'cd src && echo x > x.go'", "src/x.go"},
		{"eval 'echo x > a.go'", "a.go"},
		{"cd src && echo x > x.go", "src/x.go"},
		{"(cd src; rm x.go); rm a.go", "-a.go -src/x.go"},
		{"cd $(mktemp -d) && echo x > a.go", "?"},
		{"f=a.go; echo x > $f", "a.go"},
		{"f=$(pick); echo x > $f", "?"},
		{"echo x > $OUT", "out.txt"},
		{"echo x > $UNSET/a.go", "?"},
		{"for f in a.go b.go; do sed -i s/a/b/ $f; done", "a.go b.go"},
		{"for f in $(ls); do sed -i s/a/b/ $f; done", "?"},
		{"if true; then echo x > a.go; else rm b.go; fi", "-b.go a.go"},
		{"echo $(rm a.go)", "-a.go ?"},
		{"timeout 5 env A=b nice -n 3 rm a.go", "-a.go"},
		{"python3 -c \"open('a.go','w')\"", "?"},
		{"python3 script.py", "?"},
		{"node -e 'x'", "?"},
		{"make", "?"},
		{"find . -name '*.go' -delete", "?"},
		{"find . -name '*.go' | xargs sed -i s/a/b/", "?"},
		{"find . -name '*.go' | xargs grep x", ""},
		{"ls > /dev/null 2>&1", ""},
		{"ls -la && git status && grep -rn x src | head -3", ""},
		{"go test ./... 2>&1 | tail -20", "?"},
		{"f() { rm $1; }; f a.go", "?"},
		{"echo 'unclosed", "?"},
		{"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/x.go\n@@\n-x\n+y\n*** End Patch\nEOF", "src/x.go"},
		{"echo x > ../../../../../../../../tmp/elsewhere", "/tmp/elsewhere"},
		{"chmod +x a.go", "a.go"},
		{"mkdir -p new/dir", ""},
		{"{ echo a; echo b; } > a.go", "a.go"},
		{"cat a.go b.go >> dir/c.go &", "dir/c.go"},
		{"rm f{1..1000000000}.go", "?"},
		{"rm {a,b}.go", "-a.go -b.go"},
		{"", ""},
	} {
		if got := read(root, c.command); got != c.want {
			t.Errorf("%s\n\twrites %q\n\twant   %q", c.command, got, c.want)
		}
	}
}

func TestDecodedCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, host, in string
		event          guard.Event
		session, want  string
	}{
		{"claude edit", "claude-code", `{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"/w/a.go","old_string":"x"}}`, guard.BeforeTool, "s1", "/w/a.go"},
		{"claude write relative", "claude-code", `{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a.go"}}`, guard.BeforeTool, "s1", "/w/a.go"},
		{"claude notebook", "claude-code", `{"session_id":"s1","cwd":"/w","hook_event_name":"PostToolUse","tool_name":"NotebookEdit","tool_input":{"notebook_path":"/w/a.ipynb"}}`, guard.AfterTool, "s1", "/w/a.ipynb"},
		{"claude read", "claude-code", `{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/w/a.go"}}`, guard.BeforeTool, "s1", ""},
		{"claude bash", "claude-code", `{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"echo > a.go"}}`, guard.BeforeTool, "s1", "/w/a.go"},
		{"claude another server's tool", "claude-code", `{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"mcp__x__y","tool_input":{"path":"/w/a.go"}}`, guard.BeforeTool, "s1", ""},
		{"claude wrong types", "claude-code", `{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":7}}`, guard.BeforeTool, "s1", "?"},
		{"codex patch", "codex", `{"session_id":"s2","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: n.go\n+x\n*** Update File: o.go\n*** Move to: p.go\n*** Delete File: d.go\n*** End Patch"}}`, guard.BeforeTool, "s2", "/w/n.go /w/o.go /w/p.go -/w/d.go"},
		{"codex argv", "codex", `{"session_id":"s2","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"shell","tool_input":{"command":["bash","-lc","rm a.go"],"workdir":"sub"}}`, guard.BeforeTool, "s2", "-/w/sub/a.go"},
		{"cursor shell", "cursor", `{"conversation_id":"c1","workspace_roots":["/w"],"hook_event_name":"beforeShellExecution","command":"touch a.go"}`, guard.BeforeTool, "c1", "/w/a.go"},
		{"cursor edit", "cursor", `{"conversation_id":"c1","workspace_roots":["/w"],"hook_event_name":"afterFileEdit","file_path":"/w/a.go"}`, guard.AfterTool, "c1", "/w/a.go"},
		{"unknown event", "claude-code", `{"session_id":"s1","cwd":"/w","hook_event_name":"PreCompact"}`, guard.Other, "s1", ""},
	} {
		call, err := guard.Decode(guard.Host(c.host), []byte(c.in), "/here")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		r := call.Read(func(string) string { return "" })
		var words []string
		for _, w := range r.Writes {
			words = append(words, map[bool]string{true: "-"}[w.Delete]+w.Path)
		}
		if r.Unsure {
			words = append(words, "?")
		}
		if got := strings.Join(words, " "); got != c.want || call.Event != c.event || call.Session != c.session {
			t.Errorf("%s: %s %s %q, want %s %s %q", c.name, call.Event, call.Session, got, c.event, c.session, c.want)
		}
	}
	for _, bad := range []string{"", "null", "[]", "{}", `{"hook_event_name":7}`, "x"} {
		if _, err := guard.Decode(guard.ClaudeCode, []byte(bad), "/"); err == nil {
			t.Errorf("%q was taken for a hook's input", bad)
		}
	}
}

func FuzzReadShell(f *testing.F) {
	for _, s := range []string{"echo x > a", "sed -i s/a/b/ *.go", "cat <<E >a\nE", "f() { :; }; $(f) >${x:-y}", "a=(1 2); echo ${a[@]} > $b", "cd ~ && rm -rf {a,b}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) {
		for _, w := range guard.ReadShell(command, "/nowhere", func(string) string { return "" }).Writes {
			if !filepath.IsAbs(w.Path) {
				t.Fatalf("%q writes the relative path %q", command, w.Path)
			}
		}
	})
}
