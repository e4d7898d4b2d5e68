//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// verify: what a gateway found about five changes.
func (a *atlas) verify() {
	type run struct {
		policy, executor, status, conclusion, reason, output, findings string
		tier, exit                                                     int
		seconds                                                        float64
	}
	type change struct {
		title, agent, branch, task, state, verdict, reason string
		ago, trust                                         int
		files                                              map[string][2]int
		runs                                               []run
		reasons                                            string
		waived                                             string
	}
	ok := func(tier int, policy, executor string, seconds float64, reason string) run {
		return run{policy: policy, executor: executor, status: "completed", conclusion: "success", reason: reason, tier: tier, seconds: seconds}
	}
	findings := `[{"tool":"review-bot","rule":"token-lifetime","level":"warning","message":"The old token stays valid for 30 s after the rotation.","path":"internal/auth/token.go","line":88},
		{"tool":"staticcheck","rule":"ST1005","level":"note","message":"The error is wrapped twice.","path":"internal/auth/session.go","line":142},
		{"tool":"sqlfluff","rule":"PG01","level":"note","message":"The index is built without CONCURRENTLY.","path":"db/migrations/0042_token_rotation.sql","line":7}]`
	static := ok(0, "static-checks", "inline", 9, "gofmt, go vet, gitleaks, sqlfluff: nothing on changed lines.")
	static.findings = findings
	failed := run{
		policy: "unit-tests", executor: "github", status: "completed", conclusion: "failure", tier: 1, exit: 1, seconds: 171, reason: "2 of 418 tests failed.",
		output: "--- FAIL: TestClaimOrder (0.31s)\n    claim_test.go:88: claimed [7 3 5], want [3 5 7]\n--- FAIL: TestClaimOrderAfterRetry (0.29s)\n    claim_test.go:131: the retried task lost its place\nFAIL\ninternal/queue\t1.204s",
	}
	for i, c := range []change{
		{
			"Rotate session tokens on privilege change", "claude-arden", "arden/tokens", "tokens", "awaiting_approval", "", "Everything else passed; internal/auth/** needs a reviewer.", 26, 2,
			map[string][2]int{"internal/auth/session.go": {96, 31}, "internal/auth/token.go": {121, 16}, "db/migrations/0042_token_rotation.sql": {28, 0}, "internal/auth/token_test.go": {32, 0}},
			[]run{static, ok(1, "unit-tests", "github", 178, "418 passed, 3 new."), ok(3, "migration-on-a-copy", "ntm", 41, "0042 applied and rolled back; longest table lock 12 ms.")},
			`[{"tier":1,"text":"more than 50 lines changed","policy":"unit-tests"},{"tier":3,"text":"db/migrations/** changed","policy":"migration-on-a-copy"},{"tier":4,"text":"internal/auth/** always needs a reviewer who is not the author","policy":"auth-review"}]`,
			`[{"tier":2,"policy":"integration","executor":"e2b"}]`,
		},
		{
			"Claim order by priority, then age", "codex-elm", "elm/order", "order", "failed", "failed", "unit-tests: 2 of 418 tests failed.", 6, 1,
			map[string][2]int{"internal/queue/claim.go": {44, 19}, "internal/queue/claim_test.go": {61, 2}},
			[]run{ok(0, "static-checks", "inline", 8, ""), failed},
			`[{"tier":1,"text":"internal/queue/** changed","policy":"unit-tests"}]`, `[]`,
		},
		{
			"Refuse an empty API key list", "claude-vale", "vale/keys", "keys", "verifying", "", "unit-tests runs", 2, 2,
			map[string][2]int{"internal/config/keys.go": {12, 3}},
			[]run{ok(0, "static-checks", "inline", 7, ""), {policy: "unit-tests", executor: "github", status: "running", tier: 1}},
			`[{"tier":1,"text":"Go code changed","policy":"unit-tests"}]`, `[]`,
		},
		{"Release notes for 0.8.4", "claude-pine", "pine/notes", "", "passed", "passed", "Every required tier passed.", 95, 3, map[string][2]int{"CHANGELOG.md": {14, 1}}, []run{ok(0, "static-checks", "inline", 3, "")}, `[{"tier":0,"text":"documentation alone","policy":"static-checks"}]`, `[]`},
		{"SARIF: levels as the tool said", "codex-sable", "sable/sarif", "", "passed", "passed", "Every required tier passed.", 150, 2, map[string][2]int{"internal/sarif/level.go": {31, 9}}, []run{ok(0, "static-checks", "inline", 7, ""), ok(1, "unit-tests", "github", 166, "415 passed.")}, `[{"tier":1,"text":"Go code changed","policy":"unit-tests"}]`, `[]`},
	} {
		sha, id, add, del := strings.Repeat(fmt.Sprintf("%da41f9c2", i), 5)[:40], fmt.Sprintf("01920000-0000-7000-8000-00000000000%d", i), 0, 0
		var plan []string
		seen := map[string]bool{}
		for _, r := range c.runs {
			if !seen[r.policy] {
				plan = append(plan, fmt.Sprintf(`{"tier":%d,"policy":%q,"executor":%q,"required":true}`, r.tier, r.policy, r.executor))
			}
			seen[r.policy] = true
		}
		if c.state == "awaiting_approval" {
			plan = append(plan, `{"tier":4,"policy":"auth-review","executor":"human","required":true}`)
		}
		for _, n := range c.files {
			add, del = add+n[0], del+n[1]
		}
		a.sql(`insert into public.changesets (project_id, id, source, repository, branch, line, base_ref, head_sha, agent_id, agent_type, agent_verified, task_id, file_count, additions, deletions, title, state, verdict, verdict_reason,
			route_version, decision, trust_level, created_at, routed_at, decided_at)
			select p.id, $2, 'agent', 'github.com/acme/atlas', $3, $3, 'main', $4, $5, 'codex', true, nullif($6, '')::uuid, $7, $8, $9, $10, $11, nullif($12, ''), $13,
			1, jsonb_build_object('tiers', (select jsonb_agg(distinct (x ->> 'tier')::int) from jsonb_array_elements($14::jsonb) x), 'plan', $14::jsonb, 'reasons', $15::jsonb, 'waived', $16::jsonb), $17,
			now() - make_interval(mins => $18), now() - make_interval(mins => $18), case when $12 <> '' then now() - make_interval(mins => $18 - 1) end from public.projects p where p.name = $1`,
			atlasProject, id, c.branch, sha, c.agent, a.tasks[c.task], len(c.files), add, del, c.title, c.state, c.verdict, c.reason, "["+strings.Join(plan, ",")+"]", c.reasons, c.waived, c.trust, c.ago)
		for path, n := range c.files {
			a.sql(`insert into public.changeset_files (project_id, changeset_id, path, status, additions, deletions) select id, $2, $3, 'modified', $4, $5 from public.projects where name = $1`, atlasProject, id, path, n[0], n[1])
		}
		for n, r := range c.runs {
			if r.findings == "" {
				r.findings = "[]"
			}
			a.sql(`insert into public.verification_results (project_id, changeset_id, head_sha, route_version, policy_name, policy, tier, executor, required, status, conclusion, reason, duration_seconds, exit_code, output, findings, findings_total, started_at, completed_at)
				select id, $2, $3, 1, $4, '{}', $5, $6, true, $7, nullif($8, ''), nullif($9, ''), nullif($10::real, 0), $11, nullif($12, ''), $13::jsonb, jsonb_array_length($13::jsonb), now() - make_interval(mins => $14), case when $8 <> '' then now() - make_interval(mins => $14) + make_interval(secs => $10) end from public.projects where name = $1`,
				atlasProject, id, sha, r.policy, r.tier, r.executor, r.status, r.conclusion, r.reason, r.seconds, r.exit, r.output, r.findings, c.ago-4*n)
		}
		for n, text := range []string{"received from " + c.agent, "routed: " + fmt.Sprint(len(plan)) + " policies", c.reason} {
			a.sql(`insert into public.changeset_events (project_id, changeset_id, at, kind, text) select id, $2, now() - make_interval(mins => $3), 'line', $4 from public.projects where name = $1`, atlasProject, id, c.ago-n, text)
		}
		if c.state == "awaiting_approval" {
			a.sql(`insert into public.approval_queue (project_id, changeset_id, head_sha, route_version, policy_name, reason, roles, requested_by, status, opened_at, expires_at)
				select id, $2, $3, 1, 'auth-review', 'internal/auth/** always needs a reviewer who is not the author', '{}', $4, 'pending', now() - interval '11 minutes', now() + interval '48 minutes' from public.projects where name = $1`, atlasProject, id, sha, c.agent)
		}
	}
}

