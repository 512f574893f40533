/** Lists of chains: filters, cursor, one row for each chain, no worker needed. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { Client } from '@temporalio/client';
import type { z } from 'zod';
import { type ChainResource, chainListSchema, type ListedChain } from '../../../src/contract/chain-resource.js';
import { Keyring } from '../../../src/contract/encryption.js';
import { companyKey } from '../../../src/contract/search-attributes.js';
import { dataConverterOf } from '../../../src/service/payloads.js';
import { resetToFirst } from '../../end-to-end/resets.js';
import { adminToken, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack();

async function ask(path: string, bearer = adminToken): Promise<Response> {
  return fetch(`${stack.links.api}${path}`, { headers: { authorization: `Bearer ${bearer}` } });
}

async function list(path: string, bearer?: string): Promise<z.infer<typeof chainListSchema>> {
  const response = await ask(path, bearer);
  assert.equal(response.status, 200, await response.clone().text());
  return chainListSchema.parse(await response.json());
}

/** Waits until the list has these chains, in any order. */
async function listed(path: string, chainIds: string[]): Promise<ListedChain[]> {
  return eventually(`${path} to have ${chainIds.length} chains`, async () => {
    const { items } = await list(path);
    const found = items.map(({ chainId }) => chainId).sort();
    return JSON.stringify(found) === JSON.stringify([...chainIds].sort()) ? items : new Unmet(found);
  });
}

