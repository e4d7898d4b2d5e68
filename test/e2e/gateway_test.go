//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/githubtest"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/gittest"
)

const hookSecret = "a-secret-of-the-hook"

// forge is an installation with a gateway, a fake GitHub before it and a real git repository behind both.
type forge struct {
	*install
	t     *testing.T
	addr  string // of the gateway, the same after a restart
	env   []string
	hub   *githubtest.Server
	repo  *githubtest.Repo
	hook  *githubtest.Hook
	git   *gittest.Work
	heads map[string]string // by branch

	mu     sync.Mutex
	script githubtest.Script // of the workflow's next runs
}

func newForge(t *testing.T) *forge {
	t.Helper()
	f := &forge{t: t, hub: githubtest.New(t), git: gittest.New(t), heads: map[string]string{}, script: githubtest.Script{Conclusion: "success"}}
	if err := os.Chmod(f.git.Root, 0o755); err != nil {
		t.Fatal(err)
	}
	f.repo = f.hub.AddRepo("acme/shop", f.git.Remote)
	f.repo.CloneURL = f.git.Remote
	f.repo.AddWorkflow(githubtest.Workflow{File: "verify.yml", Script: func(map[string]string) githubtest.Script {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.script
	}})
	for _, login := range []string{"ada", "rita"} {
		f.repo.SetPermission(login, "write")
	}
	f.addr = freeAddr(t)
	f.hook = f.repo.AddHook(githubtest.Hook{URL: "http://" + f.addr + "/webhook/github", Secret: hookSecret})
	f.env = []string{
		"GATEWAY_ADDR=" + f.addr, "GITHUB_API_URL=" + f.hub.URL, "GITHUB_SERVER_URL=https://" + githubtest.Host, "GITHUB_TOKEN=" + githubtest.Token,
		"GITHUB_WEBHOOK_SECRET=" + hookSecret, fmt.Sprintf("GITHUB_HOOKS=acme/shop:%d", f.hook.ID), "GATEWAY_GIT_ROOTS=" + f.git.Root, "COORD_RUNNER=none",
	}
	f.install = up(t, f.env...)
	f.ready()
	f.git.Write("go.mod", "module example.com/shop\n\ngo 1.21\n")
	f.git.Write("main.go", "package main\n\nfunc main() {}\n")
	f.git.Write("README.md", "# Shop\n")
	f.heads["main"] = f.git.Commit("main")
	return f
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (f *forge) ready() {
	f.t.Helper()
	eventually(f.t, 60*time.Second, "the gateway is ready", func() error {
		res, err := http.Get("http://" + f.addr + "/ready")
		if err != nil {
			return err
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("ready answers %d", res.StatusCode)
		}
		return nil
	})
}

func (f *forge) runs(script githubtest.Script) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = script
}

// commit makes a commit from main on a branch, without telling anybody.
func (f *forge) commit(branch string, files map[string]string) (before, after string) {
	f.t.Helper()
	before = f.heads[branch]
	start := before
	if start == "" {
		start = f.heads["main"]
	}
	f.git.Git("checkout", "-q", "--detach", start)
	for name, content := range files {
		f.git.Write(name, content)
	}
	f.heads[branch] = f.git.Commit(branch)
	return before, f.heads[branch]
}

// push commits on a branch and sends the webhook, signed.
func (f *forge) push(branch string, files map[string]string) string {
	f.t.Helper()
	before, after := f.commit(branch, files)
	for _, code := range f.repo.Push(githubtest.Push{Branch: branch, Before: before, After: after, Pusher: "ada", Message: "change"}) {
		if code != http.StatusAccepted {
			f.t.Errorf("the webhook of %s was answered with %d", branch, code)
		}
	}
	return after
}

// get reads from the gateway as an agent with the installation's key does.
func (f *forge) get(path string, query url.Values, into any) error {
	req, err := http.NewRequest(http.MethodGet, "http://"+f.addr+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("X-API-Key", f.APIKey)
	req.Header.Set("X-Project", f.repo.Remote())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d", path, res.StatusCode)
	}
	return json.NewDecoder(res.Body).Decode(into)
}

// changeset returns what the gateway knows of a commit.
func (f *forge) changeset(sha string) (client.ChangesetDetail, error) {
	var list client.Changesets
	if err := f.get("/changesets", url.Values{"head_sha": {sha}}, &list); err != nil {
		return client.ChangesetDetail{}, err
	}
	if len(list.Changesets) != 1 {
		return client.ChangesetDetail{}, fmt.Errorf("%d changesets of %s", len(list.Changesets), sha)
	}
	var out client.ChangesetDetail
	err := f.get("/changesets/"+list.Changesets[0].ChangesetID, nil, &out)
	return out, err
}

