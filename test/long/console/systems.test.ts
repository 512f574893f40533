/**
 * For each system, a chain in a real browser: a person connects the system, writes the chain, and repairs a failed action. The
 * systems are the simulators of `npm start`.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { platformKinds, type Setting, ticketingKinds } from '../../../src/chain/kinds.js';
import { fieldWords } from '../../../src/chain/words.js';
import { acceptedSchema } from '../../../src/contract/chain-resource.js';
import { simulatorsAt, vendorSettings } from '../../../src/sandbox/vendors/simulators.js';
import { missingBrowser, signIn, startBrowser } from '../../end-to-end/browser.js';
import { adminToken, eventually, startStack, Unmet } from '../../end-to-end/stack.js';

interface Case {
  /** The fields of the action in the composer. */
  action: Record<string, string>;
  /** The changed field, and its values: from the first chain, from the second chain, and from the edit. */
  changed: [field: string, first: string, second: string, edited?: string];
  /** The text about the ticket or the assignment on the simulator's page, after this value was set. */
  shows(value: string): string;
  /** The failure of the simulator. `title` and `remedy` are the texts about it. */
  failure: { name: string; method?: string };
  title: string;
  remedy: string;
}

const noteAt = (externalSystemTicketId: string): Pick<Case, 'action' | 'shows'> => ({
  action: { externalSystemTicketId, cfName: 'Site note' },
  shows: (value) => `${externalSystemTicketId} · Replace a broken till|note: ${value}`,
});
const notes = ['cfValue', 'Use the back door', 'Ring at the gate'] as const;
const correct = 'Fix this problem';

/** Without `edited`, a person solves the problem at the vendor and retries. With `edited`, a person edits the action. */
const cases: Record<keyof typeof ticketingKinds | keyof typeof platformKinds, Case> = {
  autotask: {
    ...noteAt('T20260105.0674'),
    changed: [...notes],
    failure: { name: 'permission', method: 'PATCH' },
    title: "The relay's user at Autotask has no rights for the change of ticket 123456",
    remedy: 'Give this user the rights, then retry',
  },
  connectwise: {
    ...noteAt('5000'),
    changed: [...notes],
    failure: { name: 'conflict', method: 'PATCH' },
    title: 'Somebody else is changing ticket 5000 at ConnectWise',
    remedy: 'Retry',
  },
  servicenow: {
    ...noteAt('INC0010001'),
    changed: [...notes, 'Ring twice'],
    failure: { name: 'business-rule', method: 'PATCH' },
    title: 'ServiceNow refused the change of ticket',
    remedy: correct,
  },
  zendesk: {
    ...noteAt('35436'),
    changed: [...notes, 'Ring thrice'],
    failure: { name: 'dropped-field' },
    title: 'Zendesk did not keep the new value of "Site note"',
    remedy: 'Check the field and its rules at Zendesk, change “New value”',
  },
  jira: {
    ...noteAt('RELAY-1'),
    changed: [...notes],
    failure: { name: 'permission' },
    title: 'Jira does not let the relay set the field in issue RELAY-1',
    remedy: 'Find and fix the cause',
  },
  workmarket: {
    action: { platformAssignmentId: '6029116324', sendToGroups: 'Till technicians' },
    changed: ['sendRadius', '20', '50'],
    shows: (miles) => `6029116324 · Replace a broken till|Invited workers: ${miles === '20' ? '1001' : '1001, 1002'}`,
    failure: { name: 'insufficient-funds' },
    title: 'Your funds at WorkMarket are too low for this assignment',
    remedy: 'Add funds at WorkMarket',
  },
};

if (missingBrowser) it('the systems in the console', { skip: missingBrowser }, () => {});
else describe('each system in the console', { concurrency: true }, systems);

