/** The pages of the sandbox in a real browser, on a phone and on a wide screen. */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createTransport } from 'nodemailer';
import { startMailCatcher } from '../../../src/sandbox/mail/catcher.js';
import { startPlatform } from '../../../src/sandbox/platform/platform.js';
import { missingBrowser, obstacles, startBrowser } from '../../end-to-end/browser.js';
import { call } from '../../sandbox/http.js';

if (missingBrowser) it('the pages of the sandbox', { skip: missingBrowser }, () => {});
else describe('the pages of the sandbox', onThePages);

async function onThePages(): Promise<void> {
  const platform = await startPlatform({ host: '127.0.0.1', port: 0 });
  const mail = await startMailCatcher({ host: '127.0.0.1', smtpPort: 0, uiPort: 0 });
  const browser = await startBrowser();
  after(() => Promise.all([platform.close(), mail.close()]));
  await call(platform.url, 'POST', '/assignments/1001/send', { groupIds: ['501'] }, { 'Idempotency-Key': 'relay/chain/0/send' });
  const from = '"Relay with a name that is long" <relay-with-a-long-address@dispatch.example>';
  await createTransport(mail.smtpUrl).sendMail({
    from,
    to: 'manager@demo.example',
    subject: 'Hello',
    text: 'Hello',
    html: 'Hello',
  });
  const { at } = await call(mail.uiUrl, 'GET', '/api/v1/messages');
  const pages: [url: string, words: string | RegExp][] = [
    [platform.url, '/assignments/1001/send'],
    [`${platform.url}/vendors`, 'T20260105.0674 · Replace a broken till'],
    [mail.uiUrl, /^1 message$/],
    [`${mail.uiUrl}/message/${at('messages.0.ID')}`, 'relay-with-a-long-address@dispatch.example'],
  ];
  for (const [width, colorScheme] of [
    [1100, 'light'],
    [390, 'dark'],
  ] as const)
    it(`have no axe violation, and fit on a screen of ${width} pixels`, async () => {
      const page = await (await browser.newContext({ viewport: { width, height: 844 }, colorScheme })).newPage();
      for (const [url, words] of pages) {
        await page.goto(url);
        await page.getByText(words).first().waitFor();
        await page.evaluate('for (const part of document.querySelectorAll("details")) part.open = true');
        assert.deepEqual(await obstacles(page), [], url);
        assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, `${url} is too wide`);
      }
      await page.context().close();
    });
}
