/**
 * Measures how many strangers' requests the API refuses in a second of CPU time. Uses PostgreSQL if installed. Not a part of
 * `npm test`: node dist/test/hostile/refusals.js [seconds for each row, 4]
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as send } from 'node:http';
import { connect } from 'node:net';
import { makeCredential } from '../../src/contract/credential.js';
import { startPostgresql } from '../postgresql.js';
import type { Cost } from './child.js';

const [seconds = 4] = process.argv.slice(2).map(Number);
const say = (line: string) => process.stdout.write(`${line}\n`);
const postgresql = await startPostgresql();
const child = fork(new URL('child.js', import.meta.url).pathname, {
  execArgv: ['--expose-gc'],
  env: { ...process.env, ...(postgresql && { DATABASE_URL: postgresql.url }) },
});
const [served] = (await once(child, 'message')) as [Record<'relayId' | 'relayAccessToken', string> & { port: number }];
const { port, relayId } = served;

const cost = async (): Promise<Cost> => {
  child.send('cost');
  return ((await once(child, 'message')) as [Cost])[0];
};

// The API delays its answers to guessable tokens, so the test would measure an idle CPU. This token is long and random.
const wrong = { relayId, relayAccessToken: makeCredential('rlt_') };
const action = { action: 'ticket_updateUDF', externalSystemTicketId: '1', cfName: 'f', cfValue: 'v', ...wrong };
const small = JSON.stringify([action]);
const fill = (each: string) => `[${Array.from({ length: Math.floor(255_000 / (each.length + 1)) }, () => each)}]`;
const fields = Array.from({ length: 18_000 }, (_, n) => `"f${n}":"v"`);
const deep = '['.repeat(250_000);
/** The number of parallel requests. All wrong tokens that arrive within a tenth of a second share one additional database query. */
const atOnce = 100;
const agent = new Agent({ keepAlive: true, maxSockets: atOnce });

function post(path: string, body: string, address = '127.0.0.1'): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const asked = send({ port, path, method: 'POST', headers, agent, localAddress: address }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    asked.on('error', () => resolve(0)).end(body); // the connection closed before the answer was read
  });
}

/** Every request comes from a new address without failures. */
let address = 0;
const fresh = () => {
  address += 1;
  return `127.${1 + (address >> 16)}.${(address >> 8) & 255}.${1 + (address % 254)}`;
};

const rows: [what: string, ask: (strange: boolean) => Promise<number>][] = [
  ['no such company, small body', (strange) => post('/co/nobody/relay', small, strange ? fresh() : undefined)],
  ['wrong token, small body', (strange) => post('/co/acme/relay', small, strange ? fresh() : undefined)],
  [
    'wrong token, 256 KiB in one text',
    (strange) =>
      post('/co/acme/relay', JSON.stringify([{ ...action, cfValue: 'x'.repeat(255_000) }]), strange ? fresh() : undefined),
  ],
  [
    'wrong token, 256 KiB of fields',
    (strange) =>
      post('/co/acme/relay', `[{${fields},${JSON.stringify(action).slice(1)}]`.slice(0, 262_144), strange ? fresh() : undefined),
  ],
  [
    'wrong token, 1,300 elements in 256 KiB',
    (strange) => post('/co/acme/relay', fill(JSON.stringify(action)), strange ? fresh() : undefined),
  ],
  ['250,000 levels', (strange) => post('/co/acme/relay', deep, strange ? fresh() : undefined)],
];

async function measure(what: string, ask: () => Promise<number>): Promise<void> {
  const answers = new Map<number, number>();
  const before = await cost();
  const end = Date.now() + seconds * 1000;
  let count = 0;
  const asking = async () => {
    while (Date.now() < end) {
      const status = await ask();
      answers.set(status, (answers.get(status) ?? 0) + 1);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, asking));
  const micros = ((await cost()).cpuMicros - before.cpuMicros) / count;
  const said = [...answers].map(([status, times]) => `${times} × ${status || 'cut off'}`).join(', ');
  say(`${what.padEnd(64)} ${micros.toFixed(0).padStart(7)} µs ${(1e6 / micros).toFixed(0).padStart(7)} a second  (${said})`);
}

for (const [what, ask] of rows) {
  await measure(`${what}; addresses that are new`, () => ask(true));
  await measure(`${what}; one address`, () => ask(false));
}

/** Measures connections that send a byte a second until they are closed. */
const before = await cost();
const sockets = Array.from({ length: 200 }, () => connect(port, '127.0.0.1').on('error', () => {}));
for (const socket of sockets) socket.write('POST /co/acme/relay HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n[');
const dripping = setInterval(() => {
  for (const socket of sockets) if (socket.writable) socket.write(' ');
}, 1000);
await Promise.all(sockets.map((socket) => new Promise((closed) => socket.resume().once('close', closed))));
clearInterval(dripping);
say(`200 bodies that drip until they are cut off: ${((await cost()).cpuMicros - before.cpuMicros) / 200} µs each`);

agent.destroy();
child.disconnect();
await once(child, 'exit');
await postgresql?.stop();
