/** Three subjects: the deletion of a company, the data about it that Temporal keeps, and the tokens that started a chain. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { companyKey } from '../../../src/contract/search-attributes.js';
import { relay } from '../../cli/scripted-terminal.js';
import { adminToken, email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack({ noticeDigestSeconds: 0 });
const admin = { kind: 'admin' } as const;
const run = (...words: string[]) =>
  relay(words, { env: { RELAY_URL: stack.links.api, RELAY_ADMIN_TOKEN: adminToken, COLUMNS: '200' } });

/** A company's workflows in visibility: by type, open or closed. */
async function runsOf(companyId: string) {
  const runs = [];
  for await (const { type, status } of stack.client.workflow.list({ query: `${companyKey.name} = '${companyId}'` }))
    runs.push({ type, open: status.name === 'RUNNING' });
  return runs;
}

describe('a chain', () => {
  it('shows which tokens started it, and none if a person resent a refused request', async () => {
    const company = await stack.company();
    const { companyId, relayId } = company;
    const [token] = (await stack.store.tokens.list(companyId, relayId)) ?? [];
    const { chainId } = await company.start([udf('T'), udf('T', { delayInSeconds: '3000' })]);
    assert.deepEqual((await company.read(chainId)).tokenIds, [token?.tokenId]);

    assert.equal((await company.post([udf('T', { delayInSeconds: 'soon' })])).status, 400);
    await company.post([udf('T')], { 'Idempotency-Key': ' ' });
    const resendable = await eventually('the request to be kept', async () => {
      const { items } = await stack.store.rejected.list(companyId, { limit: 10 });
      return items.find(({ reason }) => reason === 'idempotency-key') ?? new Unmet(items);
    });
    const resent = await fetch(`${stack.links.api}/co/${companyId}/rejected/${resendable.rejectedId}/resend`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}` },
    });
    const again = (await resent.json()) as { chainId: string };
    assert.equal((await company.read(again.chainId)).tokenIds, undefined);
    await company.steer(chainId, 'cancel');
  });
});

describe('deleting a company', () => {
  it('is refused while it has open chains; cancels them on request, and leaves nothing in Temporal after the erasure', async () => {
    const company = await stack.company();
    const { companyId } = company;
    const other = await stack.company();
    const kept = (await other.start([udf('T')])).chainId;
    await other.ended(kept);

    const done = (await company.start([udf('T'), udf('T', { delayInSeconds: '1' })])).chainId;
    const held = (await company.start([send('404404', { groupId: '501' }), email(['a@x.example'])])).chainId;
    const scheduled = (await company.start([udf('T', { delayInSeconds: '3000' })])).chainId;
    await company.ended(done);
    await company.action(held, 0, 'needs-attention');
    await stack.mails(company.admin, 1);
    await eventually('the chains to be visible', async () => {
      const open = (await runsOf(companyId)).filter((run) => run.open && run.type === 'RuleChain');
      return open.length === 2 || new Unmet(open);
    });

    const early = await run('companies', 'erase', companyId, '--yes');
    assert.deepEqual([early.exitCode, early.out], [1, '']);
    assert.match(early.err, /^Company in use \(409\): Company /);
    const refused = await run('companies', 'delete', companyId, '--yes');
    assert.deepEqual([refused.exitCode, refused.out], [1, '']);
    assert.match(refused.err, /has 2 open chains\..*--cancel-chains/);
    assert.ok(await stack.store.companies.get(companyId));

    const deleted = await run('companies', 'delete', companyId, '--cancel-chains', '--yes');
    assert.equal(deleted.exitCode, 0, deleted.err);
    assert.match(
      deleted.out,
      /^Deleted: .*\nThe chains of the company are being cancelled: npx relay bulk show \S+\nTemporal still has \d+ closed and \d+ open/,
    );
    assert.match(deleted.out, /after 1 day, the last run by [^\n]+\.\nErase the closed runs: npx relay companies erase c-/);
    for (const chainId of [held, scheduled]) assert.equal((await company.ended(chainId)).status, 'cancelled');

    await eventually('everything to have closed', async () => {
      const runs = await runsOf(companyId);
      return (runs.length > 0 && !runs.some(({ open }) => open)) || new Unmet(runs);
    });
    const types = new Set((await runsOf(companyId)).map(({ type }) => type));
    assert.deepEqual([...types].sort(), ['BulkSteering', 'DelayedAction', 'NoticeDelivery', 'Notifier', 'RuleChain']);

    const made = await fetch(`${stack.links.api}/admin/companies/${companyId}?reuseId=true`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Again' }),
    });
    const { remains } = (await made.json()) as { remains: { closed: number; retentionDays: number; until: string } };
    assert.deepEqual([made.status, remains.retentionDays], [201, 1]);
    assert.ok(remains.closed >= 7 && Date.parse(remains.until) > Date.now(), JSON.stringify(remains));
    await stack.store.companies.delete(companyId, admin);

    const erased = await run('companies', 'erase', companyId, '--yes');
    assert.equal(erased.exitCode, 0, erased.out + erased.err);
    assert.match(erased.out, /^\d+ runs erased\.\nNothing is left\.\n$/);
    assert.deepEqual(await runsOf(companyId), []);
    await assert.rejects(stack.client.workflow.getHandle(`relay:${companyId}:${done}`).describe(), {
      name: 'WorkflowNotFoundError',
    });
    assert.equal((await other.read(kept)).status, 'completed');
    const [entry] = (await stack.store.audit.list({ companyId, limit: 1 })).items;
    assert.equal(entry?.action, 'company.erase');
    const again = await run('companies', 'erase', companyId, '--yes');
    assert.deepEqual([again.exitCode, again.out], [0, '0 runs erased.\nNothing is left.\n']);
  });

  it('answers 204 if nothing remains, and 404 if it does not exist', async () => {
    const { companyId } = await stack.company();
    const ask = (method: string, path: string) =>
      fetch(`${stack.links.api}/admin/companies/${path}`, { method, headers: { authorization: `Bearer ${adminToken}` } });
    assert.equal((await ask('DELETE', companyId)).status, 204);
    assert.equal((await ask('DELETE', companyId)).status, 404);
    assert.equal((await ask('POST', 'never-there/erase')).status, 404);
    assert.equal((await ask('POST', `${companyId}/erase`)).status, 200);
  });

  it('lets a chain that is still open end, with the reason why its actions did not run', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([udf('T', { delayInSeconds: '3000' })]);
    await company.action(chainId, 0, 'scheduled');
    await stack.store.companies.delete(company.companyId, admin);
    await company.steer(chainId, 'runNow', 0);
    const [action] = (await company.ended(chainId)).actions;
    assert.equal(action?.state, 'skipped');
    assert.match(action?.error?.message ?? '', /any more: create it again with --reuse-id, then retry; or cancel/);
  });
});
