/**
 * One accepted request: arms its delayed actions, runs the immediate ones in order, stays open until every action has ended, and has people told on the
 * way when something needs them.
 */

import {
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  log,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { type Chain, planChain, toRedo } from '../chain/chain.js';
import { chainStatus, hasEnded, isToRedo } from '../chain/outcome.js';
import { type ChainView, isReport, reopenedSummary, reportSignal } from '../contract/messages.js';
import { Board } from './board.js';
import { armDelayed, type Child } from './children.js';
import { openDesk } from './desk.js';
import { Errands } from './errands.js';
import { Notices } from './notices.js';
import { end, type Floor, runSequence } from './sequence.js';
import { actionsFailed } from './trouble.js';

/**
 * @returns how the chain ended: `{ status, actions }`.
 * @throws ApplicationFailure `ChainFailed` with the same as its details when an action ended `failed` or `not-run`.
 */
export async function RuleChain(chain: Chain): Promise<ChainView> {
  const board = new Board(chain);
  const errands = new Errands();
  const notices = new Notices(chain, board);
  const { immediate, delayed } = planChain(chain.actions);
  const children = delayed.map((actions) => armDelayed(chain, actions));
  const floor: Floor = {
    chain,
    board,
    decisions: new Map(),
    cancels: new Map(),
    resumes: 0,
    localSince: Date.now(),
    quiet: () => !errands.open && !children.some((child) => child.stirs()),
    notice: (kind, index) => errands.start(() => notices.tell(kind, index)),
    ignored(signal) {
      log.warn(`a signal had no effect: ${signal}`);
      board.ignore(signal);
    },
  };
  const redone = new Set<number>();
  listen(floor, errands, children, redone);

  const ends = children.map(async (child) => takeEnd(floor, child, await child.ended, redone));
  await runSequence([...immediate], floor).catch(unlessCancelled);
  await Promise.all(ends);
  await errands.finished();
  await reopened(board, errands).catch(unlessCancelled);
  return close(chain, board);
}

/**
 * Answers the query, and takes people's signals and the reports of delayed actions.
 * @param redone - gets the actions that are done again from here: what a child says of them is out of date.
 */
function listen(floor: Floor, errands: Errands, children: Child[], redone: Set<number>): void {
  const { chain, board } = floor;
  /** The child that runs an action, until it has closed or the action is done again from here. */
  const childOf = (index: number) =>
    redone.has(index)
      ? undefined
      : children.find(({ closed, actions }) => !closed && actions.some((action) => action.index === index));
  const take = (report: unknown) => {
    if (!isReport(report)) return log.warn('a report was ignored: it is none', { report });
    for (const status of report.actions) if (childOf(status.index)) board.replace(status);
    if (typeof report.ignored === 'string') board.ignore(report.ignored);
    if (report.notice && board.has(report.notice.index)) floor.notice(report.notice.kind, report.notice.index);
  };
  setHandler(reportSignal, take, { description: 'From a delayed action: how it stands.' });
  openDesk(floor, {
    passOn(name, steering, here) {
      const child = childOf(steering.index);
      if (!child || hasEnded(board.of(steering.index).state)) return false;
      errands.start(async () => {
        if (await child.signal(name, steering)) return;
        await child.ended; // What became of its actions is known now.
        here();
      });
      return true;
    },
    redo(index) {
      const actions = toRedo(chain.actions, board.actions, index);
      for (const { index } of actions) {
        redone.add(index);
        board.update(index, { state: 'pending', endedAt: undefined, reason: undefined, workflowId: undefined });
      }
      errands.start(() => runSequence(actions, floor));
    },
  });
}

/** What a child says in the end counts; of what it leaves open, a child that somebody ended tells no more. */
function takeEnd(floor: Floor, child: Child, { actions, how }: Awaited<Child['ended']>, redone: Set<number>): void {
  const open = ({ index }: { index: number }) => !redone.has(index) && !hasEnded(floor.board.of(index).state);
  for (const status of actions.filter(open)) floor.board.replace(status);
  if (CancellationScope.current().consideredCancelled) return;
  const left = child.actions.filter(open);
  for (const { index } of left)
    end(floor, index, how === 'cancelled' ? { state: 'cancelled' } : { state: 'failed', reason: `its workflow ${how}` });
  if (left[0] && how !== 'cancelled') floor.notice('failed', left[0].index);
}

/**
 * A chain that had closed and was reset in order to be opened again (src/chains/reopen.ts) waits a moment to be told what is to be done after all,
 * and after that whether more is.
 */
async function reopened(board: Board, errands: Errands): Promise<void> {
  const { runId, firstExecutionRunId } = workflowInfo();
  if (runId === firstExecutionRunId) return;
  while (board.actions.some(({ state }) => isToRedo(state))) {
    if (!(await condition(() => errands.open, '5 seconds', { summary: reopenedSummary }))) return;
    await errands.finished();
  }
}

/** The workflow's end is the chain's: Completed, Failed or Cancelled. */
function close(chain: Chain, board: Board): ChainView {
  const open = board.actions.filter(({ state }) => !hasEnded(state));
  for (const { index } of open) end({ board }, index, { state: 'cancelled' });
  const cancelled = CancellationScope.current().consideredCancelled && board.actions.some(({ state }) => state === 'cancelled');
  const ended: ChainView = { status: cancelled ? 'cancelled' : chainStatus(board.actions), actions: board.actions };
  if (ended.status === 'cancelled') {
    upsertMemo({ ended }); // A cancellation carries no details.
    throw new CancelledFailure('the chain was cancelled');
  }
  if (ended.status === 'failed') throw actionsFailed('ChainFailed', chain, board.actions, ended);
  return ended;
}

function unlessCancelled(error: unknown): void {
  if (!isCancellation(error)) throw error;
}
