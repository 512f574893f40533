/**
 * What a chain that goes well costs in Temporal, both workflows summed: a change that adds an event or a workflow task has to say
 * why.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Action, email, send, startStack, udf } from './stack.js';

const stack = await startStack();

describe('a chain that goes well costs at most', () => {
  const shapes: [string, (assignment: string) => Action[], { events: number; tasks: number }][] = [
    ['three sends', (id) => [send(id), send(id), send(id)], { events: 6, tasks: 1 }],
    [
      'a condition and a ticket',
      (id) => [udf('T', { platformAssignmentId: id, actionCondition: 'status==draft' })],
      { events: 7, tasks: 1 },
    ],
    [
      'two sends and one after two seconds',
      (id) => [send(id), send(id), send(id, { delayInSeconds: '2' })],
      { events: 26, tasks: 5 },
    ],
    ['one e-mail', () => [email(['a@b.example'])], { events: 11, tasks: 2 }],
  ];
  for (const [name, actions, most] of shapes)
    it(`${name}: ${most.events} events, ${most.tasks} workflow tasks`, async () => {
      const company = await stack.company();
      const { chainId, workflowId } = await company.start(actions(await stack.assignment()));
      // A query while it runs could cost a workflow task of its own.
      await stack.client.workflow.getHandle(workflowId).result();
      const chain = await company.read(chainId);
      assert(chain.actions.every(({ state }) => state === 'done'));
      const workflowIds = new Set([workflowId, ...chain.actions.flatMap((action) => action.workflowId ?? [])]);
      const histories = await Promise.all([...workflowIds].map((id) => stack.client.workflow.getHandle(id).fetchHistory()));
      const events = histories.flatMap((history) => history.events ?? []);
      const tasks = events.filter((event) => event.workflowTaskCompletedEventAttributes);
      assert(
        events.length <= most.events && tasks.length <= most.tasks,
        `${events.length} events, ${tasks.length} workflow tasks`,
      );
    });
});
