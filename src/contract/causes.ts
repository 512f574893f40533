/** A cause groups all actions that need attention for the same reason. A person can take a cause, or silence it for a while. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import type { ActionStatus } from '../chain/action-status.js';
import { cutShort } from '../chain/text.js';
import { named, namedStrict } from './named.js';
import type { Cause, ChainNotice } from './notices.js';
import { rejectedSchema } from './problem.js';
import type { Rule } from './rule.js';
import { encrypted } from './secrets.js';

export const storedCauseSchema = z.object({
  causeId: z.string().describe('If the same reason occurs again later, the cause has the same id.'),
  reason: z.string().describe('The type of failure, such as `PlatformError`.'),
  message: encrypted(z.string().describe('The message of the first failure. The other messages differ only in ids and numbers.')),
  title: encrypted(z.string()).optional().describe('The first failure in one short sentence.'),
  remedy: encrypted(z.string()).optional().describe('What a person can do about the failure.'),
  since: z.iso.datetime().describe('From this time on, at least one action always needed attention for this cause.'),
  takenBy: z.string().optional().describe('Who works on this cause: `admin`, `admin <name>`, `key <name>` or `<person>`.'),
  takenAt: z.iso.datetime().optional(),
  silencedBy: z.string().optional(),
  silencedUntil: z.iso.datetime().optional().describe('The end of the time without notices about further actions.'),
});

export type StoredCause = z.infer<typeof storedCauseSchema>;

export const causeSchema = named('Cause', {
  ...storedCauseSchema.shape,
  chains: z.int().describe('The number of chains with an action that needs attention for this cause now.'),
  actions: z.int().describe('The number of actions that need attention for this cause now.'),
  assignments: z.int().describe('The number of assignments of these actions.'),
  assignmentId: z.string().optional().describe('The assignment of these actions, if they all have the same one.'),
  relayIds: z.array(z.string()).describe('The rules of these actions, at most 20 rules.'),
  chainId: z.string().optional().describe('The chain of the action that has needed attention longest for this cause.'),
  lastAt: z.iso.datetime().describe('When the newest hold for this cause began.'),
  endedAt: z.iso
    .datetime()
    .optional()
    .describe('When the last hold for this cause ended. Absent while an action needs attention.'),
});
export type CauseResource = z.infer<typeof causeSchema>;

export const heldActionSchema = named('HeldAction', {
  chainId: z.string(),
  index: z.int().describe('The place of the action in its chain, from 0.'),
  relayId: z.string().describe('The rule of the action.'),
  assignmentId: z.string().optional(),
  since: z.iso.datetime().describe('When the hold began, as in the notice about the hold.'),
  heldUntil: z.iso.datetime().optional().describe('If nobody decides, the action fails at this time. A pause delays this time.'),
  endedAt: z.iso.datetime().optional().describe('When the relay noticed the end of the hold. Absent while the hold lasts.'),
});
export type HeldAction = z.infer<typeof heldActionSchema>;

/** A group of refused requests that nobody has sent again or dropped. People cannot take or silence such a group as a whole. */
export const refusedCauseSchema = rejectedSchema
  .pick({ reason: true })
  .extend({
    relayId: z.string().describe('The first of the `relayIds` of the requests.'),
    mistake: z.string().optional().describe('The kind of mistake, if the body could not be read.'),
    message: z.string().describe('The mistake in the newest request.'),
    rejectedId: z.string().describe('The id of the newest request in the group.'),
    requests: z.int().describe('The number of stored requests that nobody has sent again or dropped.'),
    repeats: z.int().describe('How often a sender repeated a request of the group within ten minutes.'),
    notKept: z.int().describe('How many later requests were not stored, because their rule had reached its storage limit.'),
    since: z.iso.datetime().describe('When the oldest request in the group arrived.'),
    lastAt: z.iso.datetime().describe('When the newest request in the group arrived.'),
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
      'Refused requests that nobody has sent again or dropped, grouped by rule, reason and kind of mistake. Only the first page has these groups: the newest 100.',
    ),
});
export const wholeCauseResponse = named('WholeCause', {
  ...causeSchema.shape,
  items: z
    .array(heldActionSchema)
    .describe('The actions that need attention, then the ended holds. In each part, the newest comes first.'),
  nextCursor: z.string().optional(),
});

const mostSilenceSeconds = 24 * 3600;
export const silenceRequest = namedStrict('Silence', {
  seconds: z
    .int(`must be 0 to ${mostSilenceSeconds}`)
    .min(0, `must be 0 to ${mostSilenceSeconds}`)
    .max(mostSilenceSeconds, `must be 0 to ${mostSilenceSeconds}`)
    .describe('For how many seconds nobody gets notices about further actions of this cause. 0 ends the silence.'),
});

export function causeOf({ kind: told, companyId, relayId, ...notice }: ChainNotice, rule?: Pick<Rule, 'notify'>): Cause {
  const action = actionOf(notice);
  const kind = told === 'recovered' ? 'needs-attention' : told;
  const { type, message, title, remedy } = reasonOf(action);
  // A rule with its own contacts has its own causes, so that other rules neither trigger nor delay notices to these contacts.
  const id = hash('sha256', [kind, foldedReason(action), rule?.notify ? relayId : ''].join('\n')).slice(0, 16);
  return { id, companyId, relayId, kind, reason: { type, message: cutShort(message, 1000), title, remedy } };
}

/** Returns the cause in the form that the store needs. */
export function heldFor({ id: causeId, companyId, reason: { type: reason, ...words } }: Cause) {
  return { companyId, causeId, reason, ...words };
}

export function actionOf({ actions, index }: Pick<ChainNotice, 'actions' | 'index'>): ActionStatus {
  const action = actions.find((action) => action.index === index);
  if (!action) throw new RangeError(`the notice names action ${index}, which the chain does not have`);
  return action;
}

function reasonOf({ error, reason }: ActionStatus): Cause['reason'] {
  return error ?? { type: 'Failed', message: reason ?? 'nothing was said' };
}

const tellingChars = 1000; // the limit of the compared text, because some patterns take quadratic time

/** The reason without the texts that differ between events, such as ids, numbers and addresses. An HTTP status stays. */
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

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
