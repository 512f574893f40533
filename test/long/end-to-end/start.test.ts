/** `npm start` for a new user: it starts, works, stops cleanly, and survives kill -9. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { freePort } from '../../../src/service/server.js';
import { sandbox, serversOf } from '../../end-to-end/process.js';
import { eventually, Unmet, udf } from '../../end-to-end/stack.js';

const { directory, ports, running, start } = await sandbox();
const relay = `http://127.0.0.1:${ports.PORT}/co/demo`;

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

/** On Linux, 127.0.0.2 reaches a server that listens on all addresses, but not a server that listens only on 127.0.0.1. */
const onlyLinux = process.platform !== 'linux' && 'the loopback network has one address';

describe('npm start', () => {
  it('prints a curl command that works when pasted, and every address that it prints answers', async () => {
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

  it('refuses a second start on the same data, in one line', async () => {
    const second = start({ PORT: String(await freePort('127.0.0.1')) });
    assert.equal(await second.ended, 1);
    assert.match(second.output(), new RegExp(`^[^\n]*${running[0]?.child.pid}[^\n]*\n$`));
  });

  it('resumes pending delays after Ctrl-C, which stops everything', async () => {
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

  it('resumes after kill -9 of everything during a delay; nothing is lost or done twice', async () => {
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

  it('uses the Temporal server that survived a kill -9 of the relay alone', async () => {
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

  it('lets other machines reach only the API if HOST is not loopback, and prints no demo', { skip: onlyLinux }, async () => {
    const open = start({ HOST: '0.0.0.0' });
    await open.says('There is no demo company, because HOST is not a loopback address');
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
