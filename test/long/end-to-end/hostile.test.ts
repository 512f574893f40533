/** Any input gets an answer that says what is wrong, and no effect that was not requested. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { acceptedSchema } from '../../../src/contract/chain-resource.js';
import { problemSchema, rejectedListSchema } from '../../../src/contract/problem.js';
import { type Action, email, type Stack, send, startStack, udf } from '../../end-to-end/stack.js';
import { extent } from '../../extent.js';
import { fieldNames, fieldTexts, hostileBodies } from '../../hostile/bodies.js';

const stack = await startStack();
type Company = Awaited<ReturnType<Stack['company']>>;

const json = { 'content-type': 'application/json' };
const relay = ({ companyId }: Company, query = '') => `${stack.links.api}/co/${companyId}/relay${query}`;
const credentialsOf = ({ relayId, relayAccessToken }: Company) => ({ relayId, relayAccessToken });

/** Sends anything, and checks the form of the answer. @returns `accepted`, or the problem's type. */
async function answerTo(url: string, body: RequestInit['body'], headers: Record<string, string> = json): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers, body: body ?? null });
  const text = await response.text();
  if (response.ok) {
    if (!url.includes('dryRun')) acceptedSchema.parse(JSON.parse(text));
    return 'accepted';
  }
  assert(response.status < 500, `${response.status}: ${text}`);
  assert.equal(response.headers.get('content-type'), 'application/problem+json');
  const { status, type } = problemSchema.parse(JSON.parse(text));
  assert.equal(status, response.status);
  return type.split('/').at(-1) ?? '';
}

describe('a hostile body', async () => {
  const company = await stack.company();
  const credentials = JSON.stringify(credentialsOf(company)).slice(1, -1);
  for (const { what, body, answer } of hostileBodies(credentials))
    it(`gets an answer: ${what}`, async () => assert.equal(await answerTo(relay(company), body), answer));
});

describe('any input', () => {
  const bytes = fc.uint8Array({ maxLength: 400 }).map((array) => new Uint8Array(array));
  const names = fc.oneof(fc.constantFrom(...fieldNames, 'ActionCondition'), fc.string());
  const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(...fieldTexts, '1'));
  const values = fc.oneof({ weight: 4, arbitrary: texts }, fc.array(texts, { maxLength: 3 }), fc.jsonValue({ maxDepth: 3 }));
  /** Almost valid actions: a real company's, with some fields replaced by random values. */
  const actions = fc.array(
    fc.record({
      base: fc.constantFrom<Action>(udf('HOSTILE'), email(['a@x.example']), send('1'), {}),
      over: fc.dictionary(names, values, { maxKeys: 4 }),
      known: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  );
  const headers = fc.record(
    {
      'idempotency-key': fc.constantFrom('a', '"b"', '""', 'x'.repeat(300)),
      'webhook-id': fc.constantFrom('a', 'c'),
      'content-type': fc.constantFrom('text/plain', 'application/json; charset=utf-16', 'application/x+json', '', ';'),
      'content-encoding': fc.constantFrom('gzip', 'x'),
      authorization: fc.constantFrom('Bearer x', 'Basic ', 'Bearer'),
    },
    { requiredKeys: [] },
  );
  const query = fc.constantFrom('', '', '', '?dryRun=true', '?dryRun=', '?dryrun=true', '?x=%ff', '?%');

  it('gets 2xx or a problem: bytes and JSON of any kind', async () => {
    const company = await stack.company();
    await fc.assert(
      fc.asyncProperty(fc.oneof(bytes, fc.json(), fc.string()), fc.option(headers), query, async (body, more, query) => {
        await answerTo(relay(company, query), body, { ...json, ...more });
      }),
      { numRuns: extent(100, 300) },
    );
  });

  it('gets 2xx or a problem: almost valid actions', async () => {
    const company = await stack.company();
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(actions, fc.option(headers), query, async (actions, more, query) => {
        const body = actions.map(({ base, over, known }) => ({
          ...credentialsOf(company),
          ...base,
          ...over,
          ...(known && credentialsOf(company)),
        }));
        const answer = await answerTo(relay(company, query), JSON.stringify(body), { ...json, ...more });
        seen.set(answer, (seen.get(answer) ?? 0) + 1);
      }),
      { numRuns: 400 },
    );
    for (const expected of ['accepted', 'invalid-chain', 'unauthorized'])
      assert((seen.get(expected) ?? 0) > 0, JSON.stringify([...seen]));
  });

  it('gets a problem: paths', async () => {
    const segment = fc.oneof(
      fc.constantFrom('co', 'relay', 'chains', 'rejected', 'admin', 'companies', '..', '%00', '%2e%2e', '%ff', '%'),
      fc.webSegment(),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(segment, { maxLength: 6 }),
        fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH'),
        async (path, method) => {
          const response = await fetch(`${stack.links.api}/${path.join('/')}`, { method });
          const text = await response.text();
          assert(response.status < 500, text);
          if (!response.ok) problemSchema.parse(JSON.parse(text));
        },
      ),
      { numRuns: extent(100, 300) },
    );
  });
});

