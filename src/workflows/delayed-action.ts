/** Runs the actions of one delay when they are due: the child workflow of a `RuleChain`. */

import {
  CancellationScope,
  condition,
  type ExternalWorkflowHandle,
  getExternalWorkflowHandle,
  isCancellation,
  log,
} from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { type Chain, type ChainAction, chainWorkflowId, dueAt } from '../chain/chain.js';
import { chainStatus, hasEnded, isToRedo } from '../chain/outcome.js';
import { shownTime, summaryOf } from '../chain/summary.js';
import { type Report, reportSignal, type Steering, steeringSignals } from '../contract/messages.js';
import { Board } from './board.js';
import { openDesk } from './desk.js';
import { end, type Floor, runSequence } from './sequence.js';
import { actionsFailed } from './trouble.js';

/** Actions that are due together and run in order. An action that somebody moves gets a lane of its own. */
interface Lane {
  actions: ChainAction[];
  dueAt: number;
}

/**
 * @param chain - the chain with the actions of this delay only.
 * @returns what became of them; they are told to the chain before, too.
 * @throws ApplicationFailure `ActionsFailed` with the same as details when one ended `failed` or `not-run`.
 */
export async function DelayedAction(chain: Chain): Promise<ActionStatus[]> {
  const reports = new Reports(chainWorkflowId(chain));
  const board = new Board(chain, (before, after) => {
    const noteworthy = ['needs-attention', 'retrying'];
    const moved = before.state !== after.state && (noteworthy.includes(before.state) || noteworthy.includes(after.state));
    const cancelled = after.state === 'cancelled' && !CancellationScope.current().consideredCancelled;
    // What somebody decides about a held action moves it in a moment.
    const steered = before.steered !== after.steered && after.state !== 'needs-attention';
    if (moved || cancelled || steered || before.pausedSince !== after.pausedSince) reports.send(board);
  });
  const floor: Floor = {
    chain,
    board,
    quiet: () => live === 1 && reports.idle,
    notice: (kind, index) => reports.send(board, { notice: { kind, index } }),
    ignored(signal) {
      log.warn(`a signal had no effect: ${signal}`);
      board.ignore(signal);
      reports.send(board, { ignored: signal });
    },
    decisions: new Map(),
    cancels: new Map(),
    resumes: 0,
    localSince: Date.now(),
  };
  const lanes: Lane[] = [];
  const running: Promise<void>[] = [];
  let live = 0;
  const open = (lane: Lane) => {
    lanes.push(lane);
    live += 1;
    const run = runLane(lane, floor).then(() => {
      live -= 1;
      if (board.actions.some(({ state }) => !hasEnded(state))) reports.send(board);
    });
    run.catch(() => {}); // Awaited below, in its turn.
    running.push(run);
  };
  // Before the desk opens: signals may be waiting.
  const [first] = chain.actions;
  if (first) open({ actions: [...chain.actions], dueAt: dueAt(chain, first) });
  openDesk(floor, {
    // The chain passed it on before it had heard that the action has failed, and does it again itself.
    passOn(name, steering) {
      const late = name === 'retry' && board.has(steering.index) && isToRedo(board.of(steering.index).state);
      if (late) reports.passBack(steering);
      return late;
    },
    moveTo(index, dueAt) {
      const lane = lanes.find(({ actions }) => actions.some((action) => action.index === index));
      const place = lane?.actions.findIndex((action) => action.index === index) ?? -1;
      const [action] = lane?.actions.splice(place, 1) ?? [];
      if (!action) return;
      board.update(index, { runAt: new Date(dueAt).toISOString() });
      open({ actions: [action], dueAt });
    },
  });

  const cancelled = await allOf(running);
  if (cancelled) for (const { index, state } of board.actions) if (!hasEnded(state)) end(floor, index, { state: 'cancelled' });
  await reports.last(board);
  if (cancelled) throw cancelled;
  if (chainStatus(board.actions) === 'failed') throw actionsFailed('ActionsFailed', chain, board.actions, board.actions);
  return board.actions;
}

/** Waits until the lane is due, or empty, then runs it. */
async function runLane(lane: Lane, floor: Floor): Promise<void> {
  const left = () => lane.actions.filter(({ index }) => !hasEnded(floor.board.of(index).state));
  const wait = lane.dueAt - Date.now();
  const due = `due ${shownTime(new Date(lane.dueAt).toISOString())}`;
  if (wait > 0) await condition(() => left().length === 0, wait, { summary: summaryOf(left(), due) });
  for (const { index } of left()) floor.board.update(index, { state: 'pending' });
  await runSequence(lane.actions, floor);
}

/** Awaits a list that may grow meanwhile. @returns the cancellation, if there was one. */
async function allOf(running: Promise<void>[]): Promise<unknown> {
  let cancelled: unknown;
  for (let next = 0; next < running.length; next += 1) {
    try {
      await running[next];
    } catch (error) {
      if (!isCancellation(error)) throw error;
      cancelled = error;
    }
  }
  return cancelled;
}

/** Signals to the chain, one after the other, cancelled or not. A chain that is gone is told nothing. */
class Reports {
  #sent: Promise<void> = Promise.resolve();
  #underWay = 0;
  /** The actions as the chain knows them. */
  readonly #told = new Map<number, ActionStatus>();

  constructor(private readonly chainId: string) {}

  /** Whether the chain has all. */
  get idle(): boolean {
    return this.#underWay === 0;
  }

  send(board: Board, more: Omit<Report, 'actions'> = {}): void {
    const actions = board.actions.filter((action) => this.#told.get(action.index) !== action);
    for (const action of actions) this.#told.set(action.index, action);
    if (actions.length === 0 && !more.notice && !more.ignored) return;
    const report: Report = { actions, ...more };
    this.#signal((chain) => chain.signal(reportSignal, report));
  }

  /** Gives the chain back, after what it was told before, what a person asked of an action that has failed. */
  passBack({ index, by }: Steering): void {
    this.#signal((chain) => chain.signal(steeringSignals.retry, { index, ...(by !== undefined && { by }) }));
  }

  #signal(signal: (chain: ExternalWorkflowHandle) => Promise<void>): void {
    this.#underWay += 1;
    this.#sent = this.#sent.then(() =>
      CancellationScope.nonCancellable(async () => {
        try {
          await signal(getExternalWorkflowHandle(this.chainId));
        } catch (error) {
          log.warn('the chain could not be told of its delayed actions', { error });
        } finally {
          this.#underWay -= 1;
        }
      }),
    );
  }

  /** Tells how everything ended, and waits until the chain has it. */
  async last(board: Board): Promise<void> {
    this.send(board);
    for (let sent: Promise<void> | undefined; sent !== this.#sent; ) {
      sent = this.#sent;
      await sent;
    }
  }
}
