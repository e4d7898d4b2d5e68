// Drives the supervisor's page in Chromium: every view, light and dark, wide and narrow; axe, overflow, errors of the
// console, time to the first view; then one act from the list to the toast. Prints one JSON document.
import { chromium } from 'playwright-core';
import { AxeBuilder } from '@axe-core/playwright';

const [, , link, lock] = process.argv;
const base = new URL(link).origin;
const views = ['/ui/', '/ui/fleet', '/ui/locks', '/ui/board', '/ui/sessions', '/ui/changes', '/ui/inbox', '/ui/memory?q=tests', '/ui/runners', '/ui/audit'];
const out = { views: [], console: [] };
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await (await browser.newContext()).newPage();
page.on('console', m => { if (m.type() === 'error') { out.console.push(m.text()); } });
page.on('pageerror', e => out.console.push(e.message));
await page.goto(link);
await page.waitForURL('**/ui/');

for (const scheme of ['light', 'dark']) {
  for (const width of [1440, 390]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    for (const view of views) {
      const began = Date.now();
      await page.goto(base + view, { waitUntil: 'load' });
      const ms = Date.now() - began;
      const axe = await new AxeBuilder({ page }).analyze();
      out.views.push({
        view, scheme, width, ms, title: await page.title(),
        overflow: await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1),
        serious: axe.violations.filter(v => ['serious', 'critical'].includes(v.impact)).map(v => `${v.id}: ${v.nodes[0].target}`),
      });
    }
  }
}

// An act: the lock is taken away from its holder, with a reason; without one the dialog stays.
await page.emulateMedia({ colorScheme: 'light' });
await page.setViewportSize({ width: 1440, height: 900 });
await page.goto(`${base}/ui/locks?q=${encodeURIComponent(lock)}`);
await page.locator('tbody a').first().click();
await page.locator('a.danger[data-dialog]').click();
await page.locator('dialog[open] textarea').waitFor();
await page.locator('dialog button.primary').click();
out.stays = await page.locator('dialog[open]').isVisible();
await page.locator('dialog textarea').fill('the holder is gone');
const began = Date.now();
await page.locator('dialog button.primary').click();
await page.locator('.toast').waitFor();
out.act = { ms: Date.now() - began, toast: await page.locator('.toast').innerText() };

// A key press moves on, and the page notices that the service is gone and is back.
await page.mouse.move(0, 0);
await page.keyboard.press('g');
await page.keyboard.press('b');
await page.waitForURL('**/ui/board');
out.keys = true;
console.log(JSON.stringify(out));
await browser.close();
