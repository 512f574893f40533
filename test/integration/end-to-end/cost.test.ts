/**
 * The events and workflow tasks of a chain without failures, summed over both workflows. A change that adds an event or a task
 * must say why.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startOfEvent } from '../../end-to-end/event-chains.js';
import { type Action, email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack();

/**
 * The test runs this number of chains, and one of them must have exactly the expected cost. On a busy machine, some chains need
 * more events, or need no timer because the delay is already over.
 */
const chains = 5;

describe('a chain that goes well costs exactly', () => {
  const always = { actionCondition: 'status!=closed' };
  const soon = { delayInSeconds: '2' };
  const ofEvent = { if: 'assignment.status != "closed" && event.n > 3' };
  /** A chain of an event costs the same as a similar chain of a list with an `actionCondition`. */
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
    [
      'a ticket of an event',
      (id) => [udf('T', { platformAssignmentId: id, cfValue: '${assignment.title}', ...always, ...ofEvent })],
      { events: 7, tasks: 1 },
    ],
    [
      'two sends and a delayed ticket, with conditions',
      (id) => [send(id, always), send(id), udf('T', { platformAssignmentId: id, ...always, ...soon })],
      { events: 28, tasks: 5 },
    ],
    [
      'two sends and a delayed ticket, of an event',
      (id) => [send(id, ofEvent), send(id), udf('T', { platformAssignmentId: id, cfValue: '${assignment.title}', ...soon })],
      { events: 28, tasks: 5 },
    ],
    [
      'an e-mail with a condition',
      (id) => [email(['a@b.example'], { platformAssignmentId: id, ...always })],
      { events: 12, tasks: 2 },
    ],
    [
      'an e-mail of an event',
      (id) => [email(['${assignment.ownerEmail}'], { platformAssignmentId: id, body: '${assignment.title}', ...ofEvent })],
      { events: 12, tasks: 2 },
    ],
  ];
  for (const [name, actions, cost] of shapes) {
    const costOf = async () => {
      const company = await stack.company();
      const elements = actions(await stack.assignment({ ownerEmail: 'a@b.example' }));
      const isOfEvent = name.endsWith('of an event');
      const { chainId, workflowId } = await (isOfEvent ? startOfEvent(stack, company, elements) : company.start(elements));
      // A query while the chain runs could cost a workflow task of its own.
      await stack.client.workflow.getHandle(workflowId).result();
      const chain = await company.read(chainId);
      assert(chain.actions.every(({ state }) => state === 'done'));
      const workflowIds = new Set([workflowId, ...chain.actions.flatMap((action) => action.workflowId ?? [])]);
      const histories = await Promise.all([...workflowIds].map((id) => stack.client.workflow.getHandle(id).fetchHistory()));
      const events = histories.flatMap((history) => history.events ?? []);
      const tasks = events.filter((event) => event.workflowTaskCompletedEventAttributes);
      return { events: events.length, tasks: tasks.length };
    };
    it(`${name}: ${cost.events} events, ${cost.tasks} workflow tasks`, async () => {
      const isExact = (seen: typeof cost) => seen.events === cost.events && seen.tasks === cost.tasks;
      await eventually('a chain of exactly this cost', async () => {
        const costs = await Promise.all(Array.from({ length: chains }, costOf));
        return costs.some(isExact) || new Unmet(costs);
      });
    });
  }
});
