/** In a browser: the console shows an assignment of a year ago, the charts of a rule, and a rule that becomes quiet. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { watch } from '../../../src/notices/quiet.js';
import { missingBrowser, obstacles, signIn, startBrowser } from '../../end-to-end/browser.js';
import { adminToken, eventually, send, startStack, Unmet } from '../../end-to-end/stack.js';

const stack = await startStack();

it('the console shows the outcome of an assignment of a year ago, although Temporal has deleted its chain', {
  skip: missingBrowser,
}, async () => {
  const company = await stack.company();
  const { companyId } = company;
  const assignmentId = await stack.assignment();
  const { chainId } = await company.start([send(assignmentId, { groupId: '501', sendRadius: '25' })]);
  await company.ended(chainId);
  const row = await eventually('the row to be complete', async () => {
    const row = await stack.store.chains.get(companyId, chainId);
    return row?.details ? row : new Unmet(row);
  });
  const yearBefore = (iso: string) => new Date(Date.parse(iso) - 365 * 86_400_000).toISOString();
  const older = JSON.parse(JSON.stringify(row), (_, value) =>
    typeof value === 'string'
      ? value.replaceAll(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, yearBefore).replaceAll(chainId, 'c-last-year')
      : value,
  );
  await stack.store.chains.collect([older]);

  const browser = await startBrowser();
  const page = await browser.newPage();
  await signIn(page, stack.links.api, adminToken, `/companies/${companyId}`);
  await page.getByRole('button', { name: 'Search' }).waitFor();
  await page.keyboard.press('/');
  await page.getByRole('searchbox').fill(`assignment ${assignmentId.slice(0, -3)}`);
  await page.getByRole('list', { name: 'Results' }).getByRole('link', { name: assignmentId }).click();
  await page.getByRole('heading', { name: `Assignment ${assignmentId}` }).waitFor();
  await page.getByText(/Sent .*to group 501 within 25 miles/).waitFor();
  const link = page.locator(`a[href$="/c-last-year"]`).first();
  assert.match((await link.textContent()) ?? '', new RegExp(String(new Date(yearBefore(row.receivedAt)).getFullYear())));
  await link.click();
  await page.getByText('Only a copy of this chain is stored now').waitFor();
  assert.equal(await page.getByRole('button', { name: /retry|cancel/i }).count(), 0);
  assert.deepEqual(await obstacles(page), []);
});

it('the console proposes how often a rule expects an event, and shows a quiet rule', { skip: missingBrowser }, async () => {
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
  const days = await health.locator('svg g').count(); // Soon after midnight, there is no event of the new day.
  assert.ok(days === 27 || days === 28, `${days}`);
  await page.locator('summary', { hasText: 'Settings' }).click();
  await page.getByRole('button', { name: 'Use the proposal' }).click();
  await page.getByLabel('Send a notice if no event arrives for').and(page.locator('[value="1 hour"]')).waitFor();
  assert.deepEqual(await obstacles(page), []);

  await watch(stack, Date.now() + 3 * 2 * halfHour);
  const [mail] = await stack.mails(admin, 1);
  assert.match(mail?.Subject ?? '', /No event for 3 h/);
  await page.reload();
  await health.getByText('There has been no event for').waitFor();
  await page.goto(`${stack.links.api}/companies/${companyId}/rules`);
  const row = page.getByRole('row', { name: /Test rule/ });
  await row.getByText('no event for').waitFor();
  assert.deepEqual(await obstacles(page), []);
  const download = page.waitForEvent('download');
  await page.goto(`${stack.links.api}/companies/${companyId}/rules/${relayId}/events`);
  await page.getByRole('link', { name: 'as a spreadsheet (CSV)' }).click();
  assert.equal((await download).suggestedFilename(), `${companyId}-events.csv`);
});
