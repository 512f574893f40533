/** What the API says to a chain that it accepts, and how that is shown. */

import { z } from 'zod';
import { chainSchema } from '../../contract/chain-resource.js';
import type { Answer } from '../api.js';
import { exitCodeOf, statusWords, troubleLines } from '../chain-lines.js';
import type { ExitCode } from '../exit-codes.js';
import { followChain } from '../follow.js';
import type { Session } from '../session.js';
import { table } from '../table.js';
import type { Line } from '../text.js';
import { momentFromNow } from '../time.js';

export const warningsSchema = z.array(z.object({ pointer: z.string(), detail: z.string() })).default([]);

const accepted = z.object({
  chainId: z.string(),
  receivedAt: z.string(),
  actions: z.array(z.object({ index: z.number(), action: z.string(), relayId: z.string(), runAt: z.string() })),
  warnings: warningsSchema,
  links: z.object({ webUi: z.string().optional() }).default({}),
});

export const waitOption = { wait: { type: 'boolean', help: 'follow the chain until it has ended or needs attention' } } as const;

/** Shows the answer, and with `wait` what becomes of the chain. */
export async function showAccepted(
  session: Session,
  companyId: string,
  answer: Answer,
  wait: boolean | undefined,
): Promise<ExitCode | undefined> {
  const replayed = answer.headers.get('Idempotency-Replayed') === 'true';
  const chain = session.show(answer, accepted, ({ chainId, receivedAt, actions, warnings, links }) => [
    replayed
      ? `This idempotency key was used before: chain ${chainId}, received ${momentFromNow(receivedAt)}. Nothing new runs.`
      : `Chain ${chainId} is accepted.`,
    '',
    ...table(
      actions,
      [
        { heading: '#', cell: ({ index }) => String(index) },
        { heading: 'ACTION', cell: ({ action }) => action },
        { heading: 'RULE', cell: ({ relayId }) => relayId },
        {
          heading: 'RUNS',
          cell: ({ runAt }) => (Date.parse(runAt) > Date.parse(receivedAt) ? momentFromNow(runAt) : 'in its turn'),
        },
      ],
      session.terminal.columns,
    ),
    ...warningLines(warnings),
    '',
    ...(links.webUi ? [`Temporal Web UI: ${links.webUi}`] : []),
    `See it: npx relay chains show ${companyId} ${chainId}`,
    ...(wait ? [''] : []),
  ]);
  return wait ? waitForChain(session, companyId, chain.chainId) : undefined;
}

/** Follows the chain until it has ended or needs attention. */
async function waitForChain(session: Session, companyId: string, chainId: string): Promise<ExitCode> {
  const { answer, chain } = await followChain(session, companyId, chainId, ({ status }) => status !== 'running');
  session.show(answer, chainSchema, () => [...troubleLines(companyId, chain), '', `The chain ${statusWords[chain.status]}.`]);
  return exitCodeOf(chain.status);
}

export function warningLines(warnings: z.infer<typeof warningsSchema>): Line[] {
  if (warnings.length === 0) return [];
  const width = Math.max(...warnings.map(({ pointer }) => pointer.length));
  return ['', 'Warnings:', ...warnings.map(({ pointer, detail }) => `  ${(pointer || '(all)').padEnd(width)}  ${detail}`)];
}
