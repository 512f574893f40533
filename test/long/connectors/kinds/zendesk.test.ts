import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { createHttpClient } from '../../../../src/connectors/http.js';
import { zendesk } from '../../../../src/connectors/kinds/zendesk.js';
import { Memory } from '../../../../src/connectors/session.js';
import { createTicketing, type FieldUpdate } from '../../../../src/connectors/tickets.js';
import { createZendesk, zendeskCredentials, zendeskDoubts } from '../../../../src/sandbox/vendors/zendesk.js';
import { describeRequests, sentFor } from '../../../connectors/documented.js';
import { failing } from '../../../connectors/failing.js';
import { describeRandomValues, randomValues } from '../../../connectors/random-values.js';
import { describeTicketSystem } from '../../../connectors/ticket-system.js';
import fixtures from '../../../fixtures/zendesk.json' with { type: 'json' };
import { served } from '../../../sandbox/vendors.js';

type ZendeskState = ReturnType<typeof createZendesk>['state'];
const { email, apiToken: token } = zendeskCredentials;
const settings = { kind: 'zendesk', subdomain: 'example', email, token } as const;
const system = (url: string) => zendesk({ ...settings, baseUrl: url });

const fieldId = ({ fields }: Pick<ZendeskState, 'fields'>, field: string) =>
  fields.find(({ title, active }) => active && title.toLowerCase() === field.toLowerCase())?.id ?? Number(field);
const stored = (state: ZendeskState, field: string) => state.tickets.get(35436)?.values[fieldId(state, field)] ?? null;

describeTicketSystem({
  kind: 'zendesk',
  doubts: zendeskDoubts,
  create: (doubts) => unlimited(createZendesk({ doubts })),
  system,
  ticket: { id: '35436', number: '35436' },
  quota: /\. \d+ of \d+ requests are left in this minute$/,
  writeMethod: 'PUT',
  sets: [
    { field: 'Site note', value: 'Back door', stored: 'Back door' },
    { field: 'site note', value: '', stored: null },
    { field: '360014', value: 'North', stored: 'North' },
    { field: 'Report', value: 'First line\nsecond line', stored: 'First line\nsecond line' },
    { field: 'Visits', value: '3', stored: '3' },
    { field: 'Hours', value: ' 2.50 ', stored: '2.5' },
    { field: 'Visited', value: 'yes', stored: true },
    { field: 'Arrival', value: '2026-01-05', stored: '2026-01-05' },
    // This is 05:00 UTC of the next day. The stored day is the day in the company's time zone.
    { field: 'Arrival', value: '2026-01-05T23:00:00-06:00', stored: '2026-01-05' },
    { field: 'Arrival', value: '1767625200', text: '05.01.2026', hasPattern: true, stored: '2026-01-05' },
    { field: 'Result', value: 'return needed', stored: 'result_return' },
    { field: 'Result', value: 'result_done', stored: 'result_done' },
    { field: 'Skills', value: 'Wireless', stored: ['skill_wireless'] },
    { field: 'Skills', value: 'wireless, Cabling', stored: ['skill_wireless', 'skill_cabling'] },
    { field: 'Permit', value: 'AB-12', stored: 'AB-12' },
  ],
  refuses: [
    { field: 'Result', value: 'Cancelled', says: /not one of the options: Done, Return needed/ },
    { field: 'Skills', value: 'Cabling,', says: /not one of the options: Cabling, Wireless/ },
    { field: 'Visits', value: '2.5', says: /maximum number of decimals is 0/ },
    { field: 'Hours', value: '1,5', says: /not a number/ },
    { field: 'Visited', value: 'maybe', says: /takes only true or false/ },
    { field: 'Arrival', value: 'tomorrow', says: /not a date or time/ },
    { field: 'Gate', value: 'North', says: /2 ticket fields called "Gate"/ },
    { field: 'Status', value: 'open', says: /cannot set fields of the type status/ },
    { field: 'Card', value: '4111', says: /cannot set fields of the type partialcreditcard/ },
    { field: 'Technician', value: '7', says: /cannot set fields of the type lookup/ },
  ],
  stored,
  note: { field: 'Site note', value: 'Ring twice' },
  failures: [
    { fault: { name: 'credentials' }, kind: 'permanent', title: /does not accept the credentials/ },
    { fault: { name: 'rate-limit' }, kind: 'retryable', title: /no more requests/, retryAfter: 60 },
    { fault: { name: 'ticket-rate-limit' }, kind: 'retryable', title: /no more requests/, retryAfter: 600 },
    { fault: { name: 'validation', method: 'PUT' }, kind: 'permanent', title: /refused the change of ticket 35436/ },
    { fault: { name: 'permission', method: 'PUT' }, kind: 'permanent', title: /has no rights for/ },
    { fault: { name: 'conflict', method: 'PUT' }, kind: 'retryable', title: /Somebody else is changing ticket 35436/ },
    { fault: { name: 'changed-meanwhile' }, kind: 'retryable', title: /Somebody else is changing ticket 35436/ },
    { fault: { name: 'no-account' }, kind: 'permanent', title: /There is no Zendesk at this address/ },
    { fault: { name: 'server-error' }, kind: 'retryable', title: /does not work at the moment/, retryAfter: 30 },
    { fault: { name: 'dropped-field' }, kind: 'permanent', title: /did not keep the new value/ },
  ],
});

