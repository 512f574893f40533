/** A real browser for tests: Debian's chromium, where there is one. */

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const chromiumPath = '/usr/bin/chromium';

/** Why there is none; undefined: there is. */
export const missingBrowser = existsSync(chromiumPath) ? undefined : `there is no ${chromiumPath}`;

/** Closed after the tests of the file. */
export async function startBrowser(): Promise<Browser> {
  const quiet = ['gpu', 'quic', 'background-networking', 'component-update', 'sync'].map((what) => `--disable-${what}`);
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--no-first-run', ...quiet] });
  after(() => browser.close());
  return browser;
}

/** Signs in by the page at /sign-in. @param to - where one wants to go then. */
export async function signIn(page: Page, api: string, credential: string, to = ''): Promise<void> {
  await page.goto(`${api}${to || '/sign-in'}`);
  await page.getByLabel('Admin token or company key').fill(credential);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** What axe finds, in words. */
export async function obstacles(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
