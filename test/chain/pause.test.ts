import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Pause, pausedSeconds, pauseOf, pauseText } from '../../src/chain/pause.js';

const at = (minutes: number) => new Date(Date.parse('2026-07-01T12:00:00Z') + minutes * 60_000).toISOString();
const span = (since: number, until?: number): Pause => ({
  what: 'all',
  since: at(since),
  ...(until !== undefined && { until: at(until) }),
});

describe('the time that was paused', () => {
  const cases: [what: string, pauses: Pause[], minutes: number][] = [
    ['nothing', [], 0],
    ['one within', [span(10, 20)], 10],
    ['one that began before', [span(-10, 20)], 20],
    ['one that is still on', [span(50)], 10],
    ['one that will end', [span(50, 90)], 10],
    ['one over all of it', [span(-10, 90)], 60],
    ['two apart', [span(30, 40), span(10, 20)], 20],
    ['two that overlap', [span(10, 30), span(20, 40)], 30],
    ['one within another', [span(10, 40), span(20, 30)], 30],
    ['one that was over before', [span(-20, -10)], 0],
  ];
  for (const [what, pauses, minutes] of cases)
    it(what, () => assert.equal(pausedSeconds(pauses, Date.parse(at(0)), Date.parse(at(60))), minutes * 60));
});

describe('the pause that keeps something waiting', () => {
  const mail: Pause = { what: 'mail', since: at(0), until: at(5) };
  const all: Pause = { what: 'all', since: at(0), until: at(9) };
  const endless: Pause = { what: 'mail', since: at(0) };
  it('is of its connector, or of all', () => {
    assert.equal(pauseOf([mail], 'platform'), undefined);
    assert.equal(pauseOf([mail], 'mail'), mail);
    assert.equal(pauseOf([all], 'ticketing'), all);
  });
  it('is the one that lasts longest', () => {
    assert.equal(pauseOf([mail, all], 'mail'), all);
    assert.equal(pauseOf([endless, all], 'mail'), endless);
    assert.equal(pauseOf([all, endless], 'mail'), endless);
  });
});

it('a pause in words', () => {
  assert.equal(pauseText({ what: 'platform', since: at(0) }), `paused: the platform, since ${at(0)}`);
  const whole: Pause = { what: 'all', since: at(0), until: at(5), reason: 'new\nversion' };
  assert.equal(pauseText(whole), `paused: everything of the company, since ${at(0)} until ${at(5)}: new version`);
});
