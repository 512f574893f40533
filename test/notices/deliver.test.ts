import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { Deps } from '../../src/activities/effect.js';
import { ConnectorError } from '../../src/connectors/call.js';
import type { Notice } from '../../src/contract/notices.js';
import { deliver } from '../../src/notices/deliver.js';
import { createLog, Metrics } from '../../src/service/telemetry.js';

const operator = 'operator@relay.example';

/**
 * One attempt at telling these contacts.
 * @param reach - what happens when a contact is told.
 * @returns who was told of it, what the attempt left behind, and whether it is to be repeated.
 */
async function attempt(
  contacts: string[],
  reach: (contact: string) => Promise<void>,
  { attempt = 1, heartbeatDetails }: { attempt?: number; heartbeatDetails?: unknown } = {},
) {
  const told: string[] = [];
  const lines: string[] = [];
  const mailer = {
    send: async ({ to }: { to: string }) => {
      await reach(to);
      told.push(to);
    },
  };
  const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC', notify: { emails: contacts } };
  const deps = {
    store: { companies: { get: async () => company }, rules: { get: async () => undefined } },
    client: { options: { namespace: 'default' } },
    links: { api: 'https://relay.example' },
    connectors: { noticeMailOf: () => ({ mailer, from: 'relay@relay.example' }) },
    operatorEmail: operator,
    log: createLog('trace', { write: (line) => lines.push(line) }),
    metrics: new Metrics(),
  } as unknown as Deps;
  const activity = new MockActivityEnvironment({ attempt, heartbeatDetails, startToCloseTimeoutMs: 120_000 });
  let left: unknown = heartbeatDetails;
  activity.on('heartbeat', (details: unknown) => {
    left = details;
  });
  const notice = {
    kind: 'missing-property',
    companyId: 'acme',
    relayId: '1',
    at: '',
    chainId: 'c',
    index: 0,
    assignmentId: 'a',
    path: 'p',
  };
  const repeat = await activity
    .run(() => deliver(deps, notice as Notice, 'k'))
    .then(
      () => false,
      (error: unknown) => error instanceof ApplicationFailure && !error.nonRetryable,
    );
  assert.doesNotMatch(lines.join(''), /@|no such address/);
  return { told, left, repeat, lines };
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
