import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { z } from 'zod';
import { startOf } from '../../../src/sandbox/processes.js';
import { keepTemporal, startTemporal, troubleOf } from '../../../src/sandbox/temporal.js';
import { StartError } from '../../../src/service/config.js';
import { assertPortFree, freePort } from '../../../src/service/server.js';
import { codes, startGrpcProxy } from '../../end-to-end/grpc-proxy.js';
import { eventually, Unmet } from '../../end-to-end/stack.js';

const holder = fileURLToPath(new URL('../../sandbox/hold-temporal.js', import.meta.url));
const host = '127.0.0.1';
const namespace = 'relay-test';

describe('the Temporal server', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'relay-temporal-'));
  const servers: Awaited<ReturnType<typeof startTemporal>>[] = [];
  const children: ChildProcess[] = [];
  let port = 0;
  let uiPort = 0;
  const pidOf = () => z.object({ pid: z.number() }).parse(JSON.parse(readFileSync(join(dataDir, 'temporal.pid'), 'utf8'))).pid;
  const start = async (change: Partial<Parameters<typeof startTemporal>[0]> = {}) => {
    const server = await startTemporal({ dataDir, host, port, uiPort, namespace, say: () => {}, ...change });
    servers.push(server);
    return server;
  };
  before(async () => {
    port = await freePort(host);
    uiPort = await freePort(host);
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    for (const server of servers) await server.stop();
    rmSync(dataDir, { recursive: true });
  });

  it("starts with its Web UI, in the relay's namespace, and can register search attributes", async () => {
    const server = await start();
    assert.deepEqual([server.address, server.uiUrl, server.adopted], [`${host}:${port}`, `http://${host}:${uiPort}`, false]);
    const page = await fetch(server.uiUrl);
    assert.equal(page.status, 200);
    assert.match(await page.text(), /<html/i);
    const connection = await Connection.connect({ address: server.address });
    // 2 is the type Keyword.
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { RelayCompanyId: 2 } });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    assert.ok('RelayCompanyId' in customAttributes);
    const client = new Client({ connection, namespace });
    await client.workflow.start('Nothing', { workflowId: 'before', taskQueue: 'none', priority: { fairnessKey: 'acme' } });
    await connection.close();
  });

  it('names the variable of a port in use', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'relay-temporal-'));
    const refusal = (taken: number, variable: string) =>
      new StartError(`port ${taken} is in use: stop the program that uses it, or set ${variable}`);
    await assert.rejects(start({ dataDir: elsewhere }), refusal(port, 'RELAY_TEMPORAL_PORT'));
    await assert.rejects(start({ dataDir: elsewhere, port: 0 }), refusal(uiPort, 'RELAY_TEMPORAL_UI_PORT'));
    rmSync(elsewhere, { recursive: true });
  });

  it('stops, frees its ports, and restarts with the same data', async () => {
    const pid = pidOf();
    await servers[0]?.stop();
    assert.equal(startOf(pid), undefined);
    await assertPortFree(host, port, '');
    await assertPortFree(host, uiPort, '');
    assert.throws(pidOf);
    const again = await start();
    const connection = await Connection.connect({ address: again.address });
    const { status } = await new Client({ connection, namespace }).workflow.getHandle('before').describe();
    assert.equal(status.name, 'RUNNING');
    await connection.close();
    await again.stop();
  });

  it('is taken over from a killed process, and stops like any other', async () => {
    const child = spawn(process.execPath, [holder, dataDir, `${port}`, `${uiPort}`], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    assert.equal(JSON.parse(String((await once(child.stdout, 'data'))[0])).adopted, false);
    const pid = pidOf();
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.ok(startOf(pid));
    const adopted = await start();
    assert.equal(adopted.adopted, true);
    assert.equal(pidOf(), pid);
    await adopted.stop();
    assert.equal(startOf(pid), undefined);
  });

  it('on other ports from an earlier run is replaced, because two servers would corrupt one database', async () => {
    const first = await start({ port: 0, uiPort: 0 });
    const pid = pidOf();
    const said: string[] = [];
    const second = await start({ say: (line) => said.push(line) });
    assert.deepEqual([second.adopted, startOf(pid), said], [false, undefined, ['ending the Temporal server of an earlier run']]);
    assert.notEqual(first.address, second.address);
    await second.stop();
  });

  it('is not confused with another process that has its pid', async () => {
    const stranger = { pid: process.pid, start: startOf(process.pid), host, port, uiPort, namespace };
    writeFileSync(join(dataDir, 'temporal.pid'), JSON.stringify(stranger));
    const server = await start();
    assert.equal(server.adopted, false);
    await server.stop();
  });

  it('that cannot start says why, and leaves nothing behind', async () => {
    const broken = mkdtempSync(join(tmpdir(), 'relay-temporal-'));
    writeFileSync(join(broken, 'temporal.db'), 'this is no database');
    await assert.rejects(start({ dataDir: broken, port: 0, uiPort: 0 }), (error) => {
      assert(error instanceof StartError);
      assert.match(error.message, /^the Temporal server did not start \(.*not a database.*\): see .*temporal\.log$/);
      return true;
    });
    rmSync(broken, { recursive: true });
  });

  it('can be aborted while it starts', async () => {
    const abort = new AbortController();
    const starting = start({ signal: abort.signal, port: 0, uiPort: 0 });
    const rejected = assert.rejects(starting, { name: 'AbortError' });
    for (;;) {
      try {
        pidOf();
        break;
      } catch {
        await new Promise(setImmediate);
      }
    }
    const pid = pidOf();
    abort.abort();
    await rejected;
    assert.equal(startOf(pid), undefined);
  });
});

