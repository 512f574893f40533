/** A contact without a key decides with the link in a notice: about that hold only, and only through the form on its page. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { contactMark, HoldLinks } from '../../../src/contract/hold-link.js';
import { adminToken, eventually, readable, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const secret = 's'.repeat(32);
const stack = await startStack({ noticeDigestSeconds: 0, secret, keyring: null });
type Company = Awaited<ReturnType<typeof stack.company>>;
const { api } = stack.links;

/** Starts a chain that is held for an unknown assignment. */
async function held(company: Company) {
  const assignmentId = String(Math.floor(Math.random() * 1e12));
  const action = send(assignmentId, { groupId: '501', comment: 'to <b>all</b>' });
  const { chainId } = await company.start([action, { ...action, comment: `behind ${assignmentId}` }]);
  await company.action(chainId, 0, 'needs-attention');
  return { chainId, assignmentId };
}

async function change({ companyId }: Company, settings: object): Promise<void> {
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
  const body = JSON.stringify(settings);
  const changed = await fetch(`${api}/admin/companies/${companyId}`, { method: 'PATCH', headers, body });
  assert.equal(changed.status, 200, await changed.clone().text());
}

/** The link in the notice number `count` to the company. */
async function linkIn(company: Company, count = 1): Promise<string> {
  const notices = await stack.mails(company.admin, count);
  const { Text } = await stack.text(notices[count - 1] ?? assert.fail());
  return /^Retry: (http\S+\/hold\/[\w.-]+)#retry$/m.exec(Text)?.[1] ?? assert.fail(Text);
}

const get = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { Cookie: cookie } });

/** Opens the link as a browser does. @returns the page, its address, and the cookie. */
async function open(link: string) {
  const exchanged = await get(link);
  assert.equal(exchanged.status, 303, await exchanged.clone().text());
  const [setCookie = ''] = exchanged.headers.getSetCookie();
  const [cookie = ''] = setCookie.split(';');
  const url = api + exchanged.headers.get('Location');
  const page = await get(url, cookie);
  return { url, cookie, setCookie, status: page.status, text: await page.text() };
}

const decide = (
  url: string,
  cookie: string,
  decision: string,
  headers: Record<string, string> = { Origin: api },
  fields: Record<string, string> = {},
) =>
  fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { Cookie: cookie, ...headers },
    body: new URLSearchParams({ decision, ...fields }),
  });

/** Waits until the page shows this text. */
const says = (url: string, cookie: string, wanted: RegExp) =>
  eventually(`the page to say ${wanted}`, async () => {
    const text = await (await get(url, cookie)).text();
    return wanted.test(text) ? text : new Unmet(text);
  });

