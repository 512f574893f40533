/** A dry run over HTTP: what each caller sees, and that it has no effect. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { dryRunSchema } from '../../../src/contract/dry-run.js';
import { problemSchema } from '../../../src/contract/problem.js';
import { type Action, adminToken, email, send, startStack, udf } from '../../end-to-end/stack.js';

const stack = await startStack();
type Company = Awaited<ReturnType<typeof stack.company>>;

function dryRun({ companyId, relayId, relayAccessToken }: Company, actions: Action[], headers: Record<string, string> = {}) {
  return fetch(`${stack.links.api}/co/${companyId}/relay?dryRun=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(actions.map((action) => ({ relayId, relayAccessToken, ...action }))),
  });
}
async function told(company: Company, actions: Action[], headers?: Record<string, string>) {
  const response = await dryRun(company, actions, headers);
  assert.equal(response.status, 200, await response.clone().text());
  return dryRunSchema.parse(await response.json());
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const actor = { kind: 'admin' } as const;

describe('a dry run', () => {
  it('says what will happen, and has no effect anywhere', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment({ status: 'draft' });
    const recipient = `somebody@${company.companyId}.example`;
    const actions = [
      send(assignment, { groupId: '501' }),
      email([recipient], { platformAssignmentId: assignment, actionCondition: 'status==draft' }),
      udf(`ticket-${assignment}`, { delayInSeconds: '1' }),
    ];
    const key = { 'idempotency-key': `key-${assignment}` };
    const { actions: shown } = await told(company, actions, key);
    assert.deepEqual(
      shown.map(({ outcome }) => outcome),
      ['runs', 'runs', 'runs'],
    );
    assert.deepEqual(
      (await stack.calls(assignment, `ticket-${assignment}`)).map(({ method }) => method),
      ['GET'],
    );

    // The key is still unused, and the real run has the predicted result.
    const response = await company.post(actions, key);
    assert.equal(response.status, 202);
    const { chainId } = z.object({ chainId: z.string() }).parse(await response.json());
    const { actions: done } = await company.ended(chainId);
    assert.deepEqual(
      done.map(({ state }) => state),
      ['done', 'skipped', 'done'],
      'the condition did not hold any more once the assignment had been sent',
    );
    assert.deepEqual(await stack.inbox(recipient), []);
  });

  it('shows the values in conditions to the admin and to the company only', async () => {
    const company = await stack.company();
    const other = await stack.company();
    const made = await stack.store.keys.create(company.companyId, 'reader', actor);
    const foreign = await stack.store.keys.create(other.companyId, 'reader', actor);
    assert(typeof made === 'object' && typeof foreign === 'object');
    const assignment = await stack.assignment({ status: 'draft' });
    const actions = [send(assignment, { actionCondition: 'status==sent' })];

    for (const [who, headers, reason] of [
      ['the admin', bearer(adminToken), 'status was "draft"'],
      ['a key of the company', bearer(made.key), 'status was "draft"'],
      ['a key of another company', bearer(foreign.key), undefined],
      ['a wrong bearer', bearer('x'), undefined],
      ['nobody', {}, undefined],
    ] as const) {
      const [action] = (await told(company, actions, headers)).actions;
      assert.deepEqual(action?.condition, { text: 'status==sent', holds: false, ...(reason && { reason }) }, who);
    }
  });

  it('is refused like the request itself, and is not kept as a rejected request', async () => {
    const company = await stack.company();
    for (const [actions, status] of [
      [[email(['a@b.example'], { delayInSeconds: 'soon' })], 400],
      [[email(['a@b.example'], { relayAccessToken: 'wrong' })], 401],
      [[email(['a@b.example'], { relayAccessToken: adminToken })], 401],
    ] as const) {
      const response = await dryRun(company, [...actions], bearer(adminToken));
      assert.equal(response.status, status);
      problemSchema.parse(await response.json());
    }
    await stack.store.rules.update(company.companyId, company.relayId, (rule) => ({ ...rule, enabled: false }), actor);
    assert.equal((await dryRun(company, [email(['a@b.example'])])).status, 401);
    const { items } = await stack.store.rejected.list(company.companyId, { limit: 10 });
    assert.deepEqual(items, []);
  });

  it('answers 200 if the platform fails', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    await stack.breakPlatform({ status: 503, path: 'assignments', times: 1 });
    const { actions } = await told(company, [send(assignment, { actionCondition: 'status==draft' })], bearer(adminToken));
    await stack.heal();
    assert.equal(actions[0]?.outcome, 'unknown');
    assert.match(actions[0]?.condition?.error ?? '', /503/);
  });

  for (const name of ['widen-then-alert', 'email-send-email', 'two-groups']) {
    it(`of the example ${name} finds no problem`, async () => {
      const company = await stack.company();
      const assignment = await stack.assignment({ status: 'draft' });
      const file = readFileSync(new URL(`../../../../examples/${name}.json`, import.meta.url), 'utf8');
      const example = z.array(z.record(z.string(), z.unknown())).parse(JSON.parse(file));
      const { relayId, relayAccessToken } = company;
      const { actions, warnings } = await told(
        company,
        example.map((action) => ({ ...action, relayId, relayAccessToken, platformAssignmentId: assignment })),
      );
      assert.ok(actions.every(({ outcome }) => outcome === 'runs'));
      assert.deepEqual(warnings, []);
    });
  }
});
