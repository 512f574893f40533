import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { createHttpClient } from '../../../../src/connectors/http.js';
import { connectwise } from '../../../../src/connectors/kinds/connectwise.js';
import { Memory } from '../../../../src/connectors/session.js';
import { createTicketing, type FieldUpdate } from '../../../../src/connectors/tickets.js';
import { connectwiseCredentials, connectwiseDoubts, createConnectwise } from '../../../../src/sandbox/vendors/connectwise.js';
import { describeRequests, documented, sentFor } from '../../../connectors/documented.js';
import { failing } from '../../../connectors/failing.js';
import { describeRandomValues, randomValues } from '../../../connectors/random-values.js';
import { describeTicketSystem } from '../../../connectors/ticket-system.js';
import fixtures from '../../../fixtures/connectwise.json' with { type: 'json' };
import { served } from '../../../sandbox/vendors.js';

type ConnectwiseState = ReturnType<typeof createConnectwise>['state'];
const site = 'na.myconnectwise.net';
const system = (url: string) => connectwise({ kind: 'connectwise', site, ...connectwiseCredentials, baseUrl: url });
const fieldId = (state: ConnectwiseState, field: string) =>
  state.fields.find(({ caption, podId }) => podId === 1 && caption.toLowerCase() === field.toLowerCase())?.id ?? 0;
const storedIn = (ticket: number) => (state: ConnectwiseState, field: string) =>
  state.tickets.get(ticket)?.values[fieldId(state, field)] ?? null;

describeTicketSystem({
  kind: 'connectwise',
  doubts: connectwiseDoubts,
  create: (doubts) => createConnectwise({ doubts }),
  system,
  ticket: { id: '5000', number: '5000' },
  writeMethod: 'PATCH',
  sets: [
    { field: 'Site note', value: 'Back door', stored: 'Back door' },
    { field: 'site note', value: '', stored: null },
    { field: 'Report', value: 'First\nsecond\r\nthird', stored: 'First second third' },
    { field: 'Hours', value: '2.25', stored: 2.25 },
    { field: 'Progress', value: '40', stored: 40 },
    { field: 'Visited', value: 'yes', stored: true },
    { field: 'Result', value: 'return needed', stored: 'Return needed' },
    { field: 'Weather', value: 'Wet', stored: 'Wet' },
    { field: 'Photos', value: 'https://example.com/photos', stored: 'https://example.com/photos' },
    // This is 05:00 UTC of the next day. The stored day is the day in the company's time zone.
    { field: 'Arrival', value: '2026-01-05T23:00:00-06:00', stored: '2026-01-05T00:00:00Z' },
    { field: 'Arrival', value: '1767625200', text: '05.01.2026', hasPattern: true, stored: '2026-01-05T00:00:00Z' },
  ],
  refuses: [
    { field: 'Hours', value: 'two', says: /not a number/ },
    { field: 'Hours', value: '2.256', says: /maximum number of decimals is 2/ },
    { field: 'Visited', value: 'maybe', says: /takes only true or false/ },
    { field: 'Result', value: 'Maybe', says: /not one of the options: Done, Return needed/ },
    { field: 'Arrival', value: 'yesterday', says: /not a date or time/ },
    { field: 'Open map', value: 'x', says: /it is a button/ },
  ],
  stored: storedIn(5000),
  note: { field: 'Site note', value: 'Ring twice' },
  failures: [
    { fault: { name: 'credentials' }, kind: 'permanent', title: /does not accept the credentials/ },
    { fault: { name: 'validation', method: 'PATCH' }, kind: 'permanent', title: /refused the change of ticket 5000/ },
    { fault: { name: 'permission', method: 'PATCH' }, kind: 'permanent', title: /has no rights for/ },
    {
      fault: { name: 'conflict', method: 'PATCH' },
      kind: 'retryable',
      title: /^Somebody else is changing ticket 5000 at ConnectWise$/,
    },
    { fault: { name: 'rate-limit' }, kind: 'retryable', title: /no more requests/, retryAfter: 30 },
    { fault: { name: 'server-error' }, kind: 'retryable', title: /does not work at the moment/ },
    { fault: { name: 'wrong-host' }, kind: 'permanent', title: /no calls at this address/ },
    { fault: { name: 'dropped-field' }, kind: 'permanent', title: /did not keep the new value/ },
  ],
});

