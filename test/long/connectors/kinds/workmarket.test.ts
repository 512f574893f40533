import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import type { Call } from '../../../../src/connectors/call.js';
import { ConnectorError } from '../../../../src/connectors/call.js';
import type { HttpClient } from '../../../../src/connectors/http.js';
import { workmarket } from '../../../../src/connectors/kinds/workmarket.js';
import type { Order } from '../../../../src/connectors/platforms.js';
import { Memory } from '../../../../src/connectors/session.js';
import { workmarketDoubts } from '../../../../src/sandbox/vendors/workmarket.js';
import { failing } from '../../../connectors/failing.js';
import { answering, type Received, startHttp } from '../../../connectors/local-http.js';
import { describeManySends } from '../../../connectors/many-sends.js';
import { connected, type Doubts, draft, effect, http, type Kept, settings } from '../../../connectors/workmarket.js';
import { extent, isRelease } from '../../../extent.js';
import fixtures from '../../../fixtures/workmarket.json' with { type: 'json' };

describe('WorkMarket', { concurrency: 16 }, () => {
  const cases: [string, Doubts][] = [
    ['the usual settings', {}],
    ...Object.entries(workmarketDoubts).map(([name, usual]): [string, Doubts] => [`${name}: ${!usual}`, { [name]: !usual }]),
  ];
  for (const [name, doubts] of cases) describe(`with ${name}`, { concurrency: 1 }, () => suite(doubts));
});

