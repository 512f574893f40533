/**
 * For random chains, the dry run and the scenarios must predict the results of real workflows, with a real server and platform.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import fc from 'fast-check';
import { type Chain, type ChainAction, chainWorkflowId, delayOf } from '../../../src/chain/chain.js';
import { asksIncomingValue, evaluateCondition } from '../../../src/chain/condition.js';
import { type Facts, type Forecast, forecastChain } from '../../../src/chain/forecast.js';
import type { ActionState } from '../../../src/chain/outcome.js';
import { readRequest } from '../../../src/chain/request.js';
import { playThrough, type Scenario } from '../../../src/chain/scenario.js';
import type { ChainResource } from '../../../src/contract/chain-resource.js';
import { forecastCondition } from '../../../src/rules/opaque.js';
import { type Action, email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const retryBudgetSeconds = 1;
const stack = await startStack({ retryBudgetSeconds });
const company = await stack.company();
const { companyId, relayId: holding } = company;
const ruleOf = async (onFailure: 'hold' | 'continue', enabled: boolean) => {
  const made = await stack.store.rules.create(companyId, { name: 'r', onFailure, onUnknown: 'resend' }, { kind: 'admin' });
  assert(typeof made === 'object');
  const { relayId } = made.rule;
  await stack.store.rules.update(companyId, relayId, (rule) => ({ ...rule, enabled }), { kind: 'admin' });
  return relayId;
};
const [continuing, disabled, deleted] = [await ruleOf('continue', true), await ruleOf('hold', false), await ruleOf('hold', true)];
await stack.store.rules.delete(companyId, deleted, { kind: 'admin' });
const rules: Record<string, Facts['rule']> = {
  [holding]: { enabled: true, onFailure: 'hold' },
  [continuing]: { enabled: true, onFailure: 'continue' },
  [disabled]: { enabled: false, onFailure: 'hold' },
};
/** Nobody is in this group, so a send to this group does not change the assignment. */
const nobody = { groupId: '504' };

const anyRule = fc.constantFrom(holding, holding, continuing, disabled, deleted);
/** A blank delay is a mistake in the event. Actions delayed by seconds run after the immediate ones. */
const anyDelay = fc.constantFrom({}, {}, {}, { delayInSeconds: '3' }, { delayInSeconds: '' });
const ofRequest = fc.constantFrom(
  {},
  { actionCondition: 'incomingValue==x', incomingValue: 'x' },
  { actionCondition: 'incomingValue==x', incomingValue: 'y' },
);
const chainsOf = (anyAction: fc.Arbitrary<Action>, count: number) => {
  const action = fc.tuple(anyAction, anyRule, anyDelay).map(([action, relayId, delay]) => ({ ...action, relayId, ...delay }));
  return fc.array(fc.array(action, { minLength: 1, maxLength: 4 }), { minLength: count, maxLength: count });
};

function read(elements: readonly Action[]): ChainAction[] {
  const request = readRequest(elements.map((element) => ({ relayAccessToken: '', ...element })));
  return request.ok ? request.actions : assert.fail(JSON.stringify(request.problems));
}

/** Runs a chain until it comes to rest: it has ended, or all its other actions wait behind a held action. */
async function run(actions: ChainAction[]): Promise<ChainResource> {
  const chainId = randomUUID();
  const now = new Date().toISOString();
  const chain: Chain = { companyId, chainId, receivedAt: now, retryBudgetSeconds, attentionWindowSeconds: 600, actions };
  await stack.client.workflow.start('RuleChain', {
    workflowId: chainWorkflowId(chain),
    taskQueue: stack.taskQueue,
    args: [chain],
  });
  return eventually('the chain to come to rest', async () => {
    const read = await company.read(chainId);
    const isHeld = (index: number) =>
      read.actions.some(
        (other) =>
          other.index < index &&
          other.state === 'needs-attention' &&
          delayOf(actions[other.index] ?? {}) === delayOf(actions[index] ?? {}),
      );
    const goesOn = read.actions.some(
      ({ index, state }) => ['running', 'retrying', 'scheduled'].includes(state) || (state === 'pending' && !isHeld(index)),
    );
    return goesOn || read.partial ? new Unmet(read) : read;
  });
}

const becomes: Record<Forecast['outcome'], ActionState | undefined> = {
  runs: 'done',
  skipped: 'skipped',
  'needs-attention': 'needs-attention',
  failed: 'failed',
  held: 'pending',
  unknown: undefined,
};

/** fast-check prints the seed and the chains of a failure. */
async function holdsFor(chains: fc.Arbitrary<Action[][]>, check: (elements: readonly Action[]) => Promise<void>) {
  const each = fc.asyncProperty(chains, async (chains) => void (await Promise.all(chains.map(check))));
  await fc.assert(each, { numRuns: 1, endOnFailure: true });
}

