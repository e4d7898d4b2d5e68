// The client of Agent Coordinator's HTTP API, over fetch alone.
//
// A lost race (a path is held, no work is waiting) is an answer with success false. A failure is a CoordinatorError; its
// code is stable, and "unavailable" means "cannot tell", never "nothing there". Changes carry an Idempotency-Key, the
// same for all tries, so each happens once however often it is sent.
import { operations } from "./operations.js";

const CODES = { 401: "unauthenticated", 403: "forbidden", 404: "not_found", 409: "conflict", 410: "lease_lost", 413: "too_large", 429: "exhausted", 502: "unavailable", 503: "unavailable", 504: "unavailable" };

/** A failure that the service answered, or a service that cannot be reached. */
export class CoordinatorError extends Error {
  constructor(problem) {
    const what = problem.what || problem.title || "the call failed";
    super(problem.code + ": " + what + (problem.why ? ` (${problem.why})` : "") + (problem.next ? "; " + problem.next : ""));
    this.name = "CoordinatorError";
    this.code = problem.code || "internal";
    this.status = problem.status || 500;
    this.what = what;
    this.why = problem.why || "";
    this.next = problem.next || "";
    this.field = problem.field || "";
    this.retryable = Boolean(problem.retryable);
    this.retryAfter = problem.retry_after || 0;
    this.requestId = problem.request_id || "";
  }
}

/** Others hold the path; result names them. */
export class LockRefused extends Error {
  constructor(result) {
    super(`${result.file_path} is locked by ${result.locked_by} until ${result.expires_at}`);
    this.name = "LockRefused";
    this.result = result;
  }
}

/** A lock or a task was lost: whoever works under it must stop writing. It is the reason of the AbortSignal. */
export class LeaseLost extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = "LeaseLost";
  }
}

/** Thrown by a worker's function: the task failed for good and is not tried again. */
export class Failed extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = "Failed";
  }
}

const sleep = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done, { once: true });
  });

/** Calls the service at url. One method for every operation, see types.d.ts. */
export class AgentCoordinationClient {
  #url;
  #headers;
  #retries;

  constructor(url, apiKey = "", { agentId, agentType, sessionId, project, repository, retries = 3 } = {}) {
    const parsed = new URL(url);
    if (parsed.protocol !== "http:" && parsed.protocol !== "https:") throw new TypeError(`the service's address ${url} is not like http://127.0.0.1:8765`);
    this.#url = url.replace(/\/+$/, "");
    this.#retries = Math.max(retries, 0);
    this.#headers = { Accept: "application/json" };
    for (const [name, value] of [["X-Api-Key", apiKey], ["X-Agent-Id", agentId], ["X-Agent-Type", agentType], ["X-Session-Id", sessionId], ["X-Project", project], ["X-Repository", repository]]) {
      if (value) this.#headers[name] = value;
    }
  }

  /** Does one operation; the generated methods call it. */
  async call(method, path, hasBody, members = {}, { requestKey, signal, timeout = 30_000 } = {}) {
    const key = requestKey || crypto.randomUUID();
    const left = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
    const limit = timeout + 1000 * (left.wait_seconds || 0);
    const target = path.replace(/\{(\+?)(\w+)\}/g, (_, keep, name) => {
      const value = left[name];
      if (value === undefined || value === "") throw new TypeError(name + " is needed");
      delete left[name];
      const escaped = encodeURIComponent(value);
      return keep ? escaped.replaceAll("%2F", "/") : escaped;
    });
    let query = "";
    let body;
    if (hasBody) {
      body = JSON.stringify(Object.keys(left).length ? left : { request_key: key }); // an empty body is taken for a probe
    } else if (Object.keys(left).length) {
      query = "?" + new URLSearchParams(Object.entries(left).map(([n, v]) => [n, typeof v === "string" ? v : JSON.stringify(v)]));
    }
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#send(method, target + query, body, key, limit, signal);
      } catch (err) {
        if (signal?.aborted || attempt >= this.#retries || !(err instanceof CoordinatorError) || !(err.retryable || err.status >= 500)) throw err;
        const pause = Math.min(100 * 2 ** attempt, 5000) * (0.5 + Math.random() / 2);
        await sleep(Math.max(pause, 1000 * Math.min(err.retryAfter, 30)), signal);
      }
    }
  }

  async #send(method, target, body, key, limit, signal) {
    const headers = { ...this.#headers };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (method !== "GET") headers["Idempotency-Key"] = key;
    const timer = AbortSignal.timeout(limit);
    let reply, text;
    try {
      // Redirects would carry the key to another host.
      reply = await fetch(this.#url + target, { method, headers, body, redirect: "manual", signal: signal ? AbortSignal.any([signal, timer]) : timer });
      text = await reply.text();
    } catch (err) {
      if (signal?.aborted) throw signal.reason;
      throw new CoordinatorError({
        code: "unavailable", status: 503, what: "the service cannot be reached", why: String(err.cause?.message || err.message), retryable: true,
        next: "check that it runs (coordctl status) and try again; this does not mean that there is nothing",
      });
    }
    let value;
    try {
      value = text ? JSON.parse(text) : {};
    } catch {
      value = undefined;
    }
    if (reply.ok && value !== undefined) return value;
    if (reply.ok) throw new CoordinatorError({ code: "internal", status: reply.status, what: "the reply is no JSON", next: "check that the address is that of the service" });
    if (value?.code) throw new CoordinatorError({ status: reply.status, ...value });
    const code = CODES[reply.status] || (reply.status >= 400 && reply.status < 500 ? "invalid" : "internal");
    throw new CoordinatorError({
      code, status: reply.status, what: `the service answered ${reply.status}`, retryable: code === "unavailable" || code === "exhausted",
      retry_after: Number(reply.headers.get("Retry-After")) || 0,
    });
  }

  /**
   * Takes the locks, runs fn, and gives them back. While fn runs they are renewed, every third of their TTL (ttl_minutes, 2
   * unless set). When they are lost, fn's signal is aborted with LeaseLost, and withLock throws it, whatever fn does.
   */
  async withLock(members, fn, { signal, leaseMs } = {}) {
    const asking = { ttl_minutes: 2, ...members };
    const asked = performance.now();
    const got = await this.acquireLock(asking, { signal });
    if (!got.success) throw new LockRefused(got);
    const { wait_seconds: _, ...again } = asking;
    const renew = async (signal) => {
      const now = await this.acquireLock(again, { signal });
      if (!now.success || now.fencing_token !== got.fencing_token || JSON.stringify(now.locks) !== JSON.stringify(got.locks)) throw new LeaseLost(`the lock on ${got.file_path} was lost`);
    };
    try {
      return await keep(signal, asked + (got.waited_ms || 0), leaseMs || asking.ttl_minutes * 60_000, renew, (signal) =>
        fn({ signal, filePath: got.file_path, fencingToken: got.fencing_token, locks: got.locks || [] }));
    } finally {
      if (got.action !== "refreshed") {
        const { file_path, file_paths, branch } = asking;
        await this.releaseLock({ file_path, file_paths, branch }).catch(() => {}); // it ends by itself
      }
    }
  }
}

