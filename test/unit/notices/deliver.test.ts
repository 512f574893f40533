import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { Deps } from '../../../src/activities/effect.js';
import { ConnectorError } from '../../../src/connectors/call.js';
import { causeOf } from '../../../src/contract/causes.js';
import { contactMark, HoldLinks } from '../../../src/contract/hold-link.js';
import type { ChainNotice, Joined, Notice, NoticeKind } from '../../../src/contract/notices.js';
import type { Notify } from '../../../src/contract/notify.js';
import { deliver } from '../../../src/notices/deliver.js';
import { createLog, Metrics } from '../../../src/service/telemetry.js';
import type { Turn } from '../../../src/store/notices.js';
import { unbounded } from '../../notices/unbounded.js';

const operator = 'operator@relay.example';

const at = '2026-07-01T12:00:00.000Z';
const about = { companyId: 'acme', relayId: '1', at, chainId: 'c', index: 0 };
const missing: Notice = { ...about, kind: 'missing-property', assignmentId: 'a', path: 'p' };

interface Attempted {
  attempt?: number;
  heartbeatDetails?: unknown;
  notice?: Notice;
  /** The store's answer. */
  isSilent?: (companyId: string, causeId: string) => Promise<boolean>;
  secret?: string;
  company?: { noticeLinks?: boolean; notify?: Notify };
  rules?: Record<string, { name: string; notify?: Notify }>;
  /** The budget's answer. */
  turn?: Turn;
  /** By unconfirmed contact: true if this is the contact's first notice about the cause. */
  unconfirmed?: Record<string, boolean>;
}

/**
 * One attempt to notify these contacts.
 * @param reach - the result of notifying one contact
 * @returns who was notified, the attempt's record, and whether the attempt must be repeated
 */
async function attempt(
  contacts: string[],
  reach: (contact: string) => Promise<void>,
  {
    attempt = 1,
    heartbeatDetails,
    notice = missing,
    isSilent = async () => false,
    secret,
    company: more,
    rules = {},
    turn = { told: 'alone' },
    unconfirmed = {},
  }: Attempted = {},
) {
  const told: string[] = [];
  const texts: string[] = [];
  const lines: string[] = [];
  const posted: string[] = [];
  const mailer = {
    send: async ({ to, text }: { to: string; text: string }) => {
      await reach(to);
      told.push(to);
      texts.push(text);
    },
  };
  const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC', notify: { emails: contacts }, ...more };
  const deps = {
    ...unbounded,
    store: {
      ...unbounded.store,
      notices: { ...unbounded.store.notices, turn: async () => turn },
      contacts: {
        unconfirmed: async () => Object.keys(unconfirmed).map((contact) => ({ contact, contactId: contact })),
        firstOf: async (contact: string, causes: string[]) => (unconfirmed[contact] ? causes : []),
      },
      companies: { get: async () => company },
      rules: { get: async (_: string, relayId: string) => rules[relayId] },
      causes: { isSilent },
    },
    client: { options: { namespace: 'default' } },
    links: { api: 'https://relay.example', webUi: 'https://relay.example/web-ui' },
    connectors: {
      noticeMailOf: () => ({ mailer, from: 'relay@relay.example' }),
      httpOf: () => ({ request: async ({ body }: { body: unknown }) => void posted.push(JSON.stringify(body)) }),
    },
    secret,
    operatorEmail: operator,
    log: createLog('trace', { write: (line) => lines.push(line) }),
    metrics: new Metrics(),
  } as unknown as Deps;
  const activity = new MockActivityEnvironment({ attempt, heartbeatDetails, startToCloseTimeoutMs: 120_000 });
  let left: unknown = heartbeatDetails;
  activity.on('heartbeat', (details: unknown) => {
    left = details;
  });
  const repeat = await activity
    .run(() => deliver(deps, notice, 'k'))
    .then(
      () => false,
      (error: unknown) => error instanceof ApplicationFailure && !error.nonRetryable,
    );
  assert.doesNotMatch(lines.join(''), /@|no such address/);
  return { told, texts, posted, left, repeat, lines };
}

const down = () => Promise.reject(new ConnectorError('retryable', 'no answer'));

