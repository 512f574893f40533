/**
 * The readers of signal arguments must survive every JSON value. The workflow must survive every value that the readers accept.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type ActionStatus, actionStatusSchema } from '../../../src/chain/action-status.js';
import type { Chain } from '../../../src/chain/chain.js';
import { chainStatus } from '../../../src/chain/outcome.js';
import { currentDetails, failureMessage, summaryOf } from '../../../src/chain/web-ui.js';
import { isNews, isOver, isShallow, type Report, readMend, readReport, readSteering } from '../../../src/contract/messages.js';
import { deliveryId, type News, type Over } from '../../../src/contract/notices.js';
import { standingOf } from '../../../src/contract/search-attributes.js';
import { Ledger } from '../../../src/notices/ledger.js';

const at = '2026-07-01T12:00:00.000Z';
const status: ActionStatus = {
  index: 0,
  action: 'sendEmails',
  relayId: '7',
  comment: 'tell the owner',
  assignmentId: '1',
  state: 'needs-attention',
  runAt: at,
  startedAt: at,
  attempts: 2,
  error: { type: 'MailError', message: 'm', retryable: true },
  result: { recipients: 1 },
  deliveries: [{ recipient: 'a@b.example', sent: false, error: 'e' }],
  nextAttemptAt: at,
  heldUntil: at,
  steered: [
    { at, by: 'admin', verb: 'retry' },
    { at, by: 'admin', verb: 'mend', fields: ['emails'] },
  ],
  kept: { before: { groups: [{ id: '7' }] } },
};
const over: Over = { chainId: 'c', index: 0, state: 'done', at };
const member = {
  ...over,
  state: 'needs-attention',
  heldUntil: at,
  relayId: '7',
  receivedAt: at,
  message: 'm',
  assignmentId: '1',
} as const;
const report: Report = { actions: [status], notices: [{ kind: 'needs-attention', index: 0 }], ignored: 'skip: …' };
const news: News = {
  notice: {
    kind: 'needs-attention',
    companyId: 'acme',
    relayId: '7',
    chainId: 'c',
    index: 0,
    at,
    receivedAt: at,
    actions: [status],
  },
  member,
};

/** Every kind of JSON value, and values that break careless code. */
const wild = fc.oneof(
  { weight: 5, arbitrary: fc.jsonValue() },
  fc.constantFrom('__proto__', 'constructor', '', '+275760-09-13T00:00:00Z', '-1', at, -1, 1e308, -0, 2 ** 53, null),
  fc.constantFrom({ toString: 1, valueOf: 1 }, JSON.parse('{"__proto__": {"index": 0}}'), [[[[[[[[]]]]]]]]),
  fc.constant('é'.repeat(100_000)),
  fc.constant(`2026-07-01 (${'x'.repeat(100_000)})`),
);

/** The path of every part of the value. */
function placesIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, part]) => placesIn(part, [...path, name]))];
}

function withAt(value: unknown, [name, ...rest]: string[], part: unknown): unknown {
  if (name === undefined) return part;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[name] = withAt(copy[name], rest, part);
  return copy;
}

/** Random values, and valid values with one or two random places. */
function near(right: object) {
  const wrong = fc.array(fc.tuple(fc.constantFrom(...placesIn(right)), wild), { minLength: 1, maxLength: 2 });
  const spoilt = wrong.map((places) => places.reduce<unknown>((value, [path, part]) => withAt(value, path, part), right));
  return fc.oneof({ weight: 1, arbitrary: wild }, { weight: 4, arbitrary: spoilt });
}

/** fast-check prints the seed and the smallest value of a failure. */
const check = (right: object, survive: (value: unknown) => void) =>
  fc.assert(
    fc.property(near(right), (value) => survive(JSON.parse(JSON.stringify(value) ?? 'null'))),
    { numRuns: 400 },
  );

const chain: Chain = {
  companyId: 'acme',
  chainId: 'c',
  receivedAt: at,
  retryBudgetSeconds: 1,
  attentionWindowSeconds: 1,
  actions: [],
};
/** This value is nested too deeply for the stack of a recursive reader. */
const deep: unknown = JSON.parse(`${'['.repeat(300_000)}${']'.repeat(300_000)}`);

