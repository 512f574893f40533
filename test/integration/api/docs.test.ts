import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { wholeApi } from '../../api/whole-api.js';
import { missingBrowser, obstacles, startBrowser } from '../../end-to-end/browser.js';

describe('the documentation at /docs', { skip: missingBrowser }, () => {
  let api: Awaited<ReturnType<typeof wholeApi>>;
  before(async () => {
    api = await wholeApi({ links: { api: 'https://relay.example.com' } });
  });
  after(() => api.close());

  it('has a sidebar, a search and an example of every request, and asks no other host', async () => {
    const page = await (await startBrowser()).newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(60_000);
    const [wrong, foreign]: string[][] = [[], []];
    page.on('console', (said) => said.type() === 'error' && wrong?.push(said.text()));
    page.on('pageerror', (error) => wrong?.push(String(error)));
    page.on(
      'request',
      (asked) =>
        !asked
          .url()
          .replace(/^blob:/, '')
          .startsWith(api.url) && foreign?.push(asked.url()),
    );
    await page.goto(`${api.url}/docs?companyId=acme`);
    const menu = page.getByRole('menu').first();
    await menu.getByText('Causes', { exact: true }).click();
    await menu.getByText('List the reasons why chains need attention').click();
    const operation = page.locator('[id="tag/Causes/operation/listCauses"]');
    await operation.getByText('https://relay.example.com/co/acme/causes').waitFor();
    await operation.getByText('$RELAY_KEY').waitFor();
    await operation.locator('a[href="/problems/unauthorized"]').waitFor();
    await page.getByRole('textbox', { name: 'Search' }).fill('pause');
    const results = page.locator('[data-role="search:results"]');
    await results.getByText('Pause a company or one of its connectors').click();
    await page.waitForURL(/#tag\/Companies\/operation\/pauseCompany$/);
    const own = (await obstacles(page)).filter((found) => !/redoc|class="sc-/.test(found));
    assert.deepEqual({ own, wrong, foreign }, { own: [], wrong: [], foreign: [] });
  });
});
