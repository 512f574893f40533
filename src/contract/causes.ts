/** A cause: all actions that are held for the same reason. One person can take it, or silence it for a while. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import type { ActionStatus } from '../chain/action-status.js';
import { cutShort } from '../chain/text.js';
import type { Cause, ChainNotice } from './notices.js';
import { rejectedSchema } from './problem.js';
import type { Rule } from './rule.js';
import { encrypted } from './secrets.js';

export const storedCauseSchema = z.object({
  causeId: z.string().describe('The id depends on the reason only: a cause that comes back has the same id.'),
  reason: z.string().describe('The type of failure, such as `PlatformError`.'),
  message: encrypted(z.string().describe('The message of the first failure. Ids and numbers in it differ between actions.')),
  since: z.iso.datetime().describe('At least one action has been held for it since then.'),
  takenBy: z.string().optional().describe('Who works on it: `admin`, `admin <name>` or `key <name>`.'),
  takenAt: z.iso.datetime().optional(),
  silencedBy: z.string().optional(),
  silencedUntil: z.iso.datetime().optional().describe('Until then there are no notices about further actions.'),
});

export type StoredCause = z.infer<typeof storedCauseSchema>;

export const causeSchema = storedCauseSchema
  .extend({
    chains: z.int().describe('The number of chains that are held for it now.'),
    actions: z.int().describe('The number of actions that are held for it now.'),
    relayIds: z.array(z.string()).describe('The rules of these actions (only the first if there are very many).'),
    chainId: z.string().optional().describe('The chain that is held longest.'),
    lastAt: z.iso.datetime().describe('When the last of its actions was held.'),
    endedAt: z.iso.datetime().optional().describe('The end of its last hold.'),
  })
  .meta({ id: 'Cause' });
export type CauseResource = z.infer<typeof causeSchema>;

export const heldActionSchema = z
  .object({
    chainId: z.string(),
    index: z.int().describe('Zero-based place in the chain.'),
    relayId: z.string().describe('The rule.'),
    assignmentId: z.string().optional(),
    since: z.iso.datetime().describe('When the notice went out.'),
    heldUntil: z.iso.datetime().optional().describe('Without a decision, it fails at this time. A pause makes it later.'),
    endedAt: z.iso.datetime().optional().describe('When the relay noticed the end of the hold. Absent: it is held.'),
  })
  .meta({ id: 'HeldAction' });
export type HeldAction = z.infer<typeof heldActionSchema>;

/** Refused requests without a decision. People cannot take or silence them, only send or drop them. */
export const refusedCauseSchema = rejectedSchema
  .pick({ reason: true })
  .extend({
    relayId: z.string().describe('The first rule in the requests.'),
    mistake: z.string().optional().describe('The kind of mistake, if the body could not be read.'),
    message: z.string().describe('The mistake in the newest request.'),
    rejectedId: z.string().describe('The newest of them.'),
    requests: z.int().describe('The number of kept requests without a decision.'),
    repeats: z.int().describe('How often the same requests came again within ten minutes.'),
    notKept: z.int().describe('How many later requests were not kept, because their rule had no room.'),
    since: z.iso.datetime().describe('When the oldest one came.'),
    lastAt: z.iso.datetime().describe('When the newest came.'),
  })
  .meta({ id: 'RefusedCause' });
export type RefusedCause = z.infer<typeof refusedCauseSchema>;

export const causesResponse = z.object({
  items: z.array(causeSchema),
  nextCursor: z.string().optional(),
  refused: z
    .array(refusedCauseSchema)
    .default([])
    .describe(
      'Refused requests that wait for a decision, by rule, reason and kind of mistake: the newest first, at most 100. Only on the first page.',
    ),
});
export const wholeCauseResponse = causeSchema
  .extend({
    items: z.array(heldActionSchema).describe('Its actions: held ones first, the newest first.'),
    nextCursor: z.string().optional(),
  })
  .meta({ id: 'WholeCause' });

const mostSilenceSeconds = 24 * 3600;
export const silenceRequest = z
  .strictObject({
    seconds: z
      .int(`must be 0 to ${mostSilenceSeconds}`)
      .min(0, `must be 0 to ${mostSilenceSeconds}`)
      .max(mostSilenceSeconds, `must be 0 to ${mostSilenceSeconds}`)
      .describe('From now; 0 ends the silence.'),
  })
  .meta({ id: 'Silence' });

export function causeOf(
  { kind: told, companyId, relayId, ...notice }: ChainNotice,
  rule: Pick<Rule, 'notify'> | undefined,
): Cause {
  const action = actionOf(notice);
  const kind = told === 'recovered' ? 'needs-attention' : told;
  const { type, message } = reasonOf(action);
  // A rule with its own contacts has its own causes. Then other rules do not cause or delay notices to its contacts.
  const id = hash('sha256', [kind, foldedReason(action), rule?.notify ? relayId : ''].join('\n')).slice(0, 16);
  return { id, companyId, relayId, kind, reason: { type, message: cutShort(message, 1000) } };
}

export function actionOf({ actions, index }: Pick<ChainNotice, 'actions' | 'index'>): ActionStatus {
  const action = actions.find((action) => action.index === index);
  if (!action) throw new RangeError(`the notice names action ${index}, which the chain does not have`);
  return action;
}

function reasonOf({ error, reason }: ActionStatus): Cause['reason'] {
  return error ?? { type: 'Failed', message: reason ?? 'nothing was said' };
}

const tellingChars = 1000; // only the start of a reason is compared: some patterns take quadratic time

/** The reason without texts that differ between events: ids, numbers, addresses, assignment names. An HTTP status stays. */
export function foldedReason(action: ActionStatus): string {
  const { type, message } = reasonOf(action);
  const assignment = action.assignmentId?.trim();
  const names = assignment ? [assignment, encodeURIComponent(assignment)] : [];
  const patterns = names.map((name) => new RegExp(`(?<![\\p{L}\\p{N}])${literal(name)}(?![\\p{L}\\p{N}])`, 'gu'));
  const folded = patterns
    .reduce((text, pattern) => text.replaceAll(pattern, '…'), message.slice(0, 2 * tellingChars))
    .replaceAll(/(\/(?:assignments|tickets)\/)[^/\s]+/g, '$1…')
    .replaceAll(/[^\s"<>,;]+@[^\s"<>,;]+/g, '…')
    .replaceAll(/(answered "?\d{3}\b)|[\p{L}\p{N}_.-]*\p{N}[\p{L}\p{N}_-]*/gu, (_, answer?: string) => answer ?? '…');
  return `${type}: ${folded.slice(0, tellingChars)}`;
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