describe('any JSON value as', () => {
  it('a report', () => {
    let read = 0;
    check(report, (value) => {
      const taken = readReport(value, (index) => index === 0);
      if (!taken) return;
      read += 1;
      for (const { index } of [...taken.actions, ...(taken.notices ?? [])]) assert.equal(index, 0);
      const { actions, ignored } = taken;
      const shown = [currentDetails(chain, actions, ignored === undefined ? [] : [ignored]), failureMessage(chain, actions)];
      for (const { value } of standingOf(actions)) assert(JSON.stringify(value).length < 3_000);
      assert(shown.every((text) => Buffer.byteLength(text) < 100_000));
      assert(JSON.stringify(taken).length < 50_000);
      summaryOf(actions);
      chainStatus(actions);
    });
    assert(read > 0, 'none was right');
    assert.deepEqual(
      readReport(report, () => true),
      report,
    );
    assert.equal(
      readReport(deep, () => true),
      undefined,
    );
    assert.equal(
      readReport({ actions: [{ ...status, result: deep }] }, () => true),
      undefined,
    );
  });

  it('a status: it is read as its schema does, without zod', () => {
    let read = 0;
    check(status, (value) => {
      const isRight = actionStatusSchema.safeParse(value).success && JSON.stringify(value).length <= 40_000;
      if (isRight) read += 1;
      assert.equal(readReport({ actions: [value] }, () => true) !== undefined, isRight && isShallow(value, 18));
    });
    assert(read > 0, 'none was right');
    for (const name of Object.keys(actionStatusSchema.shape))
      assert.equal(readReport({ actions: [{ ...status, [name]: {} }] }, () => true) !== undefined, name === 'result', name);
  });

  it('a steering signal', () => {
    check({ index: 0, seconds: 60, by: 'ada' }, (value) => {
      const steering = readSteering(value);
      if (steering) assert(JSON.stringify(steering).length < 2_000 && steering.index >= 0);
    });
    check([0, { subject: 's', emails: ['a@x.org'] }, { by: 'ada' }], (value) => {
      const mend = readMend(value);
      if (mend) assert(JSON.stringify(mend).length < 310_000 && mend.index >= 0);
    });
    assert.equal(readSteering(deep), undefined);
    assert.equal(readMend(deep), undefined);
    assert.equal(readMend([0, { subject: deep }]), undefined);
    assert.equal(isShallow(deep, 3), false);
  });

  it('news, or the end of a hold', () => {
    let heard = 0;
    fc.assert(
      fc.property(fc.array(fc.oneof(near(news), near(over)), { maxLength: 12 }), fc.boolean(), (values, holds) => {
        const ledger = new Ledger(holds);
        ledger.join({ ...member, chainId: 'first' });
        for (const value of JSON.parse(JSON.stringify(values)) as unknown[]) {
          if (isNews(value)) {
            heard += 1;
            ledger.hear(value);
            assert(Buffer.byteLength(deliveryId(value.notice)) <= 1_000, 'no workflow can have this id');
          }
          if (isOver(value)) ledger.over(value);
        }
        const { state } = ledger;
        const next = new Ledger(holds, JSON.parse(JSON.stringify(state)));
        assert.deepEqual(next.state, JSON.parse(JSON.stringify(state)));
        assert(JSON.stringify(state).length < 100_000, 'many of these do not fit into the input of the next run');
        if (ledger.open > 0) assert(ledger.left(Date.parse(at)) < 366 * 24 * 3600 * 1000, 'no timer is so long');
        ledger.next(9e15);
        ledger.next(9e15);
        assert.equal(ledger.members, 0);
      }),
      { numRuns: 100 },
    );
    assert(heard > 0, 'none was right');
    for (const value of [
      deep,
      { ...news, notice: { ...news.notice, actions: deep } },
      { ...news, member: { ...member, more: deep } },
    ])
      assert.deepEqual([isNews(value), isOver(value)], [false, false]);
  });
});
