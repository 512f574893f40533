/**
 * The page of a broken request, in a real browser: the mistake, the proposed actions, and the decision. `RELAY_PICTURES=1`
 * takes the pictures of docs/console.md.
 */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { rejectedListSchema } from '../../../src/contract/problem.js';
import { ruleOf } from '../../api/rule-with-contents.js';
import { missingBrowser, obstacles, signIn, startBrowser } from '../../end-to-end/browser.js';
import { serveApi } from '../../hostile/api.js';
import { openEmptied } from '../../store/emptied.js';

const pictures = process.env.RELAY_PICTURES === '1' ? new URL('../../../../docs/pictures/', import.meta.url) : undefined;
const looks: Record<string, BrowserContextOptions> = {
  wide: { viewport: { width: 1100, height: 900 }, colorScheme: 'light' },
  phone: { viewport: { width: 375, height: 740 }, colorScheme: 'dark', hasTouch: true },
};

if (missingBrowser) it('the page of a broken request', { skip: missingBrowser }, () => {});
else describe('the page of a broken request', onThePage);

async function onThePage(): Promise<void> {
  const started: Record<string, unknown>[][] = [];
  const said: string[] = [];
  const start = async (type: string, { args: [chain] }: { args: [{ actions: Record<string, unknown>[] }] }) => {
    if (type === 'RuleChain') started.push(chain.actions);
    return {};
  };
  const served = await serveApi(await openEmptied(), { workflow: { start } });
  const browser = await startBrowser();
  after(() => served.close());

  /** Waits until this request is kept. @returns the address of its page. */
  async function refuseBody(body: string): Promise<string> {
    const { url, companyId, key } = served;
    const headers = { 'content-type': 'application/json' };
    assert.equal((await fetch(`${url}/co/${companyId}/relay`, { method: 'POST', headers, body })).status, 400);
    const answer = await fetch(`${url}/co/${companyId}/rejected`, { headers: { authorization: `Bearer ${key}` } });
    const [newest] = rejectedListSchema.parse(await answer.json()).items;
    return `/companies/${companyId}/refused/${newest?.rejectedId}`;
  }

  const rule = { relayId: served.relayId, relayAccessToken: served.relayAccessToken };
  const udf = { action: 'ticket_updateUDF', ...rule, externalSystemTicketId: '7003', cfName: 'Dispatched', cfValue: 'no' };

  /** Sends a body with this note pasted into the text of an e-mail, so that the JSON breaks. @returns the page of the request. */
  function refuse(note: string): Promise<string> {
    const email = {
      action: 'sendEmails',
      ...rule,
      emails: ['dispatch@acme.example'],
      subject: 'Late',
      body: 'Late',
      bodyHtml: '*',
    };
    return refuseBody(JSON.stringify([email, udf], undefined, 2).replace('*', () => note));
  }

  /** The session of the first page. All pages share it, because a key may sign in only ten times a minute. */
  let storageState: Awaited<ReturnType<BrowserContext['storageState']>> | undefined;
  async function pageOf(to: string, options = looks.wide): Promise<Page> {
    const context = await browser.newContext({ ...options, reducedMotion: 'reduce', ...(storageState && { storageState }) });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => said.push(error.message));
    if (storageState) await page.goto(served.url + to);
    else await signIn(page, served.url, served.key, to);
    storageState ??= await context.storageState();
    return page;
  }

  const added =
    'Valve "blue" leaks"},{"action":"sendEmails","emails":["evil@evil.example"],"subject":"Hi","body":"x","bodyHtml":"Pay';

  for (const [look, options] of Object.entries(looks))
    it(`shows the place and what is not authenticated, with no axe violation: ${look}`, async () => {
      const page = await pageOf(await refuse(`${added} (${look})`), options);
      await page.getByRole('heading', { name: 'What the platform sent' }).waitFor();
      assert.equal(await page.locator('mark').textContent(), '"');
      await page.getByText('The first mistake is marked.').waitFor();
      const text = (await page.locator('pre.body').textContent()) ?? '';
      assert(text.includes('Valve "blue" leaks') && /"relayAccessToken": "\*+"/.test(text), text);
      assert(!(await page.content()).includes(served.relayAccessToken));
      await page.getByText('wrong token', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Send only steps 1 and 3' }).waitFor();
      assert.deepEqual(await obstacles(page), []);
      const { wider } = await page.evaluate<{ wider: boolean }>('({ wider: document.documentElement.scrollWidth > innerWidth })');
      assert.equal(wider, false, 'it is wider than the screen');
      if (pictures) {
        const path = fileURLToPath(new URL(`console-broken${look === 'wide' ? '' : `-${look}`}.png`, pictures));
        await page.screenshot({ path, fullPage: true });
      }
      await page.context().close();
    });

  it('stays on the page Now until somebody has decided', async () => {
    const waiting = await fetch(`${served.url}/co/${served.companyId}/rejected`, {
      headers: { authorization: `Bearer ${served.key}` },
    });
    for (const { rejectedId } of rejectedListSchema.parse(await waiting.json()).items)
      await fetch(`${served.url}/co/${served.companyId}/rejected/${rejectedId}/drop`, {
        method: 'POST',
        headers: { authorization: `Bearer ${served.key}` },
      });
    const now = `/companies/${served.companyId}`;
    const page = await pageOf(now);
    await page.getByText('No problems to solve.').waitFor();
    const first = await refuse('The "first" one');
    const newest = await refuse('The "second" one');
    await page.getByText('1 problem to solve.').waitFor();
    await page.getByText(/^2 refused requests of rule /).waitFor();
    assert.deepEqual(await obstacles(page), []);
    for (const at of [newest, first]) {
      // The page may still show the link of the previous request.
      await page.locator(`a[href="${at}"]`, { hasText: /^Show the (newest )?request$/ }).click();
      await page.waitForURL(served.url + at);
      await page.getByRole('button', { name: 'Drop' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Drop' }).click();
      await page.getByText(/^Dropped /).waitFor();
      await page.goto(served.url + now);
    }
    await page.getByText('No problems to solve.').waitFor();
    await page.context().close();
  });

  it('shows the mistakes of a proposed step before it can be sent', async () => {
    const list = [{ ...udf, cfNam: 'x' }];
    const page = await pageOf(await refuseBody(JSON.stringify(list).replace('"no"', '"say "no" now"')));
    await page.getByText('has a mistake', { exact: true }).waitFor();
    await page.getByText(/has the unknown field .* Did you mean “cfName” \(“Ticket field”\)/).waitFor();
    assert.equal(await page.locator('button.main').textContent(), 'Edit and send…');
    await page.getByRole('button', { name: 'Edit and send…' }).click();
    await page
      .getByRole('dialog')
      .getByLabel(/^The field “cfNam” is unknown/)
      .waitFor();
    await page.context().close();
  });

  it('sends the authenticated actions, and omits all other actions', async () => {
    const page = await pageOf(await refuse(added));
    await page.getByRole('checkbox', { name: 'Send step 3' }).uncheck();
    await page.getByRole('button', { name: 'Send only step 1' }).waitFor();
    await page.getByRole('checkbox', { name: 'Send step 3' }).check();
    const count = started.length;
    await page.getByRole('button', { name: 'Send only steps 1 and 3' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send these steps' }).click();
    await page.waitForURL(/\/chains\//);
    assert.equal(started.length, count + 1);
    const actions = started.at(-1) ?? [];
    assert.deepEqual(
      actions.map(({ action }) => action),
      ['sendEmails', 'ticket_updateUDF'],
    );
    assert(!JSON.stringify(actions).includes('evil@evil.example'));
    await page.goBack();
    await page.getByRole('link', { name: 'open its chain' }).waitFor();
    await page
      .getByRole('button', { name: /Send|Drop/ })
      .first()
      .waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('lets a person edit the proposal first, with errors beside the fields', async () => {
    const page = await pageOf(await refuse('The "red" one'));
    await page.getByRole('button', { name: 'Edit and send' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Text', { exact: true }).fill('The red valve leaks');
    await dialog.getByLabel('Ticket field').fill('');
    await dialog.getByRole('button', { name: 'Send 2 steps' }).click();
    await dialog.locator('[aria-invalid=true]').waitFor();
    assert.equal(
      await dialog.locator('[aria-invalid=true]').getAttribute('id'),
      await dialog.getByLabel('Ticket field').getAttribute('id'),
    );
    assert.deepEqual(await obstacles(page), []);
    await dialog.getByLabel('Ticket field').fill('Dispatched');
    await dialog.getByRole('button', { name: 'Send 2 steps' }).click();
    await page.waitForURL(/\/chains\//);
    assert.equal(started.at(-1)?.[0]?.bodyHtml, '<p>The red valve leaks</p>');
    await page.context().close();
  });

  it('runs a broken event as the relay has repaired it, for somebody with the role steer', async () => {
    const { relayId: _rule, relayAccessToken: _token, ...action } = udf;
    const contents = { variables: { ticket: { path: 'ticket' } }, actions: [{ ...action, externalSystemTicketId: '${ticket}' }] };
    const { relayId, eventToken } = await ruleOf(served.store, served.companyId, contents);
    const body = '{"ticket": "7009", "note": "the "blue" door"}';
    const url = `${served.url}/co/${served.companyId}/events/${relayId}/${eventToken}`;
    assert.equal((await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status, 400);
    const page = await pageOf(`/companies/${served.companyId}/refused`);
    await page.getByRole('main').getByRole('link').first().click();
    await page.getByText('the \\"blue\\" door').waitFor();
    assert.deepEqual(await obstacles(page), []);
    await page.getByRole('button', { name: 'Send the proposed event' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send this event' }).click();
    await page.waitForURL(/\/chains\//);
    assert.equal(started.at(-1)?.[0]?.ticketId, '7009');
    await page.context().close();
  });

  it('sends an event that the rule has refused again, after a person has added the missing value', async () => {
    const { relayId: _rule, relayAccessToken: _token, ...action } = udf;
    const variables = { ticket: { path: 'ticket', missing: 'refuse' } };
    const contents = { variables, actions: [{ ...action, externalSystemTicketId: '${ticket}' }] };
    const { relayId, eventToken } = await ruleOf(served.store, served.companyId, contents);
    const url = `${served.url}/co/${served.companyId}/events/${relayId}/${eventToken}`;
    const body = '{"ticket": "", "note": "blue"}';
    assert.equal((await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status, 400);
    const page = await pageOf(`/companies/${served.companyId}/refused`);
    await page.getByRole('main').getByRole('link').first().click();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('alert').getByText('ticket').first().waitFor();
    assert.equal(await page.getByRole('heading', { name: 'Proposed steps' }).count(), 0);
    await page.getByRole('button', { name: 'Edit and send' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('ticket').fill('7011');
    assert.deepEqual(await obstacles(page), []);
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await page.waitForURL(/\/chains\//);
    assert.equal(started.at(-1)?.[0]?.ticketId, '7011');
    await page.context().close();
  });

  it('drops the request after confirmation; the list shows that it was dropped, and how often it was repeated', async () => {
    const at = await refuse('The "green" one');
    assert.equal(await refuse('The "green" one'), at);
    const page = await pageOf(at);
    await page.getByText('The same request came 1 more time within 10 minutes.').waitFor();
    await page.getByRole('button', { name: 'Drop' }).click();
    assert.deepEqual(await obstacles(page), []);
    await page.getByRole('dialog').getByRole('button', { name: 'Drop' }).click();
    await page.getByText(/^Dropped .* with the key “key”/).waitFor();
    await page
      .getByRole('button', { name: /Send|Drop/ })
      .first()
      .waitFor({ state: 'detached' });
    assert.deepEqual(await obstacles(page), []);
    await page.getByRole('link', { name: 'All refused requests' }).click();
    const card = page
      .getByRole('listitem')
      .filter({ hasText: 'The same request came 1 more time', has: page.getByText('dropped: will not run', { exact: true }) });
    await card.getByText('dropped: will not run', { exact: true }).waitFor();
    await card.getByText(/The same request came 1 more time/).waitFor();
    assert.deepEqual(await obstacles(page), []);
    await page.context().close();
  });

  it('lets a person edit a request whose JSON was valid', async () => {
    const page = await pageOf(await refuseBody(JSON.stringify([{ ...udf, cfValue: undefined, cfValu: 'yes' }])));
    await page.getByText('did you mean “cfValue” (“New value”)').first().waitFor();
    await page.getByRole('button', { name: 'Edit and send' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^The field “cfValu” is unknown.*yes/).selectOption('New value');
    assert.deepEqual(await obstacles(page), []);
    await dialog.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/\/chains\//);
    const [{ action, value } = {}] = started.at(-1) ?? [];
    assert.deepEqual({ action, value }, { action: 'ticket_updateUDF', value: 'yes' });
    await page.goto(`${served.url}/companies/${served.companyId}`);
    await page.getByRole('heading', { name: /problems?\b/ }).waitFor();
    assert.equal(await page.getByRole('region', { name: /^The list of steps has a mistake/ }).count(), 0, 'it still waits');
    await page.context().close();
  });

  it('shows the fields of an action that a person chose, and takes one address per line', async () => {
    const { externalSystemTicketId: _t, cfName: _n, cfValue: _v, ...sent } = udf;
    const page = await pageOf(await refuseBody(JSON.stringify([{ ...sent, action: 'mail' }])));
    await page.getByRole('button', { name: 'Edit and send' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What the step does').selectOption('send an e-mail');
    await dialog.getByLabel('To', { exact: true }).fill('a@a.example\nb@a.example');
    for (const [label, text] of Object.entries({ Subject: 'Late', Text: 'Later' }))
      await dialog.getByLabel(label, { exact: true }).fill(text);
    await dialog.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/\/chains\//);
    assert.deepEqual(started.at(-1)?.[0]?.recipients, ['a@a.example', 'b@a.example']);
    await page.context().close();
  });

  it('writes a new assignment number in all steps and texts, but not in recipients', async () => {
    const mail = {
      ...udf,
      action: 'sendEmails',
      emails: ['job-404404@a.example'],
      subject: 'Job 404404',
      body: 'b',
      bodyHtml: 'h',
    };
    const { externalSystemTicketId: _t, cfName: _n, cfValue: _v, ...sent } = { ...mail, platformAssignmentId: '404404' };
    const page = await pageOf(
      await refuseBody(
        JSON.stringify([
          { ...sent, bodyHtml: undefined },
          { ...sent, body: 'b 404404' },
        ]),
      ),
    );
    await page.getByRole('button', { name: 'Edit and send' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Other fields').first().click();
    await dialog.getByLabel('Assignment number').first().fill('1002');
    await dialog.getByLabel('Also write 1002 in place of 404404').waitFor();
    assert.deepEqual(await obstacles(page), []);
    await dialog.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/\/chains\//);
    const made = started.at(-1)?.map(({ assignmentId, subject, body, recipients }) => [assignmentId, subject, body, recipients]);
    const to = ['job-404404@a.example'];
    assert.deepEqual(made, [
      ['1002', 'Job 1002', 'b', to],
      ['1002', 'Job 1002', 'b 1002', to],
    ]);
    await page.context().close();
  });

  it('lets a person choose the action, if the request has a wrong one', async () => {
    const page = await pageOf(await refuseBody(JSON.stringify([{ ...udf, action: 'updateField' }])));
    await page.getByRole('button', { name: 'Edit and send' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What the step does').selectOption('update a ticket field');
    await dialog.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/\/chains\//);
    assert.equal(started.at(-1)?.[0]?.action, 'ticket_updateUDF');
    await page.context().close();
  });

  it('shows the sign-in page on a phone without horizontal scrolling', async () => {
    const page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
    await page.goto(`${served.url}/sign-in`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    assert.deepEqual(await obstacles(page), []);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
    await page.context().close();
  });

  it('causes no error in the browser', () => assert.deepEqual(said, []));
}
