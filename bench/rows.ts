/** The measurements. Each row of the results POSTs the same chains to the relay and to the side that it is compared with. */

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { now } from './clock.js';
import type { Groups } from './processes.js';
import type { Action, Trial } from './trial.js';

/** The number of chains or calls in each row. */
export type Sizes = Record<'chains' | 'due' | 'open' | 'causes' | 'hanging' | 'resets', number>;

export interface Metric {
  name: string;
  unit: string;
  value: number;
  better: 'more' | 'less';
}

export interface Row {
  name: string;
  what: string;
  /** The row runs in the first round only, because the row takes long, or because its result never changes. */
  once?: boolean;
  /** The bare side cannot run this row. */
  relayOnly?: boolean;
  /** Both sides are relays, as separate processes. The other side has no encryption, and has its own database. */
  besideClear?: boolean;
  /** The relay gets events for a rule with contents. The other side is a relay that gets the same chains as lists. */
  besideLists?: boolean;
  measure(trial: Trial, sizes: Sizes): Promise<Metric[]>;
}

/** A kind of chain. Its effects are `<run>.<n>.a`, `.b`, `.c`. */
interface Shape {
  name: string;
  effects: number;
  delayed: boolean;
  actions(run: string, n: number): Action[];
}

const send = (id: string, delay = 0): Action => ({
  action: 'platform_sendAssignment',
  platformAssignmentId: id,
  groupId: '501',
  ...(delay > 0 && { delayInSeconds: `${delay}` }),
});

/** A chain with one send for each delay. Delays are in seconds. */
const sends = (name: string, ...delays: number[]): Shape => ({
  name,
  effects: delays.length,
  delayed: delays.some((delay) => delay > 0),
  actions: (run, n) => delays.map((delay, index) => send(`${run}.${n}.${'abc'[index]}`, delay)),
});
const one = sends('1 send', 0);
const three = sends('3 sends', 0, 0, 0);
const after2s = sends('2 sends, 1 after 2 s', 0, 0, 2);
const after5s = sends('2 sends, 1 after 5 s', 0, 0, 5);
const words = { subject: 'An assignment waits', body: 'Please look at it.', bodyHtml: '<p>Please look at it.</p>' };
const email: Shape = {
  name: '1 e-mail',
  effects: 1,
  delayed: false,
  actions: (run, n) => [{ action: 'sendEmails', emails: [`${run}.${n}.a@bench.example`], ...words }],
};

export const rows: Row[] = [
  burst('immediate', three),
  burst('delayed-2s', after2s),
  burst('delayed-5s', after5s),
  burst('email', email),
  lowLoad('latency', three),
  lowLoad('latency-2s', after2s),
  { ...burst('encryption', three), what: '3 sends, burst; the other side is the relay without encryption', besideClear: true },
  { ...burst('events', three), what: '3 sends from an event, burst; the other side gets the sends as a list', besideLists: true },
  { name: 'due', what: 'one delayed action in each chain; all actions are due within one second', measure: dueAtOnce },
  { name: 'neighbour', what: 'a chain of two sends, while calls of another company hang', measure: besideHanging },
  { name: 'histories', what: 'the histories of all workflows of one chain in Temporal', once: true, measure: histories },
  {
    name: 'resets',
    what: 'a chain of two sends, after resets of waiting chains',
    once: true,
    relayOnly: true,
    measure: afterResets,
  },
  { name: 'open', what: '3 sends, while other chains wait for a delay of a day', once: true, measure: besideOpen },
  {
    name: 'console',
    what: 'requests of the console, with open chains, causes, and five new chains a second',
    once: true,
    relayOnly: true,
    measure: pagesOfTheConsole,
  },
];

const more = (name: string, unit: string, value: number): Metric => ({ name, unit, value, better: 'more' });
const less = (name: string, unit: string, value: number): Metric => ({ name, unit, value, better: 'less' });

/** Sends chains as fast as the senders can, then waits until every workflow has closed. */
function burst(name: string, shape: Shape): Row {
  return {
    name,
    what: `${shape.name}, burst`,
    async measure(trial, { chains }) {
      await warmUp(trial, shape, Math.max(20, Math.round(chains / 8)));
      const run = trial.newRun();
      const meter = trial.meter();
      const posted = await trial.burst(chains, (n) => shape.actions(run, n));
      const { at, repeats } = await trial.arrived(run, chains * shape.effects);
      await trial.closed();
      const { cpu, peak } = meter.stop();
      const start = Math.min(...posted.map(({ sent }) => sent));
      const rate = (times: Iterable<number>) => (chains * 1000) / (Math.max(...times) - start);
      const aAndB = [...at].filter(([id]) => !id.endsWith('c')).map(([, time]) => time);
      return [
        more('accepted', 'chains/s', rate(posted.map(({ answered }) => answered))),
        ...(shape.delayed ? [more('a and b done', 'chains/s', rate(aAndB))] : []),
        more('all done', 'chains/s', rate(at.values())),
        less('CPU', 'ms/chain', (1000 * cpu.side) / chains),
        less('CPU of the engine', 'ms/chain', (1000 * cpu.engine) / chains),
        less('CPU of both', 'ms/chain', (1000 * (cpu.side + cpu.engine)) / chains),
        less('peak memory', 'MiB', peak.side),
        less('peak memory of the engine', 'MiB', peak.engine),
        less('effects repeated', '', repeats),
      ];
    },
  };
}

