/** The example chains of examples/, against the demo platform; only their delays are shortened. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { type Action, startStack } from '../../end-to-end/stack.js';

const stack = await startStack();
const elements = z.array(z.record(z.string(), z.unknown()));

/** An example with the company's rule instead of the demo's rule. Its delays become 2, 4, 6 … seconds, in order. */
function example(name: string, assignment: string): Action[] {
  const actions = elements.parse(JSON.parse(readFileSync(new URL(`../../../../examples/${name}.json`, import.meta.url), 'utf8')));
  const delays = [
    ...new Set(actions.flatMap(({ delayInSeconds }) => (delayInSeconds === undefined ? [] : Number(delayInSeconds)))),
  ].sort((a, b) => a - b);
  return actions.map(({ relayId, relayAccessToken, ...action }) => {
    assert.deepEqual([relayId, relayAccessToken], ['4711', '<RELAY_ACCESS_TOKEN>']);
    const delay =
      action.delayInSeconds === undefined
        ? {}
        : { delayInSeconds: String(2 * (delays.indexOf(Number(action.delayInSeconds)) + 1)) };
    return { ...action, ...delay, platformAssignmentId: assignment };
  });
}

describe('the examples', () => {
  it('widen-then-alert: the radius widens until somebody is reached, and no alert is sent', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment({ status: 'draft' });
    const { chainId } = await company.start(example('widen-then-alert', assignment));
    const chain = await company.ended(chainId);
    assert.deepEqual(
      chain.actions.map(({ state }) => state),
      ['done', 'done', 'skipped', 'skipped'],
    );
    assert.deepEqual(
      chain.actions.map(({ result }) => result?.recipients),
      [0, 4, undefined, undefined],
    );
    assert.equal(chain.actions[2]?.reason, 'status was "sent"');
    const sends = (await stack.calls(assignment)).filter(({ method }) => method === 'POST');
    assert.deepEqual(
      sends.map(({ body }) => body),
      [
        { groupIds: ['501', '502'], radiusMiles: 5 },
        { groupIds: ['501', '502'], radiusMiles: 25 },
      ],
    );
    const gap = Date.parse(sends[1]?.at ?? '') - Date.parse(chain.receivedAt);
    assert(gap >= 2000, 'the second send came before its delay was over');
  });

  it('widen-then-alert: nobody is found, and the manager gets the alert', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment({
      status: 'draft',
      location: { latitude: 71.29, longitude: -156.79, address: '', city: '', state: 'AK', zip: '99723' },
    });
    const manager = `manager@${company.companyId}.example`;
    const actions = example('widen-then-alert', assignment).map((action) =>
      action.emails ? { ...action, emails: [manager] } : action,
    );
    const { chainId } = await company.start(actions);
    const chain = await company.ended(chainId);
    assert.deepEqual(
      chain.actions.map(({ state }) => state),
      ['done', 'done', 'done', 'done'],
    );
    assert.equal((await stack.inbox(manager)).length, 1);
  });

  it('email-send-email: runs strictly in this order', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    const { chainId } = await company.start(example('email-send-email', assignment));
    const chain = await company.ended(chainId);
    assert.deepEqual(
      chain.actions.map(({ state }) => state),
      ['done', 'done', 'done'],
    );
    const [sent] = await stack.calls(assignment);
    const owner = await stack.inbox('owner@demo.example');
    assert.equal(owner.length, 2);
    const times = [owner[0]?.Created, sent?.at, owner[1]?.Created].map((at) => Date.parse(at ?? ''));
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.equal((await stack.inbox('dispatch@demo.example')).length, 1);
  });

  it('set-field: sets both fields of the ticket', async () => {
    const company = await stack.company();
    const { chainId } = await company.start(example('set-field', '1001'));
    const chain = await company.ended(chainId);
    assert.deepEqual(
      chain.actions.map(({ state }) => state),
      ['done', 'done'],
    );
  });

  it('two-groups: one send runs now, and one send later', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    const { chainId } = await company.start(example('two-groups', assignment));
    await company.action(chainId, 0, 'done');
    const chain = await company.ended(chainId);
    assert.deepEqual(
      chain.actions.map(({ state }) => state),
      ['done', 'done'],
    );
    const sends = await stack.calls(assignment);
    assert.deepEqual(
      sends.map(({ body }) => body?.groupIds),
      [['501'], ['502']],
    );
    assert(Date.parse(sends[1]?.at ?? '') - Date.parse(chain.receivedAt) >= 2000);
  });
});
