import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { createHttpClient } from '../../../../src/connectors/http.js';
import { jira } from '../../../../src/connectors/kinds/jira.js';
import { Memory } from '../../../../src/connectors/session.js';
import { createTicketing, type FieldUpdate } from '../../../../src/connectors/tickets.js';
import { createJira, jiraCredentials, jiraDoubts } from '../../../../src/sandbox/vendors/jira.js';
import { describeRequests, sentFor } from '../../../connectors/documented.js';
import { failing } from '../../../connectors/failing.js';
import { describeRandomValues, randomValues } from '../../../connectors/random-values.js';
import { describeTicketSystem } from '../../../connectors/ticket-system.js';
import fixtures from '../../../fixtures/jira.json' with { type: 'json' };
import { served } from '../../../sandbox/vendors.js';

type JiraState = ReturnType<typeof createJira>['state'];
const { email, apiToken, scopedToken } = jiraCredentials;
const settings = { kind: 'jira', site: 'example', email, token: apiToken } as const;
const system = (url: string) => jira({ ...settings, baseUrl: url });

const storedIn =
  (key: string) =>
  ({ fields, issues }: JiraState, name: string) => {
    const field = fields.find((one) => one.isOnScreen && [one.id, one.name.toLowerCase()].includes(name.toLowerCase()));
    return issues.get(key)?.values[field?.id ?? ''] ?? null;
  };
const stored = storedIn('RELAY-1');
/** The texts of the paragraphs of a document. */
const linesOf = (value: unknown) => {
  const texts = z.array(z.object({ text: z.string() })).default([]);
  const { content } = z.object({ content: z.array(z.object({ content: texts })) }).parse(value);
  return content.map((paragraph) => paragraph.content.map(({ text }) => text).join(''));
};

describeTicketSystem({
  kind: 'jira',
  doubts: jiraDoubts,
  create: (doubts) => createJira({ doubts }),
  system,
  ticket: { id: 'RELAY-1' }, // An issue needs no look-up.
  writeMethod: 'PUT',
  sets: [
    { field: 'Site note', value: 'Back door', stored: 'Back door' },
    { field: 'site note', value: '', stored: null },
    { field: 'customfield_10011', value: 'By its id', stored: 'By its id' },
    { field: 'Summary', value: 'Replace two tills', stored: 'Replace two tills' },
    { field: 'Report', value: 'Two tills\r\n\nOne is new', stored: ['Two tills', '', 'One is new'] },
    { field: 'Description', value: 'One\u2028line', stored: ['One\u2028line'] },
    { field: 'Arrival', value: '2026-01-05T14:00:00.987Z', stored: '2026-01-05T14:00:00.000Z' },
    { field: 'Arrival', value: '1767625200', text: '05.01.2026', hasPattern: true, stored: '2026-01-05T15:00:00.000Z' },
    { field: 'Visit day', value: '2026-01-05', stored: '2026-01-05' },
    // This is 05:00 UTC of the next day. The stored day is the day in the company's time zone.
    { field: 'Visit day', value: '2026-01-05T23:00:00-06:00', stored: '2026-01-05' },
    { field: 'Visit result', value: 'done', stored: '10101' },
    { field: 'Hours on site', value: ' 3.50 ', stored: 3.5 },
    { field: 'Skills', value: 'Wireless', stored: ['10202'] },
    { field: 'Skills', value: 'wireless, Cabling', stored: ['10202', '10201'] },
    { field: 'Photos', value: 'https://example.com/photos', stored: 'https://example.com/photos' },
  ],
  refuses: [
    { field: 'Visit result', value: 'Cancelled', says: /not one of the options: Done, Return needed/ },
    { field: 'Skills', value: 'Cabling,', says: /not one of the options: Cabling, Wireless/ },
    { field: 'Hours on site', value: '1,5', says: /not a number/ },
    { field: 'Site note', value: 'x'.repeat(256), says: /256 characters, but the field takes at most 255/ },
    { field: 'Arrival', value: 'soon', says: /not a date or time/ },
    { field: 'Visit day', value: '05/Jan/26', says: /not a date or time/ },
    { field: 'Door code', value: 'x', says: /edit screen.*does not have the field.*no right to edit/ },
    { field: 'Imported from', value: 'x', says: /edit screen.*does not have the field.*no right to edit/ },
    { field: 'customfield_10019', value: '2026-01-05', says: /no ticket field/ }, // Two fields are called Arrival. This field is hidden.
  ],
  stored: (state, field) => {
    const value = stored(state, field);
    return ['Report', 'Description'].includes(field) && value !== null ? linesOf(value) : value;
  },
  note: { field: 'Site note', value: 'Ring twice' },
  failures: [
    { fault: { name: 'credentials' }, kind: 'permanent', title: /does not accept the credentials/ },
    { fault: { name: 'unavailable' }, kind: 'retryable', title: /does not work at the moment/, retryAfter: 30 },
    { fault: { name: 'validation' }, kind: 'permanent', title: /refused the change of issue RELAY-1/ },
    { fault: { name: 'permission' }, kind: 'permanent', title: /does not let the relay set the field in issue RELAY-1/ },
    { fault: { name: 'dropped-field' }, kind: 'permanent', title: /did not keep the new value/ },
  ],
});

