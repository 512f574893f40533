/**
 * Rows of chains, after crashes, restores, resets and deletions. The collector reads the chains from Temporal, and writes the
 * rows.
 */

import assert from 'node:assert/strict';
import { before, it, mock } from 'node:test';
import { WorkflowNotFoundError } from '@temporalio/client';
import { chainListSchema, chainSchema } from '../../../src/contract/chain-resource.js';
import { searchResponse } from '../../../src/contract/search.js';
import { type ChainRow, Chains } from '../../../src/store/chains.js';
import { Collector } from '../../../src/temporal/collect.js';
import { resetToFirst } from '../../end-to-end/resets.js';
import { type Action, adminToken, decided, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack();
const { chains } = stack.store;
type Company = Awaited<ReturnType<typeof stack.company>>;

/**
 * The collector of the worker gets no lease, so that only the tests' own collectors run. These collectors begin like a restarted
 * worker. The worker does not write the ends of chains into the rows, like a worker that crashes.
 */
const writeEnd = chains.end.bind(chains);
const losesEnds = mock.method(chains, 'end', () => {});
before(async () => {
  const { leases } = stack.store;
  const take = leases.take.bind(leases);
  mock.method(leases, 'take', async (limits: Parameters<typeof take>[0]) =>
    limits.account.startsWith('collector:') ? undefined : take(limits),
  );
  const account = `collector:${stack.taskQueue}`;
  await eventually('the lease', async () => {
    const taken = await take({ account, threads: 1, callsPerHour: 1e9, callsPerLease: 0, ms: 1000 });
    return taken ?? new Unmet('held by the collector of the worker');
  });
});
const leases = { take: async () => ({ release: async () => undefined }) };
const restarted = { chains: new Chains(stack.database), leases };
const newCollector = () => new Collector({ ...stack, endedMs: 0, addedMs: 0, store: restarted });
const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${stack.links.api}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
  });
async function listed(companyId: string, more = ''): Promise<string[]> {
  const { items } = chainListSchema.parse(await (await ask(`/co/${companyId}/chains?limit=200${more}`)).json());
  return items.map(({ chainId }) => chainId).sort();
}
const rowsOf = async ({ companyId }: Company, chainIds: readonly string[]) =>
  Promise.all(chainIds.map((chainId) => chains.get(companyId, chainId)));
/** Lets new collectors run until the row of each chain meets the condition. */
const collected = (company: Company, chainIds: readonly string[], wanted: (row: ChainRow) => boolean) =>
  eventually('the rows to be complete', async () => {
    await newCollector().pass();
    const rows = await rowsOf(company, chainIds);
    return rows.every((row) => row && wanted(row)) ? rows : new Unmet(rows);
  });
/** Starts chains that fail with one action for an unknown assignment, and waits until Temporal lists them as closed. */
async function failedChains(company: Company, count: number) {
  const assignments = Array.from({ length: count }, () => String(Math.floor(Math.random() * 1e12)));
  const made = await Promise.all(
    assignments.map((id) => company.start([send(id, { groupId: '501' }), udf(`T-${id}`)] satisfies Action[])),
  );
  const query = `RelayCompanyId = '${company.companyId}' AND WorkflowType = 'RuleChain' AND ExecutionStatus = 'Failed'`;
  await eventually('all chains to be closed', async () => {
    const closed = (await stack.client.workflow.count(query)).count;
    return closed === count || new Unmet(closed);
  });
  await chains.flush();
  return { chainIds: made.map(({ chainId }) => chainId), assignments };
}
async function deleteRuns(workflowId: string): Promise<void> {
  const { workflow, workflowService } = stack.client;
  for await (const { runId } of workflow.list({ query: `WorkflowId = '${workflowId}'` }))
    await workflowService.deleteWorkflowExecution({ namespace: 'default', workflowExecution: { workflowId, runId } });
  await eventually('Temporal to forget the chain', async () => {
    const error = await workflow
      .getHandle(workflowId)
      .describe()
      .catch((thrown: unknown) => thrown);
    return error instanceof WorkflowNotFoundError || new Unmet('still there');
  });
}

