import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { createHttpClient } from '../../../../src/connectors/http.js';
import { autotask } from '../../../../src/connectors/kinds/autotask.js';
import { Memory } from '../../../../src/connectors/session.js';
import { createTicketing } from '../../../../src/connectors/tickets.js';
import { autotaskCredentials, autotaskDoubts, createAutotask } from '../../../../src/sandbox/vendors/autotask.js';
import { describeRequests, sentFor } from '../../../connectors/documented.js';
import { failing } from '../../../connectors/failing.js';
import { describeRandomValues, randomValues } from '../../../connectors/random-values.js';
import { describeTicketSystem } from '../../../connectors/ticket-system.js';
import fixtures from '../../../fixtures/autotask.json' with { type: 'json' };
import { served } from '../../../sandbox/vendors.js';

const system = (url: string) => autotask({ kind: 'autotask', ...autotaskCredentials, baseUrl: url });

describeTicketSystem({
  kind: 'autotask',
  doubts: autotaskDoubts,
  // Without PATCH, no safe change is possible, because PUT empties all other fields. A field that drops the time does not keep
  // the value.
  hopeless: ['ticketsCanBePatched', 'datesKeepTime'],
  create: (doubts) => {
    const vendor = createAutotask({ doubts });
    vendor.state.limits.requestsAnHour = 1e6;
    return vendor;
  },
  system,
  ticket: { id: '123456', number: 'T20260105.0674' },
  quota: /\. \d+ of 1000000 requests are left in this hour$/,
  writeMethod: 'PATCH',
  sets: [
    { field: 'Site note', value: 'Back door', stored: 'Back door' },
    { field: 'site note', value: '', stored: null },
    { field: 'Arrival time', value: '1767625200', stored: '2026-01-05T15:00:00.000Z' },
    {
      field: 'Arrival time',
      value: '2026-01-05 09:00',
      text: '05.01.2026',
      hasPattern: true,
      stored: '2026-01-05T15:00:00.000Z',
    },
    { field: 'Visit result', value: 'Return needed', stored: '2' },
    { field: 'Order process', value: 'Approved', stored: 'Approved' },
  ],
  refuses: [
    { field: 'Visit result', value: 'Cancelled', says: /not one of the options: Done, Return needed/ },
    { field: 'Hours on site', value: 'two', says: /not a number/ },
    { field: 'Site note', value: 'x'.repeat(51), says: /51 characters, but the field takes at most 50/ },
    { field: 'Arrival time', value: 'yesterday', says: /not a date or time/ },
    { field: 'Imported from', value: 'x', says: /read-only/ },
    { field: 'Site contact', value: '1', says: /refers to another record/ },
  ],
  stored: (state, field) =>
    state.tickets.get(123456)?.values[state.fields.find(({ name }) => name.toLowerCase() === field.toLowerCase())?.name ?? ''] ??
    null,
  note: { field: 'Site note', value: 'Ring twice' },
  failures: [
    { fault: { name: 'credentials' }, kind: 'permanent', title: /does not accept the credentials/ },
    { fault: { name: 'validation', method: 'PATCH' }, kind: 'permanent', title: /refused the change of ticket 123456/ },
    { fault: { name: 'permission', method: 'PATCH' }, kind: 'permanent', title: /has no rights for/ },
    { fault: { name: 'threads' }, kind: 'retryable', title: /no more requests/, retryAfter: 5 },
    { fault: { name: 'dropped-field' }, kind: 'permanent', title: /did not keep the new value/ },
  ],
});

