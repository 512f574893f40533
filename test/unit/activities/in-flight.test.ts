import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { InFlight } from '../../../src/activities/in-flight.js';
import { ConnectorError } from '../../../src/connectors/call.js';
import { createLog, Metrics } from '../../../src/service/telemetry.js';

const inside = <Result>(isLocal: boolean, work: () => Promise<Result>): Promise<Result> =>
  new MockActivityEnvironment({ isLocal }).run(work);
const isType = (type: string) => (error: unknown) => error instanceof ApplicationFailure && error.type === type;
const told = (lines: string[] = []) => ({
  log: createLog('info', { write: (line) => lines.push(line) }),
  metrics: new Metrics(),
});
const silence = () => Promise.reject(new ConnectorError('retryable', 'no answer within 1.7 s', { unanswered: true }));

describe('local tries', () => {
  it('are limited for each company, so that a slow system of one company leaves slots to other companies', async () => {
    const tries = new InFlight(told());
    const answers: (() => void)[] = [];
    const hang = () => new Promise<void>((resolve) => answers.push(resolve));
    const hanging = Array.from({ length: 50 }, () => inside(true, () => tries.run('slow', 'platform', hang)));
    await assert.rejects(
      inside(true, () => tries.run('slow', 'ticketing', hang)),
      isType('UseOrdinary'),
    );
    assert.equal(await inside(true, () => tries.run('other', 'platform', async () => 'done')), 'done');
    assert.equal(await inside(false, () => tries.run('slow', 'platform', async () => 'done')), 'done');
    for (const answer of answers) answer();
    await Promise.all(hanging);
    assert.equal(await inside(true, () => tries.run('slow', 'platform', async () => 'done')), 'done');
  });

  it('skip a system that did not answer the last call, until it answers again', async () => {
    const tries = new InFlight(told());
    const works = async () => 'done';
    await assert.rejects(
      inside(true, () => tries.run('acme', 'platform', silence)),
      ConnectorError,
    );
    await assert.rejects(
      inside(true, () => tries.run('acme', 'platform', works)),
      isType('UseOrdinary'),
    );
    assert.equal(await inside(true, () => tries.run('acme', 'mail', works)), 'done');
    assert.equal(await inside(false, () => tries.run('acme', 'platform', works)), 'done');
    assert.equal(await inside(true, () => tries.run('acme', 'platform', works)), 'done');
  });
});

describe('calls in progress', () => {
  it('are limited for each company: beyond the limit nothing is tried, and no attempt is counted', async () => {
    const lines: string[] = [];
    const observers = told(lines);
    const calls = new InFlight(observers);
    const answers: (() => void)[] = [];
    const hang = () => new Promise<void>((resolve) => answers.push(resolve));
    const hanging = Array.from({ length: 100 }, () => inside(false, () => calls.run('slow', 'platform', hang)));
    for (const isLocal of [true, false])
      await assert.rejects(
        inside(isLocal, () => calls.run('slow', 'mail', hang)),
        (error) =>
          isType('NotTried')(error) &&
          error instanceof ApplicationFailure &&
          Reflect.get(error.details?.[0] ?? {}, 'attempt') === 0,
      );
    assert.match(await observers.metrics.registry.metrics(), /relay_bounds_met_total\{bound="calls"\} 2\n/);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"bound":"calls","companyId":"slow"/);
    assert.equal(await inside(false, () => calls.run('other', 'platform', async () => 'done')), 'done');
    answers.pop()?.();
    await hanging.pop();
    assert.equal(await inside(false, () => calls.run('slow', 'mail', async () => 'done')), 'done');
    for (const answer of answers) answer();
    await Promise.all(hanging);
  });
});

describe('notices in delivery', () => {
  it('are limited for each company, separately from its effects; a notice beyond the limit is tried again', async () => {
    const calls = new InFlight(told());
    const answers: (() => void)[] = [];
    const hang = () => new Promise<void>((resolve) => answers.push(resolve));
    const hanging = Array.from({ length: 20 }, () => inside(false, () => calls.run('slow', 'notices', hang)));
    await assert.rejects(
      inside(false, () => calls.run('slow', 'notices', hang)),
      (error) => error instanceof ApplicationFailure && error.type === 'NotTried' && !error.nonRetryable,
    );
    for (const [company, what] of [
      ['slow', 'platform'],
      ['other', 'notices'],
    ] as const)
      assert.equal(await inside(false, () => calls.run(company, what, async () => 'done')), 'done');
    for (const answer of answers) answer();
    await Promise.all(hanging);
    assert.equal(await inside(false, () => calls.run('slow', 'notices', async () => 'done')), 'done');
  });
});
