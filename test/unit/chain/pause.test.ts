import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whilePaused } from '../../../src/chain/chain.js';
import { dueAfterPause, longestLook, type Pause, pausedSeconds, pauseOf, pauseText } from '../../../src/chain/pause.js';

const at = (minutes: number) => new Date(Date.parse('2026-07-01T12:00:00Z') + minutes * 60_000).toISOString();
const span = (since: number, until?: number): Pause => ({
  what: 'all',
  since: at(since),
  ...(until !== undefined && { until: at(until) }),
});

describe('the time that was paused', () => {
  const cases: [what: string, pauses: Pause[], minutes: number][] = [
    ['nothing', [], 0],
    ['a pause within the time', [span(10, 20)], 10],
    ['a pause that began before', [span(-10, 20)], 20],
    ['a pause without an end', [span(50)], 10],
    ['a pause with a future end', [span(50, 90)], 10],
    ['a pause over the whole time', [span(-10, 90)], 60],
    ['two pauses with a gap between them', [span(30, 40), span(10, 20)], 20],
    ['two pauses that overlap', [span(10, 30), span(20, 40)], 30],
    ['a pause within another pause', [span(10, 40), span(20, 30)], 30],
    ['a pause that ended before', [span(-20, -10)], 0],
  ];
  for (const [what, pauses, minutes] of cases)
    it(what, () => assert.equal(pausedSeconds(pauses, Date.parse(at(0)), Date.parse(at(60))), minutes * 60));
});

describe('the pause that blocks an action', () => {
  const mail: Pause = { what: 'mail', since: at(0), until: at(5) };
  const all: Pause = { what: 'all', since: at(0), until: at(9) };
  const endless: Pause = { what: 'mail', since: at(0) };
  it('is the pause of its connector, or of everything', () => {
    assert.equal(pauseOf([mail], 'platform'), undefined);
    assert.equal(pauseOf([mail], 'mail'), mail);
    assert.equal(pauseOf([all], 'ticketing'), all);
  });
  it('is the pause that ends last', () => {
    assert.equal(pauseOf([mail, all], 'mail'), all);
    assert.equal(pauseOf([endless, all], 'mail'), endless);
    assert.equal(pauseOf([all, endless], 'mail'), endless);
  });
});

it('a pause in words', () => {
  assert.equal(pauseText({ what: 'platform', since: at(0) }), `paused: the platform, since ${at(0)}`);
  const whole: Pause = { what: 'all', since: at(0), until: at(5), reason: 'new\nversion' };
  assert.equal(pauseText(whole), `paused: everything, since ${at(0)} until ${at(5)}. Reason: new version`);
  assert.equal(
    pauseText({ what: 'mail', since: at(0) }, () => 'noon'),
    'paused: mail, since noon',
  );
  assert.equal(pauseText({ what: 'mail', since: at(0), text: 'written before' }), 'written before');
});

describe('when an action is due after a pause', () => {
  const time = (minutes: number) => Date.parse(at(minutes));
  const pause = { what: 'mail', since: at(10), until: at(40) } as const;
  const dueTimes = [
    { at: time(5), needs: ['mail' as const] },
    { at: time(15), needs: ['platform' as const] },
    { at: time(20), needs: ['mail' as const] },
    { at: time(30), needs: ['mail' as const] },
  ];
  for (const [title, due, planned, expected] of [
    ['an action due before the pause keeps its time', 5, 5, 5],
    ['the first action that waited is due at the end of the pause', 20, 20, 40],
    ['a later action keeps its interval to the first', 30, 30, 50],
    ['a later action keeps its interval if an earlier pause has moved it', 34, 30, 50],
    ['an action due long after the pause moves by the same time', 90, 90, 110],
  ] as const)
    it(title, () => assert.equal(dueAfterPause(time(due), time(planned), dueTimes, pause), time(expected)));
});

describe('an action during a pause', () => {
  const ofAction = { index: 0, action: 'sendEmails', relayId: '1' };
  const mail = (minutes: number) => ({ at: Date.parse(at(minutes)), needs: ['mail' as const] });
  const dueTimes = [mail(20), mail(30), { at: Date.parse(at(20)), needs: ['platform' as const] }];
  const scheduled = { state: 'scheduled', runAt: at(30) } as const;
  const pause: Pause = { what: 'mail', since: at(10), until: at(40) };
  const reason = pauseText(pause);
  const moved = [{ verb: 'reschedule', at: at(0), by: 'admin' } as const];
  for (const [title, status, pauses, expected] of [
    ['runs at its distance from the first that waits', scheduled, [pause], { runAt: at(50), reason }],
    ['runs at the end if a person moved it', { ...scheduled, steered: moved }, [pause], { runAt: at(40), reason }],
    ['keeps its time if it is due after the end', { ...scheduled, runAt: at(40) }, [pause], {}],
    ['keeps its time if another system is paused', scheduled, [{ ...pause, what: 'platform' as const }], {}],
    ['waits if the end is open', scheduled, [span(10)], { reason: pauseText(span(10)) }],
    [
      'has the reason of the current pause',
      { state: 'pending', pausedSince: at(15), runAt: at(20) } as const,
      [pause],
      { reason },
    ],
    ['that has ended stays as it is', { state: 'done', runAt: at(30) } as const, [pause], {}],
  ] as const)
    it(title, () => assert.deepEqual(whilePaused({ ...ofAction, ...status }, mail(30), dueTimes, pauses), expected));
});

it('if the history is full, a workflow checks a pause only once a day', () => {
  assert.deepEqual([longestLook(true), longestLook(false)], [600, 86_400]);
});
