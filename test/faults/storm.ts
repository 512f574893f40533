/** Sends and steers chains while faults strike. At the end, compares all chains and effects with the required outcomes. */

import { setTimeout as sleep } from 'node:timers/promises';
import type proto from '@temporalio/proto';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import type { ChainList, ChainResource } from '../../src/contract/chain-resource.js';
import { replayOptions } from '../end-to-end/replays.js';
import { replayable } from '../end-to-end/stack.js';
import { randomFrom } from '../random.js';
import { startEvents } from './events.js';
import type { Fault } from './faults.js';
import type { Entry } from './ledger.js';
import { delayOf, type Order, orderOf, people, targetsOf } from './orders.js';
import type { World } from './world.js';

interface Options {
  world: World;
  chains: number;
  perSecond: number;
  seed: number;
  /**
   * Each fault runs at least once. The faults run one after another, and the seed determines their order. The faults are repeated
   * until the wanted number of chains is sent. If a fault still runs then, more chains are sent until it ends.
   */
  faults: Fault[];
  faultSeconds: number;
  say: (line: string) => void;
}

/** An order that was sent. */
interface Sent {
  order: Order;
  at: number; // Unix milliseconds of the first attempt
  chainId?: string; // accepted
  attempts: number;
  steered?: boolean;
}

