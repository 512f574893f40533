/** Abilities of the workflows that other parts of the relay use. The test answers the activities itself. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChainAction } from '../../../src/chain/chain.js';
import type { Condition } from '../../../src/chain/condition.js';
import { readReport } from '../../../src/contract/messages.js';
import { eventAction } from '../../chain/event-actions.js';
import { chainOf, Driven, done, failed, fired, payload, signal } from '../../workflows/activations.js';

const began = Date.parse('2026-07-01T12:00:00Z');
const at = (seconds: number) => new Date(began + seconds * 1000).toISOString();
const send = (assignmentId = '1') => ({ action: 'platform_sendAssignment' as const, assignmentId, sent: {} });
const policy = { onFailure: 'hold', onUnknown: 'resend', tookMs: 5 };

/** The input of an activity. */
function inputOf(driven: Driven, type = driven.last.type): Record<string, unknown> {
  const found = driven.scheduled.findLast((one) => one.type === type);
  assert(found, `no ${type}: ${driven.kinds.join(', ')}`);
  return found.input[0] as Record<string, unknown>;
}

/** The signals that a chain has sent, each with its input. */
function passedOn({ commands }: Driven): [string, unknown][] {
  return commands.flatMap(({ signalExternalWorkflowExecution: sent }) =>
    sent ? [[sent.signalName ?? '', JSON.parse(Buffer.from(sent.args?.[0]?.data ?? []).toString())] as [string, unknown]] : [],
  );
}

describe('delays that end during a pause', () => {
  /** The action is due after 600 s. Another action of its chain is due after 300 s. The pause ends after 1,600 s. */
  const overdue = async (resume: unknown, pauseSince = 200, what = 'all') => {
    const dueTimes = [
      { at: began, needs: ['platform'] },
      { at: began + 300_000, needs: ['platform', 'mail'] },
      { at: began + 600_000, needs: ['ticketing'] },
    ];
    const chain = { ...chainOf({ delaySeconds: 600 }), dueTimes };
    const child = await Driven.start('DelayedAction', chain);
    await child.activate([fired(child.timer(/due/))], { after: 600_000 });
    await child.activate([failed(child.last, 'Paused', { paused: 'ticketing', attempt: 0, tookMs: 1 })]);
    await child.activate([done(child.last, { current: [{ what, since: at(pauseSince) }], seconds: 400, tookMs: 1 })]);
    assert.deepEqual(await child.states(), ['pending']);
    await child.activate([signal('resume', resume)], { after: 1_000_000 });
    await child.activate([done(child.last, { current: [], seconds: 1400, ended: at(1600), tookMs: 1 })]);
    return child;
  };

  it('keep their interval to the first action of the chain, which runs at the end of the pause', async () => {
    const child = await overdue({});
    const [action] = (await child.view()).actions;
    assert.deepEqual([action?.state, action?.runAt], ['scheduled', at(1900)]);
    await child.activate([fired(child.timer(/due/))], { after: 300_000 });
    assert.equal(child.last.type, 'updateUdf');
  });

  it('keep their interval to an immediate action that waited, but not to an action that needs another connector', async () => {
    const [immediate] = (await (await overdue({}, -100)).view()).actions;
    assert.deepEqual([immediate?.state, immediate?.runAt], ['scheduled', at(2200)]);
    assert.deepEqual((await overdue({}, -100, 'ticketing')).last.type, 'updateUdf');
  });

  it('make an action run at once if a person asks for it, and if it was due before the pause', async () => {
    for (const child of [await overdue({ overdue: 'now' }), await overdue({}, 601)])
      assert.deepEqual([child.last.type, ...(await child.states())], ['updateUdf', 'running']);
  });
});

