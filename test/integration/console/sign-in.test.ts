/** A person signs in on a phone, from the inbox, and manages the people of the company. */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createOpenId } from '../../../src/connectors/openid.js';
import { startMailCatcher } from '../../../src/sandbox/mail/catcher.js';
import { readConfig } from '../../../src/service/config.js';
import { missingBrowser, obstacles, startBrowser } from '../../end-to-end/browser.js';
import { serveApi } from '../../hostile/api.js';
import { openEmptied } from '../../store/emptied.js';

if (missingBrowser) it('people in the console', { skip: missingBrowser }, () => {});
else describe('people in the console', inTheBrowser);

async function inTheBrowser() {
  const mail = await startMailCatcher({ host: '127.0.0.1', smtpPort: 0, uiPort: 0 });
  const client = { RELAY_OIDC_CLIENT_ID: 'relay', RELAY_OIDC_CLIENT_SECRET: 'secret' };
  const openId = createOpenId(
    readConfig({ RELAY_OIDC_ISSUER: 'https://login.a-service-with-a-long-name.example', ...client }),
    '',
  );
  const served = await serveApi(await openEmptied(), { smtpUrl: mail.smtpUrl, ...(openId && { openId }) });
  const admin = { kind: 'admin' } as const;
  const browser = await startBrowser();
  after(async () => {
    await served.close();
    await mail.close();
  });

  it('sign in from the inbox, and add, change and remove people', async () => {
    await served.store.people.set(served.companyId, { email: 'ada@acme.example', name: 'Ada', role: 'manage' }, admin);
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    const said: string[] = [];
    page.on('pageerror', (error) => said.push(error.message));
    page.on('console', (message) => message.type() === 'error' && said.push(message.text()));
    const isFine = async () => {
      assert.deepEqual(await obstacles(page), []);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
    };

    await page.goto(`${served.url}/companies/${served.companyId}/people`);
    await page.getByRole('link', { name: 'Sign in with login.a-service' }).waitFor();
    await isFine();
    assert.equal(await page.evaluate('document.activeElement.name'), 'email', 'the address comes first');
    await page.keyboard.type('ada@acme.example');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
    await isFine();

    const inbox = await context.newPage();
    await inbox.goto(mail.uiUrl);
    await inbox.getByRole('heading', { name: 'Sign in to the relay' }).click();
    const opened = context.waitForEvent('page');
    await inbox.frameLocator('iframe').getByRole('link', { name: 'Sign in' }).click();
    const linked = await opened;
    const button = linked.getByRole('button', { name: /^Sign in to/ });
    await button.waitFor();
    assert.deepEqual(await obstacles(linked), []);
    await button.click();
    await linked.getByRole('heading', { name: 'People and changes' }).waitFor();
    await linked.getByText('Signed in as Ada (role: manager)').waitFor();

    await page.goto(`${served.url}/companies/${served.companyId}/people`);
    await page.getByRole('button', { name: 'Add a person' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail address').fill('bob@acme.example');
    await dialog.getByRole('button', { name: 'Add' }).click();
    const bob = page.getByRole('region', { name: 'People' }).getByRole('row').filter({ hasText: 'bob@acme.example' });
    await bob.getByRole('cell', { name: 'never' }).waitFor();
    await page.getByText('Saved. The person gets a mail that says how to sign in.').waitFor();
    await isFine();
    await bob.getByRole('button', { name: 'Change bob' }).click();
    await dialog.getByLabel('Role').selectOption('author');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await bob.getByText('rule author', { exact: true }).waitFor();
    const people = async () => (await served.store.people.list(served.companyId))?.map(({ name, role }) => `${name} ${role}`);
    assert.deepEqual(await people(), ['Ada manage', 'bob author']);
    await page.getByRole('cell', { name: 'Ada', exact: true }).first().waitFor();
    await bob.getByRole('button', { name: 'Remove bob' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await bob.waitFor({ state: 'detached' });
    assert.deepEqual(await people(), ['Ada manage']);
    assert.deepEqual(said, []);
    await context.close();
  });
}
