/**
 * Drives the built workflows by activations that a test makes, in the form of Temporal's core. So tests can make combinations
 * that are rare on a server, such as a signal, a timer and the late end of a local activity in one workflow task.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { TypedSearchAttributes } from '@temporalio/common';
import proto from '@temporalio/proto';
import { parseWorkflowCode } from '@temporalio/worker/lib/worker.js';
import { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js';
import type { Chain, ChainAction } from '../../src/chain/chain.js';
import type { ChainView } from '../../src/contract/messages.js';
import { bundlePath } from '../../src/worker/bundle.js';
import './main-thread.js';

const { WorkflowActivation } = proto.coresdk.workflow_activation;
export type Job = proto.coresdk.workflow_activation.IWorkflowActivationJob;
export type Command = proto.coresdk.workflow_commands.IWorkflowCommand;

/** Activities that may be local. */
const local = ['doEffects', 'sendAssignment', 'updateUdf', 'checkCondition', 'mendAction', 'readPolicy', 'readPauses'];
const plain = 'globalThis.relayPlainFailures = true; ';
const bundle = parseWorkflowCode(`${plain}${readFileSync(bundlePath, 'utf8')}`, bundlePath);
const creator = ReusableVMWorkflowCreator.create(bundle, 60_000, new Set(local));

/** A payload's value as JSON. */
export const payload = (value: unknown) => ({
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from(JSON.stringify(value)),
});
const read = (found: proto.temporal.api.common.v1.IPayload | null | undefined): unknown =>
  found?.data && found.data.length > 0 ? JSON.parse(Buffer.from(found.data).toString()) : undefined;

export interface Scheduled {
  seq: number;
  isLocal: boolean;
  type: string;
  id: string;
  input: unknown[];
}

export const signal = (name: string, ...input: unknown[]): Job => ({
  signalWorkflow: { signalName: name, input: input.map(payload) },
});
export const cancel: Job = { cancelWorkflow: {} };
export const fired = (seq: number): Job => ({ fireTimer: { seq } });
/** Temporal sends this job in a reset run, before the events after the reset. */
export const wasReset: Job = { updateRandomSeed: { randomnessSeed: 77 as never } };

export function done({ seq, isLocal }: Scheduled, result: unknown = { attempts: 1, tookMs: 5 }): Job {
  return { resolveActivity: { seq, isLocal, result: { completed: { result: payload(result) } } } };
}

/** @param details - `details[0]` of the failure */
export function failed({ seq, isLocal, type, id }: Scheduled, kind: string, details: Record<string, unknown>): Job {
  const [message, facts] = [`${kind}, as the test wants it`, { attempt: 1, retryable: false, ...details }];
  const cause = { message, applicationFailureInfo: { type: kind, nonRetryable: true, details: { payloads: [payload(facts)] } } };
  const activity = { message: 'Activity task failed', activityFailureInfo: { activityId: id, activityType: { name: type } } };
  const failure = isLocal ? cause : { ...activity, cause };
  return { resolveActivity: { seq, isLocal, result: { failed: { failure } } } };
}

export const cancelledActivity = ({ seq, isLocal }: Scheduled): Job => ({
  resolveActivity: { seq, isLocal, result: { cancelled: { failure: { message: 'cancelled', canceledFailureInfo: {} } } } },
});

/** One workflow, from its first activation on. */
export class Driven {
  /** All commands so far. */
  readonly commands: Command[] = [];
  #now = Date.parse('2026-07-01T12:00:00Z');

  private constructor(
    private readonly workflow: Awaited<ReturnType<ReusableVMWorkflowCreator['createWorkflow']>>,
    private readonly runId: string,
  ) {}

  /** @param more - jobs of the first activation. @param historyLength - the length at the workflow task; 3 in the first task. */
  static async start(type: string, input: unknown, more: Job[] = [], historyLength = 3): Promise<Driven> {
    const runId = randomUUID();
    const began = new Date('2026-07-01T12:00:00Z');
    const info = {
      workflowId: 'relay:acme:c',
      runId,
      firstExecutionRunId: runId,
      originalExecutionRunId: runId,
      workflowType: type,
      searchAttributes: {},
      typedSearchAttributes: new TypedSearchAttributes(),
      historyLength,
      historySize: 0,
      continueAsNewSuggested: false,
      targetWorkerDeploymentVersionChanged: false,
      taskQueue: 'q',
      namespace: 'default',
      startTime: began,
      runStartTime: began,
      attempt: 1,
      taskTimeoutMs: 10_000,
      unsafe: { now: Date.now, isReplaying: false, isReplayingHistoryEvents: false },
    };
    const options = { info, randomnessSeed: [1, 2, 3], now: began.getTime(), showStackTraceSources: false };
    const driven = new Driven(await (await creator).createWorkflow(options as never), runId);
    await driven.activate([{ initializeWorkflow: { workflowType: type, arguments: [payload(input)] } }, ...more], {
      historyLength,
    });
    return driven;
  }

