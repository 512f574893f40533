/**
 * `npm start` as a new user meets it: it comes up, works, stops cleanly, survives kill -9, and refuses to start with one clear
 * line.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { freePort } from '../../src/service/server.js';
import { type Process, startProcess } from './process.js';
import { eventually, Unmet, udf } from './stack.js';

const directory = mkdtempSync(join(tmpdir(), 'relay-start-'));
const running: Process[] = [];
after(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGKILL');
    await ended;
  }
  for (const pid of serversOf(directory)) process.kill(pid, 'SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

/** The Temporal servers that keep their data below a directory. */
function serversOf(path: string): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes('start-dev') && line.includes(path)).map((line) => Number.parseInt(line, 10));
}

const ports: Record<string, string> = {};
for (const name of [
  'PORT',
  'RELAY_TEMPORAL_PORT',
  'RELAY_TEMPORAL_UI_PORT',
  'RELAY_SMTP_PORT',
  'RELAY_MAIL_UI_PORT',
  'RELAY_SANDBOX_PORT',
]) {
  ports[name] = String(await freePort('127.0.0.1'));
}
const environment = { ...ports, RELAY_DATA_DIR: join(directory, 'data'), TEMPORAL_ADDRESS: '', DATABASE_URL: '', SMTP_URL: '' };
const relay = `http://127.0.0.1:${ports.PORT}/co/demo`;

function start(env: Record<string, string> = {}): Process {
  const started = startProcess('sandbox/start.js', { ...environment, ...env });
  running.push(started);
  return started;
}

