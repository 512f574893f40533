import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import widenThenAlert from '../../../examples/widen-then-alert.json' with { type: 'json' };
import { readRequest } from '../../../src/chain/request.js';
import { type Played, playThrough, remarkOn, type Scenario } from '../../../src/chain/scenario.js';
import { forecastCondition } from '../../../src/rules/opaque.js';

const send = { action: 'platform_sendAssignment', platformAssignmentId: '1', groupId: '501' };
const mail = { action: 'sendEmails', emails: ['a@b.example'], subject: 's', body: 'b', bodyHtml: 'h' };
const ifDraft = { actionCondition: 'status==draft', platformAssignmentId: '1' };

const evaluate: Parameters<typeof playThrough>[2]['evaluate'] = (action, assignment, afterSeconds) =>
  forecastCondition(action, assignment, new Date(afterSeconds * 1000));

function played(
  elements: object[],
  scenario: Scenario,
  more: { onFailure?: 'continue'; budget?: number; obstacle?: string } = {},
) {
  const read = readRequest(elements.map((element) => ({ relayId: '1', relayAccessToken: '', ...element })));
  assert.ok(read.ok, JSON.stringify(read));
  const facts = { rule: { enabled: true, onFailure: more.onFailure ?? 'hold' }, obstacle: more.obstacle } as const;
  const world = { scenario, assignment: { status: 'draft', zip: '1' }, retryBudgetSeconds: more.budget ?? 600, evaluate };
  const result = playThrough(
    read.actions,
    read.actions.map(() => facts),
    world,
  );
  return { result, remark: remarkOn(scenario, read.actions, result) };
}
const outcomes = ({ result }: { result: Played[] }) => result.map(({ outcome }) => outcome);

describe('the example widen-then-alert', () => {
  it('reaches the alert if nobody is found', () => {
    const { result, remark } = played(widenThenAlert, 'nobody-found');
    assert.deepEqual(
      result.map(({ outcome, afterSeconds }) => [outcome, afterSeconds]),
      [
        ['runs', 0],
        ['runs', 20],
        ['runs', 40],
        ['runs', 60],
      ],
    );
    assert.equal(remark, undefined);
  });

  it('alerts nobody if somebody is found but does not accept', () => {
    const some = played(widenThenAlert, 'nobody-accepts');
    assert.deepEqual(outcomes(some), ['runs', 'skipped', 'skipped', 'skipped']);
    assert.equal(some.result[1]?.reason, 'status was "sent"');
    assert.match(some.remark ?? '', /If no technician accepts, nobody gets a message about it/);
  });

  it('asks for no reminder if no assignment is sent, because people get a notice about that', () => {
    const { result, remark } = played(widenThenAlert, 'nobody-found', { obstacle: 'assignment 404404 does not exist' });
    assert.deepEqual([result[0]?.outcome, remark], ['needs-attention', undefined]);
  });

  it('is late if the platform is down, and people are notified', () => {
    const { result } = played(widenThenAlert, 'platform-down');
    for (const { outcome, afterSeconds = 0, toldAfterSeconds = 0, attempts = 0 } of result) {
      assert.equal(outcome, 'runs');
      assert.ok(afterSeconds >= 3600 && afterSeconds < 3600 + 1800, `${afterSeconds}`);
      assert.ok(toldAfterSeconds >= 500 && toldAfterSeconds < 700, `${toldAfterSeconds}`);
      assert.ok(attempts > 15, `${attempts}`);
    }
  });
});

describe('a scenario', () => {
  it('sends an e-mail in every case, unless it waits for the platform', () => {
    const one = played([mail, send, mail, { ...mail, delayInSeconds: '60' }], 'platform-down');
    assert.deepEqual(
      one.result.map(({ afterSeconds = 0 }) => (afterSeconds > 3600 ? 'late' : afterSeconds)),
      [0, 'late', 'late', 60],
    );
  });

  it('fails the action under onFailure: continue, and goes on', () => {
    const one = played([send, mail], 'platform-down', { onFailure: 'continue', budget: 60 });
    assert.deepEqual(outcomes(one), ['failed', 'runs']);
    assert.equal(one.result[0]?.toldAfterSeconds, one.result[0]?.afterSeconds);
    assert.equal(one.result[1]?.afterSeconds, one.result[0]?.afterSeconds);
  });

  it('affects later actions in order of time, not of the array', () => {
    const some = played(
      [
        { ...mail, ...ifDraft, delayInSeconds: '60' },
        { ...send, delayInSeconds: '30' },
      ],
      'nobody-accepts',
    );
    assert.deepEqual(outcomes(some), ['skipped', 'runs']);
  });

  it('holds the actions after an action that cannot run', () => {
    const one = played([send, { ...mail, ...ifDraft }, mail], 'nobody-found', { obstacle: 'there is no platform' });
    assert.deepEqual(outcomes(one), ['needs-attention', 'held', 'held']);
    assert.equal(one.result[0]?.toldAfterSeconds, 0);
    assert.equal(one.result[0]?.afterSeconds, undefined);
  });

  it('needs no call to the platform for incomingValue', () => {
    const one = played([{ ...send, actionCondition: 'incomingValue==a', incomingValue: 'b' }], 'platform-down');
    assert.deepEqual(one.result, [{ outcome: 'skipped', reason: 'incomingValue was "b"', afterSeconds: 0 }]);
  });
});
