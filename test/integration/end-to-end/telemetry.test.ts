/** The reports of a running relay: `/metrics`, with its own and the SDK's metrics in one answer, and its log. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { type NativeConnection, Worker } from '@temporalio/worker';
import { countOnce } from '../../../src/temporal/unattended.js';
import { bundlePath } from '../../../src/worker/bundle.js';
import { metricsIn, page, queries, sampleNames } from '../../deployment/metric-names.js';
import { eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack();
const { client, taskQueue, metrics, log } = stack;

/** The samples of one scrape by name and labels, as Prometheus reads them. */
async function scrape(): Promise<Map<string, number>> {
  const response = await fetch(`${stack.links.api}/metrics`);
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, sample = '', value] = /^(\w+(?:\{.*\})?) (\S+)$/.exec(line) ?? assert.fail(`this is no sample: ${line}`);
      return [sample, Number(value)];
    }),
  );
}
const sumOf = (samples: Map<string, number>, name: RegExp) =>
  [...samples].reduce((sum, [sample, value]) => sum + (name.test(sample) ? value : 0), 0);

/** Waits until a sample exists, because the SDK updates some counters a moment later. */
const counted = (name: RegExp) =>
  eventually(String(name), async () => {
    const samples = await scrape();
    return sumOf(samples, name) > 0 ? samples : new Unmet([...samples.keys()].filter((key) => key.startsWith('temporal_')));
  });

const company = await stack.company();
const missing = String(Math.floor(Math.random() * 1e12));
let done = '';
let held = '';
before(async () => {
  const assignment = await stack.assignment();
  ({ chainId: done } = await company.start([send(assignment, { groupId: '501' }), udf('T')]));
  await company.ended(done);
  ({ chainId: held } = await company.start([send(missing, { groupId: '501' })]));
  await company.action(held, 0, 'needs-attention');
  await company.post([{ action: 'ticket_updateUDF' }]);
});

describe('/metrics', () => {
  it("has the relay's metrics", async () => {
    const samples = await scrape();
    assert.equal(samples.get('relay_accepted_requests_total'), 2);
    assert.equal(sumOf(samples, /^relay_refused_requests_total\{/), 1);
    assert.equal(samples.get('relay_activities_total{activity="updateUdf",result="ok"}'), 1);
    assert.equal(samples.get('relay_activities_total{activity="sendAssignment",result="PlatformError"}'), 1);
    assert.equal(samples.get('relay_effect_delay_seconds_count{activity="sendAssignment"}'), 1);
    const took = samples.get('relay_effect_delay_seconds_sum{activity="sendAssignment"}') ?? Number.NaN;
    assert(took >= 0 && took < 600, `${took} s from due to done`);
    await counted(/^relay_action_troubles_total\{kind="needs-attention"\}/);
  });

  it("has the Temporal SDK's metrics", async () => {
    for (const name of [
      /^temporal_worker_task_slots_available\{/,
      /^temporal_sticky_cache_size\{/,
      /^temporal_workflow_task_schedule_to_start_latency_seconds_bucket\{/,
    ])
      await counted(name);
  });

  it('counts failing workflow tasks', async () => {
    const connection = client.connection as NativeConnection;
    const ownQueue = `${taskQueue}-failing`; // At its end, the stack replays its own queue, but a failed task does not replay.
    const worker = await Worker.create({ connection, taskQueue: ownQueue, workflowBundle: { codePath: bundlePath } });
    await worker.runUntil(async () => {
      const workflowId = `nobody-knows-${randomUUID()}`;
      const handle = await client.workflow.start('NobodyKnowsIt', { workflowId, taskQueue: ownQueue });
      await counted(/^temporal_workflow_task_execution_failed_total\{/);
      await handle.terminate();
    });
  });

  it('has every metric that the dashboard, the alerts and docs/telemetry.md name', async () => {
    const asked = [
      ...queries,
      ...Array.from(page.matchAll(/`((?:temporal|relay)_\w+)`/g), ([, name = '']) => ['the page', name]),
    ];
    const known = sampleNames(await (await fetch(`${stack.links.api}/metrics`)).text());
    const unknown = asked.flatMap(([where = '', query = '']) =>
      metricsIn(query).flatMap((name) => (known.has(name) || name === 'up' ? [] : `${where}: ${name}`)),
    );
    assert.deepEqual(unknown, []); // `up` is Prometheus' own metric.
  });

  it('has the number of chains that need attention, and the age of the oldest', async () => {
    const samples = await eventually('the chain to be counted', async () => {
      await countOnce({ client, taskQueue, metrics, log });
      const samples = await scrape();
      return (samples.get('relay_oldest_unattended_seconds') ?? 0) > 0 ? samples : new Unmet([...samples]);
    });
    assert.equal(samples.get('relay_chains_needing_attention'), 1);
    assert.equal(samples.get('relay_notices_overdue'), 0);
    await stack.assignment({ id: missing });
    await company.steer(held, 'retry', 0);
    await company.ended(held);
    await eventually('none to be left', async () => {
      await countOnce({ client, taskQueue, metrics, log });
      const after = await scrape();
      const left = [after.get('relay_chains_needing_attention'), after.get('relay_oldest_unattended_seconds')];
      return left.every((value) => value === 0) || new Unmet(left);
    });
  });
});

describe('the log', () => {
  const lines = () =>
    stack
      .logged()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const about = (chainId: string, message: string) => lines().filter((line) => line.chainId === chainId && line.msg === message);

  const requests = (chainId: string) =>
    about(chainId, 'request answered')
      .filter(({ method }) => method === 'POST')
      .map(({ level, companyId, route, status, index, verb }) => [level, companyId, route, status, index, verb]);
  const { companyId } = company;

  it('has one line for each request, with company and chain', () =>
    assert.deepEqual(requests(done), [['info', companyId, '/co/:companyId/relay', 202, undefined, undefined]]));

  it('has one line for each decision, with its action', () => {
    const [, steered, ...more] = requests(held);
    const route = '/co/:companyId/chains/:chainId/actions/:index/:verb';
    assert.deepEqual([steered, more], [['info', companyId, route, 202, 0, 'retry'], []]);
  });

  it('has one line for each attempt at an effect, with company, chain, action and result', () => {
    const shown = about(done, 'effect attempted').map(({ index, activity, result, attempt, relayId, companyId }) => ({
      ...{ index, activity, result, attempt, relayId, companyId },
    }));
    const { relayId } = company;
    assert.deepEqual(shown, [
      { index: 0, activity: 'sendAssignment', result: 'ok', attempt: 1, relayId, companyId },
      { index: 1, activity: 'updateUdf', result: 'ok', attempt: 1, relayId, companyId },
    ]);
    assert.deepEqual(
      about(held, 'effect attempted').map(({ result }) => result),
      ['PlatformError', 'ok'],
    );
  });

  it('has rejected callers and health checks at debug level only', async () => {
    const before = lines().length;
    const post = { method: 'POST', headers: { 'content-type': 'application/json' } };
    await fetch(`${stack.links.api}/co/${companyId}/relay`, { ...post, body: '[{}]' });
    await fetch(`${stack.links.api}/healthz`);
    const answered = lines()
      .slice(before)
      .filter(({ msg }) => msg === 'request answered')
      .map(({ level, route, status }) => [level, route, status]);
    assert.deepEqual(answered, [
      ['debug', '/co/:companyId/relay', 401],
      ['debug', '/healthz', 200],
    ]);
  });
});
