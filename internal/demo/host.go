package demo

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// hostAnswer is what a coding host reads from its hook.
type hostAnswer struct {
	Specific struct {
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
		Context  string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// hook calls `coordctl hook claude-code` as Claude Code does for an agent.
func (s *stage) hook(ctx context.Context, agent, event string, more map[string]any) (hostAnswer, error) {
	in := map[string]any{"session_id": "host-of-" + agent, "cwd": filepath.Join(s.dir, folder), "hook_event_name": event}
	for k, v := range more {
		in[k] = v
	}
	raw, _ := json.Marshal(in) // strings
	cmd := exec.CommandContext(ctx, s.opts.Coordctl, "hook", "claude-code", "--fail", "closed")
	cmd.Dir, cmd.Stdin = filepath.Join(s.dir, folder), bytes.NewReader(raw)
	cmd.Env = append(append([]string{}, s.env...), "AGENT_ID="+agent, "AGENT_TYPE=claude_code", "COORD_PROJECT="+project)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return hostAnswer{}, fmt.Errorf("%s's hook: %w: %s", agent, err, bytes.TrimSpace(said.Bytes()))
	}
	var a hostAnswer
	if len(bytes.TrimSpace(out)) > 0 {
		if err := json.Unmarshal(out, &a); err != nil {
			return a, fmt.Errorf("%s's hook: %w", agent, err)
		}
	}
	return a, nil
}

// refusedEdit: what an agent never asked for is refused in its host, before a byte is written.
func (s *stage) refusedEdit(ctx context.Context) error {
	s.tell.act("An agent that never asks tries to edit it")
	start, err := s.hook(ctx, "bob", "SessionStart", map[string]any{"source": "startup"})
	if err != nil {
		return err
	}
	s.tell.check(strings.Contains(start.Specific.Context, contested), "its session begins with the brief", "bob's host was told who holds %s", contested)
	edit := func(path string) (hostAnswer, error) {
		return s.hook(ctx, "bob", "PreToolUse", map[string]any{"tool_name": "Edit", "tool_input": map[string]any{"file_path": filepath.Join(s.dir, folder, path)}})
	}
	refused, err := edit(contested)
	if err != nil {
		return err
	}
	s.tell.check(refused.Specific.Decision == "deny" && strings.Contains(refused.Specific.Reason, "held by ana"),
		"the edit is refused in the host", "Claude Code's hook said %s: %s", refused.Specific.Decision, firstSentence(refused.Specific.Reason))
	around, err := s.hook(ctx, "bob", "PreToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "sed -i s/a/b/ " + contested}})
	if err != nil {
		return err
	}
	s.tell.check(around.Specific.Decision == "deny", "so is the way around it", "sed -i: %s", around.Specific.Decision)
	free, err := edit("src/logout.go")
	if err != nil {
		return err
	}
	s.tell.check(free.Specific.Decision == "", "what is free is not", "src/logout.go: no objection, and the lock is bob's")
	_, err = s.hook(ctx, "bob", "SessionEnd", map[string]any{"reason": "other"})
	return err
}

func firstSentence(text string) string {
	text = strings.TrimPrefix(text, "Refused by Agent Coordinator: ")
	if i := strings.Index(text, ". "); i > 0 {
		text = text[:i]
	}
	return text
}

// handedOver: who stops leaves word for who goes on.
func (s *stage) handedOver(ctx context.Context) error {
	s.tell.act("Work is handed over")
	const word = "the form keeps its state; logging out is not done yet"
	args := map[string]any{"action": "write", "summary": word, "next_steps": []any{"clear the state in src/logout.go"}, "to": "ana"}
	if err := s.bob.call(ctx, "handoff", args, nil); err != nil {
		return err
	}
	var brief struct {
		Handoff struct {
			Agent   string   `json:"agent_name"`
			Summary string   `json:"summary"`
			Next    []string `json:"next_steps"`
		} `json:"handoff"`
	}
	if err := s.ana.call(ctx, "session_brief", map[string]any{}, &brief); err != nil {
		return err
	}
	h := brief.Handoff
	s.tell.check(h.Agent == "bob" && h.Summary == word && len(h.Next) == 1, "the next one's brief begins with it", "ana reads from %s: %q", h.Agent, h.Summary)
	return nil
}

const (
	shop       = "git.example/demo/app" // the repository's remote, as the forge names it
	hookSecret = "a-secret-of-the-demonstration"
)

// forge is the folder of the bare repository that stands for the place people push to.
func (s *stage) forge() string { return filepath.Join(s.dir, "forge") }

// verdictEnv lets the gateway of this installation fetch from the forge and hear of its pushes.
func (s *stage) verdictEnv() []string {
	env := []string{"GITHUB_WEBHOOK_SECRET=" + hookSecret, "GATEWAY_GIT_ROOTS=" + s.forge()}
	if tool, err := exec.LookPath("gofmt"); err == nil {
		env = append(env, "GATEWAY_TOOL_PATH="+filepath.Dir(tool)+":/usr/local/bin:/usr/bin:/bin")
	}
	return env
}

// verdict: a change counts as done when its checks say so, not when its agent does.
func (s *stage) verdict(ctx context.Context) error {
	s.tell.act("A change is verified before it counts")
	if s.up.GatewayURL == nil || !installed("gofmt", "bwrap", "git") {
		s.tell.say("Not shown here: static checks need git, Go's gofmt and, on Linux, bubblewrap (apt-get install bubblewrap). Without a sandbox nothing passes.")
		return nil
	}
	work, err := s.repository(ctx)
	if err != nil {
		return err
	}
	bob := &projectAgent{httpAgent: *s.watcher, project: shop}
	bob.id = "bob"
	// The gateway hears of the repository by the push to main. Small changes of trusted agents need static checks only.
	main, err := work.commit(ctx, "main", "package shop\n")
	if err != nil {
		return err
	}
	if err := s.pushed(ctx, "main", main); err != nil {
		return err
	}
	var known struct{ Project string }
	if err := s.watcher.call(ctx, "resolve_repository", map[string]any{"remote": shop}, &known); err != nil {
		return err
	}
	bob.project = known.Project
	if err := bob.call(ctx, "set_trust", map[string]any{"agent": "bob", "level": 3, "ceiling": 3, "reason": "the demonstration"}, nil); err != nil {
		return err
	}
	var key struct{ Secret string } // a name without a key of its own would count as nobody's
	if err := bob.call(ctx, "create_key", map[string]any{"name": "bob's", "agent_id": "bob", "agent_type": "script", "scopes": []any{"read", "write"}, "project": known.Project}, &key); err != nil {
		return err
	}
	own, err := s.httpAgent("bob", key.Secret)
	if err != nil {
		return err
	}
	bob = &projectAgent{httpAgent: *own, project: known.Project}
	for _, c := range []struct{ text, want, what string }{
		{"package shop\n\nfunc Broken( {\n", "failed", "bob says it is done; the checks do not"},
		{"package shop\n\n// Fixed does what it says.\nfunc Fixed() {}\n", "passed", "the corrected one passes"},
	} {
		sha, err := work.commit(ctx, "bobs", c.text)
		if err != nil {
			return err
		}
		if err := bob.call(ctx, "submit_changes", map[string]any{"repository": shop, "branch": "bobs", "head_sha": sha, "base_ref": "main"}, nil); err != nil {
			return err
		}
		got, err := bob.decided(ctx, sha)
		if err != nil {
			return err
		}
		if got.State == "error" && strings.Contains(got.Reason, "infra") {
			s.tell.say("Not shown here: the sandbox does not work on this machine (%s). Without one nothing passes.", got.Reason)
			return nil
		}
		found := got.Reason
		if len(got.Findings) > 0 {
			found = fmt.Sprintf("%s:%d: %s", got.Findings[0].Path, got.Findings[0].Line, got.Findings[0].Message)
		}
		s.tell.check(got.State == c.want, c.what, "%.7s %s (%s)", sha, got.State, found)
	}
	return nil
}

func installed(programs ...string) bool {
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			return false
		}
	}
	return true
}