// execute: runners, and a session that lost one and went on with another.
func (a *atlas) execute() {
	ctx := a.t.Context()
	c := a.as("planner", "claude-code")
	ids := map[string]string{}
	for _, r := range []struct {
		host, profile string
		tags          []string
		ago           int
	}{{"vm-build-01", "claude-code", []string{"go", "docker"}, 31}, {"vm-build-02", "codex", []string{"go", "node"}, 5}, {"vm-build-03", "claude-code", []string{"go", "docker"}, 2300}, {"vm-build-05", "claude-code", []string{"go", "docker", "linux"}, 12}, {"mac-mini-07", "cursor", []string{"macos", "node"}, 44}, {"vm-gpu-01", "gemini", []string{"go", "cuda"}, 22}} {
		got, err := c.RegisterRunner(ctx, client.RegisterRunner{Hostname: r.host, ProjectDir: "/srv/atlas", ExecutorProfile: r.profile, Tags: r.tags, Capacity: 4})
		a.must(err)
		ids[r.host] = got.RunnerID
		a.sql(`update public.runners set last_heartbeat = now() - make_interval(secs => $2) where runner_id = $1`, got.RunnerID, r.ago)
	}
	begin := func(session, agent, prompt, host, status, failure string, from, to int) {
		run, err := c.CreateRun(ctx, client.CreateRun{Type: "start_session", SessionID: session, AgentName: "", Prompt: prompt, ProjectDir: "/srv/atlas"})
		a.must(err)
		a.sql(`delete from coord.ready r using public.runs w where w.run_id = $1 and r.queue = 2 and r.id = w.id`, run.RunID)
		a.sql(`update public.runs set agent_name = $2, status = $3, runner_id = $4, error = nullif($5, ''), attempt = 1, class_id = null, timeout_at = null, created_at = now() - make_interval(mins => $6), claimed_at = now() - make_interval(mins => $6), started_at = now() - make_interval(mins => $6),
			completed_at = case when $3 in ('completed', 'failed', 'stopped') then now() - make_interval(mins => $7) end where run_id = $1`, run.RunID, agent, status, ids[host], failure, from, to)
		a.sql(`update public.sessions set agent_name = $2, status = case $3 when 'completed' then 'finished' else $3 end, hostname = $4, executor_profile = 'claude-code', created_at = now() - make_interval(mins => $5) where session_id = $1`, session, agent, status, host, from)
	}
	main := "ses_9c02e17af4b3"
	begin(main, "claude-arden", "Rotate session tokens on privilege change", "vm-build-03", "failed", "its runner was lost: no heartbeat for 120 s", 58, 38)
	a.sql(`with r as (select * from public.runs where session_id = $1)
		insert into public.runs (project_id, run_id, type, session_id, agent_name, prompt, project_dir, status, runner_id, attempt, created_at, claimed_at, started_at, created_by)
		select project_id, 'run_5be09c1d22a7', 'resume_session', session_id, agent_name, 'Go on where the first attempt ended: ' || prompt, project_dir, 'running', $2, 1, now() - interval '35 minutes', now() - interval '34 minutes', now() - interval '34 minutes', created_by from r`, main, ids["vm-build-05"])
	a.sql(`update public.sessions set status = 'running', hostname = 'vm-build-05' where session_id = $1`, main)
	begin("ses_a01c77e40b9d", "claude-iris", "Lock expiry under clock skew", "vm-build-01", "running", "", 7, 0)
	begin("ses_93fd12c07e05", "codex-juniper", "Webhook redelivery sweep", "vm-build-02", "running", "", 16, 0)
	begin("ses_2cc80f6b1a4e", "cursor-cove", "Raise the Go version", "mac-mini-07", "running", "", 9, 0)
	begin("ses_0fe2a7719c3b", "gemini-ash", "Backfill of digests on a GPU host", "vm-gpu-01", "failed", "exit 137: out of memory at 8 GiB", 75, 61)
	begin("ses_66d0be12f893", "codex-oak", "Explain the session brief", "vm-build-02", "completed", "", 130, 112)

	now := time.Now().UTC()
	say := func(minutes float64, e client.SessionEvent) {
		e.SessionID, e.Timestamp = main, now.Add(-time.Duration(minutes*float64(time.Minute))).Format(time.RFC3339Nano)
		_, err := c.AddSessionEvent(ctx, e)
		a.must(err)
	}
	text := func(s string) []map[string]any { return []map[string]any{{"type": "text", "text": s}} }
	tool := func(at float64, name string, input map[string]any, out any, failure string) {
		say(at, client.SessionEvent{EventType: "post_tool", ToolName: name, ToolInput: input, ToolOutput: out, Error: failure})
	}
	say(58, client.SessionEvent{EventType: "session_start"})
	say(57.8, client.SessionEvent{EventType: "message", Role: "user", Content: text("Rotate session tokens on privilege change.")})
	tool(57, "session_brief", nil, map[string]any{"tokens": 1412, "memories": 7}, "")
	for i, f := range []string{"internal/auth/session.go", "internal/auth/token.go", "internal/auth/token_test.go", "internal/api/middleware.go"} {
		tool(56.6-float64(i)*0.4, "Read", map[string]any{"file_path": f}, "…", "")
	}
	tool(54, "acquire_lock", map[string]any{"file_path": "internal/auth/token.go"}, map[string]any{"success": true, "fencing_token": "8801"}, "")
	for i := range 5 {
		tool(52-float64(i)*1.5, "Edit", map[string]any{"file_path": "internal/auth/token.go"}, "ok", "")
	}
	tool(44, "Bash", map[string]any{"command": "go test ./internal/auth"}, nil, "exit 1: TestRotateOnDemotion: the old token still opens the session")
	say(43.5, client.SessionEvent{EventType: "message", Role: "assistant", Content: text("The old token survives the role change. It must die in the same transaction.")})
	tool(41, "Edit", map[string]any{"file_path": "internal/auth/session.go"}, "ok", "")
	tool(38.6, "Edit", map[string]any{"file_path": "internal/auth/session.go"}, "ok", "")
	tool(33.6, "read_handoff", nil, map[string]any{"count": 1}, "")
	for i := range 4 {
		tool(33-float64(i)*0.5, "Read", map[string]any{"file_path": "internal/auth/session.go"}, "…", "")
	}
	tool(30, "Edit", map[string]any{"file_path": "internal/api/middleware.go"}, map[string]any{"permissionDecision": "deny", "held_by": "claude-fern", "minutes_left": 22, "free": []string{"internal/auth/session.go", "internal/auth/token.go"}}, "refused: claude-fern holds internal/api/middleware.go for 22 min more: Split the route table by resource")
	for i := range 6 {
		tool(29-float64(i)*0.8, "Edit", map[string]any{"file_path": "internal/auth/session.go"}, "ok", "")
	}
	tool(22, "Bash", map[string]any{"command": "go test ./internal/auth"}, "ok  internal/auth  2.118s", "")
	tool(18, "acquire_lock", map[string]any{"file_path": "db:migration-slot"}, map[string]any{"success": true, "waited_ms": 112000}, "")
	tool(17, "Write", map[string]any{"file_path": "db/migrations/0042_token_rotation.sql"}, "ok", "")
	tool(15, "submit_changes", map[string]any{"branch": "arden/tokens"}, map[string]any{"state": "verifying"}, "")
	say(12, client.SessionEvent{EventType: "message", Role: "assistant", Content: text("Tiers 0, 1 and 3 passed. A reviewer has to look at internal/auth; I wait.")})
}

