/**
 * The console in a real browser: signing in, finding, deciding, and seeing the result; axe checks every page, on a wide screen
 * and on a phone, in light and in dark mode. `RELAY_PICTURES=1 npm test -- console/in-a-browser` takes the pictures of
 * docs/console.md.
 */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { z } from 'zod';
import { editsEarly, type SteeringVerb, verbsFor } from '../../../src/chain/allowed-verbs.js';
import { verbWords } from '../../../src/console/words.js';
import { type ChainResource, chainListSchema } from '../../../src/contract/chain-resource.js';
import { rejectedListSchema } from '../../../src/contract/problem.js';
import { autotaskCredentials, createAutotask } from '../../../src/sandbox/vendors/autotask.js';
import { serveVendor } from '../../../src/sandbox/vendors/vendor.js';
import { everyAction, everyChain } from '../../chain/every-chain.js';
import { missingBrowser, obstacles, signIn, startBrowser } from '../../end-to-end/browser.js';
import { demoScene, startShownChains } from '../../end-to-end/shown-chains.js';
import { adminToken, email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const pictures = process.env.RELAY_PICTURES === '1' ? new URL('../../../../docs/pictures/', import.meta.url) : undefined;
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
  /** Opens a page as a signed-in user. Records errors in the browser. */
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
  /** Waits until the page shows this text. The options of select fields do not count. */
  const reads = (page: Page, words: string | RegExp) =>
    page.getByRole('main').getByText(words).and(page.locator(':not(option)')).first().waitFor();
  const openSettings = (page: Page) => page.locator('summary', { hasText: /^Settings/ }).click();
  const click = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();

  it('leads to sign-in, and from there to the requested page', async () => {
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

  describe('shows on a wide screen and on a phone, in light and dark, with no axe violation', () => {
    const pages: [name: string, path: string, words: string | RegExp][] = [
      ['companies', '/companies', companyId],
      ['now', home, /problems? to solve/],
      ['chains', `${home}/chains`, 'needs attention'],
      ['chain', `${home}/chains/${shown.chains.held}`, 'does not exist at the assignment platform'],
      ['running', `${home}/chains/${shown.chains.running}`, 'retrying'],
      ['failed', `${home}/chains/${shown.chains.failed}`, 'failed'],
      ['delayed', `${home}/chains/${shown.chains.delayed}`, 'scheduled'],
      ['assignment', `${home}/assignments/${shown.other}`, 'scheduled'],
      ['no-assignment', `${home}/assignments/none`, 'No chain for this assignment was found'],
      ['rules', `${home}/rules`, relayId],
      ['rule', `${home}/rules/${relayId}`, 'active'],
      ['refused', `${home}/refused`, 'The list of steps has a mistake'],
      ['refusal', `${home}/refused/${refusal?.rejectedId}`, 'did you mean “cfValue” (“New value”)'],
      ['settings', `${home}/settings`, 'Assignment platform'],
      ['people', `${home}/people`, 'the one who may steer'],
      ['compose', `${home}/compose`, 'A new rule'],
      ['draft', `${home}/rules/${relayId}/draft`, 'Add your first step'],
      ['versions', `${home}/rules/${relayId}/versions`, 'Nothing is published yet'],
      ['events', `${home}/rules/${relayId}/events`, 'There are no events to show'],
      ['nothing', `${home}/nothing`, 'Go to the start page'],
    ];
    const pictured = ['now', 'chain'];
    for (const [look, options] of Object.entries({ wide, phone }))
      it(look, async () => {
        const page = await pageOf(adminToken, home, options);
        for (const [name, path, words] of pages) {
          await go(page, path);
          await reads(page, words);
          assert.deepEqual(await obstacles(page), [], `${name}, ${look}`);
          // Only contrast depends on the colours.
          await page.emulateMedia({ colorScheme: look === 'wide' ? 'dark' : 'light' });
          assert.deepEqual(await obstacles(page, ['color-contrast']), [], `${name}, ${look}, the other colours`);
          await page.emulateMedia({ colorScheme: options.colorScheme ?? null });
          const { wider } = await page.evaluate<{ wider: boolean }>(
            '({ wider: document.documentElement.scrollWidth > innerWidth })',
          );
          assert.equal(wider, false, `${name} is wider than the screen`);
          if (pictured.includes(name)) await takePicture(page, look === 'wide' ? name : `${name}-${look}`);
        }
        await page.context().close();
      });
  });

  describe('at a typed address', () => {
    it('shows the page, or says that it does not exist', async () => {
      const page = await pageOf(keys.read, `${home}/chains/`);
      await page.getByRole('heading', { name: 'Chains', level: 1 }).waitFor();
      for (const path of [`${home}/chains/a/b`, `${home}/assignments/%E0%A4%A`]) {
        await go(page, path);
        await reads(page, 'Go to the start page');
        assert.deepEqual(await obstacles(page), [], path);
      }
      await page.context().close();
    });

    it('says which role the composer needs', async () => {
      const page = await pageOf(keys.read, `${home}/compose`);
      await page.getByRole('heading', { name: 'No access', level: 1 }).waitFor();
      await reads(page, 'you need the role “rule author”');
      assert.deepEqual(await page.getByRole('main').getByRole('button').allTextContents(), []);
      await page.context().close();
    });
  });

  it("works by keyboard: to the content, and with the focus on the new page's heading", async () => {
    const page = await pageOf(keys.manage);
    await reads(page, /to solve/);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to content');
    await page.getByRole('link', { name: 'Rules' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('h1:focus', { hasText: 'Rules' }).waitFor();
    assert.equal(await page.title(), 'Rules · Relay');
    await go(page, `${home}/rules/${relayId}`);
    await page.getByRole('button', { name: 'Create a token' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Create a token…');
    await page.context().close();
  });

  it('hides what a role may not do', async () => {
    const page = await pageOf(keys.read);
    await reads(page, /to solve/);
    await go(page, `${home}/chains/${shown.chains.held}`);
    await reads(page, 'does not exist at the assignment platform');
    assert.deepEqual(await page.getByRole('main').getByRole('button').allTextContents(), []);
    assert.deepEqual(await page.getByRole('navigation').getByRole('link').allTextContents(), [
      'Now',
      'Chains',
      'Refused requests',
      'Rules',
    ]);
    await go(page, `${home}/settings`);
    await reads(page, 'you need the role “manager”');
    await go(page, '/companies/another');
    await reads(page, 'You only have access to company');
    await page.context().close();
  });

  it('finds what needs a decision, and shows that the chain continues after the decision', async () => {
    const page = await pageOf(keys.steer, home, phone);
    await page.getByRole('main').getByRole('link', { name: 'Send to group 502', exact: true }).click();
    await reads(page, 'does not exist at the assignment platform');
    await page
      .getByRole('article')
      .filter({ hasText: 'does not exist at the assignment platform' })
      .getByText('All values of this step', { exact: true })
      .click();
    await reads(page, 'Assignment number');
    await page.getByText('Notice', { exact: true }).click();
    await reads(page, /does not retry the step automatically/);
    assert.deepEqual(await obstacles(page), []);
    await stack.heal();
    await stack.assignment({ id: '404404' });
    await click(page, /^Retry/);
    await page.getByText('completed', { exact: true }).waitFor();
    await reads(page, /: Retry, with the key “the one who may steer”/);
    assert.equal((await company.ended(shown.chains.held)).status, 'completed');
    await page.context().close();
  });

  it('says who works on a problem of many chains, and counts the chains before it steers them', async () => {
    await startHeldAt('404405', 3);
    const page = await pageOf(keys.steer);
    await click(page, 'I am working on this problem');
    await reads(page, 'Working on this problem: the key “the one who may steer”');
    await click(page, 'Turn off notices for 1 hour');
    await reads(page, /Notices turned off with the key “the one who may steer” until/);
    await page.getByRole('link', { name: 'Show all steps' }).click();
    await page.getByRole('heading', { name: 'Problem', level: 1 }).waitFor();
    await page.getByRole('cell', { name: '404405' }).nth(2).waitFor();
    assert.deepEqual(await obstacles(page), []);
    await page.goBack();
    await stack.assignment({ id: '404405' });
    await page.getByText('Decide about all 3 chains at once', { exact: true }).click();
    await click(page, /^Retry 3 chains/);
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Retry 3 chains?').waitFor();
    await takePicture(page, 'bulk');
    await dialog.getByRole('button', { name: 'Retry 3 chains' }).click();
    await dialog.getByText(/3 of 3 chains handled\. 3 steps retried: \d/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await reads(page, '1 problem to solve.');
    await page.context().close();
  });

  it("edits one event's mistake, with errors beside the field", async () => {
    const { chainId } = await company.start([udf('', { comment: 'Note it in the ticket' })]);
    await company.action(chainId, 0, 'needs-attention');
    const page = await pageOf(keys.steer, `${home}/chains/${chainId}`, phone);
    await click(page, /^Correct the fields/);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Ticket', { exact: true }).fill('7003');
    await dialog.getByLabel('Ticket field').fill('');
    await dialog.getByRole('button', { name: 'Save and retry' }).click();
    await dialog.locator('[aria-invalid=true]').waitFor();
    assert.equal(
      await dialog.locator('[aria-invalid=true]').getAttribute('id'),
      await dialog.getByLabel('Ticket field').getAttribute('id'),
    );
    assert.deepEqual(await obstacles(page), []);
    await takePicture(page, 'mend');
    await dialog.getByLabel('Ticket field').fill('Dispatched');
    await dialog.getByRole('button', { name: 'Save and retry' }).click();
    await page.getByText('completed', { exact: true }).waitFor();
    await reads(page, /: changed .*Ticket/);

    await go(page, `${home}/refused/${refusal?.rejectedId}`);
    await click(page, /^Edit and send/);
    await dialog.getByLabel(/^The field “cfValu” is unknown/).selectOption('leave this text out of the request');
    assert.deepEqual(await obstacles(page), []);
    await dialog.getByRole('button', { name: 'Send' }).click();
    await page.getByText('completed', { exact: true }).waitFor();
    await page.context().close();
  });

  it('corrects an assignment number in texts too; the page of the old number shows where the chain is', async () => {
    const [missing, assignment] = ['5005005', await stack.assignment()];
    const later = email([`job-${missing}@acme.example`], { subject: `Nobody for ${missing}`, delayInSeconds: '3000' });
    const { chainId } = await company.start([send(missing, { groupId: '501', comment: `For ${missing}` }), later]);
    await company.action(chainId, 0, 'needs-attention');
    const page = await pageOf(keys.steer, `${home}/chains/${chainId}`);
    await click(page, /^(Change|Edit)/);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Assignment number').fill(assignment);
    await dialog.getByText('(“Note” of step 1; “Subject” of step 2)').waitFor();
    await dialog.getByText('The old assignment number stays in: “To” of step 2.').waitFor();
    assert.deepEqual(await obstacles(page), []);
    await dialog.getByRole('button', { name: 'Save and retry' }).click();
    await company.action(chainId, 0, 'done');
    await page.goto(`${stack.links.api}${home}/assignments/${missing}`);
    await page.getByRole('link', { name: `assignment ${assignment}` }).click();
    await page.getByText(`Nobody for ${assignment}`).first().waitFor();
    await company.steer(chainId, 'cancel');
    await page.context().close();
  });

  it('shows on the page of a chain what the relay tolerated in its request', async () => {
    const { chainId } = await company.start([email(['ann@acme.example', 'none'])]);
    const page = await pageOf(keys.steer, `${home}/chains/${chainId}`);
    await page.getByText('Warnings about the request (1)').click();
    await page.getByText('Step 1: “To” has the entry "none", which is no e-mail address; the relay leaves it out.').waitFor();
    assert.deepEqual(await obstacles(page), []);
    await page.context().close();
  });

  it('edits many held actions of one cause with one correction, and shows each result first', async () => {
    const chains = await Promise.all(Array.from({ length: 3 }, () => company.start([udf('', { cfValue: 'many' })])));
    for (const { chainId } of chains) await company.action(chainId, 0, 'needs-attention');
    const page = await pageOf(keys.steer);
    await page.getByText('Decide about all 3 chains at once', { exact: true }).click();
    await click(page, /^Edit and retry 3 chains/);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Field', { exact: true }).selectOption('externalSystemTicketId');
    await dialog.getByLabel('Change').selectOption('default');
    await dialog.getByLabel('New text').fill('7003');
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByText('Edit and retry 3 chains?').waitFor();
    assert.equal(await dialog.getByText('"7003"').count(), 3);
    assert.deepEqual(await obstacles(page), []);
    await takePicture(page, 'mend-many');
    await dialog.getByRole('button', { name: 'Edit and retry 3 chains' }).click();
    await dialog.getByText(/3 of 3 chains handled\. 3 steps edited and retried: \d/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    for (const { chainId } of chains) assert.equal((await company.ended(chainId)).status, 'completed');
    await page.context().close();
  });

  it('updates without polling', async () => {
    const page = await pageOf(keys.steer, `${home}/chains?status=needs-attention`);
    await page.getByText(/^Updated at/).waitFor();
    // From now on, polls of the list get the old answer, so only the stream can bring a change.
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

  it('lets operators edit connections as JSON, shows the errors of the API, and shows no secret', async () => {
    const page = await pageOf(adminToken, `${home}/settings`);
    await page.getByText('Edit the connections', { exact: true }).click();
    const json = page.getByLabel('Connections as JSON');
    const before = JSON.parse(await json.inputValue());
    await json.fill('{');
    await click(page, 'Save connections');
    await page.getByText('The text has a mistake at line 1, column 2').waitFor();
    await json.fill(JSON.stringify({ ...before, ticketing: { kind: 'http' } }));
    await click(page, 'Save connections');
    await page.getByRole('alert').getByText('“Base url” of the ticket system').waitFor();
    const auth = { type: 'bearer', token: 'a-new-secret' };
    await json.fill(JSON.stringify({ ...before, ticketing: { ...before.ticketing, auth } }));
    await click(page, 'Save connections');
    await eventually('it to be saved', async () => {
      const stored = await stack.store.companies.get(companyId);
      return JSON.stringify(stored?.ticketing).includes('a-new-secret') || new Unmet(stored);
    });
    await page.reload();
    await reads(page, 'Ticket system');
    assert(!(await page.content()).includes('a-new-secret'));
    await page.context().close();
  });

  it('connects a vendor with a form, checks the connection, and says that a secret is wrong', async () => {
    const vendor = createAutotask();
    const { url, close } = await serveVendor(vendor);
    after(close);
    const { companyId, ...other } = await stack.company();
    const page = await pageOf(adminToken, `/companies/${companyId}/settings`);
    const tickets = page.getByRole('region', { name: 'Ticket system' });
    const stored = async () => (await stack.store.companies.get(companyId))?.ticketing;
    const press = async (name: string) => {
      const answered = page.waitForResponse((response) => ['PATCH', 'POST'].includes(response.request().method()));
      await tickets.getByRole('button', { name }).click();
      assert.equal((await answered).status(), 200);
    };
    await tickets.getByLabel('System').selectOption('Autotask PSA');
    await tickets.getByText(/Resources \(Users\)/).waitFor();
    assert.equal(await tickets.getByRole('button', { name: 'Remove' }).count(), 0);
    await tickets.getByLabel('Username (Key)').fill(autotaskCredentials.userName);
    await tickets.getByLabel('Password (Secret)').fill(autotaskCredentials.secret);
    await tickets.getByLabel('Tracking Identifier').fill(autotaskCredentials.integrationCode);
    await tickets.getByLabel('Other address').fill(url);
    await press('Save');
    assert.deepEqual(await stored(), { kind: 'autotask', ...autotaskCredentials, baseUrl: url });
    await press('Check');
    await tickets.getByText('works', { exact: true }).waitFor();
    const wholeCheck = page.locator('form').filter({ hasText: 'Settings check' });
    await wholeCheck.getByLabel('Ticket', { exact: true }).fill('T20260105.0674');
    await wholeCheck.getByLabel('Ticket fields').fill('Site note, Arrival time');
    await wholeCheck.getByLabel('Ticket fields').press('Enter');
    await wholeCheck.getByText(/among them Site note, Arrival time\. The relay can read ticket T20260105\.0674/).waitFor();
    assert.deepEqual(await obstacles(page), []);

    assert.equal(await tickets.getByLabel('Password (Secret)').inputValue(), '');
    await tickets.getByLabel('Password (Secret)').fill('wrong');
    await press('Save');
    assert.deepEqual(await stored(), { kind: 'autotask', ...autotaskCredentials, secret: 'wrong', baseUrl: url });
    await press('Check');
    await tickets.getByText('Autotask does not accept the credentials.').waitFor();
    assert.equal(await tickets.getByText(/answered 401/).isVisible(), false);
    await tickets.getByText('Details').click();
    await tickets.getByText(/answered 401/).waitFor();
    assert.deepEqual(await obstacles(page), []);

    const failing = stack.companyOf({ companyId, ...other });
    const { chainId } = await failing.start([udf('T20260105.0674')]);
    await failing.action(chainId, 0, 'needs-attention');
    for (const path of ['', `/chains/${chainId}`]) {
      await go(page, `/companies/${companyId}${path}`);
      await reads(page, /Autotask does not accept the credentials/);
      await reads(page, /Enter new credentials/);
      assert.equal(
        await page
          .getByText(/answered 401/)
          .first()
          .isVisible(),
        false,
      );
      assert.match((await page.getByRole('link', { name: 'Open the settings' }).first().getAttribute('class')) ?? '', /main/);
      assert.deepEqual(await obstacles(page), []);
    }

    await go(page, `/companies/${companyId}/settings`);
    await tickets.getByLabel('System').selectOption('Zendesk');
    assert.equal(await tickets.getByLabel('API token').inputValue(), '');
    await tickets.getByLabel('Subdomain').fill('not a host');
    await tickets.getByLabel('E-mail of the agent').fill('relay@example.com');
    await tickets.getByLabel('API token').fill('a-token');
    await tickets.getByRole('button', { name: 'Save' }).click();
    await tickets.locator('[aria-invalid=true]').waitFor();
    await tickets.getByLabel('Subdomain').fill('example');
    await press('Save');
    assert.deepEqual(await stored(), { kind: 'zendesk', subdomain: 'example', email: 'relay@example.com', token: 'a-token' });
    await tickets.getByLabel('System').selectOption('Not connected');
    await press('Remove');
    assert.equal(await stored(), undefined);
    await tickets.locator('select:focus').waitFor();
    assert.deepEqual(await obstacles(page), []);

    await tickets.getByLabel('System').selectOption('http bearer');
    await tickets.getByLabel('Address').fill(stack.platform.url);
    await tickets.getByLabel('Token').fill('a-bearer');
    await press('Save');
    const bearer = { type: 'bearer', token: 'a-bearer' };
    assert.deepEqual(await stored(), { kind: 'http', baseUrl: stack.platform.url, auth: bearer });
    await tickets.getByLabel('Address').fill(`${stack.platform.url}/`);
    await press('Save');
    assert.deepEqual(await stored(), { kind: 'http', baseUrl: `${stack.platform.url}/`, auth: bearer });
    await tickets.getByLabel('Address').fill('https://other.example.com');
    await tickets.getByRole('button', { name: 'Save' }).click();
    await tickets.getByLabel('Token').and(tickets.locator('[aria-invalid=true]')).waitFor();
    assert.deepEqual(await stored(), { kind: 'http', baseUrl: `${stack.platform.url}/`, auth: bearer });
    await page.context().close();
  });

  it("checks settings without effects, and shows a rule's last week", async () => {
    const page = await pageOf(keys.manage, `${home}/settings`);
    await page.getByLabel('Assignment', { exact: true }).fill('404405');
    await click(page, /^Check$/);
    await page.getByText('knows the assignment 404405').waitFor();
    await page.getByRole('checkbox', { name: /^Put links into notices/ }).uncheck();
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
    await reads(page, /Last chain,/);
    assert.deepEqual(await obstacles(page), []);
    await page.context().close();
  });

  it('offers for each action what the API allows, in each kind of chain', async () => {
    const page = await pageOf(keys.steer);
    let answer: ChainResource | undefined;
    await page.route(`**/co/${companyId}/chains/every`, (route) => route.fulfill({ json: answer }));
    const kinds = everyChain.filter(({ status }) => ['needs-attention', 'failed', 'cancelled'].includes(status));
    for (const chain of kinds.filter(({ status, closedAt }) => (closedAt === undefined) === (status === 'needs-attention'))) {
      answer = chain;
      await go(page, `${home}/chains/every`);
      for (const action of everyAction) {
        const article = page.getByRole('article').nth(action.index);
        await article.waitFor();
        const allowed = verbsFor(chain, action);
        const wordsOf = (verb: SteeringVerb) => (editsEarly(verb, action.state) ? 'Edit' : verbWords[verb]);
        const words = allowed.flatMap((verb) => (verb === 'cancel' && allowed.includes('skip') ? [] : wordsOf(verb)));
        const offered = await article.getByRole('group').getByRole('button').allTextContents();
        assert.deepEqual(
          offered.map((text) => text.replace(/…?: .*/, '')),
          words,
          `${chain.status} ${action.state}`,
        );
      }
    }
    await page.context().close();
  });

  it('decides about the selected chains, and about no other', async () => {
    const [first = '', second = ''] = await startHeldAt('404406', 2);
    const page = await pageOf(keys.steer, `${home}/chains?status=needs-attention`);
    await page.getByRole('checkbox').nth(1).waitFor();
    await page.getByRole('checkbox').first().check();
    await page.getByRole('region', { name: 'Decisions about the selected chains' }).getByRole('button', { name: 'Skip' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Skip steps of 1 chain' }).click();
    await page
      .getByRole('dialog')
      .getByText(/1 of 1 chain handled\. 1 step skipped/)
      .waitFor();
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

  it('creates a token and shows it once; a webhook with it is accepted', async () => {
    const page = await pageOf(keys.manage, `${home}/rules/${relayId}`);
    await reads(page, 'active');
    const ending = await page.getByText(/; expires/).count();
    await click(page, /^Create a token/);
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    const secret = page.getByRole('dialog').locator('.secret');
    const relayAccessToken = (await secret.textContent()) ?? '';
    assert.match(relayAccessToken, /^rlt_/);
    assert.deepEqual(await obstacles(page), []);
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
    await page.reload();
    await reads(page, 'active');
    assert.ok(!(await page.content()).includes(relayAccessToken));
    assert.equal(await page.getByText(/; expires/).count(), ending, 'ends a token without having been told to');
    await stack.companyOf({ companyId, relayId, relayAccessToken }).start([udf('7003')]);
    await page.context().close();
  });

  it('changes a rule, shows input errors, and resends what the rule refused', async () => {
    const page = await pageOf(keys.manage, `${home}/rules/${relayId}`);
    await openSettings(page);
    await click(page, 'Disable…');
    await click(page, /^Disable$/);
    await click(page, 'Enable');
    await click(page, 'Disable…');
    await click(page, /^Disable$/);
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    assert.equal((await company.post([udf('7003')])).status, 401);
    await page.getByLabel('E-mail addresses').fill('nobody');
    await click(page, /^Save$/);
    await page.getByRole('alert').getByText('is no e-mail address').first().waitFor();
    await page.getByLabel('E-mail addresses').fill('somebody@demo.example');
    await click(page, /^Save$/);
    await page.getByRole('alert').waitFor({ state: 'detached' });

    await go(page, `${home}/refused`);
    await page.getByRole('link', { name: 'The rule is disabled' }).click();
    await click(page, 'Send again');
    await page.getByRole('alert').getByText(`rule ${relayId} is disabled`).waitFor();
    await go(page, `${home}/rules/${relayId}`);
    await openSettings(page);
    await click(page, 'Enable');
    await page.getByRole('button', { name: 'Disable' }).waitFor();
    await page.goBack();
    await click(page, 'Send again');
    await page.getByText('completed', { exact: true }).waitFor();
    const stored = await stack.store.rules.get(companyId, relayId);
    assert.deepEqual(stored?.notify?.emails, ['somebody@demo.example']);
    await page.context().close();
  });

  it('says that the session is over, and keeps the address and the typed text', async () => {
    const page = await pageOf(keys.manage, `${home}/settings`);
    await page.getByLabel('Name').fill('Another name');
    await page.context().clearCookies();
    await click(page, 'Save');
    const again = page.getByRole('link', { name: 'Sign in again' });
    await again.first().waitFor();
    assert.equal(await page.getByLabel('Name').inputValue(), 'Another name');
    const other = await signInAgain(page, again.last(), keys.manage);
    await other.getByRole('heading', { name: 'Company', level: 1 }).waitFor();
    assert.equal(new URL(other.url()).pathname, `${home}/settings`);
    await click(page, 'Save');
    await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
    await again.first().waitFor({ state: 'detached' });
    assert.equal((await stack.store.companies.get(companyId))?.name, 'Another name');
    await page.context().close();
  });

  it('says also in a dialog that the session is over; the typed text can still be sent', async () => {
    const [chainId = ''] = await startHeldAt('404408', 1);
    const page = await pageOf(keys.steer, `${home}/chains/${chainId}`);
    await click(page, /^Change the assignment number/);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Assignment number').fill(shown.other);
    await page.context().clearCookies();
    await dialog.getByRole('button', { name: 'Save and retry' }).click();
    const other = await signInAgain(page, dialog.getByRole('link', { name: 'Sign in again' }), keys.steer);
    await other.getByRole('heading', { level: 1 }).waitFor();
    await dialog.getByRole('button', { name: 'Save and retry' }).click();
    await dialog.waitFor({ state: 'detached' });
    await company.ended(chainId);
    await page.context().close();
  });

  it('keeps a dialog and its text while somebody else decides, and returns the focus', async () => {
    const [chainId = ''] = await startHeldAt('404409', 1);
    const page = await pageOf(keys.steer, `${home}/chains/${chainId}`);
    await click(page, /^Change the assignment number/);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Save and retry' }).click();
    await dialog.getByText('You have not changed anything').waitFor();
    await dialog.getByLabel('Assignment number').fill('10019');
    await page.keyboard.press('Escape');
    await page.locator('button:focus', { hasText: 'Change the assignment number' }).waitFor();
    await click(page, /^Change the assignment number/);
    await dialog.getByLabel('Assignment number').fill('10019');
    await company.steer(chainId, 'skip', 0);
    await dialog.getByText(/The step has changed: its state is now “skipped”/).waitFor();
    assert.equal(await dialog.getByLabel('Assignment number').inputValue(), '10019');
    await dialog.getByRole('button', { name: 'Save and retry' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/skipped/)
      .waitFor();
    await page.context().close();
  });

  it('retries one of many chains first, and shows the result', async () => {
    const chainIds = await startHeldAt('404412', 2);
    // This test uses `manage`, because other tests sign in with `steer`, and a key may sign in only ten times a minute.
    const page = await pageOf(keys.manage);
    const card = page.getByRole('region').filter({ hasText: '404412' });
    await card.getByRole('button', { name: /^Change the assignment number of this step/ }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(await card.getByText(/^Tried|Result/).count(), 0, 'nothing was decided');
    await card.getByRole('button', { name: /^Retry this step/ }).click();
    await card.getByText(/Result: needs attention after 2 attempts/).waitFor();
    const tried = card.locator('.sample a').first();
    const address = await tried.getAttribute('href');
    await stack.assignment({ id: '404412' });
    await card.getByRole('button', { name: /^Retry this step/ }).click();
    await card.getByText(/Result: done/).waitFor();
    assert.equal(await tried.getAttribute('href'), address);
    // Below the result, the card shows the next chain.
    await card.getByRole('button', { name: /^Retry( this step)? ?:/ }).click();
    for (const chainId of chainIds) assert.equal((await company.ended(chainId)).status, 'completed');
    await page.context().close();
  });

  describe('keeps settings and unsaved input', () => {
    const admin = `${stack.links.api}/admin/companies`;
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    /** Makes a change as another user. */
    const change = async (at: string, fields: object) => {
      const { status } = await fetch(`${admin}/${at}`, { method: 'PATCH', headers, body: JSON.stringify(fields) });
      assert.equal(status, 200);
    };
    const save = async (page: Page) => {
      const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
      await click(page, /^Save$/);
      assert.equal((await saved).status(), 200);
    };
    /** Opens a page with a clock that can be advanced, so that rare requests happen. */
    const timedPageOf = async (to: string) => {
      const page = await pageOf(adminToken);
      await page.clock.install();
      await go(page, to);
      return page;
    };
    const becomes = (page: Page, label: string, value: string) =>
      eventually(`${label} to be ${value}`, async () => {
        const seen = await page.getByLabel(label).inputValue();
        return seen === value || new Unmet(seen);
      });
    /** Starts more than 50 chains that are held, and then a chain that is done. */
    const heldAndDone = async () => {
      await stack.heal();
      const many = await stack.company();
      const held = Array.from({ length: 51 }, () => many.start([send('404410', { groupId: '501' })]));
      for (const { chainId } of await Promise.all(held)) await many.action(chainId, 0, 'needs-attention');
      const { chainId } = await many.start([udf('7003')]);
      await many.ended(chainId);
      await eventually('all of them in the list', async () => {
        const answer = await fetch(`${stack.links.api}/co/${many.companyId}/chains?limit=100`, { headers });
        const { items } = chainListSchema.parse(await answer.json());
        const isThere = items.filter(({ status }) => status === 'needs-attention').length === 51 && items.length === 52;
        return isThere && items.some(({ closedAt }) => closedAt) ? true : new Unmet(items.length);
      });
      return { many, done: chainId };
    };
    let known: ReturnType<typeof heldAndDone> | undefined;
    const heldOnes = () => (known ??= heldAndDone());

    it("shows the rule's policy, and saves it unchanged unless the user changes it", async () => {
      const { companyId, relayId } = await stack.company({ onFailure: 'continue', onUnknown: 'hold' });
      const page = await pageOf(adminToken, `/companies/${companyId}/rules/${relayId}`);
      await openSettings(page);
      assert.equal(await page.getByLabel('If a step fails').inputValue(), 'continue');
      assert.equal(await page.getByLabel('If a connection breaks, and the result of the step is unknown').inputValue(), 'hold');
      await save(page);
      const policy = async () => {
        const { onFailure, onUnknown } = (await stack.store.rules.get(companyId, relayId)) ?? {};
        return { onFailure, onUnknown };
      };
      assert.deepEqual(await policy(), { onFailure: 'continue', onUnknown: 'hold' });
      await page.getByLabel('If a step fails').selectOption('hold');
      await save(page);
      assert.deepEqual(await policy(), { onFailure: 'hold', onUnknown: 'hold' });
      await page.context().close();
    });

    it('shows the active filter of chains, applies a change at once, and saves the filter as a view', async () => {
      const filter = { status: 'completed', relayId, reason: 'PlatformError', since: '24h' };
      const page = await pageOf(keys.read, `${home}/chains?${new URLSearchParams(filter)}`);
      await page.locator('.tabs [aria-current]', { hasText: 'completed' }).waitFor();
      for (const [label, value] of [
        ['Rule', relayId],
        ['Error', 'PlatformError'],
        ['Received', '24h'],
      ] as const)
        assert.equal(await page.getByLabel(label, { exact: true }).inputValue(), value, label);
      await page.getByLabel('Assignment', { exact: true }).fill('7');
      await page.waitForURL(/assignmentId=7/);
      assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), { ...filter, assignmentId: '7' });
      /** The field changes a moment after the address. */
      const assignmentIs = (value: string) =>
        eventually(`the assignment to be ${value}`, async () => {
          const seen = await page.getByLabel('Assignment', { exact: true }).inputValue();
          return seen === value || new Unmet(seen);
        });
      await click(page, 'Save this filter as a view');
      await page.getByLabel('Name of the view').fill('Sevens');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('link', { name: 'Clear filter' }).click();
      await page.waitForURL(/chains$/);
      await assignmentIs('');
      await page.getByRole('link', { name: 'Sevens' }).click();
      await page.waitForURL(/assignmentId=7/);
      await assignmentIs('7');
      assert.deepEqual(await obstacles(page), []);
      await page.context().close();
    });

    it('opens a chain beside the list on a wide screen', async () => {
      const page = await pageOf(keys.read, `${home}/chains?status=failed`, { ...wide, viewport: { width: 1280, height: 800 } });
      await page.getByRole('row').getByRole('link').first().click();
      const beside = page.getByRole('complementary', { name: 'The chosen chain' });
      await beside.getByRole('heading', { level: 2, name: /^Assignment 404404/ }).waitFor();
      assert.match(page.url(), /status=failed&open=/);
      assert.deepEqual(await obstacles(page), []);
      await beside.getByRole('link', { name: 'Close' }).click();
      await beside.waitFor({ state: 'detached' });
      await page.context().close();
    });

    it('goes back to the same place in a list of chains, and keeps only the selection of that filter', async () => {
      const { many } = await heldOnes();
      const page = await pageOf(adminToken, `/companies/${many.companyId}/chains?since=24h`);
      const rows = page.getByRole('row').filter({ has: page.getByRole('link') });
      const showRows = (count: number) => rows.nth(count - 1).waitFor();
      const chosen = page.getByRole('region', { name: 'Decisions about the selected chains' });
      await page.getByRole('link', { name: /^needs attention/ }).click();
      await page.waitForURL(/status=needs-attention/);
      await showRows(25);
      await page.getByRole('checkbox').first().check();
      await page.getByText('More', { exact: true }).click();
      await page.waitForURL(/cursor=/);
      await showRows(25);
      await page.getByText('More', { exact: true }).click();
      await page.getByText('More', { exact: true }).waitFor({ state: 'detached' });
      await showRows(1);
      assert.equal(await page.getByLabel('Received', { exact: true }).inputValue(), '24h');
      await chosen.getByText('1 chain selected').waitFor();
      assert.deepEqual(await obstacles(page), []);
      await rows.getByRole('link').click();
      await reads(page, 'does not exist at the assignment platform');
      await page.goBack();
      await showRows(1);
      assert.equal(await rows.count(), 1);
      await page.goBack();
      await page.goBack();
      await showRows(25);
      await page.goBack();
      await page
        .getByRole('cell', { name: 'completed' })
        .or(page.getByText('More', { exact: true }))
        .first()
        .waitFor();
      assert.equal(new URL(page.url()).search, '?since=24h');
      assert.equal(await page.getByRole('alert').count(), 0);

      await page.getByRole('checkbox').first().check();
      await page.getByRole('link', { name: /^needs attention/ }).click();
      await page.waitForURL(/status=needs-attention/);
      await showRows(25);
      assert.equal(await chosen.count(), 0, 'what was chosen of another filter');
      await page.getByRole('checkbox').first().check();
      const dialog = page.getByRole('dialog');
      await chosen.getByRole('button', { name: 'Retry' }).click();
      await dialog.getByRole('button', { name: 'Back' }).click();
      await chosen.getByText('1 chain selected').waitFor();
      await chosen.getByRole('button', { name: 'Retry' }).click();
      await dialog.getByRole('button', { name: 'Retry 1 chain' }).click();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await chosen.waitFor({ state: 'detached' });
      await page.context().close();
    });

    it('saves only the changed fields of a company, and keeps what the user types', async () => {
      const { companyId } = await stack.company();
      const stored = async () => {
        const { name, timeZone, notify } = (await stack.store.companies.get(companyId)) ?? {};
        return { name, timeZone, emails: notify?.emails };
      };
      const page = await timedPageOf(`/companies/${companyId}/settings`);
      const emails = page.getByLabel('E-mail addresses');
      await emails.fill('one@demo.example');
      await change(companyId, { name: 'Renamed' });
      await save(page);
      assert.deepEqual(await stored(), { name: 'Renamed', timeZone: 'UTC', emails: ['one@demo.example'] });

      await emails.fill('two@demo.example');
      await change(companyId, { timeZone: 'Europe/Berlin' });
      await page.clock.fastForward(60_000);
      await becomes(page, 'Time zone', 'Europe/Berlin');
      assert.equal(await emails.inputValue(), 'two@demo.example');
      await save(page);
      assert.deepEqual(await stored(), { name: 'Renamed', timeZone: 'Europe/Berlin', emails: ['two@demo.example'] });

      await change(companyId, { notify: { emails: ['three@demo.example'] } });
      await page.clock.fastForward(60_000);
      await becomes(page, 'E-mail addresses', 'three@demo.example');

      await page.getByText('Edit the connections', { exact: true }).click();
      const json = page.getByLabel('Connections as JSON');
      const written = JSON.stringify({ ...JSON.parse(await json.inputValue()), limits: { openChains: 77 } });
      await json.fill(written);
      await change(companyId, { name: 'Again', ticketing: { kind: 'http', baseUrl: 'https://tickets.example' } });
      await page.clock.fastForward(60_000);
      const tickets = page.getByRole('region', { name: 'Ticket system' });
      await eventually('the form to show the address', async () => {
        const seen = await tickets.getByLabel('Address').inputValue();
        return seen === 'https://tickets.example' || new Unmet(seen);
      });
      assert.equal(await json.inputValue(), written);
      const saved = page.waitForResponse((response) => response.request().method() === 'PUT');
      await click(page, 'Save connections');
      assert.equal((await saved).status(), 200);
      const { name, limits, ticketing } = (await stack.store.companies.get(companyId)) ?? {};
      assert.equal(name, 'Again');
      assert.equal(limits?.openChains, 77);
      assert.match(JSON.stringify(ticketing), /tickets\.example/);
      await page.context().close();
    });

    it('saves only the changed fields of a rule, and asks before it is disabled', async () => {
      const { companyId, relayId } = await stack.company();
      const stored = async () => {
        const { name, enabled, onFailure, notify } = (await stack.store.rules.get(companyId, relayId)) ?? {};
        return { name, enabled, onFailure, ...notify };
      };
      const page = await timedPageOf(`/companies/${companyId}/rules/${relayId}`);
      await openSettings(page);
      await page.getByLabel('E-mail addresses').fill('one@demo.example');
      const webhookUrl = 'https://hooks.example/secret';
      await change(`${companyId}/rules/${relayId}`, { name: 'Renamed', onFailure: 'continue', notify: { webhookUrl } });
      await save(page);
      const expected = { name: 'Renamed', enabled: true, onFailure: 'continue', emails: ['one@demo.example'], webhookUrl };
      assert.deepEqual(await stored(), expected);

      await page.getByLabel('Name').fill('Not saved');
      await change(`${companyId}/rules/${relayId}`, { onFailure: 'hold' });
      await page.clock.fastForward(60_000);
      await becomes(page, 'If a step fails', 'hold');
      assert.equal(await page.getByLabel('Name').inputValue(), 'Not saved');

      const dialog = page.getByRole('dialog');
      await click(page, 'Disable');
      await dialog
        .getByText(/New requests are stored, but do not run\. Running chains skip each step that becomes due\./)
        .waitFor();
      assert.deepEqual(await obstacles(page), []);
      await dialog.getByRole('button', { name: 'Back' }).click();
      assert.equal((await stored()).enabled, true);
      await click(page, 'Disable');
      await dialog.getByRole('button', { name: /^Disable$/ }).click();
      await page.getByRole('button', { name: 'Enable' }).waitFor();
      assert.deepEqual(await stored(), { ...expected, enabled: false, onFailure: 'hold' });
      assert.equal(await page.getByLabel('Name').inputValue(), 'Not saved');
      await page.context().close();
    });

    it("shows a rule's last chain beside more than 50 open chains", async () => {
      const { many, done } = await heldOnes();
      const page = await pageOf(adminToken, `/companies/${many.companyId}/rules/${many.relayId}`);
      await page
        .getByText(/Last chain,/)
        .locator(`a[href$="${done}"]`)
        .waitFor({ timeout: 20_000 });
      await page.context().close();
    });

    it("shows an assignment's history in order, and another user's decision soon", async () => {
      await stack.heal();
      const mine = await stack.company();
      const sends = [{}, {}, { delayInSeconds: '3600' }, { delayInSeconds: '7200' }];
      const { chainId } = await mine.start(sends.map((more) => send('404411', { groupId: '501', ...more })));
      await mine.action(chainId, 0, 'needs-attention');
      const page = await pageOf(adminToken, `/companies/${mine.companyId}/assignments/404411`);
      const states = page.getByRole('article').locator('h2 .badge');
      await states.nth(3).waitFor();
      assert.deepEqual(await states.allTextContents(), ['needs attention', 'waiting', 'scheduled', 'scheduled']);
      await page
        .getByRole('article')
        .nth(1)
        .getByText(/Waits for the previous step/)
        .waitFor();
      assert.deepEqual(await obstacles(page), []);
      await mine.steer(chainId, 'cancel', 2);
      await states.filter({ hasText: 'cancelled' }).waitFor({ timeout: 20_000 });
      await page.context().close();
    });

    it("says that a send reached nobody, and until when an action is paused, in the company's time zone", async () => {
      await stack.heal();
      const mine = await stack.company();
      await change(mine.companyId, { timeZone: 'America/Chicago' });
      const assignment = await stack.assignment();
      const { chainId } = await mine.start([send(assignment, { groupId: '504' })]);
      await mine.ended(chainId);
      const until = new Date(Date.now() + 3_600_000).toISOString();
      const body = JSON.stringify({ what: 'platform', reason: 'new version', until });
      assert.equal((await fetch(`${admin}/${mine.companyId}/pause`, { method: 'PUT', headers, body })).status, 200);
      const paused = await mine.start([send(assignment, { groupId: '501' })]);
      await mine.action(paused.chainId, 0, 'pending');
      const page = await pageOf(adminToken, `/companies/${mine.companyId}/assignments/${assignment}`);
      const done = page.getByRole('listitem').filter({ hasText: 'nobody found' });
      await done.waitFor();
      assert.equal(await done.getAttribute('class'), 'wait');
      const local = (await page.locator('.reason', { hasText: 'Paused: the platform' }).textContent()) ?? '';
      assert.match(local, /^Paused: the platform, since \S+ [\d:]+ C[DS]T until \S+ [\d:]+ C[DS]T\. Reason: new version$/);
      assert.deepEqual(await obstacles(page), []);
      await page.getByRole('button', { name: /^End now/ }).click();
      const ending = page.getByRole('dialog');
      await ending.getByLabel('Steps of 1 chain that waited during the pause').selectOption('run all at once');
      assert.deepEqual(await obstacles(page), []);
      await ending.getByRole('button', { name: 'End now' }).click();
      await mine.ended(paused.chainId);
      await page.context().close();
    });

    it('shows without a reload that a pause moves the next steps, and that its end moves them back', async () => {
      const mine = await stack.company();
      const assignment = await stack.assignment();
      const { chainId } = await mine.start([send(assignment, { groupId: '501', delayInSeconds: '600' })]);
      await mine.action(chainId, 0, 'scheduled');
      const page = await pageOf(adminToken, `/companies/${mine.companyId}/assignments/${assignment}`);
      const step = page.getByRole('article');
      await step.getByText(/in (9|10) minutes/).waitFor();
      await click(page, /^Pause/);
      await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
      await step.getByText(/in (1 hour|2 hours).*moved because of the pause/).waitFor({ timeout: 20_000 });
      await reads(page, /Next step, when the pause ends: send to group 501/);
      await page.getByRole('button', { name: /^End now/ }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'End now' }).click();
      await step.getByText(/in (9|10) minutes/).waitFor({ timeout: 20_000 });
      await page.context().close();
    });

    it('offers the composer only to those who may write a rule', async () => {
      const { companyId } = await stack.company();
      for (const [role, count] of [
        ['read', 0],
        ['steer', 0],
        ['author', 1],
      ] as const) {
        const made = await stack.store.keys.create(companyId, role, actor, { role });
        assert(typeof made === 'object');
        const page = await pageOf(made.key, `/companies/${companyId}/chains`);
        await reads(page, /There are no chains yet/);
        assert.equal(await page.getByRole('link', { name: 'Write a rule' }).count(), count, role);
        await page.context().close();
      }
    });
  });

  it('calls only the relay, and its policy blocks none of its own files', () => {
    // Refusals that a test causes on purpose are not errors of the page.
    assert.deepEqual(
      said.filter((words) => !/Failed to load resource: the server responded with a status of 4\d\d/.test(words)),
      [],
    );
  });

  /** @returns the new tab */
  async function signInAgain(page: Page, link: Locator, key: string): Promise<Page> {
    const [other] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    await other.getByLabel('Admin token or company key').fill(key);
    await click(other, 'Sign in');
    return other;
  }

  /** @returns the ids of chains that are held for an unknown assignment, once the lists show them */
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