describe('delivering a notice', () => {
  it('does not wait for one contact before it notifies the next', async () => {
    const waiting: (() => void)[] = [];
    const everybody = () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 3) for (const go of waiting) go();
      });
    const { told, repeat } = await attempt(['a@x.org', 'b@x.org', 'c@x.org'], everybody);
    assert.deepEqual([told, repeat], [['a@x.org', 'b@x.org', 'c@x.org'], false]);
  });

  it('notifies nobody twice while it retries the failed contacts', async () => {
    const first = await attempt(['a@x.org', 'b@x.org'], (contact) => (contact === 'b@x.org' ? down() : Promise.resolve()));
    assert.deepEqual([first.told, first.repeat], [['a@x.org'], true]);
    const second = await attempt(['a@x.org', 'b@x.org'], () => Promise.resolve(), { attempt: 2, heartbeatDetails: first.left });
    assert.deepEqual([second.told, second.repeat], [['b@x.org'], false]);
  });

  it('notifies the operator at once if no contact can ever be reached', async () => {
    const refused = (contact: string) =>
      contact === operator ? Promise.resolve() : Promise.reject(new ConnectorError('permanent', 'no such address'));
    const { told, repeat, lines } = await attempt(['a@x.org'], refused);
    assert.deepEqual([told, repeat], [[operator], false]);
    assert.match(lines[0] ?? '', /"channel":"mail",.*"failure":"permanent".*"msg":"a notice was not delivered"/);
  });

  it('notifies the operator, once, if nobody could be reached for minutes, and keeps trying', async () => {
    const unreachable = (contact: string) => (contact === operator ? Promise.resolve() : down());
    const early = await attempt(['a@x.org'], unreachable, { attempt: 6 });
    assert.deepEqual([early.told, early.repeat], [[], true]);
    const late = await attempt(['a@x.org'], unreachable, { attempt: 7, heartbeatDetails: early.left });
    assert.deepEqual([late.told, late.repeat], [[operator], true]);
    const later = await attempt(['a@x.org'], unreachable, { attempt: 8, heartbeatDetails: late.left });
    assert.deepEqual([later.told, later.repeat], [[], true]);
  });
});

describe('a notice of a silenced cause', () => {
  const error = { type: 'PlatformError', message: 'answered 404', retryable: false };
  const failed = (kind: NoticeKind): ChainNotice => ({
    ...about,
    kind,
    receivedAt: at,
    actions: [{ index: 0, action: 'ticket_updateUDF', relayId: '1', state: 'needs-attention', error }],
  });
  const many = (kind: 'needs-attention' | 'failed'): Notice => {
    const cause = causeOf(failed(kind), undefined);
    return { kind: 'many', cause, companyId: 'acme', relayId: '1', at, since: at, count: 2, actions: 2, first: [] };
  };
  const through: Notice = { ...many('needs-attention'), kind: 'through', through: 2, ended: {}, open: 0 } as Notice;
  const held = causeOf(failed('needs-attention'), undefined).id;
  for (const [what, notice, told] of [
    ['an action is held', failed('needs-attention'), false],
    ['many actions are held', many('needs-attention'), false],
    ['nobody decided', failed('gave-up'), true],
    ['something recovered', failed('recovered'), true],
    ['all have succeeded', through, true],
    ['something failed', failed('failed'), true],
    ['many failed', many('failed'), true],
  ] as const)
    it(`is ${told ? '' : 'not '}delivered if it says that ${what}`, async () => {
      const isSilent = async (_: string, causeId: string) => causeId === held;
      const tried = await attempt(['a@x.org'], () => Promise.resolve(), { notice, isSilent });
      assert.deepEqual([tried.told, tried.repeat], [told ? ['a@x.org'] : [], false]);
    });

  it('is delivered if nobody knows whether it is silenced', async () => {
    const isSilent = () => Promise.reject(new Error('no database'));
    const { told } = await attempt(['a@x.org'], () => Promise.resolve(), { notice: failed('needs-attention'), isSilent });
    assert.deepEqual(told, ['a@x.org']);
  });
});

describe('a notice of a hold', () => {
  const error = { type: 'PlatformError', message: 'answered 404', retryable: false };
  const notice: ChainNotice = {
    ...about,
    kind: 'needs-attention',
    receivedAt: at,
    actions: [{ index: 0, action: 'ticket_updateUDF', relayId: '1', state: 'needs-attention', error, heldUntil: at }],
  };
  const secret = 's'.repeat(32);
  const linkOf = (text = '') => /https:\/\/relay\.example\/hold\/([\w.-]+)#/.exec(text)?.[1];

  it('has a link for each contact, signed for that contact, and valid a little longer than the hold', async () => {
    const { texts } = await attempt(['a@x.org', 'b@x.org'], () => Promise.resolve(), { notice, secret });
    const links = texts.map((text) => new HoldLinks(secret).read(linkOf(text) ?? ''));
    const { companyId, chainId, index } = notice;
    const until = Date.parse(at) / 1000 + 24 * 3600;
    assert.deepEqual(
      links,
      ['a@x.org', 'b@x.org'].map((to) => ({ companyId, chainId, index, at, until, contact: contactMark(to) })),
    );
  });

  for (const [what, more] of [
    ['without a secret', { notice }],
    ['if the company has disabled links', { notice, secret, company: { noticeLinks: false } }],
    ['if the action is no longer held', { notice: { ...notice, kind: 'gave-up' } as const, secret }],
  ] as const)
    it(`has no link ${what}`, async () => {
      const { texts } = await attempt(['a@x.org'], () => Promise.resolve(), more);
      assert.deepEqual(texts.map(linkOf), [undefined]);
    });

  const webhookUrl = 'https://chat.example/hook';

  it('has links to the Web UI only for the operator, who can read payloads there', async () => {
    const { texts } = await attempt(['a@x.org', operator], () => Promise.resolve(), { notice });
    assert.deepEqual(
      texts.map((text) => text.includes('/web-ui/')),
      [false, true],
    );
    const { posted } = await attempt([], () => Promise.resolve(), { notice, company: { notify: { webhookUrl } } });
    assert.deepEqual([posted.length, /web-?ui/i.test(posted.join())], [1, false]);
  });

  for (const [what, notify, has] of [
    ['if the company asks for it', { webhookUrl, linksInWebhooks: true }, true],
    ['not by default', { webhookUrl }, false],
    ['not by default in a chat channel', { webhookUrl, webhookFormat: 'slack' }, false],
  ] as const)
    it(`has a link in a webhook: ${what}`, async () => {
      const { posted } = await attempt([], () => Promise.resolve(), { notice, secret, company: { notify } });
      assert.deepEqual([posted.length, posted.join().includes('/hold/')], [1, has]);
    });
});