for (const [name, [method, path, hasBody]] of Object.entries(operations)) {
  AgentCoordinationClient.prototype[name] = function (members, options) {
    return this.call(method, path, hasBody, members, options);
  };
}

// keep runs fn while renew, every third of lease milliseconds, keeps the lease that began at the given time.
async function keep(outer, began, lease, renew, fn) {
  const ended = new AbortController(); // ends the renewals
  const lost = new AbortController();
  const renewals = (async () => {
    for (;;) {
      await sleep(lease / 3, ended.signal);
      if (ended.signal.aborted) return;
      const asked = performance.now();
      try {
        await renew(ended.signal);
        began = asked;
      } catch (err) {
        if (ended.signal.aborted) return;
        if (err instanceof LeaseLost) return lost.abort(err);
        if (err.code === "lease_lost" || performance.now() > began + lease) return lost.abort(new LeaseLost("the lease was lost", { cause: err }));
      }
    }
  })();
  try {
    return await fn(outer ? AbortSignal.any([outer, lost.signal]) : lost.signal);
  } finally {
    ended.abort();
    await renewals;
    if (lost.signal.aborted) throw lost.signal.reason; // whatever fn did
  }
}

/** Takes tasks and does them, one at a time, until its signal is aborted. */
export class Worker {
  constructor(client, work, { taskTypes, tags, leaseSeconds = 300, drainSeconds = 30, leaseMs, onError = () => {} } = {}) {
    Object.assign(this, { client, work, taskTypes, tags, leaseSeconds, drainSeconds, leaseMs: leaseMs || leaseSeconds * 1000, onError });
  }

  /** Works until signal is aborted; the task under way may go on for drainSeconds, then it is given back. */
  async run({ signal } = {}) {
    while (!signal?.aborted) {
      let got;
      try {
        got = await this.client.getWork({ task_types: this.taskTypes, tags: this.tags, wait_seconds: 20, lease_seconds: Math.max(this.leaseSeconds, 10) }, { signal });
      } catch (err) {
        if (signal?.aborted) return; // a claim that was granted at this very moment ends with its lease
        this.onError("", err);
        if (!(err instanceof CoordinatorError) || !(err.retryable || err.status >= 500)) throw err;
        await sleep(1000, signal);
        continue;
      }
      if (got.success && got.task_id) await this.#one(got, signal);
    }
  }

  async #one(task, stopping) {
    const { task_id, lease_token } = task;
    const stopped = new AbortController();
    let drain;
    const begin = () => { drain = setTimeout(() => stopped.abort(new Error("the worker stops")), 1000 * this.drainSeconds); };
    if (stopping?.aborted) begin();
    else stopping?.addEventListener("abort", begin, { once: true });
    const renew = async (signal) => {
      const out = await this.client.heartbeatWork({ task_id, lease_token }, { signal });
      if (!out.success) throw new LeaseLost(out.why || `task ${task_id} was lost`);
    };
    try {
      let result, failure;
      try {
        result = await keep(stopped.signal, performance.now(), this.leaseMs, renew, (signal) => this.work(task, { signal }));
      } catch (err) {
        failure = err;
      }
      if (failure instanceof LeaseLost) return this.onError(task_id, failure); // it is somebody else's now
      if (failure === undefined) await this.client.completeWork({ task_id, success: true, result: result || {}, lease_token });
      else if (stopped.signal.aborted) await this.client.releaseWork({ task_id, reason: "the worker stops", lease_token });
      else {
        this.onError(task_id, failure);
        await this.client.completeWork({ task_id, success: false, error_message: String(failure?.message || failure), retryable: !(failure instanceof Failed), lease_token });
      }
    } catch (err) {
      this.onError(task_id, err);
    } finally {
      clearTimeout(drain);
      stopping?.removeEventListener("abort", begin);
    }
  }
}
