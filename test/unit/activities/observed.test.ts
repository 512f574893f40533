import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { observed } from '../../../src/activities/observed.js';
import { Metrics } from '../../../src/service/telemetry.js';

describe('the failure of an activity', () => {
  it('says how long the activity ran, since signals and cancellations wait for a local try', async () => {
    const fail = () => Promise.reject(ApplicationFailure.nonRetryable('m', 'PlatformError', { retryable: false, attempt: 1 }));
    const { sendAssignment } = observed({ metrics: new Metrics() }, { sendAssignment: fail });
    const thrown: unknown = await sendAssignment?.().catch((error: unknown) => error);
    assert(thrown instanceof ApplicationFailure);
    const [{ tookMs, ...details }] = thrown.details as [{ tookMs: number }];
    assert.deepEqual([typeof tookMs, details], ['number', { retryable: false, attempt: 1 }]);
  });
});
