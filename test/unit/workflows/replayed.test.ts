/**
 * Runs random chains twice, with events in every order that Temporal allows. The first run may get the end of a local activity
 * one workflow task late. The second run is a replay. Both runs must issue the same commands.
 * `RELAY_TEST_CHAINS` sets the number of chains, `RELAY_TEST_SEED` repeats a run.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomFrom } from '../../random.js';
import {
  type Command,
  cancel,
  cancelledActivity,
  chainOf,
  Driven,
  done,
  failed,
  fired,
  type Job,
  payload,
  type Scheduled,
  signal,
  wasReset,
} from '../../workflows/activations.js';

/** A workflow task: its events, and the local activities that ended in it. */
interface Task {
  jobs: Job[];
  /** Unix milliseconds. */
  at: number;
  historyLength: number;
  markers: { seq: number; job: Job }[];
}

interface Run {
  type: string;
  chain: unknown;
  tasks: Task[];
}

const start = Date.parse('2026-07-01T12:00:00Z');
type Random = (limit: number) => number;

/** Random events from a server and other systems for one workflow. */
class World {
  readonly run: Run;
  readonly #open = {
    timers: new Map<number, { at: number; isCancelled?: boolean }>(),
    activities: new Map<number, { scheduled: Scheduled; isCancelled?: boolean }>(),
    children: new Map<number, 'starting' | 'running' | 'cancelled'>(),
    signals: new Set<number>(),
    cancels: new Set<number>(),
  };
  readonly #locals: Scheduled[] = [];
  #events = 3;
  #cancelled = false;
  #scheduled = 0;

  constructor(
    private readonly below: Random,
    type: string,
    private readonly actions: number,
    chain: unknown,
  ) {
    this.run = { type, chain, tasks: [] };
  }

  async drive(): Promise<Driven> {
    const { type, chain, tasks } = this.run;
    const first: Task = { jobs: this.below(6) === 0 ? this.#arrivals(2) : [], at: start, historyLength: 3, markers: [] };
    first.historyLength += first.jobs.length;
    tasks.push(first);
    const driven = await Driven.start(type, chain, first.jobs, first.historyLength);
    this.#take(driven.commands, driven);
    await this.#localActivities(driven, first);
    while (!driven.end && tasks.length < 60) {
      const late = this.#locals[0] && this.#late;
      const jobs = this.#arrivals(late ? 3 : 4);
      if (jobs.length === 0 && !late && this.#locals.length === 0) break;
      this.#events += jobs.length + 3;
      const at = this.#advance(tasks.at(-1)?.at ?? start);
      const task: Task = { jobs, at, historyLength: this.#events, markers: [] };
      tasks.push(task);
      const [local] = this.#locals;
      const job = late ?? (local && this.#endOf(local));
      const together = job && local && this.below(3) === 0;
      if (together) this.#locals.shift();
      if (!late && local && job) (together ? task : task).markers.push({ seq: local.seq, job });
      this.#late = undefined;
      if (jobs.length > 0 || together)
        this.#take(
          await driven.activate(together ? [...jobs, job] : jobs, { after: at - driven.now, historyLength: task.historyLength }),
          driven,
        );
      if (job && !together) {
        this.#locals.shift();
        this.#take(await driven.activate([job], { after: 1, historyLength: task.historyLength }), driven);
      }
      await this.#localActivities(driven, task);
    }
    return driven;
  }

  /** The end of a local activity. The last task has recorded this end, but the workflow gets it only with the next task. */
  #late: Job | undefined;

  async #localActivities(driven: Driven, task: Task): Promise<void> {
    for (let [local] = this.#locals; local; [local] = this.#locals) {
      const chance = this.below(10);
      if (chance === 0) return; // The task is completed before the local activity ends.
      const job = this.#endOf(local);
      task.markers.push({ seq: local.seq, job });
      if (chance < 5) {
        this.#late = job;
        return;
      }
      this.#locals.shift();
      this.#take(await driven.activate([job], { after: this.below(700), historyLength: task.historyLength }), driven);
    }
  }

  #take(commands: readonly Command[], driven: Driven): void {
    const { timers, activities, children, signals, cancels } = this.#open;
    for (const command of commands) {
      const { startTimer, cancelTimer, requestCancelActivity, startChildWorkflowExecution, cancelChildWorkflowExecution } =
        command;
      const seq = (of: { seq?: number | null } | null | undefined) => of?.seq ?? -1;
      if (startTimer) {
        const { seconds = 0, nanos = 0 } = startTimer.startToFireTimeout ?? {};
        timers.set(seq(startTimer), { at: driven.now + Number(seconds) * 1000 + Number(nanos) / 1e6 });
      }
      if (cancelTimer) timers.delete(seq(cancelTimer));
      const asked = activities.get(seq(requestCancelActivity));
      if (asked) asked.isCancelled = true;
      if (startChildWorkflowExecution) children.set(seq(startChildWorkflowExecution), 'starting');
      const child = cancelChildWorkflowExecution?.childWorkflowSeq ?? -1;
      if (children.has(child)) children.set(child, 'cancelled');
      if (command.signalExternalWorkflowExecution) signals.add(seq(command.signalExternalWorkflowExecution));
      if (command.requestCancelExternalWorkflowExecution) cancels.add(seq(command.requestCancelExternalWorkflowExecution));
    }
    for (const scheduled of driven.scheduled.slice(this.#scheduled))
      if (scheduled.isLocal) this.#locals.push(scheduled);
      else activities.set(scheduled.seq, { scheduled });
    this.#scheduled = driven.scheduled.length;
  }

  /** @returns the time of the next task, Unix milliseconds. */
  #advance(now: number): number {
    const due = this.#due;
    this.#due = 0;
    return Math.max(now + 1 + this.below(3000), Math.ceil(due));
  }

  #due = 0;

  #arrivals(most: number): Job[] {
    const { timers, activities, children, signals, cancels } = this.#open;
    const jobs: Job[] = [];
    const random = <Item>(items: Iterable<Item>): Item | undefined => {
      const list = [...items];
      return list[this.below(list.length)];
    };
    for (let count = this.below(most + 1); count > 0; count -= 1)
      switch (this.below(9)) {
        case 0:
        case 1: {
          const [seq, timer] = random(timers) ?? [];
          if (seq === undefined || !timer) break;
          timers.delete(seq);
          this.#due = Math.max(this.#due, timer.at);
          jobs.push(fired(seq));
          break;
        }
        case 2:
        case 3: {
          const [seq, activity] = random(activities) ?? [];
          if (seq === undefined || !activity) break;
          activities.delete(seq);
          const { scheduled, isCancelled } = activity;
          jobs.push(isCancelled && this.below(2) === 0 ? cancelledActivity(scheduled) : this.#endOf(scheduled));
          break;
        }
        case 4: {
          const [seq, state] = random(children) ?? [];
          if (seq === undefined || !state) break;
          jobs.push(...this.#ofChild(seq, state));
          break;
        }
        case 5: {
          const seq = random(signals);
          const asked = random(cancels);
          if (seq !== undefined) jobs.push({ resolveSignalExternalWorkflow: { seq, ...this.#perhapsFailure() } });
          else if (asked !== undefined)
            jobs.push({ resolveRequestCancelExternalWorkflow: { seq: asked, ...this.#perhapsFailure() } });
          if (seq !== undefined) signals.delete(seq);
          else if (asked !== undefined) cancels.delete(asked);
          break;
        }
        default:
          jobs.push(...this.#signal());
      }
    return jobs;
  }

  #perhapsFailure() {
    return this.below(5) === 0 ? { failure: { message: 'it is gone', applicationFailureInfo: {} } } : {};
  }

  #ofChild(seq: number, state: 'starting' | 'running' | 'cancelled'): Job[] {
    const { children } = this.#open;
    const ends = this.below(3) === 0;
    if (state === 'starting') {
      const exists = this.below(6) === 0;
      if (exists) children.delete(seq);
      else children.set(seq, 'running');
      return [
        {
          resolveChildWorkflowExecutionStart: exists
            ? { seq, failed: { workflowId: 'relay:acme:c:delayed-1', workflowType: 'DelayedAction', cause: 1 } }
            : { seq, succeeded: { runId: `run-${seq}` } },
        },
      ];
    }
    if (!ends) return [];
    children.delete(seq);
    const info = {
      childWorkflowExecutionFailureInfo: {
        workflowExecution: { workflowId: 'w', runId: 'r' },
        workflowType: { name: 'DelayedAction' },
      },
    };
    const result =
      state === 'cancelled'
        ? { cancelled: { failure: { message: 'cancelled', ...info, cause: { message: 'c', canceledFailureInfo: {} } } } }
        : { completed: { result: payload([]) } };
    return [{ resolveChildWorkflowExecution: { seq, result } }];
  }

  #signal(): Job[] {
    const index = this.below(this.actions);
    const by = { by: 'test' };
    switch (this.below(11)) {
      case 0:
        if (this.#cancelled || this.below(4) > 0) return [];
        this.#cancelled = true;
        return [cancel];
      case 1:
        return [signal('mend', [index, { cfValue: 'v', delayInSeconds: '60' }])];
      case 2:
        return [signal('mend', [index, { cfValue: 'v' }, { ...by, confirmUnknown: true }])];
      case 3:
        return [signal('skip', [index])];
      case 4:
        return [signal('runNow', [index])];
      case 5:
        return [signal('reschedule', [index, this.below(100)])];
      case 6:
        return [signal('cancelAction', [index])];
      case 7:
        return [this.below(2) === 0 ? signal('resume', { overdue: 'now' }) : signal('resume')];
      case 8:
        if (this.below(4) > 0) return [signal('report', { actions: [] })];
        return [this.below(4) === 0 ? wasReset : signal('stop', { reason: 'no more' })];
      default:
        return [signal('retry', [index])];
    }
  }

  #endOf(scheduled: Scheduled): Job {
    const tookMs = this.below(1500);
    const details = { attempt: 1, tookMs, retryable: this.below(2) === 0, unknown: this.below(4) === 0 || undefined };
    const kind =
      ['TicketingError', 'NotTried', 'DataMistake', 'UseOrdinary', 'Paused'][this.below(scheduled.isLocal ? 5 : 3)] ?? '';
    const more = kind === 'Paused' ? { paused: 'ticketing' } : {};
    const fails = this.below(3) === 0;
    const failure = { type: kind, message: 'as the test wants it', details: { ...details, ...more } };
    switch (scheduled.type) {
      case 'doEffects': {
        const [inputs] = scheduled.input as [unknown[]];
        const count = 1 + this.below(inputs.length);
        const outcomes: unknown[] = Array.from({ length: count }, () => ({ attempts: 1, tookMs }));
        if (fails) outcomes[count - 1] = { failure };
        return done(scheduled, outcomes);
      }
      case 'checkCondition': {
        const [{ late: question }] = scheduled.input as [{ late?: { emails?: unknown } }];
        const recipients = ['c@x.example', 'd@x.example', 'e@x.example'].slice(this.below(3));
        const late = question && { values: { title: 'x' }, ...(question.emails !== undefined && { recipients }) };
        return fails
          ? failed(scheduled, kind, { ...details, ...more })
          : done(scheduled, { holds: this.below(3) > 0, reason: 'no', tookMs, late });
      }
      case 'readPolicy':
        return fails && this.below(3) === 0
          ? failed(scheduled, 'NotTried', details)
          : done(scheduled, { onFailure: this.below(2) === 0 ? 'hold' : 'continue', onUnknown: 'resend', tookMs });
      case 'readPauses': {
        const current = this.below(3) === 0 ? [{ what: 'all', since: '2026-07-01T11:00:00.000Z' }] : [];
        return done(scheduled, { current, seconds: 0, tookMs });
      }
      case 'mendAction':
        return fails
          ? done(scheduled, { problems: [{ pointer: '', detail: 'no' }], tookMs })
          : done(scheduled, {
              mended: { value: 'w', ...(this.below(3) === 0 && { delaySeconds: 3000 }) },
              same: ['action', 'index', 'relayId', 'ticketId', 'field', 'recipients', 'subject', 'body', 'bodyHtml'],
              tookMs,
            });
      case 'notifyFailure':
        return done(scheduled, `relay-notifier:acme:${this.below(3)}`);
      case 'awaitDelayed':
        return done(scheduled, []);
      default:
        return fails ? failed(scheduled, kind, { ...details, ...more }) : done(scheduled, { attempts: 1, tookMs });
    }
  }
}

/** Replays as Temporal does: a local activity ends in the task that has recorded its end. */
async function replay({ type, chain, tasks }: Run, pick: Random): Promise<Driven> {
  const [first] = tasks;
  assert(first);
  const driven = await Driven.start(type, chain, first.jobs, first.historyLength);
  const ended = new Set<number>();
  for (const [place, task] of tasks.entries()) {
    const { jobs, at, historyLength, markers } = task;
    const known = () =>
      driven.scheduled.find(({ seq, isLocal }) => isLocal && markers.some((marker) => marker.seq === seq) && !ended.has(seq));
    const end = (): Job[] => {
      const local = known();
      const job = markers.find(({ seq }) => seq === local?.seq)?.job;
      if (local && job) ended.add(local.seq);
      return job ? [job] : [];
    };
    if (place > 0) {
      // A local activity that already ran may end in the same activation as the new events.
      const together = pick(2) === 0 ? end() : [];
      if (jobs.length + together.length > 0)
        await driven.activate([...jobs, ...together], { after: at - driven.now, historyLength });
    }
    while (known()) await driven.activate(end(), { after: 0, historyLength });
  }
  return driven;
}

const email = {
  action: 'sendEmails',
  recipients: ['a@x.example', 'b@x.example'],
  subject: 's',
  body: 'b',
  bodyHtml: 'h',
} as const;
const late = ['is ', 'title', ''];
const ofEvent = {
  assignmentId: '1',
  unfilled: [],
  condition: { path: [], operator: '==', value: 'the assignment has all needed values', opaque: { late: true } },
} as const;
const asked = { assignmentId: '1', condition: { path: ['status'], operator: '==', value: 'draft' } } as const;

describe(`commands of a replay (seed ${seed()})`, () => {
  for (const type of ['RuleChain', 'DelayedAction'])
    it(`are the same as in the first run: ${type}`, async () => {
      for (let number = 0; number < count(); number += 1) await compare(type, seed() + number);
    });
});

function seed(): number {
  return Number(process.env.RELAY_TEST_SEED ?? Math.floor(Date.now() / 1000) % 1_000_000);
}

function count(): number {
  return Number(process.env.RELAY_TEST_CHAINS ?? 150);
}

async function compare(type: string, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const length = 1 + below(5);
  const actions = Array.from({ length }, () => ({
    ...(below(4) === 0 ? email : {}),
    ...(below(5) === 0 ? asked : {}),
    ...(below(4) === 0 ? { ...ofEvent, late: below(2) === 0 ? { emails: [late] } : { body: late, cfValue: late } } : {}),
    ...(below(3) === 0 || type === 'DelayedAction' ? { delaySeconds: type === 'DelayedAction' ? 10 : [10, 20][below(2)] } : {}),
    sent: {},
  }));
  const chain = { ...chainOf(...(actions as never[])), dueTimes: [] };
  const world = new World(below, type, length, chain);
  const ran = await world.drive();
  const again = await replay(world.run, below);
  await Promise.all([ran.dispose(), again.dispose()]);
  const told = JSON.stringify({
    seed,
    tasks: world.run.tasks.map(({ jobs, markers }) => [jobs.map((job) => Object.keys(job)[0]), markers.length]),
  });
  assert.deepEqual(again.kinds, ran.kinds, told);
}