describe('a notice beyond the budget', () => {
  const entry = (number: number, relayId: string, more: Partial<Joined> = {}): Joined => ({
    noticeKey: `k${number}`,
    causeId: `c${number}`,
    count: number,
    relayId,
    kind: 'needs-attention',
    at,
    title: `Title ${number}`,
    wrong: `wrong ${number}`,
    url: `https://relay.example/${number}`,
    held: { companyId: 'acme', chainId: `chain${number}`, index: 0, at, heldUntil: at },
    ...more,
  });
  const company = { notify: { emails: ['a@x.org'] } };

  it('waits, and notifies nobody', async () => {
    const { told, repeat } = await attempt(['a@x.org'], () => Promise.resolve(), { turn: { told: 'later', waitMs: 1000 } });
    assert.deepEqual([told, repeat], [[], true]);
  });

  it('is done once a digest includes it', async () => {
    const { told, repeat } = await attempt(['a@x.org'], () => Promise.resolve(), { turn: { told: 'elsewhere' } });
    assert.deepEqual([told, repeat], [[], false]);
  });

  it('that is a digest includes all waiting notices; each contact gets only its own, with its own links', async () => {
    const rules = { 2: { name: 'Two', notify: { emails: ['two@x.org'] } } };
    const joined = [entry(1, '1'), entry(2, '2'), entry(3, '1', { kind: 'failed', held: undefined })];
    const secret = 's'.repeat(32);
    const more = { turn: { told: 'digest', joined }, rules, company, secret } as const;
    const { told, texts } = await attempt([], () => Promise.resolve(), more);
    const textTo = (contact: string) => texts[told.indexOf(contact)] ?? assert.fail(contact);
    assert.deepEqual([...told].sort(), ['a@x.org', 'two@x.org']);
    assert.match(
      textTo('a@x.org'),
      /without a sign-in:\n {2}Title 1\. wrong 1: \S+\/hold\/\S+\n {2}Title 2 \(2 notices, this is the first\)\. wrong 2: \S+\/hold\/\S+\n\n/,
    );
    assert.match(textTo('a@x.org'), /Others:\n {2}Title 3 \(3 notices, this is the first\)\. wrong 3: \S+3\n/);
    for (const title of ['Title 1', 'Title 2']) assert.equal(textTo('a@x.org').split(title).length, 2, title);
    assert.doesNotMatch(textTo('two@x.org'), /Title [13]/);
  });

  it('goes to the operator if it concerns no contact', async () => {
    const rules = { 2: { name: 'Two', notify: { emails: ['two@x.org'] } } };
    const turn: Turn = { told: 'digest', joined: [entry(1, '1'), entry(2, '2')] };
    const { told, texts, repeat } = await attempt([], () => Promise.resolve(), { turn, rules, company: {} });
    assert.deepEqual([told, repeat], [['two@x.org', operator], false]);
    assert.match(texts[1] ?? '', /Title 1/);
    assert.doesNotMatch(texts[1] ?? '', /Title 2/);
  });

  it('is sent as usual if nothing else has waited', async () => {
    const { texts } = await attempt(['a@x.org'], () => Promise.resolve(), {
      turn: { told: 'digest', joined: [{ ...entry(1, '1'), noticeKey: 'k' }] },
    });
    assert.match(texts.join(), /^An assignment has no property p/);
  });
});

describe('an unconfirmed contact', () => {
  it('gets the first notice of a cause, with a confirmation link', async () => {
    const unconfirmed = { 'b@x.org': true };
    const { told, texts } = await attempt(['a@x.org', 'b@x.org'], () => Promise.resolve(), { unconfirmed });
    assert.deepEqual(told, ['a@x.org', 'b@x.org']);
    assert.doesNotMatch(texts[0] ?? '', /confirm/i);
    assert.match(texts[1] ?? '', /Confirm in a browser: https:\/\/relay\.example\/confirm\/b@x\.org/);
  });

  it('gets no second notice of a cause; confirmed contacts get it, or, without any, the operator', async () => {
    const unconfirmed = { 'b@x.org': false };
    const beside = await attempt(['a@x.org', 'b@x.org'], () => Promise.resolve(), { unconfirmed });
    assert.deepEqual([beside.told, beside.repeat], [['a@x.org'], false]);
    const alone = await attempt(['b@x.org'], () => Promise.resolve(), { unconfirmed });
    assert.deepEqual([alone.told, alone.repeat], [[operator], false]);
  });
});