it('the collector writes the rows that were lost in a crash', async () => {
  const company = await stack.company();
  const start = async (more: Action) =>
    (await company.start([udf('T-lost', { platformAssignmentId: 'WO-lost', ...more })])).chainId;
  const [open, done] = [await start({ delayInSeconds: '3000' }), await start({})];
  await company.ended(done);
  const [, before] = await collected(company, [open, done], (row) => row.chainId === open || row.closedAt !== undefined);
  await stack.database.query(`DELETE FROM chains WHERE company_id = '${company.companyId}'`);
  assert.deepEqual(await listed(company.companyId), []);
  const [lost, again] = await collected(company, [open, done], (row) => row.chainId === open || row.closedAt !== undefined);
  assert.deepEqual(again, before);
  const { status, ticketIds, assignmentIds, relayIds } = lost ?? assert.fail();
  assert.deepEqual(
    { status, ticketIds, assignmentIds, relayIds },
    {
      ...{ status: 'running', ticketIds: ['T-lost'], assignmentIds: ['WO-lost'], relayIds: [company.relayId] },
    },
  );
  await company.steer(open, 'cancel');
  await company.ended(open);
  await collected(company, [open], (row) => row.status === 'cancelled');
});

it('needs no collector for the end of a chain, which its worker writes as the collector would', async (t) => {
  const company = await stack.company({ onFailure: 'continue' });
  const ends: ChainRow['chainId'][] = [];
  losesEnds.mock.mockImplementation((row: Parameters<typeof writeEnd>[0]) => {
    ends.push(row.chainId);
    writeEnd(row);
  });
  t.after(() => losesEnds.mock.mockImplementation(() => {}));
  const assignmentId = String(Math.floor(Math.random() * 1e12));
  const cancelled = (await company.start([udf('T-cancelled', { delayInSeconds: '3000' })])).chainId;
  const failed = (await company.start([send(assignmentId, { groupId: '501' }), udf(`T-${assignmentId}`)])).chainId;
  await company.action(cancelled, 0, 'scheduled');
  await company.steer(cancelled, 'cancel');
  const written = await eventually('the worker to write both rows', async () => {
    const rows = await rowsOf(company, [failed, cancelled]);
    return rows.every((row) => row?.closedAt !== undefined) ? rows : new Unmet(rows);
  });
  assert.deepEqual(ends.toSorted(), [failed, cancelled].sort());
  assert.deepEqual(
    written.map((row) => [row?.status, row?.failedActions, row?.ticketIds]),
    [
      ['failed', 1, [`T-${assignmentId}`]],
      ['cancelled', 0, ['T-cancelled']],
    ],
  );
  await stack.database.query('DELETE FROM chains WHERE company_id = $1', [company.companyId]);
  const read = await collected(company, [failed], ({ closedAt }) => closedAt !== undefined);
  // The two times of the end are not compared, because the worker and Temporal use different clocks.
  const comparable = ({ closedAt: _, place: __, details = '', ...row }: ChainRow) => ({ ...row, details: JSON.parse(details) });
  assert.deepEqual(
    read.flatMap((row) => row && comparable(row)),
    written.slice(0, 1).flatMap((row) => row && comparable(row)),
  );
});

it('opens the row of a chain whose end Temporal refused, because a signal came at the same moment', async () => {
  const company = await stack.company();
  const { chainId } = await company.start([udf('T-refused', { delayInSeconds: '3000' })]);
  await company.action(chainId, 0, 'scheduled');
  const collector = newCollector();
  await collector.pass(); // The next comparison of all open rows is in five minutes.
  const [row] = await rowsOf(company, [chainId]);
  const { runId, startTime } = await stack.client.workflow.getHandle(`relay:${company.companyId}:${chainId}`).describe();
  const end = { status: 'completed', closedAt: new Date().toISOString(), runId, startedAt: startTime.toISOString() } as const;
  await chains.collect([{ ...(row ?? assert.fail()), ...end }]);
  assert.deepEqual(await listed(company.companyId, '&status=completed'), [chainId]);
  await eventually('the row to be open', async () => {
    await collector.pass();
    const [status] = (await rowsOf(company, [chainId])).map((row) => row?.status);
    return status === 'running' || new Unmet(status);
  });
});

it('opens the row of a chain that is retried after its end, and closes it again', async () => {
  const company = await stack.company({ onFailure: 'continue' });
  const { chainIds, assignments } = await failedChains(company, 1);
  const [chainId = '', assignmentId = ''] = [chainIds[0], assignments[0]];
  const [first] = await collected(company, chainIds, ({ status }) => status === 'failed');
  assert.equal(first?.failedActions, 1);
  await stack.assignment({ id: assignmentId });
  const pause = `/admin/companies/${company.companyId}/pause`;
  assert.ok((await ask(pause, { method: 'PUT', body: JSON.stringify({ what: 'platform' }) })).ok);
  assert.equal((await decided(() => company.steer(chainId, 'retry', 0))).status, 202);
  const [open] = await collected(company, chainIds, ({ closedAt, paused }) => closedAt === undefined && paused === true);
  assert.equal(open?.status, 'running');
  assert.equal(open?.receivedAt, first?.receivedAt);
  assert.notEqual(open?.runId, first?.runId);
  assert.ok((await ask(pause, { method: 'DELETE' })).ok);
  const [last] = await collected(company, chainIds, ({ status }) => status === 'completed');
  assert.deepEqual([last?.failedActions, last?.runId, last?.ticketIds], [0, open?.runId, [`T-${assignmentId}`]]);
  assert.deepEqual(await listed(company.companyId), chainIds);
});

