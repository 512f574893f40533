/**
 * Why chains of a company need attention: everything that is held for the same reason is one cause, which somebody can take, and
 * of which nobody has to hear for a while.
 */

import { hash } from 'node:crypto';
import { z } from 'zod';
import type { ActionStatus } from '../chain/action-status.js';
import { cutShort } from '../chain/text.js';
import type { Cause, ChainNotice } from './notices.js';
import type { Rule } from './rule.js';
import { encrypted } from './secrets.js';

/** As the store keeps it. */
export const storedCauseSchema = z.object({
  causeId: z.string().describe('Follows from the reason: the same when it comes back.'),
  reason: z.string().describe('The type of failure, such as `PlatformError`.'),
  message: encrypted(z.string().describe('What was wrong with the first. Ids and numbers differ from one to the other.')),
  since: z.iso.datetime().describe('When the first of its actions was held.'),
  takenBy: z.string().optional().describe('Who sees to it: `admin`, `admin <name>` or `key <name>`.'),
  takenAt: z.iso.datetime().optional(),
  silencedBy: z.string().optional(),
  silencedUntil: z.iso.datetime().optional().describe('Until then nobody is told of what is held for it anew.'),
});

export type StoredCause = z.infer<typeof storedCauseSchema>;

export const causeSchema = storedCauseSchema
  .extend({
    chains: z.int().describe('How many are held for it now.'),
    actions: z.int().describe('How many of their actions.'),
    relayIds: z.array(z.string()).describe('The rules of these actions; of very many the first.'),
    chainId: z.string().optional().describe('One of these chains: that which is held longest.'),
    lastAt: z.iso.datetime().describe('When the last of its actions was held.'),
    endedAt: z.iso.datetime().optional().describe('When it was over: nothing is held for it any more.'),
  })
  .meta({ id: 'Cause' });
export type CauseResource = z.infer<typeof causeSchema>;

export const heldActionSchema = z
  .object({
    chainId: z.string(),
    index: z.int().describe('Zero-based place in the chain.'),
    relayId: z.string().describe('The rule.'),
    assignmentId: z.string().optional(),
    since: z.iso.datetime().describe('When people were told that it is held.'),
    heldUntil: z.iso
      .datetime()
      .optional()
      .describe('When it ends `failed` for want of a decision, unless the company is paused.'),
    endedAt: z.iso.datetime().optional().describe('When it was held no more, or that was noticed. Absent: it is held.'),
  })
  .meta({ id: 'HeldAction' });
export type HeldAction = z.infer<typeof heldActionSchema>;

export const causesResponse = z.object({ items: z.array(causeSchema), nextCursor: z.string().optional() });
export const wholeCauseResponse = causeSchema
  .extend({
    items: z.array(heldActionSchema).describe('Its actions: those that are held first, the newest first.'),
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
      .describe('From now; 0: people are told again.'),
  })
  .meta({ id: 'Silence' });

/** What a notice about one action is told under, with all that failed for the same reason. */
export function causeOf(
  { kind: told, companyId, relayId, ...notice }: ChainNotice,
  rule: Pick<Rule, 'notify'> | undefined,
): Cause {
  const action = actionOf(notice);
  const kind = told === 'recovered' ? 'needs-attention' : told;
  const { type, message } = reasonOf(action);
  // A rule with contacts of its own has causes of its own: nobody is told what concerns others only, or later because of them.
  const id = hash('sha256', [kind, foldedReason(action), rule?.notify ? relayId : ''].join('\n')).slice(0, 16);
  return { id, companyId, relayId, kind, reason: { type, message: cutShort(message, 1000) } };
}

/** The action that a notice is about. */
export function actionOf({ actions, index }: Pick<ChainNotice, 'actions' | 'index'>): ActionStatus {
  const action = actions.find((action) => action.index === index);
  if (!action) throw new RangeError(`the notice names action ${index}, which the chain does not have`);
  return action;
}

function reasonOf({ error, reason }: ActionStatus): Cause['reason'] {
  return error ?? { type: 'Failed', message: reason ?? 'nothing was said' };
}

/** How much of a reason tells it from others; some patterns take the square of a text's length. */
const tellingChars = 1000;

/** The reason without what differs from event to event: ids, numbers, addresses, names of assignments. An HTTP status stays. */
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