describe('an accepted request (202)', () => {
  /** One action, its delay, and a condition. `holds` says whether the condition is true: the assignment has the zip 94016. */
  const action = fc.record({
    kind: fc.constantFrom('send', 'udf', 'email'),
    delay: fc.constantFrom(undefined, undefined, undefined, '0', '1'),
    condition: fc.constantFrom(
      undefined,
      undefined,
      { text: 'location.zip==94016', holds: true },
      { text: 'location.zip!="94016"', holds: false },
      { text: 'incomingValue==yes', holds: true },
      { text: 'incomingValue == no', holds: false },
    ),
  });
  type Model = { kind: string; delay: string | undefined; condition: { text: string; holds: boolean } | undefined };

  it('causes exactly its effects, and the immediate effects in order', async () => {
    const chains = fc.array(fc.array(action, { minLength: 1, maxLength: 5 }), { minLength: 6, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(chains, async (models) => void (await Promise.all(models.map(runs)))),
      {
        numRuns: extent(2, 4),
        endOnFailure: true,
      },
    );
  });

  async function runs(models: Model[]): Promise<void> {
    const company = await stack.company();
    const assignment = await stack.assignment({ location: { zip: '94016' } });
    const ticket = `T-${company.companyId}`;
    const { chainId } = await company.start(
      models.map(({ kind, delay, condition }, index) => ({
        ...(kind === 'send' && send(assignment, { groupId: String(index) })),
        ...(kind === 'udf' && udf(ticket, { cfName: String(index) })),
        ...(kind === 'email' && email([`${index}@${company.companyId}.example`])),
        platformAssignmentId: assignment,
        ...(delay !== undefined && { delayInSeconds: delay }),
        ...(condition && { actionCondition: condition.text, incomingValue: 'yes' }),
      })),
    );
    const chain = await company.ended(chainId);
    assert.deepEqual(
      chain.actions.map(({ state }) => state),
      models.map(({ condition }) => (condition?.holds === false ? 'skipped' : 'done')),
    );
    const due = (delayed: boolean) =>
      models.flatMap(({ kind, delay, condition }, index) =>
        kind !== 'email' && condition?.holds !== false && (delay === '1') === delayed ? [`${kind} ${index}`] : [],
      );
    const calls = (await stack.calls(assignment, ticket)).filter(({ method }) => method !== 'GET');
    const done = calls.map(({ method, body }) =>
      method === 'POST'
        ? `send ${[body?.groupIds].flat()[0]}`
        : `udf ${Reflect.get(Object([body?.userDefinedFields].flat()[0]), 'name')}`,
    );
    assert(calls.every(({ repeat }) => !repeat));
    // Delayed effects may come in between. So the immediate effects are compared separately from the delayed ones.
    assert.deepEqual(
      done.filter((effect) => due(false).includes(effect)),
      due(false),
    );
    assert.deepEqual(
      done.filter((effect) => due(true).includes(effect)),
      due(true),
    );
    assert.equal(done.length, due(false).length + due(true).length);
    for (const [index, { kind, condition }] of models.entries())
      assert.equal(
        (await stack.inbox(`${index}@${company.companyId}.example`)).length,
        kind === 'email' && condition?.holds !== false ? 1 : 0,
      );
  }
});

describe('two companies at once', () => {
  /** A request of one of the two companies. `n` makes its body unique. */
  const deed = fc.record({
    who: fc.constantFrom(0, 1),
    what: fc.constantFrom('send', 'send invalid', 'resend', 'spy on chains', 'spy on rejected', 'use the token'),
    key: fc.constantFrom(undefined, 'k1', 'k2'),
    n: fc.nat(2),
  });

  it("never see or touch each other's chains, keys and rejected requests", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 10, maxLength: 20 }), async (deeds) => {
        // The rule id and the keys are the same, so that only the company differs.
        const relayId = '4711';
        const both = await Promise.all(
          [0, 1].map(async () => {
            const company = await stack.company({ relayId });
            const made = await stack.store.keys.create(company.companyId, 'console', { kind: 'admin' });
            assert(typeof made === 'object');
            const ask = (path: string, method = 'GET') =>
              fetch(`${stack.links.api}/co/${path}`, { method, headers: { authorization: `Bearer ${made.key}` } });
            const rejected = async () =>
              rejectedListSchema.parse(await (await ask(`${company.companyId}/rejected?limit=200`)).json()).items;
            return { company, ask, rejected, ticket: `T-${company.companyId}`, chains: new Set<string>(), invalid: 0 };
          }),
        );
        const shut = [401, 404, 429];
        await Promise.all(
          deeds.map(async ({ who, what, key, n }) => {
            const [me = assert.fail(), other = assert.fail()] = who === 0 ? both : [...both].reverse();
            const headers = { ...(key && { 'idempotency-key': key }) };
            if (what === 'send') {
              const response = await me.company.post([udf(me.ticket, { cfName: String(n) })], headers);
              assert([200, 202, 422].includes(response.status), await response.clone().text());
              if (response.ok) me.chains.add(acceptedSchema.parse(await response.json()).chainId);
              else me.invalid += 1;
            } else if (what === 'send invalid') {
              me.invalid += 1;
              assert.equal((await me.company.post([udf(me.ticket, { delayInSeconds: 'soon', cfName: String(n) })])).status, 400);
            } else if (what === 'use the token') {
              const { relayAccessToken } = other.company;
              const response = await me.company.post([udf(me.ticket, { relayAccessToken })], headers);
              assert(shut.includes(response.status));
            } else if (what === 'resend') {
              for (const { rejectedId } of await other.rejected()) {
                assert.equal((await me.ask(`${me.company.companyId}/rejected/${rejectedId}/resend`, 'POST')).status, 404);
                assert(shut.includes((await me.ask(`${other.company.companyId}/rejected/${rejectedId}/resend`, 'POST')).status));
              }
            } else if (what === 'spy on rejected') {
              assert(shut.includes((await me.ask(`${other.company.companyId}/rejected`)).status));
            } else {
              for (const chainId of other.chains)
                for (const { companyId } of [me.company, other.company]) {
                  assert(shut.includes((await me.ask(`${companyId}/chains/${chainId}`)).status));
                  assert(shut.includes((await me.ask(`${companyId}/chains/${chainId}/cancel`, 'POST')).status));
                }
            }
          }),
        );
        for (const { company, chains, rejected, ticket, invalid } of both) {
          for (const chainId of chains) assert.equal((await company.ended(chainId)).status, 'completed');
          const calls = await stack.calls(ticket);
          assert.equal(calls.length, chains.size);
          for (const { idempotencyKey } of calls) assert(idempotencyKey?.startsWith(`relay:${company.companyId}:`));
          const kept = (await rejected()).reduce((sum, { repeats = 0 }) => sum + 1 + repeats, 0);
          assert.equal(kept, invalid);
        }
      }),
      { numRuns: extent(3, 5), endOnFailure: true },
    );
  });
});

describe('after all these tests', () => {
  it('the log has no unexpected error, and the relay is healthy', async () => {
    assert.equal((await fetch(`${stack.links.api}/readyz`)).status, 200);
    assert.doesNotMatch(stack.logged(), /a request failed unexpectedly/);
  });
});
