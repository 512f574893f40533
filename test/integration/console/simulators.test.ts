/** A manager of a company connects a simulator of `npm start` in the console, without the operator. */

import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { startPlatform } from '../../../src/sandbox/platform/platform.js';
import { simulatorsAt } from '../../../src/sandbox/vendors/simulators.js';
import { missingBrowser, obstacles, startBrowser } from '../../end-to-end/browser.js';
import { serveApi } from '../../hostile/api.js';
import { openEmptied } from '../../store/emptied.js';

it('a manager connects the simulator of Autotask with one choice', { skip: missingBrowser }, async () => {
  const platform = await startPlatform({ host: '127.0.0.1', port: 0 });
  const simulators = simulatorsAt(platform.url);
  const served = await serveApi(await openEmptied(), { simulators });
  after(() => Promise.all([platform.close(), served.close()]));
  const { companyId, store } = served;
  const made = await store.keys.create(companyId, 'manager', { kind: 'admin' }, { role: 'manage' });
  assert(typeof made === 'object');
  const page = await (await (await startBrowser()).newContext()).newPage();
  await page.goto(`${served.url}/sign-in?to=/companies/${companyId}/settings`);
  await page.getByLabel('Admin token or company key').fill(made.key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  const tickets = page.getByRole('region', { name: 'Ticket system' });
  await tickets.getByLabel('System').selectOption('Autotask PSA (simulator)');
  await tickets.getByText('in place of the real system').waitFor();
  assert.deepEqual(await obstacles(page), []);
  const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
  await tickets.getByRole('button', { name: 'Save' }).click();
  assert.equal((await saved).status(), 200);
  await tickets.getByText('The check uses the saved settings.').waitFor();
  const chosen = tickets.getByLabel('System').locator('option:checked');
  assert.equal(await chosen.textContent(), 'Autotask PSA (simulator)');
  const settings = simulators.ticketing.find(({ name }) => name === 'Autotask PSA')?.settings;
  assert.deepEqual((await store.companies.get(companyId))?.ticketing, settings);
});