describe('the kept value of a try', () => {
  it('is passed to the next try with the same key, but not to a try with another key', async () => {
    const driven = await Driven.start('RuleChain', chainOf(send()));
    const kept = { resolved: 'T-7' };
    await driven.activate([failed(driven.last, 'PlatformError', { retryable: true, tookMs: 5, kept })]);
    await driven.activate([fired(driven.timer(/tried again/))], { after: 1000 });
    assert.deepEqual([driven.last.isLocal, inputOf(driven).kept], [false, kept]);
    await driven.activate([failed(driven.last, 'PlatformError', { retryable: false })]);
    await driven.activate([done(driven.last, policy)]);
    await driven.activate([signal('retry', [0])]);
    assert.deepEqual(inputOf(driven, 'sendAssignment').kept, kept);
    await driven.activate([failed(driven.last, 'PlatformError', { retryable: false, tookMs: 5 })]);
    await driven.activate([done(driven.last, policy)]);
    await driven.activate([signal('mend', [0, { groupId: '7' }])]);
    await driven.activate([done(driven.last, { mended: {}, same: ['action', 'index', 'relayId'], tookMs: 5 })]);
    assert.deepEqual([inputOf(driven, 'sendAssignment').mends, inputOf(driven, 'sendAssignment').kept], [1, undefined]);
  });
});

describe('an activity that refuses the local try', () => {
  const condition: Condition = { path: ['status'], operator: '==', value: 'draft' };
  for (const [name, action] of [
    ['sendAssignment', send()],
    ['checkCondition', { ...send(), condition }],
  ] as const)
    it(`${name} is scheduled as an ordinary activity`, async () => {
      const driven = await Driven.start('RuleChain', chainOf(action));
      assert.deepEqual([driven.last.type, driven.last.isLocal], [name, true]);
      await driven.activate([failed(driven.last, 'UseOrdinary', { retryable: true, attempt: 0, tookMs: 1 })]);
      assert.deepEqual([driven.last.type, driven.last.isLocal], [name, false]);
    });
});

describe('a condition that the workflow cannot read', () => {
  it('is evaluated by an activity, and its text is shown', async () => {
    const condition = {
      path: [],
      operator: '==' as const,
      value: 'the job is urgent',
      opaque: { if: { text: 'event.priority > 3', event: { priority: 4 } } },
    };
    const driven = await Driven.start('RuleChain', chainOf({ condition, incomingValue: 'high' }));
    const { condition: given, incomingValue } = inputOf(driven, 'checkCondition');
    assert.deepEqual([given, incomingValue], [condition, 'high']);
    await driven.activate([done(driven.last, { holds: false, reason: 'urgent was 2', missing: false, tookMs: 5 })]);
    const { actions } = await driven.view();
    assert.deepEqual([actions[0]?.state, actions[0]?.reason], ['skipped', 'urgent was 2']);
  });
});

