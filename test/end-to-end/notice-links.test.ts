/** A contact without a key decides by the link of a notice: about that one hold, and only by the form of its page. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { contactMark, HoldLinks } from '../../src/contract/hold-link.js';
import { adminToken, eventually, readable, send, startStack, Unmet } from './stack.js';

const secret = 's'.repeat(32);
const stack = await startStack({ noticeDigestSeconds: 0, secret, keyring: null });
type Company = Awaited<ReturnType<typeof stack.company>>;
const { api } = stack.links;

/** A chain that is held, since nobody knows its assignment. */
async function held(company: Company) {
  const assignmentId = String(Math.floor(Math.random() * 1e12));
  const action = send(assignmentId, { groupId: '501', comment: 'to <b>all</b>' });
  const { chainId } = await company.start([action, { ...action, comment: 'behind it' }]);
  await company.action(chainId, 0, 'needs-attention');
  return { chainId, assignmentId };
}

/** The link in the last of so many notices to the company. */
async function linkIn(company: Company, count = 1): Promise<string> {
  const notices = await stack.mails(company.admin, count);
  const { Text } = await stack.text(notices[count - 1] ?? assert.fail());
  return /without a key: (http\S+\/hold\/\S+)/.exec(Text)?.[1] ?? assert.fail(Text);
}

const get = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { Cookie: cookie } });

/** What a browser does with the link. @returns the page, its address, and the cookie. */
async function open(link: string) {
  const exchanged = await get(link);
  assert.equal(exchanged.status, 303, await exchanged.clone().text());
  const [setCookie = ''] = exchanged.headers.getSetCookie();
  const [cookie = ''] = setCookie.split(';');
  const url = api + exchanged.headers.get('Location');
  const page = await get(url, cookie);
  return { url, cookie, setCookie, status: page.status, text: await page.text() };
}

const decide = (url: string, cookie: string, decision: string, headers: Record<string, string> = { Origin: api }) =>
  fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { Cookie: cookie, ...headers },
    body: new URLSearchParams({ decision }),
  });

/** Waits until the page says so. */
const says = (url: string, cookie: string, wanted: RegExp) =>
  eventually(`the page to say ${wanted}`, async () => {
    const text = await (await get(url, cookie)).text();
    return wanted.test(text) ? text : new Unmet(text);
  });