/** @returns the errors, one a line; empty if every promise was kept */
export async function storm({ world, chains, perSecond, seed, faults, faultSeconds, say }: Options): Promise<string[]> {
  const sent: Sent[] = [];
  const wrong: string[] = [];
  const began = Date.now();
  const random = randomFrom(seed);
  const seconds = () => ((Date.now() - began) / 1000).toFixed(0).padStart(5);

  const events = await startEvents(world, perSecond / 2, randomFrom(seed + 2));
  let isSending = true;
  let isStriking = true;
  const steering = steer();
  const striking = strike().finally(() => (isStriking = false));
  const sending: Promise<void>[] = [];
  // A fault shows its effect only during traffic, so chains are sent until the last fault is over.
  for (let number = 0; number < chains || isStriking; number += 1) {
    const one: Sent = { order: orderOf(`f${number}`, random), at: Date.now(), attempts: 0 };
    sent.push(one);
    sending.push(send(one));
    await sleep(Math.max(0, began + ((number + 1) / perSecond) * 1000 - Date.now()));
  }
  await Promise.all(sending);
  await events.stop();
  isSending = false;
  const struck = await striking;
  await steering;
  say(`${seconds()} s  all chains are sent and steered; waiting until the last chain closes`);
  await untilClosed();
  const entries = await world.ledger.entries();
  wrong.push(...checkEffects(sent, entries), ...events.check(entries));
  say(`${seconds()} s  reading the state of each chain`);
  await checkStates();
  await checkRows();
  say(`${seconds()} s  replaying the histories`);
  const { count, attention } = await replay();

  const effects = entries.filter(({ target }) => target.startsWith('f'));
  const distinct = new Set(effects.map(({ target }) => target)).size;
  say(
    `seed ${seed}: ${sent.length} requests, ${sent.reduce((sum, { attempts }) => sum + attempts, 0)} POSTs, ${sent.filter(({ chainId }) => chainId).length} chains accepted,`,
  );
  say(
    `${distinct} effects, of which ${effects.length - distinct} arrived again under their key; ${entries.length - effects.length} notices;`,
  );
  say(
    `${count} histories replayed; ${attention} chains needed attention without cause; ${wrong.length} promises broken; ${seconds().trim()} s`,
  );
  for (const [name, times] of struck) say(`${String(times).padStart(5)} ×  ${name}`);
  return wrong;

  async function send(one: Sent): Promise<void> {
    const { order } = one;
    const { relayId, relayAccessToken } = world.rules[order.onFailure] as World['rules'][string];
    const token = order.isRefused ? 'a-token-that-is-none-of-theirs' : relayAccessToken;
    const body = JSON.stringify(order.actions.map((action) => ({ relayId, relayAccessToken: token, ...action })));
    const headers = { 'content-type': 'application/json', 'idempotency-key': order.name };
    for (let wait = 250; ; wait = Math.min(wait * 2, 15_000)) {
      const url = one.attempts % 2 === 0 ? world.urls.api1 : world.urls.api2;
      one.attempts += 1;
      try {
        const answer = await fetch(`${url}/co/faults/relay`, {
          method: 'POST',
          headers,
          body,
          signal: AbortSignal.timeout(15_000),
        });
        const text = await answer.text();
        if (answer.status < 500 && answer.status !== 429) {
          if (order.isRefused ? answer.status !== 401 : answer.status !== 202 && answer.status !== 200)
            wrong.push(`${order.name} was answered ${answer.status}: ${text.slice(0, 300)}`);
          else if (!order.isRefused) one.chainId = JSON.parse(text).chainId;
          return;
        }
      } catch {
        // The process was down or slow. It may have accepted the request, so the next try has the same idempotency key.
      }
      await sleep(wait + Math.random() * wait);
    }
  }

  async function read({ chainId }: Sent): Promise<ChainResource> {
    return (await world.ask('GET', `/co/faults/chains/${chainId}`)).body;
  }

  /** Makes the decisions of a person who looks at the chains from time to time. */
  async function steer(): Promise<void> {
    const isOpen = (one: Sent) => one.order.steered && one.chainId && !one.steered;
    const isDone = () => !isSending && sent.every((one) => !isOpen(one));
    for (const until = () => isDone(); !until(); await sleep(1000))
      for (const one of sent.filter(isOpen)) {
        const { verb, index, once } = one.order.steered as NonNullable<Order['steered']>;
        const chain = await read(one);
        if (chain.actions?.[once.index]?.state !== once.state) continue;
        const { status, body } = await world.ask('POST', `/co/faults/chains/${one.chainId}/actions/${index}/${verb}`, {});
        one.steered = status === 202 || status === 409; // 409: the answer to an earlier try was lost.
        if (!one.steered) wrong.push(`${one.order.name}: ${verb} was answered ${status}: ${JSON.stringify(body)}`);
      }
  }

  async function strike(): Promise<Map<string, number>> {
    const random = randomFrom(seed + 1);
    const times = new Map<string, number>();
    const possible = faults.filter(({ missing }) => missing === undefined);
    for (const { name, missing } of faults) if (missing) say(`SKIPPED ${name}: ${missing}`);
    for (let round = 1; round === 1 || (possible.length > 0 && sent.length < chains); round += 1) {
      for (const fault of shuffled(possible, random)) {
        if (round > 1 && sent.length >= chains) break;
        try {
          const seen = await fault.strike(faultSeconds);
          times.set(fault.name, (times.get(fault.name) ?? 0) + 1);
          say(`${seconds()} s  ${fault.name}: ${seen}`);
        } catch (error) {
          wrong.push(`the fault "${fault.name}" had no effect: ${error instanceof Error ? error.stack : String(error)}`);
        }
        for (const [name, url] of Object.entries(world.urls))
          await fetch(`${url}/healthz`).catch(() => wrong.push(`${name} had ended by itself after the fault "${fault.name}"`));
        await sleep(faultSeconds * 200);
      }
    }
    return times;
  }

  async function untilClosed(): Promise<void> {
    const query = `TaskQueue = '${world.taskQueue}' AND ExecutionStatus = 'Running' AND WorkflowType IN ('RuleChain', 'DelayedAction')`;
    let [open, since] = [-1, Date.now()];
    while (open !== 0) {
      const { count } = await world.client.workflow.count(query).catch(() => ({ count: open }));
      if (count !== open) [open, since] = [count, Date.now()];
      if (Date.now() - since > 180_000) break; // No chain has closed for three minutes.
      await sleep(1000);
    }
    if (open > 0)
      for await (const { workflowId } of world.client.workflow.list({ query })) wrong.push(`${workflowId} has not closed`);
  }

  async function checkStates(): Promise<void> {
    const left = sent.filter(({ chainId }) => chainId);
    const check = async () => {
      for (let one = left.pop(); one; one = left.pop()) {
        const { status, actions = [] } = await read(one);
        const seen = `${status}: ${actions.map(({ state }) => state)}`;
        const wanted = `${one.order.status}: ${one.order.states}`;
        if (seen !== wanted) wrong.push(`${one.order.name} (${one.chainId}) ended as ${seen}, not ${wanted}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, check));
  }

  /** Checks that each accepted chain has one row with its last status. The collector may need a minute to write this status. */
  async function checkRows(): Promise<void> {
    const accepted = sent.filter(({ chainId }) => chainId);
    const read = async (): Promise<string[]> => {
      const rows = new Map<string, ChainList['items']>();
      for (let next: string | undefined = ''; next !== undefined; ) {
        const { items, nextCursor }: ChainList = (await world.ask('GET', `/co/faults/chains?limit=200${next}`)).body;
        for (const row of items) rows.set(row.chainId, [...(rows.get(row.chainId) ?? []), row]);
        next = nextCursor && `&cursor=${nextCursor}`;
      }
      return accepted.flatMap(({ order, chainId = '' }) => {
        const [row, ...more] = rows.get(chainId) ?? [];
        const seen = `${row?.status}${row?.closedAt ? ', closed' : ''}${more.length > 0 ? `, and ${more.length} rows more` : ''}`;
        return seen === `${order.status}, closed` ? [] : `the row of ${order.name} (${chainId}) is ${seen}, not ${order.status}`;
      });
    };
    let missed = await read();
    for (const until = Date.now() + 90_000; missed.length > 0 && Date.now() < until; missed = await read()) await sleep(1000);
    wrong.push(...missed);
  }

  /** @returns the number of histories, and the number of chains that needed attention without a cause */
  async function replay(): Promise<{ count: number; attention: number }> {
    const { client, keyring, taskQueue } = world;
    const held = new Set(
      sent.filter(({ order }) => order.states.includes('failed') || order.steered?.verb === 'skip').map(({ chainId }) => chainId),
    );
    let [count, attention] = [0, 0];
    async function* histories() {
      for await (const { workflowId, runId } of client.workflow.list({ query: `TaskQueue = '${taskQueue}'` })) {
        const history = await replayable(client, workflowId, runId);
        count += 1;
        if (history.events?.some(saysAttention) && !held.has(workflowId.split(':')[2])) {
          attention += 1;
          wrong.push(`${workflowId} needed attention`);
        }
        yield { workflowId: `${workflowId} ${runId}`, history };
      }
    }
    Runtime.install({ logger: new DefaultLogger('WARN') });
    for await (const { workflowId, error } of Worker.runReplayHistories(replayOptions(keyring), histories()))
      if (error) wrong.push(`${workflowId} does not replay: ${error.message}`);
    return { count, attention };
  }
}

function saysAttention({
  upsertWorkflowSearchAttributesEventAttributes: upsert,
}: proto.temporal.api.history.v1.IHistoryEvent): boolean {
  const data = upsert?.searchAttributes?.indexedFields?.RelayNeedsAttention?.data;
  return data !== undefined && Buffer.from(data ?? []).toString() === 'true';
}

/** Compares each order's effects with the ledger. */
export function checkEffects(sent: readonly Sent[], entries: readonly Entry[]): string[] {
  const wrong: string[] = [];
  const seen = new Map<string, Entry[]>();
  for (const entry of entries) {
    const target = entry.target.replace(people, '');
    seen.set(target, [...(seen.get(target) ?? []), entry]);
  }
  for (const { order, at, chainId } of sent) {
    const { name, actions, states } = order;
    let last = 0;
    for (const [index, action] of actions.entries()) {
      const isDone = !order.isRefused && states[index] === 'done';
      const delay = delayOf(action);
      const firsts: number[] = [];
      for (const target of targetsOf(name, index)) {
        const arrived = seen.get(target) ?? [];
        seen.delete(target);
        const isWanted = isDone && JSON.stringify(action).includes(`"${target}${'emails' in action ? people : ''}"`);
        if (isWanted !== arrived.length > 0) wrong.push(isWanted ? `${target} was not done` : `${target} was done`);
        const [first] = arrived;
        if (!first) continue;
        firsts.push(first.at);
        const keys = new Set(arrived.map(({ key }) => key));
        if (keys.size > 1) wrong.push(`${target} has ${keys.size} keys: ${[...keys]}`);
        if (!first.mail && first.key !== `relay:faults:${chainId}/${index}`) wrong.push(`${target} has the key ${first.key}`);
        const early = at + delay * 1000 - first.at;
        if (early > 100 && order.steered?.index !== index) wrong.push(`${target} was done ${early} ms too early`);
      }
      if (delay > 0) continue;
      if (Math.min(...firsts) < last) wrong.push(`${name}-${index} was done before an earlier action of its sequence`);
      last = Math.max(last, ...firsts);
    }
  }
  for (const target of seen.keys()) if (/^f\d/.test(target)) wrong.push(`${target}: nobody asked for it`);
  return wrong;
}

function shuffled<Value>(values: readonly Value[], random: () => number): Value[] {
  return values
    .map((value) => ({ value, by: random() }))
    .sort((a, b) => a.by - b.by)
    .map(({ value }) => value);
}