it("the dry run predicts each action's outcome", async () => {
  const ids = {
    draft: await stack.assignment({ status: 'draft' }),
    sent: await stack.assignment({ status: 'sent' }),
    missing: '404404',
  };
  const asking = fc
    .constantFrom(...Object.values(ids))
    .map((platformAssignmentId) => ({ platformAssignmentId, actionCondition: 'status==draft' }));
  const condition = fc.oneof(ofRequest, asking);
  const effect = fc.constantFrom<Action>(
    udf('T'),
    udf(''),
    udf('T', { cfTargetDateFormat: 'yyyy-MM-dd' }),
    email(['a@b.example']),
  );
  const sending = fc.oneof(
    ofRequest.map((more) => send(ids.draft, { ...nobody, ...more })),
    asking.map(({ platformAssignmentId, ...more }) => send(platformAssignmentId, { ...nobody, ...more })),
  );
  const plain = fc.tuple(effect, condition).map(([effect, more]) => ({ ...effect, ...more }));
  await holdsFor(chainsOf(fc.oneof(plain, sending), 16), async (elements) => {
    const actions = read(elements);
    const facts = actions.map(({ condition, assignmentId, incomingValue, relayId, ...action }): Facts => {
      const rule = rules[relayId];
      const obstacle = action.action === 'ticket_updateUDF' && elements[action.index]?.cfTargetDateFormat ? 'no date' : undefined;
      if (!condition) return { rule, obstacle };
      if (assignmentId === ids.missing && !asksIncomingValue(condition))
        return { rule, obstacle, condition: { error: '404', retryable: false } };
      const asked = asksIncomingValue(condition) ? { incomingValue } : { status: assignmentId === ids.draft ? 'draft' : 'sent' };
      return { rule, obstacle, condition: evaluateCondition(condition, asked) };
    });
    const foretold = forecastChain(actions, facts).map(({ outcome }) => becomes[outcome]);
    const { actions: happened } = await run(actions);
    assert.deepEqual(
      happened.map(({ state }) => state),
      foretold,
      JSON.stringify({ elements, happened }),
    );
  });
});

for (const scenario of ['nobody-found', 'nobody-accepts', 'platform-down'] as const)
  it(`the scenario ${scenario} predicts each action's outcome and number of attempts`, async () => {
    const isDown = scenario === 'platform-down';
    const asking = fc
      .constantFrom('draft', 'sent')
      .map((status) => ({ platformAssignmentId: '', actionCondition: `status==${status}` }));
    const effect = fc.constantFrom<Action>(email(['a@b.example']), send('', scenario === 'nobody-accepts' ? {} : nobody));
    const action = fc.tuple(effect, fc.oneof(ofRequest, asking)).map(([effect, more]) => ({ ...effect, ...more }));
    if (isDown) await stack.breakPlatform({ status: 503 });
    try {
      await holdsFor(chainsOf(action, 8), async (elements) => {
        const assignment = await stack.assignment({ status: 'draft' });
        const actions = read(elements.map((element) => ({ ...element, platformAssignmentId: assignment })));
        const facts = actions.map(({ relayId }) => ({ rule: rules[relayId] }));
        const world = { scenario: scenario satisfies Scenario, assignment: { status: 'draft' }, retryBudgetSeconds };
        const evaluate = (action: ChainAction, assignment: Record<string, unknown>) =>
          forecastCondition(action, assignment, new Date());
        const played = playThrough(actions, facts, { ...world, evaluate });
        /** Compares only results before the platform works again, because a test cannot wait longer. */
        const foretold = played.map(({ outcome, afterSeconds, attempts = 0, toldAfterSeconds }) => {
          if ((afterSeconds ?? toldAfterSeconds ?? 0) < 600)
            return [becomes[outcome], isDown && outcome === 'failed' ? attempts : undefined];
          return [toldAfterSeconds === undefined || toldAfterSeconds >= 600 ? 'pending' : 'needs-attention', undefined];
        });
        const { actions: happened } = await run(actions);
        const seen = happened.map(({ state, attempts }) => [state, isDown && state === 'failed' ? attempts : undefined]);
        const startedLate = happened.some((action) =>
          happened.some(
            (other) =>
              delayOf(actions[other.index] ?? {}) > delayOf(actions[action.index] ?? {}) &&
              (other.startedAt ?? '9') < (action.endedAt ?? '0'),
          ),
        );
        if (!startedLate) assert.deepEqual(seen, foretold, JSON.stringify({ elements, played, happened }));
      });
    } finally {
      if (isDown) await stack.heal();
    }
  });
