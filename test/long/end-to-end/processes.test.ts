/** `npm run api` and `npm run worker` as separate processes, with PostgreSQL and a Temporal server. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { after, describe, it } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { Keyring } from '../../../src/contract/encryption.js';
import { dataConverterOf } from '../../../src/service/payloads.js';
import { freePort } from '../../../src/service/server.js';
import { openPostgres } from '../../../src/store/postgres.js';
import { deployment, secrets } from '../../end-to-end/deployment.js';
import { codes, startGrpcProxy } from '../../end-to-end/grpc-proxy.js';
import { type Process, startProcess } from '../../end-to-end/process.js';
import { eventually, Unmet, udf } from '../../end-to-end/stack.js';
import { createDatabase } from '../../store/databases.js';

const skip = process.env.RELAY_TEST_DATABASE_URL === undefined && 'PostgreSQL is not installed';
const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

function start(main: string, env: Record<string, string>): Process {
  const started = startProcess(main, { DATABASE_URL: '', TEMPORAL_ADDRESS: '', RELAY_ADMIN_TOKEN: '', SMTP_URL: '', ...env });
  closing.push(() => started.end('SIGKILL'));
  return started;
}

/** The variables of each process, without the database. */
const needs: Record<string, Record<string, string>> = {
  'api/main.js': { ...secrets(), RELAY_ADMIN_TOKEN: randomUUID(), PORT: String(await freePort('127.0.0.1')) },
  'worker/main.js': { ...secrets(), SMTP_URL: 'smtp://127.0.0.1:1' },
};

/** A deployment on the tests' Temporal server, with calls to its API. */
async function deployed() {
  const { platform, adminToken, url, env: shared } = await deployment(closing, process.env.RELAY_TEST_TEMPORAL_ADDRESS ?? '');
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
  const call = (method: string, path: string, body: unknown) =>
    fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
  return {
    shared,
    call,
    /** Waits until the API listens, then creates the company acme with a rule. */
    async found() {
      const system = { kind: 'http', baseUrl: platform.url };
      const company = { name: 'Acme', notify: { emails: ['a@acme.example'] }, platform: system, ticketing: system };
      assert.equal((await call('PUT', '/admin/companies/acme', company)).status, 201);
      const made = await call('POST', '/admin/companies/acme/rules', { name: 'Rule' });
      assert.equal(made.status, 201);
      const { relayId, relayAccessToken } = JSON.parse(await made.text());
      const post = (...actions: object[]) =>
        call(
          'POST',
          '/co/acme/relay',
          actions.map((action) => ({ relayId, relayAccessToken, ...action })),
        );
      return { relayId, relayAccessToken, post };
    },
  };
}

async function saysUnreachable(alone: Process, address: string): Promise<void> {
  await alone.says(new RegExp(`Temporal cannot be reached at ${address}, namespace default: .*; trying again`));
  assert.doesNotMatch(alone.output(), /\bat .*\.[jt]s:/, 'no stack');
}

