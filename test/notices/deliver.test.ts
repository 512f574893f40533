import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { Deps } from '../../src/activities/effect.js';
import { ConnectorError } from '../../src/connectors/call.js';
import { causeOf } from '../../src/contract/causes.js';
import { contactMark, HoldLinks } from '../../src/contract/hold-link.js';
import type { ChainNotice, Notice, NoticeKind } from '../../src/contract/notices.js';
import { deliver } from '../../src/notices/deliver.js';
import { createLog, Metrics } from '../../src/service/telemetry.js';

const operator = 'operator@relay.example';

const at = '2026-07-01T12:00:00.000Z';
const about = { companyId: 'acme', relayId: '1', at, chainId: 'c', index: 0 };
const missing: Notice = { ...about, kind: 'missing-property', assignmentId: 'a', path: 'p' };

interface Attempted {
  attempt?: number;
  heartbeatDetails?: unknown;
  notice?: Notice;
  /** What the store says. */
  isSilent?: (companyId: string, causeId: string) => Promise<boolean>;
  secret?: string;
  company?: { noticeLinks?: boolean };
}

/**
 * One attempt at telling these contacts.
 * @param reach - what happens when a contact is told.
 * @returns who was told of it, what the attempt left behind, and whether it is to be repeated.
 */
async function attempt(
  contacts: string[],
  reach: (contact: string) => Promise<void>,
  { attempt = 1, heartbeatDetails, notice = missing, isSilent = async () => false, secret, company: more }: Attempted = {},
) {
  const told: string[] = [];
  const texts: string[] = [];
  const lines: string[] = [];
  const mailer = {
    send: async ({ to, text }: { to: string; text: string }) => {
      await reach(to);
      told.push(to);
      texts.push(text);
    },
  };
  const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC', notify: { emails: contacts }, ...more };
  const deps = {
    store: { companies: { get: async () => company }, rules: { get: async () => undefined }, causes: { isSilent } },
    client: { options: { namespace: 'default' } },
    links: { api: 'https://relay.example' },
    connectors: { noticeMailOf: () => ({ mailer, from: 'relay@relay.example' }) },
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
  return { told, texts, left, repeat, lines };
}

const down = () => Promise.reject(new ConnectorError('retryable', 'no answer'));

describe('delivering a notice', () => {
  it('does not wait for one contact before it tells the next', async () => {
    const waiting: (() => void)[] = [];
    const everybody = () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 3) for (const go of waiting) go();
      });
    const { told, repeat } = await attempt(['a@x.org', 'b@x.org', 'c@x.org'], everybody);
    assert.deepEqual([told, repeat], [['a@x.org', 'b@x.org', 'c@x.org'], false]);
  });

  it('tells nobody twice while it goes on trying to reach the others', async () => {
    const first = await attempt(['a@x.org', 'b@x.org'], (contact) => (contact === 'b@x.org' ? down() : Promise.resolve()));
    assert.deepEqual([first.told, first.repeat], [['a@x.org'], true]);
    const second = await attempt(['a@x.org', 'b@x.org'], () => Promise.resolve(), { attempt: 2, heartbeatDetails: first.left });
    assert.deepEqual([second.told, second.repeat], [['b@x.org'], false]);
  });

  it('tells the operator at once where no contact can ever be reached', async () => {
    const refused = (contact: string) =>
      contact === operator ? Promise.resolve() : Promise.reject(new ConnectorError('permanent', 'no such address'));
    const { told, repeat, lines } = await attempt(['a@x.org'], refused);
    assert.deepEqual([told, repeat], [[operator], false]);
    assert.match(lines[0] ?? '', /"channel":"mail",.*"failure":"permanent".*"msg":"a notice was not delivered"/);
  });

  it('tells the operator, once, when nobody could be reached for minutes, and goes on trying', async () => {
    const unreachable = (contact: string) => (contact === operator ? Promise.resolve() : down());
    const early = await attempt(['a@x.org'], unreachable, { attempt: 6 });
    assert.deepEqual([early.told, early.repeat], [[], true]);
    const late = await attempt(['a@x.org'], unreachable, { attempt: 7, heartbeatDetails: early.left });
    assert.deepEqual([late.told, late.repeat], [[operator], true]);
    const later = await attempt(['a@x.org'], unreachable, { attempt: 8, heartbeatDetails: late.left });
    assert.deepEqual([later.told, later.repeat], [[], true]);
  });
});

describe('a notice of a cause that is silent', () => {
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
    ['something is held', failed('needs-attention'), false],
    ['many are held', many('needs-attention'), false],
    ['nobody decided', failed('gave-up'), true],
    ['something recovered', failed('recovered'), true],
    ['all are through', through, true],
    ['something failed', failed('failed'), true],
    ['many failed', many('failed'), true],
  ] as const)
    it(`is ${told ? '' : 'not '}told where it says that ${what}`, async () => {
      const isSilent = async (_: string, causeId: string) => causeId === held;
      const tried = await attempt(['a@x.org'], () => Promise.resolve(), { notice, isSilent });
      assert.deepEqual([tried.told, tried.repeat], [told ? ['a@x.org'] : [], false]);
    });

  it('is told where nobody can say whether it is', async () => {
    const isSilent = () => Promise.reject(new Error('no database'));
    const { told } = await attempt(['a@x.org'], () => Promise.resolve(), { notice: failed('needs-attention'), isSilent });
    assert.deepEqual(told, ['a@x.org']);
  });
});

describe('a notice of something that is held', () => {
  const error = { type: 'PlatformError', message: 'answered 404', retryable: false };
  const notice: ChainNotice = {
    ...about,
    kind: 'needs-attention',
    receivedAt: at,
    actions: [{ index: 0, action: 'ticket_updateUDF', relayId: '1', state: 'needs-attention', error, heldUntil: at }],
  };
  const secret = 's'.repeat(32);
  const linkOf = (text = '') => /https:\/\/relay\.example\/hold\/(\S+)/.exec(text)?.[1];

  it('has a link for each contact, signed for that one and not much longer than the hold', async () => {
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
    ['where there is no secret', { notice }],
    ['where the company has switched it off', { notice, secret, company: { noticeLinks: false } }],
    ['of what is not held any more', { notice: { ...notice, kind: 'gave-up' } as const, secret }],
  ] as const)
    it(`has none ${what}`, async () => {
      const { texts } = await attempt(['a@x.org'], () => Promise.resolve(), more);
      assert.deepEqual(texts.map(linkOf), [undefined]);
    });
});
