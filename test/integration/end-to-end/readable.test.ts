/** The texts about a chain that the Web UI shows before a payload is opened. The tests read them through the UI's own API. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readMessage, readPayload } from '../../../src/service/payloads.js';
import { type ShownKind, startShownChains } from '../../end-to-end/shown-chains.js';
import { startStack } from '../../end-to-end/stack.js';

const stack = await startStack({ retryBudgetSeconds: 600 });
const { company, chains, workflows, assignment, other } = await startShownChains(stack);
const handleOf = (kind: ShownKind) => stack.client.workflow.getHandle(workflows[kind]);
const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`;

/** The UI's request for its page User Metadata. */
interface Metadata {
  currentDetails?: string;
  definition?: { signalDefinitions?: { name: string; description?: string }[] };
}
const metadata = (kind: ShownKind): Promise<Metadata> => handleOf(kind).query<Metadata>('__temporal_workflow_metadata');

/** The summaries of a workflow's timers, activities, local activities and children, in the Web UI's form. */
async function summaries(workflowId: string): Promise<{ what: string; summary: string }[]> {
  const { events } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  const found = (events ?? []).map(async (event) => {
    const what =
      event.activityTaskScheduledEventAttributes?.activityType?.name ??
      event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowType?.name ??
      (event.timerStartedEventAttributes ? 'timer' : undefined) ??
      (event.markerRecordedEventAttributes?.markerName === 'core_local_activity' ? 'local' : undefined);
    if (what === undefined) return [];
    const payload = event.userMetadata?.summary;
    return [{ what, summary: payload ? String(await readPayload(stack.client, payload)) : '' }];
  });
  return (await Promise.all(found)).flat();
}

describe('the summary and the details of a workflow', () => {
  const cases: [kind: ShownKind, summary: string, details: string[]][] = [
    [
      'completed',
      `${company.companyId}: 3 actions, assignment ${assignment}: Tell the owner first, Preferred technicians, Note it ` +
        `in the ticket`,
      ['| in order, if status==draft', 'groupIds 501; radiusMiles 25', 'recipients owner@demo.example, dispatch@demo.example'],
    ],
    ['held', `${company.companyId}: 3 actions, assignment 404404: `, ['groupIds 502', 'field Sent; value value']],
    ['delayed', '1 Metro technicians later: 1800 s after the event', ['| 1800 s after the event, if status==draft']],
  ];
  for (const [kind, summary, details] of cases) {
    it(`${kind}: says what was requested`, async () => {
      const description = await handleOf(kind).describe();
      assert.ok((await description.staticSummary())?.startsWith(summary), await description.staticSummary());
      const shown = (await description.staticDetails()) ?? '';
      assert.match(shown, new RegExp(`^Chain ${chains[kind]} of ${company.companyId}, received ${time}`));
      for (const words of details) assert.ok(shown.includes(words), shown);
    });
  }
});

