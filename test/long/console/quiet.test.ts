/** In a browser: the charts of a rule, the proposal for its events, and a rule that goes quiet. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { watch } from '../../../src/notices/quiet.js';
import { missingBrowser, obstacles, signIn, startBrowser } from '../../end-to-end/browser.js';
import { adminToken, startStack } from '../../end-to-end/stack.js';

const stack = await startStack();

it('proposes how often a rule expects an event, and shows that it is quiet', { skip: missingBrowser }, async () => {
  const { companyId, relayId, admin } = await stack.company();
  const halfHour = 1_800_000;
  for (let n = 1; n < 28 * 48; n += 1)
    stack.store.events.add({
      ...{ companyId, relayId, eventId: `e${n}`, receivedAt: new Date(Date.now() - n * halfHour).toISOString(), bytes: 2 },
      ...{ outcome: 'not-applicable', version: 1, body: '{}', hash: 'h' },
    });
  await stack.store.events.flush();
  await stack.store.uptime.beat();
  const browser = await startBrowser();
  const page = await browser.newPage();
  await signIn(page, stack.links.api, adminToken, `/companies/${companyId}/rules/${relayId}`);
  const health = page.getByRole('region', { name: 'Events over time' });
  await health.locator('svg').first().waitFor();
  assert.equal(await health.locator('svg g').count(), 28);
  await page.locator('summary', { hasText: 'Settings' }).click();
  await page.getByRole('button', { name: 'Use the proposal' }).click();
  await page.getByLabel('An event is expected every').and(page.locator('[value="1 hour"]')).waitFor();
  assert.deepEqual(await obstacles(page), []);

  await watch(stack, Date.now() + 3 * 2 * halfHour);
  const [mail] = await stack.mails(admin, 1);
  assert.match(mail?.Subject ?? '', /No event for 3 h/);
  await page.reload();
  await health.getByText('The rule is quiet: no event since').waitFor();
  if (process.env.RELAY_PICTURES) await page.screenshot({ path: `${process.env.RELAY_PICTURES}/rule.png`, fullPage: true });
  await page.goto(`${stack.links.api}/companies/${companyId}/rules`);
  const row = page.getByRole('row', { name: /Test rule/ });
  await row.getByText('no event since').waitFor();
  assert.deepEqual(await obstacles(page), []);
  if (process.env.RELAY_PICTURES) await page.screenshot({ path: `${process.env.RELAY_PICTURES}/rules.png`, fullPage: true });
  const download = page.waitForEvent('download');
  await page.goto(`${stack.links.api}/companies/${companyId}/rules/${relayId}/events`);
  await page.getByRole('link', { name: 'CSV' }).click();
  assert.equal((await download).suggestedFilename(), `${companyId}-events.csv`);
});
