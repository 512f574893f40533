/** PostgreSQL is killed, and restarted later. Chains end in between. After the restart, each chain has one row with its end. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { Connection } from '@temporalio/client';
import { chainWorkflowId } from '../../../src/chain/chain.js';
import { chainListSchema } from '../../../src/contract/chain-resource.js';
import { freePort } from '../../../src/service/server.js';
import { callsTo, deployment } from '../../end-to-end/deployment.js';
import { startProcess } from '../../end-to-end/process.js';
import { type Call, companyAt, eventually, Unmet, udf } from '../../end-to-end/stack.js';
import { PostgresqlServer, programsDirectory } from '../../postgresql.js';

const skip = (process.env.RELAY_TEST_DATABASE_URL === undefined || !programsDirectory()) && 'PostgreSQL is not installed';
const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

it('chains that end without PostgreSQL have one row each after its restart; new requests are refused until then', {
  skip,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'relay-away-'));
  closing.push(() => rmSync(directory, { recursive: true, force: true }));
  const server = new PostgresqlServer(directory, await freePort('127.0.0.1'));
  closing.push(() => server.end('SIGKILL'));
  await server.start();
  const address = process.env.RELAY_TEST_TEMPORAL_ADDRESS ?? '';
  const connection = await Connection.connect({ address });
  closing.push(() => connection.close());
  const temporal = connection.workflowService;
  const parts = await deployment(closing, address);
  const { platform, adminToken, url } = parts;
  const env = { ...parts.env, DATABASE_URL: server.url };
  const [api, worker] = ['api/main.js', 'worker/main.js'].map((main) => startProcess(main, env));
  closing.push(() => Promise.all([api?.end('SIGKILL'), worker?.end('SIGKILL')]));
  await api?.says('Temporal can be reached');
  await worker?.says('the worker runs');
  const call = callsTo(url, adminToken);
  const companyId = `away-${randomUUID().slice(0, 8)}`; // other tests run chains of acme in the same Temporal
  const ticketing = { kind: 'http', baseUrl: platform.url };
  await call('PUT', `/admin/companies/${companyId}`, { name: 'Acme', notify: { emails: ['admin@acme.example'] }, ticketing });
  const rule = await call('POST', `/admin/companies/${companyId}/rules`, { name: 'Rule' });
  const company = companyAt(url, adminToken, { companyId, ...rule });
  const arrived = async () => {
    const journal = (await (await fetch(`${platform.url}/journal`)).json()) as Call[];
    return journal.map(({ path }) => path.split('/').at(-1)).sort();
  };
  const listed = async () => chainListSchema.parse(await call('GET', `/co/${companyId}/chains`)).items;

  const open = await company.start([udf('A1', { delayInSeconds: '3000' })]);
  await company.ended((await company.start([udf('A2')])).chainId);
  await eventually('both rows', async () => {
    const rows = await listed();
    return rows.filter(({ status }) => status === 'completed').length === 1 && rows.length === 2 ? true : new Unmet(rows);
  });

  await fetch(`${platform.url}/control/fail`, {
    method: 'PUT',
    body: JSON.stringify({ delayMs: 1500, path: 'tickets', times: 2 }),
  });
  const accepted = [await company.start([udf('A3')]), await company.start([udf('A4')])];
  await eventually('both effects to be under way', async () => {
    const tickets = await arrived();
    return tickets.length === 3 || new Unmet(tickets);
  });
  await server.end('SIGKILL');
  // Without PostgreSQL, the API answers for only two seconds. The test therefore asks Temporal.
  const completed = 2; // WORKFLOW_EXECUTION_STATUS_COMPLETED
  for (const { chainId } of accepted)
    await eventually('the chain to complete', async () => {
      const execution = { workflowId: chainWorkflowId({ companyId, chainId }) };
      const { workflowExecutionInfo } = await temporal.describeWorkflowExecution({ namespace: 'default', execution });
      return workflowExecutionInfo?.status === completed || new Unmet(workflowExecutionInfo?.status);
    });
  const post = () => company.post([udf('A5', { delayInSeconds: '3000' })], { 'Idempotency-Key': 'A5' });
  await eventually('a request to be refused, so that its sender repeats it', async () => {
    const { status, headers } = await post();
    return (status === 503 && headers.has('retry-after')) || new Unmet(status);
  });
  await server.start();
  const late = await eventually('the request to be accepted', async () => {
    const response = await post();
    return response.ok ? ((await response.json()) as { chainId: string }) : new Unmet(response.status);
  });

  const rows = await eventually('the rows to be complete', async () => {
    const items = await listed();
    return items.filter(({ status }) => status === 'completed').length === 3 && items.length === 5 ? items : new Unmet(items);
  });
  const statusOf = ({ chainId }: { chainId: string }) => rows.find((row) => row.chainId === chainId)?.status;
  assert.deepEqual([open, late, ...accepted].map(statusOf), ['running', 'running', 'completed', 'completed']);
  assert.deepEqual(await arrived(), ['A2', 'A3', 'A4']);
});
