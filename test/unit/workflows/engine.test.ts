/** The workflows with events in combinations that a server rarely causes. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cancel, chainOf, Driven, done, failed, fired, signal, wasReset } from '../../workflows/activations.js';

const email = (...recipients: string[]) => ({
  action: 'sendEmails' as const,
  recipients,
  subject: 's',
  body: 'b',
  bodyHtml: 'h',
});
const delayed = { delaySeconds: 10 };

describe('an effect in progress when its chain is cancelled', () => {
  it('of a delayed action: the child reports that it was done', async () => {
    const child = await Driven.start('DelayedAction', chainOf({ ...delayed, ...email('a@x.example') }));
    await child.activate([fired(child.timer(/due/))], { after: 10_000 });
    const sent = child.last;
    await child.activate([cancel]);
    await child.activate([done(sent)]);
    const [action] = (child.end?.result ?? []) as { state: string }[];
    assert.equal(action?.state, 'done', JSON.stringify(child.end));
  });
});

describe('a cancel that meets a lost first workflow task', () => {
  const chain = chainOf({}, {}, email('a@x.example'));

  it('an action that may have been tried fails with an unknown outcome; all other actions are cancelled', async () => {
    const driven = await Driven.start('RuleChain', chain, [cancel], 7);
    assert.equal(driven.last.type, 'notifyFailure', 'nobody is told');
    await driven.activate([done(driven.last, 'relay-notifier:acme:1')]);
    const { status, actions } = await driven.view();
    assert.deepEqual(
      actions.map(({ state, error }) => [state, error?.type, error?.unknown]),
      [
        ['failed', 'OutcomeUnknown', true],
        ['failed', 'OutcomeUnknown', true],
        ['cancelled', undefined, undefined],
      ],
      status,
    );
  });

  it('in the very first task, no action was tried, even if signals came before', async () => {
    const early = [signal('skip', [0]), signal('skip', [1])];
    for (const [more, length] of [
      [[cancel], 4],
      [[...early, cancel], 6],
    ] as const) {
      const driven = await Driven.start('RuleChain', chain, [...more], length);
      assert.deepEqual(await driven.states(), ['cancelled', 'cancelled', 'cancelled']);
    }
  });
});

describe('a first workflow task that lasted long', () => {
  it('gets the same commands in a replay, although the history is longer there', async () => {
    const [first, replay] = [
      await Driven.start('RuleChain', chainOf({}, {})),
      await Driven.start('RuleChain', chainOf({}, {}), [], 6),
    ];
    assert.equal(first.last.isLocal, true);
    const input: unknown[] = []; // The history does not contain the input of a local activity.
    assert.deepEqual({ ...replay.last, input }, { ...first.last, input });
  });
});

describe('a local try says whether an attempt at its workflow task can be lost', () => {
  const says = ({ last }: Driven) => {
    const { isLocal, input } = last;
    assert(isLocal);
    return (input.flat()[0] as { isFirstAttempt?: boolean }).isFirstAttempt;
  };

  for (const [name, length, expected] of [
    ['no: the task is the first', 3, true],
    ['perhaps: a lost attempt may have added the other events', 6, undefined],
  ] as const)
    it(`${name} (a history of ${length} events)`, async () =>
      assert.equal(says(await Driven.start('RuleChain', chainOf({}), [], length)), expected));

  for (const [name, historyLength, expected] of [
    ['no: the task is the first after the delay', 8, true],
    ['perhaps: a lost attempt may have added the other events', 11, undefined],
  ] as const)
    it(`${name} (a history of ${historyLength} events)`, async () => {
      const child = await Driven.start('DelayedAction', chainOf(delayed));
      await child.activate([fired(child.timer(/due/))], { after: 10_000, historyLength });
      assert.equal(says(child), expected);
    });

  it('perhaps, because signals may have added as many events as a delay', async () => {
    const child = await Driven.start('DelayedAction', chainOf(delayed));
    await child.activate([signal('runNow', 0)], { historyLength: 8 });
    assert.equal(says(child), undefined);
  });
});

describe('a cancel in the same workflow task as the end of a timer', () => {
  for (const [name, isFirst] of [
    ['the cancel is second: a lost task may have tried the action, so the relay tries the action again under its key', false],
    ['the cancel is first: the action is not tried', true],
  ] as const)
    it(name, async () => {
      const child = await Driven.start('DelayedAction', chainOf(delayed));
      const timer = fired(child.timer(/due/));
      await child.activate(isFirst ? [cancel, timer] : [timer, cancel], { after: 10_000 });
      assert.deepEqual([child.scheduled.length, ...(await child.states())], isFirst ? [0, 'cancelled'] : [1, 'running']);
    });
});

describe('local tries', () => {
  it('failed tries count towards the time after which the workflow must accept signals and cancels', async () => {
    const driven = await Driven.start('RuleChain', chainOf({}, {}, {}));
    const policy = { onFailure: 'continue', onUnknown: 'resend', tookMs: 5 };
    await driven.activate([failed(driven.last, 'TicketingError', { tookMs: 1700 })]);
    await driven.activate([done(driven.last, policy)]);
    assert.equal(driven.last.isLocal, true);
    await driven.activate([failed(driven.last, 'TicketingError', { tookMs: 1700 })]);
    await driven.activate([done(driven.last, policy)]);
    const third = driven.scheduled.findLast(({ type }) => type === 'updateUdf');
    assert.deepEqual([third?.id, third?.isLocal], ['2/updateUdf', false]);
  });
});

describe('retries of many e-mails', () => {
  it('start only as many activities at once as a server accepts', async () => {
    const to = Array.from({ length: 50 }, (_, n) => `${n}@x.example`);
    const driven = await Driven.start('RuleChain', chainOf(...Array.from({ length: 60 }, () => email(...to))));
    const policy = { onFailure: 'continue', onUnknown: 'resend', tookMs: 5 };
    // All e-mails fail.
    for (let answered = 0; answered < driven.scheduled.length; ) {
      const open = driven.scheduled.slice(answered);
      answered = driven.scheduled.length;
      const answer = (one: (typeof open)[number]) =>
        one.type === 'sendEmail'
          ? failed(one, 'MailError', {})
          : done(one, one.type === 'readPolicy' ? policy : 'relay-notifier:acme:1');
      await driven.activate(open.map(answer));
      if (driven.scheduled.length === answered && (await driven.states()).every((state) => state === 'failed')) break;
    }
    const before = driven.scheduled.length;
    await driven.activate(Array.from({ length: 60 }, (_, index) => signal('retry', [index])));
    const underWay = driven.scheduled.length - before;
    assert(underWay >= 50 && underWay <= 1000, `${underWay} activities under way`);
    // A waiting activity starts when another activity ends.
    const first = driven.scheduled.slice(before);
    await driven.activate(first.map((one) => done(one)));
    assert(driven.scheduled.length - before > underWay);
  });
});

describe('a late local activity, a signal and a timer in one workflow task', () => {
  /** Action 2 is held and action 0 runs again. Then action 2 is skipped, action 1 is retried, and the hold times out. */
  const run = async (late: boolean) => {
    const driven = await Driven.start('RuleChain', chainOf({}, {}, {}));
    for (const onFailure of ['continue', 'continue', 'hold']) {
      await driven.activate([failed(driven.last, 'TicketingError', { retryable: onFailure === 'hold', tookMs: 5 })]);
      if (onFailure === 'hold') await driven.activate([fired(driven.timer(/tried again after/))], { after: 1_000 });
      if (onFailure === 'hold') await driven.activate([failed(driven.last, 'TicketingError', { retryable: true })]);
      await driven.activate([done(driven.last, { onFailure, onUnknown: 'resend', tookMs: 5 })]);
    }
    assert.deepEqual(await driven.states(), ['failed', 'failed', 'needs-attention']);
    for (const notice of driven.scheduled.filter(({ type }) => type === 'notifyFailure'))
      await driven.activate([done(notice, `relay-notifier:acme:${notice.seq}`)]);
    await driven.activate([signal('retry', [0])]);
    const end = done(driven.last);
    const together = [signal('skip', [2]), signal('retry', [1]), fired(driven.timer(/needs attention/))];
    if (late) await driven.activate([...together, end], { after: 30_000 });
    else {
      await driven.activate([end]);
      await driven.activate(together, { after: 30_000 });
    }
    return driven.kinds;
  };

  it('are handled in the same order as in a replay', async () => {
    assert.deepEqual(await run(true), await run(false));
  });
});

