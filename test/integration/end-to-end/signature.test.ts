/** Companies that require Standard Webhooks. The relay refuses an unsigned or wrongly signed request. */

import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { rejectedListSchema } from '../../../src/contract/problem.js';
import { type Action, adminToken, startStack, udf } from '../../end-to-end/stack.js';

const stack = await startStack();
type Company = Awaited<ReturnType<typeof stack.company>>;

const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
const secretOf = (bytes: Buffer) => `whsec_${bytes.toString('base64')}`;
const key = randomBytes(32);

async function put({ companyId }: Company, webhookSecret: unknown, status = 200) {
  const body = JSON.stringify({ name: 'Test company', notify: { emails: [`admin@${companyId}.example`] }, webhookSecret });
  const response = await fetch(`${stack.links.api}/admin/companies/${companyId}`, { method: 'PUT', headers, body });
  const text = await response.text();
  assert.equal(response.status, status, text);
  return z.looseObject({ webhookSecret: z.string().optional() }).parse(JSON.parse(text)).webhookSecret;
}

const now = () => Math.floor(Date.now() / 1000);
/** Signs as the specification of Standard Webhooks says, without a library. */
function signed(body: string, { id = 'msg_1', at = now(), by = key } = {}) {
  const signature = createHmac('sha256', by).update(`${id}.${at}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` };
}

describe('webhookSecret', () => {
  it('is never shown, stays if it is omitted or sent as its mask, and is removed by null', async () => {
    const company = await stack.company();
    assert.equal(await put(company, secretOf(key)), '***');
    for (const kept of [undefined, '***']) {
      assert.equal(await put(company, kept), '***');
      assert.equal((await stack.store.companies.get(company.companyId))?.webhookSecret, secretOf(key));
    }
    assert.equal(await put(company, null), undefined);
    assert.equal((await stack.store.companies.get(company.companyId))?.webhookSecret, undefined);
  });

  const wrong = [
    '',
    '***',
    'whsec_',
    key.toString('base64'),
    secretOf(randomBytes(23)),
    secretOf(randomBytes(65)),
    'whsec_!!!',
    7,
  ];
  for (const secret of wrong)
    it(`cannot be ${JSON.stringify(secret)}`, async () => void (await put(await stack.company(), secret, 400)));
});

