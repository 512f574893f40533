/**
 * Broken bodies over a real socket, each with a valid token. The test reads the expected results from the lists in
 * docs/limits.md, "What happens to a broken body".
 */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Agent, request } from 'undici';
import { makeCredential } from '../../../src/contract/credential.js';
import { type RejectedRequest, rejectedListSchema, wholeRejectedSchema } from '../../../src/contract/problem.js';
import type { Database, Queries } from '../../../src/store/database.js';
import { adminToken, endlessUses, type HostileApi, serveApi } from '../../hostile/api.js';
import { openEmptied } from '../../store/emptied.js';

/** A body with its `Content-Type` (default: JSON) and its other headers. */
interface Sent {
  body: string | Uint8Array;
  type?: string | undefined;
  headers?: Record<string, string>;
}

interface Row {
  sent(template: Template, token: string): Sent;
  /** For a kept body: its problem's text. */
  says?: RegExp;
  /** For a body that runs: the text of the e-mail. */
  means?: string;
}

/** The body as a webhook's template renders it: `value` is pasted unescaped into the text of an e-mail. */
type Template = (value: string) => string;

const templateOf =
  ({ relayId, token }: { relayId: string; token: string }): Template =>
  (value) => {
    const rule = `"relayId":"${relayId}","relayAccessToken":"${token}"`;
    return (
      `[{"action":"sendEmails",${rule},"emails":["dispatch@acme.example"],"subject":"Late","body":"${value}","bodyHtml":"<p>Late</p>"},` +
      `{"action":"ticket_updateUDF",${rule},"externalSystemTicketId":"T1","cfName":"Late","cfValue":"yes"}]`
    );
  };

const json = (body: Sent['body'], more: Omit<Sent, 'body'> = {}): Sent => ({ body, ...more });
const paste = (value: string, more: Omit<Row, 'sent'> = {}): Row => ({ ...more, sent: (template) => json(template(value)) });
const asType = (type: string | undefined): Row => ({ sent: (template) => ({ body: template('Late'), type }) });
const packed = (pack: (text: string) => Uint8Array, encoding?: string): Row => ({
  sent: (template) => json(pack(template('Late')), { headers: encoding ? { 'content-encoding': encoding } : {} }),
});
const changed = (change: (good: string) => Sent['body'], more: Omit<Row, 'sent'> = {}): Row => ({
  ...more,
  sent: (template) => json(change(template('Late'))),
});
const boundary = '----------------------------735323031399963166993862';
const utf16 = (text: string) => Buffer.from(text, 'utf16le');

