// The official TypeScript SDK against our stdio server: contention, progress, cancellation. Prints one JSON report.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const onerror = [];
async function connect(agent) {
  const client = new Client({ name: 'sequence', version: '1' });
  client.onerror = (e) => onerror.push(`${agent}: ${e.message}`);
  await client.connect(new StdioClientTransport({
    command: process.env.MCP_SERVER,
    env: { ...process.env, AGENT_ID: agent, SESSION_ID: `ses-${agent}`, COORD_PROJECT: 'default' },
    stderr: 'inherit',
  }));
  return client;
}
const call = async (client, name, args, options) => {
  const res = await client.callTool({ name, arguments: args }, undefined, options);
  if (res.isError) throw new Error(`${name}: ${JSON.stringify(res.content)}`);
  return res.structuredContent;
};

const a = await connect('ts-a');
const b = await connect('ts-b');
const tools = (await a.listTools()).tools.length;
await call(a, 'acquire_lock', { file_path: 'seq.go' });
const blocked = await call(b, 'acquire_lock', { file_path: 'seq.go' });
if (blocked.success !== false || blocked.locked_by !== 'ts-a') throw new Error(`not blocked: ${JSON.stringify(blocked)}`);

// A wait of three seconds shows progress, then is refused.
let progress = 0;
const waited = await call(b, 'acquire_lock', { file_path: 'seq.go', wait_seconds: 3 }, { onprogress: () => progress++ });
if (waited.success !== false) throw new Error(`got a held lock: ${JSON.stringify(waited)}`);

// A cancelled wait leaves the queue: when the holder releases, the next one is served at once.
const abort = new AbortController();
const cancelled = call(b, 'acquire_lock', { file_path: 'seq.go', wait_seconds: 50 }, { signal: abort.signal })
  .then(() => false, () => true);
await new Promise((r) => setTimeout(r, 300));
abort.abort('no longer wanted');
const wasCancelled = await cancelled;
await call(a, 'release_lock', { file_path: 'seq.go' });
const c = await call(a, 'acquire_lock', { file_path: 'seq.go' });
await call(a, 'release_lock', { file_path: 'seq.go' });

const times = [];
for (let i = 0; i < 300; i++) {
  const t = performance.now();
  await call(a, 'check_locks', {});
  times.push(performance.now() - t);
}
times.sort((x, y) => x - y);
await a.close();
await b.close();
console.log(JSON.stringify({
  onerror, progress, cancelled: wasCancelled, place_freed: c.success === true, tools,
  check_locks_p50_ms: times[150], check_locks_p99_ms: times[297],
}));
