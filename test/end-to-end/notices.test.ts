/**
 * What people are told when many actions fail for the same reason: the first at once, the rest as one, and once more when all are
 * through.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { bulkPreviewSchema } from '../../src/contract/chain-resource.js';
import { noticeTestResponse } from '../../src/contract/notify.js';
import { adminToken, eventually, send, startStack, Unmet, udf } from './stack.js';

/** 300 take minutes: RELAY_TEST_NOTICES=300. */
const many = Number(process.env.RELAY_TEST_NOTICES ?? 30);
const stack = await startStack({ noticeDigestSeconds: many > 100 ? 60 : 15 });
type Company = Awaited<ReturnType<typeof stack.company>>;

const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
const headline = ({ Subject }: { Subject: string }) => /^\[relay\] (.+?) \(/.exec(Subject)?.[1] ?? Subject;
const headlines = async (address: string) => (await stack.inbox(address)).map(headline);

/** Assignments that nobody knows. */
function unknown(count: number): string[] {
  return Array.from({ length: count }, () => String(Math.floor(Math.random() * 1e12)));
}

/** Ten at a time, as an outage brings them. */
async function startAll(company: Company, assignments: string[]): Promise<string[]> {
  const chains = [];
  for (let from = 0; from < assignments.length; from += 10) {
    const some = assignments.slice(from, from + 10);
    chains.push(...(await Promise.all(some.map((id) => company.start([send(id, { groupId: '501', comment: 'to all' })])))));
  }
  return chains.map(({ chainId }) => chainId);
}

/** Notifiers and deliveries of a company that are open. */
async function openNotices({ companyId }: Company): Promise<string[]> {
  const open = [];
  const query = `WorkflowType IN ('Notifier', 'NoticeDelivery') AND RelayCompanyId = '${companyId}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of stack.client.workflow.list({ query })) open.push(workflowId);
  return open;
}

/** Waits until none is open: then nothing more is told. */
async function closed(company: Company): Promise<void> {
  await eventually('the notices to close', async () => {
    const open = await openNotices(company);
    return open.length === 0 ? true : new Unmet(open);
  });
}

/** Retries what the digest's command says. */
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

describe('many chains that fail for the same reason', () => {
  it('make two notices, and one recovery when they are through', async () => {
    const company = await stack.company();
    const assignments = unknown(many);
    const [first = '', ...rest] = assignments;
    const [firstChain = ''] = await startAll(company, [first]);
    await stack.mails(company.admin, 1);
    const chains = [firstChain, ...(await startAll(company, rest))];
    for (const chainId of chains) await company.action(chainId, 0, 'needs-attention');

    const [, digest] = await stack.mails(company.admin, 2);
    assert.ok(digest);
    assert.equal(headline(digest), `Needs attention: ${many - 1} chains, PlatformError`);
    const { Text, HTML } = await stack.text(digest);
    const command = /npx relay bulk retry \S+ --reason (\S+) --since (\S+)/.exec(Text);
    assert.ok(command, Text);
    assert.equal(Text.match(/^ {2}Assignment \d+, action 0: http/gm)?.length, Math.min(10, many - 1), Text);
    assert.match(HTML, /<a href="http[^"]+\/user-metadata">/);
    assert.match(Text, /404/);

    for (const id of assignments) await stack.assignment({ id });
    await retryAll(company, command[1] ?? '', command[2] ?? '', many);
    for (const chainId of chains) assert.equal((await company.ended(chainId)).status, 'completed');
    await stack.mails(company.admin, 3);
    await closed(company);
    assert.deepEqual(await headlines(company.admin), [
      'Needs attention: to all',
      `Needs attention: ${many - 1} chains, PlatformError`,
      `Recovered: ${many} chains, PlatformError`,
    ]);
  });
});

// Each has companies of its own and waits for the window once or more.
describe('chains that fail for the same reason', { concurrency: true }, () => {
  it('are counted as chains, however many of their actions failed', async () => {
    const company = await stack.company({ onFailure: 'hold' });
    const [one = '', two = '', three = ''] = unknown(3);
    const group = { groupId: '501', comment: 'to all' };
    await startAll(company, [one]);
    await stack.mails(company.admin, 1);
    await company.start([send(two, group), send(three, { ...group, delayInSeconds: '1' })]);
    const [, digest] = await stack.mails(company.admin, 2);
    assert.ok(digest);
    assert.equal(headline(digest), 'Needs attention: 1 chain, PlatformError');
    assert.match((await stack.text(digest)).Text, /^1 chain \(2 actions\) held/m);
  });

  it('are told to those who can be reached, while somebody cannot', async () => {
    const company = await stack.company({ notify: { webhookUrl: 'http://127.0.0.1:9/nobody' } });
    const reachable = async (count: number) => (await stack.mails(company.admin, count)).map(headline);
    await startAll(company, unknown(1));
    await reachable(1);
    await startAll(company, unknown(1));
    await reachable(2);
    await startAll(company, unknown(3));
    const told = await eventually('the last three to be told of', async () => {
      const lines = (await headlines(company.admin)).slice(2);
      const count = lines.reduce((sum, line) => sum + Number(/: (\d+) chain/.exec(line)?.[1] ?? 0), 0);
      return count === 3 ? lines : new Unmet(lines);
    });
    assert.ok(told.length > 0);
  });

  it('are counted once as recovered, also where more fail while that is told', async () => {
    const company = await stack.company();
    const chains = await startAll(company, unknown(3));
    for (const chainId of chains) await company.action(chainId, 0, 'needs-attention');
    await stack.mails(company.admin, 2);
    await stack.breakMail({ code: 451, to: company.admin });
    for (const chainId of chains) await company.steer(chainId, 'skip', 0);
    for (const chainId of chains) await company.ended(chainId);
    const late = await startAll(company, unknown(2));
    for (const chainId of late) await company.action(chainId, 0, 'needs-attention');
    await stack.healMail();
    await stack.mails(company.admin, 5);
    for (const chainId of late) await company.steer(chainId, 'skip', 0);
    for (const chainId of late) await company.ended(chainId);
    await closed(company);
    const recovered = (await headlines(company.admin)).flatMap((line) => /^Recovered: (\d+)/.exec(line)?.[1] ?? []);
    assert.equal(
      recovered.reduce((sum, count) => sum + Number(count), 0),
      5,
      recovered.join(),
    );
  });

  it('are told of apart where the reason, the company, or a contact of the rule differs', async () => {
    const [one, other] = [await stack.company(), await stack.company()];
    const own = await stack.company({ notify: { emails: [`rule@${randomUUID()}.example`] } });
    for (const company of [one, other, own]) await startAll(company, unknown(1));
    await one.start([udf('')]);
    assert.deepEqual((await stack.mails(one.admin, 2)).map(headline).sort(), [
      'Needs attention: ticket_updateUDF',
      'Needs attention: to all',
    ]);
    for (const company of [other, own]) {
      await closed(company);
      assert.deepEqual(await headlines(company.admin), ['Needs attention: to all']);
    }
  });

  it('are left by those that are cancelled, and end without a recovery where nothing recovered', async () => {
    const company = await stack.company();
    const chains = await startAll(company, unknown(3));
    for (const chainId of chains) {
      await company.action(chainId, 0, 'needs-attention');
      await company.steer(chainId, 'cancel');
      assert.equal((await company.ended(chainId)).status, 'cancelled');
    }
    await closed(company);
    assert.ok(!(await headlines(company.admin)).some((line) => line.startsWith('Recovered')));
  });
});

describe('a chain that fails alone', () => {
  it('is told of at once, and again when the retry fails', async () => {
    const company = await stack.company();
    const [chainId = ''] = await startAll(company, unknown(1));
    await stack.mails(company.admin, 1);
    await company.steer(chainId, 'retry', 0);
    await stack.mails(company.admin, 2);
    await company.steer(chainId, 'skip', 0);
    await company.ended(chainId);
    await closed(company);
    assert.deepEqual(await headlines(company.admin), ['Needs attention: to all', 'Needs attention: 1 chain, PlatformError']);
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

  it('is refused for what there is not', async () => {
    const company = await stack.company();
    assert.equal((await test('nobody')).status, 404);
    assert.equal((await test(company.companyId, { relayId: '1' })).status, 404);
    assert.equal((await test(company.companyId, { rule: '1' })).status, 400);
  });
});