/** The rows by their names in the lists of the docs. */
const rows: Record<string, Row> = {
  'a line break in a text': paste('Late\nagain', { means: 'Late\nagain' }),
  'a tab in a text': paste('Late\tagain', { means: 'Late\tagain' }),
  'another control character in a text': paste('Late\u0001again', { means: 'Late\u0001again' }),
  'a comma after the last field': changed((good) => good.replaceAll('"}', '",}')),
  'a comma after the last action': changed((good) => good.replace(/]$/, ',]')),
  'another `Content-Type`': asType('text/plain; charset=utf-8'),
  'no `Content-Type`': asType(undefined),
  'JSON declared as a form': asType('application/x-www-form-urlencoded'),
  'a form with the JSON in its one field': {
    sent: (template) => ({
      body: new URLSearchParams({ payload: template('Late') }).toString(),
      type: 'application/x-www-form-urlencoded',
    }),
  },
  'a multipart form with the JSON in its one field': {
    sent: (template) => ({
      body: `--${boundary}\r\nContent-Disposition: form-data; name="payload"\r\n\r\n${template('Late')}\r\n--${boundary}--\r\n`,
      type: `multipart/form-data; boundary=${boundary}`,
    }),
  },
  'declared Latin-1': {
    means: 'Zürich',
    sent: (template) => ({ body: Buffer.from(template('Zürich'), 'latin1'), type: 'application/json; charset=iso-8859-1' }),
  },
  'undeclared Latin-1': {
    means: 'Zürich',
    sent: (template) => json(Buffer.from(template('Zürich'), 'latin1')),
  },
  'UTF-16 with a byte order mark': {
    means: 'Zürich',
    sent: (template) => json(utf16(`\ufeff${template('Zürich')}`)),
  },
  'UTF-16 without a byte order mark': { means: 'Zürich', sent: (template) => json(utf16(template('Zürich'))) },
  'declared gzip': packed(gzipSync, 'gzip'),
  'undeclared gzip': packed(gzipSync),
  'declared Brotli': packed(brotliCompressSync, 'br'),
  'declared deflate': packed(deflateSync, 'deflate'),
  'one action without a list': {
    sent: (template) => json(JSON.stringify(JSON.parse(template('Late'))[0])),
  },
  'an object whose only field is the list': changed((good) => `{"actions":${good}}`),
  'a quotation mark in a text': paste('The "blue" one', {
    says: /line 1, column \d+: .*`body`.* quotation mark directly before `blue`/is,
  }),
  'a quotation mark at the end of a text': paste('It says "stop"', { says: /line 1, column \d+/i }),
  'a backslash that escapes nothing': paste('C:\\data', { says: /line 1, column \d+: .*backslash/i }),
  'a backslash at the end of a text': paste('C:\\', { says: /line 1, column \d+: .*backslash/i }),
  'half of a surrogate pair': paste('\\ud83d', { says: /surrogate/ }),
  'a NUL character': paste('Late\u0000again', { says: /line 1, column \d+/i }),
  'a field twice': paste('x","emails":["evil@evil.example"],"body":"y', { says: /`?(emails|body)`? .*twice/ }),
  'a value that adds an action': paste('x"},{"action":"sendEmails","emails":["evil@evil.example"],"subject":"y","body":"z'),
  'a value that adds recipients': paste('x","emails":["evil@evil.example"],"cc":"y"z', {
    says: /line 1, column \d+/i,
  }),
  'a field named `__proto__`': changed((good) => good.replace('"subject"', '"__proto__":{},"subject"'), { says: /__proto__/ }),
  'an empty variable without quotation marks': changed(
    (good) => good.replace('"subject":"Late"', '"subject":"Late","delayInSeconds":'),
    { says: /line 1, column \d+: .*`delayInSeconds` has no value/i },
  ),
  'a value without quotation marks': changed((good) => good.replace('"yes"', 'yes'), { says: /line 1, column \d+: .*`yes`/i }),
  'single quotes': changed((good) => good.replaceAll('"', "'"), { says: /line 1, column 3: .*single quot/i }),
  'typographic quotation marks': changed((good) => good.replace('"Late"', '“Late”'), { says: /line 1, column \d+/i }),
  'a comment at the end of a line': changed((good) => good.replace('},', '}, // then\n'), {
    says: /line 1, column \d+: .*comment/i,
  }),
  'a comment in the middle': changed((good) => good.replace('},', '}, /* then */'), { says: /line 1, column \d+: .*comment/i }),
  'the body ends inside a text': changed((good) => good.slice(0, good.indexOf('dispatch')), {
    says: /line 1, column \d+: .*ends/i,
  }),
  'the body ends after an action': changed((good) => good.slice(0, good.indexOf('},') + 1), {
    says: /line 1, column \d+: .*ends/i,
  }),
  'the body ends inside a text with a token': changed((good) => good.slice(0, good.indexOf('","emails"')), { says: /ends/ }),
  'a token twice in one action': changed((good) => good.replace(/("relayAccessToken":"[^"]*")/, '$1,$1'), { says: /twice/ }),
  'a character after the list': changed((good) => `${good};`, { says: /line 1, column \d+: .*`;`/i }),
  'a wrong bracket': changed((good) => good.replace(/}]$/, ']]'), { says: /line 1, column \d+/i }),
  'more than 32 levels': changed((good) => good.replace('"Late"', `${'['.repeat(40)}1${']'.repeat(40)}`), { says: /32 levels/ }),
  'the list in an object with other fields': changed((good) => `{"id":1,"actions":${good}}`, { says: /no list of actions/ }),
  'the JSON as a text in JSON': changed((good) => JSON.stringify(good), { says: /no list of actions/ }),
  'a list of lists': changed((good) => `[${good}]`, { says: /list|array/ }),
  'more than 256 KiB': paste('x'.repeat(300_000), { says: /256 KiB/ }),
  'gzip of more than 256 KiB': {
    says: /256 KiB/,
    sent: (template) => json(gzipSync(template('x'.repeat(30_000_000))), { headers: { 'content-encoding': 'gzip' } }),
  },
  'gzip without its end': {
    sent: (template) => {
      const noise = randomBytes(10_000).toString('hex'); // hard to compress, so that cutting it loses data
      return json(gzipSync(template(noise)).subarray(0, 9_000), { headers: { 'content-encoding': 'gzip' } });
    },
  },
  'a wrong charset': {
    sent: (template) => ({ body: Buffer.from(template('Zürich Ã¼'), 'latin1'), type: 'application/json; charset=utf-8' }),
  },
  'an unknown compression': {
    sent: (template) => json(template('Late'), { headers: { 'content-encoding': 'zstd' } }),
  },
};