describe('a supervised Temporal server', () => {
  it('is restarted on its ports with its data after it ends', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'relay-temporal-'));
    const said: string[] = [];
    const kept = await keepTemporal({ dataDir, host, port: 0, uiPort: 0, namespace, say: (line) => said.push(line) });
    const connection = await Connection.connect({ address: kept.address });
    const { workflow } = new Client({ connection, namespace });
    await workflow.start('Nothing', { workflowId: 'before', taskQueue: 'none' });
    process.kill(kept.run.pid, 'SIGKILL');
    await eventually('the chain to be there again', async () => {
      if (said.length === 0) return new Unmet('nothing was said');
      return workflow
        .getHandle('before')
        .describe()
        .then(
          () => true,
          (error) => new Unmet(String(error)),
        );
    });
    assert.deepEqual(said, ['the Temporal server has ended: restarting it']);
    await connection.close();
    await kept.stop();
    await assert.rejects(Connection.connect({ address: kept.address, connectTimeout: 500 }));
    rmSync(dataDir, { recursive: true });
  });

  it("is recognised as broken by its database's answers", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'relay-temporal-'));
    const server = await startTemporal({ dataDir, host, port: 0, uiPort: 0, namespace, say: () => {} });
    let message = 'ListNamespaces operation failed. Failed to get namespace rows. Error: interrupted (9)';
    const proxy = await startGrpcProxy(server.address, (method) =>
      method === 'ListNamespaces' ? { code: codes.unavailable, message } : undefined,
    );
    const through = { ...server.run, port: Number(proxy.address.split(':')[1]) };
    assert.equal(await troubleOf(server.run), undefined);
    assert.equal(await troubleOf(through), 'cannot read its database');
    message = 'service rate limit exceeded';
    assert.equal(await troubleOf(through), undefined);
    proxy.close();
    await server.stop();
    assert.equal(await troubleOf(server.run), 'has ended');
    rmSync(dataDir, { recursive: true });
  });
});

describe('a port of another server', () => {
  it('is not mistaken for a port of the Temporal server', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'relay-temporal-'));
    const other = createServer().listen(0, host);
    await once(other, 'listening');
    const address = other.address();
    assert(address !== null && typeof address === 'object');
    const options = { dataDir, host, port: address.port, uiPort: 0, namespace, say: () => {} };
    await assert.rejects(startTemporal(options), { name: 'StartError', message: /RELAY_TEMPORAL_PORT$/ });
    other.close();
    rmSync(dataDir, { recursive: true });
  });
});
