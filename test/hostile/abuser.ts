/** A process that repeats the same requests, and reports the answers regularly. */

import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

export interface Order {
  url: string;
  requests: { method: 'GET' | 'POST'; path: string; headers?: Record<string, string>; body?: unknown }[];
  /** The number of parallel requests. */
  connections: number;
  /** The process stops after this number of requests. */
  most?: number;
  /** The pause of a connection after each answer about a reached limit. */
  pauseMs?: number;
}

/** The number of answers of each kind, such as `202` or `429 rate-limited`. */
export type Answers = Record<string, number>;

setPriority(10); // Low priority, because a real abuser uses other CPUs.
process.once('message', async ({ url, requests, connections, most = Number.POSITIVE_INFINITY, pauseMs }: Order) => {
  const answers: Answers = {};
  const dispatcher = new Agent({ connections });
  setInterval(() => process.connected && process.send?.(answers), 100).unref();
  let sent = 0;
  const send = async () => {
    while (sent < most) {
      const { method, path, headers, body } = requests[sent % requests.length] as Order['requests'][number];
      sent += 1;
      const options = { method, dispatcher, headers: { 'content-type': 'application/json', ...headers } };
      const answer = await request(url + path, { ...options, ...(body !== undefined && { body: JSON.stringify(body) }) });
      const text = await answer.body.text();
      const slug = /"type":"\/problems\/([\w-]+)"/.exec(text)?.[1];
      const what = slug ? `${answer.statusCode} ${slug}` : String(answer.statusCode);
      answers[what] = (answers[what] ?? 0) + 1;
      if (pauseMs && answer.statusCode === 429) await sleep(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
});
process.on('disconnect', () => process.exit()).on('error', () => {}); // The parent process has ended.