it('the collector misses nothing and writes nothing twice, if it is killed at any moment or an old backup is restored', async () => {
  const { chains } = restarted;
  const company = await stack.company({ onFailure: 'continue' });
  const { companyId } = company;
  await collected(company, [], () => true);
  const began = new Date().toISOString();
  const { chainIds } = await failedChains(company, 12);
  const dead = () => Promise.reject(new Error('killed'));
  const write = chains.collect.bind(chains);
  const watermark = chains.setCollected.bind(chains);
  const atTheEnd = (queue: string, until: string) => (until < began ? watermark(queue, until) : dead());
  const kills: [string, () => ReturnType<typeof mock.method>, number][] = [
    ['before a write', () => mock.method(chains, 'collect', dead), 0],
    [
      'in the middle of a write',
      () =>
        mock.method(chains, 'collect', async (rows: Parameters<typeof write>[0]) => {
          await write(rows.slice(0, 5));
          await dead();
        }),
      5,
    ],
    ['before the watermark', () => mock.method(chains, 'setCollected', atTheEnd), 12],
  ];
  for (const [when, kill, complete] of kills) {
    const killed = kill();
    await assert.rejects(newCollector().pass(), /killed/, when).finally(() => killed.mock.restore());
    const rows = await rowsOf(company, chainIds);
    assert.equal(rows.filter((row) => row?.closedAt !== undefined).length, complete, when);
  }
  await newCollector().pass();
  const dump = async () => {
    const rows = await stack.database.query(
      `SELECT row_to_json(t)::text AS text FROM chains t WHERE company_id = '${companyId}' ORDER BY chain_id`,
    );
    return rows.map((row) => JSON.stringify(row));
  };
  const [written, rows] = [await dump(), await rowsOf(company, chainIds)];
  assert.equal(written.length, 12);
  await newCollector().pass();
  assert.deepEqual(await dump(), written, 'not even updated_at');

  // As after a restore of yesterday's backup: one chain has an old row, the other rows are missing, and the watermark is old.
  const [known = '', ...younger] = chainIds;
  await stack.database.query('DELETE FROM chains WHERE company_id = $1 AND chain_id = ANY ($2::text[])', [companyId, younger]);
  await stack.database.query(
    `UPDATE chains SET status = 'running', closed_at = NULL, run_id = NULL, started_at = NULL, details = NULL, done_at = NULL,
       failed_actions = 0, failure_types = NULL, place = '2' || chain_id WHERE chain_id = $1`,
    [known],
  );
  await stack.database.query("UPDATE collected SET until = until - interval '1 day' WHERE task_queue = $1", [stack.taskQueue]);
  await newCollector().pass();
  assert.deepEqual(await rowsOf(company, chainIds), rows);
  assert.deepEqual(await listed(companyId), chainIds.toSorted());
});

it('the collector writes one row with the last status for each of many chains that are reset', async () => {
  const company = await stack.company({ onFailure: 'continue' });
  const { chainIds, assignments } = await failedChains(company, 20);
  await collected(company, chainIds.slice(0, 10), ({ status }) => status === 'failed');
  await Promise.all(assignments.map((id) => stack.assignment({ id })));
  const reset = Promise.all(chainIds.map((chainId) => resetToFirst(stack.client, `relay:${company.companyId}:${chainId}`)));
  await newCollector().pass(); // while chains are being reset
  await reset;
  const rows = await collected(company, chainIds, ({ status }) => status === 'completed');
  await newCollector().pass();
  assert.deepEqual(await rowsOf(company, chainIds), rows);
  assert.deepEqual([...(await chains.counts(company.companyId, {}))], [['completed', 20]]);
  for (const row of rows) {
    const { runId } = await stack.client.workflow.getHandle(`relay:${company.companyId}:${row?.chainId}`).describe();
    assert.equal(row?.runId, runId);
  }
});