// projectAgent is an HTTP agent in a project of its own.
type projectAgent struct {
	httpAgent
	project string
}

func (a *projectAgent) call(ctx context.Context, operation string, args map[string]any, out any) error {
	res, err := a.remote.Call(ctx, a.cat.Get(operation), op.Request{Args: args, Claim: ident.Claim{Project: a.project, Agent: a.id, AgentType: "script"}})
	if err != nil {
		return fmt.Errorf("%s: %s: %w", a.id, operation, err)
	}
	raw, ok := res.Body.(json.RawMessage)
	if !ok || out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%s: %s: %w", a.id, operation, err)
	}
	return nil
}

// decision is what the demonstration reads of a commit's status.
type decision struct {
	State    string `json:"state"`
	Reason   string `json:"reason"`
	Findings []struct {
		Path    string `json:"path"`
		Line    int    `json:"line"`
		Message string `json:"message"`
	} `json:"findings"`
}

// decided waits for the verdict of a commit.
func (a *projectAgent) decided(ctx context.Context, sha string) (decision, error) {
	for {
		var d decision
		if err := a.call(ctx, "verification_status", map[string]any{"head_sha": sha, "wait_seconds": float64(20)}, &d); err != nil {
			return d, err
		}
		switch d.State {
		case "passed", "failed", "error", "awaiting_approval":
			return d, nil
		}
		if ctx.Err() != nil {
			return d, context.Cause(ctx)
		}
	}
}