/** Starts each chain after the effects of the previous chain. */
function lowLoad(name: string, shape: Shape): Row {
  return {
    name,
    what: `${shape.name}, low load`,
    async measure(trial, { chains }) {
      await warmUp(trial, shape, 20);
      return latencies('', await oneByOne(trial, shape, Math.max(5, Math.round(chains / 20))));
    },
  };
}

interface Latencies {
  /** Milliseconds from the POST to the first effect. */
  first: number[];
  /** Milliseconds from the POST to its answer. */
  accept: number[];
}

function latencies(when: string, { first, accept }: Latencies): Metric[] {
  return [
    less(`first effect, p50${when}`, 'ms', quantile(first, 0.5)),
    less(`accepted after, p50${when}`, 'ms', quantile(accept, 0.5)),
  ];
}

async function oneByOne(trial: Trial, shape: Shape, count: number): Promise<Latencies> {
  const found: Latencies = { first: [], accept: [] };
  for (let n = 0; n < count; n++) {
    const run = trial.newRun();
    const { sent, answered } = await trial.post(shape.actions(run, n));
    const { at } = await trial.arrived(run, shape.effects);
    found.first.push(Math.min(...at.values()) - sent);
    found.accept.push(answered - sent);
    await sleep(200);
  }
  return found;
}

/** Measures the lag of effects that are due in the same second. An effect is due at the time of its POST plus the delay. */
async function dueAtOnce(trial: Trial, { due }: Sizes): Promise<Metric[]> {
  await warmUp(trial, after2s, 20);
  const run = trial.newRun();
  // All delays end at this moment. All timers have started before this moment.
  const moment = now() + (30 + due / 20) * 1000;
  const delays: number[] = [];
  const posted = await trial.burst(due, (n) => {
    const delay = Math.max(1, Math.floor((moment - now()) / 1000));
    delays[n] = delay;
    return [send(`${run}.${n}.a`, delay)];
  });
  const { at, repeats } = await trial.arrived(run, due);
  const lags = posted.map(({ sent }, n) => (at.get(`${run}.${n}.a`) ?? Number.NaN) - sent - (delays[n] ?? 0) * 1000);
  const took = Math.max(...posted.map(({ answered }) => answered)) - Math.min(...posted.map(({ sent }) => sent));
  return [
    less(`${due} POSTs took`, 's', took / 1000),
    less('lag, p50', 's', quantile(lags, 0.5) / 1000),
    less('lag, p99', 's', quantile(lags, 0.99) / 1000),
    less('effects repeated', '', repeats),
    ...(trial.sideName === 'relay' ? [less('chains needing attention', '', await trial.needingAttention())] : []),
  ];
}

/**
 * Starts twenty chains, one per second, while other calls hang. A chain that is not done two minutes after the last POST counts
 * as done at that time.
 */
async function besideHanging(trial: Trial, { hanging }: Sizes): Promise<Metric[]> {
  await warmUp(trial, one, 20);
  await trial.burst(hanging, (n) => [send(`hang.${n}`)]);
  await sleep(3000);
  const run = trial.newRun();
  const posting: Promise<{ sent: number }>[] = [];
  for (let n = 0; n < 20; n++, await sleep(1000))
    posting.push(trial.post([send(`${run}.${n}.a`), send(`${run}.${n}.b`)], 'neighbour'));
  const posted = await Promise.all(posting);
  const { at } = await trial.arrived(run, 40, 120);
  const end = now();
  const took = posted.map(({ sent }, n) => Math.max(...['a', 'b'].map((name) => at.get(`${run}.${n}.${name}`) ?? end)) - sent);
  return [
    less(`done beside ${hanging}, median`, 's', quantile(took, 0.5) / 1000),
    less(`done beside ${hanging}, worst`, 's', Math.max(...took) / 1000),
    less('effects missing after two minutes', '', 40 - at.size),
  ];
}

/** Measures new chains just after many others were reset. Each of those waits for a delayed action from before its reset. */
async function afterResets(trial: Trial, { resets }: Sizes): Promise<Metric[]> {
  await warmUp(trial, one, 20);
  const waiting = trial.newRun();
  await trial.burst(resets, (n) => [send(`${waiting}.${n}.a`, 86_400)]);
  await trial.idle(); // The first workflow task of each chain has completed.
  await trial.reset('RuleChain');
  const two = sends('2 sends', 0, 0);
  const took: number[] = [];
  for (let n = 0; n < 20; n++, await sleep(500)) {
    const run = trial.newRun();
    const { sent } = await trial.post(two.actions(run, n));
    const { at } = await trial.arrived(run, two.effects);
    took.push(Math.max(...at.values()) - sent);
  }
  return [
    less(`done after ${resets} resets, median`, 's', quantile(took, 0.5) / 1000),
    less(`done after ${resets} resets, worst`, 's', Math.max(...took) / 1000),
  ];
}

