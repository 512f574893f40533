import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Keyring } from '../../../src/contract/encryption.js';
import { problemSchema } from '../../../src/contract/problem.js';
import { type Tried, tryResponse } from '../../../src/contract/rule-contents.js';
import { eventsResponse, notApplicableSchema, wholeEventSchema } from '../../../src/contract/rule-event.js';
import { adminToken, wholeApi } from '../../api/whole-api.js';
import { forgetful } from '../../hostile/api.js';

const path = '/admin/companies/acme/rules/1';
const send = { action: 'platform_sendAssignment', platformAssignmentId: '${id}', sendRadius: '5' };
const mail = {
  action: 'sendEmails',
  emails: ['${event.manager}'],
  subject: '${id}: ${note}',
  body: '${note}',
  bodyHtml: '<p>${note}</p>',
};
const variables = { id: { path: 'workorder.id', missing: 'refuse' }, note: { path: 'note' } };
const contents = { when: 'event.status == "created"', variables, actions: [send, mail] };

describe('trying a rule', () => {
  let api: Awaited<ReturnType<typeof wholeApi>>;
  let key: string;
  let token: string;
  let ids: string[] = [];
  before(async () => {
    const keyring = new Keyring(`k:${Buffer.alloc(32, 1).toString('base64')}`);
    api = await wholeApi({ keyring, client: forgetful });
    const company = { name: 'Acme', notify: { emails: ['ops@example.com'] }, mail: { recipientDomains: ['acme.example'] } };
    assert.equal((await api.ask('PUT', '/admin/companies/acme', adminToken, company)).status, 201);
    const rule = await api.ask('POST', '/admin/companies/acme/rules', adminToken, { name: 'Rule', relayId: '1' });
    token = rule.json.relayAccessToken;
    key = (await api.ask('POST', '/admin/companies/acme/keys', adminToken, { name: 'author', role: 'author' })).json.key;
    await api.ask('PUT', `${path}/draft`, key, { revision: 0, contents });
    const published = await api.ask('POST', `${path}/publish`, key, { revision: 1 });
    assert.equal(published.status, 201, published.text);
    ids = keep([
      event({ workorder: { id: 1001 } }),
      event({ workorder: { id: 1002 }, note: 'Bring a ladder' }),
      event({ workorder: { id: 1003 }, status: 'cancelled', phone: '555' }),
      event({ workorder: {} }),
      event({ workorder: { id: 1005 }, manager: 'eve@evil.example' }),
    ]);
  });
  after(() => api.close());

  const event = (more: object) => ({ status: 'created', manager: 'ada@acme.example', note: 'Hello', ...more });
  function keep(events: readonly object[], received = Date.now()): string[] {
    return events.map((one, place) => {
      const body = JSON.stringify(one);
      const eventId = `e${received}-${place}`;
      const receivedAt = new Date(received).toISOString();
      const facts = { outcome: 'not-applicable', version: 1, reason: 'none', hash: 'h' } as const;
      api.store.events.add({ companyId: 'acme', relayId: '1', eventId, receivedAt, bytes: body.length, body, ...facts });
      return eventId;
    });
  }
  async function tried(asked: object): Promise<Tried> {
    const { status, json, text } = await api.ask('POST', `${path}/try`, key, asked);
    assert.equal(status, 200, text);
    return tryResponse.parse(json);
  }
  const outcomes = ({ events }: Tried) =>
    Object.fromEntries(events.map(({ eventId, outcome }) => [ids.indexOf(eventId), outcome]));

  it('compares, for each event, the tried contents with the published version', async () => {
    const same = await tried({});
    assert.deepEqual([same.tried, same.counts], [5, { same: 4, 'not-applicable': 1 }]);
    const noted = { ...contents, actions: [{ ...send, sendRadius: '25' }, mail] };
    const { counts, events } = await tried({ contents: noted });
    assert.deepEqual(counts, { different: 2, 'not-applicable': 1, same: 2 });
    const [difference] = events.find(({ eventId }) => eventId === ids[0])?.differences ?? [];
    assert.deepEqual(difference, { action: 0, field: 'sendRadius', before: '5', after: '25' });
  });

  it('reports each kind of outcome', async () => {
    const other = {
      when: 'event.status == "cancelled" || event.note == "Bring a ladder"',
      variables: { ...variables, phone: { path: 'phone' } },
      actions: [send, { ...mail, body: '${note} ${phone}' }],
    };
    const result = await tried({ contents: other });
    assert.deepEqual(outcomes(result), {
      0: 'no-longer-applies',
      1: 'needs-attention',
      2: 'applies-now',
    });
    assert.equal(result.counts['not-applicable'], 2);
  });

  it('compares a version with another version, for chosen events or for the events of a period', async () => {
    assert.deepEqual((await tried({ version: 1, against: 1, events: { last: 2 } })).tried, 2);
    assert.deepEqual((await tried({ events: { ids: ids.slice(0, 3) } })).tried, 3);
    assert.deepEqual((await tried({ events: { since: '2099-01-01T00:00:00Z' } })).tried, 0);
    for (const unknown of [{ version: 9 }, { against: 9 }])
      assert.equal((await api.ask('POST', `${path}/try`, key, unknown)).status, 404);
  });

  it('says so if the rule has no draft', async () => {
    await api.ask('POST', '/admin/companies/acme/rules', adminToken, { name: 'New', relayId: '2' });
    const { status, json } = await api.ask('POST', '/admin/companies/acme/rules/2/try', key, {});
    assert.deepEqual(
      [status, json.detail],
      [404, 'There is no draft of rule 2 to try. Change the rule first: a change makes a draft.'],
    );
  });

  it('names the mistakes of contents, and tries nothing', async () => {
    const { problems, ...rest } = await tried({ contents: { actions: [] } });
    assert.deepEqual(rest, { tried: 0, counts: {}, events: [] });
    assert.deepEqual(
      problems.map(({ pointer }) => pointer),
      ['/actions'],
    );
  });

  it('tries 1,000 events, and shows at most 200 of them, each with at most 20 differences', async () => {
    const many = Array.from({ length: 1000 }, (_, id) => event({ workorder: { id: 2000 + id } }));
    keep(many, Date.now() + 1000);
    const asked = { contents: { ...contents, actions: [{ ...send, sendRadius: '25' }] }, against: 1 };
    const result = await tried({ ...asked, events: { last: 1000 } });
    assert.deepEqual([result.tried, result.counts, result.events.length], [1000, { different: 1000 }, 200]);
    const more = Array.from({ length: 30 }, () => ({ ...send, sendRadius: '25' }));
    const { events } = await tried({ contents: { ...contents, actions: more }, events: { last: 2 } });
    assert.ok(events.every(({ differences = [] }) => differences.length === 20));
    assert.equal(result.stopped, undefined);
  });

  it('does not delay other requests', async () => {
    const more = { ...contents, actions: [send, mail, mail] };
    let isDone = false;
    const trying = tried({ contents: more, events: { last: 300 } }).finally(() => {
      isDone = true;
    });
    let answered = 0;
    for (; !isDone; answered += 1) assert.equal((await api.ask('GET', '/healthz')).status, 200);
    await trying;
    assert.ok(answered > 1, `${answered} answers`);
  });

  it('refuses a trial while two other trials of the company run', async () => {
    const asked = await Promise.all(Array.from({ length: 4 }, () => api.ask('POST', `${path}/try`, key, {})));
    const statuses = asked.map(({ status }) => status).sort();
    assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.at(-1)], [2, 429]);
  });

  describe('the events', () => {
    it('are listed, filtered, paged and read, with variables', async () => {
      const list = async (query = '') => {
        const { json, text, status } = await api.ask('GET', `${path}/events${query}`, key);
        assert.equal(status, 200, text);
        return eventsResponse.parse(json);
      };
      const first = await list('?limit=2');
      const next = await list(`?limit=2&cursor=${first.nextCursor}`);
      assert.equal(new Set([...first.events, ...next.events].map(({ eventId }) => eventId)).size, 4);
      assert.deepEqual((await list('?outcome=chain')).events, []);
      assert.deepEqual((await list('?since=2099-01-01T00:00:00Z')).events, []);
      assert.equal((await api.ask('GET', `${path}/events?outcome=other`, key)).status, 400);
      const { json } = await api.ask('GET', `${path}/events/${ids[1]}`, key);
      const whole = wholeEventSchema.parse(json);
      assert.deepEqual(whole.variables, { id: '1002', note: 'Bring a ladder' });
      assert.deepEqual(whole.event, event({ workorder: { id: 1002 }, note: 'Bring a ladder' }));
      assert.equal((await api.ask('GET', `${path}/events/none`, key)).status, 404);
    });

    it('are sent again only if a person confirms it, as new events', async () => {
      const resend = (place: number, body: object) => api.ask('POST', `${path}/events/${ids[place]}/resend`, key, body);
      const asked = await resend(0, {});
      assert.equal(asked.status, 409);
      const { errors = [], type } = problemSchema.parse(asked.json);
      assert.deepEqual([type, errors.length], ['/problems/not-confirmed', 2]);
      assert.match(errors[0]?.detail ?? '', /"platformAssignmentId":"1001"/);

      const no = await resend(2, { version: 'same' });
      assert.equal(no.status, 200, no.text);
      assert.equal(notApplicableSchema.parse(no.json).version, 1);
      assert.equal((await resend(3, { confirm: true })).json.type, '/problems/event-refused');

      const yes = await resend(0, { confirm: true });
      assert.equal(yes.status, 202, yes.text);
      assert.notEqual(yes.json.eventId, ids[0]);
      for (;;) {
        const answer = await api.ask('GET', `${path}/events/${yes.json.eventId}`, key);
        if (answer.status === 404) continue;
        assert.deepEqual([answer.json.resentFrom, answer.json.outcome], [ids[0], 'chain']);
        break;
      }
      const { entries } = (await api.ask('GET', '/admin/companies/acme/audit?limit=200', adminToken)).json;
      const [entry] = entries.filter(({ action }: { action: string }) => action === 'event.resend');
      assert.deepEqual([entry.details.eventId, entry.details.newEventId], [ids[0], yes.json.eventId]);
    });

    it('that the rule refused run after the rule is corrected; a repeated event gets the same chain', async () => {
      const refused = event({ id: 'new', note: 'Late' });
      const post = () => api.ask('POST', '/co/acme/events/1', token, refused);
      await api.ask('PUT', `${path}/door`, key, { dedupeBy: 'id' });
      assert.equal((await post()).json.type, '/problems/event-refused');
      const { json } = await api.ask('GET', `${path}/events?outcome=refused`, key);
      const { eventId, rejectedId } = eventsResponse.parse(json).events[0] ?? assert.fail();
      assert.ok(rejectedId);
      const resend = () => api.ask('POST', `${path}/events/${eventId}/resend`, key, { confirm: true });
      assert.equal((await resend()).json.type, '/problems/event-refused');
      const corrected = { ...contents, variables: { ...variables, id: { path: 'id' } } };
      assert.equal((await api.ask('PUT', `${path}/draft`, key, { revision: 1, contents: corrected })).status, 200);
      assert.equal((await api.ask('POST', `${path}/publish`, key, { revision: 2 })).status, 201);
      const ran = await resend();
      assert.equal(ran.status, 202, ran.text);
      assert.equal((await resend()).json.type, '/problems/already-resent');
      const request = await api.ask('GET', `/co/acme/rejected/${rejectedId}`, key);
      assert.equal(request.json.chainId, ran.json.chainId);
      assert.equal((await post()).json.chainId, ran.json.chainId, 'the same key, so the same chain');
    });

    it('are counted by what a shadow version would have done', async () => {
      await api.ask('PUT', `${path}/shadow`, key, { version: 1 });
      const { json } = await api.ask('GET', `${path}/events`, key);
      assert.deepEqual(eventsResponse.parse(json).shadowCounts, {});
    });
  });
});
