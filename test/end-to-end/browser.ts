/** A real browser for tests: Debian's chromium, if installed. Its headless shell is the same engine and needs less CPU time. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const paths = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const executablePath = paths.find((path) => existsSync(path));

/** Why there is no browser; undefined if there is one. */
export const missingBrowser = executablePath ? undefined : `there is no ${paths.join(' or ')}`;

/** Starts a browser, which closes after the tests of the file. @param more - further arguments. */
export async function startBrowser(more: string[] = []): Promise<Browser> {
  const quiet = ['gpu', 'quic', 'background-networking', 'component-update', 'sync'].map((what) => `--disable-${what}`);
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--no-first-run', ...quiet, ...more],
  });
  after(() => browser.close());
  return browser;
}

/** Signs in on the page /sign-in. @param to - the page to open after the sign-in. */
export async function signIn(page: Page, api: string, credential: string, to = ''): Promise<void> {
  await page.goto(`${api}${to || '/sign-in'}`);
  await page.getByLabel('Admin token or company key').fill(credential);
  await page.getByRole('button', { name: 'Sign in' }).click();
  const signOut = page.getByRole('button', { name: 'Sign out' });
  const refusal = page.locator('form[action="/sign-in"] [role=alert]');
  await signOut.or(refusal).waitFor();
  if (!(await signOut.isVisible())) assert.fail(`signing in was refused: ${await refusal.innerText()}`);
}

/** The violations that axe finds, as text. @param rules - by default, all rules. */
export async function obstacles(page: Page, rules?: string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    `axe.run(${JSON.stringify(rules ? { runOnly: rules } : {})})`,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
