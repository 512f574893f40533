/** Refused requests with a known sender: kept, reported, resent. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { failuresPerMinute } from '../../../src/api/limits.js';
import { shownTime } from '../../../src/chain/web-ui.js';
import { acceptedSchema } from '../../../src/contract/chain-resource.js';
import { problemSchema, rejectedListSchema, wholeRejectedSchema } from '../../../src/contract/problem.js';
import { email, type Stack, send, startStack, udf } from '../../end-to-end/stack.js';

const perMinute = 25;
const admin = { kind: 'admin' } as const;

const stack = await startStack({ rateLimitPerMinute: perMinute });

type Company = Awaited<ReturnType<Stack['company']>>;

/** Creates a key of the company. @returns functions that read and resend the company's refused requests with this key. */
async function keyOf({ companyId }: Company) {
  const made = await stack.store.keys.create(companyId, 'console', admin);
  assert(typeof made === 'object');
  const ask = (path = '', method = 'GET', of = companyId, body?: object) =>
    fetch(`${stack.links.api}/co/${of}/rejected${path}`, {
      method,
      headers: { authorization: `Bearer ${made.key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  return {
    ask,
    list: async (query = '') => rejectedListSchema.parse(await (await ask(query)).json()),
    get: async (id: string) => wholeRejectedSchema.parse(await (await ask(`/${id}`)).json()),
    resend: (id: string, body?: object) => ask(`/${id}/resend`, 'POST', companyId, body),
    async only() {
      const { items } = await this.list();
      assert.equal(items.length, 1, JSON.stringify(items));
      return items[0] ?? assert.fail();
    },
  };
}

async function problemOf(response: Response, status: number) {
  const text = await response.text();
  assert.equal(response.status, status, text);
  assert.equal(response.headers.get('content-type'), 'application/problem+json');
  return problemSchema.parse(JSON.parse(text));
}

describe('an invalid chain', () => {
  it('is kept without its tokens; its author gets a notice with the mistake and a way to see the request', async () => {
    const author = 'author@rejected.example';
    const company = await stack.company({ notify: { emails: [author] } });
    const key = await keyOf(company);
    const relayAccesToken = 'a-token-under-a-misspelt-name';
    const answer = await problemOf(
      await company.post([udf('1'), email(['a@x.example'], { delayInSeconds: 'soon', relayAccesToken })]),
      400,
    );
    assert.deepEqual(answer.errors?.map(({ pointer }) => pointer).sort(), ['/1/delayInSeconds', '/1/relayAccesToken']);

    const item = await key.only();
    assert.equal(item.reason, 'invalid-chain');
    assert.deepEqual(item.relayIds, [company.relayId]);
    assert.deepEqual(item.problem, answer);
    const { elements } = await key.get(item.rejectedId);
    assert.deepEqual(elements[0], { relayId: company.relayId, ...udf('1') });
    assert.deepEqual(elements[1], { relayId: company.relayId, ...email(['a@x.example'], { delayInSeconds: 'soon' }) });
    assert.deepEqual((await problemOf(await key.resend(item.rejectedId), 400)).errors?.length, 1);

    for (const address of [author, company.admin]) {
      const [mail] = await stack.mails(address, 1);
      assert.match(mail?.Subject ?? '', /Refused: the list of steps has a mistake \(Test rule\)/);
      const { Text, HTML } = await stack.text(mail ?? assert.fail());
      for (const part of [
        'Step 2: “Wait” must be a time, such as 30 minutes',
        'Rule Test rule, Test company',
        `rule ${company.relayId}, company ${company.companyId}`,
        shownTime(item.receivedAt),
        `/companies/${company.companyId}/refused/${item.rejectedId}`,
      ])
        assert(Text.includes(part), `${part} in ${Text}`);
      for (const secret of [company.relayAccessToken, relayAccesToken]) assert(!`${Text}${HTML}`.includes(secret));
    }
  });

  it('is reported once, for any number of repeats and any values; another mistake is reported too', async () => {
    const company = await stack.company();
    const key = await keyOf(company);
    const mistaken = (condition: string) => company.post([udf('1', { actionCondition: condition })]);
    assert.deepEqual(
      (await Promise.all(['status "a"', 'status "b"', 'status "c"'].map(mistaken))).map(({ status }) => status),
      [400, 400, 400],
    );
    await company.post([udf('1', { delayInSeconds: 'soon' })]);
    await company.post([udf('1', { cfName: undefined })]);
    await stack.mails(company.admin, 3);
    assert.equal((await key.list()).items.length, 5);
    // If this repetition caused a notice, the notice would come before the notice about the next mistake.
    await mistaken('status "d"');
    await company.post([udf('1', { externalSystemTicketId: undefined })]);
    assert.equal((await stack.mails(company.admin, 4)).length, 4);
  });

  it('is reported to each of its rules', async () => {
    const company = await stack.company({ notify: { emails: ['one@rules.example'] } });
    const other = await stack.store.rules.create(
      company.companyId,
      { name: 'Other', onFailure: 'hold', onUnknown: 'resend', notify: { emails: ['two@rules.example'] } },
      admin,
    );
    assert(typeof other === 'object');
    const { relayAccessToken, rule } = other;
    await company.post([
      udf('1', { delayInSeconds: 'soon' }),
      udf('1', { cfName: undefined, relayId: rule.relayId, relayAccessToken }),
    ]);
    const [one] = await stack.mails('one@rules.example', 1);
    const [two] = await stack.mails('two@rules.example', 1);
    const text = async (mail = one) => (await stack.text(mail ?? assert.fail())).Text;
    assert.match(await text(one), /Step 1: “Wait”/);
    assert.doesNotMatch(await text(one), /cfName/);
    assert.match(await text(two), /Step 2: “Ticket field”/);
  });

  it('in a dry run is not kept: the caller reads the answer', async () => {
    const company = await stack.company();
    const body = [
      { relayId: company.relayId, relayAccessToken: company.relayAccessToken, ...udf('1', { delayInSeconds: 'soon' }) },
    ];
    const response = await fetch(`${stack.links.api}/co/${company.companyId}/relay?dryRun=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await problemOf(response, 400);
    assert.deepEqual((await (await keyOf(company)).list()).items, []);
  });
});

