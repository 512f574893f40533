/** A local try is refused if its workflow task may be a repetition of a lost workflow task. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { assertFirstAttempt } from '../../../src/activities/local-try.js';

type Answer = { pendingWorkflowTask?: { attempt: number } };

/** @returns whether Temporal was asked, and the type of the refusal. */
async function outcome(isLocal: boolean, dueSeconds: number, answer: () => Promise<Answer>, isFirstAttempt?: true) {
  let asked = 0;
  const client = {
    options: { namespace: 'default' },
    withDeadline: (_: number, call: () => Promise<Answer>) => call(),
    workflowService: {
      describeWorkflowExecution: () => {
        asked += 1;
        return answer();
      },
    },
  } as unknown as Client;
  const dueAt = new Date(Date.now() - dueSeconds * 1000).toISOString();
  const refusal = await new MockActivityEnvironment({ isLocal })
    .run(() => assertFirstAttempt({ client }, { dueAt, isFirstAttempt }))
    .catch((error: unknown) => error);
  return [asked, refusal instanceof ApplicationFailure ? refusal.type : refusal];
}

describe('a local try', () => {
  const attempt = (attempt: number) => () => Promise.resolve({ pendingWorkflowTask: { attempt } });
  for (const [name, isLocal, dueSeconds, answer, expected, isFirstAttempt] of [
    ['runs without a request to Temporal while no attempt can have been lost', true, 1, attempt(2), [0, undefined]],
    ['runs in the first attempt at its workflow task', true, 60, attempt(1), [1, undefined]],
    [
      'runs without a request to Temporal if its workflow knows that no attempt was lost',
      true,
      60,
      attempt(2),
      [0, undefined],
      true,
    ],
    ['is refused in a second attempt', true, 60, attempt(2), [1, 'UseOrdinary']],
    ['is refused if Temporal does not answer', true, 60, () => Promise.reject(new Error('unavailable')), [1, 'UseOrdinary']],
    ['that is an ordinary activity runs', false, 60, attempt(2), [0, undefined]],
  ] as const)
    it(name, async () => assert.deepEqual(await outcome(isLocal, dueSeconds, answer, isFirstAttempt), expected));
});
