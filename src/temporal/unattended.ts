/** Sets the metrics about held chains and late notices. Sends a few visibility queries a minute, but no query to a chain. */

import type { Client } from '@temporalio/client';
import { attentionSinceKey } from '../contract/search-attributes.js';
import type { Log, Metrics } from '../service/telemetry.js';
import { reasonOf } from '../service/temporal.js';
import { quoted, visibilityQuery } from './list.js';

interface Options {
  client: Pick<Client, 'withDeadline'> & { workflow: Pick<Client['workflow'], 'count'> };
  taskQueue: string;
  metrics: Pick<Metrics, 'needingAttention' | 'oldestUnattended' | 'noticesOverdue'>;
  log: Pick<Log, 'warn'>;
}

const countEveryMs = 60_000;
const answerTimeoutMs = 10_000;
const overdueSeconds = 600;

/** Counts now and every minute. @returns a function that stops the counting. */
export function countUnattended(options: Options): () => void {
  const count = () => countOnce(options);
  void count();
  const timer = setInterval(count, countEveryMs);
  return () => clearInterval(timer);
}

/** Sends one query about chains that need attention, one query about notices, and up to eight queries for the oldest chain. */
export async function countOnce({ client, taskQueue, metrics, log }: Options): Promise<void> {
  const ours = `TaskQueue = ${quoted(taskQueue)}`;
  const ago = (seconds: number) => `'${new Date(Date.now() - seconds * 1000).toISOString()}'`;
  const count = async (query: string) => (await client.workflow.count(query)).count;
  const held = (...more: string[]) => count(visibilityQuery({ status: 'needs-attention' }, undefined, [ours, ...more]));
  const isOlder = async (seconds: number) => (await held(`${attentionSinceKey.name} < ${ago(seconds)}`)) > 0;
  const { needingAttention, oldestUnattended, noticesOverdue } = metrics;
  try {
    await client.withDeadline(Date.now() + answerTimeoutMs, async () => {
      const chains = await held();
      needingAttention.set(chains);
      oldestUnattended.set(chains === 0 ? 0 : await oldest(isOlder));
      const late = ["WorkflowType = 'NoticeDelivery'", "ExecutionStatus = 'Running'", `StartTime < ${ago(overdueSeconds)}`, ours];
      noticesOverdue.set(await count(late.join(' AND ')));
    });
  } catch (error) {
    for (const gauge of [needingAttention, oldestUnattended, noticesOverdue]) gauge.set(Number.NaN);
    log.warn(`chains that need attention cannot be counted: ${reasonOf(error)}`);
  }
}

/** Ages in seconds, from one second to more than a year. Each age is 10 % longer than the age before. */
const ages = Array.from({ length: 184 }, (_, n) => 1.1 ** n);

/** Finds the age of the oldest chain by bisection, because visibility in SQL cannot sort. */
async function oldest(isOlder: (seconds: number) => Promise<boolean>): Promise<number> {
  let [from, to] = [0, ages.length];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (await isOlder(ages[middle] ?? 0)) from = middle + 1;
    else to = middle;
  }
  return ages[from - 1] ?? 0;
}
