import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Hono } from 'hono';
import { z } from 'zod';
import { dryRun } from '../../../src/api/dry-run.js';
import { answerProblems } from '../../../src/api/problems.js';
import { asksDryRun } from '../../../src/api/relay-request.js';
import { readRequest } from '../../../src/chain/request.js';
import { type Connectors, createConnectors } from '../../../src/connectors/connectors.js';
import type { Company } from '../../../src/contract/company.js';
import { dryRunSchema } from '../../../src/contract/dry-run.js';
import { startPlatform } from '../../../src/sandbox/platform/platform.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { openEmptied } from '../../store/emptied.js';

const journalSchema = z.array(z.object({ method: z.string(), path: z.string() }));
const actor = { kind: 'admin' } as const;

describe('asksDryRun', () => {
  const app = answerProblems(new Hono(), assert.ifError).get('/', (c) => c.json(asksDryRun(c)));
  for (const [query, expected] of [
    ['', false],
    ['?dryRun=true', true],
    ['?dryRun=false', false],
    ['?dryRun=true&dryRun=true', true],
    ['?other=1', false],
    ['?dryRun=', 400],
    ['?dryRun', 400],
    ['?dryRun=1', 400],
    ['?dryRun=TRUE', 400],
    ['?dryRun=false&dryRun=true', 400],
    ['?dryrun=true', 400],
    ['?dry_run=true', 400],
    ['?dry-run=true', 400],
  ] as const) {
    it(`${query || 'nothing'} is ${expected}`, async () => {
      const response = await app.request(`/${query}`);
      if (typeof expected === 'boolean') assert.equal(await response.json(), expected);
      else assert.equal(response.status, expected);
    });
  }
});