// spend: what the agents used in a fortnight, a budget that is nearly full, somebody on hold, a command that waits for a person.
func (a *atlas) spend() {
	ctx, boss := a.t.Context(), a.as("planner", "claude-code")
	var reports []client.UsageReport
	for day := range 14 {
		for i, x := range atlasAgents {
			usd := 0.2 + float64((i*7+day*5)%11)/8
			if (i+day)%3 != 0 || x.task == "" {
				continue
			}
			reports = append(reports, client.UsageReport{
				Key: fmt.Sprintf("%s-%d", x.name, day), At: time.Now().UTC().Add(-time.Duration(day*24) * time.Hour).Format(time.RFC3339), Model: x.kind, Agent: x.name, TaskID: a.tasks[x.task],
				InputTokens: int64(usd * 90_000), OutputTokens: int64(usd * 12_000), CacheReadTokens: int64(usd * 400_000), CostUSD: &usd, Source: "hook",
			})
		}
	}
	_, err := boss.SetBudget(ctx, client.SetBudget{Name: "project", Period: "day", LimitUSD: 9, WarnPercent: 60})
	a.must(err)
	_, err = boss.ReportUsage(ctx, client.ReportUsage{Reports: reports})
	a.must(err)
	_, err = boss.PauseAgent(ctx, client.HoldAgent{Agent: "cursor-yew", Reason: "review its last change first"})
	a.must(err)
	_, err = a.as("codex-hazel", "codex").CheckGuardrail(ctx, client.CheckGuardrail{Rules: []string{"force-push-protected"}, Command: "git push --force origin release/0.9", Why: "rewrites what others have pulled", Tool: "Bash"})
	a.must(err)
}
