/** Versions and events of a rule, against a scripted API. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Asked, problem, type ScriptedAnswer, scripted } from '../../../cli/local-api.js';
import { relay, type Scripted } from '../../../cli/scripted-terminal.js';

const at = '2026-07-01T12:00:00.000Z';
const rule = '/admin/companies/acme/rules/4711';
const resource = {
  ...{ relayId: '4711', name: 'Widen', enabled: true, onFailure: 'hold', onUnknown: 'resend', published: 4 },
  ...{ createdAt: at, updatedAt: at },
};
const version = { version: 4, publishedAt: at, publishedBy: 'key dana', note: 'Wider radius' };
const diff = {
  same: false,
  when: { after: 'event.priority > 2' },
  fields: [{ field: 'when', after: 'event.priority > 2' }],
  variables: [{ field: 'note', before: { path: 'a' }, after: { path: 'b' } }],
  actions: [
    { before: 0, after: 1, action: 'sendEmails', changes: [{ field: 'body', before: 'Hello', after: 'Hello\nDana' }] },
    { after: 0, action: 'platform_sendAssignment', changes: [{ field: 'sendRadius', after: '5' }] },
    { before: 2, action: 'ticket_updateUDF', changes: [] },
  ],
};
const tried = {
  tried: 200,
  counts: { same: 187, different: 12, 'would-be-refused': 1 },
  problems: [],
  events: [
    {
      eventId: 'e1',
      receivedAt: at,
      assignmentId: '1001',
      outcome: 'different',
      differences: [{ action: 1, field: 'body', before: 'a', after: 'b' }],
    },
    { eventId: 'e2', receivedAt: at, outcome: 'would-be-refused', reason: 'no value' },
  ],
};
const sum = 'The relay tried the rule on 200 events: 12 events would start a different chain; 1 event would be refused.';
const diffText = `when
  + event.priority > 2
variables.note
  - {"path":"a"}
  + {"path":"b"}
action 1 sendEmails (was action 0)
  body
    - Hello
    + Hello
    + Dana
action 0 platform_sendAssignment (new)
  sendRadius
    + 5
action 2 ticket_updateUDF (removed)
`;

describe('the versions and events of a rule', () => {
  let answers: Record<string, ScriptedAnswer> = {};
  let server: Awaited<ReturnType<typeof scripted>>;
  before(async () => {
    server = await scripted(
      ({ method, path }: Asked) => answers[`${method} ${path.replace(`${rule}/`, '')}`] ?? problem(404, 'Not found', path),
    );
  });
  after(() => server.close());

  function run(words: string, given: Record<string, object>, scripted: Scripted = {}) {
    server.asked.length = 0;
    answers = Object.fromEntries(
      Object.entries(given).map(([key, body]) => [key, 'status' in body ? (body as ScriptedAnswer) : { body }]),
    );
    return relay(words.split(' '), { env: { RELAY_URL: server.url, RELAY_KEY: 'k' }, ...scripted });
  }
  const bodies = (method: string) =>
    server.asked
      .filter((asked) => asked.method === method)
      .map(({ path, body }) => [path.replace(`${rule}/`, ''), JSON.parse(body)]);

  it('lists the versions', async () => {
    const versions = [{ ...version, version: 5, fromVersion: 3, note: undefined }, version];
    const { out } = await run('rules versions acme 4711', { 'GET versions?limit=50': { versions, published: 5, shadow: 4 } });
    assert.match(
      out,
      /^VERSION +PUBLISHED +BY +SAME AS +NOTE\n5 .* key dana +3\n4 .* key dana +Wider radius\n\nThe shadow version is 4\.\n$/,
    );
    assert.match(
      (await run('rules versions acme 4711', { 'GET versions?limit=50': { versions: [] } })).err,
      /no published version/,
    );
  });

  it('shows differences', async () => {
    assert.equal((await run('rules diff acme 4711 3 draft', { 'GET versions/3/diff?with=draft': diff })).out, diffText);
    const same = { same: true, variables: [], actions: [] };
    assert.equal((await run('rules diff acme 4711 3', { 'GET versions/3/diff': same })).out, 'No differences.\n');
    assert.equal((await run('rules diff acme 4711 x', {})).exitCode, 2);
  });

  it('tries a version on past events', async () => {
    const { out } = await run('rules try acme 4711 3 --events e1,e2', { 'POST try': tried });
    assert.match(
      out,
      new RegExp(
        `^${sum}\n\nEVENT +RECEIVED +ASSIGNMENT +OUTCOME +WHAT\ne1 .* 1001 +different +1 body\ne2 .* would-be-refused +no value\n$`,
      ),
    );
    assert.deepEqual(bodies('POST'), [['try', { version: 3, events: { ids: ['e1', 'e2'] } }]]);
    const none = { tried: 0, counts: {}, problems: [], events: [] };
    assert.equal((await run('rules try acme 4711', { 'POST try': none })).out, 'There are no events to try the rule on.\n');
    assert.deepEqual(bodies('POST'), [['try', { version: 'draft', events: { last: 200 } }]]);
    await run(`rules try acme 4711 --since ${at} --until ${at}`, { 'POST try': none });
    assert.deepEqual(bodies('POST'), [['try', { version: 'draft', events: { since: at, until: at } }]]);
    const same = { ...none, tried: 1, counts: { same: 1 }, stopped: true };
    assert.match(
      (await run('rules try acme 4711', { 'POST try': same })).out,
      /^The relay tried the rule on 1 event \(there was no time for more events\): nothing would change\.\n$/,
    );
    const wrong = { ...none, problems: [{ pointer: '/when', detail: 'ends too early' }] };
    assert.match((await run('rules try acme 4711', { 'POST try': wrong })).out, /mistakes.*\n {2}\/when +ends too early\n$/);
    assert.equal((await run('rules try acme 4711 --last 5 --events e1', {})).exitCode, 2);
  });

  const shown = { [`GET ${rule}`]: resource, 'POST try': tried };
  it('publishes the draft, after it has shown the differences', async () => {
    const given = {
      ...shown,
      'GET draft': { revision: 7, problems: [], warnings: [] },
      'GET versions/4/diff?with=draft': diff,
      'POST publish': { status: 201, body: { ...version, version: 5 } },
    };
    const { out, err, exitCode } = await run('rules publish acme 4711 --note Why', given, { reply: 'y' });
    assert.equal(err, 'Publish the draft of rule 4711? New events will run it. y/N ');
    assert.ok(out.startsWith(`${diffText}\n${sum}\nVersion 5 is published.\n`), out);
    assert.deepEqual([exitCode, bodies('POST').at(-1)], [0, ['publish', { revision: 7, note: 'Why' }]]);
    assert.equal((await run('rules publish acme 4711', given, { reply: 'n' })).exitCode, 2);
    assert.equal((await run('rules publish acme 4711', given)).exitCode, 2);
    assert.deepEqual(
      bodies('POST').map(([path]) => path),
      ['try'],
    );
  });

  it('goes back to an old version', async () => {
    const given = {
      ...shown,
      'GET versions/4/diff?with=3': diff,
      'POST versions/3/publish': { ...version, version: 5, fromVersion: 3 },
    };
    const { out } = await run('rules go-back acme 4711 3 --yes', given);
    assert.match(out, /Version 5 is published\.\n/);
    assert.deepEqual(bodies('POST'), [
      ['try', { version: 3 }],
      ['versions/3/publish', {}],
    ]);
  });

  const event = { eventId: 'e1', relayId: '4711', receivedAt: at, bytes: 12, outcome: 'chain', version: 4, chainId: 'c1' };
  it('lists events, and shows one', async () => {
    const listed = {
      events: [event, { ...event, eventId: 'e2', outcome: 'refused', shadow: { version: 5, outcome: 'same' } }],
      shadowCounts: { same: 1 },
    };
    const { out } = await run(`events list acme 4711 --outcome chain --since ${at}`, {
      [`GET events?outcome=chain&since=${encodeURIComponent(at)}&limit=50`]: listed,
    });
    assert.match(
      out,
      /^EVENT +RECEIVED +ASSIGNMENT +OUTCOME +VERSION +CHAIN +SHADOW +REASON\ne1 .* chain +4 +c1\ne2 .* refused +4 +c1 +5: same\n\nOutcomes of the shadow version:\n {2}same +1\n$/,
    );
    const whole = { ...event, event: { id: 'A1' }, variables: { id: 'A1' } };
    assert.match(
      (await run('events show acme 4711 e1', { 'GET events/e1': whole })).out,
      /variables\.id +A1\n\n\{\n {2}"id": "A1"\n\}\n$/,
    );
  });

  it('resends an event, after it has shown the actions', async () => {
    const accepted = {
      ...{
        eventId: 'e9',
        version: 4,
        applies: true,
        chainId: 'c9',
        workflowId: 'w',
        receivedAt: at,
        warnings: [],
        links: { chain: 'http://relay.example/c9' },
      },
      actions: [],
    };
    const unsure = {
      status: 409,
      body: {
        type: '/problems/not-confirmed',
        title: 'Not confirmed',
        status: 409,
        detail: '',
        errors: [{ pointer: '/0', detail: '{"action":"sendEmails"}' }],
      },
    };
    const { out } = await run('events resend acme 4711 e1 --same-version --yes', {
      'POST events/e1/resend': { status: 202, body: accepted },
    });
    assert.match(out, /^Chain c9 is accepted\./);
    assert.deepEqual(bodies('POST'), [['events/e1/resend', { version: 'same', confirm: true }]]);
    const asked = await run('events resend acme 4711 e1', { 'POST events/e1/resend': unsure }, { reply: 'n' });
    assert.match(asked.err, /^These actions would run:\n\{"action":"sendEmails"\}\nRun all these actions\?/);
    const none = { eventId: 'e9', version: 4, applies: false, reason: 'event.n was 1' };
    assert.equal(
      (await run('events resend acme 4711 e1 --yes', { 'POST events/e1/resend': none })).out,
      'Version 4 does not apply to the event: event.n was 1\n',
    );
  });
});
