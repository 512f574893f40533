/**
 * The console in a real browser: signing in, finding, deciding, and seeing what becomes of it; every page, on a wide screen in
 * light and on a phone in dark, before axe. `RELAY_PICTURES=1 npm test -- console/in-a-browser` takes the pictures of
 * docs/console.md.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { z } from 'zod';
import { chainListSchema } from '../../src/contract/chain-resource.js';
import { rejectedListSchema } from '../../src/contract/problem.js';
import { missingBrowser, obstacles, signIn, startBrowser } from '../end-to-end/browser.js';
import { demoScene, startShownChains } from '../end-to-end/shown-chains.js';
import { adminToken, eventually, send, startStack, Unmet, udf } from '../end-to-end/stack.js';

const pictures = process.env.RELAY_PICTURES === '1' ? new URL('../../../docs/pictures/', import.meta.url) : undefined;
const actor = { kind: 'admin' } as const;
const wide: BrowserContextOptions = { viewport: { width: 1100, height: 760 }, colorScheme: 'light' };
const phone: BrowserContextOptions = { viewport: { width: 375, height: 740 }, colorScheme: 'dark', hasTouch: true };

if (missingBrowser) it('the console', { skip: missingBrowser }, () => {});
else describe('the console', lookAround);

async function lookAround(): Promise<void> {
  const stack = await startStack({ retryBudgetSeconds: 600 });
  const scene = pictures && (await demoScene(stack));
  const shown = await startShownChains(stack, scene);
  const { companyId } = shown.company;
  const [rule] = (await stack.store.rules.list(companyId, { limit: 1 })).items;
  assert(rule);
  const { relayId } = rule;
  const token = await stack.store.tokens.rotate(companyId, relayId, 3600, actor);
  assert(token);
  const company = stack.companyOf({ companyId, relayId, relayAccessToken: token.relayAccessToken });
  const keyFor = async (role: 'read' | 'steer' | 'manage') => {
    const made = await stack.store.keys.create(companyId, `the one who may ${role}`, actor, { role });
    assert(typeof made === 'object');
    return made.key;
  };
  const keys = { read: await keyFor('read'), steer: await keyFor('steer'), manage: await keyFor('manage') };
  assert.equal((await company.post([{ ...udf('7003'), cfValu: 'yes' }])).status, 400);
  const asked = async <Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.infer<Schema>> => {
    const answer = await fetch(`${stack.links.api}/co/${companyId}${path}`, {
      headers: { authorization: `Bearer ${adminToken}` },
    });
    return schema.parse(await answer.json());
  };
  const [refusal] = (await asked('/rejected', rejectedListSchema)).items;
  const home = `/companies/${companyId}`;

  const browser = await startBrowser();
  const said: string[] = [];
  /** A page of somebody who is signed in. What the browser complains of is kept. */
  const pageOf = async (credential: string, to = home, options = wide): Promise<Page> => {
    const page = await (await browser.newContext({ ...options, reducedMotion: 'reduce' })).newPage();
    page.setDefaultTimeout(120_000);
    page.on('pageerror', (error) => said.push(`${page.url()}: ${error.message}`));
    page.on('console', (message) => message.type() === 'error' && said.push(`${page.url()}: ${message.text()}`));
    page.on('request', (request) => {
      if (!request.url().startsWith(stack.links.api) && !request.url().startsWith('data:')) said.push(`asks ${request.url()}`);
    });
    await signIn(page, stack.links.api, credential, to);
    return page;
  };
  const go = (page: Page, path: string) => page.goto(stack.links.api + path);
  /** What can be chosen in a list is not what the page says. */
  const reads = (page: Page, words: string | RegExp) =>
    page.getByRole('main').getByText(words).and(page.locator(':not(option)')).first().waitFor();
  const click = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();

  it('leads to signing in, and from there to where one wanted to go', async () => {
    const page = await pageOf(keys.read, `${home}/chains?status=failed`);
    assert.equal(page.url(), `${stack.links.api}${home}/chains?status=failed`);
    await page.getByRole('heading', { name: 'Chains', level: 1 }).waitFor();
    await go(page, '/');
    await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor();
    assert.equal(page.url(), stack.links.api + home);
    await click(page, 'Sign out');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await go(page, home);
    assert.equal(new URL(page.url()).pathname, '/sign-in');
    await page.context().close();
  });

  describe('shows on a wide screen and on a phone, in light and dark, without an obstacle that axe finds', () => {
    const pages: [name: string, path: string, words: string | RegExp][] = [
      ['companies', '/companies', companyId],
      ['now', home, /things? to decide about/],
      ['chains', `${home}/chains`, 'needs attention'],
      ['chain', `${home}/chains/${shown.chains.held}`, 'answered 404'],
      ['running', `${home}/chains/${shown.chains.running}`, 'retrying'],
      ['failed', `${home}/chains/${shown.chains.failed}`, 'failed'],
      ['delayed', `${home}/chains/${shown.chains.delayed}`, 'scheduled'],
      ['assignment', `${home}/assignments/${shown.other}`, 'scheduled'],
      ['no-assignment', `${home}/assignments/none`, 'No chain is about this assignment'],
      ['rules', `${home}/rules`, relayId],
      ['rule', `${home}/rules/${relayId}`, 'active'],
      ['refused', `${home}/refused`, 'A mistake in the chain'],
      ['refusal', `${home}/refused/${refusal?.rejectedId}`, 'did you mean cfValue'],
      ['settings', `${home}/settings`, 'Assignment platform'],
      ['people', `${home}/people`, 'the one who may steer'],
      ['compose', `${home}/compose`, 'Add the first action'],
      ['nothing', `${home}/nothing`, 'To the beginning'],
    ];
    const pictured = ['now', 'chain'];
    for (const [look, options] of Object.entries({ wide, phone }))
      it(look, async () => {
        const page = await pageOf(adminToken, home, options);
        for (const [name, path, words] of pages) {
          await go(page, path);
          await reads(page, words);
          assert.deepEqual(await obstacles(page), [], `${name}, ${look}`);
          const { wider } = await page.evaluate<{ wider: boolean }>(
            '({ wider: document.documentElement.scrollWidth > innerWidth })',
          );
          assert.equal(wider, false, `${name} is wider than the screen`);
          if (pictured.includes(name)) await takePicture(page, look === 'wide' ? name : `${name}-${look}`);
        }
        await page.context().close();
      });
  });

  it('is usable by keyboard: to the content, and with the focus on the heading of the page that one goes to', async () => {
    const page = await pageOf(keys.manage);
    await reads(page, /to decide about/);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'To the content');
    await page.getByRole('link', { name: 'Rules' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('h1:focus', { hasText: 'Rules' }).waitFor();
    assert.equal(await page.title(), 'Rules · Relay');
    await page.getByRole('button', { name: 'Make a rule' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Make a rule…');
    await page.context().close();
  });

  it('does not offer what a role may not do', async () => {
    const page = await pageOf(keys.read);
    await reads(page, /to decide about/);
    await go(page, `${home}/chains/${shown.chains.held}`);
    await reads(page, 'answered 404');
    assert.deepEqual(await page.getByRole('main').getByRole('button').allTextContents(), []);
    assert.deepEqual(await page.getByRole('navigation').getByRole('link').allTextContents(), ['Now', 'Chains', 'Refused']);
    await go(page, `${home}/settings`);
    await reads(page, 'needs a key with the role manage');
    await go(page, '/companies/another');
    await reads(page, 'Your key is of company');
    await page.context().close();
  });

  it('finds what needs somebody, and shows how it goes on once somebody has decided', async () => {
    const page = await pageOf(keys.steer, home, phone);
    await page
      .getByRole('main')
      .getByRole('link', { name: /Metro technicians/ })
      .click();
    await reads(page, 'answered 404');
    await stack.heal();
    await stack.assignment({ id: '404404' });
    await click(page, /^Retry/);
    await page.getByText('completed', { exact: true }).waitFor();
    await reads(page, /key the one who may steer decided: retry/);
    assert.equal((await company.ended(shown.chains.held)).status, 'completed');
    await page.context().close();
  });

  it('says who sees to what many wait for, and counts them before it decides about them', async () => {
    await startHeldAt('404405', 3);
    const page = await pageOf(keys.steer);
    await click(page, 'I see to it');
    await reads(page, 'key the one who may steer sees to it');
    await click(page, 'Silence for an hour');
    await reads(page, /Silent until/);
    await page.getByRole('link', { name: 'See them' }).click();
    await page.getByRole('heading', { name: 'Held for one reason', level: 1 }).waitFor();
    await page.getByRole('cell', { name: '404405' }).nth(2).waitFor();
    assert.deepEqual(await obstacles(page), []);
    await page.goBack();
    await stack.assignment({ id: '404405' });
    await click(page, /^Retry all 3/);
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Retry 3 chains?').waitFor();
    await takePicture(page, 'bulk');
    await dialog.getByRole('button', { name: 'Retry 3 chains' }).click();
    await dialog.getByText(/3 of 3 chains looked at/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await reads(page, 'Nothing needs you.');
    await page.context().close();
  });

  it('mends what one event had wrong, with what is wrong beside the field', async () => {
    const { chainId } = await company.start([udf('', { comment: 'Note it in the ticket' })]);
    await company.action(chainId, 0, 'needs-attention');
    const page = await pageOf(keys.steer, `${home}/chains/${chainId}`, phone);
    await click(page, /^Mend/);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('externalSystemTicketId').fill('7003');
    await dialog.getByLabel('cfName').fill('');
    await dialog.getByRole('button', { name: 'Mend it and try again' }).click();
    await dialog.locator('[aria-invalid=true]').waitFor();
    assert.equal(
      await dialog.locator('[aria-invalid=true]').getAttribute('id'),
      await dialog.getByLabel('cfName').getAttribute('id'),
    );
    assert.deepEqual(await obstacles(page), []);
    await takePicture(page, 'mend');
    await dialog.getByLabel('cfName').fill('Dispatched');
    await dialog.getByRole('button', { name: 'Mend it and try again' }).click();
    await page.getByText('completed', { exact: true }).waitFor();
    await reads(page, /decided: mend \(.*externalSystemTicketId.*\)/);

    await go(page, `${home}/refused/${refusal?.rejectedId}`);
    await click(page, /^Mend it and send it again/);
    await dialog.getByLabel('cfValu', { exact: true }).fill('');
    assert.deepEqual(await obstacles(page), []);
    await dialog.getByRole('button', { name: 'Send it' }).click();
    await page.getByText('completed', { exact: true }).waitFor();
    await page.context().close();
  });

  it('mends many that are held for one reason by one correction, and shows first what becomes of each', async () => {
    const chains = await Promise.all(Array.from({ length: 3 }, () => company.start([udf('', { cfValue: 'many' })])));
    for (const { chainId } of chains) await company.action(chainId, 0, 'needs-attention');
    const page = await pageOf(keys.steer);
    await click(page, /^Mend all 3/);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Field').fill('externalSystemTicketId');
    await dialog.getByLabel('What is done to it').selectOption('default');
    await dialog.getByLabel('By').fill('7003');
    await dialog.getByRole('button', { name: 'Show what becomes of each' }).click();
    await dialog.getByText('Mend 3 chains?').waitFor();
    assert.equal(await dialog.getByText('"7003"').count(), 3);
    assert.deepEqual(await obstacles(page), []);
    await takePicture(page, 'mend-many');
    await dialog.getByRole('button', { name: 'Mend 3 chains' }).click();
    await dialog.getByText(/3 of 3 chains looked at/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    for (const { chainId } of chains) assert.equal((await company.ended(chainId)).status, 'completed');
    await page.context().close();
  });

  it('hears of what changes without asking again', async () => {
    const page = await pageOf(keys.steer, `${home}/chains?status=needs-attention`);
    await page.getByText(/^Up to date at/).waitFor();
    // From now on it is answered what is so already, if it asks.
    const before = await asked('/chains?status=needs-attention&limit=50', chainListSchema);
    const question = (url: URL) => url.pathname === `/co/${companyId}/chains`;
    await page.route(question, (route) => route.fulfill({ json: before }));
    const [chainId = ''] = await startHeldAt('404407', 1);
    await page.locator(`a[href$="${chainId}"]`).waitFor();
    await page.unroute(question);
    await company.steer(chainId, 'skip', 0);
    await page.locator(`a[href$="${chainId}"]`).waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('changes connections in the words of the API, for operators, and shows no secret', async () => {
    const page = await pageOf(adminToken, `${home}/settings`);
    await page.getByText('Change them').click();
    const json = page.getByLabel('Connections as JSON');
    const before = JSON.parse(await json.inputValue());
    await json.fill('{');
    await click(page, 'Save the connections');
    await page.getByText('is no JSON object').waitFor();
    await json.fill(JSON.stringify({ ...before, ticketing: { kind: 'http' } }));
    await click(page, 'Save the connections');
    await page.getByRole('alert').getByText('/ticketing/baseUrl').waitFor();
    const auth = { type: 'bearer', token: 'a-new-secret' };
    await json.fill(JSON.stringify({ ...before, ticketing: { ...before.ticketing, auth } }));
    await click(page, 'Save the connections');
    await eventually('it to be saved', async () => {
      const stored = await stack.store.companies.get(companyId);
      return JSON.stringify(stored?.ticketing).includes('a-new-secret') || new Unmet(stored);
    });
    await page.reload();
    await reads(page, 'Ticket system');
    assert(!(await page.content()).includes('a-new-secret'));
    await page.context().close();
  });

  it('checks settings without effects, and shows the week of a rule', async () => {
    const page = await pageOf(keys.manage, `${home}/settings`);
    await page.getByLabel('Assignment').fill('404405');
    await click(page, 'Look');
    await page.getByText('knows the assignment 404405').waitFor();
    await page.getByRole('checkbox', { name: /may retry or skip what is held by its link/ }).uncheck();
    await click(page, 'Save');
    await eventually('it to be saved', async () => {
      const stored = await stack.store.companies.get(companyId);
      return stored?.noticeLinks === false || new Unmet(stored);
    });
    await go(page, `${home}/rules/${relayId}`);
    await page
      .getByRole('region', { name: 'The last 7 days' })
      .getByRole('link', { name: /completed$/ })
      .waitFor();
    await reads(page, /The last event:/);
    assert.deepEqual(await obstacles(page), []);
    await page.context().close();
  });

  it('decides about those that are chosen, and about no other', async () => {
    const [first = '', second = ''] = await startHeldAt('404406', 2);
    const page = await pageOf(keys.steer, `${home}/chains?status=needs-attention`);
    await page.getByRole('checkbox').nth(1).waitFor();
    await page.getByRole('checkbox').first().check();
    await page.getByRole('region', { name: 'Decide about the chosen' }).getByRole('button', { name: 'Skip' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Skip 1 chain' }).click();
    await page.getByRole('dialog').getByText('To 1 chain.').waitFor();
    const states = async () => {
      const chains = await Promise.all([first, second].map((chainId) => company.read(chainId)));
      return chains.map(({ actions }) => actions[0]?.state).sort();
    };
    await eventually('one to be skipped', async () => {
      const seen = await states();
      return seen.includes('skipped') ? seen : new Unmet(seen);
    });
    assert.deepEqual(await states(), ['needs-attention', 'skipped']);
    await page.context().close();
  });

  it('makes a token, shows it once, and the webhook that has it is taken', async () => {
    const page = await pageOf(keys.manage, `${home}/rules/${relayId}`);
    await click(page, /^Make a new token/);
    await page.getByRole('dialog').getByRole('button', { name: 'Make it' }).click();
    const secret = page.getByRole('dialog').locator('.secret');
    const relayAccessToken = (await secret.textContent()) ?? '';
    assert.match(relayAccessToken, /^rlt_/);
    assert.deepEqual(await obstacles(page), []);
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
    await page.reload();
    await reads(page, 'active');
    assert.ok(!(await page.content()).includes(relayAccessToken));
    await stack.companyOf({ companyId, relayId, relayAccessToken }).start([udf('7003')]);
    await page.context().close();
  });

  it('changes a rule, says what was wrong with what was entered, and sends what the rule refused again', async () => {
    const page = await pageOf(keys.manage, `${home}/rules/${relayId}`);
    await click(page, 'Disable');
    await click(page, 'Enable');
    await page.getByRole('button', { name: 'Disable' }).waitFor();
    await click(page, 'Disable');
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    assert.equal((await company.post([udf('7003')])).status, 401);
    await page.getByLabel('E-mail addresses').fill('nobody');
    await click(page, 'Save');
    await page.getByRole('alert').getByText('is no e-mail address').first().waitFor();
    await page.getByLabel('E-mail addresses').fill('somebody@demo.example');
    await click(page, 'Save');
    await page.getByRole('alert').waitFor({ state: 'detached' });

    await go(page, `${home}/refused`);
    await page.getByRole('link', { name: 'The rule is disabled' }).click();
    await click(page, 'Send it again');
    await page.getByRole('alert').getByText(`rule ${relayId} is disabled`).waitFor();
    await go(page, `${home}/rules/${relayId}`);
    await click(page, 'Enable');
    await page.getByRole('button', { name: 'Disable' }).waitFor();
    await page.goBack();
    await click(page, 'Send it again');
    await page.getByText('completed', { exact: true }).waitFor();
    const stored = await stack.store.rules.get(companyId, relayId);
    assert.deepEqual(stored?.notify?.emails, ['somebody@demo.example']);
    await page.context().close();
  });

  it('says that the session is over, and loses neither the address nor what was written', async () => {
    const page = await pageOf(keys.manage, `${home}/settings`);
    await page.getByLabel('Name').fill('Another name');
    await page.context().clearCookies();
    await click(page, 'Save');
    const again = page.getByRole('link', { name: 'Sign in again' });
    await again.waitFor();
    assert.equal(await page.getByLabel('Name').inputValue(), 'Another name');
    await again.click();
    await page.getByLabel('Admin token or company key').fill(keys.manage);
    await click(page, 'Sign in');
    await page.getByRole('heading', { name: 'Company', level: 1 }).waitFor();
    assert.equal(new URL(page.url()).pathname, `${home}/settings`);
    await page.context().close();
  });

  it('asks nobody but the relay, and its policy keeps nothing of its own from it', () => {
    // What a test had refused on purpose is not an error of the page.
    assert.deepEqual(
      said.filter((words) => !/Failed to load resource: the server responded with a status of 4\d\d/.test(words)),
      [],
    );
  });

  /** @returns the ids of chains that are held for an assignment that is not there, once the lists have them. */
  async function startHeldAt(assignmentId: string, count: number): Promise<string[]> {
    const started = await Promise.all(
      Array.from({ length: count }, () => company.start([send(assignmentId, { groupId: '501' })])),
    );
    for (const { chainId } of started) await company.action(chainId, 0, 'needs-attention');
    await eventually(`${count} in the list`, async () => {
      const { items } = await asked('/chains?status=needs-attention', chainListSchema);
      return items.length >= count ? true : new Unmet(items);
    });
    return started.map(({ chainId }) => chainId);
  }
}

async function takePicture(page: Page, name: string): Promise<void> {
  if (pictures) await page.screenshot({ path: fileURLToPath(new URL(`console-${name}.png`, pictures)) });
}
