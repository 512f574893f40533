/**
 * The owner of a key with role `steer` has held actions with long texts. A bulk correction replaces each letter by a thousand
 * letters, to use up the memory of all companies.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bulkPreviewSchema, bulkSchema } from '../../../../src/contract/chain-resource.js';
import { email, eventually, startStack, Unmet } from '../../../end-to-end/stack.js';
import { tenant } from '../../../hostile/attacks/tenant.js';

const stack = await startStack();
const [count, letters] = [4, 200_000];
const refusal = 'body can have at most 256 KiB: shorten the new text';

describe('a bulk correction that turns 200,000 letters into 200 million letters', async () => {
  const own = await tenant(stack, 'steer');
  const correction = { field: 'body', replace: { from: 'a', to: 'b'.repeat(1000) } };
  const order = { verb: 'mend', filter: { reason: 'DataMistake' }, correction };
  /** The most memory that this process has used so far, in bytes. The process is API and worker in one. */
  const peak = () => process.resourceUsage().maxRSS * 1024;

  it('is refused in its preview, which shows a part of each text', async () => {
    for (let n = 0; n < count; n += 1) {
      const { chainId } = await own.start([email(['nobody'], { body: 'a'.repeat(letters) })]);
      await own.action(chainId, 0, 'needs-attention');
    }
    const before = peak();
    const answer = await eventually('all to be found', async () => {
      const text = await (await own.ask('POST', '/chains/bulk', order)).text();
      return bulkPreviewSchema.parse(JSON.parse(text)).count === count ? text : new Unmet(text.slice(0, 1000));
    });
    assert.ok(answer.length < 20_000, `${answer.length} letters`);
    for (const { before, after, problem } of bulkPreviewSchema.parse(JSON.parse(answer)).mends ?? []) {
      assert.deepEqual([before, after, problem], [`${'a'.repeat(499)}…`, undefined, refusal]);
    }
    assert.ok(peak() - before < 200e6, `${peak() - before} bytes more`);
  });

  it('is refused in the worker, and the actions stay held', async () => {
    const before = peak();
    const ordered = await own.ask('POST', '/chains/bulk', { ...order, confirm: count });
    assert.equal(ordered.status, 202, await ordered.clone().text());
    const { bulkId } = bulkSchema.parse(await ordered.json());
    const { status, progress } = await eventually('the bulk to end', async () => {
      const bulk = bulkSchema.parse(await (await own.ask('GET', `/chains/bulk/${bulkId}`)).json());
      return bulk.status === 'running' ? new Unmet(bulk) : bulk;
    });
    assert.deepEqual([status, progress?.done, progress?.steered, progress?.refused], ['completed', count, 0, count]);
    for (const { error } of progress?.failures ?? []) assert.equal(error, `action 0: ${refusal}`);
    assert.equal(progress?.failures.length, count);
    assert.ok(peak() - before < 200e6, `${peak() - before} bytes more`);
  });

  it('is allowed if the result fits', async () => {
    const correction = { field: 'body', replace: { from: 'a', to: '' }, default: 'short' };
    const mends = bulkPreviewSchema.parse(await (await own.ask('POST', '/chains/bulk', { ...order, correction })).json()).mends;
    assert.deepEqual(
      mends?.map(({ after }) => after),
      Array(count).fill('short'),
    );
  });
});