const guarded = (change: unknown) => ({
  ticket: { ...z.object({ ticket: z.object({}).loose() }).parse(change).ticket, ...guard },
});
const guard = { updated_stamp: '2026-01-05T09:00:00Z', safe_update: true };

describe('zendesk', () => {
  describeRequests(
    fixtures,
    async () => [
      ...(await sentFor(createZendesk(), system, '35436', [['Arrival', '2026-01-05T14:00:00Z']])),
      ...(await sentFor(createZendesk(), system, '35436', [['Site note', 'Use the back door']])),
    ],
    [
      { fixture: 'a ticket by its id' },
      { fixture: 'the ticket fields by cursor', query: { 'page[size]': '50' } },
      { fixture: 'a date is set; other fields stay', json: guarded },
      { fixture: 'a safe update of a ticket that nobody changed, safe_update true' },
    ],
  );

  const http = createHttpClient({ allowPrivateNetworks: true });
  const simulator = served(createZendesk);
  const call = { timeoutMs: 15_000 };
  const ticketing = (connection = system(simulator.url)) => createTicketing(connection, http, new Memory());
  const update = (value: string, more: Partial<FieldUpdate> = {}): FieldUpdate => {
    return { ticketId: '35436', name: 'Site note', text: value, value, hasPattern: false, timeZone: 'UTC', ...more };
  };
  const changes = () => simulator.vendor.state.calls.filter(({ method }) => method !== 'GET');

  it('changes nothing in a closed ticket, and fails unless the ticket has the value already', async () => {
    const error = await failing(ticketing().setField(update('x', { ticketId: '35438' }), call));
    assert.deepEqual([error.kind, error.facts.title], ['permanent', 'Ticket 35438 is closed at Zendesk']);
    const { note } = await ticketing().setField(update('', { ticketId: '35438' }), call);
    assert.match(note ?? '', /had this value already/);
    assert.equal(changes().length, 0);
  });

  it('shows the text of every form of error', async () => {
    const { state, faults } = simulator.vendor;
    const refusal = async (fault: object, more: Partial<FieldUpdate> = {}) => {
      faults.now = faults.schema.parse({ name: 'slow', delayMs: 0, ...fault });
      return (await failing(ticketing().setField(update('x', more), call))).message;
    };
    assert.match(await refusal({}, { name: 'Permit' }), /answered 422: Permit is not valid$/);
    assert.match(await refusal({ name: 'conflict' }), /answered 409: Database collision$/);
    assert.match(await refusal({ name: 'permission' }), /answered 403: You do not have access to this page/);
    assert.match(await refusal({ name: 'credentials' }), /answered 401: Couldn't authenticate you$/);
    assert.match(await refusal({ name: 'rate-limit' }), /answered 429: Number of allowed API requests per minute exceeded$/);
    assert.match(await refusal({ name: 'no-account' }), /answered 404: There is no help desk configured at this address/);
    assert.match(await refusal({ name: 'html', status: 404 }), /answered 404: 404 Service unavailable$/);
    const [ticket] = state.tickets.values();
    assert.ok(ticket);
    state.tickets.set(ticket.id, { ...ticket, status: 'solved' });
    const closing = ticketing({
      ...system(simulator.url),
      read: async (session, id, field) => {
        const read = await system(simulator.url).read(session, id, field);
        state.tickets.set(ticket.id, { ...ticket, status: 'closed' });
        return read;
      },
    });
    faults.now = undefined;
    const closed = await failing(closing.setField(update('x'), call));
    assert.match(closed.message, /answered 422: Status: closed prevents ticket update$/);
    assert.match(closed.facts.title ?? '', /refused the change of ticket 35436/);
  });

  it('reports an option that Zendesk drops with 200', async () => {
    const memory = new Memory();
    const { setField } = createTicketing(system(simulator.url), http, memory);
    await setField(update('Done', { name: 'Result' }), call);
    const result = simulator.vendor.state.fields.find(({ title }) => title === 'Result');
    assert.ok(result);
    result.custom_field_options?.splice(1); // The relay still remembers the other option.
    const error = await failing(setField(update('Return needed', { name: 'Result' }), call));
    assert.equal(error.facts.title, 'Zendesk did not keep the new value of "Result"');
    assert.match(error.message, /the field has "result_done"/);
  });

  it('reports a field that was made inactive meanwhile', async () => {
    const { setField } = createTicketing(system(simulator.url), http, new Memory());
    await setField(update('one'), call);
    const note = simulator.vendor.state.fields.find(({ title }) => title === 'Site note');
    assert.ok(note);
    note.active = false;
    assert.match((await failing(setField(update('two'), call))).facts.title ?? '', /did not keep the new value/);
  });

  it('sets a field that agents may not edit if Zendesk accepts this, and otherwise reports it', async () => {
    const relayId = update('chain 7', { name: 'Relay id' });
    assert.match(
      (await failing(ticketing().setField(relayId, call))).facts.title ?? '',
      /did not keep the new value of "Relay id"/,
    );
    const lenient = createZendesk({ doubts: { uneditableFieldsAreWritten: true } });
    await sentFor(lenient, system, '35436', [['Relay id', 'chain 7']]);
    assert.equal(stored(lenient.state, 'Relay id'), 'chain 7');
  });

  it('changes a ticket at the next attempt if somebody else has changed it meanwhile', async () => {
    const { faults } = simulator.vendor;
    faults.now = faults.schema.parse({ name: 'changed-meanwhile', times: 1 });
    assert.equal((await failing(ticketing().setField(update('new'), call))).kind, 'retryable');
    await ticketing().setField(update('new'), call);
    assert.equal(stored(simulator.vendor.state, 'Site note'), 'new');
  });

  it('names the ids of fields with the same title', async () => {
    const error = await failing(ticketing().setField(update('x', { name: 'gate' }), call));
    assert.match(error.facts.remedy ?? '', /Use the id of one field as cfName: 360013, 360014/);
  });

  it('reads all pages of the fields', async () => {
    const { fields } = simulator.vendor.state;
    const [subject] = fields;
    assert.ok(subject);
    for (let id = 400000; id < 400120; id++) fields.push({ ...subject, id, type: 'text', title: `Field ${id}`, removable: true });
    await ticketing().setField(update('last', { name: 'Field 400119' }), call);
    assert.equal(stored(simulator.vendor.state, 'Field 400119'), 'last');
    assert.equal(simulator.vendor.state.calls.filter(({ path }) => path.endsWith('/ticket_fields.json')).length, 3);
  });

  it('treats a checkbox without a tick as a field without a value', async () => {
    for (const value of ['no', '']) {
      const { note } = await ticketing().setField(update(value, { name: 'Visited' }), call);
      assert.match(note ?? '', /had this value already/);
    }
    assert.equal(changes().length, 0);
  });

  it('makes no request for a ticket reference that is no number', async () => {
    for (const ticketId of ['35436/../35437', 'T1', '35436.json', '-1', ''])
      assert.match((await failing(ticketing().setField(update('x', { ticketId }), call))).facts.title ?? '', /does not exist/);
    assert.equal(simulator.vendor.state.calls.length, 0);
  });

  it('reports a wrong token as wrong credentials, and does not show it', async () => {
    const error = await failing(
      ticketing(zendesk({ ...settings, token: 'wrong-token', baseUrl: simulator.url })).setField(update('x'), call),
    );
    assert.match(error.facts.title ?? '', /does not accept the credentials/);
    assert.doesNotMatch(`${error.message} ${error.facts.remedy}`, /wrong-token/);
  });

  it('calls the subdomain at zendesk.com, without a look-up', async () => {
    const noLookUp = () => assert.fail('asked');
    const { baseUrl, auth } = await zendesk(settings).access(noLookUp);
    assert.equal(baseUrl, 'https://example.zendesk.com/api/v2');
    assert.deepEqual(auth, { type: 'basic', username: `${email}/token`, password: token });
  });

  it('says that an answer has an unknown form', async () => {
    const { vendor } = simulator;
    const odd = { ...system(simulator.url), access: async () => ({ baseUrl: `${simulator.url}/api/v2/users/me.json?` }) };
    vendor.state.calls.length = 0;
    const error = await failing(createTicketing(odd, http, new Memory()).check(call));
    assert.deepEqual([error.kind, error.facts.title], ['permanent', 'Zendesk answered in an unknown format']);
  });
});

const changeSchema = z.object({ ticket: z.object({ custom_fields: z.tuple([z.object({ value: z.unknown() })]) }) });

describeRandomValues('zendesk', {
  create: () => unlimited(createZendesk()),
  system,
  ticketId: '35436',
  fields: {
    'Site note': randomValues.text,
    Report: randomValues.text,
    Visits: randomValues.number,
    Hours: randomValues.number,
    Visited: randomValues.boolean,
    Arrival: randomValues.time,
    Result: randomValues.choice('Done', 'Return needed', 'result_done', 'Cancelled'),
    Skills: randomValues.choice('Cabling', 'wireless', 'skill_cabling', 'Wireless, Cabling', 'Wireless;Cabling'),
  },
  stored,
  written: (body) => changeSchema.parse(body).ticket.custom_fields[0].value,
});

function unlimited(vendor: ReturnType<typeof createZendesk>) {
  vendor.state.limits = { perMinute: 1e6, updatesPerMinute: 1e6, updatesPerTicket: 1e6 };
  return vendor;
}