// status waits until GitHub shows a state on a commit, and returns how long that took since then.
func (f *forge) status(sha, state string, within time.Duration) time.Duration {
	f.t.Helper()
	began := time.Now()
	eventually(f.t, within, fmt.Sprintf("GitHub shows %s on %.8s", state, sha), func() error {
		all := f.repo.Statuses(sha)
		if len(all) > 0 && all[len(all)-1].Context == "gateway/verdict" && all[len(all)-1].State == state {
			return nil
		}
		c, err := f.changeset(sha)
		text := fmt.Sprintf("state %s, %s", c.State, c.Reason)
		for _, r := range c.Runs {
			text += fmt.Sprintf("\n  %s in %s: %s %s %s", r.Policy, r.Executor, r.Status, r.Conclusion, r.Reason)
		}
		return fmt.Errorf("statuses %+v; %s; %v", all, text, err)
	})
	return time.Since(began)
}

// TestGatewayVerdicts: real commits in a real repository, a signed webhook for each, and the verdict on GitHub.
func TestGatewayVerdicts(t *testing.T) {
	f := newForge(t)
	run := func(name string, test func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			f.t = t
			defer func() { f.t = nil }()
			test(t)
		})
	}

	run("documentation needs tier 0 alone", func(t *testing.T) {
		sha := f.push("docs", map[string]string{"README.md": "# Shop\n\nSells things.\n"})
		took := f.status(sha, "success", time.Minute)
		c, err := f.changeset(sha)
		if err != nil || c.State != "passed" || fmt.Sprint(c.Tiers) != "[0]" || len(f.repo.Runs()) != 0 {
			t.Errorf("tiers %v, state %s, %d workflow runs, %v", c.Tiers, c.State, len(f.repo.Runs()), err)
		}
		t.Logf("push to verdict: %s", took.Round(time.Millisecond))
	})
	run("code needs a workflow as well", func(t *testing.T) {
		sha := f.push("code", map[string]string{"app.py": "print(1)\n"})
		took := f.status(sha, "success", time.Minute)
		runs := f.repo.Runs()
		if len(runs) != 1 || runs[0].Inputs["sha"] != sha || runs[0].Inputs["tier"] != "1" || runs[0].Branch != "main" {
			t.Errorf("workflow runs %+v", runs)
		}
		if all := f.repo.Statuses(sha); len(all) > 2 {
			t.Errorf("%d statuses for one verdict", len(all))
		}
		t.Logf("push to verdict: %s", took.Round(time.Millisecond))
	})
	run("a workflow that fails", func(t *testing.T) {
		f.runs(githubtest.Script{Conclusion: "failure", Jobs: []githubtest.Job{{Name: "test", Conclusion: "failure", Steps: []githubtest.Job{{Name: "go test", Conclusion: "failure"}}}}})
		defer f.runs(githubtest.Script{Conclusion: "success"})
		sha := f.push("broken", map[string]string{"app.py": "print(2)\n"})
		f.status(sha, "failure", time.Minute)
	})
	run("a skipped workflow is no success", func(t *testing.T) {
		f.runs(githubtest.Script{Conclusion: "skipped"})
		defer f.runs(githubtest.Script{Conclusion: "success"})
		sha := f.push("skipped", map[string]string{"app.py": "print(3)\n"})
		eventually(t, time.Minute, "the run is blocked", func() error {
			c, err := f.changeset(sha)
			if err != nil {
				return err
			}
			for _, r := range c.Runs {
				if r.Tier == 1 && r.Conclusion == "blocked" {
					return nil
				}
			}
			return fmt.Errorf("runs %+v", c.Runs)
		})
		for _, st := range f.repo.Statuses(sha) {
			if st.State == "success" {
				t.Errorf("it is green: %+v", st)
			}
		}
	})
	run("a lost webhook of a finished workflow", func(t *testing.T) {
		f.runs(githubtest.Script{Conclusion: "success", Quiet: true, Running: time.Second})
		defer f.runs(githubtest.Script{Conclusion: "success"})
		sha := f.push("quiet", map[string]string{"app.py": "print(4)\n"})
		t.Logf("found after %s", f.status(sha, "success", 45*time.Second).Round(time.Millisecond))
	})
	run("a person approves exactly one commit", f.approval)
	run("what tier 0 finds ends it there", func(t *testing.T) {
		before := len(f.repo.Runs())
		sha := f.push("unformatted", map[string]string{"main.go": "package main\n\nfunc   main( ) {}\n"})
		f.status(sha, "failure", 6*time.Minute) // Go's standard library is compiled for tier 0 meanwhile
		if n := len(f.repo.Runs()); n != before {
			t.Errorf("%d workflows were dispatched for what had failed", n-before)
		}
	})
}

