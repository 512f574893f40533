/**
 * Makes one measurement (a row of the results) on one side. Posts chains as senders do. Gets the arrivals of effects from the
 * platform, and the open workflows from Temporal.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { now } from './clock.js';
import { cpuSeconds, Meter } from './processes.js';
import { adminToken, eventRule, rule, type Side, type SideName } from './sides.js';

export type Action = Record<string, unknown>;

/** A measurement fails if effects are missing, or workflows are open, after this time. */
const patienceSeconds = 1800;

const arrivalsSchema = z.object({
  count: z.number(),
  repeats: z.number(),
  arrivals: z.array(z.object({ id: z.string(), at: z.number() })),
});

let runs = 0;

/** All times come from `now()`. */
export class Trial {
  readonly #agent = new Agent({ connections: 64 });

  constructor(
    private readonly side: Side,
    private readonly client: Client,
    private readonly platformUrl: string,
    private readonly enginePids: readonly number[],
    /** The number of senders in a burst. */
    private readonly clients: number,
    /** Whether to POST an event for each chain, instead of a list of actions. */
    private readonly asEvents: boolean,
  ) {}

  get sideName(): SideName {
    return this.side.name;
  }

  /** Returns a new name for one measurement. The ids of its effects begin with this name. */
  newRun(): string {
    return `r${++runs}`;
  }

  /** @throws if the answer is not 202 */
  async post(actions: Action[], company = 'bench'): Promise<{ sent: number; answered: number }> {
    const list = actions.map((action) => ({ ...rule, ...action }));
    const event = { ids: actions.map(({ platformAssignmentId }) => platformAssignmentId) };
    const body = JSON.stringify(this.asEvents ? event : list);
    const sent = now();
    const door = this.asEvents ? `events/${eventRule.relayId}` : 'relay';
    const answer = await request(`${this.side.url}/co/${company}/${door}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(this.asEvents && { authorization: `Bearer ${eventRule.relayAccessToken}` }),
      },
      body,
      dispatcher: this.#agent,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 202) throw new Error(`a POST was answered ${answer.statusCode}: ${text.slice(0, 500)}`);
    return { sent, answered: now() };
  }

  /** Requests a page as an operator's browser does. @throws if the answer is not 200 */
  async ask(path: string): Promise<{ took: number; body: unknown }> {
    const sent = now();
    const headers = { authorization: `Bearer ${adminToken}` };
    const answer = await request(this.side.url + path, { headers, dispatcher: this.#agent });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${path} was answered ${answer.statusCode}: ${text.slice(0, 500)}`);
    return { took: now() - sent, body: JSON.parse(text) };
  }

  /** POSTs this number of chains from several senders. Each sender POSTs its next chain when the previous POST is answered. */
  async burst(count: number, actionsOf: (n: number) => Action[]): Promise<{ sent: number; answered: number }[]> {
    const posted: { sent: number; answered: number }[] = [];
    let next = 0;
    const sender = async () => {
      for (let n = next++; n < count; n = next++) posted[n] = await this.post(actionsOf(n));
    };
    await Promise.all(Array.from({ length: this.clients }, sender));
    return posted;
  }