/** What the docs say about a body. */
interface Told {
  becomes: string;
  status: number;
  reason: string;
}

function listsInDocs(): Map<string, Told> {
  const limits = readFileSync(new URL('../../../../docs/limits.md', import.meta.url), 'utf8');
  const [, section = ''] = limits.split(/^#+ What happens to a broken body$/m);
  const [upToNext = ''] = section.split(/^#/m);
  // A list begins with `**runs** … (202):` or `**keeps** … (400 \`malformed-body\`):`. Then come bullets such as `- Text: a tab
  // in a text; …`. If the first line has no answer in brackets, each bullet has its own: `- 401 \`wrong-token\`: …`.
  const told = upToNext.split('\n\n').flatMap((paragraph, at, paragraphs) => {
    if (!paragraph.startsWith('- ')) return [];
    const [, becomes = '', common] = /\*\*(\w+)\*\* .*?(?:\((.+)\))?:$/.exec(paragraphs[at - 1] ?? '') ?? [];
    return paragraph.split('\n').flatMap((line) => {
      const [, label = '', bodies = ''] = /^- (.+?): (.+)$/.exec(line) ?? [];
      const [status, reason = ''] = (common ?? label).replaceAll('`', '').split(' ');
      const row = { becomes, status: Number(status), reason };
      return bodies.split('; ').map((what): [string, Told] => [what, row]);
    });
  });
  assert.equal(new Set(told.map(([what]) => what)).size, told.length, 'a body is named twice');
  return new Map(told);
}

interface Started {
  actions: Record<string, unknown>[];
  /** The warnings that the chain keeps. */
  warnings: unknown[];
}

let served: HostileApi;
let storeFails = false;
const chains: Started[] = [];
/** The notices to the contacts of rules, as Temporal gets them. */
const notices: string[] = [];
const agents: Agent[] = [];
let database: Database;

before(async () => {
  database = await openEmptied();
  const failing = (queries: Queries): Queries => ({
    ...queries,
    query: async (text, parameters) => {
      if (storeFails && /INSERT INTO rejected_requests/.test(text)) throw new Error('the disk is full');
      return queries.query(text, parameters);
    },
  });
  const start = async (type: string, { args, memo }: { args: unknown[]; memo?: Record<string, unknown> }) => {
    if (type === 'RuleChain') chains.push({ warnings: [], ...memo, ...(args[0] as Pick<Started, 'actions'>) });
    else notices.push(JSON.stringify(args));
    return {};
  };
  const transaction: Database['transaction'] = (work) => database.transaction((queries) => work(failing(queries)));
  served = await serveApi({ ...database, ...failing(database), transaction }, { uses: endlessUses, workflow: { start } });
});
after(async () => {
  await Promise.all(agents.map((agent) => agent.close()));
  await served.close();
});

let addresses = 0;
/** Posts a body from an address without failures. */
async function post({ body, type, headers, ...sent }: Sent, companyId = 'acme') {
  addresses += 1;
  const dispatcher = new Agent({ localAddress: `127.9.${addresses >> 7}.${1 + (addresses & 127)}` });
  agents.push(dispatcher);
  const contentType = 'type' in sent || type !== undefined ? type : undefined;
  const answer = await request(`${served.url}/co/${companyId}/relay`, {
    method: 'POST',
    dispatcher,
    body,
    headers: { ...(contentType !== undefined && { 'content-type': contentType }), ...headers },
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, text, headers: answer.headers };
}

async function ask(method: 'GET' | 'POST' | 'PUT', path: string, body?: object) {
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
  const answer = await fetch(served.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  return { status: answer.status, text, body: text === '' ? undefined : JSON.parse(text) };
}

/** One rule for each test, because the contacts of a rule get a limited number of notices an hour. */
async function newRule(): Promise<{ relayId: string; token: string }> {
  const { status, text, body } = await ask('POST', '/admin/companies/acme/rules', { name: 'Late' });
  assert.equal(status, 201, text);
  return { relayId: body.relayId, token: body.relayAccessToken };
}

const listed = async (relayId: string) => {
  const items = [];
  for (let cursor = ''; ; ) {
    const page = rejectedListSchema.parse((await ask('GET', `/co/acme/rejected?limit=200${cursor}`)).body);
    items.push(...page.items);
    if (page.nextCursor === undefined) return items.filter(({ relayIds }) => relayIds.includes(relayId));
    cursor = `&cursor=${page.nextCursor}`;
  }
};
const whole = async (rejectedId: string): Promise<RejectedRequest> =>
  wholeRejectedSchema.parse((await ask('GET', `/co/acme/rejected/${rejectedId}`)).body);

/** The body of a row, with the default content type. */
const sentBy = (row: Row, rule: { relayId: string; token: string }): Sent => {
  const sent = row.sent(templateOf(rule), rule.token);
  return 'type' in sent ? sent : { ...sent, type: 'application/json' };
};

describe('keeping a broken body', () => {
  it('allows one decision: drop it, or send it as proposed', async () => {
    const rule = await newRule();
    const kept = async (value: string) => {
      assert.equal((await post(sentBy(paste(value), rule))).status, 400);
      const [newest] = await listed(rule.relayId);
      return `/co/acme/rejected/${newest?.rejectedId}`;
    };
    const dropped = await kept('The "blue" one');
    assert.equal((await ask('POST', `${dropped}/drop`)).status, 204);
    assert.equal((await ask('POST', `${dropped}/drop`)).status, 204);
    assert.match((await ask('POST', `${dropped}/resend`, { proposed: true })).text, /already-dropped/);
    const resent = await kept('The "red" one');
    assert.notEqual((await ask('POST', `${resent}/resend`, {})).status, 202);
    const before = chains.length;
    const answer = await ask('POST', `${resent}/resend`, { proposed: true });
    assert.equal(answer.status, 202, answer.text);
    assert.equal(chains.length, before + 1);
    assert.match(String(chains.at(-1)?.actions[0]?.body), /The "red" one/);
    assert.match((await ask('POST', `${resent}/drop`)).text, /already-resent/);
  });

  it('sends a proposed action only if it had the right token', async () => {
    const rule = await newRule();
    const added = 'x"},{"action":"sendEmails","emails":["evil@evil.example"],"subject":"say "stop" now","body":"z';
    assert.equal((await post(sentBy(paste(added), rule))).status, 400);
    const [kept] = await listed(rule.relayId);
    const at = `/co/acme/rejected/${kept?.rejectedId}`;
    const { proposal = [] } = await whole(kept?.rejectedId ?? '');
    const strange = proposal.flatMap(({ authenticated }, index) => (authenticated ? [] : [index]));
    assert(strange.length > 0, JSON.stringify(proposal));
    const refused = await ask('POST', `${at}/resend`, { proposed: true });
    assert.match(refused.text, /not-authenticated/);
    const before = chains.length;
    const answer = await ask('POST', `${at}/resend`, {
      ...{ proposed: true, leaveOut: strange },
      actions: { 0: { bodyHtml: '<p>Late</p>' } }, // The added action has taken this field of the first action.
    });
    assert.equal(answer.status, 202, answer.text);
    assert.equal(chains.length, before + 1);
    assert(!JSON.stringify(chains.slice(before)).includes('evil@evil.example'));
  });

  it('proposes a reading of each small body, even if many arrive at once', async () => {
    const rule = await newRule();
    const bodies = Array.from({ length: 50 }, (_, n) => sentBy(paste(`The "${n}" one`), rule));
    for (const sent of bodies) assert.equal((await post(sent)).status, 400);
    const kept = await Promise.all((await listed(rule.relayId)).map(({ rejectedId }) => whole(rejectedId)));
    assert.equal(kept.length, bodies.length);
    assert(kept.every(({ proposal }) => proposal?.length === 2));
  });

  it('keeps only one of several identical bodies within ten minutes, and counts all of them', async () => {
    const rule = await newRule();
    const sent = sentBy(paste('The "blue" one'), rule);
    for (let n = 0; n < 3; n += 1) assert.equal((await post(sent)).status, 400);
    assert.deepEqual(
      (await listed(rule.relayId)).map(({ repeats }) => repeats),
      [2],
    );
    await database.query("UPDATE rejected_requests SET received_at = received_at - interval '11 minutes'");
    assert.equal((await post(sent)).status, 400);
    const repeats = (await listed(rule.relayId)).map(({ repeats = 0 }) => repeats);
    assert.deepEqual(repeats.toSorted(), [0, 2]);
  });

  it('never evicts an undecided request, and counts the requests that have no room', async () => {
    const rule = await newRule();
    assert.equal((await post(sentBy(paste('The "first" one'), rule))).status, 400);
    const [first] = await listed(rule.relayId);
    assert(first);
    const large = (n: number) => sentBy(paste(`"${n}" ${'x'.repeat(200_000)}`), rule);
    for (let n = 0; n < 60; n += 1) assert.equal((await post(large(n))).status, 400);
    const small = (n: number) => sentBy(paste(`"${n}"`), rule);
    for (let n = 0; n < 120; n += 1) assert.equal((await post(small(n))).status, 400);
    assert.equal((await whole(first.rejectedId)).body?.text.includes('The "first" one'), true);
    const kept = await database.query('SELECT 1 FROM rejected_requests WHERE $1 = ANY (relay_ids)', [rule.relayId]);
    assert(kept.length < 180, `${kept.length} are kept`);
    assert((await listed(rule.relayId)).some(({ notKept = 0 }) => notKept > 0));
  });

  it('happens before the answer: if the store fails, the answer is 503 with Retry-After, and a repeated request is kept', async () => {
    const rule = await newRule();
    const sent = sentBy(paste('The "blue" one'), rule);
    storeFails = true;
    try {
      const { status, headers, text } = await post(sent);
      assert.equal(status, 503, text);
      assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
      assert(!text.includes('disk'));
    } finally {
      storeFails = false;
    }
    assert.equal((await post(sent)).status, 400);
    assert.equal((await listed(rule.relayId)).length, 1);
  });
});

describe('a broken body with a valid token', () => {
  const documented = listsInDocs();

  it('is tested here for every body in the lists of docs/limits.md', () => {
    assert.deepEqual([...documented.keys()].toSorted(), Object.keys(rows).toSorted());
    assert(documented.size >= 50);
  });

  for (const [what, row] of Object.entries(rows)) {
    const told = documented.get(what);
    it(`${what}: ${told?.becomes}`, async () => {
      const rule = await newRule();
      const before = chains.length;
      const answer = await post(sentBy(row, rule));
      assert.equal(answer.status, told?.status, answer.text);
      const kept = await listed(rule.relayId);
      if (told?.becomes === 'runs') await checkRun(row, answer.text, kept, before);
      else await checkKept(row, rule, kept, before, told);
    });
  }

  async function checkRun(row: Row, text: string, kept: unknown[], before: number): Promise<void> {
    assert.deepEqual(kept, []);
    assert.equal(chains.length, before + 1);
    const { warnings } = JSON.parse(text);
    assert(warnings.length > 0, 'nothing warns of it');
    const chain = chains.at(-1);
    const [email] = chain?.actions ?? [];
    assert.deepEqual(email?.recipients, ['dispatch@acme.example'], JSON.stringify(email));
    assert.equal(email?.body, row.means ?? 'Late');
    const whole = what(row) === 'one action without a list' ? 1 : 2;
    assert.equal(chain?.actions.length, whole);
    assert.deepEqual(chain?.warnings, warnings);
  }

  async function checkKept(
    { says }: Row,
    { relayId, token }: { relayId: string; token: string },
    kept: Awaited<ReturnType<typeof listed>>,
    before: number,
    told: Told | undefined,
  ): Promise<void> {
    assert.equal(chains.length, before, 'it has run, too');
    assert.deepEqual(
      kept.map(({ reason, relayIds }) => ({ reason, relayIds })),
      [{ reason: told?.reason, relayIds: [relayId] }],
    );
    const rejected = await whole(kept[0]?.rejectedId ?? '');
    if (says) assert.match(rejected.problem.detail, says);
    const { body } = rejected;
    if (body?.place) {
      const { line, column, offset } = body.place;
      const before = body.text.slice(0, offset).split('\n');
      assert.deepEqual([before.length, (before.at(-1)?.length ?? 0) + 1], [line, column]);
    }
    const secret = token.slice('rlt_'.length, -8);
    const rows = await database.query('SELECT rejected_requests::text AS said FROM rejected_requests');
    const notice = notices.findLast((said) => said.includes(relayId));
    assert(notice, 'nobody is told');
    for (const said of [JSON.stringify(rejected), JSON.stringify(rows), notice, served.lines.join()])
      assert(!said.includes(secret), 'the token is in what is kept or told');
    assert(JSON.stringify(rejected).length > 100);
  }

  const what = (row: Row) => Object.keys(rows).find((name) => rows[name] === row);
});

describe('a sender without a valid token', () => {
  it('gets the same answer, byte for byte, whether the company and the rule exist or not', async () => {
    const rule = await newRule();
    const { status } = await ask('PUT', '/admin/companies/other', { name: 'Other', timeZone: 'UTC' });
    assert(status < 300);
    const before = chains.length;
    const wrong = makeCredential('rlt_');
    const tried = Object.entries(rows).map(async ([what, row]) => {
      const answers = await Promise.all([
        post(sentBy(row, { ...rule, token: wrong }), 'acme'),
        post(sentBy(row, { ...rule, token: wrong }), 'nobody'),
        post(sentBy(row, rule), 'other'),
        post(sentBy(row, { relayId: '1'.repeat(rule.relayId.length), token: wrong }), 'acme'),
      ]);
      const [first, ...others] = answers.map(({ status, text, headers: { 'content-type': type } }) => ({ status, text, type }));
      for (const other of others) assert.deepEqual(other, first, what);
    });
    await Promise.all(tried);
    assert.equal(chains.length, before);
    assert.deepEqual(await listed(rule.relayId), []);
  });
});