describe('npm run api and npm run worker', () => {
  it('refuse to start if a requirement is missing, and say which', async () => {
    const api = start('api/main.js', {});
    assert.equal(await api.ended, 1);
    assert.match(
      api.output(),
      /^DATABASE_URL is not set: .*\nRELAY_ADMIN_TOKEN is not set: .*\nRELAY_SECRET is not set: .*\nRELAY_ENCRYPTION_KEYS is not set: .*\n$/,
    );
    const worker = start('worker/main.js', {});
    assert.equal(await worker.ended, 1);
    assert.match(
      worker.output(),
      /^DATABASE_URL is not set: .*\nSMTP_URL is not set: .*\nRELAY_SECRET is not set: .*\nRELAY_ENCRYPTION_KEYS is not set: .*\n$/,
    );
  });

  for (const [main, more] of Object.entries(needs)) {
    it(`report in one line that the database refuses them: ${main}`, { skip }, async () => {
      const nowhere = new URL(process.env.RELAY_TEST_DATABASE_URL ?? '');
      nowhere.pathname = '/nowhere';
      nowhere.password = 's3cret';
      const refused = start(main, { ...more, DATABASE_URL: nowhere.href });
      assert.equal(await refused.ended, 1);
      assert.match(refused.output(), /^[^\n]*DATABASE_URL[^\n]*"nowhere" does not exist[^\n]*correct the host[^\n]*\n$/);
      assert.doesNotMatch(refused.output(), /s3cret/);
    });

    it(`log in one line that the database cannot be reached, and start when it can: ${main}`, { skip }, async () => {
      const database = await createDatabase();
      closing.push(() => database.drop());
      const url = new URL(database.url);
      const { hostname, port } = url;
      const clients = new Set<Socket>();
      const proxy = createServer((client) => {
        clients.add(client);
        pipeline(client, connect(Number(port), hostname), client, () => {});
      });
      url.port = String(await freePort('127.0.0.1'));
      url.password = 's3cret';
      const own = String(await freePort('127.0.0.1'));
      const TEMPORAL_ADDRESS = process.env.RELAY_TEST_TEMPORAL_ADDRESS ?? '';
      const early = start(main, { ...more, PORT: own, RELAY_METRICS_PORT: own, DATABASE_URL: url.href, TEMPORAL_ADDRESS });
      await early.says(/DATABASE_URL names cannot be reached: [^\n]*ECONNREFUSED[^\n]*; trying again/);
      assert.doesNotMatch(early.output(), /s3cret|\bat .*\.[jt]s:/);
      const asked = (path: string) => fetch(`http://127.0.0.1:${own}${path}`);
      assert.deepEqual([(await asked('/healthz')).status, (await asked('/readyz')).status], [200, 503]);
      const refused = await asked('/co/acme/chains');
      assert.deepEqual([refused.status, Number(refused.headers.get('retry-after')) > 0], [503, true]);

      await once(proxy.listen(Number(url.port), '127.0.0.1'), 'listening');
      closing.push(async () => proxy.close());
      await eventually('it to be ready', async () => {
        const response = await asked('/readyz');
        return response.status === 200 ? true : new Unmet(await response.text());
      });
      if (main === 'api/main.js') {
        proxy.close();
        for (const client of clients) client.destroy();
        const headers = { authorization: `Bearer ${more.RELAY_ADMIN_TOKEN}` };
        const away = await fetch(`http://127.0.0.1:${own}/admin/companies`, { headers });
        assert.match(await away.text(), /database-unavailable/);
        assert.deepEqual([away.status, Number(away.headers.get('retry-after')) > 0], [503, true]);
      }
      assert.equal(await early.end('SIGTERM'), 0);
    });

    it(`report in one line that the database has a newer schema: ${main}`, { skip }, async () => {
      const database = await createDatabase();
      closing.push(() => database.drop());
      const newer = await openPostgres(database.url);
      await newer.query('UPDATE relay_schema SET version = 1000');
      await newer.close();
      const refused = start(main, { ...more, DATABASE_URL: database.url });
      assert.equal(await refused.ended, 1);
      assert.match(refused.output(), /^[^\n]*schema version 1000[^\n]*start the newer program\.\n$/);
    });
  }

  it('log in one line that Temporal cannot be reached, and retry: worker/main.js', { skip }, async () => {
    const database = await createDatabase();
    closing.push(() => database.drop());
    const TEMPORAL_ADDRESS = `127.0.0.1:${await freePort('127.0.0.1')}`;
    const alone = start('worker/main.js', { ...needs['worker/main.js'], DATABASE_URL: database.url, TEMPORAL_ADDRESS });
    await saysUnreachable(alone, TEMPORAL_ADDRESS);
    assert.equal(await alone.end('SIGTERM'), 0);
  });
});