describe('lists of chains', () => {
  it('include chains that were started by hand, without search attributes, and skip workflows that are not chains', async () => {
    const company = await stack.company();
    const chainId = await company.startHeld(600);
    const { taskQueue } = stack;
    const stranger = await stack.client.workflow.start('RuleChain', { workflowId: randomUUID(), taskQueue, args: [] });
    await eventually('the chain to be listed', async () => {
      const { items } = await list('/chains?status=needs-attention');
      return items.find((chain) => chain.chainId === chainId && chain.companyId === company.companyId) ?? new Unmet(items);
    });
    await list('/chains?status=running');
    await stranger.terminate();
  });

  it('include a chain whose encryption key is missing in this process, and name the missing key in its summary', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([udf('T', { delayInSeconds: '3000' })]);
    const lost = new Keyring(`lost:${Buffer.alloc(32, 9).toString('base64')}`);
    const client = new Client({ connection: stack.client.connection, dataConverter: dataConverterOf(lost) });
    const sealed = randomUUID();
    const handle = await client.workflow.start('RuleChain', {
      workflowId: `relay:${company.companyId}:${sealed}`,
      taskQueue: 'nobody',
      memo: { summary: 'a secret' },
      typedSearchAttributes: [{ key: companyKey, value: company.companyId }],
    });
    const summaryOf = async (path: string, ...chainIds: string[]) =>
      (await listed(path, chainIds)).find((chain) => chain.chainId === sealed)?.summary;
    const says =
      /^cannot be read: this relay has no encryption key lost; the operator must append the key to RELAY_ENCRYPTION_KEYS/;
    assert.match((await summaryOf(`/co/${company.companyId}/chains`, chainId, sealed)) ?? '', says);
    await handle.terminate();
    assert.match((await summaryOf(`/co/${company.companyId}/chains?status=terminated`, sealed)) ?? '', says);
  });

  it('find each chain once by each filter, even without workers', async () => {
    const company = await stack.company();
    const other = await stack.company();
    const base = `/co/${company.companyId}/chains`;
    const odd = `it's ${randomUUID()}`;
    const start = async (...actions: Parameters<typeof company.start>[0]) => (await company.start(actions)).chainId;

    const completed = await start(udf('T', { platformAssignmentId: odd }));
    const middle = (await company.ended(completed)).closedAt ?? '';
    const running = await start(udf('T', { platformAssignmentId: 'Case', delayInSeconds: '3000' }));
    const held = await start(send('404404', { groupId: '501' }));
    const cancelled = await start(udf('T', { platformAssignmentId: 'case', delayInSeconds: '3000' }));
    const terminated = await start(udf('T', { delayInSeconds: '3000' }));
    const elsewhere = (await other.start([udf('T', { delayInSeconds: '3000' })])).chainId;
    await company.action(held, 0, 'needs-attention');
    await company.steer(cancelled, 'cancel');
    await company.ended(cancelled);
    await stack.client.workflow.getHandle(`relay:${company.companyId}:${terminated}`).terminate();

    // The chain now has an older run, which is terminated, and a newer run.
    const handle = stack.client.workflow.getHandle(`relay:${company.companyId}:${held}`);
    const { runId } = await handle.describe();
    await resetToFirst(stack.client, handle.workflowId);
    await eventually('the new run', async () => ((await handle.describe()).runId === runId ? new Unmet(runId) : true));

    const all = [completed, running, held, cancelled, terminated];
    for (const [chainId, status] of [
      [completed, 'completed'],
      [running, 'running'],
      [held, 'needs-attention'],
      [cancelled, 'cancelled'],
      [terminated, 'terminated'],
    ] as const) {
      const [item] = await listed(`${base}?status=${status}`, [chainId]);
      assert.equal(item?.status, status);
    }
    const items = await listed(base, all);
    await stack.stopWorker();
    await listed(`${base}?status=failed`, []);
    await listed(`${base}?assignmentId=${encodeURIComponent(odd)}`, [completed]);
    await listed(`${base}?assignmentId=case`, [cancelled]);
    await listed(`${base}?assignmentId=404404&status=needs-attention&reason=PlatformError`, [held]);
    await listed(`${base}?reason=MailError`, []);
    await listed(`${base}?relayId=${company.relayId}&until=${middle}`, [completed]);
    await listed(`${base}?relayId=${other.relayId}`, []);
    await listed(`${base}?since=${middle}`, [running, held, cancelled, terminated]);
    await listed(`/chains?companyId=${company.companyId}`, all);
    await listed(`/chains?relayId=${other.relayId}`, [elsewhere]);

    const first = items.find(({ chainId }) => chainId === completed);
    assert.deepEqual(first?.assignmentIds, [odd]);
    assert.deepEqual(first?.relayIds, [company.relayId]);
    assert.equal(first?.companyId, company.companyId);
    assert.match(first?.summary ?? '', /1 action, assignment it's/);
    // The worker writes the row a moment before Temporal closes the chain.
    assert.ok(first?.closedAt && first.closedAt > first.receivedAt && first.closedAt <= middle, first?.closedAt);
    assert.deepEqual(items.find(({ chainId }) => chainId === held)?.failureTypes, ['PlatformError']);

    const paged: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await list(`${base}?limit=2${cursor && `&cursor=${cursor}`}`);
      assert.ok(page.items.length <= 2);
      paged.push(...page.items.map(({ chainId }) => chainId));
      cursor = page.nextCursor;
    }
    assert.deepEqual(
      paged,
      items.map(({ chainId }) => chainId),
    );
    await stack.restartWorker();
  });

  it('refuse invalid filters and strangers', async () => {
    const company = await stack.company();
    const other = await stack.company();
    const base = `/co/${company.companyId}/chains`;
    for (const query of [
      'status=broken',
      'assignmentId=%22%20OR%20RelayCompanyId%3A%22x',
      'assignmentId=a%5C',
      'assignmentId=',
      'relayId=x',
      "relayId=1'",
      'since=yesterday',
      'until=2026-01-01',
      'limit=0',
      'limit=201',
      'cursor=x',
      'cursor=00000000.abcd',
      'asignmentId=1',
      'companyId=x',
      'paused=maybe',
    ]) {
      const response = await ask(`${base}?${query}`);
      assert.equal(response.status, 400, query);
      assert.equal(response.headers.get('content-type'), 'application/problem+json');
    }
    const made = await stack.store.keys.create(company.companyId, 'k', { kind: 'admin' });
    assert.ok(typeof made === 'object');
    assert.deepEqual((await list(base, made.key)).items, []);
    assert.equal((await ask(`/co/${other.companyId}/chains`, made.key)).status, 401);
    assert.equal((await ask('/chains', made.key)).status, 401);
    assert.equal((await ask(base, 'x')).status, 401);
    assert.equal((await ask("/chains?companyId=x'%20OR%20'1'='1")).status, 404);
    assert.deepEqual((await list(`${base}?assignmentId=${encodeURIComponent("x' OR '1'='1")}`)).items, []);
  });
});

