import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { createHttpClient } from '../../../../src/connectors/http.js';
import { servicenow } from '../../../../src/connectors/kinds/servicenow.js';
import { Memory } from '../../../../src/connectors/session.js';
import { createTicketing, type FieldUpdate } from '../../../../src/connectors/tickets.js';
import { createServicenow, servicenowCredentials, servicenowDoubts } from '../../../../src/sandbox/vendors/servicenow.js';
import { type Comparison, describeRequests, sentFor } from '../../../connectors/documented.js';
import { failing } from '../../../connectors/failing.js';
import { describeRandomValues, randomValues } from '../../../connectors/random-values.js';
import { describeTicketSystem } from '../../../connectors/ticket-system.js';
import fixtures from '../../../fixtures/servicenow.json' with { type: 'json' };
import { served } from '../../../sandbox/vendors.js';

type ServicenowState = ReturnType<typeof createServicenow>['state'];
const { username: userName, password } = servicenowCredentials;
const settings = { kind: 'servicenow', instance: 'dev12345', userName, password } as const;
const system = (url: string) => servicenow({ ...settings, baseUrl: url });
const sysId = 'a1'.repeat(16);
const incident = (state: ServicenowState) => state.tables.get('incident')?.find(({ sys_id }) => sys_id === sysId);
const columnOf = (state: ServicenowState, name: string) =>
  state.tables
    .get('sys_dictionary')
    ?.find(({ element, column_label, active }) => active === 'true' && [element, column_label].includes(name))?.element ?? '';
const stored = (state: ServicenowState, field: string) => incident(state)?.[columnOf(state, field)] ?? '';