describe('the link in a notice', { concurrency: true }, () => {
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
        `behind ${assignmentId}`,
        `Assignment ${assignmentId} was not sent`,
        `Assignment ${assignmentId} does not exist at the assignment platform. Change the assignment number, then retry.`,
        '<summary>Technical details (for developers)</summary><p>POST http',
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

  it('retries the held action once; the records name the contact', async () => {
    const company = await stack.company();
    const { chainId, assignmentId } = await held(company);
    const link = await linkIn(company);
    const { url, cookie } = await open(link);
    await stack.assignment({ id: assignmentId });
    const decided = await decide(url, cookie, 'retry');
    const first = await (await get(`${api}${decided.headers.get('Location')}`, cookie)).text();
    assert.match(first, /<h1>Assignment \d+ was sent<.*role="status">Retried by/s);
    assert.deepEqual([decided.status, decided.headers.get('Location')], [303, `${new URL(url).pathname}?asked=retry&after=`]);
    assert.equal((await company.ended(chainId)).status, 'completed');
    const name = `the link in a notice to ${company.admin}`;
    const page = await says(
      `${url}?asked=retry&after=`,
      cookie,
      />Assignment \d+ was sent<.*The state of the step is “done”.*State of the chain<\/th><td>completed/s,
    );
    assert.match(page, new RegExp(`Retried by ${company.admin}, who used the link in a notice, `));
    assert.match(page, /The chain has ended: all steps are done\./);
    assert.ok(page.includes(`href="/companies/${company.companyId}/assignments/${assignmentId}"`));
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
    assert.match((await open(link)).text, /Retried by .*The state of the step is “done”/);
  });

  it('reloads the page until the chain has ended, and says what failed', async () => {
    const company = await stack.company();
    const action = send(String(Math.floor(Math.random() * 1e12)), { groupId: '501' });
    const later = { ...action, comment: 'later', delayInSeconds: '600' };
    const { chainId } = await company.start([action, later]);
    await company.action(chainId, 0, 'needs-attention');
    const { url, cookie } = await open(await linkIn(company));
    const result = api + (await decide(url, cookie, 'skip')).headers.get('Location');
    await says(result, cookie, /Skipped by .*The chain is still running\. This page reloads automatically\./s);
    assert.equal((await get(result, cookie)).headers.get('Refresh'), '5');
    await company.steer(chainId, 'runNow', 1);
    await says(result, cookie, /Another step needs attention: Send the assignment \(note: “later”\)\./);
    assert.equal((await get(result, cookie)).headers.get('Refresh'), null);
    await company.steer(chainId, 'skip', 1);
    await says(result, cookie, /The chain has ended\./);
  });

  it('skips the held action', async () => {
    const company = await stack.company();
    const { chainId } = await held(company);
    const { url, cookie } = await open(await linkIn(company));
    await decide(url, cookie, 'skip');
    await company.action(chainId, 0, 'skipped');
    await says(url, cookie, /Skipped by .*, who used the link in a notice/);
  });

  it('offers retry and skip again after a retry that failed', async () => {
    const company = await stack.company();
    const { chainId } = await held(company);
    const { url, cookie } = await open(await linkIn(company));
    const retried = (await decide(url, cookie, 'retry')).headers.get('Location');
    // The page itself waits for the result.
    const page = await (await get(`${api}${retried}`, cookie)).text();
    assert.match(
      page,
      /<h1>The step failed again<.*Retried by .*404.*value="retry".*value="skip".*State of the step<\/th><td>needs attention/s,
    );
    const again = (await decide(url, cookie, 'retry')).headers.get('Location');
    assert.match(await (await get(`${api}${again}`, cookie)).text(), /<h1>The step failed again</);
    assert.equal((await company.read(chainId)).actions[0]?.steered?.length, 2);
    await decide(url, cookie, 'skip');
    await company.action(chainId, 0, 'skipped');
    assert.equal((await decide(url, cookie, 'retry')).status, 200);
  });

  it('corrects ids, values and the radius if the company allows it, and nothing else', async () => {
    const company = await stack.company();
    const { chainId, assignmentId: wrongId } = await held(company);
    const { url, cookie, text } = await open(await linkIn(company));
    const assignmentId = await stack.assignment();
    const correct = (fields: Record<string, string>) => decide(url, cookie, 'mend', undefined, fields);
    assert.doesNotMatch(text, /value="mend"/);
    assert.equal((await correct({ platformAssignmentId: assignmentId })).status, 403, 'off unless the company allows it');

    await change(company, { noticeEdits: true });
    const page = await (await get(url, cookie)).text();
    assert.match(page, /<section id="fix">.*<section id="retry">.*<section id="skip">/s);
    assert.match(page, /The old assignment number stays in: “Note” of step 2\./);
    assert.match(page, /<button name="decision" value="mend">.*<button class="second" name="decision" value="retry">/s);
    const names = [...page.matchAll(/<input name="(\w+)"/g)].map(([, name]) => name);
    assert.deepEqual(names, ['platformAssignmentId', 'groupId', 'sendRadius']);
    for (const foreign of ['comment', 'actionCondition', 'emails', 'body', 'cfName', 'relayId'])
      assert.equal((await correct({ [foreign]: 'x', platformAssignmentId: assignmentId })).status, 403, foreign);
    const wrong = await correct({ sendRadius: 'far & wide' });
    const said = await wrong.text();
    assert.deepEqual([wrong.status, /“Within \(miles\)” must be a number of miles/.test(said)], [400, true], said);
    assert.match(said, /value="far &amp; wide".*value="mend".*value="retry"/s, 'keeps the form and the buttons');
    assert.equal((await correct({ groupId: '501' })).status, 400, 'nothing was changed');
    assert.equal((await company.read(chainId)).actions[0]?.mends, undefined);

    const corrected = await correct({ platformAssignmentId: assignmentId, groupId: '501', sendRadius: '25', allActions: 'on' });
    assert.equal(corrected.status, 303, await corrected.clone().text());
    const result = await (await get(`${api}${corrected.headers.get('Location')}`, cookie)).text();
    assert.match(
      result,
      new RegExp(`<h1>Assignment ${assignmentId} was sent<.*Corrected by .*, who used the link in a notice`, 's'),
    );
    const ended = await company.ended(chainId);
    assert.deepEqual(
      new Set(ended.actions.map((action) => action.assignmentId)),
      new Set([assignmentId]),
      'also in the other step',
    );
    assert.equal(ended.status, 'completed');
    const { items } = await stack.store.audit.list({ companyId: company.companyId, limit: 10 });
    const entry = items.find(({ action }) => action === 'chain.mend');
    const { chainId: _, ...details } = entry?.details ?? {};
    assert.deepEqual(entry?.actor, { kind: 'link', companyId: company.companyId, contact: company.admin });
    assert.deepEqual(details, {
      assignmentId: wrongId,
      index: 0,
      fields: ['platformAssignmentId', 'sendRadius'],
      allActions: true,
    });
  });

  it('names the texts with the old number until they are changed, also after another wrong number; and texts that were sent', async () => {
    const company = await stack.company();
    await change(company, { noticeEdits: true });
    const [wrongId, stillWrong] = [1, 2].map(() => String(Math.floor(Math.random() * 1e12)));
    const later = send(wrongId ?? '', { groupId: '501', delayInSeconds: '3000', comment: `once more ${wrongId}` });
    const next = udf('T', { cfValue: `see ${wrongId}` });
    const { chainId } = await company.start([send(wrongId ?? '', { groupId: '501' }), later, next]);
    await company.action(chainId, 0, 'needs-attention');
    const { url, cookie } = await open(await linkIn(company));
    const correct = (platformAssignmentId = '') => decide(url, cookie, 'mend', undefined, { platformAssignmentId });
    assert.equal((await correct(stillWrong)).status, 303);
    const again = await says(url, cookie, /<h1>The step failed again</);
    assert.match(again, /The old assignment number stays in: “Note” of step 2; “New value” of step 3\./);
    const right = await stack.assignment();
    assert.equal((await correct(right)).status, 303);
    const done = await says(
      url,
      cookie,
      /<h1>Assignment \d+ was sent<.*The old assignment number was already sent in: “New value” of step 3\./s,
    );
    assert.match(done, /The old assignment number is still in: “Note” of step 2\. To change it, sign in, <a /);
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ fields: { comment: `once more ${right}` } });
    const path = `/co/${company.companyId}/chains/${chainId}/actions/1/mend`;
    assert.equal((await fetch(api + path, { method: 'POST', headers, body })).status, 202);
    await eventually('no open text to have the old number', async () => {
      const text = await (await get(url, cookie)).text();
      return !text.includes('The old assignment number is still in') || new Unmet(text);
    });
  });

  it("shows times in the company's zone, as the mail does", async () => {
    const company = await stack.company();
    await change(company, { timeZone: 'America/Chicago' });
    await held(company);
    const link = await linkIn(company);
    const [mail] = await stack.mails(company.admin, 1);
    for (const text of [(await open(link)).text, (await stack.text(mail ?? assert.fail())).Text]) {
      assert.match(text, /received \d{4}-\d\d-\d\d \d\d:\d\d:\d\d C[DS]T/);
      assert.doesNotMatch(text, / UTC|:\d\dZ/);
    }
  });

  it('cannot decide any more after somebody else has decided', async () => {
    const company = await stack.company();
    const { chainId } = await held(company);
    const { url, cookie } = await open(await linkIn(company));
    await company.steer(chainId, 'cancel');
    await company.ended(chainId);
    assert.match(await says(url, cookie, /cancelled/), /The step needs no attention any more/);
    assert.equal((await decide(url, cookie, 'retry')).status, 200);
    assert.equal((await company.read(chainId)).status, 'cancelled');
  });

  it('decides only through the form of its own page', async () => {
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

  it('gives no access to anything else', async () => {
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

  it('that is forged, expired, or of a former contact opens a page that says so', async () => {
    const company = await stack.company();
    const { chainId } = await held(company);
    const link = await linkIn(company);
    const forged = await get(`${link.slice(0, -3)}AAA`);
    assert.deepEqual([forged.status, forged.headers.getSetCookie()], [401, []]);
    assert.match(await forged.text(), /not a link from a notice/);
    const about = { companyId: company.companyId, chainId, index: 0, at: new Date().toISOString() };
    const made = (contact: string, until: number) =>
      `${api}/hold/${new HoldLinks(secret).sign({ ...about, contact: contactMark(contact), until: Math.floor(until / 1000) })}`;
    const expired = await get(made(company.admin, Date.now() - 5000));
    assert.equal(expired.status, 410);
    assert.match(await expired.text(), /has expired/);
    const gone = await open(made('former@contact.example', Date.now() + 60_000));
    assert.deepEqual([gone.status, /contact that was removed/.test(gone.text)], [410, true]);
  });

  it('stops working, and is in no further notice, after the company has switched it off', async () => {
    const company = await stack.company();
    const { chainId } = await held(company);
    const { url, cookie } = await open(await linkIn(company));
    await change(company, { noticeLinks: false });
    const page = await get(url, cookie);
    assert.equal(page.status, 410);
    assert.match(await page.text(), /does not allow/);
    assert.equal((await decide(url, cookie, 'skip')).status, 410);
    assert.equal((await company.read(chainId)).actions[0]?.state, 'needs-attention');
    await held(company);
    const [, notice] = await stack.mails(company.admin, 2);
    assert.doesNotMatch(JSON.stringify(await stack.text(notice ?? assert.fail())), /\/hold\//);
  });

  it('is in no log and no history, and its contact is in no log', async () => {
    const contact = `ada-${randomUUID()}@people.example`;
    const company = await stack.company({ notify: { emails: [contact] } });
    const { chainId } = await held(company);
    const [notice] = await stack.mails(contact, 1);
    const { Text } = await stack.text(notice ?? assert.fail());
    const link = /http\S+\/hold\/([\w.-]+)/.exec(Text) ?? assert.fail(Text);
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