describe('connectwise', () => {
  const sets = [
    ['Site note', 'Use the back door'],
    ['Hours', '2.5'],
    ['Progress', '40'],
    ['Visited', 'true'],
    ['Result', 'Done'],
    ['Weather', 'Wet'],
    ['Report', 'All done.'],
    ['Photos', 'https://example.com/photos'],
    ['Site note', ''],
  ] as const;
  const sent = () => sentFor(createConnectwise(), system, '5000', sets);
  describeRequests(fixtures, sent, [
    { fixture: 'the codebase of a company, asked without credentials' },
    { fixture: 'a ticket, with a pinned version' },
    { fixture: 'the metadata in pages', query: { pageSize: '1000' } },
    { fixture: 'sets a text field, with the whole set as it was read' },
  ]);

  it('has the documented value of each type in its changes, and all other fields', async () => {
    const changes = (await sent()).filter(({ method }) => method === 'PATCH').map(({ json }) => patchSchema.parse(json)[0].value);
    assert.equal(changes.length, sets.length);
    for (const fields of changes) assert.equal(fields.length, 11);
    for (const name of [
      'sets a number field',
      'sets a percent field',
      'sets a check box',
      "sets a list field by the option's text",
      "sets an option field by the option's text",
      'sets a text area',
      'sets a link',
      'clears a field with null',
    ]) {
      const [wanted] = patchSchema.parse(documented(fixtures, name).json)[0].value;
      const isThere = ({ id, value }: { id: number; value: unknown }) => id === wanted?.id && value === wanted.value;
      assert.ok(
        changes.some((fields) => fields.some(isThere)),
        name,
      );
    }
  });

  const simulator = served(createConnectwise);
  const http = createHttpClient({ allowPrivateNetworks: true });
  const ticketing = (memory = new Memory()) => createTicketing(system(simulator.url), http, memory);
  const update = (value: string, more: Partial<FieldUpdate> = {}): FieldUpdate => {
    return { ticketId: '5000', name: 'Site note', text: value, value, hasPattern: false, timeZone: 'UTC', ...more };
  };
  const call = { timeoutMs: 15_000 };
  const asked = (path: string) => simulator.vendor.state.calls.filter((one) => one.path.includes(path)).length;
  const fail = (fault: object) => {
    simulator.vendor.faults.now = simulator.vendor.faults.schema.parse(fault);
  };

  it('keeps the other fields of the ticket', async () => {
    const values = () => simulator.vendor.state.tickets.get(5000)?.values;
    await ticketing().setField(update('Wet', { name: 'Weather' }), call);
    assert.deepEqual(
      [29, 33, 35].map((id) => values()?.[id]),
      ['Ring twice', false, 'Wet'],
    );
  });

  it('requests the codebase again after a 404, before a read and before a change', async () => {
    const memory = new Memory();
    await ticketing(memory).setField(update('one'), call);
    for (const [method, value] of [
      ['GET', 'two'],
      ['PATCH', 'three'],
    ] as const) {
      const before = asked('/login/');
      fail({ name: 'codebase-moved', times: 1, method, path: '/tickets/' });
      await ticketing(memory).setField(update(value), call);
      assert.deepEqual([storedIn(5000)(simulator.vendor.state, 'Site note'), asked('/login/')], [value, before + 1]);
    }
  });

  it('stops after one further request for the codebase', async () => {
    fail({ name: 'codebase-moved' });
    const error = await failing(ticketing().setField(update('new'), call));
    assert.equal(error.kind, 'permanent');
    assert.equal(asked('/login/'), 2);
  });

  it('says that a ticket does not exist any more if an earlier attempt has found it', async () => {
    let kept: unknown;
    await ticketing().setField(update('one'), {
      ...call,
      keep: async (data) => {
        kept = data;
      },
    });
    simulator.vendor.state.tickets.delete(5000);
    const error = await failing(ticketing().setField(update('two'), { ...call, kept }));
    assert.deepEqual([error.kind, error.facts.title], ['permanent', 'Ticket 5000 does not exist at ConnectWise']);
  });

  it('sets fields of project tickets, which have their own path and fields', async () => {
    const memory = new Memory();
    await ticketing(memory).setField(update('service'), call);
    await ticketing(memory).setField(update('project', { ticketId: '5001' }), call);
    const { state } = simulator.vendor;
    assert.deepEqual([storedIn(5000)(state, 'Site note'), storedIn(5001)(state, 'Site note')], ['service', 'project']);
    assert.equal(state.calls.at(-1)?.path, '/v2025_1/apis/3.0/project/tickets/5001');
    assert.equal(asked('/system/userDefinedFields'), 2);
  });

  it('knows a field by its caption on the screen of the ticket, and says how long captions are', async () => {
    const error = await failing(ticketing().setField(update('x', { name: 'Site note of the visit' }), call));
    assert.match(error.message, /it has Arrival, Site note, Report/);
    assert.match(error.facts.remedy ?? '', /at most 12 characters/);
    for (const name of ['39', 'Site contact'])
      assert.match((await failing(ticketing().setField(update('x', { name }), call))).facts.title ?? '', /There is no field/);
    simulator.vendor.state.fields.push(...simulator.vendor.state.fields.slice(1, 2).map((field) => ({ ...field, id: 40 })));
    const twice = await failing(ticketing().setField(update('x'), call));
    assert.match(twice.facts.remedy ?? '', /Use the id of one field as cfName: 29, 40/);
    await ticketing().setField(update('by its id', { name: '40' }), call);
    assert.equal(simulator.vendor.state.tickets.get(5000)?.values[40], 'by its id');
  });

  it('says that the screen of this ticket has no such field', async () => {
    const memory = new Memory();
    await ticketing(memory).setField(update('one'), call);
    simulator.vendor.state.fields = simulator.vendor.state.fields.filter(({ id }) => id !== 29);
    const error = await failing(ticketing(memory).setField(update('two'), call));
    assert.equal(error.facts.title, 'Ticket 5000 has no field "Site note" at ConnectWise');
  });

  it('reads all pages of the metadata', async () => {
    const { fields } = simulator.vendor.state;
    const [arrival] = fields;
    assert.ok(arrival);
    for (let id = 100; id < 1100; id++) fields.unshift({ ...arrival, id, podId: 2, caption: `Other ${id}` });
    await ticketing().setField(update('Wet', { name: 'Weather' }), call);
    assert.equal(storedIn(5000)(simulator.vendor.state, 'Weather'), 'Wet');
  });

  it('sets a field that is read-only on the screen, or reports that the vendor refuses it', async () => {
    await ticketing().setField(update('chain 7', { name: 'Relay id' }), call);
    assert.equal(storedIn(5000)(simulator.vendor.state, 'Relay id'), 'chain 7');
    const strict = createConnectwise({ doubts: { readOnlyFieldsAreRefused: true } });
    await assert.rejects(sentFor(strict, system, '5000', [['Relay id', 'chain 7']]), /Relay id is read only/);
  });

  it('makes no request for a ticket reference that is no number', async () => {
    for (const ticketId of ['5000/../5001', 'T1', '5000?fields=id', ''])
      assert.match((await failing(ticketing().setField(update('x', { ticketId }), call))).facts.title ?? '', /does not exist/);
    assert.equal(simulator.vendor.state.calls.length, 0);
  });

  it('names the company or the key that is wrong', async () => {
    const wrong = (more: object) =>
      connectwise({ kind: 'connectwise', site, ...connectwiseCredentials, ...more, baseUrl: simulator.url });
    const errors = [{ company: 'nobody' }, { clientId: 'wrong-client' }, { privateKey: 'wrong-key' }].map((more) =>
      failing(createTicketing(wrong(more), http, new Memory()).setField(update('x'), call)),
    );
    const [company, client, key] = await Promise.all(errors);
    assert.match(company?.facts.title ?? '', /does not know the company "nobody"/);
    assert.match(client?.message ?? '', /ClientId is missing or not valid/);
    for (const error of [client, key]) {
      assert.match(error?.facts.title ?? '', /does not accept the credentials/);
      assert.doesNotMatch(error?.message ?? '', /wrong-client|wrong-key/);
    }
  });

  it('requests the codebase from the site, and tickets from the API host', async () => {
    const hosts: string[] = [];
    const read = async (_: unknown, { baseUrl }: { baseUrl: string }) => {
      hosts.push(baseUrl);
      return { Codebase: 'v2025_1/' };
    };
    const access = connectwise({ kind: 'connectwise', site, ...connectwiseCredentials }).access(read as never);
    assert.equal((await access).baseUrl, 'https://api-na.myconnectwise.net/v2025_1/apis/3.0');
    assert.deepEqual(hosts, ['https://na.myconnectwise.net']);
  });

  it('sends no credentials if the codebase is an address', async () => {
    for (const codebase of ['@evil.example/', '../evil/', 'v1/evil.example/', '/evil.example/']) {
      simulator.vendor.state.codebase = codebase;
      const error = await failing(ticketing().setField(update('x'), call));
      assert.deepEqual([error.kind, error.facts.title], ['permanent', 'ConnectWise answered in an unknown format']);
    }
    assert.equal(asked('/apis/'), 0);
  });
});

const patchSchema = z.tuple([z.object({ value: z.array(z.object({ id: z.int(), value: z.unknown() })) })]);

describeRandomValues('connectwise', {
  create: createConnectwise,
  system,
  ticketId: '5000',
  fields: {
    'Site note': randomValues.text,
    Hours: randomValues.number,
    Progress: randomValues.number,
    Visited: randomValues.boolean,
    Arrival: randomValues.time,
    Result: randomValues.choice('Done', 'Return needed', 'Maybe'),
  },
  stored: storedIn(5000),
  written: (body, field) => {
    const id = fieldId(createConnectwise().state, field);
    return patchSchema.parse(body)[0].value.find((one) => one.id === id)?.value;
  },
});
