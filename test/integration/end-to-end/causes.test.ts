/**
 * Causes, for holds that end in every possible way. Workers record the causes and notify people. The API counts the held chains.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { z } from 'zod';
import { type CauseResource, causeSchema, causesResponse, wholeCauseResponse } from '../../../src/contract/causes.js';
import { bulkPreviewSchema, bulkSchema } from '../../../src/contract/chain-resource.js';
import { adminToken, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack({ noticeDigestSeconds: 0 });
type Company = Awaited<ReturnType<typeof stack.company>>;
const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };

async function ask<Schema extends z.ZodType>(
  schema: Schema,
  { companyId }: Company,
  path: string,
  body?: unknown,
): Promise<z.infer<Schema>> {
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(`${stack.links.api}/co/${companyId}/${path}`, { headers, ...sent });
  assert.ok(response.ok, `${path}: ${await response.clone().text()}`);
  return schema.parse(await response.json());
}
const causesOf = async (company: Company) => (await ask(causesResponse, company, 'causes')).items;

/** Waits until the causes of a company match. */
const until = (company: Company, what: string, wanted: (causes: CauseResource[]) => boolean) =>
  eventually(what, async () => {
    const causes = await causesOf(company);
    return wanted(causes) ? causes : new Unmet(causes);
  });
const untilOne = async (company: Company, chains: number): Promise<CauseResource> => {
  const [cause] = await until(
    company,
    `one cause of ${chains} chains`,
    ([one, ...more]) => one?.chains === chains && more.length === 0,
  );
  return cause ?? assert.fail();
};

/** Starts chains that are held for unknown assignments. */
async function heldChains(company: Company, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => String(Math.floor(Math.random() * 1e12)));
  const chains = await Promise.all(ids.map((id) => company.start([send(id, { groupId: '501' })])));
  for (const { chainId } of chains) await company.action(chainId, 0, 'needs-attention');
  return chains.map(({ chainId }) => chainId);
}

/** Waits until every notice is delivered. */
async function allTold({ companyId }: Company): Promise<void> {
  const query = `WorkflowType IN ('Notifier', 'NoticeDelivery') AND RelayCompanyId = '${companyId}' AND ExecutionStatus = 'Running'`;
  await eventually('all notices to be delivered', async () => {
    const { count } = await stack.client.workflow.count(query);
    return count === 0 ? true : new Unmet(count);
  });
}