async function post(...actions: object[]): Promise<string> {
  const relayAccessToken = readFileSync(join(directory, 'data', 'demo-token'), 'utf8').trim();
  const body = JSON.stringify(actions.map((action) => ({ relayId: '4711', relayAccessToken, ...action })));
  const response = await fetch(`${relay}/relay`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const answer = await response.text();
  assert.equal(response.status, 202, answer);
  return JSON.parse(answer).chainId;
}

async function states(chainId: string): Promise<string[]> {
  const token = readFileSync(join(directory, 'data', 'admin-token'), 'utf8').trim();
  const response = await fetch(`${relay}/chains/${chainId}`, { headers: { authorization: `Bearer ${token}` } });
  const chain = JSON.parse(await response.text());
  return chain.actions?.map(({ state }: { state: string }) => state) ?? [];
}

async function values(ticket: string): Promise<string[]> {
  const journal = JSON.parse(await (await fetch(`http://127.0.0.1:${ports.RELAY_SANDBOX_PORT}/journal`)).text());
  return journal
    .filter(({ path, repeat }: { path: string; repeat: boolean }) => path === `/tickets/${ticket}` && !repeat)
    .map(({ body }: { body: { userDefinedFields: { value: string }[] } }) => body.userDefinedFields[0]?.value);
}

/** There, 127.0.0.2 reaches what listens on all addresses, and not what listens on 127.0.0.1. */
const onlyLinux = process.platform !== 'linux' && 'the loopback network has one address';

describe('npm start', () => {
  it('prints a curl line that works when pasted, and everything that it names answers', async () => {
    const all = start();
    await all.says('Ctrl-C');
    const line = /^curl .*$/m.exec(all.output())?.[0];
    assert(line);
    const answer = execFileSync('sh', ['-c', `${line} -s`], { encoding: 'utf8' });
    assert.match(answer, /HTTP\/1.1 202 Accepted/);
    for (const address of all.output().match(/http:\/\/127\.0\.0\.1:\d+$/gm) ?? []) {
      const path = address.endsWith(`:${ports.PORT}`) ? '/readyz' : '/';
      assert.equal((await fetch(`${address}${path}`)).status, 200, address);
    }
  });

  it('refuses a second start on the same data, with one line', async () => {
    const second = start({ PORT: String(await freePort('127.0.0.1')) });
    assert.equal(await second.ended, 1);
    assert.match(second.output(), new RegExp(`^[^\n]*${running[0]?.child.pid}[^\n]*\n$`));
  });

  it('goes on with pending delays after Ctrl-C, which stops everything', async () => {
    const chainId = await post(udf('ctrl-c', { cfValue: 'late', delayInSeconds: '8' }), udf('ctrl-c', { cfValue: 'now' }));
    await eventually('the immediate action', async () =>
      (await values('ctrl-c')).length === 1 ? true : new Unmet(await states(chainId)),
    );
    assert.equal(await running[0]?.end('SIGINT'), 0);
    assert.deepEqual(serversOf(directory), []);
    await start().says('Ctrl-C');
    await eventually('the chain to end', async () => {
      const now = await states(chainId);
      return now.every((state) => state === 'done') ? true : new Unmet(now);
    });
    assert.deepEqual(await values('ctrl-c'), ['now', 'late']);
  });

  it('goes on after kill -9 of everything in the middle of a delay; nothing is lost or done twice', async () => {
    const chainId = await post(udf('kill', { cfValue: 'late', delayInSeconds: '10' }), udf('kill', { cfValue: 'now' }));
    await eventually('the immediate action', async () =>
      (await values('kill')).length === 1 ? true : new Unmet(await states(chainId)),
    );
    const servers = serversOf(directory);
    assert.equal(servers.length, 1);
    await running.at(-1)?.end('SIGKILL');
    for (const pid of servers) process.kill(pid, 'SIGKILL');
    await start().says('Ctrl-C');
    await eventually('the chain to end', async () => {
      const now = await states(chainId);
      return now.length === 2 && now.every((state) => state === 'done') ? true : new Unmet(now);
    });
    assert.deepEqual(await values('kill'), ['now', 'late']);
  });

  it('takes over the Temporal server that survives a kill -9 of the relay alone', async () => {
    const chainId = await post(udf('adopt', { cfValue: 'late', delayInSeconds: '6' }));
    const servers = serversOf(directory);
    await running.at(-1)?.end('SIGKILL');
    assert.deepEqual(serversOf(directory), servers);
    const next = start();
    await next.says('Ctrl-C');
    assert.deepEqual(serversOf(directory), servers);
    await eventually('the chain to end', async () =>
      (await states(chainId))[0] === 'done' ? true : new Unmet(await states(chainId)),
    );
    assert.equal(await next.end('SIGTERM'), 0);
    assert.deepEqual(serversOf(directory), []);
  });

  it('lets others reach the API alone where HOST is not loopback, and names no demo', { skip: onlyLinux }, async () => {
    const open = start({ HOST: '0.0.0.0' });
    await open.says('There is no demo company, since HOST is not this machine alone');
    const reached: string[] = [];
    for (const [name, port] of Object.entries(ports)) {
      const socket = connect(Number(port), '127.0.0.2');
      if (await once(socket, 'connect').then(Boolean, ({ code }) => assert.equal(code, 'ECONNREFUSED', name))) reached.push(name);
      socket.destroy();
    }
    assert.deepEqual(reached, ['PORT']);
    assert.equal(await open.end('SIGTERM'), 0);
  });
});

describe('npm start refuses, with one line that says what to do and exit code 1', () => {
  for (const name of Object.keys(ports)) {
    it(`when the port of ${name} is taken`, async () => {
      const taken = createServer().listen(Number(ports[name]), '127.0.0.1');
      const refused = start({ RELAY_DATA_DIR: join(directory, `taken-${name}`) });
      assert.equal(await refused.ended, 1);
      taken.close();
      assert.match(refused.output(), new RegExp(`^port ${ports[name]} is taken[^\n]*${name}\n$`));
      assert.deepEqual(serversOf(`taken-${name}`), []);
    });
  }

  it('when the directory cannot be written', async () => {
    const file = join(directory, 'a-file');
    writeFileSync(file, '');
    const refused = start({ RELAY_DATA_DIR: join(file, 'data') });
    assert.equal(await refused.ended, 1);
    assert.match(refused.output(), /^[^\n]*RELAY_DATA_DIR[^\n]*\n$/);
  });

  it('when a variable is wrong, and names it without its value', async () => {
    const refused = start({ PORT: 'eighty', RELAY_ADMIN_TOKEN: 'short-secret' });
    assert.equal(await refused.ended, 1);
    assert.match(refused.output(), /^PORT must be a port number\nRELAY_ADMIN_TOKEN must have at least 16 characters\n$/);
  });

  it('when the Temporal server that is named cannot be reached', async () => {
    const refused = start({ RELAY_DATA_DIR: join(directory, 'away'), TEMPORAL_ADDRESS: '127.0.0.1:1' });
    assert.equal(await refused.ended, 1);
    assert.match(refused.output(), /^Temporal cannot be reached at 127\.0\.0\.1:1, [^\n]*TEMPORAL_ADDRESS[^\n]*\n$/);
  });

  it('when no Temporal server can be had', async () => {
    const refused = start({
      RELAY_DATA_DIR: join(directory, 'none'),
      PATH: '/nowhere',
      XDG_CACHE_HOME: join(directory, 'empty'),
      HOME: join(directory, 'empty'),
    });
    assert.equal(await refused.ended, 1);
    assert.match(refused.output().trim().split('\n').at(-1) ?? '', /temporal/i);
  });
});
