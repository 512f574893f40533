/**
 * The composer in a real browser: builds the first example of the spec from nothing, by keyboard only; its mistakes, its dry
 * run, its scenarios, and the body to paste, which is then sent. `RELAY_PICTURES=1` takes the pictures of docs/console.md.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { missingBrowser, obstacles, signIn, startBrowser } from '../../end-to-end/browser.js';
import { eventually, startStack, Unmet } from '../../end-to-end/stack.js';

const pictures = process.env.RELAY_PICTURES === '1' ? new URL('../../../../docs/pictures/', import.meta.url) : undefined;
const actor = { kind: 'admin' } as const;
const wide: BrowserContextOptions = { viewport: { width: 1100, height: 900 }, colorScheme: 'light' };
const phone: BrowserContextOptions = { viewport: { width: 375, height: 740 }, colorScheme: 'dark', hasTouch: true };

const [manager, mailText] = ['manager@demo.example', 'Please call somebody.'];
const ofEvery = { platformAssignmentId: '${assignment_id}' };
const ifDraft = (delayInSeconds: string) => ({ delayInSeconds, actionCondition: 'status==draft' });
const send = { action: 'platform_sendAssignment', ...ofEvery, sendToGroups: '501,502' };
const wanted = [
  { ...send, sendRadius: '5' },
  { ...send, sendRadius: '25', ...ifDraft('1800') },
  { ...send, sendRadius: '100', ...ifDraft('3600') },
  {
    action: 'sendEmails',
    ...ofEvery,
    ...ifDraft('5400'),
    emails: [manager],
    subject: 'Nobody has been found for ${assignment_id}',
    body: mailText,
    bodyHtml: `<p>${mailText}</p>`,
  },
];

if (missingBrowser) it('the composer', { skip: missingBrowser }, () => {});
else describe('the composer', composing);

async function composing(): Promise<void> {
  const stack = await startStack({ retryBudgetSeconds: 600 });
  const company = await stack.company({ name: 'Widen, then alert' });
  const { companyId, relayId, relayAccessToken } = company;
  const made = await stack.store.keys.create(companyId, 'dana', actor, { role: 'manage' });
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
      return label === title ? true : new Unmet(label);
    });
  const status = (page: Page, words: string | RegExp) => page.getByRole('status').getByText(words).waitFor();
  const elementsIn = async (page: Page): Promise<Record<string, unknown>[]> =>
    JSON.parse(await page.getByLabel('Paste this as the body of the webhook').inputValue());

  it('builds the first example from nothing by keyboard, and sees it arrive', async () => {
    const page = await pageOf(home);
    await page.getByRole('link', { name: 'Compose' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Compose', level: 1 }).waitFor();
    await page.getByText('Add your first action').waitFor();
    await press(page, /^Add: send the assignment/);
    await isAt(page, '0 platform_sendAssignment');
    await write(page, { sendToGroups: '501,502', sendRadius: '5' });
    await press(page, /^Duplicate/);
    await isAt(page, '1 platform_sendAssignment');
    await write(page, { delayInSeconds: 'soon', actionCondition: 'status=draft', sendRadius: '25' });
    const second = page.getByRole('article').nth(1);
    await second.getByText('must be a whole number of seconds').waitFor();
    const delay = second.getByLabel('delayInSeconds');
    const about = (await delay.getAttribute('aria-describedby'))?.split(' ') ?? [];
    assert.match((await page.locator(`[id="${about[0]}"]`).textContent()) ?? '', /whole number/);
    assert.equal(await delay.getAttribute('aria-invalid'), 'true');
    await second.getByText('has a single =').waitFor();
    await delay.focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('1800');
    await write(page, { actionCondition: 'status==draft' });
    await second.getByText('That is 30 minutes.').waitFor();
    await second.locator('.error').first().waitFor({ state: 'detached' });
    await press(page, /^Duplicate/);
    await isAt(page, '2 platform_sendAssignment');
    await write(page, { delayInSeconds: '3600', sendRadius: '100' });
    await page.getByText('Add a reminder e-mail?').waitFor();
    await page.getByRole('button', { name: 'Add the reminder e-mail', disabled: false }).waitFor();
    await press(page, 'Add the reminder e-mail');
    await isAt(page, '3 sendEmails');
    await page.getByText('Add a reminder e-mail?').waitFor({ state: 'detached' });
    assert.equal(await page.locator('.error').count(), 0);
    const [net] = (await elementsIn(page)).slice(-1);
    assert.deepEqual([net?.actionCondition, net?.delayInSeconds], ['status==draft', '5400']);
    await press(page, /^Remove/);
    await page.getByText('Add a reminder e-mail?').waitFor();
    await press(page, /^Add: send an e-mail/);
    await isAt(page, '3 sendEmails');
    await write(page, { ...ifDraft('5400'), emails: manager, subject: 'Nobody has been found for ' });
    await press(page, 'Insert a variable of the webhook');
    await press(page, '${assignment_id}');
    await write(page, { body: mailText, bodyHtml: `<p>${mailText}</p>` });
    await page.getByText('Add a reminder e-mail?').waitFor({ state: 'detached' });

    await page.keyboard.press('Alt+ArrowUp');
    await status(page, 'Action 3 is now action 2');
    await eventually('the focus to be back', async () => (await focused(page)) === 'bodyHtml' || new Unmet(await focused(page)));
    await page.keyboard.press('Alt+ArrowDown');
    await status(page, 'Action 2 is now action 3');
    const rail = page.getByRole('navigation', { name: 'Timeline of the actions' }).getByRole('listitem');
    assert.match((await rail.first().textContent()) ?? '', /^Immediately0 platform_sendAssignment/);

    await press(page, 'Run the test');
    await page.getByText('4 actions: 4 run.', { exact: false }).locator('visible=true').first().waitFor();
    await tabToScenario(page, 'nobody-accepts');
    await page.getByText('No worker accepts, and nobody gets a message about it').waitFor();
    await page.getByRole('article').nth(3).getByText('status was "sent"').waitFor();
    await tabToScenario(page, 'platform-down');
    await page
      .getByRole('article')
      .first()
      .getByText(/people are alerted after/)
      .waitFor();
    assert.deepEqual(await obstacles(page), []);
    await takePicture(page, 'compose');

    const body = await elementsIn(page);
    const placed = { relayId, relayAccessToken: '<RELAY_ACCESS_TOKEN>' };
    assert.deepEqual(
      body,
      wanted.map((element) => ({ ...element, ...placed })),
    );
    await press(page, /^I have pasted the body/);
    await page.getByText(/^Waiting for the (first|next) event/).waitFor();
    await page.waitForResponse((response) => response.url().includes('/chains?'));
    const assignment = await stack.assignment();
    const text = JSON.stringify(body)
      .replaceAll('<RELAY_ACCESS_TOKEN>', relayAccessToken)
      .replaceAll('${assignment_id}', assignment);
    const url = (await page.getByText('/relay').first().textContent()) ?? '';
    assert.equal(url, `${stack.links.api}/co/${companyId}/relay`);
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text });
    assert.equal(answer.status, 202, await answer.clone().text());
    await page.getByRole('link', { name: 'open its chain' }).waitFor();
    await press(page, 'open its chain');
    await page.getByText('scheduled').first().waitFor();
    await page.context().close();
  });

  it('adds a reminder that fits the last change, and only one', async () => {
    const page = await pageOf(`${home}/compose`);
    await page.getByRole('button', { name: /^Add: send the assignment/ }).click();
    const [first, reminder] = [page.getByRole('article').first(), page.getByRole('article').nth(1)];
    await first.getByLabel('delayInSeconds').fill('1800');
    const addIt = page.getByRole('button', { name: 'Add the reminder e-mail' });
    await page.getByRole('button', { name: 'Add the reminder e-mail', disabled: false }).waitFor();
    let answer = () => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/chains/compose', async (route) => {
      await held;
      await route.continue();
    });
    await first.getByLabel('delayInSeconds').fill('3600');
    await addIt.click({ force: true });
    await status(page, 'Your last change is not checked yet. Try again in a moment');
    assert.equal(await reminder.count(), 0);
    answer();
    await addIt.dblclick();
    await addIt.waitFor({ state: 'detached' });
    assert.deepEqual(
      (await elementsIn(page)).map(({ delayInSeconds }) => delayInSeconds),
      ['3600', '5400'],
    );
    await page.context().close();
  });

  it('validates JSON while it is typed, tries it with a real event, and keeps it for the tab', async () => {
    await company.start([{ ...wanted[1], platformAssignmentId: await stack.assignment() }]);
    const page = await pageOf(`${home}/compose?relayId=${relayId}`);
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    const json = page.getByLabel('Chain as JSON');
    await json.fill('[{"action": ');
    await page.getByText('is not JSON').waitFor();
    const udf = {
      action: 'ticket_updateUDF',
      externalSystemTicketId: 'T',
      cfName: 'In',
      cfValue: '${checked_in_on}',
      cfTargetDateFormat: 'yyyy',
    };
    await json.fill(
      JSON.stringify([
        { ...wanted[1], relayId, relayAccessToken: 'rlt_x' },
        { ...udf, cfNam: 'x' },
      ]),
    );
    await page.getByText('did you mean cfName').waitFor();
    await page.getByRole('button', { name: 'Cards', exact: true }).click();
    const second = page.getByRole('article').nth(1);
    await second.getByText('did you mean cfName').waitFor();
    await second.getByText('Example: 2026.').waitFor();
    await second.getByLabel('cfTargetDateFormat').fill('yyyy-MM');
    await second.getByText('Example: 2026-07.').waitFor();
    await second.getByLabel('cfTargetDateFormat').fill('bad');
    await second.getByText('b at place 1').first().waitFor();
    await page.reload();
    await second.getByRole('button', { name: /^Remove/ }).click();
    await status(page, 'Action 1 removed');
    await page.getByLabel('Assignment', { exact: true }).selectOption('chainId');
    await page.getByLabel('Event').locator('option').first().waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Run the test' }).click();
    await page.getByRole('article').first().getByText('501, 502').waitFor();
    assert.ok(!(await page.content()).includes('rlt_x'));
    await page.context().close();
  });

  describe('with several rules in the company', async () => {
    const made = await stack.store.rules.create(
      companyId,
      { name: 'Night shift', onFailure: 'hold', onUnknown: 'resend' },
      actor,
    );
    assert(typeof made === 'object');
    const other = made.rule.relayId;
    const mail = { action: 'sendEmails', emails: [manager], subject: 'S', body: 'B', bodyHtml: '<p>B</p>' };
    const rule = (page: Page) => page.getByLabel('Rule', { exact: true });
    const show = (page: Page, how: 'Cards' | 'JSON') =>
      page.getByRole('button', { name: how, exact: true }).click({ force: true });
    const json = (page: Page) => page.getByLabel('Chain as JSON');

    it('keeps the choices while the user fetches a token', async () => {
      for (const query of ['', `?relayId=${relayId}`]) {
        const page = await pageOf(`${home}/compose${query}`);
        await page.getByRole('button', { name: /Send within a radius/ }).click();
        await rule(page).selectOption(other);
        await page.getByRole('link', { name: "the rule's page" }).click();
        await page.getByRole('heading', { name: 'Night shift', level: 1 }).waitFor();
        await page.goBack();
        await page.getByRole('article').nth(3).waitFor();
        assert.equal(await rule(page).inputValue(), other);
        assert.deepEqual([...new Set((await elementsIn(page)).map((element) => element.relayId))], [other]);
        await page.context().close();
      }
    });

    it('selects the rules that the JSON names, reports unknown ones, and gives each rule only its own token', async () => {
      const page = await pageOf(`${home}/compose`);
      await show(page, 'JSON');
      await json(page).fill(JSON.stringify([{ ...mail, relayId: other }]));
      assert.equal(await rule(page).inputValue(), other);
      assert.equal(await page.getByText('Some actions belong to other rules').count(), 0);
      await json(page).fill(JSON.stringify([other, relayId, '9999999'].map((relayId) => ({ ...mail, relayId }))));
      const said = page.getByRole('alert').filter({ hasText: 'Some actions belong to other rules' }).getByRole('listitem');
      await said.nth(1).waitFor();
      assert.match(
        (await said.nth(0).textContent()) ?? '',
        new RegExp(`action 1: rule Widen, then alert \\(${relayId}\\). Enter a token`),
      );
      assert.match((await said.nth(1).textContent()) ?? '', /action 2: rule 9999999 does not exist/);
      await page.getByText('The relay would refuse this chain. Fix 1 problem first').waitFor();
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByRole('button', { name: 'Copy without a token' }).click();
      await status(page, /^Copied without a token/);
      await page.getByLabel("The rule's token").fill('token-of-the-night');
      assert.deepEqual(
        (await elementsIn(page)).map((element) => element.relayAccessToken),
        ['token-of-the-night', '<RELAY_ACCESS_TOKEN>', '<RELAY_ACCESS_TOKEN>'],
      );
      assert.deepEqual(await obstacles(page), []);
      await show(page, 'Cards');
      await page.getByRole('article').nth(2).getByText('names 9999999, which is not a rule of this company').waitFor();
      await page.context().close();
    });

    it('keeps unreadable JSON as typed, and says what it blocks', async () => {
      const page = await pageOf(`${home}/compose`);
      await show(page, 'JSON');
      await json(page).fill(JSON.stringify([mail]));
      await page.getByText('A token is missing').waitFor();
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByLabel("The rule's token").fill('token');
      await page.getByRole('button', { name: 'Copy the body' }).click();
      await status(page, 'Copied');
      assert.match(await page.evaluate<string>('navigator.clipboard.readText()'), /"relayAccessToken": "token"/);
      const broken = '[{"action": "sendEmails",}, ]';
      await json(page).fill(broken);
      await page.getByText(/^This is not JSON.*Fix the JSON before you test or use the chain/).waitFor();
      await page.getByText('Then the body to paste is shown here').waitFor();
      await show(page, 'Cards');
      await status(page, 'Fix the JSON first, then show the cards');
      assert.equal(await json(page).inputValue(), broken);
      await page.reload();
      assert.equal(await json(page).inputValue(), broken);
      assert.deepEqual(await obstacles(page), []);
      await page.getByRole('button', { name: 'Undo: go back to the last valid JSON' }).click();
      await page.getByRole('article').nth(0).waitFor();
      assert.equal((await elementsIn(page))[0]?.subject, 'S');
      await page.context().close();
    });

    it('shows no body and no old hints if the check of the chain fails', async () => {
      const page = await pageOf(`${home}/compose`);
      await show(page, 'JSON');
      const odd = { ...send, sendRadius: '5' };
      for (const [written, words] of [
        [JSON.stringify(Array.from({ length: 101 }, () => mail)), 'has 101 actions; at most 100 are allowed'],
        [JSON.stringify([mail]).replace('{', '{"__proto__": 1, '), 'has a field named "__proto__"'],
        [JSON.stringify([{ ...mail, body: 'x'.repeat(300_000) }]), 'at most 256 KiB'],
      ] as const) {
        await json(page).fill(JSON.stringify([odd]));
        await page.getByText('Add a reminder e-mail?').waitFor();
        await json(page).fill(written);
        await page.getByText('The relay would refuse this chain').filter({ hasText: words }).waitFor();
        assert.equal(await page.getByText('Add a reminder e-mail?').count(), 0);
        assert.equal(await page.getByLabel('Paste this as the body of the webhook').count(), 0);
      }
      await page.context().close();
    });

    it('sees an event that arrives and ends quickly, even beside fifty open chains', async () => {
      const later = { ...mail, relayId: other, relayAccessToken: made.relayAccessToken, delayInSeconds: '3600' };
      await Promise.all(Array.from({ length: 50 }, () => company.start([later])));
      const page = await pageOf(`${home}/compose?relayId=${other}`);
      await page.getByRole('button', { name: /Send within a radius/ }).click();
      const answered = page.waitForResponse((response) => response.url().includes('/chains?'));
      await page.getByRole('button', { name: 'I have pasted the body' }).click();
      await answered;
      const { chainId } = await company.start([{ ...later, delayInSeconds: '0' }]);
      await company.ended(chainId);
      await page.getByRole('link', { name: 'open its chain' }).waitFor();
      assert.match((await page.getByRole('link', { name: 'open its chain' }).getAttribute('href')) ?? '', new RegExp(chainId));
      await page.context().close();
    });
  });

  it('has no axe violation on a phone in dark mode', async () => {
    const page = await pageOf(`${home}/compose`, phone);
    await page.getByRole('button', { name: /Send within a radius/ }).click();
    await page.getByRole('article').nth(3).waitFor();
    await page.getByRole('button', { name: 'Run the test' }).click();
    await page
      .getByText(/^4 actions: /)
      .locator('visible=true')
      .first()
      .waitFor();
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

  async function tabToScenario(page: Page, scenario: string): Promise<void> {
    await page.getByLabel('Scenario').selectOption(scenario);
    await page.getByRole('button', { name: 'Run the test' }).focus();
    await page.keyboard.press('Enter');
  }
}

async function takePicture(page: Page, name: string): Promise<void> {
  if (!pictures) return;
  await page.getByRole('heading', { name: 'Actions', exact: true }).scrollIntoViewIfNeeded();
  await page.screenshot({ path: fileURLToPath(new URL(`console-${name}.png`, pictures)) });
}
