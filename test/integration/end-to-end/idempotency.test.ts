/** The same request twice makes one chain, even if something fails between the sender, the relay and Temporal. */

import assert from 'node:assert/strict';
import { after, describe, it, mock } from 'node:test';
import { Client, Connection, type ConnectionOptions, ServiceError } from '@temporalio/client';
import { createApi } from '../../../src/api/app.js';
import { Limits } from '../../../src/api/limits.js';
import { acceptedSchema } from '../../../src/contract/chain-resource.js';
import { problemSchema } from '../../../src/contract/problem.js';
import { createLog, Metrics } from '../../../src/service/telemetry.js';
import { startLossyProxy } from '../../end-to-end/lossy-proxy.js';
import { type Action, adminToken, startStack, udf } from '../../end-to-end/stack.js';

const stack = await startStack();
type Company = Awaited<ReturnType<typeof stack.company>>;

const accepted = async (response: Response) => acceptedSchema.parse(await response.json());
const slug = async (response: Response) =>
  problemSchema
    .parse(await response.json())
    .type.split('/')
    .at(-1);
const key = (value: string) => ({ 'idempotency-key': value });
/** Each company has its own ticket, so that a test can count the calls. */
const ticketOf = ({ companyId }: Company) => `T-${companyId}`;

describe('a request with an idempotency key that was used before', () => {
  it('gets the first answer, even after the chain has ended, and runs nothing', async () => {
    const company = await stack.company();
    const body = [udf(ticketOf(company), { someField: 'x' }), udf(ticketOf(company), { delayInSeconds: '1' })];
    const first = await company.post(body, key('one'));
    assert.deepEqual([first.status, first.headers.get('idempotency-replayed')], [202, null]);
    const answer = await accepted(first);
    assert.deepEqual(
      answer.warnings.map(({ pointer }) => pointer),
      ['/0/someField'],
    );
    for (const wait of [false, true]) {
      if (wait) await company.ended(answer.chainId);
      const again = await company.post(body, key('one'));
      assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [200, 'true']);
      assert.equal(again.headers.get('location'), first.headers.get('location'));
      assert.deepEqual(await accepted(again), answer);
    }
    assert.equal(await stack.effects(ticketOf(company)), 2);
  });

  it('makes one chain if twenty arrive at once', async () => {
    const company = await stack.company();
    const responses = await Promise.all(Array.from({ length: 20 }, () => company.post([udf(ticketOf(company))], key('twenty'))));
    const statuses = responses.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array(19).fill(200), 202]);
    const answers = await Promise.all(responses.map(accepted));
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
    await company.ended(answers[0]?.chainId ?? '');
    assert.equal(await stack.effects(ticketOf(company)), 1);
  });

  it('is refused if its body differs from the first, and the first chain goes on', async () => {
    const company = await stack.company();
    const { chainId } = await accepted(await company.post([udf(ticketOf(company))], key('k')));
    for (const body of [
      [udf('other')],
      [udf(ticketOf(company)), udf(ticketOf(company))],
      [udf(ticketOf(company), { comment: '' })],
    ]) {
      const response = await company.post(body, key('k'));
      assert.equal(response.status, 422);
      assert.equal(await slug(response), 'idempotency-key-reused');
    }
    assert.equal((await company.ended(chainId)).status, 'completed');
    assert.equal((await stack.calls(ticketOf(company), 'other')).length, 1);
  });

  it('is the same with another token of the rule, with reordered fields, and with another header name or quotes', async () => {
    const company = await stack.company();
    const body: Action = udf('T', { comment: 'c' });
    const { chainId } = await accepted(await company.post([body], key('same')));
    const rotated = await stack.store.tokens.rotate(company.companyId, company.relayId, 0, { kind: 'admin' });
    const { relayAccessToken } = rotated ?? assert.fail();
    const reversed = Object.fromEntries(Object.entries({ ...body, relayAccessToken }).reverse());
    for (const headers of [key('same'), key('"same"'), { 'webhook-id': 'same' }, { ...key('"same"'), 'webhook-id': 'same' }]) {
      const again = await company.post([reversed], headers);
      assert.equal(again.status, 200);
      assert.equal((await accepted(again)).chainId, chainId);
    }
  });

  it("never finds another company's chain", async () => {
    const [one, two] = [await stack.company({ relayId: '77' }), await stack.company({ relayId: '77' })];
    const chains = await Promise.all(
      [one, two].map(async (company) => accepted(await company.post([udf(ticketOf(company))], key('k')))),
    );
    assert.notEqual(chains[0]?.chainId, chains[1]?.chainId);
    for (const [place, company] of [one, two].entries()) {
      await company.ended(chains[place]?.chainId ?? '');
      assert.equal((await stack.calls(ticketOf(company))).length, 1);
    }
    assert.equal((await one.post([udf('other')], key('k'))).status, 422);
  });

  it("never finds another rule's chain: a token holder cannot use up another rule's keys", async () => {
    const company = await stack.company();
    const rule = { name: 'Other', onFailure: 'hold', onUnknown: 'resend' } as const;
    const other = await stack.store.rules.create(company.companyId, rule, { kind: 'admin' });
    assert(typeof other === 'object');
    const ofOther = { relayId: other.rule.relayId, relayAccessToken: other.relayAccessToken };
    const posts = [
      await company.post([udf('guessed', ofOther)], key('event-1')),
      await company.post([udf(ticketOf(company))], key('event-1')),
      await company.post([udf('both'), udf('both', ofOther)], key('event-1')),
      await company.post([udf('both', ofOther), udf('both')], key('event-1')),
    ];
    assert.deepEqual(
      posts.map(({ status }) => status),
      [202, 202, 202, 422],
    );
    const chains = await Promise.all(posts.slice(0, 3).map(accepted));
    assert.equal(new Set(chains.map(({ chainId }) => chainId)).size, 3);
    for (const { chainId } of chains) await company.ended(chainId);
    assert.equal((await stack.calls(ticketOf(company))).length, 1);
  });
});