describeTicketSystem({
  kind: 'servicenow',
  doubts: servicenowDoubts,
  create: (doubts) => createServicenow({ doubts }),
  system,
  ticket: { id: sysId, number: 'INC0010001' },
  writeMethod: 'PATCH',
  sets: [
    { field: 'Site note', value: 'Back door', stored: 'Back door' },
    { field: 'Site note', value: '', stored: '' },
    { field: 'u_site_note', value: 'by its column', stored: 'by its column' },
    { field: 'Short description', value: 'of the parent table', stored: 'of the parent table' },
    { field: 'Arrival', value: '1767625200', stored: '2026-01-05 15:00:00' },
    { field: 'Arrival', value: '2026-07-05 09:00', text: '05.07.2026', hasPattern: true, stored: '2026-07-05 14:00:00' },
    { field: 'Visit day', value: '2026-01-05T23:00:00-06:00', stored: '2026-01-05' },
    { field: 'Hours', value: '2.25', stored: '2.25' },
    { field: 'Score', value: '0.0000005', stored: '5e-7' },
    { field: 'Visits', value: '3', stored: '3' },
    { field: 'Visited', value: 'Yes', stored: 'true' },
    { field: 'Result', value: 'return needed', stored: 'return' },
    { field: 'Result', value: 'done', stored: 'done' },
    { field: 'State', value: 'In Progress', stored: '2' },
    { field: 'Report', value: 'first line\nsecond line', stored: 'first line\nsecond line' },
    { field: 'Photos', value: 'https://photos.example/1', stored: 'https://photos.example/1' },
  ],
  refuses: [
    { field: 'Visits', value: 'three', says: /not a number/ },
    { field: 'Visits', value: '3.5', says: /maximum number of decimals is 0/ },
    { field: 'Hours', value: '1.256', says: /maximum number of decimals is 2/ },
    { field: 'Visited', value: 'maybe', says: /takes only true or false/ },
    { field: 'Arrival', value: '5.1.2026', says: /not a date or time/ },
    { field: 'Result', value: 'Unclear', says: /not one of the options: Done, Return needed/ },
    { field: 'Site note', value: 'x'.repeat(41), says: /41 characters, but the field takes at most 40/ },
    { field: 'Technician', value: 'Bob Example', says: /refers to another record/ },
    { field: 'Helpers', value: 'Bob Example', says: /refers to other records/ },
    { field: 'Work notes', value: 'x', says: /journal/ },
    { field: 'Door code', value: '1234', says: /does not know the type glide_encrypted/ },
    { field: 'Updated by', value: 'x', says: /ServiceNow itself sets this field/ },
    { field: 'Gate', value: 'x', says: /2 ticket fields called "Gate"/ },
  ],
  stored,
  note: { field: 'Site note', value: 'Ring twice' },
  failures: [
    { fault: { name: 'credentials' }, kind: 'permanent', title: /does not accept the credentials/ },
    { fault: { name: 'permission', method: 'PATCH' }, kind: 'permanent', title: /relay's user at ServiceNow has no rights/ },
    { fault: { name: 'business-rule', method: 'PATCH' }, kind: 'permanent', title: /refused the change of ticket/ },
    { fault: { name: 'data-policy', method: 'PATCH' }, kind: 'permanent', title: /refused the change of ticket/ },
    { fault: { name: 'server-error' }, kind: 'retryable', title: /does not work at the moment/ },
    { fault: { name: 'dropped-field' }, kind: 'permanent', title: /did not keep the new value/ },
  ],
});

describe('servicenow', () => {
  const sets = [
    ['Site note', 'Use the back door'],
    ['Arrival', '2026-01-05T14:00:00Z'],
    ['Visits', '3'],
    ['Result', 'Return needed'],
  ] as const;
  const one = (column: string) => ({ sysparm_fields: column, sysparm_exclude_reference_link: 'true' });
  const change = 'a text is set, and the answer shows it';
  const comparisons: Comparison[] = [
    { fixture: 'an incident by its number', query: one('sys_id,number') },
    { fixture: 'an incident by its sys_id', query: one('u_site_note') },
    {
      fixture: 'an inherited column is listed under the parent table',
      exchange: 1,
      query: {
        ...one('name,super_class.name,super_class.super_class.name,super_class.super_class.super_class.name'),
        sysparm_limit: '1',
      },
    },
    {
      fixture: 'an inherited column is listed under the parent table',
      exchange: 2,
      query: {
        ...one('element,column_label,internal_type,max_length,choice'),
        sysparm_query: 'nameINincident,task^elementISNOTEMPTY^active=true',
      },
    },
    {
      fixture: 'the choices of a column, by sys_choice',
      query: {
        ...one('name,element,value,label'),
        sysparm_query: 'nameINincident,task^language=en^inactive=false^ORDERBYsequence',
      },
    },
    { fixture: change, query: one('u_site_note') },
    // Each documented value of this change is sent as a separate change.
    ...Object.entries({ u_arrival: '2026-01-05 14:00:00', u_visits: '3', u_result: 'return' }).map(([column, value]) => ({
      fixture: 'each type in its own form, and empty again',
      query: one(column),
      json: (documented: unknown) => {
        const sent = { [column]: value };
        assert.deepEqual({ ...Object(documented), ...sent }, documented);
        return sent;
      },
    })),
  ];
  describeRequests(fixtures, () => sentFor(createServicenow(), system, 'INC0010001', sets), comparisons);

  const simulator = served(createServicenow);
  const http = createHttpClient({ allowPrivateNetworks: true });
  const ticketing = (more: object = {}) =>
    createTicketing(servicenow({ ...settings, baseUrl: simulator.url, ...more }), http, new Memory());
  const update = (value: string, more: Partial<FieldUpdate> = {}): FieldUpdate => {
    return { ticketId: 'INC0010001', name: 'Site note', text: value, value, hasPattern: false, timeZone: 'UTC', ...more };
  };
  const call = { timeoutMs: 15_000 };
  const changed = () => simulator.vendor.state.calls.some(({ method }) => method === 'PATCH');
  const fail = (fault: object) => {
    simulator.vendor.faults.now = simulator.vendor.faults.schema.parse(fault);
  };

  it('refuses a number that two tickets have', async () => {
    const error = await failing(ticketing().setField(update('x', { ticketId: 'INC0010003' }), call));
    assert.equal(error.facts.title, 'Several tickets at ServiceNow have the number INC0010003');
    assert.equal(changed(), false);
  });

  it('changes no other ticket if the condition on the number is ignored', async () => {
    const hideNumber = ({ tables }: ServicenowState) =>
      tables.set('sys_dictionary', tables.get('sys_dictionary')?.filter(({ element }) => element !== 'number') ?? []);
    hideNumber(simulator.vendor.state);
    const error = await failing(ticketing().setField(update('x'), call));
    assert.equal(error.facts.title, 'ServiceNow cannot find a ticket by its number in the table incident');
    assert.equal(changed(), false);
    const strict = createServicenow({ doubts: { invalidQueriesAreRefused: true } });
    hideNumber(strict.state);
    await assert.rejects(sentFor(strict, system, 'INC0010001', [['Site note', 'x']]), /Insufficient rights to query records/);
  });

  it('puts no condition and no script from a number into a query', async () => {
    for (const ticketId of ['INC9999999^ORnumber=INC0010002', 'javascript:gs.getUserID()', '', '^'])
      assert.match((await failing(ticketing().setField(update('x', { ticketId }), call))).facts.title ?? '', /does not exist/);
    assert.equal(simulator.vendor.state.calls.length, 0);
  });

  it('names both columns of an ambiguous label, and sets a column by its name', async () => {
    const error = await failing(ticketing().setField(update('x', { name: 'Gate' }), call));
    assert.match(error.facts.remedy ?? '', /u_gate, u_gate_2/);
    await ticketing().setField(update('north', { name: 'u_gate_2' }), call);
    assert.equal(stored(simulator.vendor.state, 'u_gate_2'), 'north');
  });

  it('says which rule of the customer refused a change', async () => {
    fail({ name: 'business-rule', method: 'PATCH' });
    const rule = await failing(ticketing().setField(update('x'), call));
    assert.match(rule.message, /aborted by Business Rule 'Closed incidents stay closed/);
    fail({ name: 'data-policy', method: 'PATCH' });
    const policy = await failing(ticketing().setField(update('x'), call));
    assert.match(policy.message, /The following fields are mandatory: Resolution code, Close notes/);
  });

  it('waits until the hourly limit of requests allows the next call', async () => {
    fail({ name: 'rate-limit' });
    const error = await failing(ticketing().setField(update('x'), call));
    assert.equal(error.kind, 'retryable');
    assert.match(error.message, /Rate limit exceeded: Rate limit of 100 requests per hour/);
    assert.ok((error.facts.retryAfterSeconds ?? 0) > 0);
  });

  it('reports a column that an access rule protects, with a 403 or without an error', async () => {
    const silent = await failing(ticketing().setField(update('x', { name: 'Audit note' }), call));
    assert.match(silent.facts.title ?? '', /did not keep the new value of "Audit note"/);
    const strict = createServicenow({ doubts: { protectedFieldsAreRefused: true } });
    await assert.rejects(sentFor(strict, system, sysId, [['Audit note', 'x']]), /ACL Exception Update Failed/);
  });

  it('tries to set a column that is read-only in forms, and reports if the value was not stored', async () => {
    const error = await failing(ticketing().setField(update('7', { name: 'Relay id' }), call));
    assert.match(error.facts.title ?? '', /did not keep the new value/);
    const lax = createServicenow({ doubts: { readOnlyFieldsAreWritten: true } });
    await sentFor(lax, system, sysId, [['Relay id', '7']]);
    assert.equal(stored(lax.state, 'Relay id'), '7');
  });

  it('says that a column is not shown, before any change', async () => {
    const memory = new Memory();
    const { setField } = createTicketing(system(simulator.url), http, memory);
    await setField(update('one'), call);
    const { tables } = simulator.vendor.state;
    tables.set('sys_dictionary', tables.get('sys_dictionary')?.filter(({ element }) => element !== 'u_site_note') ?? []);
    const error = await failing(setField(update('two'), call));
    assert.equal(error.facts.title, 'ServiceNow does not let the relay\'s user read "Site note"');
  });

  it('names the tables that the user must be able to read', async () => {
    for (const hiddenTablesAreRefused of [false, true])
      for (const table of ['sys_db_object', 'sys_dictionary', 'sys_choice']) {
        const vendor = createServicenow({ doubts: { hiddenTablesAreRefused } });
        vendor.state.hiddenTables.add(table);
        const error = await failing(sentFor(vendor, system, sysId, [['Result', 'Done']]));
        assert.equal(error.kind, 'permanent');
        assert.match(`${error.message} ${error.facts.remedy}`, new RegExp(table));
        assert.equal(incident(vendor.state)?.u_result, undefined);
      }
  });

  it('uses the options of the nearest table', async () => {
    const choice = (value: string, label: string) => {
      return { name: 'incident', element: 'state', value, label, language: 'en', inactive: 'false', sequence: value };
    };
    simulator.vendor.state.tables.get('sys_choice')?.push(choice('1', 'Open'), choice('6', 'Resolved'));
    const error = await failing(ticketing().setField(update('In Progress', { name: 'State' }), call));
    assert.match(error.message, /not one of the options: Open, Resolved/);
  });

  it('uses another table if the settings say so', async () => {
    const problem = { ticketId: 'PRB0040001', name: 'Short description' };
    simulator.vendor.state.hiddenTables.delete('problem');
    await ticketing({ table: 'problem' }).setField(update('x', problem), call);
    assert.equal(simulator.vendor.state.tables.get('problem')?.[0]?.short_description, 'x');
    const error = await failing(ticketing({ table: 'u_unknown' }).setField(update('x', problem), call));
    assert.match(`${error.message} ${error.facts.title}`, /Invalid table u_unknown.*does not have this table/);
  });

  it('calls the instance of the settings', async () => {
    const { baseUrl } = await servicenow(settings).access(() => assert.fail('nothing is looked up'));
    assert.equal(baseUrl, 'https://dev12345.service-now.com/api/now/table');
  });
});

const bodySchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

describeRandomValues('servicenow', {
  create: createServicenow,
  system,
  ticketId: sysId,
  fields: {
    'Site note': randomValues.text,
    Hours: randomValues.number,
    Visits: randomValues.number,
    Visited: randomValues.boolean,
    Arrival: randomValues.time,
    'Visit day': randomValues.time,
    Result: randomValues.choice('Done', 'return', 'Unclear'),
  },
  stored,
  written: (body) => Object.values(bodySchema.parse(body))[0],
});