async function systems(): Promise<void> {
  const stack = await startStack();
  const browser = await startBrowser();
  const vendors = vendorSettings(stack.platform.url);
  const kinds = { ...ticketingKinds, ...platformKinds };

  it('a simulator keeps its name after it was saved, also on a new page', async () => {
    const { companyId } = await stack.company();
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.route(`**/co/${companyId}`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), simulators: simulatorsAt(stack.platform.url) } });
    });
    await signIn(page, stack.links.api, adminToken, `/companies/${companyId}/settings`);
    const form = page.getByRole('region', { name: 'Ticket system' });
    const chosen = form.getByLabel('System').locator('option:checked');
    await form.getByLabel('System').selectOption('Autotask PSA (simulator)');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('button', { name: 'Check' }).click();
    await form.getByText('works', { exact: true }).waitFor();
    for (const _ of ['saved', 'reloaded']) {
      assert.equal(await chosen.textContent(), 'Autotask PSA (simulator)');
      assert.equal(await form.locator('input').count(), 0);
      await page.reload();
      await form.getByRole('button', { name: 'Check' }).waitFor();
    }
    await page.close();
  });

  for (const [kind, { name, settings }] of Object.entries(kinds) as [keyof typeof kinds, (typeof kinds)[keyof typeof kinds]][]) {
    const { action, changed, shows, failure, title, remedy } = cases[kind];
    const [field, first, second, edited] = changed;

    it(`${name}: is connected, has an effect, fails with "${title}", and succeeds in the end`, async () => {
      const said: string[] = [];
      const company = await stack.company();
      const home = `/companies/${company.companyId}`;
      const context = await browser.newContext({ reducedMotion: 'reduce' });
      context.setDefaultTimeout(60_000);
      const [page, simulator] = [await context.newPage(), await context.newPage()];
      page.on('pageerror', (error) => said.push(`${page.url()}: ${error.message}`));
      await signIn(page, stack.links.api, adminToken, `${home}/settings`);
      await connect(page);
      const chainId = await compose(page, company);
      assert.equal((await company.ended(chainId)).status, 'completed');
      await shown(simulator, first);

      await control('PUT', failure);
      await page.goto(`${stack.links.api}${home}/rules/${company.relayId}/draft`);
      await page.getByRole('article').locator('summary').first().click();
      const offered = kind === 'workmarket' ? 'Till technicians' : 'Site note';
      await page.locator(`datalist option[value="${offered}"]`).waitFor({ state: 'attached' });
      await page.locator(`input[name=${field}]`).fill(second);
      const failed = await post(page, company.relayAccessToken);
      await company.action(failed, 0, 'needs-attention');
      await readNotice(company.admin);
      await control('DELETE');

      await page.goto(`${stack.links.api}${home}/chains/${failed}`);
      const card = page.getByRole('article').first();
      await card.getByText(title).first().waitFor();
      await card.getByText(remedy).first().waitFor();
      const best = card.locator('button.main');
      if (edited === undefined) {
        assert.match((await best.textContent()) ?? '', /^Retry/);
        await best.click();
      } else {
        await card.getByRole('button', { name: /^Edit and retry/ }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel(fieldWords[field] ?? field, { exact: true }).fill(edited);
        await dialog.getByRole('button', { name: 'Save and retry' }).click();
      }
      await page.getByText('completed', { exact: true }).waitFor();
      await shown(simulator, edited ?? second);
      assert.deepEqual(said, []);
      await context.close();
    });

    const control = async (method: 'PUT' | 'DELETE', body?: object) => {
      const headers = { 'content-type': 'application/json' };
      const at = `${stack.platform.url}/vendors/${kind}/control/fail`;
      assert.equal((await fetch(at, { method, headers, body: JSON.stringify(body) })).status, 200);
    };

    /** Fills the form of the kind, saves it and checks it. */
    const connect = async (page: Page) => {
      const [connection = {}] = Object.values(vendors[kind] ?? {}) as Record<string, string>[];
      const part = kind in platformKinds ? 'Assignment platform' : 'Ticket system';
      const form = page.getByRole('region', { name: part });
      await form.getByLabel('System').selectOption(name);
      for (const [setting, { label }] of Object.entries<Setting>(settings))
        if (connection[setting] !== undefined) await form.getByLabel(label, { exact: true }).fill(connection[setting]);
      await form.getByLabel('Other address').fill(stack.platform.url);
      const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
      await form.getByRole('button', { name: 'Save' }).click();
      assert.equal((await saved).status(), 200);
      await form.getByRole('button', { name: 'Check' }).click();
      await form.getByText('works', { exact: true }).waitFor();
    };

    type Company = Awaited<ReturnType<typeof stack.company>>;

    /** Writes the chain in an empty rule, sends its body as the webhook does, and opens the chain that arrives. */
    const compose = async (page: Page, { companyId, relayId, relayAccessToken }: Company): Promise<string> => {
      await page.goto(`${stack.links.api}/companies/${companyId}/rules/${relayId}/draft`);
      await page.getByLabel('What does your platform send?').selectOption('list');
      const does = kind in platformKinds ? 'Send the assignment' : 'Update a ticket field';
      await page.getByRole('button', { name: does }).click();
      await page.getByText('More', { exact: true }).click();
      for (const [input, text] of Object.entries({ ...action, [field]: first }))
        await page.locator(`input[name=${input}]`).fill(text);
      const started = await post(page, relayAccessToken);
      await page.getByText('Last chain,').getByRole('link').click();
      await page.getByText('completed', { exact: true }).waitFor();
      assert.match(page.url(), new RegExp(`${started}$`));
      return started;
    };

    /** Sends the body that the composer shows, with the rule's token. */
    const post = async (page: Page, token: string): Promise<string> => {
      await page.getByLabel('Or enter a token that you saved earlier').fill(token);
      const body = (await page.getByLabel('Paste this as the body of the webhook').inputValue()).replaceAll(
        '${assignment_id}',
        '1',
      );
      const address =
        (await page
          .locator('code', { hasText: /\/relay$/ })
          .first()
          .textContent()) ?? '';
      const answer = await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      assert.equal(answer.status, 202, await answer.clone().text());
      return acceptedSchema.parse(await answer.json()).chainId;
    };

    /** Waits until the simulator's page shows the value. The page refreshes by itself. */
    const shown = async (page: Page, value: string) => {
      const [heading, field] = shows(value).split('|');
      await page.goto(`${stack.platform.url}/vendors`);
      const record = page.locator('section.card').filter({ has: page.getByRole('heading', { name: heading ?? '' }) });
      await record.filter({ hasText: field ?? '' }).waitFor();
    };

    /** Checks the notice: it says what is wrong, what to do, and then which answer a call got. */
    const readNotice = async (admin: string) => {
      const text = await eventually(`the notice of ${kind}`, async () => {
        const mails = await stack.inbox(admin);
        const found = mails.find(({ Subject }) => Subject.startsWith('[relay] Needs attention'));
        return found ? (await stack.text(found)).Text : new Unmet(mails.map(({ Subject }) => Subject));
      });
      const places = [`\n\n${title}`, remedy, '\nTechnical details (for developers):\n'].map((words) => text.indexOf(words));
      assert.ok(
        places.every((place, number) => place > (places[number - 1] ?? 0)),
        text,
      );
    };
  }
}
