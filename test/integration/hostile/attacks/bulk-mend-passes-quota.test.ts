/**
 * The owner of a key with role `steer` has held e-mails, each with one wrong address. A bulk correction replaces each address by
 * forty addresses, to exceed the company's limit of recipients.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bulkPreviewSchema, bulkSchema } from '../../../../src/contract/chain-resource.js';
import { email, eventually, startStack, Unmet } from '../../../end-to-end/stack.js';
import { tenant } from '../../../hostile/attacks/tenant.js';

const stack = await startStack();
const [count, each, quota] = [12, 40, 100];

it("a bulk correction of addresses stops at the company's quota, and all other actions stay held", async () => {
  const own = await tenant(stack, 'steer', { recipientsPerDay: quota });
  const { companyId } = own;
  const addresses = Array.from({ length: each }, (_, n) => `to-${n}@${companyId}.example`);
  const made = await Promise.all(Array.from({ length: count }, () => own.start([email(['x'])])));
  for (const { chainId } of made) await own.action(chainId, 0, 'needs-attention');
  const correction = { field: 'emails', replace: { from: 'x', to: addresses.join(',') } };
  const order = { verb: 'mend', filter: { reason: 'DataMistake' }, correction };
  await eventually('all to be found', async () => {
    const preview = bulkPreviewSchema.parse(await (await own.ask('POST', '/chains/bulk', order)).json());
    return preview.count === count || new Unmet(preview.count);
  });
  const ordered = await own.ask('POST', '/chains/bulk', { ...order, confirm: count });
  assert.equal(ordered.status, 202, await ordered.clone().text());
  const { bulkId } = bulkSchema.parse(await ordered.json());
  const { progress } = await eventually('the bulk to end', async () => {
    const bulk = bulkSchema.parse(await (await own.ask('GET', `/chains/bulk/${bulkId}`)).json());
    return bulk.status === 'running' ? new Unmet(bulk) : bulk;
  });
  assert.deepEqual([progress?.actions, progress?.refused, progress?.failed], [2, 10, 0]);
  assert.match(progress?.failures[0]?.error ?? '', /^action 0: .* would exceed its limit of 100 e-mail recipients a day/);

  const held = await eventually('two to have been sent', async () => {
    const chains = await Promise.all(made.map(({ chainId }) => own.read(chainId)));
    const closed = chains.filter(({ closedAt }) => closedAt !== undefined);
    return closed.length === 2 ? chains.filter(({ closedAt }) => closedAt === undefined) : new Unmet(chains);
  });
  assert.deepEqual([...new Set(held.map(({ actions: [action] }) => action?.state))], ['needs-attention']);
  const sent = await Promise.all(addresses.map((address) => stack.inbox(address)));
  assert.equal(sent.flat().length, 80);
});