describe('an open chain', () => {
  const base = ({ companyId }: { companyId: string }) => `/co/${companyId}/chains`;

  it('is listed as one that found nobody, until a later send finds a worker', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    const near = send(assignment, { groupId: '501', sendRadius: '0' });
    const wide = send(assignment, { groupId: '501', sendRadius: '5000', delayInSeconds: '3000' });
    const { chainId } = await company.start([near, wide, udf('T', { delayInSeconds: '3000' })]);
    const chain = await company.action(chainId, 0, 'done');
    assert.equal(chain.actions[0]?.result?.recipients, 0);
    await listed(`${base(company)}?nobodyFound=true&status=running`, [chainId]);
    await company.steer(chainId, 'runNow', 1);
    await company.action(chainId, 1, 'done');
    await listed(`${base(company)}?nobodyFound=true`, []);
  });

  it('is listed with the next step that is left, after a person ran a step or cancelled it', async () => {
    const company = await stack.company();
    const later = (seconds: number) => udf(`T-${seconds}`, { delayInSeconds: String(seconds) });
    const { chainId } = await company.start([later(1000), later(2000), later(3000)]);
    await company.action(chainId, 0, 'scheduled');
    const next = async () => (await list(`${base(company)}?steps=true`)).items.map(({ next }) => next?.index);
    assert.deepEqual(await next(), [0]);
    await company.steer(chainId, 'runNow', 0);
    await company.action(chainId, 0, 'done');
    assert.deepEqual(await next(), [1]);
    await company.steer(chainId, 'cancel', 1);
    await company.action(chainId, 1, 'cancelled');
    assert.deepEqual(await next(), [2]);
  });

  it('is listed with its new assignment after an edit of all actions; the fields of the other actions have it, too', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    const { chainId } = await company.start([
      send('404404', { groupId: '501' }),
      send('404404', { groupId: '501', delayInSeconds: '3000' }),
    ]);
    await company.action(chainId, 0, 'needs-attention');
    await eventually('the list to say why the chain needs attention', async () => {
      const { problems } = (await list(`${base(company)}?steps=true`)).items[0] ?? {};
      return /^Assignment 404404 does not exist/.test(problems?.join() ?? '') ? true : new Unmet(problems);
    });
    const fields = { platformAssignmentId: assignment };
    assert.equal((await company.steer(chainId, 'mend', 0, { fields, allActions: true })).status, 202);
    await company.action(chainId, 0, 'done');
    const [chain] = await listed(`${base(company)}?assignmentId=${assignment}`, [chainId]);
    assert.deepEqual(chain?.assignmentIds, [assignment]);
    await listed(`${base(company)}?assignmentId=404404`, [chainId]);
    const second = await (await ask(`${base(company)}/${chainId}/actions/1/fields`)).text();
    assert.match(second, new RegExp(`"platformAssignmentId":"${assignment}"`));
  });
});

describe('a chain without workers', () => {
  it('shows that it needs attention, and the outcomes of its delayed actions', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([send('404404', { groupId: '501' }), udf('T', { delayInSeconds: '1' })]);
    await company.action(chainId, 0, 'needs-attention');
    await company.action(chainId, 1, 'done');
    await stack.stopWorker();
    const isHeld = ({ status }: ChainResource) => status === 'needs-attention';
    const chain = await company.until(chainId, isHeld, 'the search attribute', { partial: true });
    assert.equal(chain.actions[1]?.state, 'done');
    await stack.restartWorker();
    await company.steer(chainId, 'cancel');
    await company.ended(chainId);
  });
});
