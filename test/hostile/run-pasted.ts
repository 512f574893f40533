/**
 * `npm run test:fuzz -- pasted [bodies, 100000] [most seconds, 3600] [seed]`: see pasted.ts. Exits with 1 after an error, or if
 * memory grew.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { startPostgresql } from '../postgresql.js';
import { adminToken, type HostileApi } from './api.js';
import type { Cost, LedgerQuestion } from './child.js';
import type { Ledger } from './ledger.js';
import { pasted } from './pasted.js';

const say = (line: string) => process.stdout.write(`${line}\n`);
const mega = (bytes: number) => Math.round(bytes / 2 ** 20);
/** How much the process's memory may grow after the first 20 % of the bodies. */
const mostGrowthMb = 60;
/** Several companies, because the relay stores the refused requests of one company one after another. */
const companies = ['p0', 'p1', 'p2', 'p3'];

/** @returns true if there was no error */
export async function runPasted(count = 100_000, seconds = 3600, seed = Math.floor(Math.random() * 2 ** 31)): Promise<boolean> {
  const postgresql = await startPostgresql();
  const child = fork(new URL('child.js', import.meta.url).pathname, {
    execArgv: ['--expose-gc'],
    env: { ...process.env, RELAY_TEST_LEDGER: '1', ...(postgresql && { DATABASE_URL: postgresql.url }) },
  });
  try {
    return await sendAll(child, { count, seconds, seed });
  } finally {
    if (child.connected) child.disconnect();
    await postgresql?.stop();
  }
}

async function sendAll(
  child: ChildProcess,
  { count, seconds, seed }: Record<'count' | 'seconds' | 'seed', number>,
): Promise<boolean> {
  const [{ url }] = (await once(child, 'message')) as [HostileApi];
  const waiting = new Map<number, (said: unknown) => void>();
  let costHeard = (_: Cost) => {};
  child.on('message', (heard: Cost | { id: number; said: unknown }) => {
    if ('id' in heard) {
      waiting.get(heard.id)?.(heard.said);
      waiting.delete(heard.id);
    } else costHeard(heard);
  });
  const cost = () =>
    new Promise<Cost>((resolve) => {
      costHeard = resolve;
      child.send('cost');
    });
  let questions = 0;
  const ask = (what: LedgerQuestion['what'], companyId: string) =>
    new Promise<unknown>((resolve) => {
      questions += 1;
      waiting.set(questions, resolve);
      child.send({ id: questions, what, companyId } satisfies LedgerQuestion);
    });
  const targets = companies.map((companyId) => ({
    ...{ url, companyId },
    read: async () => (await ask('read', companyId)) as Ledger,
    clear: async () => void (await ask('clear', companyId)),
  }));
  const limits = { actionsPerDay: 1e9, recipientsPerDay: 1e9, openChains: 1e9 };
  for (const { companyId } of targets) {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: companyId, timeZone: 'UTC', limits });
    const made = await fetch(`${url}/admin/companies/${companyId}`, { method: 'PUT', headers, body });
    if (!made.ok) throw new Error(await made.text());
  }
  say(`${count} bodies, seed ${seed}`);
  const counts: Record<string, number> = {};
  const wrong: string[] = [];
  const parts = 20;
  const until = Date.now() + seconds * 1000;
  let [sent, after, last]: [number, Cost | undefined, Cost | undefined] = [0, undefined, undefined];
  for (let part = 1; part <= parts && wrong.length === 0 && Date.now() < until; part += 1) {
    const each = Math.round(((count * part) / parts - sent) / targets.length);
    const results = await Promise.all(targets.map((target, n) => pasted(target, { count: each, seed: seed + part * 10 + n })));
    for (const result of results) {
      sent += result.sent;
      wrong.push(...result.wrong);
      for (const [what, times] of Object.entries(result.counts)) counts[what] = (counts[what] ?? 0) + times;
    }
    last = await cost();
    wrong.push(...last.errors.filter((line) => line.includes('"level":"error"')));
    if (part === parts / 5) after = last;
    say(
      `${sent} sent: RSS ${mega(last.rss)} MB, heap after a collection ${mega(last.heapUsed)} MB, CPU ${Math.round(last.cpuMicros / 1e6)} s`,
    );
  }
  for (const [what, times] of Object.entries(counts).sort()) say(`${String(times).padStart(8)}  ${what}`);
  for (const what of wrong.slice(0, 20)) say(what);
  if (!last || !after) return wrong.length === 0; // The run ended too early for a comparison.
  const [rss, heap] = [mega(last.rss - after.rss), mega(last.heapUsed - after.heapUsed)];
  say(`since the first fifth RSS has grown by ${rss} MB, and the heap by ${heap} MB`);
  return wrong.length === 0 && Math.max(rss, heap) <= mostGrowthMb;
}
