/** Shows a chain in a terminal: its actions, the commands for failed actions, and its changes while the chain runs. */

import { setTimeout as sleep } from 'node:timers/promises';
import { verbsFor } from '../chain/allowed-verbs.js';
import { failureTitle } from '../chain/failure-words.js';
import { foundNobody } from '../chain/outcome.js';
import { counted, titleOf } from '../chain/text.js';
import { explained, isFixFirst, toDoFirst } from '../chain/words.js';
import { type Accepted, type ActionResource, type ChainResource, chainSchema } from '../contract/chain-resource.js';
import { type Answer, type Problem, path, Refused, Unreachable } from './api.js';
import { issueLines } from './explain.js';
import type { Session } from './session.js';
import { exitCodes } from './terminal.js';
import { type Line, line, momentFromNow, momentText, type Painted, type Tone } from './text.js';

/** The pause between two requests. The pause is short after a change, then it becomes longer. */
const shortestPauseMs = 250;
const longestPauseMs = 5_000;
const patienceMs = 60_000; // the API may be unreachable for this long, for example while it restarts

const tones: Record<Exclude<Tone, 'faint'>, readonly string[]> = {
  good: ['done', 'completed', 'runs'],
  warning: ['retrying', 'needs-attention', 'partly-failed', 'waits', 'unknown'],
  bad: ['failed', 'not-run', 'terminated', 'forgotten'],
};

/** Colours the state of an action, the status of a chain, or an outcome of a dry run. */
export function stateCell(state: string): Painted {
  return { text: state, tone: (['good', 'warning', 'bad'] as const).find((tone) => tones[tone].includes(state)) };
}

/** A send that found nobody is a warning, although its state is `done`. */
function actionCell(action: Pick<ActionResource, 'state' | 'result'>): Painted {
  return foundNobody(action) ? { text: 'nobody found', tone: 'warning' } : stateCell(action.state);
}

/** The words after `The chain` in the last line of `--wait`. */
const statusWords: Record<ChainResource['status'], string> = {
  ...({ running: 'is running', 'needs-attention': 'needs attention', completed: 'is completed' } as const),
  ...({ failed: 'has failed', cancelled: 'was cancelled', terminated: 'was terminated' } as const),
  forgotten: 'is lost: Temporal does not know it',
};

export function exitCodeOf(status: ChainResource['status']): number {
  return status === 'completed' || status === 'running' ? exitCodes.ok : exitCodes.trouble;
}

export const chainColumns = {
  CHAIN: 'chainId',
  STATUS: ({ status }: { status: string }) => stateCell(status),
  RECEIVED: 'receivedAt',
  CLOSED: 'closedAt',
  FOR: 'failureTypes',
  ASSIGNMENTS: 'assignmentIds',
  RULES: 'relayIds',
  PAUSED: 'paused',
  SUMMARY: 'summary',
} as const;

export function chainLines(session: Session, companyId: string, chain: ChainResource): Line[] {
  const decisions = chain.actions.flatMap((action) =>
    (action.steered ?? []).map(({ at, by, verb }) => `  ${titleOf(action)}: ${verb} by ${by}, ${momentText(at)}`),
  );
  const ignored = (chain.ignored ?? []).map((signal) => `  ${signal}`);
  const columns = { ACTION: titleOf, STATE: actionCell, WHEN: when, ATTEMPTS: 'attempts', REMARK: remark } as const;
  return [
    line`Chain ${chain.chainId} of company ${companyId}: ${stateCell(chain.status)}`,
    `Received ${momentFromNow(chain.receivedAt)}${chain.closedAt ? `, closed ${momentText(chain.closedAt)}` : ''}`,
    ...(chain.tokenIds ? [`Started by token ${chain.tokenIds.join(', ')}`] : []),
    ...(chain.links.webUi ? [`Temporal Web UI: ${chain.links.webUi}`] : []),
    ...(chain.forgotten ? ['Temporal does not know this chain any more, so nobody can change its actions.'] : []),
    ...(chain.partial && !chain.forgotten
      ? ['No worker answered in time. This state comes from the Temporal server, and may be out of date.']
      : []),
    '',
    ...session.table(chain.actions, columns),
    ...troubleLines(companyId, chain),
    ...listed('Decisions:', decisions),
    ...listed('Signals that had no effect:', ignored),
  ];
}

function actionLine(action: ActionResource): Line {
  const said = remark(action);
  const attempts = action.state === 'retrying' && action.attempts ? ` (attempts: ${action.attempts})` : '';
  const seen: Painted = { text: momentText(new Date().toISOString()).slice(11, 19), tone: 'faint' };
  return line`${seen}  ${titleOf(action)}: ${actionCell(action)}${attempts}${said && `: ${said}`}`;
}

const faint = (text: string): Painted => ({ text, tone: 'faint' });