describe('late texts', () => {
  const fields = { action: 'ticket_updateUDF', externalSystemTicketId: 'T', cfName: 'F', platformAssignmentId: '1' };
  const udf = eventAction({ ...fields, cfValue: 'is ${assignment.title}' });
  const late = { values: { title: 'x' } };
  const holds = { holds: true, reason: '', missing: false, tookMs: 5 };
  const asked = { paths: ['title'], firstRunId: '' };
  const question = (driven: Driven) => {
    const { late: given } = inputOf(driven, 'checkCondition') as { late?: typeof asked };
    return given && { ...given, firstRunId: '' };
  };

  it('are read once for each key: every try has all needed values, and an edit reads them again', async () => {
    const driven = await Driven.start('RuleChain', chainOf(udf));
    assert.deepEqual([driven.last.type, driven.last.isLocal, question(driven)], ['checkCondition', true, asked]);
    await driven.activate([done(driven.last, { ...holds, late })]);
    const { values, action } = inputOf(driven, 'updateUdf') as { values?: unknown; action: ChainAction };
    assert.deepEqual([values, action.late, action.sent], [late.values, udf.late, udf.sent]);
    const failAndRetry = async () => {
      await driven.activate([failed(driven.last, 'TicketingError', { retryable: false, tookMs: 5 })]);
      await driven.activate([done(driven.last, policy)]);
    };
    await failAndRetry();
    await driven.activate([signal('retry', [0])]);
    assert.deepEqual([driven.last.type, question(driven), inputOf(driven).values], ['checkCondition', undefined, undefined]);
    await driven.activate([done(driven.last, holds)]);
    assert.deepEqual(inputOf(driven, 'updateUdf').values, late.values);
    await failAndRetry();
    await driven.activate([signal('mend', [0, { cfName: 'G' }])]);
    await driven.activate([done(driven.last, { mended: { field: 'G' }, same: Object.keys(udf), tookMs: 5 })]);
    assert.deepEqual([driven.last.type, question(driven)], ['checkCondition', asked]);
    await driven.activate([done(driven.last, { ...holds, late: { values: { title: 'y' } } })]);
    assert.deepEqual([inputOf(driven, 'updateUdf').values, inputOf(driven, 'updateUdf').mends], [{ title: 'y' }, 1]);
    await driven.activate([done(driven.last)]);
    assert.equal(driven.end?.failure, undefined);
  });

  it('are not lost if an earlier worker runs the action; a retry by a newer worker reads them', async () => {
    const driven = await Driven.start('RuleChain', chainOf(udf));
    // In version 0.1.0, `checkCondition` refuses every opaque condition before it does anything.
    await driven.activate([failed(driven.last, 'ConfigurationMistake', { retryable: false, tookMs: 1 })]);
    await driven.activate([done(driven.last, policy)]);
    assert.deepEqual(await driven.states(), ['needs-attention']);
    assert(!driven.scheduled.some(({ type }) => type === 'updateUdf'));
    await driven.activate([signal('retry', [0])]);
    assert.deepEqual([driven.last.type, question(driven)], ['checkCondition', asked]);
    await driven.activate([done(driven.last, { ...holds, late })]);
    await driven.activate([done(driven.last)]);
    assert.equal((await driven.view()).status, 'completed');
  });

  it('are not read for an action whose data is wrong', async () => {
    const driven = await Driven.start('RuleChain', chainOf({ ...udf, invalidData: 'cfName is blank' }));
    assert.equal(question(driven), undefined);
    await driven.activate([done(driven.last, holds)]);
    assert.equal(driven.last.type, 'readPolicy');
  });

  it('cause the same commands as a condition', async () => {
    const condition: Condition = { path: ['status'], operator: '==', value: 'draft' };
    const mail = { action: 'sendEmails', subject: 's', body: 'b', bodyHtml: 'h', platformAssignmentId: '1' };
    const commandsOf = async (first: ChainAction, second: ChainAction) => {
      const driven = await Driven.start('RuleChain', chainOf({ ...first, index: 0 }, { ...second, index: 1 }));
      for (let open = true; open; ) {
        const { type, seq } = driven.last;
        const answer = { late: { values: { title: 'x', owner: 'a@x.org' }, recipients: ['a@x.org'] } };
        await driven.activate([done(driven.last, type === 'checkCondition' ? { ...holds, ...answer } : undefined)]);
        open = driven.last.seq !== seq;
      }
      assert.equal((await driven.view()).status, 'completed');
      return driven.kinds;
    };
    const plain = await commandsOf({ ...udf, late: undefined, condition } as never, {
      ...eventAction({ ...mail, emails: ['a@x.org'] }),
      condition,
    });
    assert.deepEqual(await commandsOf(udf, eventAction({ ...mail, emails: ['${assignment.owner}'] })), plain);
  });

  it('are reported by a delayed action to its chain, which reuses them', async () => {
    const child = await Driven.start('DelayedAction', chainOf({ ...udf, delaySeconds: 60 }));
    await child.activate([fired(child.timer(/due/))], { after: 60_000 });
    await child.activate([done(child.last, { ...holds, late })]);
    await child.activate([failed(child.last, 'TicketingError', { retryable: false, tookMs: 5 })]);
    await child.activate([done(child.last, policy)]);
    const [, report] = passedOn(child).findLast(([name]) => name === 'report') ?? [];
    const { actions } = readReport(report, () => true) ?? assert.fail('the chain cannot read the report');
    assert.deepEqual(actions[0]?.late, late);

    const driven = await Driven.start('RuleChain', chainOf({ ...udf, delaySeconds: 60 }));
    const ended = [{ ...actions[0], state: 'failed' }];
    await driven.activate([{ resolveChildWorkflowExecutionStart: { seq: 1, succeeded: { runId: 'r' } } }]);
    await driven.activate([{ resolveChildWorkflowExecution: { seq: 1, result: { completed: { result: payload(ended) } } } }]);
    await driven.activate([signal('retry', [0])]);
    assert.deepEqual([driven.last.type, question(driven)], ['checkCondition', undefined]);
    await driven.activate([done(driven.last, holds)]);
    assert.deepEqual(inputOf(driven, 'updateUdf').values, late.values);
  });

  it('in the recipients: each recipient gets its own activity, and no summary names the recipient', async () => {
    const mail = { action: 'sendEmails', subject: 's ${assignment.title}', body: 'b', bodyHtml: 'h', platformAssignmentId: '1' };
    const driven = await Driven.start('RuleChain', chainOf(eventAction({ ...mail, emails: ['${assignment.owner}'] })));
    const recipients = ['a@x.org', 'b@x.org'];
    const values = { title: 'x', owner: recipients.join() };
    await driven.activate([done(driven.last, { ...holds, late: { values, recipients } })]);
    const sent = driven.scheduled.filter(({ type }) => type === 'sendEmail');
    const inputs = sent.map(({ input }) => input[0] as { recipient: string; values?: unknown; subject?: string });
    assert.deepEqual(
      inputs.map(({ recipient }) => recipient),
      recipients,
    );
    assert.deepEqual([inputs[0]?.values, inputs[0]?.subject], [values, undefined]);
    const summaries = driven.commands.map(({ userMetadata }) => Buffer.from(userMetadata?.summary?.data ?? []).toString());
    assert(
      summaries.some((summary) => summary.includes('to recipient 2')),
      summaries.join(),
    );
    assert(!summaries.some((summary) => summary.includes('@')), summaries.join());
  });
});

