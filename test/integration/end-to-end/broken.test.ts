/** Bodies that a template broke. A body with only one possible meaning runs. Others are kept and reported, and can be resent. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { acceptedSchema } from '../../../src/contract/chain-resource.js';
import { problemSchema, rejectedListSchema, wholeRejectedSchema } from '../../../src/contract/problem.js';
import { actor, adminToken, type Stack, startStack, udf } from '../../end-to-end/stack.js';

const stack = await startStack();
type Company = Awaited<ReturnType<Stack['company']>>;

/** A body with one action. The note is pasted into it as a template does. */
function pasted({ relayId, relayAccessToken }: Pick<Company, 'relayId' | 'relayAccessToken'>, note: string, ticket = 'T') {
  const fields = { ...udf(ticket), relayId, relayAccessToken, comment: 'NOTE' };
  return JSON.stringify([fields]).replace('NOTE', note);
}

function send(companyId: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, query = '') {
  return fetch(`${stack.links.api}/co/${companyId}/relay${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

async function ask(company: Company, path = '', method = 'GET', body?: object) {
  return fetch(`${stack.links.api}/co/${company.companyId}/rejected${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function only(company: Company) {
  const { items } = rejectedListSchema.parse(await (await ask(company)).json());
  assert.equal(items.length, 1, JSON.stringify(items));
  const whole = await (await ask(company, `/${items[0]?.rejectedId}`)).json();
  assert(!JSON.stringify([items, whole]).includes(company.relayAccessToken), 'a token was kept');
  return wholeRejectedSchema.parse(whole);
}

async function problemOf(response: Response, status: number) {
  const text = await response.text();
  assert.equal(response.status, status, text);
  return problemSchema.parse(JSON.parse(text));
}

describe('a body with one meaning', () => {
  it('runs in that meaning; the answer and the chain say what was repaired', async () => {
    const company = await stack.company();
    const body = `{"payload":${pasted(company, 'one\nand a\ttab').replace('}]', ',}]')}}`;
    const response = await send(company.companyId, gzipSync(body), { 'content-type': 'text/plain', 'content-encoding': 'gzip' });
    assert.equal(response.status, 202, await response.clone().text());
    const { chainId, warnings } = acceptedSchema.parse(await response.json());
    for (const what of [/another Content-Type/, /an unescaped line break/, /a comma/, /is an object/])
      assert(
        warnings.some(({ detail }) => what.test(detail)),
        `${what} in ${JSON.stringify(warnings)}`,
      );
    const ended = await company.ended(chainId);
    assert.deepEqual(ended.warnings, warnings);
    assert.equal(ended.actions[0]?.comment, 'one\nand a\ttab');
    const plain = await company.ended((await company.start([udf('T')])).chainId);
    assert.equal(plain.warnings, undefined);
  });
});

describe('a body with a value that may have closed its string', () => {
  it('is kept before its answer, reported with its place, and runs as proposed after a decision', async () => {
    const company = await stack.company();
    const ticket = `T-${company.companyId}`;
    const answer = await problemOf(await send(company.companyId, pasted(company, 'the "blue" door', ticket)), 400);
    assert.match(
      answer.detail,
      /line 1, column \d+: the text of `comment` has a quotation mark directly before `blue`; this mark ends the text too early/,
    );
    assert(!answer.detail.includes(company.relayAccessToken));
    const kept = await only(company);
    assert.deepEqual([kept.reason, kept.relayIds, kept.elements], ['malformed-body', [company.relayId], []]);
    assert.match(kept.problem.detail, /`blue`.*remove from the template all fields in which people write their own text/);
    const { place, text = '' } = kept.body ?? {};
    assert.match(text.slice(place?.offset), /^"blue/);
    assert.match(text, /"relayAccessToken":"\*+"/);
    assert.deepEqual(
      kept.proposal?.map(({ element, authenticated }) => [element.comment, 'relayAccessToken' in element, authenticated]),
      [['the "blue" door', false, true]],
    );
    const [mail] = await stack.mails(company.admin, 1);
    const { Text } = await stack.text(mail ?? assert.fail());
    for (const part of [
      '`blue`',
      'Change the template of the webhook. Inside each text, the platform must write \\" for each quotation mark and \\\\ for each backslash.',
      `/companies/${company.companyId}/refused/${kept.rejectedId}`,
      'Open the request: ',
    ])
      assert(Text.includes(part), `${part} in ${Text}`);
    assert(!Text.includes(company.relayAccessToken));

    const resend = (body?: object) => ask(company, `/${kept.rejectedId}/resend`, 'POST', body);
    assert.match((await problemOf(await resend(), 409)).type, /only-proposed/);
    await problemOf(await resend({ proposed: true, leaveOut: [7] }), 400);
    const response = await resend({ proposed: true, actions: { 0: { cfValue: 'mended' } } });
    assert.equal(response.status, 202, await response.clone().text());
    const { chainId } = acceptedSchema.parse(await response.json());
    assert.equal((await company.ended(chainId)).status, 'completed');
    assert.match(JSON.stringify((await stack.calls(ticket))[0]?.body), /mended/);
    await problemOf(await resend({ proposed: true }), 409);
    assert.match((await problemOf(await ask(company, `/${kept.rejectedId}/drop`, 'POST'), 409)).type, /already-resent/);
    const { items } = await stack.store.audit.list({ companyId: company.companyId, limit: 1 });
    assert.deepEqual(items[0]?.details, {
      rejectedId: kept.rejectedId,
      chainId,
      mended: ['/0/cfValue'],
      proposed: true,
      relayId: company.relayId,
    });
  });

  it('is kept once, however often the platform retries; each kind of mistake causes one notice', async () => {
    const company = await stack.company();
    for (const note of ['a "b" c', 'a "b" c', 'a "b" c', 'd "e" f'])
      await problemOf(await send(company.companyId, pasted(company, note)), 400);
    await problemOf(await send(company.companyId, pasted(company, '\\d')), 400);
    const { items } = rejectedListSchema.parse(await (await ask(company)).json());
    assert.deepEqual(
      items.map(({ repeats }) => repeats),
      [0, 0, 2],
    );
    const subjects = (await stack.mails(company.admin, 2)).map(({ Subject }) => Subject);
    assert.equal(subjects.length, 2);
  });

  it('may have an action without a valid token: this action is shown, and not sent', async () => {
    const company = await stack.company();
    const more = `{"action":"ticket_updateUDF","relayId":"${company.relayId}","comment":"x"}`;
    await problemOf(await send(company.companyId, pasted(company, 'a "b" c').replace(/\]$/, `,${more}]`)), 400);
    const { rejectedId, proposal } = await only(company);
    assert.deepEqual(
      proposal?.map(({ authenticated }) => authenticated),
      [true, false],
    );
    const resend = (body: object) => ask(company, `/${rejectedId}/resend`, 'POST', body);
    const { type, errors } = await problemOf(await resend({ proposed: true, confirm: true }), 409);
    assert.match(type, /not-authenticated/);
    assert.deepEqual(
      errors?.map(({ pointer }) => pointer),
      ['/1'],
    );
    assert.equal((await resend({ proposed: true, leaveOut: [1] })).status, 202);
  });

  it('is dropped once, and cannot be sent after that', async () => {
    const company = await stack.company();
    await problemOf(await send(company.companyId, pasted(company, 'a "b" c')), 400);
    const { rejectedId } = await only(company);
    for (let n = 0; n < 2; n += 1) assert.equal((await ask(company, `/${rejectedId}/drop`, 'POST')).status, 204);
    const { droppedBy, droppedAt } = await only(company);
    assert.deepEqual([droppedBy, droppedAt !== undefined], ['admin', true]);
    assert.match(
      (await problemOf(await ask(company, `/${rejectedId}/resend`, 'POST', { proposed: true }), 409)).type,
      /already-dropped/,
    );
    assert.equal((await ask(company, '/nothing/drop', 'POST')).status, 404);
  });

  const large = (company: Company) => pasted(company, 'x'.repeat(300_000));
  const kept: [
    what: string,
    make: (company: Company) => [string | Uint8Array<ArrayBuffer>, Record<string, string>?],
    status: number,
    reason: string,
  ][] = [
    ['a field twice', (company) => [pasted(company, 'a","cfName":"evil')], 400, 'malformed-body'],
    ['a token twice, the last wrong', (company) => [pasted(company, 'a","relayAccessToken":"rubbish')], 401, 'malformed-body'],
    ['a pasted action', (company) => [pasted(company, 'a"},{"relayId":"1')], 401, 'wrong-token'],
    ['another content type', (company) => [pasted(company, 'a "b"'), { 'content-type': 'text/plain' }], 415, 'malformed-body'],
    ['no list', (company) => [`{"a":1,"b":${pasted(company, 'x')}}`], 400, 'not-actions'],
    ['an unclosed string', (company) => [pasted(company, 'x').slice(0, -5)], 400, 'malformed-body'],
    [
      'an unclosed token',
      (company) => [`[{"relayId":"1","relayAccessToken":"${company.relayAccessToken}`],
      400,
      'malformed-body',
    ],
    ['too large', (company) => [large(company)], 413, 'body-too-large'],
    [
      'too large after decompression',
      (company) => [gzipSync(large(company)), { 'content-encoding': 'gzip' }],
      413,
      'body-too-large',
    ],
    [
      'Latin-1 that is declared as UTF-8',
      (company) => [Buffer.from(pasted(company, 'grün'), 'latin1'), { 'content-type': 'application/json; charset=utf-8' }],
      400,
      'unsupported-body',
    ],
    [
      'too deeply nested',
      (company) => [pasted(company, `x","deep":${'['.repeat(40)}${']'.repeat(40)},"y":"`)],
      400,
      'malformed-body',
    ],
    ['a NUL', (company) => [pasted(company, 'x\u0000y\\u0000')], 400, 'malformed-body'],
  ];
  for (const [what, make, status, reason] of kept)
    it(`is kept, and gets the answer of a stranger: ${what}`, async () => {
      const company = await stack.company();
      const other = await stack.company();
      const stranger = { ...company, relayAccessToken: 'nobody has this token here' } as Company;
      const [body, headers] = make(company);
      const same = (response: Response) => [...response.headers].filter(([name]) => !['date', 'content-length'].includes(name));
      const strange = await send(company.companyId, ...make(stranger));
      const known = await send(company.companyId, body, headers);
      const isAlike = strange.status === status; // false for almost valid JSON: there, a stranger gets no parse error
      if (isAlike) assert.deepEqual(same(known), same(strange));
      const ofColumns = (text: string) => text.replaceAll(/\d+/g, 'n');
      const answer = await problemOf(known, status);
      if (isAlike) assert.equal(ofColumns(answer.detail), ofColumns((await problemOf(strange, status)).detail));
      const row = await only(company);
      assert.equal(row.reason, reason, JSON.stringify(row));
      assert((row.body?.text.length ?? 0) <= 256 * 1024);
      assert.equal(row.body?.cut, reason === 'body-too-large');
      assert.deepEqual(rejectedListSchema.parse(await (await ask(other)).json()).items, []);
    });

  it('in chunks without a length is kept, too', async () => {
    const company = await stack.company();
    const body = large(company);
    const chunks = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < body.length; at += 50_000)
          controller.enqueue(new TextEncoder().encode(body.slice(at, at + 50_000)));
        controller.close();
      },
    });
    const response = await fetch(`${stack.links.api}/co/${company.companyId}/relay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: chunks,
      duplex: 'half',
    } as RequestInit);
    await problemOf(response, 413);
    assert.equal((await only(company)).reason, 'body-too-large');
  });

  it('with an expired token needs a confirmation; a dry run keeps nothing', async () => {
    const company = await stack.company();
    await problemOf(await send(company.companyId, pasted(company, 'a "b" c'), {}, '?dryRun=true'), 400);
    await stack.store.tokens.rotate(company.companyId, company.relayId, 0, actor);
    await problemOf(await send(company.companyId, pasted(company, 'a "b" c')), 400);
    const { reason, proposal } = await only(company);
    assert.deepEqual([reason, proposal?.[0]?.authenticated], ['token-expired', false]);
  });
});
