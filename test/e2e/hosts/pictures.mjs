// Takes the pictures of docs/images: node pictures.mjs LINK FOLDER. The project is the one that the key of the link is for.
import { chromium } from 'playwright-core';

const [, , link, folder] = process.argv;
const base = new URL(link).origin;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await (await browser.newContext({ deviceScaleFactor: 1 })).newPage();
await page.goto(link);
await page.waitForURL('**/ui/');

async function take(name, view, { width = 1440, height = 900, scheme = 'light', act } = {}) {
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
  await page.setViewportSize({ width, height });
  await page.goto(base + view, { waitUntil: 'load' });
  if (act) { await act(); }
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${folder}/${name}.png` });
}

const lock = async () => { await page.locator('a[data-item]:has-text("router.go")').first().click(); await page.locator('.waiters').waitFor(); };
await take('page', '/ui/locks', { act: lock });
await take('locks-dark', '/ui/locks', { scheme: 'dark', act: lock });
await take('needs', '/ui/');
await take('fleet', '/ui/fleet');
await take('board', '/ui/board');
await take('session', '/ui/sessions/ses_9c02e17af4b3?view=gantt');
await take('change-dark', '/ui/changes/01920000-0000-7000-8000-000000000000', { scheme: 'dark' });
await take('memory', '/ui/memory?q=session+token+role+change');
await take('phone', '/ui/', { width: 390, height: 844 });
await take('phone-dark', '/ui/fleet', { width: 390, height: 844, scheme: 'dark' });
await take('command', '/ui/fleet', { act: async () => { await page.keyboard.press('Control+k'); await page.keyboard.type('release'); await page.locator('[role=option]:has-text("Release all locks")').first().waitFor(); } });
await take('dialog', '/ui/locks', { act: async () => { await lock(); await page.keyboard.press('f'); await page.locator('dialog .effects').waitFor(); } });
await browser.close();