describe('the current details', () => {
  const cases: [kind: ShownKind, words: RegExp[]][] = [
    [
      'running',
      [
        /^\| 1 \| pending \| ticket_updateUDF: Note it in the ticket/m,
        /\| retrying \| .*: Preferred technicians \| The assignment platform does not work at the moment; POST .*answered 503.*; next try at 2/,
        new RegExp(`\\| scheduled \\| sendEmails: Alert the manager \\| due ${time}`),
      ],
    ],
    [
      'held',
      [
        /^\*\*Action 1 needs attention:\*\* Assignment 404404 does not exist at the assignment platform; POST .* answered 404: no assignment 404404; check the id/,
        /The relay does not try the action again by itself: fix the cause first\./,
        /Send a Signal: `retry` tries the action again, `skip` continues without the action\. The input of `retry` and `skip` is `\[1\]`\./,
        new RegExp(`Without a decision, the action fails at ${time}`),
        /\| \*\*needs-attention\*\* \| platform_sendAssignment: Metro technicians/,
        /\| pending \| ticket_updateUDF/,
      ],
    ],
    [
      'failed',
      [
        /^\*\*Action 1 failed:\*\* .*answered 404: .* \*\*What to do:\*\* Change the number, then retry\. To retry: `npx relay retry \S+ \S+ 1`/,
        /\| done \| sendEmails/,
      ],
    ],
    [
      'completed',
      [/\| done \| sendEmails: Tell the owner first \| reached 2/, /\| 1 \| done \| platform_sendAssignment: .* \| reached \d/],
    ],
    ['delayed', [new RegExp(`^\\| 1 \\| scheduled \\| .*Metro technicians later \\| due ${time}`, 'm')]],
  ];
  for (const [kind, words] of cases) {
    it(`${kind}: says the state of each action`, async () => {
      const { currentDetails = '' } = await metadata(kind);
      const shown = currentDetails.replaceAll(/[\\\u2003]/g, '');
      for (const part of words) assert.match(shown, part);
    });
  }

  it('the signals describe their use', async () => {
    const { definition } = await metadata('held');
    const signals = new Map(definition?.signalDefinitions?.map(({ name, description }) => [name, description]));
    for (const name of ['retry', 'skip', 'runNow', 'cancelAction', 'reschedule'])
      assert.match(signals.get(name) ?? '', /Input: \[index/);
    for (const description of signals.values()) assert.ok(description);
  });
});

describe('the events', () => {
  const cases: [kind: ShownKind, what: RegExp, summary: RegExp][] = [
    ['running', /^DelayedAction$/, /^2 Alert the manager: 3600 s after the event$/],
    ['running', /^timer$/, /^0 Preferred technicians: tried again after 1 s$/],
    ['running', /^sendAssignment$/, /^0 Preferred technicians$/],
    ['held', /^timer$/, new RegExp(`^1 Metro technicians: needs attention until ${time}$`)],
    ['held', /^notifyFailure$/, /^1 Metro technicians: notice: needs-attention$/],
    ['held', /^local$/, /^1 Metro technicians: does rule \d+ hold or continue\?$/],
    ['completed', /^sendEmail$/, /^0 Tell the owner first: to dispatch@demo\.example$/],
    ['completed', /^(local|checkCondition)$/, /^1 Preferred technicians: status==draft\?$/],
    ['delayed', /^timer$/, new RegExp(`^1 Metro technicians later: due ${time}$`)],
  ];
  for (const [kind, what, summary] of cases) {
    it(`${kind}: ${summary} of ${what}`, async () => {
      const found = (await summaries(workflows[kind])).filter((one) => what.test(one.what));
      assert.ok(
        found.some((one) => summary.test(one.summary ?? '')),
        JSON.stringify(found),
      );
    });
  }

  it('each event names its action', async () => {
    for (const workflowId of Object.values(workflows))
      for (const { what, summary } of await summaries(workflowId))
        assert.match(summary ?? '', /^\d+ \w/, `${what} of ${workflowId}`);
  });
});

describe('the search attributes', () => {
  const attributes = async (kind: ShownKind) => {
    const { typedSearchAttributes } = await handleOf(kind).describe();
    return new Map(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
  };

  for (const kind of ['running', 'held', 'failed', 'completed', 'delayed'] as const) {
    it(`${kind}: company, chain, rule, assignment and whether it needs attention`, async () => {
      const found = await attributes(kind);
      assert.equal(found.get('RelayCompanyId'), company.companyId);
      assert.equal(found.get('RelayChainId'), chains[kind]);
      assert.equal(found.get('RelayNeedsAttention'), kind === 'held');
      assert.ok(Array.isArray(found.get('RelayRuleIds')));
      assert.deepEqual(found.get('RelayAssignmentIds'), [
        { held: '404404', failed: '404404', delayed: other, running: assignment, completed: assignment }[kind],
      ]);
    });
  }
});

it('a failed chain says what failed, why, and what to do', async () => {
  const { events } = await handleOf('failed').fetchHistory();
  const failure = events?.at(-1)?.workflowExecutionFailedEventAttributes?.failure;
  assert.equal(failure?.applicationFailureInfo?.type, 'ChainFailed');
  assert.match(
    failure ? await readMessage(stack.client, failure) : '',
    /^1 of 3 actions failed\. 1 Preferred technicians: Assignment 404404 does not exist .*; POST .* answered 404: no assignment 404404; check .*\. Fix the cause, then run: npx relay retry \S+ \S+ 1$/,
  );
});
