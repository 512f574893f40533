import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import type { Deps } from '../../../src/activities/effect.js';
import { InFlight } from '../../../src/activities/in-flight.js';
import { sendEmail } from '../../../src/activities/send-email.js';
import { Metrics } from '../../../src/service/telemetry.js';

/** @returns the recipients of a message when the company has these domains at sending time. */
async function sent(recipientDomains: string[] | undefined, recipient: string) {
  const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC', mail: { recipientDomains } };
  const rule = { companyId: 'acme', relayId: '7', enabled: true, onUnknown: 'resend' };
  const settings = { of: async () => ({ company, rules: new Map([['7', rule]]), pauses: [] }), refresh: async () => {} };
  const recipients: string[] = [];
  const connectors = {
    senderOf: () => ({ from: 'relay@relay.example' }),
    mailerOf: () => ({ send: async ({ to }: { to: string }) => void recipients.push(to) }),
  };
  const deps = {
    store: { settings },
    connectors,
    inFlight: new InFlight({ log: pino({ enabled: false }), metrics: new Metrics() }),
    log: pino({ enabled: false }),
  } as unknown as Deps;
  const input = { companyId: 'acme', chainId: 'c', index: 0, relayId: '7', retryBudgetSeconds: 600, recipient };
  const error = await new MockActivityEnvironment({ startToCloseTimeoutMs: 5000 })
    .run(() => sendEmail(deps)({ ...input, subject: 's', body: 'b', bodyHtml: 'h' }))
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  return { recipients, error };
}

describe('the recipient domains of a company', () => {
  it('are checked when a message is sent, whatever they were when its chain was accepted', async () => {
    for (const to of ['a@acme.example', 'a@eu.acme.example']) {
      const { recipients, error } = await sent(['acme.example'], to);
      assert.equal(error, undefined);
      assert.deepEqual(recipients, [to]);
    }
    const { recipients, error } = await sent(['acme.example'], 'a@notacme.example');
    assert.deepEqual(recipients, []);
    assert(error instanceof ApplicationFailure);
    assert.deepEqual([error.type, error.nonRetryable], ['ConfigurationMistake', true]);
    assert.match(error.message, /at acme\.example \(setting mail\.recipientDomains\)/);
  });

  it('allow every domain if none is set', async () => {
    assert.deepEqual((await sent(undefined, 'a@anywhere.example')).recipients, ['a@anywhere.example']);
  });
});