// Each test has its own deployment, and mostly waits for a process.
describe('a deployment of npm run api and npm run worker', { concurrency: 2 }, () => {
  it('runs chains after a setup through the admin API, even if one of several workers is killed; without Temporal the API answers 503', {
    skip,
  }, async () => {
    const { shared, call, found } = await deployed();
    const api = start('api/main.js', shared);
    const workers = [start('worker/main.js', shared), start('worker/main.js', shared)];
    await api.says('Temporal can be reached');
    for (const worker of workers) await worker.says('the worker runs');

    const { post, relayId, relayAccessToken } = await found();
    const accepted = await post(udf('T', { cfValue: 'late', delayInSeconds: '4' }), udf('T', { cfValue: 'now' }));
    assert.equal(accepted.status, 202);
    const { chainId } = JSON.parse(await accepted.text());
    await workers[0]?.end('SIGKILL');
    const states = async () => {
      const chain = JSON.parse(await (await call('GET', `/co/acme/chains/${chainId}`, undefined)).text());
      return chain.actions.map(({ state }: { state: string }) => state).join();
    };
    await eventually('both actions', async () => ((await states()) === 'done,done' ? true : new Unmet(await states())));
    assert.equal(await workers[1]?.end('SIGTERM'), 0);

    const unreachable = String(await freePort('127.0.0.1'));
    const TEMPORAL_ADDRESS = `127.0.0.1:${await freePort('127.0.0.1')}`;
    const alone = start('api/main.js', { ...shared, PORT: unreachable, TEMPORAL_ADDRESS });
    await saysUnreachable(alone, TEMPORAL_ADDRESS);
    const body = JSON.stringify([{ relayId, relayAccessToken, ...udf('T') }]);
    const headers = { 'content-type': 'application/json' };
    const refused = await fetch(`http://127.0.0.1:${unreachable}/co/acme/relay`, { method: 'POST', headers, body });
    assert.equal(refused.status, 503);
    assert(Number(refused.headers.get('retry-after')) > 0);
    assert.equal((await fetch(`http://127.0.0.1:${unreachable}/readyz`)).status, 503);
    assert.equal((await fetch(`http://127.0.0.1:${unreachable}/healthz`)).status, 200);
    assert.equal(await alone.end('SIGTERM'), 0);
    assert.equal(await api.end('SIGTERM'), 0);
  });

  it('stops without losing a request: /readyz fails first, and a request refused just before is kept', { skip }, async () => {
    const { shared, call, found } = await deployed();
    const first = start('api/main.js', { ...shared, RELAY_DRAIN_SECONDS: '3' });
    await first.says('Temporal can be reached');
    const { post } = await found();
    first.child.kill('SIGTERM');
    const readiness = await eventually('it to say that it stops', async () => {
      const answer = await call('GET', '/readyz', undefined);
      return answer.status === 503 ? JSON.parse(await answer.text()) : new Unmet(answer.status);
    });
    assert.deepEqual(readiness, { status: 'stopping', temporal: 'ok', database: 'ok' });
    assert.equal((await post(udf('T'))).status, 202);
    assert.equal(await first.ended, 0);

    const second = start('api/main.js', shared);
    await second.says('Temporal can be reached');
    assert.equal((await post(udf('T', { delayInSeconds: 'soon' }))).status, 400);
    assert.equal(await second.end('SIGTERM'), 0);
    const third = start('api/main.js', shared);
    await third.says('the API listens');
    const { items } = JSON.parse(await (await call('GET', '/co/acme/rejected', undefined)).text());
    assert.deepEqual(
      items.map(({ reason }: { reason: string }) => reason),
      ['invalid-chain'],
    );
    assert.equal(await third.end('SIGTERM'), 0);
  });

  it('waits if Temporal disappears during the start, and exits if Temporal refuses to register search attributes', {
    skip,
  }, async () => {
    const { shared } = await deployed();
    const connection = await Connection.connect({ address: shared.TEMPORAL_ADDRESS });
    closing.push(() => connection.close());
    const namespace = `new-${randomUUID()}`;
    const workflowExecutionRetentionPeriod = msToTs('1 day');
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    // Each process calls AddSearchAttributes. After everything else has succeeded, the worker's SDK calls DescribeNamespace.
    let refused: Record<string, number> = { AddSearchAttributes: codes.permissionDenied };
    const proxy = await startGrpcProxy(shared.TEMPORAL_ADDRESS, (method) => {
      const code = refused[method];
      return code === undefined ? undefined : { code, message: `no ${method}` };
    });
    closing.push(() => proxy.close());
    const env = { ...shared, TEMPORAL_ADDRESS: proxy.address, TEMPORAL_NAMESPACE: namespace };
    const forbidden = start('api/main.js', env);
    assert.equal(await forbidden.ended, 1);
    assert.match(
      forbidden.output(),
      /may not register them. Run:\n {2}temporal operator search-attribute create --namespace new-/,
    );

    refused = { AddSearchAttributes: codes.unavailable, DescribeNamespace: codes.unavailable };
    const processes = [start('api/main.js', env), start('worker/main.js', env)];
    const [, worker] = processes;
    const waits = (method: string) => new RegExp(`Temporal cannot be reached at [^\\n]*no ${method}[^\\n]*; trying again`);
    for (const one of processes) await one.says(waits('AddSearchAttributes'));
    delete refused.AddSearchAttributes;
    await worker?.says(waits('DescribeNamespace'));
    refused = {};
    await worker?.says('the worker runs');
    for (const one of processes) assert.equal(await one.end('SIGTERM'), 0);
  });

  it('runs chains on the current version of a Worker Deployment, and continues them on the next version', { skip }, async () => {
    const { shared, call, found } = await deployed();
    const deploymentName = `relay-${randomUUID()}`;
    const half = start('worker/main.js', { ...shared, TEMPORAL_DEPLOYMENT_NAME: deploymentName });
    assert.equal(await half.ended, 1);
    assert.match(half.output(), /^TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID .*: set both, or none\n$/);

    const connection = await Connection.connect({ address: shared.TEMPORAL_ADDRESS });
    closing.push(() => connection.close());
    const startVersion = async (buildId: string) => {
      const worker = start('worker/main.js', {
        ...shared,
        TEMPORAL_DEPLOYMENT_NAME: deploymentName,
        TEMPORAL_WORKER_BUILD_ID: buildId,
      });
      await worker.says('the worker runs');
      await eventually(`version ${buildId} to be current`, () =>
        connection.workflowService.setWorkerDeploymentCurrentVersion({ namespace: 'default', deploymentName, buildId }).then(
          () => true,
          (error: unknown) => new Unmet(String(error)),
        ),
      );
      return worker;
    };
    const api = start('api/main.js', shared);
    await api.says('Temporal can be reached');
    const first = await startVersion('1');
    const { post } = await found();
    const accepted = await post(udf('T'), udf('T', { delayInSeconds: '3000' }));
    assert.equal(accepted.status, 202);
    const { chainId, workflowId } = JSON.parse(await accepted.text());
    const states = async () => {
      const chain = JSON.parse(await (await call('GET', `/co/acme/chains/${chainId}`, undefined)).text());
      return chain.actions.map(({ state }: { state: string }) => state).join();
    };
    const until = (wanted: string) =>
      eventually(wanted, async () => ((await states()) === wanted ? true : new Unmet(await states())));
    await until('done,scheduled');
    await startVersion('2');
    assert.equal(await first.end('SIGTERM'), 0);
    assert.equal((await call('POST', `/co/acme/chains/${chainId}/actions/1/runNow`, {})).status, 202);
    await until('done,done');
    const dataConverter = dataConverterOf(new Keyring(shared.RELAY_ENCRYPTION_KEYS));
    const client = new Client({ connection, dataConverter });
    const { raw } = await client.workflow.getHandle(workflowId).describe();
    assert.equal(raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId, '2');
  });
});