describe('a request with tokens that were valid in the past', () => {
  const cases: [reason: string, end: (company: Company) => Promise<unknown>, mend: (company: Company) => Promise<unknown>][] = [
    ['token-expired', ({ companyId, relayId }) => stack.store.tokens.rotate(companyId, relayId, 0, admin), async () => {}],
    [
      'token-revoked',
      async ({ companyId, relayId }) => {
        const [token] = (await stack.store.tokens.list(companyId, relayId)) ?? [];
        await stack.store.tokens.revoke(companyId, relayId, token?.tokenId ?? '', admin);
      },
      async () => {},
    ],
    ['rule-disabled', (company) => enable(company, false), (company) => enable(company, true)],
  ];
  const enable = ({ companyId, relayId }: Company, enabled: boolean) =>
    stack.store.rules.update(companyId, relayId, (rule) => ({ ...rule, enabled }), admin);

  for (const [reason, end, mend] of cases) {
    it(`gets the same answer as a stranger, is kept and reported, and runs when it is resent: ${reason}`, async () => {
      const company = await stack.company();
      const key = await keyOf(company);
      const stranger = await company.post([udf('T', { relayAccessToken: 'wrong' })]);
      await end(company);
      const refused = await company.post([udf(`T-${company.companyId}`)]);
      const same = (response: Response) => [...response.headers].filter(([name]) => name !== 'date');
      assert.deepEqual(same(refused), same(stranger));
      assert.deepEqual(await problemOf(refused, 401), await problemOf(stranger, 401));

      const item = await key.only();
      assert.equal(item.reason, reason);
      assert.equal(item.problem.status, 401);
      assert.match(item.problem.detail, new RegExp(`/0/relay\\w+ .*rule ${company.relayId}`));
      const [mail] = await stack.mails(company.admin, 1);
      const { Text } = await stack.text(mail ?? assert.fail());
      const dead = reason !== 'rule-disabled';
      assert(Text.includes('There you can read the request and decide about it.'), Text);
      assert.doesNotMatch(Text, /relayId|relayAccessToken/);
      assert.equal(item.signature, 'not required');
      if (reason === 'rule-disabled') await problemOf(await key.resend(item.rejectedId), 409);

      await mend(company);
      if (dead) {
        const { detail, errors } = await problemOf(await key.resend(item.rejectedId), 409);
        assert.match(detail, /token that was (revoked|rotated).*\{"confirm": true\}/);
        assert.match(errors?.[0]?.detail ?? '', new RegExp(`^{.*"T-${company.companyId}"`));
        await problemOf(await key.resend(item.rejectedId, { confirm: 'yes' }), 400);
      }
      const again = () => key.resend(item.rejectedId, { confirm: dead });
      const responses = await Promise.all([again(), again()]);
      assert(responses.every(({ status }) => [200, 202, 409].includes(status)));
      const accepted = responses.find(({ status }) => status === 202) ?? assert.fail('one of them starts the chain');
      const { chainId, actions } = acceptedSchema.parse(await accepted.json());
      assert.equal(actions[0]?.action, 'ticket_updateUDF');
      assert.equal((await company.ended(chainId)).status, 'completed');
      assert.equal((await stack.calls(`T-${company.companyId}`)).length, 1);
      assert.match((await problemOf(await key.resend(item.rejectedId), 409)).detail, new RegExp(chainId));
      const { resentAt, chainId: noted } = await key.only();
      assert.equal(noted, chainId);
      assert(resentAt !== undefined);
      const { items } = await stack.store.audit.list({ companyId: company.companyId, limit: 1 });
      assert.deepEqual([items[0]?.action, items[0]?.actor.kind], ['rejected.resend', 'key']);
    });
  }

  it('differs from the request of a stranger, which is not kept', async () => {
    const company = await stack.company();
    const key = await keyOf(company);
    await stack.store.tokens.rotate(company.companyId, company.relayId, 0, admin);
    await problemOf(await company.post([udf('T'), udf('T', { relayAccessToken: 'wrong' })]), 401);
    await problemOf(await company.post([udf('T'), udf('T', { relayId: '1' })]), 401);
    await problemOf(await company.post([udf('T', { relayAccessToken: undefined })]), 401);
    assert.deepEqual((await key.list()).items, []);
  });
});

