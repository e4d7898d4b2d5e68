//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gate "github.com/agent-coordinator/agent-coordinator/internal/gateway/executors"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/e2b"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/e2b/e2btest"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/executors/executortest"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/gittest"
	"github.com/agent-coordinator/agent-coordinator/internal/gateway/source"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

// sdkScript is what E2B's documentation does with its SDK, and what a gateway's user would look at: the sandbox that our
// client made is found by its metadata, used and killed.
const sdkScript = `
import { Sandbox, CommandExitError } from 'e2b'
const say = (k, v) => console.log(k + '=' + JSON.stringify(v))
const mine = await Sandbox.create('base', { timeoutMs: 60_000, metadata: { a: 'b c&d' }, envs: { GREETING: 'hi' } })
say('echo', (await mine.commands.run('echo $GREETING $MORE; echo err >&2', { envs: { MORE: 'there' } })))
try { await mine.commands.run('exit 3') } catch (e) { say('exit', e instanceof CommandExitError && e.exitCode) }
await mine.files.write('dir/x.txt', 'written')
say('file', await mine.files.read('dir/x.txt'))
const back = await mine.commands.run('sleep 60', { background: true })
say('killed', await back.kill())
say('running', await mine.isRunning())
const page = Sandbox.list({ query: { metadata: { a: 'b c&d' } } })
say('listed', (await page.nextItems()).map(s => s.sandboxId === mine.sandboxId))
await mine.setTimeout(30_000)
const ours = (await Sandbox.list({ query: { metadata: { gateway_run: 'from-go' } } }).nextItems())[0]
const theirs = await Sandbox.connect(ours.sandboxId)
say('ours', (await theirs.commands.run('cat gateway/greeting.txt')).stdout)
await theirs.commands.run('touch gateway/go')
say('kill', await mine.kill())
say('again', await Sandbox.kill(mine.sandboxId))
say('gone', await mine.isRunning())
`

// TestHostE2BSDK: one fake of E2B serves both its own SDK and our client, on the same sandbox.
func TestHostE2BSDK(t *testing.T) {
	t.Parallel()
	home := hosts(t)
	if _, err := os.Stat(filepath.Join(home, "node_modules", "e2b")); err != nil {
		t.Skipf("SKIPPED: E2B's SDK is not installed in %s; make e2e installs it", home)
	}
	fake := e2btest.New(t.TempDir(), "e2b_0000000000000000000000000000000000000000")
	t.Cleanup(fake.Close)
	repo := gittest.New(t)
	repo.Write("greeting.txt", "hello from the tree\n")
	src, err := source.Open(source.Config{Dir: t.TempDir(), LocalRoots: []string{repo.Root}})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := e2b.New(e2b.Config{Key: "e2b_0000000000000000000000000000000000000000", APIURL: fake.URL, SandboxURL: fake.URL, Source: src})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ours.Close)
	job := gate.Job{
		ID: "from-go", CloneURL: repo.Remote, HeadSHA: repo.Commit("main"), Timeout: 2 * time.Minute,
		Policy: route.Policy{Name: "deps", Command: "until [ -e go ]; do sleep 0.1; done; echo released"},
	}
	executortest.Start(t, ours, &job)

	script := filepath.Join(home, "e2b-"+filepath.Base(t.TempDir())+".mjs")
	if err := os.WriteFile(script, []byte(sdkScript), 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Remove(script) }()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	await := time.NewTicker(50 * time.Millisecond)
	defer await.Stop()
	for fake.Ran("until [ -e go ]") == 0 {
		select {
		case <-await.C:
		case <-ctx.Done():
			t.Fatal("our command never began")
		}
	}
	out, err := hostCommand(t, t.TempDir(), home, []string{
		"E2B_API_URL=" + fake.URL, "E2B_SANDBOX_URL=" + fake.URL, "E2B_API_KEY=e2b_0000000000000000000000000000000000000000",
	}, "node", script)
	if err != nil {
		t.Fatalf("the SDK: %v\n%s", err, out)
	}
	for _, want := range []string{
		`"exitCode":0`, `"stdout":"hi there\n"`, `"stderr":"err\n"`, "exit=3", `file="written"`, "killed=true", "running=true", "listed=[true]",
		`ours="hello from the tree\n"`, "kill=true", "again=false", "gone=false",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the SDK did not say %s:\n%s", want, out)
		}
	}
	if result := executortest.Await(t, ours, job, time.Minute); result.Conclusion != gate.Success || !strings.Contains(result.Output, "released") {
		t.Errorf("our run: %s %s\n%s", result.Conclusion, result.Reason, result.Output)
	}
}