describe('decisions in a run that was reset', () => {
  const again = [wasReset, signal('mend', [0, { cfValue: 'right' }]), signal('skip', [1])];
  const mended = { mended: { value: 'right' }, same: ['action', 'index', 'relayId', 'ticketId', 'field'], tookMs: 5 };

  it('apply before any try, if they come with the first task', async () => {
    const reset = await Driven.start('RuleChain', chainOf({ sent: {} }, {}, {}), again, 8);
    assert.equal(reset.last.type, 'mendAction', 'what was sent is tried');
    await reset.activate([done(reset.last, mended)]);
    await reset.activate([done(reset.last)]);
    await reset.activate([done(reset.last)]);
    assert.deepEqual(await reset.states(), ['done', 'skipped', 'done']);
  });

  it('reach a delayed action with its first task, even if it is overdue', async () => {
    const chain = chainOf(delayed, delayed);
    const moved = await Driven.start('DelayedAction', chain, [signal('reschedule', [1, 5000])], 4);
    assert.deepEqual(
      (await moved.view()).actions.map(({ runAt }) => runAt),
      ['2026-07-01T12:00:10.000Z', '2026-07-01T13:23:20.000Z'],
    );
    const overdue = { ...chain, receivedAt: '2026-07-01T11:00:00.000Z' };
    const skipped = await Driven.start('DelayedAction', overdue, [wasReset, signal('skip', [0])], 8);
    assert.deepEqual(await skipped.states(), ['skipped', 'running']);
  });

  it('a mend or a skip that comes too early waits for the turn of its action', async () => {
    const chain = chainOf({ ...email('a@x.example') }, { sent: {} }, { sent: {} }, {});
    const reset = await Driven.start('RuleChain', chain);
    await reset.activate([wasReset, signal('mend', [1, { cfValue: 'right' }]), signal('skip', [2])]);
    await reset.activate([done(reset.last)]);
    assert.equal(reset.last.type, 'mendAction', 'what was sent is tried');
    await reset.activate([done(reset.last, mended)]);
    const { type, input } = reset.last;
    const [{ mends, action }] = input.flat() as [{ mends: number; action: { value: string } }];
    assert.deepEqual([type, mends, action.value], ['updateUdf', 1, 'right']);
    await reset.activate([done(reset.last)]);
    await reset.activate([done(reset.last)]);
    assert.deepEqual(await reset.states(), ['done', 'done', 'skipped', 'done']);
  });

  it('without a reset, a skip with the first task applies once the action is held', async () => {
    const driven = await Driven.start('RuleChain', chainOf({}, {}), [signal('skip', [0])], 4);
    await driven.activate([
      done(driven.last, [
        { failure: { type: 'TicketingError', message: 'm', details: { retryable: false, attempt: 1, tookMs: 5 } } },
      ]),
    ]);
    await driven.activate([done(driven.last, { onFailure: 'hold', onUnknown: 'resend', tookMs: 5 })]);
    assert.deepEqual(await driven.states(), ['skipped', 'running']);
  });

  it('have no effect without a reset', async () => {
    const driven = await Driven.start('RuleChain', chainOf(email('a@x.example'), { sent: {} }, {}));
    await driven.activate(again.slice(1));
    assert.equal((await driven.view()).ignored?.length, 2);
  });
});