it('the relay shows, lists and finds a chain that Temporal has deleted, and refuses to steer it', async () => {
  const company = await stack.company({ onFailure: 'continue' });
  const { companyId } = company;
  const { chainIds, assignments } = await failedChains(company, 1);
  const closed = chainIds[0] ?? '';
  await collected(company, chainIds, ({ status }) => status === 'failed');
  const before = await company.ended(closed);
  const open = (await company.start([udf('T-open', { delayInSeconds: '3000' })])).chainId;
  await company.action(open, 0, 'scheduled');
  await chains.flush();
  await Promise.all([closed, open].map((chainId) => deleteRuns(`relay:${companyId}:${chainId}`)));

  const read = async (chainId: string) => chainSchema.parse(await (await ask(`/co/${companyId}/chains/${chainId}`)).json());
  const shown = await read(closed);
  assert.deepEqual(shown, { ...before, forgotten: true, links: { chain: before.links.chain } });
  const lost = await read(open);
  assert.deepEqual([lost.status, lost.forgotten, lost.partial, lost.actions], ['running', true, true, []]);
  for (const [chainId, path, method] of [
    [closed, 'actions/0/retry', 'POST'],
    [closed, 'actions/0/skip', 'POST'],
    [closed, 'actions/0/mend', 'POST'],
    [closed, 'actions/0/fields', 'GET'],
    [closed, 'cancel', 'POST'],
    [open, 'cancel', 'POST'],
  ] as const) {
    const body = path.endsWith('mend') ? '{"fields": {"groupId": "502"}}' : '{}';
    const answer = await ask(`/co/${companyId}/chains/${chainId}/${path}`, { method, ...(method === 'POST' && { body }) });
    const told = await answer.text();
    assert.equal(answer.status, 409, `${path}: ${told}`);
    assert.match(
      told,
      new RegExp(`Temporal has deleted chain ${chainId}; to run the remaining actions of the chain, send the request again`),
    );
  }
  assert.deepEqual(await listed(companyId), [closed, open].sort());
  const found = async (query: string) =>
    searchResponse.parse(await (await ask(`/co/${companyId}/search?q=${query}`)).json()).items.map(({ kind, id }) => [kind, id]);
  assert.deepEqual(await found(closed.slice(0, 8)), [['chain', closed]]);
  assert.deepEqual(await found((assignments[0] ?? '').slice(0, -1)), [['assignment', assignments[0]]]);
  assert.deepEqual(await found('T-o'), [['ticket', 'T-open']]);
  await newCollector().pass();
  assert.deepEqual(await read(closed), shown);
  const forgotten = await read(open);
  assert.deepEqual([forgotten.status, forgotten.forgotten, forgotten.partial], ['forgotten', true, true]);
  assert.ok(forgotten.closedAt);
  assert.deepEqual(await listed(companyId, '&status=forgotten'), [open]);
});

it('the collector opens the row of a forgotten chain that comes again, and of a closed chain that runs again after a restore', async () => {
  const company = await stack.company();
  const { companyId } = company;
  const post = async () => {
    const response = await company.post([udf('T-again', { delayInSeconds: '3000' })], { 'Idempotency-Key': 'again' });
    return { status: response.status, ...((await response.json()) as { chainId: string }) };
  };
  const { chainId } = await post();
  await company.action(chainId, 0, 'scheduled');
  await chains.flush();
  await Promise.all(['', ':0'].map((ofAction) => deleteRuns(`relay:${companyId}:${chainId}${ofAction}`)));
  await collected(company, [chainId], ({ status }) => status === 'forgotten');
  const again = await post();
  assert.deepEqual([again.status, again.chainId], [202, chainId]);
  const [open] = await collected(company, [chainId], ({ status }) => status === 'running');
  assert.deepEqual([open?.closedAt, open?.ticketIds], [undefined, ['T-again']]);
  assert.deepEqual(await listed(companyId, '&status=running'), [chainId]);

  // The row says that this run has closed, because it closed once before Temporal was restored.
  const { runId, startTime } = await stack.client.workflow.getHandle(`relay:${companyId}:${chainId}`).describe();
  const closed = { status: 'completed', closedAt: new Date().toISOString(), runId, startedAt: startTime.toISOString() } as const;
  await chains.collect([{ ...(open ?? assert.fail()), ...closed }]);
  assert.deepEqual(await listed(companyId, '&status=completed'), [chainId]);
  await collected(company, [chainId], ({ status, closedAt }) => status === 'running' && closedAt === undefined);
  await company.steer(chainId, 'cancel');
  await company.ended(chainId);
  await collected(company, [chainId], ({ status }) => status === 'cancelled');
});