describe('jira', () => {
  describeRequests(
    fixtures,
    () =>
      sentFor(createJira(), system, 'RELAY-1', [
        ['Site note', 'Use the back door'],
        ['Arrival', '2026-01-05T14:00:00Z'],
        ['Visit day', '2026-01-05'],
        ['Visit result', 'Done'],
        ['Skills', 'Wireless'],
        ['Hours on site', '3'],
        ['Report', 'Two tills\nOne is new'],
        ['Summary', 'Replace two tills'],
      ]),
    [
      { fixture: 'the current user, as a cheap call with credentials' },
      { fixture: 'the fields, whose names are not unique' },
      { fixture: 'the fields that can be edited, with their options' },
      { fixture: 'a line of text: 204 without a body, and other fields stay' },
      { fixture: 'a date-time with an offset without colon' },
      { fixture: 'a date-time with an offset without colon', exchange: 1 },
      { fixture: 'a date' },
      { fixture: 'a select takes the value or the id of an option' },
      { fixture: 'a list of options' },
      { fixture: 'a number is bare' },
      { fixture: 'several lines of text are a document' },
      { fixture: 'the summary' },
    ],
  );

  const http = createHttpClient({ allowPrivateNetworks: true });
  const simulator = served(createJira);
  const call = { timeoutMs: 15_000 };
  const ticketing = (connection = system(simulator.url), memory = new Memory()) => createTicketing(connection, http, memory);
  const update = (value: string, more: Partial<FieldUpdate> = {}): FieldUpdate => {
    return { ticketId: 'RELAY-1', name: 'Site note', text: value, value, hasPattern: false, timeZone: 'UTC', ...more };
  };
  const paths = () => simulator.vendor.state.calls.map(({ method, path }) => `${method} ${path}`);
  const changes = () => paths().filter((path) => path.startsWith('PUT'));
  const fail = (fault: object) => {
    simulator.vendor.faults.now = simulator.vendor.faults.schema.parse(fault);
  };

  it('reads the fields of each issue anew, and reads a change back', async () => {
    const memory = new Memory();
    await ticketing(undefined, memory).setField(update('one'), call);
    simulator.vendor.state.calls.length = 0;
    await ticketing(undefined, memory).setField(update('two', { ticketId: 'RELAY-2' }), call);
    const path = '/rest/api/3/issue/RELAY-2';
    assert.deepEqual(paths(), [`GET ${path}/editmeta`, `GET ${path}`, `PUT ${path}`, `GET ${path}`]);
  });

  it('finds an issue by its id, by its key in small letters, and by the key that it had before it was moved', async () => {
    for (const [ticketId, key] of [
      ['10001', 'RELAY-1'],
      ['relay-1', 'RELAY-1'],
      ['OLD-7', 'RELAY-2'],
    ] as const) {
      await ticketing().setField(update(`as ${ticketId}`, { ticketId }), call);
      assert.equal(storedIn(key)(simulator.vendor.state, 'Site note'), `as ${ticketId}`);
    }
  });

  it('says that a missing issue may be hidden, and makes no request for an invalid key', async () => {
    const hidden = await failing(ticketing().setField(update('x', { ticketId: 'SECRET-1' }), call));
    assert.equal(hidden.facts.title, "Issue SECRET-1 does not exist at Jira, or the relay's user has no right to see it");
    assert.match(hidden.message, /answered 404: Issue does not exist or you do not have permission to see it\.$/);
    simulator.vendor.state.calls.length = 0;
    for (const ticketId of ['RELAY-1/editmeta', 'RELAY-1?fields=x', '../myself', 'RELAY', ''])
      assert.match((await failing(ticketing().setField(update('x', { ticketId }), call))).facts.title ?? '', /does not exist/);
    assert.equal(simulator.vendor.state.calls.length, 0);
  });

  it('names three causes if a field cannot be set, before a change or after it', async () => {
    const causes =
      /not on the edit screen of the issue, the issue does not have the field, or the relay's user has no right to edit/;
    const locked = await failing(ticketing().setField(update('x', { ticketId: 'LOCKED-1' }), call));
    assert.match(locked.message, /the field "Site note" cannot be written/);
    assert.match(locked.facts.remedy ?? '', causes);
    assert.equal(changes().length, 0);
    fail({ name: 'permission' });
    const taken = await failing(ticketing().setField(update('x'), call));
    assert.match(taken.message, /answered 400: Field 'customfield_10011' cannot be set\. It is not on the appropriate screen/);
    assert.match(taken.facts.remedy ?? '', causes);
    assert.ok((taken.facts.title ?? '').length <= 200 && (taken.facts.remedy ?? '').length <= 300);
  });

  it('names the ids of editable fields with the same name, and finds a field by its id', async () => {
    const { fields } = simulator.vendor.state;
    for (const field of fields) if (field.name === 'Arrival') field.isOnScreen = true;
    const time = '2026-01-05T14:00:00Z';
    const error = await failing(ticketing().setField(update(time, { name: 'Arrival' }), call));
    assert.match(error.facts.remedy ?? '', /Use the id of one field as cfName: customfield_10010, customfield_10019/);
    await ticketing().setField(update(time, { name: 'customfield_10019' }), call);
    assert.equal(stored(simulator.vendor.state, 'customfield_10019'), '2026-01-05T14:00:00.000Z');
  });

  it('says which fields it cannot set', async () => {
    const { fields } = simulator.vendor.state;
    for (const field of fields) if (['Status', 'Imported from'].includes(field.name)) field.isOnScreen = true;
    const status = await failing(ticketing().setField(update('Done', { name: 'Status' }), call));
    assert.match(status.message, /the relay cannot set fields of the type status/);
    const imported = await failing(ticketing().setField(update('x', { name: 'Imported from' }), call));
    assert.match(imported.message, /the relay cannot set fields of the type readonlyfield/);
  });

  it('compares the text of a document, whatever its formatting is', async () => {
    const text = (words: string, more = {}) => ({ type: 'text', text: words, ...more });
    const paragraph = (...content: object[]) => ({ type: 'paragraph', attrs: { localId: 'a' }, content });
    const item = (words: string) => ({ type: 'listItem', content: [paragraph(text(words))] });
    const issue = simulator.vendor.state.issues.get('RELAY-1');
    assert.ok(issue);
    const has = async (words: string, content: object[]) => {
      issue.values.customfield_10012 = { version: 1, type: 'doc', content };
      const { note } = await ticketing().setField(update(words, { name: 'Report' }), call);
      return /had this value already/.test(note ?? '');
    };
    const strong = text('tills', { marks: [{ type: 'strong' }] });
    assert.ok(await has('Two tills', [paragraph(text('Two '), strong)]));
    assert.ok(await has('Two\ntills', [paragraph(text('Two'), { type: 'hardBreak' }, strong)]));
    assert.ok(await has('Two\ntills', [{ type: 'bulletList', content: [item('Two'), item('tills')] }]));
    assert.ok(await has('Ask @Kim', [paragraph(text('Ask '), { type: 'mention', attrs: { id: '1', text: '@Kim' } })]));
    assert.ok(await has('', [paragraph()]));
    assert.ok(!(await has('Two tills', [paragraph(text('Two tills')), { type: 'rule' }])));
    assert.ok(!(await has('Two tills', [paragraph(text('Two')), paragraph(strong)])));
  });

  it('waits as long as Jira demands, if the answer says how long', async () => {
    for (const retryAfterIsSent of [true, false])
      for (const name of ['rate-limit', 'issue-limit'] as const) {
        const vendor = createJira({ doubts: { retryAfterIsSent } });
        vendor.faults.now = vendor.faults.schema.parse({ name });
        const error = await failing(sentFor(vendor, system, 'RELAY-1', [['Site note', 'x']]));
        assert.deepEqual([error.kind, error.facts.retryAfterSeconds], ['retryable', retryAfterIsSent ? 5 : undefined]);
        assert.match(error.facts.title ?? '', /no more requests/);
        assert.match(error.message, /answered 429: The request has been rate-limited/);
      }
  });

  it('uses the address with the cloud id for a token with scopes', async () => {
    const scoped = jira({ ...settings, token: scopedToken, baseUrl: simulator.url });
    const memory = new Memory();
    await ticketing(scoped, memory).setField(update('scoped'), call);
    assert.equal(stored(simulator.vendor.state, 'Site note'), 'scoped');
    await ticketing(scoped, memory).setField(update('again'), call);
    assert.equal(paths().filter((path) => path.endsWith('/myself')).length, 1);
    const [lookUp] = simulator.vendor.state.calls.filter(({ path }) => path === '/_edge/tenant_info');
    assert.equal(lookUp?.headers.authorization, undefined);
  });

  it('sends credentials to the site and to api.atlassian.com only', async () => {
    const asked: string[] = [];
    const access = (answers: (path: string) => unknown) =>
      jira(settings).access((async (schema: z.ZodType, { baseUrl }: { baseUrl: string }, { path }: { path: string }) => {
        asked.push(`${baseUrl}${path}`);
        return schema.parse(answers(path));
      }) as never);
    assert.equal((await access(() => ({}))).baseUrl, 'https://example.atlassian.net/rest/api/3');
    assert.deepEqual(asked, ['https://example.atlassian.net/rest/api/3/myself']);
    const cloudIds = ['11223344-a1b2-3b33-c444-def123456789', '../../evil', 'x@evil.example/'];
    for (const cloudId of cloudIds) {
      simulator.vendor.state.cloudId = cloudId;
      simulator.vendor.state.calls.length = 0;
      const scoped = jira({ ...settings, token: scopedToken, baseUrl: simulator.url });
      const outcome = await ticketing(scoped)
        .setField(update(cloudId), call)
        .catch((error: unknown) => error);
      assert.equal(outcome instanceof Error, cloudId !== cloudIds[0]);
      if (outcome instanceof Error) assert.deepEqual(paths(), ['GET /rest/api/3/myself', 'GET /_edge/tenant_info']);
    }
  });

  it('reports wrong credentials, even if Jira answers as to an anonymous user', async () => {
    for (const wrongCredentialsAreAnonymous of [true, false]) {
      const vendor = createJira({ doubts: { wrongCredentialsAreAnonymous } });
      const wrong = (url: string) => jira({ ...settings, token: 'wrong-token', baseUrl: url });
      const error = await failing(sentFor(vendor, wrong, 'RELAY-1', [['Site note', 'x']]));
      assert.deepEqual([error.kind, error.facts.title], ['permanent', 'Jira does not accept the credentials']);
      assert.doesNotMatch(`${error.message} ${error.facts.remedy}`, /wrong-token/);
      // The token is revoked while the relay remembers the address.
      const revoked = createJira({ doubts: { wrongCredentialsAreAnonymous } });
      const later = sentFor(revoked, (url) => revokedAfter(system(url), revoked.state), 'RELAY-1', [['Site note', 'x']]);
      assert.equal((await failing(later)).facts.title, 'Jira does not accept the credentials');
    }
  });

  it('says that the site does not exist', async () => {
    fail({ name: 'html', status: 404 });
    const error = await failing(ticketing().setField(update('x'), call));
    assert.deepEqual([error.kind, error.facts.title], ['permanent', 'There is no Jira at this address']);
  });

  it('sets a field although the list of all fields is too long', async () => {
    fail({ name: 'huge', path: '/rest/api/3/field' });
    await ticketing().setField(update('set'), call);
    assert.equal(stored(simulator.vendor.state, 'Site note'), 'set');
    await failing(ticketing().check(call));
  });

  it('checks the right to edit if it has an issue', async () => {
    await ticketing().check(call, { fields: ['Arrival', 'Door code'] });
    await ticketing().check(call, { fields: ['Arrival'], ticketId: 'RELAY-1' });
    for (const [field, ticketId] of [
      ['Door code', 'RELAY-1'],
      ['Site note', 'LOCKED-1'],
    ] as const)
      assert.match((await failing(ticketing().check(call, { fields: [field], ticketId }))).facts.title ?? '', /cannot change/);
    assert.equal(changes().length, 0);
  });

  it('says that an answer has an unknown form', async () => {
    const odd = { ...system(simulator.url), access: async () => ({ baseUrl: `${simulator.url}/_edge/tenant_info?` }) };
    const error = await failing(ticketing(odd).setField(update('x'), call));
    assert.deepEqual([error.kind, error.facts.title], ['permanent', 'Jira answered in an unknown format']);
  });
});