  /**
   * Waits until a run has this number of effects.
   * @param seconds - after this time, the function returns the effects so far. If unset, it throws after `patienceSeconds`.
   * @returns the time of each effect's first arrival, by the effect's id; and the number of repeats
   */
  async arrived(run: string, count: number, seconds?: number): Promise<{ at: Map<string, number>; repeats: number }> {
    for (const deadline = now() + (seconds ?? patienceSeconds) * 1000; ; await sleep(50)) {
      const late = now() > deadline;
      const answer = await request(`${this.platformUrl}/arrivals/${run}/${late ? 0 : count}`, { dispatcher: this.#agent });
      const seen = arrivalsSchema.parse(await answer.body.json());
      if (late && seconds === undefined) throw new Error(`only ${seen.count} of ${count} effects arrived`);
      if (late || seen.count >= count) return { at: new Map(seen.arrivals.map(({ id, at }) => [id, at])), repeats: seen.repeats };
    }
  }

  /** Waits until no workflow is open. */
  async closed(): Promise<void> {
    for (const deadline = now() + patienceSeconds * 1000; (await this.#open()) > 0; await sleep(200))
      if (now() > deadline) throw new Error('workflows stay open');
  }

  /**
   * Waits for a quiet period of five seconds: the number of open workflows does not change, and the side uses less than half a
   * second of CPU.
   */
  async idle(): Promise<void> {
    for (let before = { open: -1, cpu: 0 }; ; await sleep(5000)) {
      const after = { open: await this.#open(), cpu: cpuSeconds(this.side.pids) };
      if (after.open === before.open && after.cpu - before.cpu < 0.5) return;
      before = after;
    }
  }

  /** Counts the relay's chains that wait for a person. */
  async needingAttention(): Promise<number> {
    return (await this.client.workflow.count(`TaskQueue = '${this.side.taskQueue}' AND RelayNeedsAttention = true`)).count;
  }

  async #open(): Promise<number> {
    return (await this.client.workflow.count(this.#query('Running'))).count;
  }

  /** Resets every open workflow of a type to the end of its first workflow task. */
  async reset(type: string): Promise<void> {
    const { workflowService, options } = this.client;
    const reset = async ({ workflowId, runId }: { workflowId: string; runId: string }) => {
      const { events } = await this.client.workflow.getHandle(workflowId, runId).fetchHistory();
      const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
      await workflowService.resetWorkflowExecution({
        namespace: options.namespace,
        workflowExecution: { workflowId, runId },
        workflowTaskFinishEventId: first?.eventId,
        requestId: randomUUID(),
        reason: 'bench',
      });
    };
    const open: { workflowId: string; runId: string }[] = [];
    for await (const one of this.client.workflow.list({ query: `${this.#query('Running')} AND WorkflowType = '${type}'` }))
      open.push(one);
    const resetter = async () => {
      for (let next = open.pop(); next; next = open.pop()) await reset(next);
    };
    await Promise.all(Array.from({ length: this.clients }, resetter));
  }

  meter(): Meter {
    return new Meter({ side: this.side.pids, engine: this.enginePids });
  }

  /** The total size and number of this side's completed workflows in Temporal. */
  async histories(): Promise<Record<string, number>> {
    const sum = { workflows: 0, events: 0, 'workflow tasks': 0, activities: 0 };
    for await (const { workflowId, runId } of this.client.workflow.list({ query: this.#query('Completed') })) {
      const { events } = await this.client.workflow.getHandle(workflowId, runId).fetchHistory();
      sum.workflows += 1;
      for (const event of events ?? []) {
        sum.events += 1;
        if (event.workflowTaskCompletedEventAttributes) sum['workflow tasks'] += 1;
        if (event.activityTaskCompletedEventAttributes) sum.activities += 1;
      }
    }
    return sum;
  }

  /** Stops the side and terminates its open workflows, so that they do not slow the next measurement. */
  async end(): Promise<void> {
    await this.side.stop();
    while ((await this.#open()) > 0) {
      const open = this.client.workflow.list({ query: this.#query('Running') })[Symbol.asyncIterator]();
      const ender = async () => {
        for (let next = await open.next(); !next.done; next = await open.next()) {
          const { workflowId, runId } = next.value;
          await this.client.workflow
            .getHandle(workflowId, runId)
            .terminate('end of a row')
            .catch(() => {}); // The workflow has ended already.
        }
      };
      await Promise.all(Array.from({ length: 50 }, ender));
    }
    await this.#agent.destroy();
  }

  #query(status: 'Running' | 'Completed'): string {
    return `TaskQueue = '${this.side.taskQueue}' AND ExecutionStatus = '${status}'`;
  }
}