describe('an idempotency key', () => {
  it('is not used up by a refused request or by a dry run', async () => {
    const company = await stack.company();
    assert.equal((await company.post([udf('T', { delayInSeconds: 'soon' })], key('k'))).status, 400);
    assert.equal((await company.post([udf('T', { relayAccessToken: 'wrong' })], key('k'))).status, 401);
    const dryRun = await fetch(`${stack.links.api}/co/${company.companyId}/relay?dryRun=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...key('k') },
      body: JSON.stringify([{ ...udf('T'), relayId: company.relayId, relayAccessToken: company.relayAccessToken }]),
    });
    assert.equal(dryRun.status, 200);
    assert.equal((await company.post([udf('T')], key('k'))).status, 202);
  });

  const unusable: [what: string, headers: Record<string, string>][] = [
    ['two different keys', { ...key('a'), 'webhook-id': 'b' }],
    ['an empty key', key('')],
    ['an empty key in quotes', key('""')],
    ['a key of 256 characters', key('x'.repeat(256))],
  ];
  for (const [what, headers] of unusable)
    it(`is refused: ${what}`, async () => {
      const response = await (await stack.company()).post([udf('T')], headers);
      assert.equal(response.status, 400);
      assert.equal(await slug(response), 'idempotency-key');
    });

  it('may have 255 characters, and any that a header allows', async () => {
    const company = await stack.company();
    const keys = ['x'.repeat(255), 'a, b', '"', 'a/b:c d', `${company.companyId}`];
    const chains = await Promise.all(keys.map(async (value) => accepted(await company.post([udf('T')], key(value)))));
    assert.equal(new Set(chains.map(({ chainId }) => chainId)).size, keys.length);
    for (const { chainId } of chains) assert.match(chainId, /^[A-Za-z0-9_-]+$/);
  });
});

describe('Temporal', () => {
  const proxies: { close(): Promise<unknown> }[] = [];
  after(() => Promise.all(proxies.map((proxy) => proxy.close())));

  /** Starts a second API in front of the stack, with its own client. */
  async function apiOver(address: string, options: ConnectionOptions = {}) {
    // The connection stays open. After a close, a pending retry would throw an error that no test can catch.
    const connection = Connection.lazy({ address, ...options });
    const client = new Client({ connection });
    const log = createLog('silent');
    const { store, connectors, links, taskQueue } = stack;
    const app = createApi({
      ...{ store, connectors, links, taskQueue, client, log, adminToken },
      metrics: new Metrics(),
      limits: new Limits({ perMinute: 10_000, log }),
      eager: false,
      retryBudgetSeconds: 1,
      attentionWindowSeconds: 600,
    });
    const post = async (
      { companyId, relayId, relayAccessToken }: Company,
      actions: Action[],
      headers: Record<string, string> = {},
    ) =>
      app.request(`/co/${companyId}/relay`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(actions.map((action) => ({ relayId, relayAccessToken, ...action }))),
      });
    return { client, post };
  }

  for (const headers of [{}, key('ambiguous')]) {
    const named = 'idempotency-key' in headers ? 'with a key' : 'without a key';

    it(`accepts, and the connection breaks before the answer: 202, and one chain, ${named}`, async () => {
      const company = await stack.company();
      const proxy = await startLossyProxy(stack.temporalAddress);
      proxies.push(proxy);
      const { client, post } = await apiOver(proxy.address);
      await client.connection.workflowService.getSystemInfo({});
      proxy.lose('next');
      const response = await post(company, [udf(ticketOf(company))], headers);
      assert.equal(response.status, 202);
      assert.equal(proxy.lost(), 1);
      assert.equal(response.headers.get('idempotency-replayed'), null);
      await company.ended((await accepted(response)).chainId);
      assert.equal((await stack.calls(ticketOf(company))).length, 1);
    });

    it(`accepts, and the client times out: 202, and one chain, ${named}`, async () => {
      const company = await stack.company();
      const { client, post } = await apiOver(stack.temporalAddress);
      losesStarts(client);
      const response = await post(company, [udf(ticketOf(company))], headers);
      assert.equal(response.status, 202);
      await company.ended((await accepted(response)).chainId);
      assert.equal((await stack.calls(ticketOf(company))).length, 1);
    });
  }

  it('accepts and does not answer: 503 says that the outcome is unknown, and a repeated request finds the chain', async () => {
    const company = await stack.company();
    const { client, post } = await apiOver(stack.temporalAddress);
    losesStarts(client);
    const silent = mock.method(client.workflow, 'getHandle', () => {
      throw new ServiceError('no answer');
    });
    const lost = await post(company, [udf(ticketOf(company))], key('k'));
    assert.deepEqual([lost.status, lost.headers.get('retry-after')], [503, '10']);
    assert.match(problemSchema.parse(await lost.json()).detail, /nobody knows/);
    silent.mock.restore();
    const again = await post(company, [udf(ticketOf(company))], key('k'));
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [200, 'true']);
    await company.ended((await accepted(again)).chainId);
    assert.equal((await stack.calls(ticketOf(company))).length, 1);
  });

  it('does not accept the chain: 503 with Retry-After, and the key is not used up', async () => {
    const company = await stack.company();
    const { client, post } = await apiOver(stack.temporalAddress);
    const refusing = mock.method(client.workflow, 'start', () => Promise.reject(new ServiceError('not today')));
    const refused = await post(company, [udf('T')], key('k'));
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '10']);
    assert.match(problemSchema.parse(await refused.json()).detail, /Nothing has run/);
    refusing.mock.restore();
    assert.equal((await post(company, [udf('T')], key('k'))).status, 202);
  });

  it('cannot be reached: 503 with Retry-After', async () => {
    const { post } = await apiOver('127.0.0.1:1', { interceptors: [] });
    const response = await post(await stack.company(), [udf('T')]);
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '10']);
    assert.equal(await slug(response), 'temporal-unavailable');
  });

  /** The server accepts every start, and the client never gets the answer. */
  function losesStarts(client: Client): void {
    const start = client.workflow.start.bind(client.workflow);
    mock.method(client.workflow, 'start', async (...input: Parameters<typeof start>) => {
      await start(...input);
      throw new ServiceError('the answer was lost');
    });
  }
});

describe('the database', () => {
  it('that does not answer: 503 with Retry-After', async () => {
    const company = await stack.company();
    const silent = mock.method(stack.store.tokens, 'authenticate', () => Promise.reject(new Error('the database is down')));
    const refused = await company.post([udf('T')]);
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '10']);
    assert.equal(await slug(refused), 'database-unavailable');
    silent.mock.restore();
    assert.equal((await company.post([udf('T')])).status, 202);
  });
});
