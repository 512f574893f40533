/**
 * Notices when many actions fail for the same reason: immediately one about the first failure, then one about all later
 * failures, and at the end one about the recovery.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { bulkPreviewSchema, type ChainResource } from '../../../src/contract/chain-resource.js';
import { noticeTestResponse } from '../../../src/contract/notify.js';
import { actor, adminToken, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

/** The number of chains. RELAY_TEST_NOTICES=300 takes minutes. */
const many = Number(process.env.RELAY_TEST_NOTICES ?? 30);
const digestSeconds = many > 100 ? 60 : 15;
const stack = await startStack({ noticeDigestSeconds: digestSeconds });
type Company = Awaited<ReturnType<typeof stack.company>>;

const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
/** Without the number of an assignment. */
const headline = ({ Subject }: { Subject: string }) =>
  (/^\[relay\] (.+?) \(/.exec(Subject)?.[1] ?? Subject).replace(/\b(a)ssignment \d+/i, (_, a) =>
    a === 'A' ? 'The assignment' : 'the assignment',
  );
const headlines = async (address: string) => (await stack.inbox(address)).map(headline);
const alone = 'Needs attention: the assignment was not sent';

const refused = 'the assignment does not exist at the assignment platform';

/** Unknown assignments. */
function unknown(count: number): string[] {
  return Array.from({ length: count }, () => String(Math.floor(Math.random() * 1e12)));
}

/** Starts ten chains at a time, as in an outage. */
async function startAll(company: Company, assignments: string[]): Promise<string[]> {
  const chains = [];
  for (let from = 0; from < assignments.length; from += 10) {
    const some = assignments.slice(from, from + 10);
    chains.push(...(await Promise.all(some.map((id) => company.start([send(id, { groupId: '501', comment: 'to all' })])))));
  }
  return chains.map(({ chainId }) => chainId);
}

/** The open notifiers and deliveries of a company. */
async function openNotices({ companyId }: Company): Promise<string[]> {
  const open = [];
  const query = `WorkflowType IN ('Notifier', 'NoticeDelivery') AND RelayCompanyId = '${companyId}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of stack.client.workflow.list({ query })) open.push(workflowId);
  return open;
}

/** Waits until no notifier and no delivery is open, so that no further notice follows. */
async function closed(company: Company): Promise<void> {
  await eventually('the notices to close', async () => {
    const open = await openNotices(company);
    return open.length === 0 ? true : new Unmet(open);
  });
}

/** Retries with the command from the digest. */
async function retryAll({ companyId }: Company, reason: string, since: string, count: number): Promise<void> {
  const order = { verb: 'retry', filter: { reason, since } };
  const bulk = (body: unknown) =>
    fetch(`${stack.links.api}/co/${companyId}/chains/bulk`, { method: 'POST', headers, body: JSON.stringify(body) });
  await eventually(`${count} chains to be counted`, async () => {
    const preview = bulkPreviewSchema.parse(await (await bulk(order)).json());
    return preview.count === count ? true : new Unmet(preview.count);
  });
  assert.equal((await bulk({ ...order, confirm: count })).status, 202);
}

// Each test has its own companies, and waits for at least one digest.
describe('chains that fail for the same reason', { concurrency: true }, () => {
  it('cause two notices if they are many, and one recovery after all have succeeded', async () => {
    const company = await stack.company();
    const assignments = unknown(many);
    // All chains wait for the end of a pause, so that they fail together, even if it takes long to start them.
    await stack.store.pauses.begin(company.companyId, { what: 'platform' }, actor);
    const chains = await startAll(company, assignments);
    const isPaused = ({ actions: [action] }: ChainResource) => action?.pausedSince !== undefined;
    for (const chainId of chains) await company.until(chainId, isPaused, 'the chain to be paused');
    const [paused] = await stack.mails(company.admin, 1);
    await closed(company);
    const resumed = await fetch(`${stack.links.api}/admin/companies/${company.companyId}/pause`, { method: 'DELETE', headers });
    assert.equal(resumed.status, 200);
    for (const chainId of chains) await company.action(chainId, 0, 'needs-attention');

    const begins = await Promise.all(chains.map(async (chainId) => (await company.read(chainId)).actions[0]?.heldUntil ?? ''));
    const [first = '', last = ''] = [begins.toSorted()[0], begins.toSorted().at(-1)];
    const digests = await eventually('the digests of all but the first', async () => {
      const mails = (await stack.inbox(company.admin)).slice(2);
      const counts = mails.map((mail) => Number(/^Needs attention: (\d+) chain/.exec(headline(mail))?.[1]));
      return counts.reduce((sum, count) => sum + count, 0) === many - 1 ? mails : new Unmet(mails.map(headline));
    });
    // There may be one digest for each window of `digestSeconds` in which actions fail: on a busy machine, several windows. The
    // notifier hears of a failure up to five seconds later.
    const windows = 1 + Math.floor((Date.parse(last) - Date.parse(first) + 5000) / (digestSeconds * 1000));
    assert.ok(digests.length <= windows, `${digests.map(headline)} in ${windows} windows`);
    const [digest] = digests;
    assert.ok(paused && digest);
    const count = Number(/: (\d+) chain/.exec(headline(digest))?.[1]);
    const { Text, HTML } = await stack.text(digest);
    assert.match(Text, /^Show \d+ steps? in the console: http\S+\/causes\/\S+$/m);
    assert.equal(Text.match(/^ {2}Assignment \d+, step 1: http/gm)?.length, Math.min(10, count), Text);
    assert.match(HTML, /<a class="link" href="http[^"]+\/companies\/[^"]+\/chains\/[^"]+"[^>]*>Assignment/);
    assert.match(Text, /404/);

    for (const id of assignments) await stack.assignment({ id });
    await retryAll(company, 'PlatformError', '2000-01-01T00:00:00.000Z', many);
    for (const chainId of chains) assert.equal((await company.ended(chainId)).status, 'completed');
    await stack.mails(company.admin, 3 + digests.length);
    await closed(company);
    assert.deepEqual(await headlines(company.admin), [
      headline(paused),
      alone,
      ...digests.map(headline),
      `Recovered: ${many} chains with the problem “${refused}”`,
    ]);
  });

  it('are reported at once if there is only one, and again when its retry fails', async () => {
    const company = await stack.company();
    const [chainId = ''] = await startAll(company, unknown(1));
    await stack.mails(company.admin, 1);
    await company.steer(chainId, 'retry', 0);
    await stack.mails(company.admin, 2);
    await company.steer(chainId, 'skip', 0);
    await company.ended(chainId);
    await closed(company);
    assert.deepEqual(await headlines(company.admin), [alone, `Needs attention: ${refused}`]);
  });

  it('count as chains, however many of their actions failed', async () => {
    const company = await stack.company({ onFailure: 'hold' });
    const [one = '', two = '', three = ''] = unknown(3);
    const group = { groupId: '501', comment: 'to all' };
    await startAll(company, [one]);
    await stack.mails(company.admin, 1);
    await company.start([send(two, group), send(three, { ...group, delayInSeconds: '1' })]);
    const [, digest] = await stack.mails(company.admin, 2);
    assert.ok(digest);
    assert.equal(headline(digest), `Needs attention: 1 chain. T${refused.slice(1)}`);
    assert.match((await stack.text(digest)).Text, /^2 steps in 1 chain need a decision/m);
  });

  it('are reported to reachable contacts while another contact cannot be reached', async () => {
    const company = await stack.company({ notify: { webhookUrl: 'http://127.0.0.1:9/nobody' } });
    const reachable = async (count: number) => (await stack.mails(company.admin, count)).map(headline);
    await startAll(company, unknown(1));
    await reachable(1);
    await startAll(company, unknown(1));
    await reachable(2);
    await startAll(company, unknown(3));
    const told = await eventually('notices about the last three', async () => {
      const lines = (await headlines(company.admin)).slice(2);
      const count = lines.reduce((sum, line) => sum + Number(/: (\d+) chain/.exec(line)?.[1] ?? 0), 0);
      return count === 3 ? lines : new Unmet(lines);
    });
    assert.ok(told.length > 0);
  });

  it('count as recovered once, even if more fail during that notice', async () => {
    const company = await stack.company();
    const chains = await startAll(company, unknown(3));
    for (const chainId of chains) await company.action(chainId, 0, 'needs-attention');
    await stack.mails(company.admin, 2);
    await stack.breakMail({ code: 451, to: company.admin });
    for (const chainId of chains) await company.steer(chainId, 'skip', 0);
    for (const chainId of chains) await company.ended(chainId);
    await eventually('the notice of the recovery to be open', async () => {
      const open = await openNotices(company);
      return open.some((id) => id.includes(':through:')) ? true : new Unmet(open);
    });
    const late = await startAll(company, unknown(2));
    for (const chainId of late) await company.action(chainId, 0, 'needs-attention');
    await stack.healMail();
    await stack.mails(company.admin, 5);
    for (const chainId of late) await company.steer(chainId, 'skip', 0);
    for (const chainId of late) await company.ended(chainId);
    await closed(company);
    const recovered = (await headlines(company.admin)).flatMap(
      (line) => /^(?:Recovered|Nothing left to decide): (\d+)/.exec(line)?.[1] ?? [],
    );
    assert.equal(
      recovered.reduce((sum, count) => sum + Number(count), 0),
      5,
      recovered.join(),
    );
  });

  it('are reported separately if the reason, the company, or a contact of the rule differs', async () => {
    const [one, other] = [await stack.company(), await stack.company()];
    const own = await stack.company({ notify: { emails: [`rule@${randomUUID()}.example`] } });
    for (const company of [one, other, own]) await startAll(company, unknown(1));
    await one.start([udf('')]);
    assert.deepEqual((await stack.mails(one.admin, 2)).map(headline).sort(), [
      'Needs attention: a ticket field was not updated',
      alone,
    ]);
    for (const company of [other, own]) {
      await closed(company);
      assert.deepEqual(await headlines(company.admin), [alone]);
    }
  });

  it('no longer include cancelled chains, and end without a recovery if nothing recovered', async () => {
    const company = await stack.company();
    const chains = await startAll(company, unknown(3));
    for (const chainId of chains) {
      await company.action(chainId, 0, 'needs-attention');
      await company.steer(chainId, 'cancel');
      assert.equal((await company.ended(chainId)).status, 'cancelled');
    }
    await closed(company);
    assert.ok(!(await headlines(company.admin)).some((line) => /^(Recovered|No decision is needed any more)/.test(line)));
  });
});

describe('a test notice', () => {
  const test = async (companyId: string, body?: unknown) =>
    fetch(`${stack.links.api}/admin/companies/${companyId}/notices/test`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body ?? {}),
    });

  it('goes to every contact, and says where it arrived', async () => {
    const company = await stack.company({ notify: { webhookUrl: 'http://127.0.0.1:9/secret-path' } });
    const response = await test(company.companyId, { relayId: company.relayId });
    assert.equal(response.status, 200, await response.clone().text());
    const { contacts } = noticeTestResponse.parse(await response.json());
    const [webhook, mail] = contacts;
    assert.deepEqual([contacts.length, mail?.contact, mail?.delivered, webhook?.delivered], [2, company.admin, true, false]);
    assert.match(webhook?.error ?? '', /127\.0\.0\.1:9/);
    assert.doesNotMatch(JSON.stringify(contacts), /secret-path/);
    assert.equal((await stack.mails(company.admin, 1)).length, 1);
  });

  it('is refused for an unknown company or rule', async () => {
    const company = await stack.company();
    assert.equal((await test('nobody to notify')).status, 404);
    assert.equal((await test(company.companyId, { relayId: '1' })).status, 404);
    assert.equal((await test(company.companyId, { rule: '1' })).status, 400);
  });
});