describe('the link of a notice', { concurrency: true }, () => {
  it('opens a page that says what is held and why; opening it decides nothing', async () => {
    const company = await stack.company();
    const { chainId, assignmentId } = await held(company);
    const link = await linkIn(company);
    for (let n = 0; n < 2; n += 1) {
      const { url, setCookie, status, text } = await open(link);
      assert.equal(status, 200);
      assert.equal(url, `${api}/hold/${company.companyId}/${chainId}/0`);
      assert.match(setCookie, /^relay-hold=[^;]+; Max-Age=3600; Path=\/hold\/c-[^;]+\/0; HttpOnly; SameSite=Lax$/);
      for (const said of [
        'Test company',
        assignmentId,
        'to &lt;b&gt;all&lt;/b&gt;',
        '404',
        'behind it',
        'value="retry"',
        'value="skip"',
      ])
        assert.ok(text.includes(said), said);
    }
    const page = await get((await open(link)).url, (await open(link)).cookie);
    assert.match(page.headers.get('Content-Security-Policy') ?? '', /^default-src 'none'; .*form-action 'self'/);
    assert.equal(page.headers.get('Cache-Control'), 'no-store');
    const { actions } = await company.read(chainId);
    assert.deepEqual([actions[0]?.state, actions[0]?.steered], ['needs-attention', undefined]);
  });

  it('retries what is held, in the name of its contact, and once', async () => {
    const company = await stack.company();
    const { chainId, assignmentId } = await held(company);
    const link = await linkIn(company);
    const { url, cookie } = await open(link);
    await stack.assignment({ id: assignmentId });
    const decided = await decide(url, cookie, 'retry');
    assert.deepEqual([decided.status, decided.headers.get('Location')], [303, `${new URL(url).pathname}?asked=retry`]);
    assert.equal((await company.ended(chainId)).status, 'completed');
    const name = `the link of a notice to ${company.admin}`;
    const page = await says(`${url}?asked=retry`, cookie, /It is done.*The chain is<\/th><td>completed/s);
    assert.match(page, new RegExp(`Retried by ${name}, `));
    assert.doesNotMatch(page, /<button/);
    assert.deepEqual(
      (await company.read(chainId)).actions[0]?.steered?.map(({ by, verb }) => [by, verb]),
      [[name, 'retry']],
    );
    const { items } = await stack.store.audit.list({ companyId: company.companyId, limit: 1 });
    assert.deepEqual(
      [items[0]?.action, items[0]?.actor],
      ['chain.retry', { kind: 'link', companyId: company.companyId, contact: company.admin }],
    );
    for (const verb of ['retry', 'skip']) assert.match(await (await decide(url, cookie, verb)).text(), /Retried by/);
    assert.match((await open(link)).text, /Retried by .*It is done/);
  });

  it('skips what is held', async () => {
    const company = await stack.company();
    const { chainId } = await held(company);
    const { url, cookie } = await open(await linkIn(company));
    await decide(url, cookie, 'skip');
    await company.action(chainId, 0, 'skipped');
    await says(url, cookie, /Skipped by the link of a notice to/);
  });

  it('ends with its hold: a retry that fails is another, with a link of its own', async () => {
    const company = await stack.company();
    const { chainId } = await held(company);
    const first = await open(await linkIn(company));
    await decide(first.url, first.cookie, 'retry');
    const second = await open(await linkIn(company, 2));
    assert.match(await says(first.url, first.cookie, /It has failed again/), /A further notice says so/);
    assert.equal((await decide(first.url, first.cookie, 'skip')).status, 200);
    assert.equal((await company.read(chainId)).actions[0]?.state, 'needs-attention');
    await decide(second.url, second.cookie, 'skip');
    await company.action(chainId, 0, 'skipped');
  });

  it('ends where somebody else has decided', async () => {
    const company = await stack.company();
    const { chainId } = await held(company);
    const { url, cookie } = await open(await linkIn(company));
    await company.steer(chainId, 'cancel');
    await company.ended(chainId);
    assert.match(await says(url, cookie, /cancelled/), /It is not held any more/);
    assert.equal((await decide(url, cookie, 'retry')).status, 200);
    assert.equal((await company.read(chainId)).status, 'cancelled');
  });

  it('decides only by the form of its own page', async () => {
    const company = await stack.company();
    const { chainId } = await held(company);
    const { url, cookie } = await open(await linkIn(company));
    for (const [headers, given] of [
      [{}, cookie],
      [{ Origin: 'https://evil.example' }, cookie],
      [{ Origin: api, 'Sec-Fetch-Site': 'cross-site' }, cookie],
      [{ Origin: api }, ''],
      [{ Origin: api, Authorization: `Bearer ${adminToken}` }, ''],
    ] as [Record<string, string>, string][])
      assert.ok([401, 403].includes((await decide(url, given, 'skip', headers)).status), JSON.stringify(headers));
    assert.equal((await decide(url, cookie, 'cancel')).status, 400);
    assert.equal((await company.read(chainId)).actions[0]?.state, 'needs-attention');
  });

  it('opens nothing else', async () => {
    const company = await stack.company();
    const [one, other] = [await held(company), await held(company)];
    const { cookie } = await open(await linkIn(company, 2));
    const page = (chainId: string, index = 0) => get(`${api}/hold/${company.companyId}/${chainId}/${index}`, cookie);
    const statuses = [];
    for (const asked of [page(one.chainId), page(other.chainId), page(one.chainId, 1), page(other.chainId, 1)])
      statuses.push((await asked).status);
    assert.deepEqual(statuses.sort(), [200, 401, 401, 401]);
    assert.equal((await get(`${api}/co/${company.companyId}/chains/${one.chainId}`, cookie)).status, 401);
  });

  it('that is foreign, expired, or of somebody who is no contact any more says so', async () => {
    const company = await stack.company();
    const { chainId } = await held(company);
    const link = await linkIn(company);
    const forged = await get(`${link.slice(0, -3)}AAA`);
    assert.deepEqual([forged.status, forged.headers.getSetCookie()], [401, []]);
    assert.match(await forged.text(), /no link of a notice/);
    const about = { companyId: company.companyId, chainId, index: 0, at: new Date().toISOString() };
    const made = (contact: string, until: number) =>
      `${api}/hold/${new HoldLinks(secret).sign({ ...about, contact: contactMark(contact), until: Math.floor(until / 1000) })}`;
    const expired = await get(made(company.admin, Date.now() - 5000));
    assert.equal(expired.status, 410);
    assert.match(await expired.text(), /time .* is over/);
    const gone = await open(made('former@contact.example', Date.now() + 60_000));
    assert.deepEqual([gone.status, /no contact any more/.test(gone.text)], [410, true]);
  });

  it('is of no use, and in no further notice, once the company has switched it off', async () => {
    const company = await stack.company();
    const { chainId } = await held(company);
    const { url, cookie } = await open(await linkIn(company));
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const changed = await fetch(`${api}/admin/companies/${company.companyId}`, {
      method: 'PATCH',
      headers,
      body: JSON.stringify({ noticeLinks: false }),
    });
    assert.equal(changed.status, 200, await changed.clone().text());
    const page = await get(url, cookie);
    assert.equal(page.status, 410);
    assert.match(await page.text(), /switched .* off/);
    assert.equal((await decide(url, cookie, 'skip')).status, 410);
    assert.equal((await company.read(chainId)).actions[0]?.state, 'needs-attention');
    await held(company);
    const [, notice] = await stack.mails(company.admin, 2);
    assert.doesNotMatch(JSON.stringify(await stack.text(notice ?? assert.fail())), /\/hold\//);
  });

  it('is in no log and no history, and its contact in no log', async () => {
    const contact = `ada-${randomUUID()}@people.example`;
    const company = await stack.company({ notify: { emails: [contact] } });
    const { chainId } = await held(company);
    const [notice] = await stack.mails(contact, 1);
    const { Text } = await stack.text(notice ?? assert.fail());
    const link = /http\S+\/hold\/(\S+)/.exec(Text) ?? assert.fail(Text);
    const { url, cookie } = await open(link[0]);
    await decide(url, cookie, 'skip');
    await company.action(chainId, 0, 'skipped');
    for (const hidden of [link[1] ?? '', link[1]?.split('.')[1] ?? '', contact])
      assert.ok(!stack.logged().includes(hidden), hidden);
    const histories = [];
    for await (const { workflowId, runId } of stack.client.workflow.list({ query: `RelayCompanyId = '${company.companyId}'` }))
      histories.push(readable(await stack.client.workflow.getHandle(workflowId, runId).fetchHistory()));
    assert.ok(histories.length >= 3 && histories.some((text) => text.includes(chainId)), 'the histories were not read');
    for (const text of histories) assert.ok(!text.includes('/hold/') && !text.includes(link[1] ?? ' '));
  });
});