describe('autotask', () => {
  describeRequests(
    fixtures,
    () =>
      sentFor(createAutotask(), system, 'T20260105.0674', [
        ['Site note', 'Use the back door'],
        ['Arrival time', '2026-01-05T14:00:00Z'],
        ['Hours on site', '2.5'],
        ['Visit result', 'Return needed'],
        ['Order process', '2-Approved'],
        ['Site note', ''],
      ]),
    [
      { fixture: 'the zone of a user, asked without credentials' },
      { fixture: 'a ticket by its number', json: (query) => ({ ...Object(query), MaxRecords: 2 }) },
      { fixture: 'the metadata of the user-defined fields' },
      { fixture: 'a ticket by its id' },
      { fixture: 'sets a text field, leaves the others' },
      { fixture: 'sets a date field in UTC, with its time' },
      { fixture: 'sets a number field' },
      { fixture: 'sets a list field whose values are numbers' },
      { fixture: 'sets a list field whose values are texts' },
      { fixture: 'clears a field with null' },
    ],
  );

  const simulator = served(createAutotask);
  const http = createHttpClient({ allowPrivateNetworks: true });
  const set = (value: string, memory = new Memory(), name = 'Site note', to = system(simulator.url)) =>
    createTicketing(to, http, memory).setField(
      { ticketId: '123456', name, text: value, value, hasPattern: false, timeZone: 'UTC' },
      { timeoutMs: 15_000 },
    );
  const lookUps = () => simulator.vendor.state.calls.filter(({ path }) => /zoneinformation/i.test(path)).length;

  it('requests the zone again after a 401, before a read and before a change', async () => {
    const memory = new Memory();
    await set('one', memory);
    for (const [method, value] of [
      ['GET', 'two'],
      ['PATCH', 'three'],
    ] as const) {
      const before = lookUps();
      simulator.vendor.faults.now = { name: 'zone-moved', times: 1, method };
      await set(value, memory);
      assert.equal(simulator.vendor.state.tickets.get(123456)?.values['Site note'], value);
      assert.equal(lookUps(), before + 1);
    }
  });

  it('waits until the hourly limit of requests allows the next call', async () => {
    simulator.vendor.faults.now = { name: 'rate-limit' };
    const error = await failing(set('x'));
    assert.deepEqual([error.kind, error.facts.retryAfterSeconds], ['retryable', 60]);
  });

  it('reports a wrong user name if Autotask knows no zone for it', async () => {
    const stranger = autotask({ kind: 'autotask', ...autotaskCredentials, userName: 'x@y.example', baseUrl: simulator.url });
    const error = await failing(set('x', new Memory(), 'Site note', stranger));
    assert.deepEqual([error.kind, error.facts.title], ['permanent', 'Autotask does not accept the credentials']);
    assert.match(error.message, /answered 500: Zone information could not be determined$/);
    assert.equal(simulator.vendor.state.calls.length, 1);
  });

  it("reports Autotask's error for a field with several options, which the metadata shows like a field with one option", async () => {
    const error = await failing(set('Cabling', new Memory(), 'Skills'));
    assert.deepEqual([error.kind, error.facts.title], ['permanent', 'Autotask refused the change of ticket 123456']);
    assert.match(error.message, /Multi-select .* are not supported/);
  });

  it("sends no credentials to a zone that is not the vendor's", async () => {
    for (const url of [
      'https://webservices3.autotask.net.evil.example/',
      'http://webservices3.autotask.net/',
      'https://autotask.net/',
    ]) {
      const access = autotask({ kind: 'autotask', ...autotaskCredentials }).access(async () => ({ url }) as never);
      assert.match((await failing(Promise.resolve(access))).message, /does not belong to Autotask; nothing was sent there/);
    }
  });
});

const changeSchema = z.object({ userDefinedFields: z.tuple([z.object({ value: z.union([z.string(), z.null()]) })]) });

describeRandomValues('autotask', {
  create: createAutotask,
  system,
  ticketId: '123456',
  fields: {
    'Site note': randomValues.text,
    'Hours on site': randomValues.number,
    'Arrival time': randomValues.time,
    'Visit result': randomValues.choice('Done', '2', 'Cancelled'),
  },
  stored: (state, field) => state.tickets.get(123456)?.values[field],
  written: (body) => changeSchema.parse(body).userDefinedFields[0].value,
});