  /** Unix milliseconds of the last activation. */
  get now(): number {
    return this.#now;
  }

  /**
   * @param after - milliseconds since the last activation.
   * @returns the new commands of the workflow.
   */
  async activate(jobs: Job[], { after = 0, historyLength = 10 } = {}): Promise<Command[]> {
    this.#now += after;
    const timestamp = { seconds: Math.floor(this.#now / 1000), nanos: (this.#now % 1000) * 1e6 };
    const activation = WorkflowActivation.fromObject({ runId: this.runId, timestamp, historyLength, jobs });
    const completion = await this.workflow.activate(activation);
    assert.equal(completion.failed, undefined, JSON.stringify(completion.failed));
    const commands = completion.successful?.commands ?? [];
    this.commands.push(...commands);
    return commands;
  }

  /** Activities that were scheduled so far, in order. */
  get scheduled(): Scheduled[] {
    return this.commands.flatMap(({ scheduleActivity, scheduleLocalActivity }) => {
      const found = scheduleActivity ?? scheduleLocalActivity;
      if (!found) return [];
      const input = (found.arguments ?? []).map(read);
      const { seq, activityType, activityId } = found;
      return [{ seq: seq ?? 0, isLocal: !scheduleActivity, type: activityType ?? '', id: activityId ?? '', input }];
    });
  }

  /** The last activity that was scheduled. */
  get last(): Scheduled {
    const last = this.scheduled.at(-1);
    assert(last, 'no activity was scheduled');
    return last;
  }

  /** The timer with this summary that was started so far and not cancelled. */
  timer(summary: RegExp): number {
    const cancelled = new Set(this.commands.map(({ cancelTimer }) => cancelTimer?.seq));
    const started = this.commands.findLast(({ startTimer, userMetadata }) => {
      return startTimer && !cancelled.has(startTimer.seq) && summary.test(String(read(userMetadata?.summary)));
    });
    assert(started, `no timer ${summary}: ${this.kinds.join(', ')}`);
    return started.startTimer?.seq ?? 0;
  }

  /** The facts that a replay compares: the type of each command, with its name. */
  get kinds(): string[] {
    return this.commands.map((command) => {
      const [kind = ''] = Object.keys(command).filter((name) => name !== 'userMetadata' && name !== 'variant');
      const { activityId, activityType, seq } = (command as Record<string, Record<string, unknown>>)[kind] ?? {};
      return [kind, activityType, activityId ?? seq].filter((part) => part !== undefined).join(' ');
    });
  }

  /** Forgets the workflow, so that one process can drive thousands of workflows. */
  dispose(): Promise<void> {
    return this.workflow.dispose();
  }

  async view(): Promise<ChainView> {
    return (await this.query('status')) as ChainView;
  }

  async query(queryType: string, ...given: unknown[]): Promise<unknown> {
    const query = { queryId: 'q', queryType, arguments: given.map(payload) };
    const activation = WorkflowActivation.fromObject({ runId: this.runId, jobs: [{ queryWorkflow: query }] });
    const { successful } = await this.workflow.activate(activation);
    return read(successful?.commands?.[0]?.respondToQuery?.succeeded?.response);
  }

  async states(): Promise<string[]> {
    return (await this.view()).actions.map(({ state }) => state);
  }

  /** The end of the workflow: its result, or the type and details of its failure. */
  get end(): { result?: unknown; failure?: string; details?: unknown; cancelled?: true } | undefined {
    for (const { completeWorkflowExecution, failWorkflowExecution, cancelWorkflowExecution } of this.commands) {
      if (completeWorkflowExecution) return { result: read(completeWorkflowExecution.result) };
      if (cancelWorkflowExecution) return { cancelled: true };
      const failure = failWorkflowExecution?.failure?.applicationFailureInfo;
      if (failure) return { failure: failure.type ?? '', details: read(failure.details?.payloads?.[0]) };
    }
    return undefined;
  }
}

export function chainOf(...actions: Partial<ChainAction>[]): Chain {
  const effect = { action: 'ticket_updateUDF', ticketId: 'T', field: 'F', value: 'v' } as const;
  return {
    companyId: 'acme',
    chainId: 'c',
    receivedAt: '2026-07-01T12:00:00.000Z',
    retryBudgetSeconds: 1,
    attentionWindowSeconds: 3600,
    actions: actions.map((action, index) => ({ ...effect, index, relayId: '7', ...action }) as ChainAction),
  };
}
