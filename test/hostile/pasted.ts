/**
 * Sends webhook bodies from a correct template, with people's texts pasted into them. Each body has a valid token. The relay must
 * run a body as intended, or keep and report it.
 */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Agent, request } from 'undici';
import { readRequest } from '../../src/chain/request.js';
import { randomFrom } from '../random.js';
import { adminToken } from './api.js';
import type { Ledger } from './ledger.js';

type Element = Record<string, unknown>;

/** The relay under test, and a function that finds the outcome of a body. */
export interface PastedTarget {
  url: string;
  companyId: string;
  read(companyId: string): Promise<Ledger>;
  clear(companyId: string): Promise<void>;
}

const pieces = [
  ...[
    'Late',
    'the valve',
    'Ünïcode',
    'Zürich',
    '😀',
    '👩‍🔧',
    '1',
    ' ',
    ' ',
    '. ',
    '${note}',
    '%22',
    '&quot;',
    '<b>',
    'null',
    '#',
  ],
  ...['"', '"', '"', '\\', '\\\\', '\\"', '\\n', '\\u0041', '\\ud83d', '\\ud83d\\ude00', '\\u0000', '\\x', "'", '“', '`'],
  ...['\n', '\r\n', '\t', '\u0001', '\u001f', '\u007f', '\u0085', '\u2028', '\ufeff', '\0', '\b'],
  ...['}]', '}', ']', '{', '[', '},{', ',', ':', '//', '/*', '*/', '// "', '",', '":"', '","', '"}]'],
  ...[
    '","recipients":"evil@evil.example',
    '","emails":["evil@evil.example"],"x":"',
    '","sendRadius":"500',
    '","delayInSeconds":"5',
  ],
  '"},{"action":"sendEmails","emails":["evil@evil.example"],"subject":"s","body":"b","bodyHtml":"b',
  '","relayAccessToken":"rlt_x","x":"',
];
/** Marks the bytes of half a surrogate pair, which no text can encode. */
const half = '\ue000';

const mark = '\ue001';
const texts = [
  'subject',
  'body',
  'bodyHtml',
  'cfValue',
  'cfName',
  'externalSystemTicketId',
  'groupId',
  'comment',
  'incomingValue',
];

/** Makes a webhook's template. One of its texts contains `mark`. The pasted value replaces the mark. */
function template(one: <Item>(items: readonly Item[]) => Item, rule: Element, comment: string): Element[] {
  const actions = [
    { action: 'sendEmails', emails: ['dispatch@acme.example'], subject: 'About', body: 'Now', bodyHtml: '<p>Now</p>' },
    { action: 'ticket_updateUDF', externalSystemTicketId: 'T1', cfName: 'Late', cfValue: 'yes' },
    { action: 'platform_sendAssignment', platformAssignmentId: '1001', groupId: '501', delayInSeconds: '60' },
  ];
  const elements: Element[] = one([[0], [1], [0, 1], [2, 0], [1, 2, 0]]).map((index) => ({
    ...actions[index],
    ...rule,
    comment,
  }));
  const element = one(elements);
  const own = texts.filter((name) => name in element);
  const name = one([...own, 'incomingValue']);
  element[name] = one([mark, `${element[name] ?? ''} ${mark}`, `${mark}, ${element[name] ?? ''}`]);
  return elements;
}

/** The JSON after the relay's repairs: control characters in texts, and commas before brackets. */
function lenient(text: string): string {
  let [written, isText] = ['', false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') isText = !isText;
    if (!isText && character === ',' && /^,[ \t\n\r]*[}\]]/.test(text.slice(at))) continue;
    const isControl = isText && character < ' ' && character !== '\0';
    written += isControl ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : character;
    if (isText && character === '\\') {
      at += 1;
      written += text.charAt(at);
    }
  }
  return written;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a name occurs twice in one object. @param text - JSON. */
function hasTwice(text: string): boolean {
  const open: Set<string>[] = [];
  const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/gs)].map(([token]) => token);
  return tokens.some((token, place) => {
    if (token === '{' || token === '[') open.push(new Set());
    if (token === '}' || token === ']') open.pop();
    if (tokens[place + 1] !== ':') return false;
    const name = String(parsed(token));
    const isTwice = open.at(-1)?.has(name) ?? false;
    open.at(-1)?.add(name);
    return isTwice;
  });
}

const isElement = (value: unknown): value is Element => typeof value === 'object' && value !== null && !Array.isArray(value);
const unkeepable = (value: unknown): boolean => {
  if (typeof value === 'string') return value.includes('\0') || /\p{Cs}/u.test(value);
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(unkeepable);
};

/** The required outcome of a body. `actions` is absent if no meaning is certain. */
interface Expected {
  /** `meant`: the actions of the template run. `apart`: the pasted text added JSON fields. `broken`: no action may run. */
  kind: 'meant' | 'apart' | 'broken';
  /** The actions that run. */
  actions?: unknown;
}

function expected(body: string, elements: readonly Element[], value: string, rule: Element): Expected {
  const text = lenient(body);
  const read = parsed(text);
  if (body.includes(half) || !Array.isArray(read) || read.length === 0 || !read.every(isElement)) return { kind: 'broken' };
  if (hasTwice(text) || unkeepable(read)) return { kind: 'broken' };
  const own = (element: Element) => Object.entries(rule).every(([name, value]) => element[name] === value);
  if (!read.every(own)) return { kind: 'broken' };
  const asRead = readRequest(read);
  if (!asRead.ok) return { kind: 'broken' };
  const pasted: unknown = parsed(lenient(`"${value}"`));
  const put = (field: unknown) => (typeof field === 'string' ? field.replace(mark, () => String(pasted)) : field);
  const meant = elements.map((element) => Object.fromEntries(Object.entries(element).map(([name, field]) => [name, put(field)])));
  const kind = typeof pasted === 'string' && isDeepStrictEqual(read, meant) ? 'meant' : 'apart';
  return { kind, actions: JSON.parse(JSON.stringify(asRead.actions)) };
}

