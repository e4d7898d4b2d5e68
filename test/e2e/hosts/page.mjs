// Drives the supervisor's page in Chromium, in the told project and in the crowded one: every view, light and dark, wide
// and narrow; axe, overflow, errors of the console, time to the first view; then the command bar, folders of the lock map,
// and every kind of act from its button to its effect, with the time each interaction took. Prints one JSON document.
import { chromium } from 'playwright-core';
import { AxeBuilder } from '@axe-core/playwright';

const [, , link, told] = process.argv; // told: the project of the story; the crowd is in the project default
const base = new URL(link).origin;
const out = { views: [], console: [], took: {}, server: {}, acts: [], failed: [] };
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await (await browser.newContext()).newPage();
page.setDefaultTimeout(15000);
// Chromium reports every reply of 400 and up, and every request that fails. Those that this script provokes are announced
// by address and status in provoked, and counted; all others are findings.
const provoked = new Map();
const expect = (path, what) => provoked.set(path + ' ' + what, 0);
page.on('console', m => {
  if (m.type() !== 'error') { return; }
  const path = m.location().url ? new URL(m.location().url).pathname : '';
  const what = m.text().match(/status of (\d+)|net::(ERR_\w+)/);
  const key = path + ' ' + (what ? what[1] || what[2] : '');
  if (provoked.has(key)) { provoked.set(key, provoked.get(key) + 1); } else { out.console.push(`${path}: ${m.text()}`); }
});
page.on('pageerror', e => out.console.push(e.message));
await page.goto(link);
await page.waitForURL('**/ui/');

// --- every view ---
const lists = ['/ui/', '/ui/fleet', '/ui/locks', '/ui/board', '/ui/board?as=graph', '/ui/board?as=list', '/ui/sessions', '/ui/changes', '/ui/inbox', '/ui/memory', '/ui/runners', '/ui/audit', '/ui/cost'];
const story = ['/ui/', '/ui/?show=snoozed', '/ui/fleet', '/ui/fleet?as=table', '/ui/agents/claude-fern', '/ui/locks', '/ui/locks?as=flat', '/ui/board', '/ui/board?as=graph', '/ui/sessions', '/ui/sessions/ses_9c02e17af4b3', '/ui/sessions/ses_9c02e17af4b3?view=gantt',
  '/ui/sessions/ses_9c02e17af4b3?view=raw', '/ui/changes', '/ui/changes/01920000-0000-7000-8000-000000000000', '/ui/changes/01920000-0000-7000-8000-000000000001', '/ui/inbox', '/ui/memory?q=session+token+role+change', '/ui/runners', '/ui/audit', '/ui/cost'];
async function look(view, scheme, width, project, axe) {
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
  await page.setViewportSize({ width, height: 900 });
  const began = Date.now();
  await page.goto(base + view, { waitUntil: 'load' });
  const ms = Date.now() - began;
  const server = await page.evaluate(() => Math.round(performance.getEntriesByType('navigation')[0].serverTiming.find(t => t.name === 'all')?.duration ?? -1));
  const found = axe ? (await new AxeBuilder({ page }).analyze()).violations.filter(v => ['serious', 'critical'].includes(v.impact)) : [];
  out.views.push({
    view, scheme, width, ms, server, project, title: await page.title(),
    overflow: await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1),
    serious: found.map(v => `${v.id}: ${v.nodes[0].target} ${v.nodes[0].failureSummary.split('\n')[1] || ''}`),
  });
}
await page.goto(base + '/ui/?project=default');
for (const view of lists) { await look(view, 'light', 1440, 'default', false); await look(view, 'dark', 390, 'default', false); }
await page.goto(base + '/ui/?project=' + told);
for (const view of story) {
  for (const [scheme, width] of [['light', 1440], ['dark', 1440], ['light', 390], ['dark', 390]]) { await look(view, scheme, width, told, (scheme === 'light') === (width === 1440)); }
}