async function histories(trial: Trial): Promise<Metric[]> {
  await warmUp(trial, one, 20);
  const metrics: Metric[] = [];
  for (const shape of [one, three, after2s, after5s, email]) {
    const before = await trial.histories();
    await oneByOne(trial, shape, 1);
    await trial.closed();
    for (const [unit, count] of Object.entries(await trial.histories()))
      metrics.push(less(shape.name, unit, count - (before[unit] ?? 0)));
  }
  return metrics;
}

async function besideOpen(trial: Trial, { open, chains }: Sizes): Promise<Metric[]> {
  await warmUp(trial, three, 50);
  const metrics: Metric[] = [];
  const memory: Groups<number>[] = [];
  const levels = [10, open / 30, open / 10, open / 3, open].map(Math.round);
  for (const [index, level] of levels.entries()) {
    const waiting = trial.newRun();
    const added = level - (levels[index - 1] ?? 0);
    await trial.burst(added, (n) => [send(`${waiting}.${n}.a`, 86_400)]);
    await trial.idle();
    const { side, engine } = trial.meter().stop().peak;
    memory.push({ side, engine });
    metrics.push(...latencies(beside(level), await oneByOne(trial, three, 10)));
    const run = trial.newRun();
    const count = Math.max(20, Math.round(chains / 4));
    const start = now();
    await trial.burst(count, (n) => three.actions(run, n));
    const { at } = await trial.arrived(run, 3 * count);
    metrics.push(more(`all done${beside(level)}`, 'chains/s', (count * 1000) / (Math.max(...at.values()) - start)));
    metrics.push(less(`memory${beside(level)}`, 'MiB', side), less(`memory of the engine${beside(level)}`, 'MiB', engine));
  }
  const per10000 = (group: keyof Groups<number>) =>
    (((memory.at(-1)?.[group] ?? 0) - (memory[0]?.[group] ?? 0)) * 10_000) / (open - 10);
  return [
    ...metrics,
    less('memory for 10,000 pending delays', 'MiB', per10000('side')),
    less('memory of the engine for 10,000 pending delays', 'MiB', per10000('engine')),
  ];
}

/** Requests each page twenty times in sequence. Measures the time from the request to the end of the answer. */
async function pagesOfTheConsole(trial: Trial, { open, causes }: Sizes): Promise<Metric[]> {
  await warmUp(trial, three, 20);
  const letters = (n: number) => [...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
  await trial.burst(causes, (n) => [send(`cause.${letters(n)}`)]);
  const waiting = trial.newRun();
  await trial.burst(open - causes, (n) => [send(`${waiting}.${n}.a`, 86_400)]);
  await trial.idle();
  const { items } = z
    .object({ items: z.array(z.object({ causeId: z.string(), chainId: z.string() })) })
    .parse((await trial.ask('/co/bench/causes?limit=200')).body);
  const [{ causeId = '', chainId = '' } = {}] = items;
  const questions = {
    Now: '/co/bench/causes',
    cause: `/co/bench/causes/${causeId}`,
    chains: '/co/bench/chains?limit=50',
    'chains that are held': '/co/bench/chains?status=needs-attention&limit=50',
    chain: `/co/bench/chains/${chainId}`,
    assignment: `/co/bench/chains?assignmentId=cause.${letters(7)}&limit=50`,
    "a rule's week": '/co/bench/chains/counts?relayId=1',
    'refused requests': '/co/bench/rejected',
    company: '/co/bench',
  };
  const load = new AbortController();
  const loading = (async () => {
    const run = trial.newRun();
    for (let n = 0; !load.signal.aborted; n++, await sleep(200)) await trial.post(three.actions(run, n));
  })();
  const metrics: Metric[] = [];
  for (const [name, path] of Object.entries(questions)) {
    const took: number[] = [];
    for (let n = 0; n < 20; n++, await sleep(100)) took.push((await trial.ask(path)).took);
    metrics.push(less(`${name}, p50`, 'ms', quantile(took, 0.5)), less(`${name}, worst`, 'ms', Math.max(...took)));
  }
  load.abort();
  await loading;
  return metrics;
}

/** The end of the name of a metric that was measured with this many open chains. picture.ts reads it. */
const beside = (open: number) => `, ${open} open`;

/** Runs chains of this shape, so that code is compiled and caches are filled. Waits until all chains are closed. */
async function warmUp(trial: Trial, shape: Shape, chains: number): Promise<void> {
  const run = trial.newRun();
  await trial.burst(chains, (n) => shape.actions(run, n));
  await trial.arrived(run, chains * shape.effects);
  await trial.closed();
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}