describe('an edited refused request', () => {
  it('is validated like any request, then runs; the audit log has the change; the sender can repeat the original request', async () => {
    const company = await stack.company();
    const key = await keyOf(company);
    const ticket = `T-${company.companyId}`;
    const wrong = [udf(ticket, { delayInSecond: '0', cfValue: 'two\nlines' }), udf(ticket, { sendRadius: 'far' })];
    await problemOf(await company.post(wrong, { 'webhook-id': 'msg_1' }), 400);
    const { rejectedId } = await key.only();
    const resend = (actions: object) => key.resend(rejectedId, { actions });
    const { errors } = await problemOf(await resend({ 0: { delayInSecond: null, delayInSeconds: 'soon' } }), 400);
    assert.deepEqual(
      errors?.map(({ pointer }) => pointer),
      ['/0/delayInSeconds'],
    );
    for (const nonsense of [
      { 2: { cfValue: 'x' } },
      { 0: { relayId: '1' } },
      { 0: { relayAccessToken: 'x' } },
      { x: {} },
      { 0: 'x' },
      [],
    ])
      await problemOf(await resend(nonsense), 400);
    const mended = { 0: { delayInSecond: null, delayInSeconds: '0', cfValue: 'three\nmore\nlines' } };
    const response = await resend(mended);
    assert.equal(response.status, 202, await response.clone().text());
    const { chainId } = acceptedSchema.parse(await response.json());
    assert.equal((await company.ended(chainId)).status, 'completed');
    const [call] = await stack.calls(ticket);
    assert.match(JSON.stringify(call?.body), /three\\nmore/);
    const { items } = await stack.store.audit.list({ companyId: company.companyId, limit: 1 });
    const places = ['/0/delayInSecond', '/0/delayInSeconds', '/0/cfValue'];
    assert.deepEqual(items[0]?.details, { rejectedId, chainId, mended: places, relayId: company.relayId });
    await problemOf(await resend(mended), 409);
  });
});

