/**
 * Sends hostile requests to the API: every route and method, bytes and JSON of any kind, broken HTTP, wrong and valid tokens.
 */

import { connect } from 'node:net';
import { Agent, request } from 'undici';
import { randomFrom } from '../random.js';
import type { HostileApi } from './api.js';
import { fieldNames, fieldTexts, hostileBodies } from './bodies.js';

export type Target = Omit<HostileApi, 'close' | 'lines'>;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const rawRequests = [
  'POST /co/acme/relay HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST /co/acme/relay HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n[]\r\n0\r\n\r\n',
  'POST /co/acme/relay HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n2\r\n[]\r\n0\r\n\r\n',
  'POST /co/acme/relay HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n',
  'GET /co/acme/chains HTTP/9.9\r\nHost: localhost\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a b\r\n\r\n',
  `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
  'POST /co/acme/relay HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n[',
  '\u0000\u0001\u0002\r\n\r\n',
];
const names = [...fieldNames, '__proto__', 'name', 'notify', 'verb', 'filter', 'confirm'];
const texts = [
  ...fieldTexts,
  ...['', ' '.repeat(3000), '\\"'.repeat(2000), '${'.repeat(2000), '\ud83d', '\u0000', '😀'.repeat(500), '9'.repeat(400)],
];

/** @returns the number of answers by status, and the answers that are wrong */
export async function fuzz(
  target: Target,
  { count, seed, until = Number.POSITIVE_INFINITY }: Record<'count' | 'seed', number> & { until?: number },
) {
  const random = randomFrom(seed);
  const below = (most: number) => Math.floor(random() * most);
  const one = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const { url, port, companyId, relayId, relayAccessToken, key } = target;
  const right = JSON.stringify({ relayId, relayAccessToken }).slice(1, -1);
  const known = hostileBodies(right);

  const value = (depth = 0): unknown => {
    const kind = below(depth > 4 ? 5 : 8);
    if (kind < 3) return one(texts);
    if (kind === 3) return one([0, -1, 1e308, 1e-7, 2 ** 53, true, false, null]);
    if (kind === 4) return String.fromCodePoint(...Array.from({ length: below(20) }, () => below(0xd7ff)));
    if (kind === 5) return Array.from({ length: below(5) }, () => value(depth + 1));
    return Object.fromEntries(Array.from({ length: below(5) }, () => [one(names), value(depth + 1)]));
  };
  const action = () => ({
    action: one(['platform_sendAssignment', 'sendEmails', 'ticket_updateUDF', 'toString']),
    ...{ platformAssignmentId: '1', groupId: '1', emails: ['a@x.example'], subject: 's', body: 'b', bodyHtml: 'h' },
    ...{ externalSystemTicketId: '1', cfName: 'f', cfValue: 'v' },
    ...(below(3) === 0 ? {} : Object.fromEntries(Array.from({ length: below(4) }, () => [one(names), value()]))),
    ...{ relayId, relayAccessToken },
  });
  const bytes = () => Buffer.from(Array.from({ length: below(300) }, () => below(256)));
  const cut = (text: string) => {
    const whole = Buffer.from(text);
    const [from, length] = [below(whole.length), below(20)];
    return Buffer.concat([whole.subarray(0, from), one([Buffer.alloc(0), bytes()]), whole.subarray(from + length)]);
  };
  const body = () => {
    const chain = () => JSON.stringify(Array.from({ length: 1 + below(4) }, action));
    const strange = () => chain().replaceAll(relayAccessToken, one(['wrong', relayAccessToken.slice(1), 'x'.repeat(36)]));
    return one([
      bytes,
      strange,
      ...Array<() => string>(24).fill(chain),
      () => cut(chain()),
      () => JSON.stringify(value()),
      () => one(known).body,
    ])();
  };
  const segment = () =>
    one([companyId, 'nobody', relayId, 'bulk', '%00', '%ff', '..', 'x'.repeat(300), "'; --", String(below(9)), 'retry']);
  const ofRelay = () =>
    `/co/${companyId}/relay${one([...Array(24).fill(''), ...Array(4).fill('?dryRun=true'), '?dryRun=', '?%'])}`;
  const path = () =>
    one([
      ...Array<() => string>(16).fill(ofRelay),
      () => `/co/${segment()}/relay`,
      () => `/co/${companyId}/chains/${one(['', '?limit=x', '?cursor=00000000.x', '?status=failed', 'bulk', segment()])}`,
      () => `/co/${companyId}/chains/${segment()}/actions/${segment()}/${segment()}`,
      () => `/co/${segment()}/${one(['chains', 'rejected'])}/${segment()}/${one(['', 'cancel', 'resend'])}`,
      () => `/admin/companies/${segment()}/${one(['', 'rules', 'keys', 'pause', `rules/${segment()}`])}`,
      () =>
        `/${one(['healthz', 'readyz', 'metrics', 'openapi.json', 'docs', 'session', 'codec/decode', 'chains', 'problems/x'])}`,
      () => `/${segment()}/${segment()}`,
    ])();

  const answers: Record<string, number> = {};
  const wrong: string[] = [];
  let authenticated = 0;
  // After some failures, the API refuses nearly all requests of an address. So the requests come from several addresses.
  const dispatchers = Array.from(
    { length: 300 },
    (_, n) => new Agent({ connections: 2, localAddress: `127.7.${n >> 7}.${1 + (n & 127)}` }),
  );
  const shunned = new Agent({ connections: 4 });
  const note = (answer: string, what: string) => {
    answers[answer] = (answers[answer] ?? 0) + 1;
    // 503 is the documented answer if a backend is down.
    if (/^5/.test(answer) && answer !== '503') wrong.push(`${answer}: ${what.slice(0, 500)}`);
  };

  async function raw(text: string): Promise<void> {
    const socket = connect(port, '127.0.0.1');
    const answer = await new Promise<string>((resolve) => {
      let said = '';
      socket.setEncoding('utf8').on('data', (data) => {
        said += data;
        socket.destroy();
      });
      socket.on('error', () => {}).on('close', () => resolve(said));
      // A request that waits for more bytes is abandoned after a moment.
      socket.setTimeout(200, () => socket.destroy());
      socket.write(text);
    });
    note(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'none', text);
  }

  async function http(): Promise<void> {
    const where = path();
    const method = below(where.includes('/relay') ? 20 : 2) === 0 ? one(methods) : 'POST';
    const sent = method === 'GET' ? undefined : body();
    const headers: Record<string, string> = {
      'content-type': one([...Array(17).fill('application/json'), 'text/plain', '', 'application/x+json;']),
      ...(below(4) > 0 && { authorization: one([...Array(5).fill(`Bearer ${key}`), 'Bearer x', 'Basic eDp5', 'Bearer']) }),
      ...(below(4) === 0 && { 'idempotency-key': one(['a', '"b"', '""', 'x'.repeat(300)]) }),
      ...(below(20) === 0 && { 'content-encoding': 'gzip', cookie: `relay=${'x'.repeat(below(3000))}` }),
    };
    try {
      const dispatcher = below(10) === 0 ? shunned : one(dispatchers);
      const answer = await request(url + where, { method, headers, body: sent ?? null, dispatcher });
      await answer.body.dump({ limit: 1e9 });
      // Only an authenticated caller gets the company's remaining quota.
      if (answer.statusCode !== 429 && answer.headers['ratelimit-remaining'] !== undefined) authenticated += 1;
      note(String(answer.statusCode), `${method} ${where} ${String(sent ?? '')}`);
    } catch (error) {
      note(`no answer: ${error instanceof Error ? error.message : ''}`, where);
    }
  }

  let sent = 0;
  const send = async () => {
    while (sent < count && Date.now() < until) {
      sent += 1;
      await (below(50) === 0 ? raw(one(rawRequests)) : http());
    }
  };
  // Sends many requests in parallel, because the API delays many of its answers to wrong tokens.
  await Promise.all(Array.from({ length: 128 }, send));
  await Promise.all([shunned, ...dispatchers].map((dispatcher) => dispatcher.close()));
  return { sent, authenticated, answers, wrong };
}