// --- interactions, timed in the crowd ---
await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
await page.setViewportSize({ width: 1440, height: 900 });
// Time from the input to the change that it is for, as the page sees it; beside it what the service says it took of that.
let told_by_server = '';
page.on('response', r => { const t = r.headers()['server-timing']; if (t) { told_by_server = t; } });
async function timed(name, act, done) {
  told_by_server = '';
  const began = Date.now();
  await act();
  await done();
  (out.took[name] ??= []).push(Date.now() - began);
  out.server[name] = told_by_server;
}
const seen = (f, arg) => page.waitForFunction(f, arg, { polling: 10 });
await page.goto(base + '/ui/?project=default');
await page.goto(base + '/ui/locks');
for (let i = 0; i < 5; i++) {
  const folder = page.locator('tr[aria-expanded="false"] a[data-item]').first();
  const before = await page.locator('tbody tr').count();
  await timed('open a folder', () => folder.click(), () => seen(n => document.querySelectorAll('tbody tr').length > n, before));
}
for (let i = 0; i < 5; i++) {
  await timed('go to the board', () => page.keyboard.press('g').then(() => page.keyboard.press('b')), () => seen(() => document.title.includes('ready')));
  await timed('go to the locks', () => page.keyboard.press('g').then(() => page.keyboard.press('l')), () => seen(() => document.title.includes('locks')));
}
for (const word of ['m3/f7.go', 'm20/f8.go', 'm40/f7.go']) {
  await timed('open the command bar', () => page.keyboard.press('Control+k'), () => page.locator('#palette [role=option]').first().waitFor());
  await timed('find', () => page.keyboard.insertText(word), () => seen(w => document.querySelector('#palette [role=option]')?.innerText.includes(w), word));
  await page.keyboard.press('Enter');
  await page.locator(`article[aria-label="Selected lock"]:has-text("${word}") .act`).waitFor();
}
await page.locator('article[aria-label="Selected lock"] .act').waitFor();
await timed('a dialog', () => page.keyboard.press('f'), () => page.locator('dialog[open] .effects li').first().waitFor());
await page.keyboard.press('Escape');

// --- acts, in the story ---
await page.goto(base + '/ui/?project=' + told);
// act opens a dialog by its button, fills it, does it, and expects a toast.
async function act(name, view, button, fill = {}) {
  try {
    await page.goto(base + view);
    await page.locator(button).first().click();
    const dialog = page.locator('dialog[open]:has(form)');
    await dialog.waitFor();
    const serious = (await new AxeBuilder({ page }).include('dialog[open]').analyze()).violations.filter(v => ['serious', 'critical'].includes(v.impact)).map(v => v.id);
    if (fill.stays) { // without a reason the browser refuses, with blanks for a reason the service does
      await dialog.locator('button.primary').click();
      if (!await dialog.isVisible()) { out.failed.push(name + ': the dialog did not stay without a reason'); }
      expect(await dialog.locator('form').getAttribute('action'), '422');
      await dialog.locator('textarea').fill('   ');
      await dialog.locator('button.primary').click();
      await dialog.locator('[role=alert]:has-text("A reason is needed")').waitFor();
    }
    for (const [field, value] of Object.entries(fill.fields || {})) { const f = dialog.locator(`[name=${field}]`); if (await f.evaluate(x => x.tagName) === 'SELECT') { await f.selectOption(value); } else { await f.fill(value); } }
    if (fill.reason) { await dialog.locator('textarea').fill(fill.reason); }
    const began = Date.now();
    await dialog.locator('button.primary').click();
    await page.locator('.toast.is-ok').last().waitFor();
    out.acts.push({ name, ms: Date.now() - began, toast: (await page.locator('.toast.is-ok').last().innerText()).trim(), serious });
  } catch (e) { out.failed.push(`${name}: ${e.message.split('\n')[0]} ${await page.locator('dialog[open] [role=alert]').allInnerTexts().catch(() => '')}`); }
}
const dialog = name => `a[href*="/ui/dialog/${name}?"], a[href$="/ui/dialog/${name}"]`;
await act('snooze', '/ui/', dialog('snooze'), { fields: { for: '15 minutes' } });
await act('unsnooze', '/ui/?show=snoozed', dialog('unsnooze'));
await page.goto(base + '/ui/');
await act('let a command through', await page.locator('a[data-item]:has-text("git push --force")').getAttribute('href'), dialog('approve-act'));
await act('message', '/ui/agents/claude-fern', dialog('message'), { reason: 'Free router.go soon.' });
await act('nudge', '/ui/agents/claude-fern', dialog('nudge'));
await act('pause', '/ui/agents/claude-fern', dialog('pause'), { reason: 'a word first', stays: true });
await act('resume', '/ui/agents/claude-fern', dialog('resume'));
await act('drain', '/ui/agents/claude-kite', dialog('drain'), { reason: 'its host goes down' });
await act('end the drain', '/ui/agents/claude-kite', dialog('undrain'));
await act('hand over', '/ui/agents/gemini-wren', dialog('hand-over'), { reason: 'the preview is half done', fields: { to: 'claude-vale' } });
await page.goto(base + '/ui/locks?q=live.ts'); // a lock that lasts longer than this test
await page.locator('a[data-item]:has-text("live.ts")').first().click();
await page.locator('article[aria-label="Selected lock"] .act').waitFor();
const selected = new URL(page.url());
await act('force release', selected.pathname + selected.search, dialog('release-lock'), { reason: 'the holder is gone', stays: true });
// What comes too late says so and changes nothing: while the dialog is open, somebody else takes the lock away.
try {
  await page.goto(base + '/ui/locks?q=client.ts');
  await page.locator('a[data-item]:has-text("client.ts")').first().click();
  await page.locator('article[aria-label="Selected lock"] .act').waitFor();
  await page.locator(dialog('release-lock')).first().click();
  const form = page.locator('dialog[open] form');
  await form.waitFor();
  const id = await form.locator('[name=id]').inputValue();
  const other = await page.context().request.post(base + '/ui/act/release-lock', { headers: { Origin: base }, form: { id, reason: 'somebody was quicker' } });
  if (!other.ok()) { out.failed.push('too late: the other release: ' + other.status() + ' ' + await other.text()); }
  expect('/ui/act/release-lock', '409');
  await form.locator('textarea').fill('it is needed');
  await form.locator('button.primary').click();
  await page.locator('dialog[open] [role=alert]').waitFor();
  out.late = (await page.locator('dialog[open] [role=alert]').innerText()).trim();
  await page.keyboard.press('Escape');
} catch (e) { out.failed.push('too late: ' + e.message.split('\n')[0]); }
await act('release all', '/ui/agents/cursor-quill', dialog('release-all'), { reason: 'it is stuck' });
await act('new task', '/ui/board', dialog('new-task'), { reason: 'measure it again', fields: { task_type: 'measure', priority: '1' } });
await act('answer', '/ui/inbox', dialog('reply'), { reason: 'Yes, drop it.' });
await act('forget', '/ui/memory?q=migration', dialog('forget'));
await act('write a memory', '/ui/memory', dialog('remember'), { reason: 'the page is driven by Chromium' });
await act('drain a runner', '/ui/runners', dialog('drain-runner'));
await act('end a runner\'s drain', '/ui/runners', dialog('undrain-runner'));
await act('start a run', '/ui/sessions', dialog('start-run'), { reason: 'say hello' });
await act('stop a session', '/ui/sessions/ses_a01c77e40b9d', dialog('stop-session'));
await act('set a budget', '/ui/cost', dialog('set-budget'), { fields: { name: 'project', usd: '40' } });
await act('approve', '/ui/changes/01920000-0000-7000-8000-000000000000', dialog('approve'));
await act('decide by hand', '/ui/changes/01920000-0000-7000-8000-000000000001', dialog('override'), { reason: 'the two tests are known to be wrong' });