describe('a cause', { concurrency: true }, () => {
  it('includes all chains that are held for the same reason, until each hold ends, in any way', async () => {
    const company = await stack.company();
    const [skipped = '', cancelled = '', retried = '', again = ''] = await heldChains(company, 4);
    await company.start([udf('')]);
    const causes = await until(company, 'two causes', (all) => all.length === 2 && all.some(({ chains }) => chains === 4));
    const cause = causes.find(({ reason }) => reason === 'PlatformError') ?? assert.fail();
    assert.match(cause.message, /answered 404/);
    assert.deepEqual([cause.relayIds, cause.actions], [[company.relayId], 4]);
    assert.ok([skipped, cancelled, retried, again].includes(cause.chainId ?? ''));
    assert.equal(causes.find(({ reason }) => reason === 'DataMistake')?.chains, 1);

    const counted = (chains: number) =>
      until(company, `${chains} chains`, (all) => all.find(({ causeId }) => causeId === cause.causeId)?.chains === chains);
    await company.steer(skipped, 'skip', 0);
    await counted(3);
    await company.steer(cancelled, 'cancel');
    await counted(2);
    await company.steer(again, 'retry', 0);
    await stack.mails(company.admin, 6); // The chain fails again, so the relay sends a new notice.
    await counted(2);
    const {
      actions: [action],
    } = await company.read(retried);
    await stack.assignment({ id: action?.assignmentId });
    await company.steer(retried, 'retry', 0);
    await counted(1);
    await company.steer(again, 'skip', 0);
    await counted(0);
    const { items, endedAt } = await ask(wholeCauseResponse, company, `causes/${cause.causeId}`);
    assert.deepEqual([items.length, items.filter(({ endedAt }) => endedAt === undefined), typeof endedAt], [4, [], 'string']);
    const [first] = await causesOf(company);
    assert.equal(first?.reason, 'DataMistake', 'what is held comes first');
  });

  it('sends no notices while it is silenced, except the notice that a hold ended without a decision', async () => {
    const company = await stack.company();
    await heldChains(company, 1);
    await stack.mails(company.admin, 1);
    const { causeId } = await untilOne(company, 1);
    await ask(causeSchema, company, `causes/${causeId}/silence`, { seconds: 3600 });
    await heldChains(company, 2);
    await company.ended(await company.startHeld(2));
    assert.equal((await untilOne(company, 3)).causeId, causeId);
    const [, gaveUp] = await stack.mails(company.admin, 2);
    assert.match(gaveUp?.Subject ?? '', /No decision in time/);
    await allTold(company);
    assert.equal((await stack.inbox(company.admin)).length, 2);

    await ask(causeSchema, company, `causes/${causeId}/silence`, { seconds: 0 });
    await heldChains(company, 1);
    const [, , told] = await stack.mails(company.admin, 3);
    assert.match(told?.Subject ?? '', /Needs attention/);
  });

  it('is steered as a whole, without effect on chains with another cause', async () => {
    const company = await stack.company();
    const chains = await heldChains(company, 3);
    const { chainId: other } = await company.start([udf('')]);
    await company.action(other, 0, 'needs-attention');
    const causes = await until(company, 'two causes', (all) => all.reduce((sum, { chains }) => sum + chains, 0) === 4);
    const { causeId } = causes.find(({ chains }) => chains === 3) ?? assert.fail();
    const order = { verb: 'skip', filter: { causeId } };
    const preview = await eventually('the three to be counted', async () => {
      const counted = await ask(bulkPreviewSchema, company, 'chains/bulk', order);
      return counted.count === 3 ? counted : new Unmet(counted);
    });
    assert.deepEqual(preview.first.map(({ chainId }) => chainId).sort(), [...chains].sort());
    const done = await fetch(`${stack.links.api}/co/${company.companyId}/chains/bulk`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...order, confirm: 3 }),
    });
    assert.equal(done.status, 202, await done.clone().text());
    for (const chainId of chains) assert.equal((await company.ended(chainId)).actions[0]?.state, 'skipped');
    assert.equal((await company.read(other)).status, 'needs-attention');
  });

  it('is steered without effect on actions of the same chains that have another cause, of any type', async () => {
    const company = await stack.company();
    const actions = [udf('', { delayInSeconds: '1' }), udf('T', { cfName: '', delayInSeconds: '2' })];
    const { chainId } = await company.start(actions);
    for (const index of [0, 1]) await company.action(chainId, index, 'needs-attention');
    const causes = await until(company, 'two causes', (all) => all.length === 2 && all.every(({ chains }) => chains === 1));
    const { causeId } = causes.find(({ message }) => message.includes('cfName')) ?? assert.fail();
    const correction = { field: 'cfName', default: 'Status' };
    const mend = { verb: 'mend', filter: { causeId }, correction };
    const preview = await eventually('the chain to be counted', async () => {
      const counted = await ask(bulkPreviewSchema, company, 'chains/bulk', mend);
      return counted.count === 1 ? counted : new Unmet(counted);
    });
    assert.deepEqual(
      preview.mends?.map(({ index }) => index),
      [1],
    );
    await ask(bulkSchema, company, 'chains/bulk', { verb: 'skip', filter: { causeId }, confirm: 1 });
    await company.action(chainId, 1, 'skipped');
    assert.equal((await company.read(chainId)).actions[0]?.state, 'needs-attention');
    await company.steer(chainId, 'cancel');
  });

  it('is found from its chains if nothing was recorded when they were held', async () => {
    const company = await stack.company();
    const [chainId = ''] = await heldChains(company, 1);
    const { causeId } = await untilOne(company, 1);
    const settings = await stack.store.companies.get(company.companyId);
    assert.ok(settings);
    // Deleting the company deletes its records.
    const rule = await stack.store.rules.get(company.companyId, company.relayId);
    assert.ok(rule);
    await stack.store.companies.delete(company.companyId, { kind: 'admin' });
    const { createdAt, updatedAt, ...again } = settings;
    await stack.store.companies.put(company.companyId, () => again, { kind: 'admin' });
    await stack.store.rules.create(company.companyId, { ...rule, name: 'Rule' }, { kind: 'admin' });
    const found = await untilOne(company, 1);
    assert.deepEqual([found.causeId, found.chainId], [causeId, chainId]);
  });
});
