/** What the API says to a chain that it accepts, and how that is shown. */

import type { Accepted } from '../contract/chain-resource.js';
import type { Answer } from './api.js';
import { exitCodeOf, statusWords, troubleLines } from './chain-lines.js';
import { followChain } from './follow.js';
import type { Session } from './session.js';
import type { Line } from './text.js';
import { momentFromNow } from './time.js';

/** Shows the answer, and with `wait` what becomes of the chain until it has ended or needs attention. */
export async function showAccepted(
  session: Session,
  companyId: string,
  answer: Answer<Accepted>,
  wait: boolean | undefined,
): Promise<void> {
  const { chainId, receivedAt, actions, warnings, links } = answer.body;
  const replayed = answer.headers.get('Idempotency-Replayed') === 'true';
  session.show(answer, [
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
    ...warningLines(warnings),
    '',
    ...(links.webUi ? [`Temporal Web UI: ${links.webUi}`] : []),
    `See it: npx relay chains show ${companyId} ${chainId}`,
    ...(wait ? [''] : []),
  ]);
  if (!wait) return;
  const end = await followChain(session, companyId, chainId, ({ status }) => status !== 'running');
  session.show(end, [...troubleLines(companyId, end.body), '', `The chain ${statusWords[end.body.status]}.`]);
  session.exitCode = exitCodeOf(end.body.status);
}

export function warningLines(warnings: Accepted['warnings']): Line[] {
  if (warnings.length === 0) return [];
  const width = Math.max(...warnings.map(({ pointer }) => pointer.length));
  return ['', 'Warnings:', ...warnings.map(({ pointer, detail }) => `  ${(pointer || '(all)').padEnd(width)}  ${detail}`)];
}