// step is one thing that is tried; what fails in it does not end the others.
async function step(name, f) {
  try { await f(); } catch (e) { out.failed.push(`${name}: ${e.message.split('\n')[0]}`); }
}

// Several at once: two ready tasks get another priority, with the keyboard.
await step('several at once', async () => {
  await page.goto(base + '/ui/board?as=list&state=ready');
  for (const i of [0, 1]) { await page.locator('tbody input[type=checkbox]').nth(i).check(); }
  await page.locator('[data-act=prioritise]').click();
  await page.locator('dialog[open] [name=priority]').fill('2');
  await page.keyboard.press('Control+Enter');
  await page.locator('.toast.is-ok').last().waitFor();
  out.acts.push({ name: 'several at once', ms: 0, toast: (await page.locator('.toast.is-ok').last().innerText()).trim(), serious: [] });
});

// Keys move in the list and the pane follows; nothing is typed into fields.
await step('keys', async () => {
  await page.goto(base + '/ui/');
  const first = await page.locator('article[aria-label="Selected item"] h2').innerText();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.waitForFunction(was => document.querySelector('article[aria-label="Selected item"] h2')?.innerText !== was, first);
  out.follows = new URL(page.url()).searchParams.has('item');
  await page.keyboard.press('?');
  out.keys = await page.locator('#keys[open]').isVisible();
  await page.keyboard.press('Escape');
});

// Back goes back.
await step('back', async () => {
  await page.goto(base + '/ui/locks');
  await page.goto(base + '/ui/fleet');
  await page.locator('#nav a[href="/ui/board"]').click();
  await page.waitForFunction(() => location.pathname === '/ui/board');
  await page.goBack();
  await page.waitForFunction(() => location.pathname === '/ui/fleet' && document.querySelector('h1').innerText.includes('agents'));
  out.back = true;
});

// The stream breaks: the page says since when, and nothing can be pressed, also after a try that fails; then it comes
// back by itself.
await step('the stream', async () => {
  expect('/ui/live', 'ERR_FAILED');
  await page.route('**/ui/live', r => r.abort());
  await page.reload();
  await page.locator('#banner:not([hidden])').waitFor();
  await page.locator('#try').click();
  out.stale = await page.locator('#banner:not([hidden])').innerText();
  await page.unroute('**/ui/live');
  await page.locator('#banner').waitFor({ state: 'hidden' });
  out.back_live = true;
});
for (const [what, times] of provoked) { if (!times) { out.failed.push('expected, but not seen: ' + what); } }
console.log(JSON.stringify(out));
await browser.close();