function suite(doubts: Doubts): void {
  let it_: Awaited<ReturnType<typeof connected>>;
  beforeEach(async () => {
    it_ = await connected(doubts);
  });
  afterEach(() => it_.close());
  const call = (more: Partial<Call> = {}): Call => ({ timeoutMs: 20_000, attempt: 1, ...more });
  /** This time limit is short enough for a test that waits for its end, and long enough for a send. */
  const short = { timeoutMs: 8_000 };
  const assignment = () => it_.vendor.state.assignments.get(draft) ?? assert.fail();
  const group = (id: number) => it_.vendor.state.groups.find((group) => group.id === id) ?? assert.fail();

  it('shows an assignment with its custom fields, and asks for one access token', async () => {
    const { platform, requests } = it_;
    const shown = await platform.getAssignment(draft, call());
    assert.deepEqual(
      [shown.status, shown.custom_field_701, shown.custom_field_702, (shown.location as { zip: string }).zip],
      ['draft', 'T20260105.0674', '', '10011'],
    );
    assert.equal((await platform.getAssignment('6029116325', call())).status, 'active');
    assert.equal(requests('/authorization/').filter(({ status }) => status === 200).length, 1);
  });

  it('says that an assignment does not exist, or the relay has no access', async () => {
    for (const id of ['1', '7000000000', 'no number', '..'])
      for (const asked of [it_.platform.getAssignment(id, call()), effect(it_.platform, {}, id).send()]) {
        const error = await failing(asked);
        assert.equal(error.kind, 'permanent', error.message);
        assert.match(error.facts.title ?? '', /^Assignment .* does not exist at WorkMarket, or the relay has no access$/);
        assert.ok(error.facts.remedy);
      }
    assert.equal(it_.sends().length, 0);
  });

  it('sends to groups by number and by name, and counts the workers', async () => {
    const { send } = effect(it_.platform, { groupIds: ['11', 'cabling CREW'], radiusMiles: 50 });
    assert.deepEqual(await send(), { recipients: 4 });
    assert.deepEqual(withoutToken(it_.sends()[0]?.body), { group_id: ['11', '12'], send_radius: '50' });
    assert.equal(assignment().status, 'sent');
  });

  it('lets WorkMarket choose the radius if the action has none, and selects no group twice', async () => {
    assert.deepEqual(await effect(it_.platform, { groupIds: ['Till technicians', '11'] }).send(), { recipients: 2 });
    assert.deepEqual(withoutToken(it_.sends()[0]?.body), { group_id: '11' });
  });

  it('lets WorkMarket select the workers if there are no groups', async () => {
    assert.deepEqual(await effect(it_.platform, { groupIds: [], radiusMiles: 10 }).send(), { recipients: 2 });
    assert.deepEqual(withoutToken(it_.sends()[0]?.body), { auto_invite: 'true', send_radius: '10' });
  });

  it('refuses a group or a radius before it sends', async () => {
    it_.vendor.state.groups.push({ ...group(12), id: 16 });
    const cases: [Partial<Order>, RegExp, RegExp][] = [
      [{ groupIds: ['99'] }, /There is no group "99"/, /groupId or sendToGroups/],
      [{ groupIds: ['11', 'Nobody'] }, /There is no group "Nobody"/, /groupId or sendToGroups/],
      [{ groupIds: ['14'] }, /Till technicians \(14\) is deleted/, /groupId or sendToGroups/],
      [{ groupIds: ['winter pool'] }, /Winter pool \(13\) is not active/, /Make it active/],
      [{ groupIds: ['Cabling crew'] }, /"Cabling crew" is the name of several groups/, /the number of one group: 12, 16/],
      ...[0, 101, 2.5, -1].map((radiusMiles): [Partial<Order>, RegExp, RegExp] => [
        { radiusMiles },
        /whole miles from 1 to 100/,
        /retry/,
      ]),
    ];
    for (const [order, title, remedy] of cases) {
      const error = await failing(effect(it_.platform, order).send());
      assert.equal(error.kind, 'permanent');
      assert.match(error.facts.title ?? '', title);
      assert.match(error.facts.remedy ?? '', remedy);
    }
    assert.equal(it_.sends().length, 0);
  });

  it('finds a group that is new since the groups were listed', async () => {
    await effect(it_.platform).send();
    it_.vendor.state.groups.push({ ...group(12), id: 17, name: 'New crew' });
    it_.vendor.state.workers.push({ id: '1008', email: 'hal@example.com', miles: 1, groups: [17] });
    assert.deepEqual(await effect(it_.platform, { groupIds: ['New crew'] }).send(), { recipients: 1 });
  });

  it('waits for a queued send to have its effect, also on an assignment that was sent before', async () => {
    it_.vendor.state.queueMs = 700;
    assert.deepEqual(await effect(it_.platform).send(), { recipients: 2 });
    assert.deepEqual(await effect(it_.platform, { groupIds: ['12'] }).send(), { recipients: 2 });
  });

  it('says that a send reached nobody yet', async () => {
    const { send } = effect(it_.platform, { groupIds: ['15'] });
    const nobody = { recipients: 0, note: 'WorkMarket accepted the send, but no technician has received the assignment yet' };
    assert.deepEqual(await send(short), nobody);
    assert.equal(assignment().status, 'draft');
    it_.fail({ name: 'reaches-nobody' });
    assert.deepEqual(await effect(it_.platform).send(short), nobody);
    assert.equal(it_.sends().length, 2);
  });

  it('accepts a send whose effect cannot be read', async () => {
    await it_.platform.getAssignment(draft, call());
    const { vendor } = it_;
    vendor.state.queueMs = 60_000;
    const run = effect(it_.platform);
    const done = run.send({
      ...short,
      keep: async (data) => {
        if ((data as Kept).sending) setTimeout(() => it_.fail({ name: 'server-error', method: 'GET' }), 100);
      },
    });
    const { note = '' } = await done;
    assert.match(note, /accepted the send/);
  });

  it('names the groups that WorkMarket refuses; the next attempt omits the groups that have got the assignment', async () => {
    await effect(it_.platform, { groupIds: ['15'] }).send(short); // lists the groups
    group(12).deleted = true;
    const run = effect(it_.platform, { groupIds: ['11', '12'] });
    const error = await failing(run.send());
    assert.equal(error.kind, 'permanent');
    assert.match(`${error.facts.title} ${error.facts.remedy}`, /refused .*12.* retry/);
    const stops = doubts.invalidGroupStopsSend === true;
    assert.match(error.facts.title ?? '', stops ? /nothing was sent/ : /sent to Till technicians \(11\)/);
    assert.deepEqual(run.kept, { sending: false, sentTo: stops ? [] : ['11'] });
    group(12).deleted = false;
    assert.deepEqual(await run.send(), { recipients: stops ? 4 : 2 });
    assert.deepEqual(withoutToken(it_.sends().at(-1)?.body), { group_id: stops ? ['11', '12'] : '12' });
  });

  it('sends to nobody twice if all groups got the assignment', async () => {
    const kept = { sending: false, sentTo: ['11'] };
    assert.match((await effect(it_.platform).send({ kept })).note ?? '', /an earlier attempt sent/);
    assert.equal(it_.sends().length, 0);
  });

  const refusals: [object, RegExp, RegExp][] = [
    [{ name: 'insufficient-funds' }, /funds at WorkMarket are too low/, /Add funds/],
    [{ name: 'company-locked' }, /has locked the company/, /unlock/],
    [{ name: 'validation', path: '/send' }, /refused the send of assignment 6029116324/, /Fix the cause \(see the details\)/],
    [{ name: 'permission', path: '/send' }, /relay's user at WorkMarket has no rights/, /Give this user the rights/],
    [{ name: 'credentials' }, /does not accept the credentials/, /Enter new credentials in the company's platform settings/],
    [{ name: 'validation', path: '/groups' }, /refused the groups/, /Fix the cause \(see the details\)/],
    [{ name: 'permission', path: '/groups' }, /has no rights for/, /Give this user the rights/],
  ];
  for (const [fault, title, remedy] of refusals)
    it(`is refused: ${JSON.stringify(fault)}`, async () => {
      await it_.platform.getAssignment(draft, call());
      it_.fail(fault);
      const run = effect(it_.platform);
      const error = await failing(run.send());
      assert.equal(error.kind, 'permanent', error.message);
      assert.match(error.facts.title ?? '', title);
      assert.match(error.facts.remedy ?? '', remedy);
      assert.equal(run.kept?.sending, false);
      assert.doesNotMatch(`${error.message} ${error.facts.title} ${error.facts.remedy}`, /workmarket-(token|secret)/);
      assert.equal(assignment().status, 'draft');
    });

  it('renews an access token that has ended, before a read and before a send', async () => {
    const { platform, vendor, requests } = it_;
    await platform.getAssignment(draft, call());
    const used = () => requests('/authorization/').filter(({ status }) => status === 200).length;
    vendor.state.accessTokens.clear();
    await platform.getAssignment(draft, call());
    assert.equal(used(), 2);
    it_.fail({ name: 'token-expired', times: 1, path: '/send' });
    assert.deepEqual(await effect(platform).send(), { recipients: 2 });
    assert.equal(used(), 3);
    it_.fail({ name: 'token-expired' });
    const error = await failing(platform.getAssignment(draft, call()));
    assert.equal(error.kind, 'retryable', error.message);
    assert.match(error.facts.remedy ?? '', /that only the relay uses/);
  });

  it('renews an access token once for many effects', async () => {
    const { platform, vendor, requests } = it_;
    await platform.getAssignment(draft, call());
    vendor.state.accessTokens.clear();
    await Promise.all(Array.from({ length: 20 }, () => platform.getAssignment(draft, call())));
    assert.equal(requests('/authorization/').filter(({ status }) => status === 200).length, 2);
  });

  it('sees that a send arrived although its answer was lost', async () => {
    it_.vendor.state.queueMs = 400;
    it_.fail({ name: 'cut-off-after', times: 1, path: '/send' });
    assert.deepEqual(await effect(it_.platform).send(), {
      recipients: 2,
      note: 'the answer of WorkMarket was lost, but WorkMarket shows that the assignment was sent',
    });
    assert.equal(it_.sends().length, 1);
  });

  it('does not repeat a send with an unknown outcome, unless a person retries', async () => {
    await it_.platform.getAssignment(draft, call());
    it_.fail({ name: 'cut-off', times: 1, path: '/send' });
    const run = effect(it_.platform);
    const error = await failing(run.send(short));
    assertUnknown(error);
    assert.match(error.facts.title ?? '', /WorkMarket shows the status "draft" \(technicians: 0\), the same as before/);
    assert.deepEqual(run.kept, { sending: true, before: { status: 'draft', workers: 0 }, told: true, sentTo: [] });
    assert.equal(it_.sends().length, 1);
    assertUnknown(await failing(run.send({ ...short, attempt: 2 }))); // This attempt is not a retry by a person.
    assert.equal(it_.sends().length, 1);
    assert.deepEqual(await run.send({ attempt: 1 }), { recipients: 2 });
    assert.equal(it_.sends().length, 2);
  });

  it('looks for an earlier send before the retry of a person sends again', async () => {
    await it_.platform.getAssignment(draft, call());
    it_.vendor.state.queueMs = 60_000;
    it_.fail({ name: 'cut-off-after', times: 1, path: '/send' });
    const run = effect(it_.platform);
    assertUnknown(await failing(run.send(short)));
    for (const queued of it_.vendor.state.queue) queued.at = 0;
    assert.deepEqual(await run.send(), {
      recipients: 2,
      note: 'WorkMarket shows that the assignment was already sent, so the relay sent nothing now',
    });
    assert.equal(it_.sends().length, 1);
  });

  it('does not need another retry of a person if an attempt fails before it sends', async () => {
    const before = { status: 'draft', workers: 0 };
    const run = effect(it_.platform);
    run.kept = { sending: true, before, sentTo: [], told: true };
    it_.fail({ name: 'server-error', times: 1, path: '/groups' });
    assert.equal((await failing(run.send())).kind, 'retryable');
    assert.deepEqual(run.kept, { sending: false, before, sentTo: [] });
    assert.deepEqual(await run.send({ attempt: 2 }), { recipients: 2 });
  });

  it('looks for the send of a lost attempt, and never repeats it', async () => {
    await it_.platform.getAssignment(draft, call());
    const before = { status: 'draft', workers: 0 };
    const lost = { sending: true, before, sentTo: [] };
    for (const attempt of [1, 2]) assertUnknown(await failing(effect(it_.platform).send({ ...short, attempt, kept: lost })));
    for (const kept of [undefined, 'something else']) {
      const error = await failing(effect(it_.platform).send({ attempt: 2, kept }));
      assertUnknown(error);
      assert.match(error.facts.title ?? '', /shows the status "draft" \(technicians: 0\)$/);
    }
    assert.equal(it_.sends().length, 0);
    assignment().status = 'sent';
    assignment().invitedWorkers.push('1001');
    for (const attempt of [1, 2]) {
      const { recipients, note } = await effect(it_.platform).send({ attempt, kept: lost });
      assert.deepEqual(
        [recipients, note],
        [1, 'the answer of WorkMarket was lost, but WorkMarket shows that the assignment was sent'],
      );
    }
    assert.equal(it_.sends().length, 0);
    assert.deepEqual(await effect(it_.platform, { groupIds: ['12'] }).send({ attempt: 2, kept: { sending: false } }), {
      recipients: 2,
    });
  });

  it('distinguishes refusals from errors that may come after the send', async () => {
    await it_.platform.getAssignment(draft, call());
    const unclear = [
      { name: 'html' },
      { name: 'html', status: 200 },
      { name: 'server-error' },
      { name: 'slow', delayMs: 20_000 },
      { name: 'html', status: 302 },
    ];
    for (const fault of unclear) {
      it_.fail({ ...fault, path: '/send' });
      assertUnknown(await failing(effect(it_.platform).send(short)));
      it_.vendor.faults.now = undefined;
      it_.vendor.faults.release();
      assignment().status = 'draft';
      assignment().invitedWorkers = [];
    }
    it_.fail({ name: 'huge', path: '/send' });
    assert.match((await effect(it_.platform).send()).note ?? '', /the answer of WorkMarket was lost/);
    for (const fault of unclear.slice(0, 4)) {
      it_.fail({ ...fault, path: '/assignments/get' });
      const run = effect(it_.platform);
      const error = await failing(run.send(short));
      assert.deepEqual([error.kind, run.kept?.sending], ['retryable', false], error.message);
      it_.vendor.faults.release();
    }
  });

  it('says why an assignment with a worker cannot be sent', async () => {
    const error = await failing(effect(it_.platform, {}, '6029116325').send());
    assert.equal(error.kind, 'permanent');
    assert.match(error.message, /cannot be sent in status active/);
  });

  it('checks the connection without effect', async () => {
    const { platform } = it_;
    assert.match(await platform.check(call()), /accepts the credentials\. To check more, enter the id of an assignment/);
    const said = await platform.check(call(), { assignmentId: draft, groups: ['11', 'Cabling crew'] });
    assert.ok((await platform.names?.(call()))?.includes('Cabling crew'));
    assert.match(said, /knows the groups 11, Cabling crew\. The relay can read assignment 6029116324/);
    assert.match((await failing(platform.check(call(), { groups: ['13'] }))).facts.title ?? '', /not active/);
    assert.match((await failing(platform.check(call(), { assignmentId: '1' }))).facts.title ?? '', /does not exist/);
    it_.fail({ name: 'credentials' });
    assert.match((await failing(platform.check(call()))).facts.title ?? '', /credentials/);
    assert.equal(it_.sends().length, 0);
  });
}

function assertUnknown({ kind, facts, message }: ConnectorError): void {
  assert.deepEqual([kind, facts.settled], ['unknown', true], message);
  assert.match(facts.title ?? '', /^Nobody knows whether assignment 6029116324 was sent: WorkMarket shows/);
  assert.match(facts.remedy ?? '', /skip the step\. If not, retry/);
}

/** The form without its access token. With one of the doubtful settings, the form has the token. */
function withoutToken(body: unknown): object {
  const { access_token: _, ...form } = body as Record<string, unknown>;
  return form;
}

describe('WorkMarket, in cases that its simulator does not have', () => {
  const refusing: HttpClient = {
    ...http,
    ask: (request) => {
      if (!request.url.pathname.endsWith('/send')) return http.ask(request);
      throw new ConnectorError('retryable', 'the connection was refused');
    },
  };

  it('retries a send if the connection was refused', async () => {
    const { platform, close } = await connected({}, refusing);
    const run = effect(platform);
    assert.equal((await failing(run.send())).kind, 'retryable');
    assert.deepEqual(run.kept, { sending: false, sentTo: [] });
    await close();
  });

  it('sends nothing if the data for the next attempt cannot be kept', async () => {
    const { platform, close, sends } = await connected();
    const keep = async (data: unknown) => {
      if ((data as Kept).sending) throw new Error('Temporal does not answer');
    };
    await assert.rejects(effect(platform).send({ keep }), /Temporal does not answer/);
    assert.equal(sends().length, 0);
    await close();
  });

  it("calls the vendor's own host by default", async () => {
    const asked: URL[] = [];
    const nobody: HttpClient = {
      ...http,
      ask: async ({ url }) => {
        asked.push(url);
        throw new ConnectorError('retryable', 'nobody there');
      },
    };
    await failing(workmarket(settings, nobody, new Memory()).getAssignment('1', { timeoutMs: 100 }));
    assert.equal(asked[0]?.href, 'https://www.workmarket.com/v1/employer/authorization/request');
  });

  it('sends the documented requests', async () => {
    const server = await startHttp();
    const documented = fixtures.fixtures.flatMap(({ exchanges }) => exchanges);
    const answerTo = ({ method, path }: Received) => {
      const same = documented.filter(({ request, answer }) => {
        return request.method === method && request.path === path && answer.status === 200;
      });
      return (same.find(({ answer }) => 'json' in answer) ?? same[0])?.answer;
    };
    server.answer = (response, request) => {
      const isLastPage = request.path.endsWith('start=5'); // The fixtures do not have this page.
      const answer = isLastPage
        ? { status: 200 }
        : (answerTo(request) ?? assert.fail(`${request.method} ${request.path} is not documented`));
      const sent = server.received.some(({ path }) => path.endsWith('/send'));
      const body = request.path.includes('/get')
        ? {
            meta: { status_code: 200 },
            response: { id: draft, status: sent ? 'sent' : 'draft', sent_worker_count: sent ? 4 : 0 },
          }
        : request.path.endsWith('/send')
          ? { meta: { status_code: 200 }, response: { successful: true, invalid_groups: [], resource_send_results: {} } }
          : 'json' in answer
            ? answer.json
            : { meta: {}, response: [] };
      response.writeHead(answer.status).end(JSON.stringify(body));
    };
    const platform = workmarket({ ...settings, baseUrl: `${server.url}/` }, http, new Memory());
    assert.deepEqual(await effect(platform, { groupIds: ['11', '12'], radiusMiles: 50 }).send(), { recipients: 4 });
    const [exchange, probe, read, groups, more, send, again] = server.received;
    const line = (request?: Received) => `${request?.method} ${request?.path}`;
    assert.deepEqual([exchange, probe, read, groups, more, send, again].map(line), [
      'POST /v1/employer/authorization/request',
      'GET /v1/employer/assignments/statuses',
      `GET /v1/employer/assignments/get?id=${draft}`,
      'GET /v1/employer/groups/list',
      'GET /v1/employer/groups/list?start=5',
      `POST /v1/employer/assignments/${draft}/send`,
      `GET /v1/employer/assignments/get?id=${draft}`,
    ]);
    assert.equal(exchange?.body, 'token=workmarket-token&secret=workmarket-secret');
    assert.equal(send?.body, 'group_id=11&group_id=12&send_radius=50');
    for (const request of [exchange, send]) assert.equal(request?.headers['content-type'], 'application/x-www-form-urlencoded');
    assert.equal(exchange?.headers.authorization, undefined);
    for (const request of [probe, read, groups, send]) assert.equal(request?.headers.authorization, 'Bearer {{any}}');
  });

  it('reads errors in every form, waits as long as the vendor says, and looks for moved paths once', async () => {
    const server = await startHttp();
    const platform = workmarket({ ...settings, baseUrl: server.url }, http, new Memory());
    const ok = { meta: { status_code: 200 }, response: { access_token: 'access-1' } };
    server.answer = answering(200, ok);
    const get = () => failing(platform.getAssignment(draft, { timeoutMs: 5_000 }));
    assert.match((await get()).message, /answered 200 in a form that the relay does not know: response\.status/);
    const errors = [
      [[{ code: 'x', message: 'The first.' }, 'The second.'], /The first\.; The second\./],
      [[{ code: 'odd', text: 'a text' }], /\{"code":"odd","text":"a text"\}/],
      ['one text', /one text/],
    ] as const;
    for (const [list, says] of errors) {
      server.answer = answering(200, { meta: { status_code: 200, errors: list }, response: {} });
      const error = await get();
      assert.equal(error.kind, 'permanent');
      assert.match(error.message, says);
    }
    server.answer = answering(200, { meta: { status_code: 500, errors: [] }, response: {} });
    assert.equal((await get()).kind, 'retryable');
    server.answer = answering(429, 'slow down', { 'retry-after': '30' });
    const busy = await get();
    assert.deepEqual([busy.kind, busy.facts.retryAfterSeconds], ['retryable', 30]);

    server.answer = (response, request) => {
      const isOld = request.path.startsWith('/api/v1/');
      const body = isOld ? { meta: {}, response: { status: 'draft', access_token: 'access-2' } } : '<h1>Not found</h1>';
      response.writeHead(isOld ? 200 : 404).end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    assert.equal((await platform.getAssignment(draft, { timeoutMs: 5_000 })).status, 'draft');
    server.answer = answering(405, 'no');
    const gone = await get();
    assert.deepEqual([gone.kind, gone.facts.title], ['permanent', 'WorkMarket does not know this request']);
  });

  it('shows every value of a custom field as the vendor has it', async () => {
    const { platform, vendor, close } = await connected();
    const [set] = (vendor.state.assignments.get(draft)?.custom_fields ?? []) as { fields: { id: number; value: unknown }[] }[];
    const field = set?.fields[0] ?? assert.fail();
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(null)), async (value) => {
        field.value = value;
        const shown = (await platform.getAssignment(draft, { timeoutMs: 5_000 }))[`custom_field_${field.id}`];
        assert.deepEqual(shown, JSON.parse(JSON.stringify(value ?? '')));
      }),
      { numRuns: extent(200, 1000) },
    );
    await close();
  });

  it('sends every radius as it is, or refuses it before the send', async () => {
    const { platform, vendor, close, sends } = await connected();
    const miles = fc.oneof(fc.integer({ min: -5, max: 120 }), fc.double({ min: 0, max: 200, noNaN: true }));
    await fc.assert(
      fc.asyncProperty(miles, async (radiusMiles) => {
        vendor.state.calls.length = 0;
        const isWhole = Number.isInteger(radiusMiles) && radiusMiles >= 1 && radiusMiles <= 100;
        const run = effect(platform, { groupIds: ['12'], radiusMiles });
        const assignment = vendor.state.assignments.get(draft) ?? assert.fail();
        assignment.status = 'draft';
        assignment.invitedWorkers = [];
        vendor.state.workers = [{ id: '1', email: 'a@example.com', miles: 0, groups: [12] }];
        if (isWhole) assert.deepEqual(await run.send(), { recipients: 1 });
        else assert.equal((await failing(run.send())).kind, 'permanent');
        assert.deepEqual(
          sends().map(({ body }) => body),
          isWhole ? [{ group_id: '12', send_radius: String(radiusMiles) }] : [],
        );
      }),
      { numRuns: extent(200, 1000) },
    );
    await close();
  });

  it('finds a group by each name that no other group has', async () => {
    const { vendor, close, sends, platform } = await connected();
    const name = fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => text.trim() || 'x');
    await fc.assert(
      fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 6 }), fc.nat(), async (names, at) => {
        vendor.state.groups = names.map((name, place) => ({
          id: 100 + place,
          name,
          description: '',
          active: true,
          deleted: false,
        }));
        vendor.state.workers = [{ id: '1', email: 'a@example.com', miles: 0, groups: names.map((_, place) => 100 + place) }];
        vendor.state.calls.length = 0;
        const assignment = vendor.state.assignments.get(draft) ?? assert.fail();
        assignment.status = 'draft';
        assignment.invitedWorkers = [];
        const wanted = names[at % names.length] ?? '';
        const isClear = names.filter((name) => name === wanted).length === 1;
        await platform.check({ timeoutMs: 5_000 }); // lists the groups again
        const run = effect(platform, { groupIds: [wanted] });
        if (isClear) assert.deepEqual(await run.send(), { recipients: 1 });
        else assert.match((await failing(run.send())).facts.title ?? '', /several groups/);
        assert.deepEqual(
          sends().map(({ body }) => body),
          isClear ? [{ group_id: String(100 + names.indexOf(wanted)) }] : [],
        );
      }),
      { numRuns: extent(100, 300) },
    );
    await close();
  });
});

describeManySends(isRelease ? [40, 25] : [25, 4]);
