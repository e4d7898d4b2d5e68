// Run against a real service: COORDINATION_API_URL and COORDINATION_API_KEY name it.
import assert from "node:assert/strict";
import test from "node:test";
import { AgentCoordinationClient, CoordinatorError, Failed, LeaseLost, LockRefused, Worker } from "../index.js";

const { COORDINATION_API_URL: url, COORDINATION_API_KEY: key } = process.env;
const project = "node-" + crypto.randomUUID().slice(0, 8);
const agent = (name) => new AgentCoordinationClient(url, key, { agentId: name, sessionId: name, project });
const code = (want) => (err) => err instanceof CoordinatorError && err.code === want;

test("calls", async () => {
  const ana = agent("ana"), bob = agent("bob");
  assert.equal((await ana.whoami()).agent_id, "ana");
  assert.ok((await ana.acquireLock({ file_path: "dir/a b&?.ts" })).success);
  assert.ok((await bob.lockStatus({ file_path: "dir/a b&?.ts" })).locked);
  assert.equal((await bob.acquireLock({ file_path: "dir/" })).success, false);
  const sent = await bob.sendMessage({ to: ["ana"], text: "hello" }, { requestKey: "one" });
  assert.equal((await bob.sendMessage({ to: ["ana"], text: "hello" }, { requestKey: "one" })).message_id, sent.message_id);
  assert.deepEqual((await ana.listMessages()).messages.map((m) => m.from), ["bob"]);
  assert.ok((await ana.releaseLock({ all: true })).success);
  await assert.rejects(ana.acquireLock({ file_path: "../outside" }), code("invalid"));
  await assert.rejects(new AgentCoordinationClient(url, "wrong").whoami(), code("unauthenticated"));
  await assert.rejects(new AgentCoordinationClient("http://127.0.0.1:1", "", { retries: 1 }).whoami(), code("unavailable"));
  await assert.rejects(ana.getWork({ task_types: ["none"], wait_seconds: 20 }, { signal: AbortSignal.timeout(200) }), { name: "TimeoutError" });
  assert.throws(() => new AgentCoordinationClient("localhost"));
});

test("limits are waited out", async () => {
  const { secret } = await agent("boss").createKey({ name: "limited " + project, rate_limit: 1 }); // ten at once, then one a second
  const limited = new AgentCoordinationClient(url, secret);
  const began = performance.now();
  for (let i = 0; i < 12; i++) await limited.listProjects();
  assert.ok(performance.now() - began > 900);
  const hasty = new AgentCoordinationClient(url, secret, { retries: 0 });
  await assert.rejects(async () => { for (let i = 0; i < 3; i++) await hasty.listProjects(); }, (err) => code("exhausted")(err) && err.status === 429 && err.retryAfter === 1);
});

test("locks", async () => {
  const ana = agent("ann"), bob = agent("ben");
  const got = await ana.withLock({ file_path: "x.ts" }, async ({ fencingToken, signal }) => {
    assert.ok(fencingToken);
    await assert.rejects(bob.withLock({ file_path: "x.ts" }, () => assert.fail("both hold it")), (err) => err instanceof LockRefused && err.result.locked_by === "ann");
    await new Promise((resolve) => setTimeout(resolve, 1200)); // some renewals
    assert.equal(signal.aborted, false);
    return 7;
  }, { leaseMs: 1500 });
  assert.equal(got, 7);
  await bob.withLock({ file_paths: ["x.ts", "y/"] }, ({ locks }) => assert.equal(locks.length, 2));
  await assert.rejects(ana.withLock({ file_path: "x.ts" }, async ({ signal }) => {
    await ana.releaseLock({ file_path: "x.ts" }); // as if it had expired
    await bob.acquireLock({ file_path: "x.ts" });
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    assert.ok(signal.reason instanceof LeaseLost);
  }, { leaseMs: 1500 }), LeaseLost);
  await bob.releaseLock({ all: true });
});

test("worker", async () => {
  const c = agent("worker");
  const ids = {};
  for (const kind of ["good", "bad", "slow"]) ids[kind] = (await c.submitWork({ task_type: kind, description: kind, max_attempts: 1 })).task_id;
  const stop = new AbortController();
  const errors = [];
  const worker = new Worker(c, async (task, { signal }) => {
    if (task.task_type === "bad") throw new Failed("cannot be done");
    if (task.task_type === "slow") {
      stop.abort();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      throw signal.reason;
    }
    return { did: task.description };
  }, { drainSeconds: 0.1, onError: (id) => errors.push(id) });
  await worker.run({ signal: stop.signal });
  const state = async (kind) => (await c.getTask({ task_id: ids[kind] })).task;
  assert.deepEqual([(await state("good")).status, (await state("good")).result], ["completed", { did: "good" }]);
  assert.deepEqual([(await state("bad")).status, (await state("bad")).error_message], ["failed", "cannot be done"]);
  assert.match((await state("slow")).error_message, /the worker stops/);
  assert.deepEqual(errors, [ids.bad]);
});
