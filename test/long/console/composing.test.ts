/**
 * The composer in a real browser. The tests write the first example of the spec by keyboard only, and check mistakes,
 * rehearsal, undo, two tabs, publishing, and the body for senders of lists. `RELAY_PICTURES=1` takes the pictures of
 * docs/console.md.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { missingBrowser, obstacles, signIn, startBrowser } from '../../end-to-end/browser.js';
import { eventually, startStack, Unmet } from '../../end-to-end/stack.js';

const pictures = process.env.RELAY_PICTURES === '1' ? new URL('../../../../docs/pictures/', import.meta.url) : undefined;
const actor = { kind: 'admin' } as const;
const wide: BrowserContextOptions = { viewport: { width: 1100, height: 900 }, colorScheme: 'light' };
const phone: BrowserContextOptions = { viewport: { width: 375, height: 740 }, colorScheme: 'dark', hasTouch: true };

const [manager, mailText] = ['manager@demo.example', 'Please call somebody.'];
const ofEvery = { platformAssignmentId: '${assignment_id}' };
const ifDraft = (delayInSeconds: string) => ({ delayInSeconds, actionCondition: 'status==draft' });
const send = { action: 'platform_sendAssignment', ...ofEvery, sendToGroups: '501, 502' };
const wanted = [
  { ...send, sendRadius: '5' },
  { ...send, sendRadius: '25', ...ifDraft('1800') },
  {
    action: 'sendEmails',
    ...ofEvery,
    ...ifDraft('3600'),
    emails: [manager],
    subject: 'Nobody has been found for ${assignment_id}',
    body: mailText,
    bodyHtml: `<p>${mailText}</p>`,
  },
];
const assignmentId = { path: 'workorder.id', missing: 'refuse' };
const contents = { variables: { assignment_id: assignmentId }, actions: wanted };

if (missingBrowser) it('the composer', { skip: missingBrowser }, () => {});
else describe('the composer', composing);

async function composing(): Promise<void> {
  const stack = await startStack({ retryBudgetSeconds: 600 });
  const company = await stack.company({ name: 'Widen, then alert' });
  const { companyId } = company;
  const made = await stack.store.keys.create(companyId, 'dana', actor, { role: 'author' });
  assert(typeof made === 'object');
  const browser = await startBrowser();
  const home = `/companies/${companyId}`;
  const said: string[] = [];
  const pageOf = async (to: string, options = wide): Promise<Page> => {
    const page = await (await browser.newContext({ ...options, reducedMotion: 'reduce' })).newPage();
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => said.push(error.message));
    page.on('console', (message) => message.type() === 'error' && said.push(message.text()));
    await signIn(page, stack.links.api, made.key, to);
    return page;
  };
  /** Creates a rule, with the draft if one is given. */
  const ruleWith = async (draft?: object, name = 'Test rule'): Promise<string> => {
    const rule = await stack.store.rules.create(companyId, { name, onFailure: 'hold', onUnknown: 'resend' }, actor);
    assert(typeof rule === 'object');
    const { relayId } = rule.rule;
    if (draft) assert.equal((await call('PUT', relayId, '/draft', { revision: 0, contents: draft })).revision, 1);
    return relayId;
  };
  const call = async (method: string, relayId: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${made.key}`, 'content-type': 'application/json' };
    const url = `${stack.links.api}/admin/companies/${companyId}/rules/${relayId}${path}`;
    const answer = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
    assert.ok(answer.ok, await answer.clone().text());
    return (await answer.json()) as { revision?: number; contents?: object; url?: string; events?: unknown[] };
  };
  const focused = (page: Page) => page.evaluate<string>('document.activeElement.name || document.activeElement.textContent');
  /** Presses Tab until the element has the focus. */
  const tabTo = async (page: Page, name: string | RegExp) => {
    for (let n = 0; n < 120; n += 1) {
      await page.keyboard.press('Tab');
      const on = await focused(page);
      if (typeof name === 'string' ? on === name : name.test(on)) return;
    }
    assert.fail(`no way to ${name}`);
  };
  const write = async (page: Page, fields: Record<string, string>) => {
    for (const [name, text] of Object.entries(fields)) {
      await tabTo(page, name);
      await page.keyboard.press('Control+a');
      await page.keyboard.type(text);
    }
  };
  const press = async (page: Page, name: string | RegExp) => {
    await tabTo(page, name);
    await page.keyboard.press('Enter');
  };
  const isAt = (page: Page, title: string) =>
    eventually(`the focus to be on ${title}`, async () => {
      const label = await page.evaluate<string | null>('document.activeElement.getAttribute("aria-label")');
      return label?.startsWith(title) ? true : new Unmet(label);
    });
  const status = (page: Page, words: string | RegExp) => page.getByRole('status').getByText(words).waitFor();
  const step = (page: Page, number: number) => page.getByRole('article').nth(number - 1);
  const unfold = (of: Locator) => of.locator('summary').first().click();
  const storedIs = (relayId: string, expected: object) =>
    eventually('the draft to be saved', async () => {
      const { contents } = await call('GET', relayId, '/draft');
      return isDeepStrictEqual(contents, expected) || new Unmet(contents);
    });

  it('writes the first example by keyboard in an empty rule, rehearses and publishes it, and shows that it runs', async () => {
    const page = await pageOf(home);
    await page.getByRole('link', { name: 'Rules', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.locator('h1:focus', { hasText: 'Rules' }).waitFor();
    await page.getByRole('link', { name: 'Write a rule' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('h1:focus', { hasText: 'Write a rule' }).waitFor();
    await page.getByLabel('Name').focus();
    await page.keyboard.type('Find somebody');
    await press(page, 'Create the rule and write its steps');
    await page.getByText('Add your first step').waitFor();
    await page.locator('h1').focus();
    await press(page, 'Send the assignment');
    await isAt(page, 'Step 1: ');
    await write(page, { delayInSeconds: 'soon', sendToGroups: '501, 502', sendRadius: '5' });
    await step(page, 1).getByText('This field must be a time, such as 30 minutes or 1 h.').waitFor();
    const delay = step(page, 1).getByLabel('Wait');
    const about = (await delay.getAttribute('aria-describedby'))?.split(' ') ?? [];
    assert.match((await page.locator(`[id="${about[0]}"]`).textContent()) ?? '', /must be a time/);
    assert.equal(await delay.getAttribute('aria-invalid'), 'true');
    await delay.fill('');
    await step(page, 1).locator('.error').first().waitFor({ state: 'detached' });
    await page.getByText('Add a reminder e-mail?').waitFor();
    await press(page, 'Send the assignment');
    await isAt(page, 'Step 2: After 30 minutes, if the assignment is still “draft”, send to groups 501 and 502');
    await write(page, { sendRadius: '25' });
    await press(page, 'Send an e-mail');
    await isAt(page, 'Step 3: ');
    await write(page, { delayInSeconds: '1 h', emails: manager, subject: 'Nobody has been found for ' });
    await write(page, { insert: 'assignment_id' });
    await eventually('the focus to be back', async () => (await focused(page)) === 'subject' || new Unmet(await focused(page)));
    await write(page, { body: mailText });
    await page.getByText('Add a reminder e-mail?').waitFor({ state: 'detached' });
    await page.keyboard.press('Alt+ArrowUp');
    await status(page, 'Step 3 is now step 2');
    await eventually('the focus to be back', async () => (await focused(page)) === 'body' || new Unmet(await focused(page)));
    await page.keyboard.press('Alt+ArrowDown');
    await status(page, 'Step 2 is now step 3');

    await page.locator('summary', { hasText: 'Values from the event' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Field of the event').fill('workorder.id');
    const stops = page.getByRole('list', { name: 'Timeline of the steps' }).getByRole('listitem');
    await stops.nth(2).getByText('After 1 hour:').waitFor();
    assert.match(
      (await stops.first().textContent()) ?? '',
      /^Immediately: Send to groups 501 and 502 within 5 miles reaches nobody/,
    );
    await page.getByLabel('What happens?').selectOption('nobody-accepts');
    await stops.nth(1).getByText('The assignment had the status “sent”').waitFor();
    await page.getByLabel('What happens?').selectOption('platform-down');
    await stops
      .getByText(/After \d+ minutes, your company's addresses for notices get a notice/)
      .first()
      .waitFor();
    assert.deepEqual(await obstacles(page), []);
    await page.locator('summary', { hasText: 'Values from the event' }).click();
    await unfold(step(page, 3));
    await takePicture(page, 'compose');
    const relayId = /rules\/(\d+)\/draft$/.exec(page.url())?.[1] ?? '';
    await page.getByText('Draft saved').waitFor();
    await storedIs(relayId, contents);

    await page.getByRole('button', { name: 'Publish…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('There are no events to try the rule on').waitFor();
    assert.deepEqual(await obstacles(page), []);
    await press(page, 'Publish');
    await page
      .getByText('After 30 minutes, if the assignment is still “draft”, send to groups 501 and 502 within 25 miles')
      .waitFor();
    await page.getByRole('button', { name: 'Create the address…' }).focus();
    await page.keyboard.press('Enter');
    await press(page, 'Create');
    const address = (await page.locator('.secret').textContent()) ?? '';
    await press(page, 'Done');
    const assignment = await stack.assignment();
    const answer = await fetch(address, { method: 'POST', body: JSON.stringify({ workorder: { id: assignment } }) });
    assert.equal(answer.status, 202, await answer.clone().text());
    await page.getByRole('link', { name: 'Open the chain' }).click();
    await page.getByRole('link', { name: 'version 1' }).waitFor();
    await page.getByText('scheduled').first().waitFor();
    await page.context().close();
  });

  it('adds only one reminder, which fits the last change', async () => {
    const relayId = await ruleWith();
    const page = await pageOf(`${home}/rules/${relayId}/draft`);
    await page.getByRole('button', { name: 'Send the assignment' }).click();
    await step(page, 1).getByLabel('Wait').fill('30 minutes');
    const addIt = page.getByRole('button', { name: 'Add the reminder e-mail' });
    await page.getByRole('button', { name: 'Add the reminder e-mail', disabled: false }).waitFor();
    let answer = () => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/chains/compose', async (route) => {
      await held;
      await route.continue();
    });
    await step(page, 1).getByLabel('Wait').fill('1 h');
    await addIt.click({ force: true });
    await status(page, 'Your last change is not checked yet. Try again in a moment');
    assert.equal(await step(page, 2).count(), 0);
    answer();
    await addIt.dblclick();
    await addIt.waitFor({ state: 'detached' });
    await step(page, 2)
      .getByText(/^After 1 hour 30 minutes, if the assignment is still “draft”, e-mail/)
      .waitFor();
    assert.equal(await page.getByRole('article').count(), 2);
    await page.context().close();
  });

  it('undoes and redoes changes, and keeps them for the next visit', async () => {
    const relayId = await ruleWith(contents);
    const page = await pageOf(`${home}/rules/${relayId}/draft`);
    await unfold(step(page, 1));
    await step(page, 1).getByLabel('Within (miles)').fill('7 miles');
    await step(page, 1).getByText('Send to groups 501 and 502 within 7 miles').waitFor();
    await step(page, 1).getByRole('button', { name: 'Remove step 1' }).click();
    await status(page, 'Step 1 removed');
    await page.getByRole('button', { name: 'Undo' }).click();
    await step(page, 3).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await step(page, 1).getByText('within 5 miles').waitFor();
    await page.keyboard.press('Control+Shift+z');
    await step(page, 1).getByText('within 7 miles').waitFor();
    await page.getByText('Draft saved').waitFor();
    await page.reload();
    await step(page, 1).getByText('within 7 miles').waitFor();
    await page.context().close();
  });

  it('lets a person choose if two tabs have changed the draft', async () => {
    for (const [choice, miles] of [
      ['Keep your draft', '9'],
      ['Use the other draft', '8'],
    ] as const) {
      const relayId = await ruleWith(contents);
      const page = await pageOf(`${home}/rules/${relayId}/draft`);
      await unfold(step(page, 1));
      const other = { ...contents, actions: [{ ...wanted[0], sendRadius: '8' }, ...wanted.slice(1)] };
      await call('PUT', relayId, '/draft', { revision: 1, contents: other });
      await step(page, 1).getByLabel('Within (miles)').fill('9');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('This draft was also changed elsewhere').waitFor();
      await dialog.getByText('within 8 miles').waitFor();
      await dialog.getByText('within 9 miles').waitFor();
      assert.deepEqual(await obstacles(page), []);
      await dialog.getByRole('button', { name: choice }).click();
      await step(page, 1).getByText(`within ${miles} miles`).waitFor();
      await page.getByText('Draft saved').waitFor();
      await storedIs(relayId, { ...other, actions: [{ ...wanted[0], sendRadius: miles }, ...wanted.slice(1)] });
      await page.getByRole('button', { name: 'Undo' }).click();
      await step(page, 1)
        .getByText(`within ${choice === 'Keep your draft' ? 8 : 9} miles`)
        .waitFor();
      await page.context().close();
    }
  });

  it('chooses places and values from the last event, and tries the draft on it', async () => {
    const relayId = await ruleWith(contents);
    await call('POST', relayId, '/publish', { revision: 1 });
    const { url } = await call('POST', relayId, '/event-tokens', {});
    for (const status of ['created', 'cancelled']) {
      const workorder = { id: await stack.assignment(), status, priority: 4, manager: { email: 'boss@demo.example' } };
      const body = JSON.stringify({ workorder });
      assert.equal(
        (await eventually('the event to be accepted', () => fetch(String(url), { method: 'POST', body }))).status,
        202,
      );
    }
    await eventually(
      'two events',
      async () => (await call('GET', relayId, '/events')).events?.length === 2 || new Unmet('fewer'),
    );
    const page = await pageOf(`${home}/rules/${relayId}/draft`);
    await page.getByText('For each event').click();
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByLabel('Field', { exact: true }).fill('workorder.status');
    const offered = page.locator('datalist option[value="cancelled"]');
    await offered.waitFor({ state: 'attached' });
    await page.getByLabel('Value', { exact: true }).fill('created');
    await unfold(step(page, 3));
    await step(page, 3).getByLabel('To', { exact: true }).click();
    const inserted = 'event.workorder.manager.email';
    await step(page, 3).locator(`datalist option[value="${inserted}"][label="boss@demo.example"]`).waitFor({ state: 'attached' });
    await step(page, 3).getByLabel('Insert a value').fill(inserted);
    await step(page, 3).getByText('[workorder manager email]').waitFor();
    await page.getByText('Draft saved').waitFor();
    await page.getByRole('button', { name: 'Try the draft on the last events…' }).click();
    await page.getByText('The relay tried the rule on the last 2 events: 1 event would').waitFor();
    await page.getByText('2 events with a different result').click();
    await page.getByText('would not start a chain any more', { exact: true }).waitFor();
    await page.getByText(/^Step 3: “To”\. Before: /).waitFor();
    assert.deepEqual(await obstacles(page), []);
    await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByLabel(/^Why/).fill('Only new ones');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('For each event, if workorder.status is “created”').waitFor();
    await page.getByRole('link', { name: 'Versions and differences' }).click();
    await page.getByText('Only new ones').waitFor();
    await page.locator('summary', { hasText: 'Differences' }).first().click();
    await page.getByText('Changes from version 1 to version 2').waitFor();
    await page.getByText('For each event, if workorder.status is “created”').waitFor();
    assert.deepEqual(await obstacles(page), []);
    await page.getByLabel('Compare version 2 with').selectOption('draft');
    await page.getByText('There is no difference.').waitFor();
    await page.getByRole('button', { name: 'Go back to version 1…' }).click();
    await page.getByText(/^The relay tried the rule on the last 2 events/).waitFor();
    await page.getByRole('button', { name: 'Go back to version 1', exact: true }).click();
    await page.getByText('The contents are the same as in version 1').waitFor();
    await page.getByText('Changes from version 2 to the draft').waitFor();
    await page.getByText('There is no difference.').waitFor({ state: 'detached', timeout: 15_000 });
    await page.getByRole('link', { name: 'The rule' }).click();
    await page.getByText('For each event').waitFor();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    const test = page.getByRole('dialog');
    await test.getByText(/^This test has real effects\. “Send” runs 3 steps for assignment \d+\.$/).waitFor();
    assert.match(await test.getByLabel('Event').inputValue(), /"cancelled"/);
    await test.getByLabel('Event').fill('{');
    await test.getByText('The text has a mistake at line 1, column 2.').waitFor();
    const tested = await stack.assignment();
    await test.getByLabel('Event').fill(JSON.stringify({ workorder: { id: tested, manager: { email: 'boss@demo.example' } } }));
    await test.getByText(`This test has real effects. “Send” runs 3 steps for assignment ${tested}.`).waitFor();
    assert.deepEqual(await obstacles(page), []);
    await test.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: `Assignment ${tested}` }).waitFor();
    await page.goBack();
    await page.getByRole('row').filter({ hasText: tested }).waitFor();
    await page.getByRole('link', { name: 'All events', exact: true }).click();
    await page.getByRole('row').nth(1).getByRole('link').first().click();
    await page.getByText('"boss@demo.example"').waitFor();
    assert.deepEqual(await obstacles(page), []);
    await page.getByRole('button', { name: 'Send again…' }).click();
    await page.getByRole('button', { name: 'Send again', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: /^Assignment .*, Find|^Assignment / }).waitFor();
    await page.getByRole('link', { name: 'version 3' }).waitFor();
    await page.context().close();
  });

  describe('for senders of lists', () => {
    const list = (page: Page) => page.getByLabel('What does your platform send?').selectOption('list');
    const body = (page: Page) => page.getByLabel('Paste this as the body of the webhook');
    const elementsIn = async (page: Page): Promise<Record<string, unknown>[]> => JSON.parse(await body(page).inputValue());

    it('shows the body at the end, creates its token there, and shows its first chain', async () => {
      const relayId = await ruleWith(contents);
      const page = await pageOf(`${home}/rules/${relayId}/draft`);
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await list(page);
      await page.getByText('This text is not complete: the token is missing.').waitFor();
      assert.equal(await page.getByRole('button', { name: /^Copy/ }).count(), 0);
      await page.getByRole('button', { name: 'Create a token' }).click();
      await page.getByText('The page cannot show this token again').waitFor();
      await page.getByRole('button', { name: 'Copy the body' }).click();
      await status(page, 'Copied');
      const text = await page.evaluate<string>('navigator.clipboard.readText()');
      const elements = await elementsIn(page);
      assert.deepEqual(JSON.parse(text), elements);
      const relayAccessToken = String(elements[0]?.relayAccessToken);
      assert.match(relayAccessToken, /^rlt_/);
      assert.deepEqual(
        elements,
        wanted.map((element) => ({ ...element, relayId, relayAccessToken })),
      );
      assert.deepEqual(await obstacles(page), []);
      const url = (await page.getByText(`/co/${companyId}/relay`).first().textContent()) ?? '';
      assert.equal(url, `${stack.links.api}/co/${companyId}/relay`);
      const sent = text.replaceAll('${assignment_id}', await stack.assignment());
      const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: sent });
      assert.equal(answer.status, 202, await answer.clone().text());
      await page.getByText('Last chain,').getByRole('link').click();
      await page.getByText('scheduled').first().waitFor();
      await page.context().close();
    });

    it('says which conditions a list cannot have', async () => {
      const actions = [{ ...wanted[0], if: 'event.n > 3 && assignment.status == "draft"' }];
      const page = await pageOf(`${home}/rules/${await ruleWith({ ...contents, actions })}/draft`);
      await list(page);
      await page.getByText('A list of steps cannot have all conditions of this rule').waitFor();
      assert.equal(await body(page).count(), 0);
      await page.context().close();
    });

    it('makes a rule with contents from the lists that the rule has received', async () => {
      const relayId = await ruleWith();
      const token = await stack.store.tokens.rotate(companyId, relayId, null, actor);
      assert(token);
      const rule = stack.companyOf({ companyId, relayId, relayAccessToken: token.relayAccessToken });
      const mail = { action: 'sendEmails', emails: [manager], body: 'B', bodyHtml: '<p>B</p>' };
      const subjects = ['Visit 4711 is late', 'Visit 4712 is late'];
      const [first] = await Promise.all(subjects.map((subject) => rule.start([{ ...mail, subject }])));
      const page = await pageOf(`${home}/chains/${first?.chainId}`);
      await page.getByRole('button', { name: 'Copy the steps into a draft of the rule…' }).click();
      await page.getByText('The rule takes these values from each event. Examples stand next to each value:').waitFor();
      assert.deepEqual(await obstacles(page), []);
      await page.getByRole('button', { name: 'Save as the draft' }).click();
      await step(page, 1)
        .getByText(/^E-mail manager@demo.example: “Visit \[.+\] is late”$/)
        .waitFor();
      await page.context().close();
    });
  });

  describe('as JSON', () => {
    const show = (page: Page, how: 'Steps' | 'JSON') =>
      page.getByRole('button', { name: 'JSON (for developers)', exact: true, pressed: how === 'Steps' }).click();
    const json = (page: Page) => page.getByLabel('Rule as JSON');
    const udf = {
      action: 'ticket_updateUDF',
      externalSystemTicketId: 'T',
      cfName: 'In',
      cfValue: '2026-07-01T12:00:00Z',
      cfTargetDateFormat: 'yyyy',
    };

    it('checks the text while it is typed, keeps the last valid text, and removes tokens', async () => {
      const relayId = await ruleWith(contents);
      const page = await pageOf(`${home}/rules/${relayId}/draft`);
      await show(page, 'JSON');
      const actions = [wanted[0], { ...udf, cfNam: 'x' }];
      await json(page).fill(JSON.stringify({ ...contents, actions }));
      await page.getByText('Step 2: “cfNam” is not a field; did you mean “cfName”?').first().waitFor();
      await json(page).fill('{"actions": [{"action": "sendEmails",}, ]');
      await page.getByText(/^The text (?:is not JSON|has a JSON mistake).*The relay keeps your last correct text/).waitFor();
      assert.deepEqual(await obstacles(page), []);
      await show(page, 'Steps');
      await unfold(step(page, 2));
      await step(page, 2).getByText('did you mean “cfName” (“Ticket field”)').waitFor();
      await show(page, 'JSON');
      await json(page).fill(JSON.stringify({ ...contents, actions: [wanted[0], udf] }));
      await show(page, 'Steps');
      await unfold(step(page, 2));
      await step(page, 2).getByText('More').click();
      await step(page, 2).getByText('the new value is “2026”').waitFor();
      await step(page, 2).getByLabel('Date format of the new value').fill('yyyy-MM');
      await step(page, 2).getByText('the new value is “2026-07”').waitFor();
      await step(page, 2).getByLabel('Date format of the new value').fill('bad');
      await step(page, 2).getByText('at character 1: “b”').first().waitFor();

      await show(page, 'JSON');
      const pasted = [{ ...wanted[0], relayId, relayAccessToken: 'rlt_x' }];
      await json(page).fill(JSON.stringify(pasted));
      await page.getByText('The page removed the tokens').waitFor();
      assert.equal(await page.getByLabel('What does your platform send?').inputValue(), 'list');
      await page.getByText('Draft saved').waitFor();
      assert.ok(!JSON.stringify(await call('GET', relayId, '/draft')).includes('rlt_x'));
      await page.context().close();
    });

    it('shows no body if the check of the steps fails', async () => {
      const page = await pageOf(`${home}/rules/${await ruleWith(contents)}/draft`);
      await page.getByLabel('What does your platform send?').selectOption('list');
      await show(page, 'JSON');
      await page.getByLabel('Paste this as the body of the webhook').waitFor();
      for (const [actions, words] of [
        [Array.from({ length: 101 }, () => wanted[2]), 'has 101 steps; at most 100 are allowed'],
        [[{ ...wanted[2], body: 'x'.repeat(300_000) }], 'at most 256 KiB'],
      ] as const) {
        await json(page).fill(JSON.stringify({ actions }));
        await page.getByText('The relay could not check the steps').filter({ hasText: words }).waitFor();
        assert.equal(await page.getByLabel('Paste this as the body of the webhook').count(), 0);
        await json(page).fill(JSON.stringify(contents));
        await page.getByLabel('Paste this as the body of the webhook').waitFor();
      }
      await page.context().close();
    });
  });

  it('rehearses with an assignment as it is now, and says if it is missing', async () => {
    const page = await pageOf(`${home}/rules/${await ruleWith(contents)}/draft`);
    const stops = page.getByRole('list', { name: 'Timeline of the steps' }).getByRole('listitem');
    await stops.nth(2).waitFor();
    await page.getByLabel('What happens?').selectOption('now');
    await page.getByText('The rehearsal uses an example assignment').click();
    for (const [id, words] of [
      [await stack.assignment({ status: 'sent' }), 'The assignment had the status “sent”'],
      ['2001', 'does not exist'],
    ] as const) {
      await page.getByLabel('Assignment number').last().fill(id);
      await page.keyboard.press('Enter');
      await stops.getByText(words).first().waitFor();
    }
    assert.equal(await stops.getByText('runs', { exact: true }).count(), 0);
    await page.context().close();
  });

  it('has no axe violation on a phone in dark mode', async () => {
    const page = await pageOf(`${home}/rules/${await ruleWith(contents)}/draft`, phone);
    await unfold(step(page, 2));
    await page.getByRole('list', { name: 'Timeline of the steps' }).getByText('After 1 hour:').waitFor();
    assert.deepEqual(await obstacles(page), []);
    const [width, room] = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]');
    assert.ok(width <= room, `${width} of ${room}`);
    await takePicture(page, 'compose-phone');
    await page.context().close();
  });

  it('causes no error in the browser', () => {
    // Refusals that a test causes on purpose are not errors of the page.
    assert.deepEqual(
      said.filter((words) => !/Failed to load resource: the server responded with a status of 4\d\d/.test(words)),
      [],
    );
  });
}

async function takePicture(page: Page, name: string): Promise<void> {
  if (!pictures) return;
  await page.getByText('What does your platform send?').scrollIntoViewIfNeeded();
  await page.screenshot({ path: fileURLToPath(new URL(`console-${name}.png`, pictures)) });
}
