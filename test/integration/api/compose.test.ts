import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import widenThenAlert from '../../../examples/widen-then-alert.json' with { type: 'json' };
import { ConnectorError } from '../../../src/connectors/call.js';
import { createConnectors } from '../../../src/connectors/connectors.js';
import type { Company } from '../../../src/contract/company.js';
import { composedSchema, composerSchema } from '../../../src/contract/dry-run.js';
import { adminToken, wholeApi } from '../../api/whole-api.js';

const actor = { kind: 'admin' } as const;
const path = '/co/acme/chains/compose';

describe('composing a chain', () => {
  let api: Awaited<ReturnType<typeof wholeApi>>;
  let key: string;
  before(async () => {
    const connectors = createConnectors({ allowPrivateNetworks: false, mailFrom: 'relay@relay.example' });
    const message = 'GET /assignments/404404 answered 404 Not Found';
    const getAssignment = (id: string) =>
      id === '404404'
        ? Promise.reject(new ConnectorError('permanent', message, { status: 404, title: 'Assignment 404404 does not exist' }))
        : Promise.reject(new ConnectorError('retryable', 'no answer', {}));
    api = await wholeApi({
      connectors: { ...connectors, platformOf: (company: Company) => ({ ...connectors.platformOf(company), getAssignment }) },
    });
    const system = { kind: 'http', baseUrl: 'https://platform.acme.example' } as const;
    await api.store.companies.put(
      'acme',
      () => ({ companyId: 'acme', name: 'Acme', timeZone: 'America/New_York', platform: system, ticketing: system }),
      actor,
    );
    await api.store.rules.create('acme', { name: 'Rule', onFailure: 'hold', onUnknown: 'resend', relayId: '1' }, actor);
    const made = await api.store.keys.create('acme', 'dana', actor, { role: 'steer' });
    assert(typeof made === 'object');
    key = made.key;
  });
  after(() => api.close());

  async function composed(elements: object[], more: object = {}) {
    const { status, json, text } = await api.ask('POST', path, key, { elements, ...more });
    assert.equal(status, 200, text);
    return composedSchema.parse(json);
  }
  const example = widenThenAlert.map((element) => ({ ...element, relayId: '1', platformAssignmentId: '${assignment_id}' }));
  const udf = {
    action: 'ticket_updateUDF',
    relayId: '1',
    externalSystemTicketId: 'T',
    cfName: 'In',
    cfValue: '${checked_in_on}',
  };
  const facts = { assignment: { facts: { status: 'draft' } } };

  it("returns each action's fields, without the fields that all actions of a rule share", async () => {
    const { json } = await api.ask('GET', path, key);
    const { actions, variables, examples } = composerSchema.parse(json);
    const [send, mail] = actions;
    assert.equal(send?.name, 'platform_sendAssignment');
    assert.deepEqual(
      send?.fields.filter(({ required }) => required).map(({ name }) => name),
      ['platformAssignmentId'],
    );
    assert.deepEqual(
      mail?.fields.filter(({ required }) => required).map(({ name }) => name),
      ['emails', 'subject', 'body', 'bodyHtml'],
    );
    assert.deepEqual(
      mail?.fields.filter(({ isList }) => isList).map(({ name }) => name),
      ['emails'],
    );
    assert.ok(mail?.fields.every(({ description }) => description));
    assert.ok(variables.some(({ name }) => name === 'assignment_id'));
    assert.deepEqual(examples[0]?.elements[0]?.relayAccessToken, undefined);
    assert.equal(examples.length, 4);
    const [first] = examples;
    assert(first?.elements.every(({ platformAssignmentId }) => platformAssignmentId === '${assignment_id}'));
    assert.deepEqual(
      first?.elements.map(({ delayInSeconds = '0' }) => delayInSeconds),
      ['0', '1800', '3600', '5400'],
    );
  });

  it('reports every problem at its field, and needs no token', async () => {
    const { problems, actions } = await composed([
      { ...example[0], delayInSeconds: 'soon', relayAccessToken: 'whatever' },
      { action: 'sendEmails', relayId: '1', subject: 's' },
    ]);
    assert.equal(actions, undefined);
    assert.deepEqual(
      problems.map(({ pointer }) => pointer),
      ['/0/delayInSeconds', '/1/emails', '/1/body', '/1/bodyHtml'],
    );
  });

  it('names each rule that the company does not have', async () => {
    const { problems, actions } = await composed([udf, { ...udf, relayId: '9999999' }, { ...udf, relayId: 9999999 }]);
    assert.equal(actions, undefined);
    const detail = 'names 9999999, which is not a rule of this company';
    assert.deepEqual(problems, [
      { pointer: '/1/relayId', detail },
      { pointer: '/2/relayId', detail },
    ]);
  });

  it('returns the outcome of each action for a made-up assignment', async () => {
    const { problems, warnings, hints, actions = [], variables } = await composed(example, facts);
    assert.deepEqual([problems, warnings, hints], [[], [], []]);
    assert.deepEqual(
      actions.map(({ outcome }) => outcome),
      ['runs', 'runs', 'runs', 'runs'],
    );
    assert.equal(actions[0]?.assignmentId, '1001');
    assert.deepEqual(variables, { assignment_id: '1001' });
    const sent = await composed(example, { assignment: { facts: { status: 'sent' } } });
    assert.deepEqual(
      sent.actions?.map(({ outcome }) => outcome),
      ['runs', 'skipped', 'skipped', 'skipped'],
    );
  });

  it('reports what the platform of the company cannot do, like a dry run and the request itself', async () => {
    const platform = { kind: 'workmarket', token: 't', secret: 's' } as const;
    await api.store.companies.put('market', () => ({ companyId: 'market', name: 'Market', timeZone: 'UTC', platform }), actor);
    const rule = { name: 'Rule', onFailure: 'hold', onUnknown: 'resend', relayId: '9' } as const;
    const made = await api.store.rules.create('market', rule, actor);
    assert(typeof made === 'object');
    const send = {
      action: 'platform_sendAssignment',
      relayId: '9',
      platformAssignmentId: '1',
      groupId: 'Gold',
      sendRadius: '150',
    };
    const elements = [send, { ...send, sendRadius: '100' }, { ...send, sendRadius: '2.5' }];
    const cannot = 'WorkMarket accepts only whole miles from 1 to 100 in sendRadius';
    const warnings = [0, 2].map((index) => ({ pointer: `/${index}`, detail: `cannot be done, because ${cannot}` }));
    const draft = await api.ask('POST', '/co/market/chains/compose', adminToken, { elements });
    const one = composedSchema.parse(draft.json);
    assert.deepEqual(one.warnings, warnings);
    assert.deepEqual([one.actions?.[0]?.outcome, one.actions?.[0]?.reason], ['needs-attention', cannot]);
    const sent = elements.map((element) => ({ ...element, relayAccessToken: made.relayAccessToken }));
    const dry = await api.ask('POST', '/co/market/relay?dryRun=true', adminToken, sent);
    assert.deepEqual([dry.status, dry.json.warnings, dry.json.actions[0].reason], [200, warnings, cannot]);
  });

  it('without an assignment, returns no outcome for an action that depends on it', async () => {
    const { actions = [] } = await composed(example);
    assert.deepEqual(
      actions.map(({ outcome, reason }) => [outcome, reason]),
      [['runs', undefined], ...[1, 2, 3].map(() => ['unknown', 'the result depends on the assignment'])],
    );
  });

  it('plays a scenario', async () => {
    const [some] = (await composed(example, { scenarios: ['nobody-accepts'] })).rehearsals ?? [];
    assert.match(some?.remark ?? '', /nobody gets a message/);
    assert.deepEqual(some?.actions.map(({ outcome, reason, condition }) => [outcome, reason, condition]).at(-1), [
      'skipped',
      'status was "sent"',
      undefined,
    ]);
    const [down] = (await composed(example, { scenarios: ['platform-down'], ...facts })).rehearsals ?? [];
    assert.ok((down?.actions[0]?.toldAfterSeconds ?? 0) > 0);
    assert.ok((down?.actions[0]?.afterSeconds ?? 0) >= 3600);
  });

  it('formats a timestamp as the chain will write it, even if other fields are wrong', async () => {
    const { timestamps } = await composed([
      { ...udf, cfTargetDateFormat: 'yyyy-MM-dd HH:mm z' },
      { ...udf, cfTargetDateFormat: 'bad' },
      { ...udf, cfTargetDateFormat: 'HH', cfValue: 'noon', externalSystemTicketId: undefined },
      udf,
    ]);
    assert.deepEqual(timestamps[0], { pointer: '/0/cfTargetDateFormat', detail: '2026-07-01 08:00 EDT', written: true });
    assert.match(timestamps[1]?.detail ?? '', /^cfTargetDateFormat .*character 1: “b”/);
    assert.match(timestamps[2]?.detail ?? '', /is not a date or time that the relay can read/);
    assert.equal(timestamps.length, 3);
    const { actions } = await composed([udf], { variables: { checked_in_on: 'a\nb' } });
    assert.deepEqual(actions?.[0]?.effect, { ticketId: 'T', field: 'In', value: 'a\nb' });
  });

  describe('the contents of a rule', () => {
    const mail = {
      action: 'sendEmails',
      emails: ['${event.manager}'],
      subject: '${note}',
      body: '${note}',
      bodyHtml: '<p>${note}</p>',
    };
    const contents = {
      when: 'event.status == "created"',
      variables: { assignment: { path: 'workorder.id' }, note: { path: 'note' } },
      actions: [
        { action: 'platform_sendAssignment', platformAssignmentId: '${event.workorder.id}', sendRadius: '5' },
        { ...mail, platformAssignmentId: '${event.workorder.id}', delayInSeconds: '1800', if: 'assignment.status == "draft"' },
      ],
    };
    const variables = { note: { path: 'note' } };
    const event = { status: 'created', workorder: { id: 1001 }, manager: 'ada@example.com', note: 'Ladder & gloves' };
    const rehearsed = async (more: object) => {
      const asked = { contents: { ...contents, variables }, relayId: '1', ...more };
      const { status, json, text } = await api.ask('POST', path, key, asked);
      assert.equal(status, 200, text);
      return composedSchema.parse(json);
    };

    it('are rehearsed with an event, in several scenarios at once', async () => {
      const told = await rehearsed({ event, ...facts, scenarios: ['now', 'nobody-found', 'nobody-accepts'] });
      assert.deepEqual([told.problems, told.applies, told.variables], [[], true, { note: 'Ladder & gloves' }]);
      assert.deepEqual(
        told.actions?.map(({ outcome, assignmentId }) => [outcome, assignmentId]),
        [
          ['runs', '1001'],
          ['runs', '1001'],
        ],
      );
      assert.match(JSON.stringify(told.actions?.[1]?.effect), /<p>Ladder &amp; gloves<\/p>/);
      assert.deepEqual(
        told.rehearsals?.map(({ scenario, actions }) => [scenario, actions.map(({ outcome }) => outcome)]),
        [
          ['now', ['runs', 'runs']],
          ['nobody-found', ['runs', 'runs']],
          ['nobody-accepts', ['runs', 'skipped']],
        ],
      );
      assert.equal(told.rehearsals?.[1]?.actions[1]?.afterSeconds, 1800);
    });

    it('may not apply to an event, may refuse it, or may have mistakes', async () => {
      const other = await rehearsed({ event: { ...event, status: 'cancelled' } });
      assert.deepEqual([other.applies, other.problems, other.actions], [false, [], undefined]);
      assert.match(other.reason ?? '', /cancelled/);
      const refuse = { note: { path: 'remark', missing: 'refuse' } };
      const refused = await rehearsed({ event, contents: { ...contents, variables: refuse } });
      assert.deepEqual(
        refused.problems.map(({ pointer }) => pointer),
        ['/variables/note'],
      );
      const wrong = await rehearsed({ event, contents });
      assert.deepEqual(
        wrong.problems.map(({ pointer }) => pointer),
        ['/variables/assignment'],
      );
      const odd = await rehearsed({ event, contents: { variables, actions: [{ ...mail, subject: 'a $${ b' }] } });
      assert.deepEqual([odd.problems, odd.hints, odd.actions?.length], [[], [], 1]);
    });

    it('are rehearsed with a stored event, or with the last event', async () => {
      const none = await rehearsed({});
      assert.deepEqual([none.event, none.eventId, none.applies], [{}, undefined, undefined]);
      for (const [eventId, note] of [
        ['one', 'First'],
        ['two', 'Second'],
      ] as const) {
        const body = JSON.stringify({ ...event, note });
        const stored = { companyId: 'acme', relayId: '1', eventId, body, bytes: body.length, hash: 'h', version: 1 };
        api.store.events.add({ ...stored, receivedAt: new Date().toISOString(), outcome: 'not-applicable' });
      }
      const last = await rehearsed({});
      assert.deepEqual([last.eventId, last.variables.note], ['two', 'Second']);
      assert.deepEqual((await rehearsed({ eventId: 'one' })).variables.note, 'First');
      const ask = (more: object) => api.ask('POST', path, key, { contents, relayId: '1', ...more });
      assert.deepEqual([(await ask({ eventId: 'none' })).status, (await ask({ relayId: '404' })).status], [404, 404]);
      assert.deepEqual([(await ask({ relayId: undefined })).status, (await ask({ elements: [] })).status], [400, 400]);
    });
  });

  it('a scenario says that nothing works with an assignment that the platform does not have', async () => {
    const asked = { assignment: { id: '404404' }, scenarios: ['nobody-found'] };
    const [{ actions = [] } = {}] = (await composed(example, asked)).rehearsals ?? [];
    for (const { outcome, reason } of actions)
      assert.deepEqual(
        [outcome, reason],
        ['needs-attention', `Assignment 404404 does not exist (GET /assignments/404404 answered 404 Not Found)`],
      );
  });

  it("works for the key's own company only, and refuses invalid input", async () => {
    assert.equal((await api.ask('POST', path, undefined, { elements: [] })).status, 401);
    assert.equal((await api.ask('POST', '/co/other/chains/compose', key, { elements: [] })).status, 401);
    assert.equal((await api.ask('POST', '/co/other/chains/compose', adminToken, { elements: [] })).status, 404);
    for (const body of [
      {},
      { elements: {} },
      { elements: [1] },
      { elements: [], assignment: {} },
      { elements: [], scenarios: ['x'] },
    ])
      assert.equal((await api.ask('POST', path, key, body)).status, 400, JSON.stringify(body));
    const tooMany = await api.ask('POST', path, key, { elements: Array.from({ length: 101 }, () => udf) });
    assert.deepEqual(tooMany.json.errors, [{ pointer: '/elements', detail: 'has 101 actions; at most 100 are allowed' }]);
    const { problems } = await composed([]);
    assert.deepEqual(problems, [{ pointer: '', detail: 'must have at least one action' }]);
  });
});