// workTree is bob's clone of the forge.
type workTree struct {
	dir string
	env []string
}

// repository makes the forge and a clone of it.
func (s *stage) repository(ctx context.Context) (*workTree, error) {
	w := &workTree{dir: filepath.Join(s.dir, "clone"), env: append(append([]string{}, s.env...), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")}
	bare := filepath.Join(s.forge(), "app.git")
	for _, dir := range []string{bare, w.dir} {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the gateway may run under another account
			return nil, err
		}
	}
	if _, err := w.git(ctx, "init", "-q", "--bare", "-b", "main", bare); err != nil {
		return nil, err
	}
	if _, err := w.git(ctx, "init", "-q", "-b", "main"); err != nil {
		return nil, err
	}
	_, err := w.git(ctx, "remote", "add", "origin", bare)
	return w, err
}

func (w *workTree) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "user.name=bob", "-c", "user.email=bob@demo.example", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return strings.TrimSpace(string(out)), nil
}

// commit writes shop.go, commits it on a branch and pushes that.
func (w *workTree) commit(ctx context.Context, branch, text string) (sha string, err error) {
	if err := os.WriteFile(filepath.Join(w.dir, "shop.go"), []byte(text), 0o600); err != nil {
		return "", err
	}
	for _, args := range [][]string{{"checkout", "-q", "-B", branch}, {"add", "-A"}, {"commit", "-q", "-m", "a change"}, {"push", "-q", "origin", branch}} {
		if _, err := w.git(ctx, args...); err != nil {
			return "", err
		}
	}
	return w.git(ctx, "rev-parse", "HEAD")
}

// pushed tells the gateway of a push as GitHub does.
func (s *stage) pushed(ctx context.Context, branch, sha string) error {
	body, _ := json.Marshal(map[string]any{ // strings and numbers
		"ref": "refs/heads/" + branch, "before": strings.Repeat("0", 40), "after": sha, "sender": map[string]any{"login": "bob"},
		"repository": map[string]any{
			"id": 1, "full_name": "demo/app", "clone_url": filepath.Join(s.forge(), "app.git"), "html_url": "https://" + shop, "default_branch": "main", "pushed_at": 1,
		},
	})
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write(body)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, *s.up.GatewayURL+"/webhook/github", bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-GitHub-Event": "push", "X-GitHub-Delivery": "demo-" + sha, "X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil)),
	} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("tell the gateway of the push: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		said, _ := io.ReadAll(io.LimitReader(res.Body, 1000)) // what there is of it
		return fmt.Errorf("the gateway answered the push with %d: %s", res.StatusCode, said)
	}
	return nil
}