describe('an assignment that is mended for all actions of the chain', () => {
  const fields = { platformAssignmentId: '2' };
  const mended = (index: number) => ({
    mended: { assignmentId: '2' },
    same: ['action', 'relayId'].concat(index >= 0 ? ['index'] : []),
    tookMs: 5,
  });

  it('changes the held action at once, later actions when it is their turn, and no action with another assignment', async () => {
    const driven = await Driven.start('RuleChain', chainOf(send(), send(), send('9'), { ...send(), delaySeconds: 60 }));
    await driven.activate([
      done(driven.last, [
        { failure: { type: 'PlatformError', message: 'm', details: { retryable: false, attempt: 1, tookMs: 5 } } },
      ]),
    ]);
    await driven.activate([done(driven.last, policy)]);
    await driven.activate([
      { resolveChildWorkflowExecutionStart: { seq: 1, succeeded: { runId: 'r' } } },
      signal('mend', [0, fields, { allActions: true, by: 'ada' }]),
    ]);
    const tried: unknown[] = [];
    while (driven.last.isLocal) {
      const { type, input, seq } = driven.last;
      const given = input.flat() as { index: number; mends?: number; action: { index: number; assignmentId: string } }[];
      if (type !== 'mendAction') tried.push(...given.map(({ index, mends, action }) => [index, mends, action.assignmentId]));
      const results = {
        mendAction: mended(given[0]?.action.index ?? 0),
        doEffects: given.map(() => ({ attempts: 1, tookMs: 5 })),
      };
      await driven.activate([done(driven.last, results[type as keyof typeof results])]);
      if (driven.last.seq === seq) break;
    }
    assert.deepEqual(tried, [
      [0, 1, '2'],
      [1, 1, '2'],
      [2, undefined, '9'],
    ]);
    const [[name, steering] = []] = passedOn(driven).filter(([name]) => name === 'mend');
    assert.deepEqual(
      [name, steering],
      ['mend', { index: 3, by: 'ada', fields, allActions: true, number: 3, at: '2026-07-01T12:00:00.000Z', waits: true }],
    );
  });

  it('waits in a delayed action until the action is due', async () => {
    const child = await Driven.start('DelayedAction', chainOf({ ...send(), delaySeconds: 60 }));
    await child.activate([signal('mend', { index: 0, fields, number: 3, waits: true, allActions: true })]);
    assert.deepEqual(await child.states(), ['scheduled']);
    assert.equal((await child.view()).actions[0]?.assignmentId, '2');
    // Forms show an edit that waits. An effect never uses it, because the edited action has another key.
    assert.deepEqual([await child.query('changes', 0, true), await child.query('changes', 0)], [fields, null]);
    await child.activate([fired(child.timer(/due/))], { after: 60_000 });
    assert.equal(child.last.type, 'mendAction');
    await child.activate([done(child.last, mended(0))]);
    assert.equal((inputOf(child, 'sendAssignment').action as { assignmentId: string }).assignmentId, '2');
    // The chain learns that the action failed again.
    await child.activate([failed(child.last, 'PlatformError', { retryable: false, tookMs: 5 })]);
    await child.activate([done(child.last, policy)]);
    const [, report] = passedOn(child).findLast(([name]) => name === 'report') ?? [];
    const { actions, notices } = readReport(report, () => true) ?? assert.fail('the chain cannot read the report');
    assert.deepEqual([actions[0]?.state, notices], ['needs-attention', [{ kind: 'needs-attention', index: 0 }]]);
  });

  it('does not change an action without an assignment', async () => {
    const blank = { ...send(), assignmentId: undefined, sent: { platformAssignmentId: '' }, invalidData: 'is blank' };
    const driven = await Driven.start('RuleChain', chainOf(blank, blank, { delaySeconds: 60, sent: {} }));
    await driven.activate([done(driven.last, policy)]);
    await driven.activate([
      { resolveChildWorkflowExecutionStart: { seq: 1, succeeded: { runId: 'r' } } },
      signal('mend', [0, fields, { allActions: true }]),
    ]);
    await driven.activate([done(driven.last, mended(0))]);
    await driven.activate([done(driven.last)]);
    assert.deepEqual(
      [driven.last.type, inputOf(driven).action],
      ['mendAction', JSON.parse(JSON.stringify(chainOf(blank, blank).actions[1]))],
    );
    assert.deepEqual(passedOn(driven), []);
  });

  it('is refused if another field is mended, too', async () => {
    const driven = await Driven.start('DelayedAction', chainOf({ ...send(), delaySeconds: 60 }));
    await driven.activate([signal('mend', [0, { ...fields, groupId: '7' }, { allActions: true }])]);
    assert.match((await driven.view()).ignored?.join() ?? '', /its input must be/);
  });
});

