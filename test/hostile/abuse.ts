/** Two companies on one relay. One company exceeds each limit while the other company sends chains. */

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CompanyLimits } from '../../src/contract/company.js';
import { type Action, email, eventually, type Stack, send, Unmet, udf } from '../end-to-end/stack.js';
import type { Answers, Order } from './abuser.js';

/** One company has this number of hanging calls: more than its limit of local tries, but not more than its limit of calls. */
const mostCalls = 60;
const actor = { kind: 'admin' } as const;

/** A platform and ticket system. It answers requests below `/well` immediately, requests below `/hang` only after `letGo`. */
async function startSystems() {
  let hanging: ServerResponse[] = [];
  let most = 0;
  /** The time of the first call about each ticket. */
  const tickets = new Map<string, number>();
  const server = createServer((call, answer) => {
    const [, way, kind, id = ''] = (call.url ?? '').split('/');
    if (kind === 'tickets' && !tickets.has(id)) tickets.set(id, performance.now());
    answer.setHeader('content-type', 'application/json');
    if (way === 'hang') {
      hanging = [...hanging.filter(({ destroyed }) => !destroyed), answer];
      most = Math.max(most, hanging.length);
    } else call.resume().on('end', () => answer.end('{"status":"sent"}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tickets,
    /** The highest number of calls that hung at the same time. */
    mostHanging: () => most,
    letGo() {
      for (const answer of hanging) answer.end('{}');
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export type TwoCompanies = Awaited<ReturnType<typeof twoCompanies>>;
type Company = Awaited<ReturnType<Stack['company']>>;

interface Abuse {
  name: string;
  limits?: CompanyLimits;
  way?: 'well' | 'hang';
  /** Prepares the abuse. @returns the requests that the abuser then repeats. */
  order(company: Company): Promise<Pick<Order, 'requests'> & Partial<Order>> | Pick<Order, 'requests'>;
  /** The answer that a sender gets once the limit is reached. */
  met?: string;
}

/**
 * @param most - the abuser's limit of actions a day, recipients a day, and open chains
 * @param pauseMs - the abuser's pause after a refusal, to save CPU time
 */
export async function twoCompanies(stack: Stack, most: number, pauseMs = 0) {
  const systems = await startSystems();

  async function company(way: 'well' | 'hang' = 'well', limits?: CompanyLimits): Promise<Company> {
    const made = await stack.company();
    const system = { kind: 'http', baseUrl: `${systems.url}/${way}` } as const;
    const { companyId } = made;
    const whole = { companyId, name: 'Company', timeZone: 'UTC', platform: system, ticketing: system, limits };
    await stack.store.companies.put(companyId, () => whole, actor);
    return made;
  }
  const posting = ({ companyId, relayId, relayAccessToken }: Company, ...actions: Action[]): Order['requests'][number] => ({
    method: 'POST',
    path: `/co/${companyId}/relay`,
    body: actions.map((action) => ({ relayId, relayAccessToken, ...action })),
  });
  const keyOf = async ({ companyId }: Company) => {
    const made = await stack.store.keys.create(companyId, 'key', actor);
    assert(typeof made === 'object');
    return { authorization: `Bearer ${made.key}` };
  };
  const later = { delayInSeconds: '3000' };

  /** Ends the company's open chains, so that they do not affect the next abuse. */
  async function stop({ companyId }: Company): Promise<void> {
    systems.letGo();
    const query = `RelayCompanyId = '${companyId}' AND ExecutionStatus = 'Running'`;
    for await (const { workflowId } of stack.client.workflow.list({ query }))
      await stack.client.workflow
        .getHandle(workflowId)
        .terminate('the abuse is over')
        .catch(() => {}); // The workflow has ended in the meantime.
  }

  const abuses: Abuse[] = [
    {
      name: 'requests a minute',
      order: (own) => ({ requests: [posting(own, udf('T'))] }),
      met: '429 rate-limited',
    },
    {
      name: 'actions a day',
      limits: { actionsPerDay: most },
      order: (own) => ({ requests: [posting(own, udf('T'), udf('T'))] }),
      met: '429 quota-exceeded',
    },
    {
      name: 'e-mail recipients a day',
      limits: { recipientsPerDay: most },
      order: (own) => ({ requests: [posting(own, email(['a@x.example', 'b@x.example']))] }),
      met: '429 quota-exceeded',
    },
    {
      name: 'open chains',
      limits: { openChains: most },
      order: (own) => ({ requests: [posting(own, udf('T', later))] }),
      met: '429 too-many-open-chains',
    },
    {
      name: 'a platform that hangs',
      way: 'hang',
      // The actions have different delays, so none waits for another. Their calls hang at the same time.
      order: (own) => ({
        requests: [posting(own, ...['0', '1', '2', '3'].map((delayInSeconds) => udf('T', { delayInSeconds })))],
        most: 60,
      }),
    },
    {
      name: 'dead tokens',
      async order(own) {
        const { companyId, relayId } = own;
        await stack.store.tokens.rotate(companyId, relayId, 0, actor);
        return { requests: [posting(own, udf('T'))] };
      },
      met: '429 rate-limited',
    },
    {
      name: 'wrong tokens from one address',
      order: (own) => ({
        requests: [posting(own, udf('T', { relayAccessToken: 'x'.repeat(36), cfValue: 'x'.repeat(200_000) }))],
      }),
      met: '429 rate-limited',
    },
    {
      name: 'reading in a loop with a key',
      async order(own) {
        const { chainId } = await own.start([udf('T', later)]);
        const headers = await keyOf(own);
        const paths = ['chains', `chains/${chainId}`, 'rejected'];
        return { requests: paths.map((path) => ({ method: 'GET', path: `/co/${own.companyId}/${path}`, headers })) };
      },
      met: '429 rate-limited',
    },
    {
      name: 'steering many chains over and over',
      async order(own) {
        const headers = await keyOf(own);
        const path = `/co/${own.companyId}/chains/bulk`;
        // Each chain needs attention, also after a retry.
        const held = await Promise.all(Array.from({ length: 20 }, () => own.start([udf('')])));
        for (const { chainId } of held) await own.action(chainId, 0, 'needs-attention');
        const order = { verb: 'retry', confirm: held.length };
        return { requests: [order, { verb: 'retry' }].map((body) => ({ method: 'POST', path, headers, body })) };
      },
      met: '429 rate-limited',
    },
  ];

  /** Sends a chain every `gapMs`, and waits for all effects. @returns milliseconds from each POST to its chain's last effect. */
  async function chains(count: number, gapMs: number): Promise<number[]> {
    const other = await company();
    const ran = Array.from({ length: count }, async (_, n) => {
      await sleep(n * gapMs);
      const ticket = `${other.companyId}-${n}`;
      const at = performance.now();
      const { chainId } = await other.start([send('1', { groupId: '1' }), udf(ticket)]); // `start` accepts only 202.
      const doneAt = await eventually('the last effect', async () => systems.tickets.get(ticket) ?? new Unmet(chainId));
      return { chainId, ms: doneAt - at };
    });
    const all = await Promise.all(ran);
    for (const { chainId } of all) assert.equal((await other.ended(chainId)).status, 'completed');
    return all.map(({ ms }) => ms).sort((a, b) => a - b);
  }

  return {
    abuses,
    chains,
    /** Starts an abuse. Once it has reached its limit, measures the chains of the other company. */
    async beside({ name, limits, way, order, met }: Abuse, count: number, gapMs: number) {
      const own = await company(way, limits);
      const ordered = await order(own);
      const child = fork(new URL('abuser.js', import.meta.url).pathname);
      let answers: Answers = {};
      child.on('message', (said: Answers) => {
        answers = said;
      });
      try {
        child.send({ url: stack.links.api, connections: 16, pauseMs, ...ordered } satisfies Order);
        await eventually(`${name} to be bounded`, async () => {
          const isMet = met ? (answers[met] ?? 0) > 0 : systems.mostHanging() >= mostCalls;
          return isMet ? true : new Unmet({ answers, hanging: systems.mostHanging() });
        });
        const took = await chains(count, gapMs);
        return { took, answers };
      } finally {
        child.disconnect();
        await once(child, 'exit');
        await stop(own);
      }
    },
    close: () => systems.close(),
  };
}
