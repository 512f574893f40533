import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sendOnce } from '../../../src/connectors/sends.js';
import type { Session } from '../../../src/connectors/session.js';
import { failing } from '../../connectors/failing.js';

it('a send does not begin if no time is left to watch it', async () => {
  const kept: unknown[] = [];
  const call = { timeoutMs: 20_000, keep: async (data: unknown) => kept.push(data) };
  const session = { api: { name: 'WorkMarket' }, call, leftMs: 11_000 } as unknown as Session;
  const prepare = async () => async () => assert.fail('sent');
  const look = async () => ({ status: 'draft', workers: 0 });
  const { kind, message, facts } = await failing(sendOnce(session, { assignmentId: '1', look, prepare }));
  assert.deepEqual(
    [kind, facts],
    ['retryable', { title: 'WorkMarket is too slow', remedy: 'Wait until it answers faster, then retry' }],
  );
  assert.match(message, /so nothing was sent$/);
  assert.deepEqual(kept, [{ sentTo: [], sending: false, before: undefined }]);
});