describe('a due time instead of a delay', () => {
  it('decides when the action runs', async () => {
    const dueAt = at(3 * 3600);
    const driven = await Driven.start('RuleChain', chainOf({ dueAt }, {}, { dueAt }));
    const { actions } = await driven.view();
    assert.deepEqual(
      actions.map(({ runAt, workflowId }) => [runAt, workflowId]),
      [
        [dueAt, 'relay:acme:c:0'],
        [at(0), undefined],
        [dueAt, 'relay:acme:c:0'],
      ],
    );
    const child = await Driven.start('DelayedAction', chainOf({ dueAt }));
    await child.activate([fired(child.timer(/due 2026-07-01 15:00:00 UTC/))], { after: 3 * 3600 * 1000 });
    assert.equal(child.last.type, 'updateUdf');
  });
});

describe('the remaining actions of a chain are stopped', () => {
  const why = { reason: 'the job was called off', by: 'the platform' };

  it('with a reason, which is shown; an effect in progress ends first', async () => {
    const driven = await Driven.start('RuleChain', chainOf(send(), send(), { ...send(), delaySeconds: 60 }));
    await driven.activate([failed(driven.last, 'UseOrdinary', { retryable: true, attempt: 0, tookMs: 1 })]);
    await driven.activate([{ resolveChildWorkflowExecutionStart: { seq: 1, succeeded: { runId: 'r' } } }, signal('stop', why)]);
    await driven.activate([done(driven.last)]);
    const { actions } = await driven.view();
    assert.deepEqual(
      actions.slice(0, 2).map(({ state, reason }) => [state, reason]),
      [
        ['done', undefined],
        ['cancelled', why.reason],
      ],
    );
    assert.deepEqual(passedOn(driven), [['cancelAction', { index: 2, ...why }]]);
    const child = await Driven.start('DelayedAction', chainOf({ delaySeconds: 60 }));
    await child.activate([signal('cancelAction', { index: 0, ...why })]);
    const [action] = (await child.view()).actions;
    assert.deepEqual([action?.state, action?.reason], ['cancelled', why.reason]);
  });

  it('only if there is a reason', async () => {
    const driven = await Driven.start('DelayedAction', chainOf({ delaySeconds: 60 }));
    await driven.activate([signal('stop', {})]);
    assert.deepEqual(await driven.states(), ['scheduled']);
  });
});