/** Shows the whole error of each failed or held action, and the commands for a decision. */
function troubleLines(companyId: string, chain: ChainResource): Line[] {
  return chain.actions
    .filter(({ state }) => ['needs-attention', 'partly-failed', 'failed'].includes(state))
    .flatMap((action) => {
      const verbs = verbsFor(chain, action);
      const steer = (verb: string, meaning: string) => {
        return line`  npx relay ${verb} ${companyId} ${chain.chainId} ${String(action.index)}${faint(`   ${meaning}`)}`;
      };
      const { error, reason, nextAttemptAt = '' } = action;
      const next = Date.parse(nextAttemptAt) > Date.now() ? 'Next retry' : 'Retry overdue since';
      const { wrong, details } = explained(action);
      const toDo = toDoFirst(action);
      const retry = verbs.includes('retry') ? [steer('retry', 'retry the action')] : [];
      const edit = verbs.includes('mend') ? [steer('chains fields', 'show the fields that `chains mend` can edit')] : [];
      return [
        '',
        line`${titleOf(action)}: ${stateCell(action.state)}`,
        `  ${wrong}`,
        ...(toDo ? [`  What to do: ${toDo}`] : []),
        ...details.map((said) => line`  ${faint(said)}`),
        ...(error && reason && reason !== error.message ? [`  ${reason}`] : []),
        ...(action.deliveries ?? []).map(
          ({ recipient, sent, error }) => `  ${recipient}: ${sent ? 'sent' : `not sent: ${error ?? ''}`}`,
        ),
        ...(nextAttemptAt ? [`  ${next} ${momentFromNow(nextAttemptAt)}`] : []),
        ...(action.heldUntil ? [`  If nobody decides, the step fails: ${momentFromNow(action.heldUntil)}`] : []),
        ...(isFixFirst(action) ? [...edit, ...retry] : [...retry, ...edit]),
        ...(verbs.includes('skip') ? [steer('skip', ' skip the action')] : []),
      ];
    });
}

export const listed = (heading: string, lines: readonly Line[]): Line[] => (lines.length === 0 ? [] : ['', heading, ...lines]);

function when({ endedAt, startedAt, runAt, state }: ActionResource): string {
  return state === 'scheduled' && runAt ? momentFromNow(runAt) : momentText(endedAt ?? startedAt ?? '');
}

function remark(action: ActionResource): string {
  const { reason, error, result, state, assignmentId } = action;
  if (reason !== undefined && reason !== error?.message) return reason;
  if (error && state !== 'done') return failureTitle({ ...error, assignmentId });
  const who = action.action === 'platform_sendAssignment' ? 'technician' : 'recipient';
  const reached = !result?.recipients ? [] : [counted(result.recipients, who)];
  return [...reached, ...(result?.note ? [result.note] : [])].join('; ');
}

/** Shows the answer to an accepted chain. With `wait`, also shows every change until the chain ends or needs attention. */
export async function showAccepted(session: Session, companyId: string, asked: Promise<Answer<Accepted>>, wait?: boolean) {
  const answer = await asked;
  const { chainId, receivedAt, actions, warnings, links } = answer.body;
  const replayed = answer.headers.get('Idempotency-Replayed') === 'true';
  await session.show(answer, () => [
    replayed
      ? `This idempotency key was used before, for chain ${chainId}, received ${momentFromNow(receivedAt)}. No new chain runs.`
      : `Chain ${chainId} is accepted.`,
    '',
    ...session.table(actions, {
      '#': 'index',
      ACTION: 'action',
      RULE: 'relayId',
      RUNS: ({ runAt }) => (Date.parse(runAt) > Date.parse(receivedAt) ? momentFromNow(runAt) : 'in order'),
    }),
    ...listed('Warnings:', issueLines(warnings)),
    '',
    ...(links.webUi ? [`Temporal Web UI: ${links.webUi}`] : []),
    `Show the chain: npx relay chains show ${companyId} ${chainId}`,
    ...(wait ? [''] : []),
  ]);
  if (!wait) return;
  const end = await followChain(session, companyId, chainId, ({ status }) => status !== 'running');
  session.exitCode = exitCodeOf(end.body.status);
  await session.show(end, (chain) => [...troubleLines(companyId, chain), '', `The chain ${statusWords[chain.status]}.`]);
}

/** Prints every change of the chain until `rests` returns true. */
export async function followChain(
  session: Session,
  companyId: string,
  chainId: string,
  rests: (chain: ChainResource) => boolean,
) {
  const shown = new Map<number, string>();
  let pause = shortestPauseMs;
  for (;;) {
    const answer = await askPatiently(session, companyId, chainId);
    const changed = answer.body.actions.filter((action) => shown.get(action.index) !== stateOf(action));
    for (const action of changed) shown.set(action.index, stateOf(action));
    session.print(changed.map(actionLine));
    if (rests(answer.body)) return answer;
    pause = changed.length > 0 ? shortestPauseMs : Math.min(pause * 1.2, longestPauseMs);
    await sleep(pause);
  }
}

const stateOf = ({ state, attempts }: ActionResource): string => (state === 'retrying' ? `${state} ${attempts}` : state);

async function askPatiently(session: Session, companyId: string, chainId: string): Promise<Answer<ChainResource>> {
  const until = Date.now() + patienceMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await askChain(session, companyId, chainId);
    } catch (error) {
      const passes = error instanceof Unreachable || (error instanceof Refused && [429, 500, 503].includes(error.problem.status));
      if (!passes || Date.now() > until) throw error;
      if (attempt === 1) session.note(`${error.message.replace(/\.$/, '')}: trying again.`);
      await sleep(Math.min(shortestPauseMs * 2 ** attempt, longestPauseMs));
    }
  }
}

export function askChain({ api }: Session, companyId: string, chainId: string): Promise<Answer<ChainResource>> {
  const target = path`/co/${companyId}/chains/${chainId}`;
  return api.ask('GET', target, chainSchema, { nextStep: whereToLook(companyId, chainId) });
}

/** The next step to print after an answer with status 404 or 409. */
export function whereToLook(companyId: string, chainId: string) {
  return ({ status, detail }: Problem) => {
    if (status === 409 || (status === 404 && detail.startsWith('There is no action')))
      return `Show the state of the chain: npx relay chains show ${companyId} ${chainId}`;
    return status === 404 ? `List the chains: npx relay chains list ${companyId}` : undefined;
  };
}