// approval: a pull request that touches what needs a person.
func (f *forge) approval(t *testing.T) {
	_, first := f.commit("auth", map[string]string{"src/auth/token.py": "TOKEN = 1\n"})
	f.repo.OpenPull(githubtest.Pull{Number: 7, Title: "Tokens", Head: first, HeadRef: "auth", Base: f.heads["main"], Author: "ada"})
	waiting := func(sha string) {
		t.Helper()
		eventually(t, time.Minute, "a person is asked", func() error {
			c, err := f.changeset(sha)
			if err == nil && c.State != "awaiting_approval" {
				err = fmt.Errorf("state %s: %s", c.State, c.Reason)
			}
			return err
		})
	}
	waiting(first)
	_, second := f.commit("auth", map[string]string{"src/auth/token.py": "TOKEN = 2\n"})
	f.repo.Synchronize(7, second, nil)
	waiting(second)
	f.repo.Review(7, githubtest.Review{Login: "rita", State: "APPROVED", Commit: first})
	f.repo.Review(7, githubtest.Review{Login: "ada", State: "APPROVED", Commit: second}) // who wrote it
	f.repo.Review(7, githubtest.Review{Login: "eve", State: "APPROVED", Commit: second}) // a stranger
	f.repo.Comment(7, "eve", "/approve")
	f.push("other", map[string]string{"README.md": "# Other\n"}) // the deliveries above were worked on before this one
	f.status(f.heads["other"], "success", time.Minute)
	waiting(second)
	f.repo.Review(7, githubtest.Review{Login: "rita", State: "APPROVED", Commit: second})
	f.status(second, "success", time.Minute)
	for _, st := range f.repo.Statuses(first) {
		if st.State == "success" {
			t.Errorf("the first commit is green: %+v", st)
		}
	}
}

// TestGatewayForcePushStorm: of 200 pushes to one branch one is verified, and what older ones had begun is ended.
func TestGatewayForcePushStorm(t *testing.T) {
	f := newForge(t)
	f.runs(githubtest.Script{Hold: true})
	const pushes = 200
	var heads []githubtest.Push
	before := ""
	for i := range pushes { // amended, so that each replaces the one before
		f.git.Git("checkout", "-q", "--detach", f.heads["main"])
		f.git.Write("app.py", fmt.Sprintf("print(%d)\n", i))
		sha := f.git.Commit("storm")
		heads = append(heads, githubtest.Push{Branch: "storm", Before: before, After: sha, Pusher: "ada", Forced: before != ""})
		before = sha
	}
	began := time.Now()
	tick := time.NewTicker(10 * time.Second / pushes)
	defer tick.Stop()
	for _, p := range heads {
		for _, code := range f.repo.Push(p) {
			if code != http.StatusAccepted {
				t.Errorf("a webhook was answered with %d", code)
			}
		}
		<-tick.C
	}
	last := heads[pushes-1].After
	sent := time.Now()
	t.Logf("%d pushes in %s", pushes, sent.Sub(began).Round(time.Millisecond))
	eventually(t, 30*time.Second, "one ladder is left", func() error {
		var open client.Changesets
		if err := f.get("/changesets", url.Values{"open": {"true"}, "limit": {"1000"}}, &open); err != nil {
			return err
		}
		if len(open.Changesets) != 1 || open.Changesets[0].HeadSHA != last {
			return fmt.Errorf("%d are open", len(open.Changesets))
		}
		return nil
	})
	t.Logf("one ladder %s after the last push", time.Since(sent).Round(time.Millisecond))
	eventually(t, time.Minute, "the last one's workflow runs alone", func() error {
		live := []string{}
		for _, run := range f.repo.Runs() {
			if run.Status != "completed" {
				live = append(live, run.Inputs["sha"])
			}
		}
		if len(live) != 1 || live[0] != last {
			return fmt.Errorf("%d workflow runs go on: %v", len(live), live)
		}
		return nil
	})
	seen := map[string]bool{}
	for _, run := range f.repo.Runs() {
		if id := run.Inputs["correlation_id"]; seen[id] {
			t.Errorf("%s was dispatched twice", id)
		} else {
			seen[id] = true
		}
		if run.Status != "completed" {
			f.repo.Finish(run.ID, "success")
		}
	}
	t.Logf("%d workflows had been dispatched", len(seen))
	f.status(last, "success", time.Minute)
}

// TestGatewayRedelivery: what was sent while nothing listened comes back by itself.
func TestGatewayRedelivery(t *testing.T) {
	f := newForge(t)
	first := f.push("before", map[string]string{"README.md": "# Before\n"})
	f.status(first, "success", time.Minute)
	if out, err := f.coordctl(t, "down"); err != nil {
		t.Fatalf("down: %v\n%s", err, out)
	}
	var lost []string
	for i := range 5 {
		branch := fmt.Sprintf("while-down-%d", i)
		before, after := f.commit(branch, map[string]string{"README.md": fmt.Sprintf("# Down %d\n", i)})
		for _, code := range f.repo.Push(githubtest.Push{Branch: branch, Before: before, After: after, Pusher: "ada"}) {
			if code != 0 {
				t.Errorf("somebody answered %d while the gateway was down", code)
			}
		}
		lost = append(lost, after)
	}
	back := time.Now()
	cmd := f.start(t, f.env...)
	f.ready()
	for _, sha := range lost {
		f.status(sha, "success", 2*time.Minute)
	}
	t.Logf("all %d verdicts %s after the start", len(lost), time.Since(back).Round(time.Millisecond))
	_ = cmd.Process.Signal(syscall.SIGTERM)
}
