/** What becomes of a chain: the answer to the one that is sent, and every change until it has come to rest. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Accepted, type ActionResource, type ChainResource, chainSchema } from '../contract/chain-resource.js';
import { type Answer, type Problem, path, Refused, Unreachable } from './api.js';
import { actionLine, exitCodeOf, listed, statusWords, troubleLines } from './chain-lines.js';
import { issueLines } from './explain.js';
import type { Session } from './session.js';
import { momentFromNow } from './time.js';

/** The pause between two looks: the shortest after a change, from there growing to the longest. */
const shortestPauseMs = 250;
const longestPauseMs = 5_000;
/** How long the API may be away, as it is while it restarts. */
const patienceMs = 60_000;

/** Shows what the API says to a chain that it accepts, and with `wait` what becomes of it until it has ended or needs attention. */
export async function showAccepted(session: Session, companyId: string, asked: Promise<Answer<Accepted>>, wait?: boolean) {
  const answer = await asked;
  const { chainId, receivedAt, actions, warnings, links } = answer.body;
  const replayed = answer.headers.get('Idempotency-Replayed') === 'true';
  await session.show(answer, () => [
    replayed
      ? `This idempotency key was used before: chain ${chainId}, received ${momentFromNow(receivedAt)}. Nothing new runs.`
      : `Chain ${chainId} is accepted.`,
    '',
    ...session.table(actions, {
      '#': 'index',
      ACTION: 'action',
      RULE: 'relayId',
      RUNS: ({ runAt }) => (Date.parse(runAt) > Date.parse(receivedAt) ? momentFromNow(runAt) : 'in its turn'),
    }),
    ...listed('Warnings:', issueLines(warnings)),
    '',
    ...(links.webUi ? [`Temporal Web UI: ${links.webUi}`] : []),
    `See it: npx relay chains show ${companyId} ${chainId}`,
    ...(wait ? [''] : []),
  ]);
  if (!wait) return;
  const end = await followChain(session, companyId, chainId, ({ status }) => status !== 'running');
  session.exitCode = exitCodeOf(end.body.status);
  await session.show(end, (chain) => [...troubleLines(companyId, chain), '', `The chain ${statusWords[chain.status]}.`]);
}

/** Shows every change of the chain. @param rests - whether there is nothing more to wait for. */
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

function stateOf({ state, attempts }: ActionResource): string {
  return state === 'retrying' ? `${state} ${attempts}` : state;
}

async function askPatiently(session: Session, companyId: string, chainId: string): Promise<Answer<ChainResource>> {
  const until = Date.now() + patienceMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await askChain(session, companyId, chainId);
    } catch (error) {
      const passes = error instanceof Unreachable || (error instanceof Refused && [429, 500, 503].includes(error.problem.status));
      if (!passes || Date.now() > until) throw error;
      if (attempt === 1) session.note(`${error.message.replace(/\.$/, '')}: trying on.`);
      await sleep(Math.min(shortestPauseMs * 2 ** attempt, longestPauseMs));
    }
  }
}

export function askChain({ api }: Session, companyId: string, chainId: string): Promise<Answer<ChainResource>> {
  const nextStep = whereToLook(companyId, chainId);
  return api.ask('GET', path`/co/${companyId}/chains/${chainId}`, chainSchema, { nextStep });
}

/** What to do where there is no such chain or action, or where it is not possible any more. */
export function whereToLook(companyId: string, chainId: string) {
  return ({ status, detail }: Problem) => {
    if (status === 409 || (status === 404 && detail.startsWith('There is no action')))
      return `See how it stands: npx relay chains show ${companyId} ${chainId}`;
    return status === 404 ? `See which there are: npx relay chains list ${companyId}` : undefined;
  };
}
