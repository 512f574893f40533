/** `npm run api` and `npm run worker` as processes of their own, against PostgreSQL and a Temporal server. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { startMailSink } from '../../src/sandbox/mail/sink.js';
import { startPlatform } from '../../src/sandbox/platform/platform.js';
import { freePort } from '../../src/sandbox/ports.js';
import { createDatabase } from '../store/databases.js';
import { type Process, startProcess } from './process.js';
import { eventually, Unmet, udf } from './stack.js';

const skip = process.env.RELAY_TEST_DATABASE_URL === undefined && 'PostgreSQL is not installed';
const closing: (() => Promise<unknown> | undefined)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

function start(main: string, env: Record<string, string>): Process {
  const started = startProcess(main, { DATABASE_URL: '', TEMPORAL_ADDRESS: '', RELAY_ADMIN_TOKEN: '', SMTP_URL: '', ...env });
  closing.push(() => started.end('SIGKILL'));
  return started;
}

describe('npm run api and npm run worker', () => {
  it('refuse to start without what they need, and say why', async () => {
    const api = start('api/main.js', {});
    assert.equal(await api.ended, 1);
    assert.match(api.output(), /^DATABASE_URL is not set: .*\nRELAY_ADMIN_TOKEN is not set: .*\n$/);
    const worker = start('worker/main.js', {});
    assert.equal(await worker.ended, 1);
    assert.match(worker.output(), /^DATABASE_URL is not set: .*\nSMTP_URL is not set: .*\n$/);
  });

  it('run a chain that is made by the admin API; several workers, one killed; the API alone answers 503 without Temporal', {
    skip,
  }, async () => {
    const database = await createDatabase();
    closing.push(() => database.drop());
    const platform = await startPlatform({ host: '127.0.0.1', port: 0 });
    closing.push(() => platform.close());
    const mail = await startMailSink({ host: '127.0.0.1', smtpPort: 0, uiPort: 0 });
    closing.push(() => mail.close());
    const adminToken = randomUUID();
    const port = await freePort('127.0.0.1');
    const shared = {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: process.env.RELAY_TEST_TEMPORAL_ADDRESS ?? '',
      RELAY_TASK_QUEUE: randomUUID(),
      RELAY_ALLOW_PRIVATE_NETWORKS: 'true',
      RELAY_ADMIN_TOKEN: adminToken,
      SMTP_URL: mail.smtpUrl,
      PORT: String(port),
    };
    const api = start('api/main.js', shared);
    const workers = [start('worker/main.js', shared), start('worker/main.js', shared)];
    await api.says('Temporal can be reached');
    for (const worker of workers) await worker.says('the worker runs');

    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${port}`;
    const call = (method: string, path: string, body: unknown) =>
      fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
    const system = { kind: 'http', baseUrl: platform.url };
    assert.equal(
      (
        await call('PUT', '/admin/companies/acme', {
          name: 'Acme',
          notify: { emails: ['a@acme.example'] },
          platform: system,
          ticketing: system,
        })
      ).status,
      201,
    );
    const made = await call('POST', '/admin/companies/acme/rules', { name: 'Rule' });
    assert.equal(made.status, 201);
    const { relayId, relayAccessToken } = JSON.parse(await made.text());

    const post = (...actions: object[]) =>
      call(
        'POST',
        '/co/acme/relay',
        actions.map((action) => ({ relayId, relayAccessToken, ...action })),
      );
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
    const alone = start('api/main.js', {
      ...shared,
      PORT: unreachable,
      TEMPORAL_ADDRESS: `127.0.0.1:${await freePort('127.0.0.1')}`,
    });
    await alone.says('the API listens');
    const body = JSON.stringify([{ relayId, relayAccessToken, ...udf('T') }]);
    const refused = await fetch(`http://127.0.0.1:${unreachable}/co/acme/relay`, { method: 'POST', headers, body });
    assert.equal(refused.status, 503);
    assert(Number(refused.headers.get('retry-after')) > 0);
    assert.equal((await fetch(`http://127.0.0.1:${unreachable}/readyz`)).status, 503);
    assert.equal((await fetch(`http://127.0.0.1:${unreachable}/healthz`)).status, 200);
    assert.equal(await alone.end('SIGTERM'), 0);
    assert.equal(await api.end('SIGTERM'), 0);
  });
});