/** The same system, but its token is revoked after the first look-up of the address. */
function revokedAfter(connection: ReturnType<typeof system>, { credentials }: JiraState): ReturnType<typeof system> {
  return {
    ...connection,
    access: async (read) => {
      const access = await connection.access(read);
      credentials.apiToken = 'another';
      return access;
    },
  };
}

const changeSchema = z.object({ fields: z.record(z.string(), z.unknown()) });
/** Converts a written or a stored value to the same form: an option to its id, a time to UTC, a document to its lines. */
const plain = (value: unknown): unknown => {
  const option = z.object({ value: z.string() }).safeParse(value).data?.value;
  if (option) return { Done: '10101', 'Return needed': '10102', Cabling: '10201', Wireless: '10202' }[option];
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null) return linesOf(value).join('\n');
  return typeof value === 'string' && /\.000\+0000$/.test(value) ? value.replace('+0000', 'Z') : value;
};

for (const wrong of [false, true])
  describeRandomValues(`jira with doubts ${wrong}`, {
    create: () =>
      createJira({ doubts: { lineBreaksInTextAreRefused: wrong, documentsGetIds: wrong, datesAreShownInUtc: !wrong } }),
    system,
    ticketId: 'RELAY-1',
    fields: {
      ...(!wrong && {
        'Site note': randomValues.text,
        'Hours on site': randomValues.number,
        'Visit day': randomValues.time,
        'Visit result': randomValues.choice('Done', 'Return needed', 'Cancelled'),
        Skills: randomValues.choice('Cabling', 'wireless', 'Wireless, Cabling', 'Wireless;Cabling'),
      }),
      Report: randomValues.text,
      Arrival: randomValues.time,
    },
    stored: (state, field) => plain(stored(state, field)),
    written: (body) => plain(Object.values(changeSchema.parse(body).fields)[0]),
  });