describe('the relay, for a company with a webhookSecret', () => {
  async function companyWithSecret() {
    const company = await stack.company();
    await put(company, secretOf(key));
    const text = (actions: Action[]) =>
      JSON.stringify(
        actions.map((action) => ({ relayId: company.relayId, relayAccessToken: company.relayAccessToken, ...action })),
      );
    const post = (body: string, more: Record<string, string>) =>
      fetch(`${stack.links.api}/co/${company.companyId}/relay`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...more },
        body,
      });
    return { company, post, body: text([udf('T', { comment: 'ünïcode 🎉' })]), text };
  }

  it('accepts valid signatures, once for each webhook-id', async () => {
    const { post, body } = await companyWithSecret();
    const first = await post(body, signed(body));
    assert.equal(first.status, 202, await first.clone().text());
    assert.equal((await post(body, signed(body))).status, 200);
    assert.equal((await post(body, signed(body, { id: 'msg_2' }))).status, 202);
    const both = signed(body, { id: 'msg_3' });
    const rotated = `${signed(body, { id: 'msg_3', by: randomBytes(32) })['webhook-signature']} ${both['webhook-signature']}`;
    assert.equal((await post(body, { ...both, 'webhook-signature': rotated })).status, 202);
  });

  const refused: [what: string, headers: (body: string) => Record<string, string>][] = [
    ['no signature at all', () => ({})],
    ['a header missing', (body) => ({ ...signed(body), 'webhook-timestamp': '' })],
    ['another secret', (body) => signed(body, { by: randomBytes(32) })],
    ['another body', (body) => signed(`${body} `)],
    ['another id', (body) => ({ ...signed(body), 'webhook-id': 'msg_2' })],
    ['a time long past', (body) => signed(body, { at: now() - 600 })],
    ['a future time', (body) => signed(body, { at: now() + 600 })],
    ['a time that is no number', (body) => ({ ...signed(body), 'webhook-timestamp': 'soon' })],
    ['no version', (body) => ({ ...signed(body), 'webhook-signature': signed(body)['webhook-signature'].slice(3) })],
    ['half a signature', (body) => ({ ...signed(body), 'webhook-signature': 'v1,' })],
    ['a bare version', (body) => ({ ...signed(body), 'webhook-signature': 'v1' })],
  ];
  for (const [what, headersOf] of refused) {
    it(`refuses an invalid signature like a stranger's token, and keeps the request: ${what}`, async () => {
      const { company, post, body, text } = await companyWithSecret();
      const response = await post(body, headersOf(body));
      const stranger = await post(text([udf('T', { relayAccessToken: 'wrong' })]), headersOf(body));
      assert.equal(response.status, 401);
      assert.equal(await response.text(), await stranger.text());
      const { items } = rejectedListSchema.parse(
        await (await fetch(`${stack.links.api}/co/${company.companyId}/rejected`, { headers })).json(),
      );
      assert.deepEqual(
        items.map(({ reason }) => reason),
        ['signature'],
      );
      const [item] = items;
      assert(!JSON.stringify(item).includes(key.toString('base64')));
      assert.equal(item?.signature, 'wrong');
      const resend = (body?: string) =>
        fetch(`${stack.links.api}/co/${company.companyId}/rejected/${item?.rejectedId}/resend`, {
          method: 'POST',
          headers,
          ...(body && { body }),
        });
      assert.equal((await resend()).status, 409);
      assert.equal((await resend('{"confirm":true}')).status, 202);
    });
  }

  const verdicts: [what: string, reasons: [signed: string, forged: string], end: (company: Company) => Promise<unknown>][] = [
    [
      'a revoked token',
      ['token-revoked', 'token-revoked'],
      async ({ companyId, relayId }) => {
        const [token] = (await stack.store.tokens.list(companyId, relayId)) ?? [];
        await stack.store.tokens.revoke(companyId, relayId, token?.tokenId ?? '', { kind: 'admin' });
      },
    ],
    [
      'an expired token',
      ['token-expired', 'signature'],
      ({ companyId, relayId }) => stack.store.tokens.rotate(companyId, relayId, 0, { kind: 'admin' }),
    ],
  ];
  for (const [what, reasons, end] of verdicts)
    it(`stores whether a refused request was signed, whatever its other error is: ${what}`, async () => {
      const { company, post, body } = await companyWithSecret();
      await end(company);
      const answers = [await post(body, signed(body)), await post(body, signed(body, { by: randomBytes(32) }))];
      const texts = await Promise.all(answers.map((answer) => answer.text()));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [401, 401],
      );
      assert.equal(texts[0], texts[1]);
      const { items } = rejectedListSchema.parse(
        await (await fetch(`${stack.links.api}/co/${company.companyId}/rejected`, { headers })).json(),
      );
      const [forged, rightly] = items;
      assert.deepEqual([rightly?.reason, forged?.reason], reasons);
      assert.deepEqual([rightly?.signature, forged?.signature], ['right', 'wrong']);
      assert.match(forged?.problem.detail ?? '', /relayAccessToken of rule .*; The signature with the webhookSecret is wrong/);
    });

  it('stores that a request was signed, if its chain has a mistake', async () => {
    const { company, post, text } = await companyWithSecret();
    const body = text([udf('T', { delayInSeconds: 'soon' })]);
    assert.equal((await post(body, signed(body))).status, 400);
    const { items } = rejectedListSchema.parse(
      await (await fetch(`${stack.links.api}/co/${company.companyId}/rejected`, { headers })).json(),
    );
    assert.deepEqual([items[0]?.reason, items[0]?.signature], ['invalid-chain', 'right']);
  });
});
