/**
 * One accepted request: arms its delayed actions, runs the immediate ones in order, stays open until every action has ended, and has people told on the
 * way when something needs them.
 */

import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  setHandler,
  upsertMemo,
} from '@temporalio/workflow';
import { type Chain, planChain } from '../chain/chain.js';
import { chainStatus, hasEnded } from '../chain/outcome.js';
import { Board } from './board.js';
import { armDelayed, type Child } from './children.js';
import { openDesk } from './desk.js';
import { Errands } from './errands.js';
import { type ChainView, reportSignal, statusQuery } from './messages.js';
import { tellPeople } from './notices.js';
import { end, type Floor, runAction, runSequence } from './sequence.js';

/**
 * @returns how the chain ended: `{ status, actions }`.
 * @throws ApplicationFailure `ChainFailed` with the same as its details when an action ended `failed` or `not-run`.
 */
export async function RuleChain(chain: Chain): Promise<ChainView> {
  const board = new Board(chain);
  const errands = new Errands();
  const floor: Floor = {
    chain,
    board,
    decisions: new Map(),
    scopes: new Map(),
    notice: (kind, index) => errands.start(() => tellPeople(chain, kind, index, board.actions)),
  };
  const { immediate, delayed } = planChain(chain.actions);
  const children = delayed.map((actions) => armDelayed(chain, actions));
  listen(floor, errands, children);

  await runSequence([...immediate], floor).catch(unlessCancelled);
  for (const child of children) takeEnd(floor, child, await child.ended);
  await errands.finished();
  return close(board);
}

/** Answers the query, and takes people's signals and the reports of delayed actions. */
function listen(floor: Floor, errands: Errands, children: Child[]): void {
  const { chain, board } = floor;
  /** Partly failed e-mails of delayed actions that are sent again from here: what their child says of them is out of date. */
  const taken = new Set<number>();
  setHandler(statusQuery, () => ({ status: chainStatus(board.actions), actions: board.actions }));
  setHandler(reportSignal, ({ actions, notice }) => {
    for (const status of actions) if (board.has(status.index) && !taken.has(status.index)) board.replace(status);
    if (notice) floor.notice(notice.kind, notice.index);
  });
  openDesk(floor, {
    passOn(name, steering) {
      const child = children.find(({ closed, actions }) => !closed && actions.some(({ index }) => index === steering.index));
      if (!child || hasEnded(board.of(steering.index).state)) return false;
      errands.start(() => child.signal(name, steering));
      return true;
    },
    resend(index) {
      const action = chain.actions.find((action) => action.index === index);
      taken.add(index);
      if (action) errands.start(() => runAction(action, floor));
    },
  });
}

/** What a child says in the end counts; of what it leaves open, a child that somebody ended tells no more. */
function takeEnd(floor: Floor, child: Child, { actions, how }: Awaited<Child['ended']>): void {
  for (const status of actions) if (!hasEnded(floor.board.of(status.index).state)) floor.board.replace(status);
  if (CancellationScope.current().consideredCancelled) return;
  const left = child.actions.filter(({ index }) => !hasEnded(floor.board.of(index).state));
  for (const { index } of left)
    end(floor, index, how === 'cancelled' ? { state: 'cancelled' } : { state: 'failed', reason: `its workflow ${how}` });
  if (left[0] && how !== 'cancelled') floor.notice('failed', left[0].index);
}

/** The workflow's end is the chain's: Completed, Failed or Cancelled. */
function close(board: Board): ChainView {
  const open = board.actions.filter(({ state }) => !hasEnded(state));
  for (const { index } of open) end({ board }, index, { state: 'cancelled' });
  const cancelled = CancellationScope.current().consideredCancelled && board.actions.some(({ state }) => state === 'cancelled');
  const ended: ChainView = { status: cancelled ? 'cancelled' : chainStatus(board.actions), actions: board.actions };
  if (ended.status === 'cancelled') {
    upsertMemo({ ended }); // A cancellation carries no details.
    throw new CancelledFailure('the chain was cancelled');
  }
  if (ended.status === 'failed') {
    const failed = board.actions.filter(({ state }) => state === 'failed').map(({ index, action }) => `${index} (${action})`);
    throw ApplicationFailure.nonRetryable(`failed: action ${failed.join(', ')}`, 'ChainFailed', ended);
  }
  return ended;
}

function unlessCancelled(error: unknown): void {
  if (!isCancellation(error)) throw error;
}
