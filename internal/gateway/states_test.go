package gateway

import (
	"context"
	"encoding/json"
	"flag"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// playSQL makes the machine under test observable: whatever happens in whatever order, the rows must bear out what the
// changesets say. play runs a list of events on a project that it leaves empty; what the functions refuse is part of the game.
const playSQL = `
create or replace function coord.now() returns timestamptz language sql volatile parallel safe
as $$ select pg_catalog.clock_timestamp() + (coalesce(nullif(pg_catalog.current_setting('test.jump', true), ''), '0') || ' seconds')::interval $$;

-- passed, unless a person said so, rests on every required run having succeeded at that head, and on every approval asked
-- for having been given for that head by enough people who had no part in it.
create function public.assert_passed() returns trigger language plpgsql as $$
declare v_bad text; v_required int; v_asked int;
begin
  if new.state <> 'passed' or new.override is not null then return null; end if;
  if new.draft and (tg_op = 'INSERT' or old.state <> 'passed') then raise exception 'BROKEN: a draft passed'; end if;
  select pg_catalog.string_agg(r.policy_name || ' ' || r.attempt || ' ' || r.status || ' ' || coalesce(r.conclusion, ''), '; ') filter (where r.required and (r.conclusion is distinct from 'success' or r.head_sha <> new.head_sha)),
      count(*) filter (where r.required) into v_bad, v_required from (
    select distinct on (x.policy_name) x.* from public.verification_results x where x.changeset_id = new.id and x.route_version = new.route_version order by x.policy_name, x.attempt desc) r;
  if v_bad is not null then raise exception 'BROKEN: passed with %', v_bad; end if;
  select pg_catalog.string_agg(a.policy_name || ' ' || a.status, '; ') filter (where a.status <> 'approved' or a.head_sha <> new.head_sha or a.required_count > (
      select count(*) from public.approval_votes v where v.approval_id = a.id and v.vote = 'approve' and v.head_sha = new.head_sha
        and v.voter <> coalesce(new.actor_login, '') and not v.voter = any (new.contributors))), count(*) into v_bad, v_asked
    from public.approval_queue a where a.changeset_id = new.id and a.route_version = new.route_version;
  if v_bad is not null then raise exception 'BROKEN: passed with approval %', v_bad; end if;
  if v_required = 0 and v_asked = 0 and (new.file_count > 0 or new.files_truncated) then raise exception 'BROKEN: passed with nothing verified'; end if;
  return null;
end $$;
create trigger assert_passed after insert or update on public.changesets for each row execute function public.assert_passed();

-- A run only goes forward, and what it ended as stays. A decided changeset changes only when somebody asks for it.
create function public.assert_run() returns trigger language plpgsql as $$
begin
  if coord.run_rank(new.status) < coord.run_rank(old.status) and not (old.status = 'queued' and new.status = 'pending') or old.conclusion is not null and new.conclusion is distinct from old.conclusion
      or new.head_sha <> old.head_sha then
    raise exception 'BROKEN: run went from % % to % %', old.status, old.conclusion, new.status, new.conclusion;
  end if;
  return null;
end $$;
create trigger assert_run after update on public.verification_results for each row execute function public.assert_run();
create function public.assert_final() returns trigger language plpgsql as $$
begin
  if coord.changeset_final(old.state) and new.state <> old.state and pg_catalog.current_setting('test.op') not in ('rerun', 'override', 'head', 'gone', 'route') then
    raise exception 'BROKEN: % turned % by %', old.state, new.state, pg_catalog.current_setting('test.op');
  end if;
  return null;
end $$;
create trigger assert_final after update on public.changesets for each row execute function public.assert_final();

create function public.check_all(p_project bigint) returns void language plpgsql as $$
declare v_x text;
begin
  select c.line into v_x from public.changesets c where c.project_id = p_project and not coord.changeset_final(c.state) group by c.line having count(*) > 1;
  if found then raise exception 'BROKEN: two live ladders on %', v_x; end if;
  select c.state || ' ' || r.policy_name || ' ' || r.status into v_x from public.changesets c join public.verification_results r on r.changeset_id = c.id
    where c.project_id = p_project and r.status <> 'completed' and (c.state in ('failed', 'error', 'superseded', 'cancelled') or c.state = 'passed' and r.required);
  if found then raise exception 'BROKEN: still runs: %', v_x; end if;
  select c.state into v_x from public.changesets c where c.project_id = p_project and c.state in ('passed', 'failed', 'error') and (
    select o.payload ->> 'state' from coord.gateway_outbox o where o.project_id = p_project and o.target = c.id::text order by o.id desc limit 1)
    is distinct from case c.state when 'passed' then 'success' when 'failed' then 'failure' else 'error' end;
  if found then raise exception 'BROKEN: nothing tells that it is %', v_x; end if;
end $$;

create function public.play(p_events jsonb) returns jsonb language plpgsql as $$
declare e jsonb; v_p bigint; v_repo text := 't.example/x/game'; v_c public.changesets; v_id uuid; v_a public.approval_queue; v_out jsonb; v_states jsonb;
  v_sha text[] := array[pg_catalog.repeat('a', 40), pg_catalog.repeat('b', 40), pg_catalog.repeat('c', 40)];
begin
  perform pg_catalog.set_config('test.jump', '0', true);
  v_p := coord.project_of_remote(v_repo);
  for e in select x from pg_catalog.jsonb_array_elements(p_events) x loop
    perform pg_catalog.set_config('test.op', e ->> 'op', true);
    v_c := null;
    select * into v_c from public.changesets c where c.project_id = v_p and case when (e ->> 'live')::boolean then not coord.changeset_final(c.state) else c.head_sha = v_sha[(e ->> 'h')::int] end order by c.seq desc limit 1;
    begin
      case e ->> 'op'
      when 'head' then
        perform coord.apply_head(v_p, pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('source', 'github', 'repository', v_repo, 'branch', 'b', 'default_branch', 'main', 'head_sha', v_sha[(e ->> 'h')::int],
          'before', v_sha[(e ->> 'before')::int], 'at', case when (e ->> 'at')::int > 0 then pg_catalog.to_timestamp((e ->> 'at')::int) end, 'actor', 'dev', 'contributors', '["carl"]'::jsonb, 'fork', false,
          'pr_number', case when (e ->> 'pr')::boolean then 7 end, 'base_ref', case when (e ->> 'pr')::boolean then e ->> 'base' end, 'draft', case when (e ->> 'pr')::boolean then e -> 'draft' end)));
      when 'gone' then
        perform coord.apply_gone(v_p, pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('source', case when (e ->> 'pr')::boolean then 'pull_request' else 'github' end, 'repository', v_repo, 'branch', 'b',
          'before', v_sha[(e ->> 'before')::int], 'pr_number', case when (e ->> 'pr')::boolean then 7 end, 'at', case when (e ->> 'at')::int > 0 then pg_catalog.to_timestamp((e ->> 'at')::int) end)));
      when 'route' then
        update public.changesets c set state = 'routing' where c.project_id = v_p and c.id = v_c.id and c.state = 'received';
        perform coord.store_route(v_p, v_c.id, v_c.route_version - case when (e ->> 'late')::boolean then 1 else 0 end, e -> 'in');
      when 'take' then
        perform coord.take_runs('o', '{"x": {"free": 9}}', 30, 60);
      when 'start', 'end' then
        select r.id into v_id from public.verification_results r where r.project_id = v_p and ((e ->> 'late')::boolean or r.status in ('dispatching', 'running')) order by r.created_at, r.id offset (e ->> 'r')::int limit 1;
        if e ->> 'op' = 'start' then
          perform coord.verification_started(v_p, v_id, 'x', null) from public.verification_results r where r.id = v_id and r.status not in ('pending', 'queued');
        else
          perform coord.verification_ended(v_p, v_id, pg_catalog.jsonb_build_object('conclusion', e ->> 'c')) from public.verification_results r where r.id = v_id and r.status not in ('pending', 'queued');
        end if;
      when 'vote' then
        perform coord.vote_from_forge(v_p, v_repo, coalesce(v_c.head_sha, v_sha[(e ->> 'h')::int]), e ->> 'who', e ->> 'may', '{}', 'github_review', e ->> 'vote', '');
      when 'ask' then
        select * into v_a from public.approval_queue a where a.project_id = v_p and a.changeset_id = v_c.id limit 1;
        perform coord.vote_approval(v_p, 'key:t', e ->> 'who', 'reviewer', v_a.id, e ->> 'vote', '', v_sha[(e ->> 'seen')::int]);
      when 'sweep' then
        perform pg_catalog.set_config('test.jump', (pg_catalog.current_setting('test.jump')::int + (e ->> 'jump')::int)::text, true);
        perform coord.sweep_changesets(50, 7200, 86400);
      when 'rerun' then perform coord.rerun_changeset(v_p, 'key:t', v_c.id, (e ->> 'tier')::int, '');
      when 'cancel' then perform coord.cancel_changeset(v_p, 'key:t', v_c.id, '');
      when 'override' then perform coord.override_changeset(v_p, 'key:t', e ->> 'who', v_c.id, 'passed', 'because');
      end case;
    exception when others then
      if sqlstate !~ '^PT4' then raise; end if;
    end;
    perform public.check_all(v_p);
  end loop;
  select coalesce(pg_catalog.jsonb_agg(c.state), '[]') into v_states from public.changesets c where c.project_id = v_p;
  delete from public.approval_votes where project_id = v_p; delete from public.approval_queue where project_id = v_p; delete from public.verification_results where project_id = v_p;
  delete from public.changeset_files where project_id = v_p; delete from public.changeset_events where project_id = v_p; delete from coord.gateway_outbox where project_id = v_p;
  delete from coord.line_heads where project_id = v_p; delete from coord.line_moves where project_id = v_p; delete from public.changesets where project_id = v_p;
  return v_states;
end $$;`

type anyMap = map[string]any

// draw makes one event.
func draw(t *rapid.T) anyMap {
	h, live := rapid.IntRange(1, 3).Draw(t, "h"), rapid.IntRange(0, 4).Draw(t, "live") > 0
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	yes := func(label string, oneIn int) bool { return rapid.IntRange(1, oneIn).Draw(t, label) == 1 }
	switch op := pick("op", "head", "head", "gone", "route", "route", "route", "route", "take", "take", "take", "start", "end", "end", "end", "end", "end", "end", "vote", "vote", "vote", "ask", "sweep", "rerun", "cancel", "override"); op {
	case "head":
		return anyMap{"op": op, "h": h, "before": rapid.IntRange(0, 3).Draw(t, "before"), "at": rapid.IntRange(0, 6).Draw(t, "at"), "pr": yes("pr", 2), "base": pick("base", "main", "main", "release"), "draft": yes("draft", 4)}
	case "gone":
		return anyMap{"op": op, "before": rapid.IntRange(0, 3).Draw(t, "before"), "at": rapid.IntRange(0, 6).Draw(t, "at"), "pr": yes("pr", 2)}
	case "route":
		return anyMap{"op": op, "h": h, "live": live, "late": yes("late", 8), "in": drawRoute(t)}
	case "take":
		return anyMap{"op": op}
	case "start", "end":
		return anyMap{
			"op": op, "r": rapid.IntRange(0, 4).Draw(t, "r"), "late": yes("late", 3),
			"c": pick("c", "success", "success", "success", "success", "success", "success", "success", "failure", "timed_out", "cancelled", "infra_error", "blocked"),
		}
	case "vote":
		return anyMap{"op": op, "h": h, "live": live, "who": pick("who", "rita", "sam", "dev", "carl"), "may": pick("may", "write", "write", "admin", "read"), "vote": pick("vote", "approve", "approve", "approve", "deny")}
	case "ask":
		return anyMap{"op": op, "h": h, "live": live, "seen": rapid.IntRange(1, 3).Draw(t, "seen"), "who": pick("who", "rita", "tom", "dev"), "vote": pick("vote", "approve", "approve", "deny")}
	case "sweep":
		return anyMap{"op": op, "jump": rapid.SampledFrom([]int{1, 100, 1000, 10_000, 100_000, 300_000}).Draw(t, "jump")}
	case "rerun":
		e := anyMap{"op": op, "h": h}
		if yes("tier", 2) {
			e["tier"] = rapid.IntRange(0, 3).Draw(t, "t")
		}
		return e
	case "override":
		return anyMap{"op": op, "h": h, "who": pick("who", "rita", "dev")}
	default:
		return anyMap{"op": op, "h": h}
	}
}

// drawRoute makes a routing: up to four policies, some advisory, some blocked, perhaps people.
func drawRoute(t *rapid.T) anyMap {
	files := []any{}
	if rapid.IntRange(0, 7).Draw(t, "files") > 0 {
		files = append(files, anyMap{"path": "a.go", "status": "modified", "additions": 1})
	}
	runs, tiers := []any{}, []any{}
	for i := range rapid.IntRange(0, 4).Draw(t, "policies") {
		step := anyMap{"policy": string(rune('p' + i)), "tier": min(i, 3), "executor": "x", "required": rapid.IntRange(0, 3).Draw(t, "required") > 0}
		if rapid.IntRange(0, 9).Draw(t, "blocked") == 0 {
			step["executor"], step["blocked"] = "", "no executor"
		}
		runs = append(runs, anyMap{"step": step, "policy": anyMap{"name": step["policy"], "timeout_seconds": 60, "retry_max": rapid.IntRange(0, 1).Draw(t, "retry")}})
		tiers = append(tiers, min(i, 3))
	}
	in := anyMap{"files": files, "truncated": rapid.IntRange(0, 9).Draw(t, "truncated") == 0, "decision": anyMap{"tiers": tiers, "plan": []any{}, "reasons": []any{}}, "trust_level": 2, "prior_failures": 0, "runs": runs, "contributors": []any{"carl"}}
	if rapid.IntRange(0, 2).Draw(t, "people") == 0 {
		in["approvals"] = []any{anyMap{"policy_name": "review", "reason": "r", "count": rapid.IntRange(1, 2).Draw(t, "count")}}
	}
	return in
}

// playOn checks random orders of events on one connection; seen counts the states that they ended in.
func playOn(t *testing.T, pool *pgxpool.Pool, seen map[string]int) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(draw), 10, 50).Draw(rt, "events")
		raw, err := json.Marshal(events)
		if err != nil {
			rt.Fatal(err)
		}
		var states []string
		if err := pool.QueryRow(context.Background(), `select public.play($1)`, raw).Scan(&states); err != nil {
			rt.Fatalf("%v\n%s", err, strings.ReplaceAll(string(raw), `},{"`, "},\n{\""))
		}
		for _, s := range states {
			seen[s]++
		}
	})
}

// TestNothingPassesFalsely plays random events in random orders, with duplicates, drops, late and foreign ones. The long
// form of this proof is in prove_test.go.
func TestNothingPassesFalsely(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, pgtest.MaxConns(1))
	if _, err := pool.Exec(context.Background(), playSQL); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	playOn(t, pool, seen)
	t.Logf("states in the end: %v", seen)
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue && seen["passed"] == 0 {
		t.Error("nothing ever passed: the game proves nothing")
	}
}
