/**
 * Starts a relay on a laptop's terms, throws hostile bodies at it, and tells what it answered and how much memory that took. Not
 * a part of `npm test`:
 *
 *     node dist/test/hostile/storm.js [bodies, 100000] [most seconds, 900]
 *
 * Ends with 1 where an answer was a 5xx or none.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { demo } from '../../src/sandbox/demo.js';
import { freePort } from '../../src/service/server.js';
import { startProcess } from '../end-to-end/process.js';
import { hostileBodies } from './bodies.js';

const [bodies = 100_000, seconds = 900] = process.argv.slice(2).map(Number);
const concurrency = 20;
const say = (line: string) => process.stdout.write(`${line}\n`);

const directory = mkdtempSync(join(tmpdir(), 'relay-storm-'));
const port = await freePort('127.0.0.1');
const others = ['RELAY_TEMPORAL_PORT', 'RELAY_TEMPORAL_UI_PORT', 'RELAY_SMTP_PORT', 'RELAY_MAIL_UI_PORT', 'RELAY_SANDBOX_PORT'];
const relay = startProcess('sandbox/start.js', {
  ...Object.fromEntries(await Promise.all(others.map(async (name) => [name, String(await freePort('127.0.0.1'))]))),
  PORT: String(port),
  RELAY_DATA_DIR: directory,
  // What is behind the limit is what is to be seen.
  RELAY_RATE_LIMIT_PER_MINUTE: '1000000',
});
await relay.says('The relay is running.');

const { companyId, ...credentials } = demo;
const inside = JSON.stringify(credentials).slice(1, -1);
// What would be accepted is left out: chains are not what is to be measured.
const known = hostileBodies(inside).filter(({ answer }) => answer !== 'accepted');
const invalid = `[{"action":"sendEmails","emails":["a@x.example"],"subject":"s","body":"b","bodyHtml":"","delayInSeconds":"soon",${inside}}]`;

/** Every known one in turn; in between, an invalid chain with something cut, doubled or changed at random. */
function bodyOf(n: number): string | Uint8Array {
  if (n % 2 === 0) return known[(n / 2) % known.length]?.body ?? '';
  const bytes = Buffer.from(invalid);
  const [from, to] = [Math.random() * bytes.length, Math.random() * bytes.length].map(Math.floor).sort((a, b) => a - b);
  const part = bytes.subarray(from, Math.min(to ?? 0, (from ?? 0) + 20));
  const [head, tail] = [bytes.subarray(0, from), bytes.subarray((from ?? 0) + part.length)];
  const change = [() => [], () => [part, part], () => [part.map(() => Math.floor(Math.random() * 256))]][n % 3]?.() ?? [];
  return Buffer.concat([head, ...change, tail]);
}

/** Megabytes that the relay's process has in memory. */
function memory(): number {
  const status = readFileSync(`/proc/${relay.child.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

const answers = new Map<string, number>();
const dispatcher = new Agent({ connections: concurrency });
const count = (answer: string) => answers.set(answer, (answers.get(answer) ?? 0) + 1);
const deadline = Date.now() + seconds * 1000;
let sent = 0;

async function send(): Promise<void> {
  while (sent < bodies && Date.now() < deadline) {
    const body = bodyOf(sent++);
    if (sent % Math.ceil(bodies / 10) === 0) say(`${sent} sent, ${memory()} MB`);
    try {
      const headers = { 'content-type': 'application/json' };
      const answer = await request(`http://127.0.0.1:${port}/co/${companyId}/relay`, {
        method: 'POST',
        headers,
        body,
        dispatcher,
      });
      await answer.body.dump({ limit: 1e9 });
      count(String(answer.statusCode));
    } catch (error) {
      count(error instanceof Error ? `no answer: ${error.message}` : 'no answer');
    }
  }
}

say(`before: ${memory()} MB`);
const started = Date.now();
await Promise.all(Array.from({ length: concurrency }, send));
const took = (Date.now() - started) / 1000;
say(`${sent} bodies in ${took.toFixed(0)} s, ${Math.round(sent / took)} a second`);
for (const [answer, times] of [...answers].sort()) say(`${answer}: ${times}`);
say(`after: ${memory()} MB`);
await new Promise((resolve) => setTimeout(resolve, 10_000));
say(`10 seconds later: ${memory()} MB`);
const well = await request(`http://127.0.0.1:${port}/readyz`);
say(`/readyz: ${well.statusCode}`);

await dispatcher.close();
await relay.end('SIGTERM');
const failed = [...answers.keys()].some((answer) => !/^[24]/.test(answer)) || well.statusCode !== 200;
const logged = readFileSync(join(directory, 'relay.log'), 'utf8')
  .split('\n')
  .filter((line) => line.includes('"error"'));
say(`errors in the log: ${logged.length}`);
for (const line of logged.slice(0, 5)) say(line);
rmSync(directory, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