describe('dryRun', () => {
  let store: Store;
  let connectors: Connectors;
  let platform: { url: string; close(): Promise<void> };
  before(async () => {
    store = createStore(await openEmptied());
    connectors = createConnectors({ allowPrivateNetworks: true, mailFrom: 'relay@relay.example' });
    platform = await startPlatform({ host: '127.0.0.1', port: 0 });
    const system = { kind: 'http', baseUrl: platform.url } as const;
    await company('acme', { timeZone: 'America/New_York', platform: system, ticketing: system });
    await company('bare', {});
    await company('broken', { platform: { kind: 'http', baseUrl: `${platform.url}/no/such/place` } });
    await company('silent', { platform: { kind: 'http', baseUrl: 'http://127.0.0.1:1' } });
    await control('assignments', 'POST', { id: '77', status: 'draft', location: { zip: '94016' } });
  });
  after(async () => {
    await connectors.close();
    await platform.close();
    await store.close();
  });

  async function company(companyId: string, settings: Partial<Company>) {
    await store.companies.put(companyId, () => ({ companyId, name: companyId, timeZone: 'UTC', ...settings }), actor);
    for (const [relayId, onFailure] of [
      ['1', 'hold'],
      ['2', 'continue'],
    ] as const)
      await store.rules.create(companyId, { name: `Rule ${relayId}`, onFailure, onUnknown: 'resend', relayId }, actor);
  }
  const control = (path: string, method: string, body: unknown) =>
    fetch(`${platform.url}/control/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  async function tried(companyId: string, actions: Record<string, unknown>[], valuesShown = true) {
    const request = readRequest(actions.map((action) => ({ relayId: '1', relayAccessToken: 'x', ...action })));
    assert.ok(request.ok, JSON.stringify(request));
    const answer = await dryRun({ store, connectors }, { companyId, ...request, valuesShown });
    return dryRunSchema.parse(JSON.parse(JSON.stringify(answer)));
  }
  async function triedOne(companyId: string, action: Record<string, unknown>, valuesShown = true) {
    const { actions } = await tried(companyId, [action], valuesShown);
    return actions[0] ?? assert.fail();
  }
  const send = { action: 'platform_sendAssignment', platformAssignmentId: '77', groupId: '501' };
  const mail = {
    action: 'sendEmails',
    emails: ['Ada <ada@acme.example>', 'bob@acme.example'],
    subject: 'S',
    body: 'B',
    bodyHtml: '<p>B</p>',
  };
  const udf = { action: 'ticket_updateUDF', externalSystemTicketId: ' T-1 ', cfName: 'Checked in', cfValue: 'as it is' };

  it('predicts that a send to an unknown assignment needs attention, also without a condition', async () => {
    const { outcome, reason } = await triedOne('acme', { ...send, platformAssignmentId: '404404' });
    assert.equal(outcome, 'needs-attention');
    assert.match(reason ?? '', /404404.*404/);
    const hidden = await triedOne('acme', { ...send, platformAssignmentId: '404404', relayId: '2' }, false);
    assert.equal(hidden.outcome, 'failed');
    assert.doesNotMatch(hidden.reason ?? '', /404/);
    assert.equal((await triedOne('acme', send)).outcome, 'runs');
    assert.equal((await triedOne('silent', send)).outcome, 'runs');
  });

  it('says for each action what it would wait for', async () => {
    await company('waiting', { mail: { smtpUrl: 'smtp://127.0.0.1:9' } });
    await store.pauses.begin('waiting', { what: 'mail', reason: 'moving house' }, actor);
    const paused = /^paused: mail, since \S+ \S+ \S+\. Reason: moving house$/;
    assert.match((await triedOne('waiting', mail)).paused ?? '', paused);
    assert.doesNotMatch((await triedOne('waiting', mail, false)).paused ?? '', /moving/);
    const asking = { ...mail, platformAssignmentId: '77', actionCondition: 'incomingValue==a', incomingValue: 'b' };
    assert.deepEqual(
      [(await triedOne('waiting', asking)).outcome, (await triedOne('waiting', asking)).paused],
      ['skipped', undefined],
    );
    assert.equal((await triedOne('waiting', udf)).paused, undefined);
  });

  it('says what would be sent, when, and to whom, in the words of the request', async () => {
    const { receivedAt, actions, warnings } = await tried('acme', [
      { ...send, sendToGroups: '502, 501', sendRadius: '2.5', comment: 'nearby' },
      { ...mail, delayInSeconds: '90', extra: 'x' },
      udf,
      { ...send, groupId: undefined },
    ]);
    const due = (seconds: number) => new Date(Date.parse(receivedAt) + seconds * 1000).toISOString();
    const rule = { name: 'Rule 1', enabled: true, onFailure: 'hold', onUnknown: 'resend' };
    const common = { relayId: '1', outcome: 'runs', rule };
    assert.deepEqual(actions, [
      {
        index: 0,
        action: 'platform_sendAssignment',
        comment: 'nearby',
        runAt: due(0),
        assignmentId: '77',
        effect: { groupIds: ['501', '502'], radiusMiles: 2.5 },
        ...common,
      },
      {
        index: 1,
        action: 'sendEmails',
        runAt: due(90),
        effect: { recipients: ['Ada <ada@acme.example>', 'bob@acme.example'], subject: 'S', body: 'B', bodyHtml: '<p>B</p>' },
        ...common,
      },
      {
        index: 2,
        action: 'ticket_updateUDF',
        runAt: due(0),
        effect: { ticketId: 'T-1', field: 'Checked in', value: 'as it is' },
        ...common,
      },
      { index: 3, action: 'platform_sendAssignment', runAt: due(0), assignmentId: '77', effect: {}, ...common },
    ]);
    assert.deepEqual(
      warnings.map(({ pointer }) => pointer),
      ['/1/extra'],
    );
  });

  it("formats a timestamp as the chain would write it, in the company's zone", async () => {
    const stamped = { ...udf, cfValue: '2024-03-05T21:07:09Z', cfTargetDateFormat: 'MM/dd/yyyy h:mm a z' };
    assert.deepEqual((await triedOne('acme', stamped)).effect, {
      ticketId: 'T-1',
      field: 'Checked in',
      value: '03/05/2024 4:07 PM EST',
    });
    const { outcome, reason, effect } = await triedOne('acme', { ...stamped, cfValue: 'tomorrow' });
    assert.deepEqual([outcome, effect], ['needs-attention', undefined]);
    assert.match(reason ?? '', /^cfValue .*tomorrow/);
  });

  describe('evaluates conditions now', () => {
    for (const [condition, holds, reason] of [
      ['status==draft', true, 'status was "draft"'],
      ['status!=draft', false, 'status was "draft"'],
      ['location.zip=="94016"', true, 'location.zip was "94016"'],
      ['location.zipp==94016', false, 'location.zipp: no such property'],
    ] as const) {
      it(`${condition}: shows the value to readers of the company`, async () => {
        const shown = await triedOne('acme', { ...send, actionCondition: condition });
        assert.deepEqual(shown.condition, { text: condition.replaceAll('"', ''), holds, reason });
        assert.equal(shown.outcome, holds ? 'runs' : 'skipped');
        assert.equal(shown.reason, holds ? undefined : reason);
      });
      it(`${condition}: shows others only whether it holds`, async () => {
        const shown = await triedOne('acme', { ...send, actionCondition: condition }, false);
        assert.deepEqual(shown.condition, { text: condition.replaceAll('"', ''), holds });
        assert.equal(shown.reason, holds ? undefined : 'its condition is not true');
      });
    }

    it('shows the value of incomingValue to everybody, because the sender knows it', async () => {
      const action = { ...mail, actionCondition: 'incomingValue==CA', incomingValue: 'NV' };
      assert.deepEqual((await triedOne('acme', action, false)).condition, {
        text: 'incomingValue==CA',
        holds: false,
        reason: 'incomingValue was "NV"',
      });
    });

    it('requests an assignment once, and makes no other call', async () => {
      await control('assignments', 'POST', { id: '78', status: 'draft' });
      const before = await calls('78');
      const once = { ...send, platformAssignmentId: '78', actionCondition: 'status==draft' };
      await tried('acme', [once, { ...once, delayInSeconds: '5' }, { ...send, platformAssignmentId: '78' }]);
      assert.deepEqual((await calls('78')).slice(before.length), ['GET /assignments/78']);
    });
  });

  describe('says for each action what it could not find out', () => {
    const asking = { ...mail, platformAssignmentId: '77', actionCondition: 'status==draft' };
    for (const [companyId, outcome, words] of [
      ['broken', 'needs-attention', /answered 404/],
      ['silent', 'unknown', /127\.0\.0\.1:1/],
      ['bare', 'needs-attention', /has no assignment platform/],
    ] as const) {
      it(`if the platform is ${companyId}`, async () => {
        const [first, second] = (await tried(companyId, [asking, { ...mail, delayInSeconds: '1' }])).actions;
        assert.deepEqual([first?.outcome, second?.outcome], [outcome, 'runs']);
        assert.match(first?.condition?.error ?? '', words);
        assert.equal(first?.condition?.holds, undefined);
        assert.ok(first?.effect, 'the effect is known in spite of the error');
      });
      it(`if the platform is ${companyId}, without the text of the platform's error`, async () => {
        const shown = await triedOne(companyId, asking, false);
        assert.equal(shown.outcome, outcome);
        assert.doesNotMatch(JSON.stringify(shown), words);
      });
    }

    it('if the assignment is unknown', async () => {
      const shown = await triedOne('acme', { ...asking, platformAssignmentId: 'nobody' });
      assert.equal(shown.outcome, 'needs-attention');
      assert.match(shown.reason ?? '', /404/);
    });
  });

  describe('says which action would need attention, and why', () => {
    for (const [what, companyId, action, reason] of [
      ['a mistake in the data', 'acme', { ...send, groupId: '${group}' }, /^groupId has no group/],
      ['data without the time of the action', 'acme', { ...send, delayInSeconds: '' }, /^delayInSeconds is blank/],
      ['no ticket system', 'bare', udf, /has no ticket system/],
      ['no platform', 'bare', send, /has no assignment platform/],
    ] as const) {
      it(what, async () => {
        const held = await triedOne(companyId, action);
        assert.equal(held.outcome, 'needs-attention');
        assert.match(held.reason ?? '', reason);
        assert.equal((await triedOne(companyId, { ...action, relayId: '2' })).outcome, 'failed');
      });
    }

    it('says also which actions would be held after this action', async () => {
      const { actions } = await tried('acme', [{ ...send, groupId: '' }, mail, { ...mail, delayInSeconds: '5' }]);
      assert.deepEqual(
        actions.map(({ outcome }) => outcome),
        ['needs-attention', 'held', 'runs'],
      );
    });
  });

  async function calls(id: string): Promise<string[]> {
    const journal = journalSchema.parse(await (await fetch(`${platform.url}/journal`)).json());
    return journal.filter(({ path }) => path.includes(id)).map(({ method, path }) => `${method} ${path}`);
  }
});