describe('an idempotency key', () => {
  it('also protects the resent request, so that a repeat by its sender starts nothing', async () => {
    const company = await stack.company();
    const key = await keyOf(company);
    await stack.store.rules.update(company.companyId, company.relayId, (rule) => ({ ...rule, enabled: false }), admin);
    await problemOf(await company.post([udf('T')], { 'webhook-id': 'msg_1' }), 401);
    const item = await key.only();
    assert.equal(item.idempotencyKey, 'msg_1');
    await stack.store.rules.update(company.companyId, company.relayId, (rule) => ({ ...rule, enabled: true }), admin);
    const first = acceptedSchema.parse(await (await key.resend(item.rejectedId)).json());
    const repeated = await company.post([udf('T')], { 'webhook-id': 'msg_1' });
    assert.equal(repeated.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual(acceptedSchema.parse(await repeated.json()), first);
  });

  it('in a refused request with another body or with two keys: the request is kept, and is resent without a key', async () => {
    const company = await stack.company();
    const key = await keyOf(company);
    await company.post([udf('T1')], { 'idempotency-key': 'k' });
    await problemOf(await company.post([udf('T2')], { 'idempotency-key': 'k' }), 422);
    await problemOf(await company.post([udf('T3')], { 'idempotency-key': 'a', 'webhook-id': 'b' }), 400);
    const { items } = await key.list();
    assert.deepEqual(
      items.map(({ reason }) => reason),
      ['idempotency-key', 'idempotency-key-reused'],
    );
    for (const { rejectedId } of items) assert.equal((await key.resend(rejectedId)).status, 202);
    await stack.mails(company.admin, 2);
  });
});

describe('rate limits', () => {
  it('of a company are in every answer; beyond them a request is kept, and runs when it is resent', async () => {
    const company = await stack.company();
    const key = await keyOf(company);
    const first = await company.post([udf('T', { delayInSeconds: 'soon' })]);
    assert.equal(first.status, 400);
    const share = (response: Response) =>
      ['Limit', 'Remaining', 'Reset'].map((name) => Number(response.headers.get(`RateLimit-${name}`)));
    assert.deepEqual(share(first).slice(0, 2), [perMinute, perMinute - 1]);
    const accepted = await company.post([udf('T')]);
    assert.deepEqual([accepted.status, ...share(accepted).slice(0, 2)], [202, perMinute, perMinute - 2]);

    const rest = await Promise.all(Array.from({ length: perMinute - 2 }, () => company.post([udf('T')])));
    assert(rest.every(({ status }) => status === 202));
    const refused = await company.post([udf(`T-${company.companyId}`)]);
    await problemOf(refused, 429);
    const [limit, remaining, reset = 0] = share(refused);
    assert.deepEqual([limit, remaining], [perMinute, 0]);
    assert(reset >= 1 && reset <= 60);
    assert.equal(refused.headers.get('Retry-After'), String(reset));

    const { items } = await key.list('?limit=1');
    assert.equal(items[0]?.reason, 'rate-limited');
    assert.equal((await key.resend(items[0]?.rejectedId ?? '')).status, 429);
    const mails = await stack.mails(company.admin, 2);
    assert(mails.some(({ Subject }) => Subject.includes('too many requests')));
    assert.equal((await (await stack.company()).post([udf('T')])).status, 202, 'another company has its own share');
  });

  it('of strangers are separate: they neither notify the company nor use its share', async () => {
    const company = await stack.company();
    const wrong = () => company.post([udf('T', { relayAccessToken: 'wrong' })]);
    const answers = await Promise.all(Array.from({ length: failuresPerMinute + 20 }, wrong));
    const refused = answers.filter(({ status }) => status === 429);
    assert(refused.length >= 20);
    assert(answers.every(({ status }) => status === 401 || status === 429));
    for (const response of refused) {
      assert.match(response.headers.get('Retry-After') ?? '', /^[1-9]\d*$/);
      assert.equal(response.headers.get('WWW-Authenticate'), null);
    }
    await problemOf(refused[0] ?? assert.fail(), 429);
    const right = await company.post([udf('T')]);
    assert.deepEqual([right.status, right.headers.get('RateLimit-Remaining')], [202, String(perMinute - 1)]);
    assert.deepEqual((await (await keyOf(company)).list()).items, []);
  });
});

describe('the list of rejected requests', () => {
  it('shows the newest first, page by page, to its company only', async () => {
    const [one, two] = [await stack.company(), await stack.company()];
    const [keyOne, keyTwo] = [await keyOf(one), await keyOf(two)];
    for (const delay of ['a', 'b', 'c']) await one.post([udf('T', { delayInSeconds: delay, comment: delay })]);
    const first = await keyOne.list('?limit=2');
    const second = await keyOne.list(`?limit=2&cursor=${first.nextCursor}`);
    assert.deepEqual([first.items.length, second.items.length, second.nextCursor], [2, 1, undefined]);
    const ids = [...first.items, ...second.items].map(({ rejectedId }) => rejectedId);
    const comments = await Promise.all(ids.map(async (id) => (await keyOne.get(id)).elements[0]?.comment));
    assert.deepEqual(comments, ['c', 'b', 'a']);

    const [id = ''] = ids;
    assert.deepEqual((await keyTwo.list()).items, []);
    const statusOf = async (...request: Parameters<typeof keyOne.ask>) => (await keyTwo.ask(...request)).status;
    // The address has failed so often in this file that it may get 429 instead of 401.
    for (const path of ['', `/${id}`]) assert([401, 429].includes(await statusOf(path, 'GET', one.companyId)));
    assert([401, 429].includes(await statusOf(`/${id}/resend`, 'POST', one.companyId)));
    assert.equal(await statusOf(`/${id}`), 404);
    assert.equal(await statusOf(`/${id}/resend`, 'POST'), 404);
    assert.equal(await statusOf('?cursor=x'), 400);
  });
});

describe('a condition on a missing property', () => {
  it('causes one warning a day for its rule and path, and the chain goes on', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    const asked = (path: string) => company.start([send(assignment, { actionCondition: `${path}==94016` }), udf('T')]);
    const { chainId } = await asked('location.zipp');
    assert.deepEqual(
      (await company.ended(chainId)).actions.map(({ state }) => state),
      ['skipped', 'done'],
    );
    await company.ended((await asked('location.zipp')).chainId);
    await company.ended((await asked('lokation.zip')).chainId);
    const mails = await stack.mails(company.admin, 2);
    assert.deepEqual(mails.map(({ Subject }) => Subject).sort(), [
      '[relay] No such property: location.zipp (Test rule)',
      '[relay] No such property: lokation.zip (Test rule)',
    ]);
    const { Text } = await stack.text(mails.find(({ Subject }) => Subject.includes('zipp')) ?? assert.fail());
    for (const part of [assignment, 'once a day', `/companies/${company.companyId}/chains/${chainId}`])
      assert(Text.includes(part), Text);
  });
});

describe('a notice', () => {
  it('is a separate workflow, found by its company, with rule, mistake and hour in its id', async () => {
    const company = await stack.company();
    await company.post([udf('T', { delayInSeconds: 'soon' })]);
    await stack.mails(company.admin, 1);
    const found = z.array(z.string()).parse(await notices(company));
    assert.match(
      found[0] ?? '',
      new RegExp(`^relay-notice:${company.companyId}:${company.relayId}:[0-9a-f]{16}:\\d{4}-\\d\\d-\\d\\dT\\d\\d$`),
    );
  });

  async function notices({ companyId }: Company): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length === 0)
      for await (const { workflowId } of stack.client.workflow.list({
        query: `WorkflowType = 'NoticeDelivery' AND RelayCompanyId = '${companyId}'`,
      }))
        ids.push(workflowId);
    return ids;
  }
});