export interface PastedResult {
  sent: number;
  counts: Record<string, number>;
  wrong: string[];
}

/** The storage of one rule has room for this number of refused requests. */
const batch = 250;
/** The test stops after this number of errors. */
const mostWrong = 50;

export async function pasted(target: PastedTarget, { count, seed }: { count: number; seed: number }): Promise<PastedResult> {
  const { url, companyId } = target;
  const random = randomFrom(seed);
  const below = (most: number) => Math.floor(random() * most);
  const one = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  const counts: Record<string, number> = {};
  const wrong: string[] = [];
  const agent = new Agent();
  // The API refuses an address with too many wrong tokens. This test does not check that limit, so it uses many addresses.
  const agents = Array.from({ length: 250 }, (_, n) => new Agent({ connections: 1, localAddress: `127.8.0.${1 + n}` }));
  const asAdmin = async (method: 'POST' | 'DELETE', path: string): Promise<{ relayId: string; relayAccessToken: string }> => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const body = method === 'POST' ? '{"name":"Late"}' : null;
    const answer = await request(`${url}/admin/companies/${companyId}/rules${path}`, {
      method,
      headers,
      body,
      dispatcher: agent,
    });
    const text = await answer.body.text();
    assert(answer.statusCode < 300, text);
    return text === '' ? { relayId: '', relayAccessToken: '' } : JSON.parse(text);
  };

  interface Sent {
    key: string;
    body: string;
    meant: Expected;
    status: number;
    text: string;
  }

  async function post(key: string, rule: Element): Promise<Sent> {
    const value = Array.from({ length: below(7) }, () => (below(40) === 0 ? half : one(pieces))).join('');
    const elements = template(one, rule, key);
    const body = JSON.stringify(elements, undefined, one([0, 0, 2])).replace(mark, () => value);
    const bytes = Buffer.from(Buffer.from(body).toString('latin1').replaceAll('\xee\x80\x80', '\xed\xa0\xbd'), 'latin1');
    const answer = await request(`${url}/co/${companyId}/relay`, {
      method: 'POST',
      dispatcher: one(agents),
      reset: true, // The server may close an idle connection. The next request on this connection would get no answer.
      body: bytes,
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
    });
    const text = await answer.body.text();
    return { key, body, meant: expected(body, elements, value, rule), status: answer.statusCode, text };
  }

  const note = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };

  /** @returns the error in the outcome; '' if there is none */
  function judge({ key, meant, status, text }: Sent, ledger: Ledger): string {
    const kept = ledger.kept.filter((one) => one.key === key);
    const chainId = status === 202 ? JSON.parse(text).chainId : undefined;
    const started = ledger.started.filter((one) => one.chainId === chainId);
    note(status === 202 ? `${status}, ${meant.kind}` : `${status}, kept: ${kept[0]?.reason}`);
    if (status >= 500) return 'is a 5xx';
    if (kept.length + started.length !== 1) return `is kept ${kept.length} times, and started ${started.length} times`;
    if (status !== 202) {
      if (meant.kind !== 'broken') note(`of these kept although it could be read, ${meant.kind}`);
      return '';
    }
    if (meant.kind === 'broken') return 'is run, though it has no one meaning';
    return isDeepStrictEqual(started[0]?.actions, meant.actions) ? '' : 'is run as something else';
  }

  /** The outcomes of a batch, once every refused request is kept and reported, or a timeout has passed. */
  async function settled(refused: readonly Sent[], relayId: string): Promise<Ledger> {
    for (const until = Date.now() + 10_000; ; await sleep(20)) {
      const ledger = await target.read(companyId);
      const keys = new Set(ledger.kept.map(({ key }) => key));
      const isKept = refused.every(({ key }) => keys.has(key));
      const isTold = ledger.kept.every(({ reason }) => ledger.told.includes(`${relayId} ${reason}`));
      if ((isKept && isTold) || Date.now() > until) return ledger;
    }
  }

  let sent = 0;
  while (sent < count && wrong.length < mostWrong) {
    const made = await asAdmin('POST', '');
    const rule = { relayId: made.relayId, relayAccessToken: made.relayAccessToken };
    const most = Math.min(batch, count - sent);
    const all: Sent[] = [];
    let next = 0;
    const send = async () => {
      while (next < most) {
        next += 1;
        all.push(await post(`${seed}-${sent + next}`, rule));
      }
    };
    await Promise.all(Array.from({ length: 32 }, send));
    sent += most;
    const refused = all.filter(({ status }) => status !== 202);
    const ledger = await settled(refused, rule.relayId);
    for (const one of all) {
      const mistake = judge(one, ledger);
      if (mistake) wrong.push(`${mistake}: ${one.status} ${one.text.slice(0, 200)} for ${JSON.stringify(one.body)}`);
    }
    // Every chain that started belongs to a request that was sent and accepted.
    const accepted = all.length - refused.length;
    if (ledger.started.length !== accepted) wrong.push(`${ledger.started.length} chains were started, and ${accepted} accepted`);
    for (const reason of new Set(ledger.kept.map(({ reason }) => `${rule.relayId} ${reason}`)))
      if (!ledger.told.includes(reason)) wrong.push(`no notice for rule and reason ${reason}`);
    await target.clear(companyId);
    await asAdmin('DELETE', `/${rule.relayId}`);
  }
  await Promise.all([agent, ...agents].map((one) => one.close()));
  return { sent, counts, wrong };
}
