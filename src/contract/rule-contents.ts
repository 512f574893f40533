/** The contents of a rule say what the relay does with an event. People edit a draft. A published version never changes. */

import { z } from 'zod';
import { maxActions } from '../chain/request.js';
import { anyObject, chainIdText, issues, named, namedStrict, onlyTrue } from './named.js';
import { encrypted } from './secrets.js';

/** The maximum length of an expression, in characters. */
export const maxExpression = 1000;
export const maxVariables = 100;
/** The maximum size of all published and shadow contents of a company, in bytes. Every process keeps them in memory. */
export const mostContentsOfCompany = 16 * 1024 * 1024;

const expression = z.string().min(1).max(maxExpression);

export const variableSchema = z
  .strictObject({
    path: z.string().min(1).max(500).describe('The place of the value in the event, such as `workorder.id`.'),
    missing: z
      .enum(['hold', 'refuse', 'default'])
      .default('hold')
      .describe(
        'What happens if the value is missing or blank. `hold`: the actions that use the variable need attention. `refuse`: the ' +
          'event is refused. `default`: the variable gets the text in `default`.',
      ),
    default: z.string().max(10_000).optional().describe('Required if `missing` is `default`, not allowed otherwise.'),
  })
  .refine(({ missing, default: text }) => (missing === 'default') === (text !== undefined), {
    path: ['default'],
    error: 'is required if missing is default, and not allowed otherwise',
  });

export const contentsSchema = namedStrict('RuleContents', {
  when: expression
    .optional()
    .describe('A CEL expression on `event`. The rule applies only if it is true. Without it, the rule applies to every event.'),
  variables: z
    .record(z.string().regex(/^[A-Za-z_][\w-]{0,99}$/, 'must be a letter or _, then letters, digits, _ or -'), variableSchema)
    .default({})
    .refine((variables) => Object.keys(variables).length <= maxVariables, `may have at most ${maxVariables} variables`)
    .describe('Names for places in the event. A text of an action refers to a variable as `${name}`.'),
  actions: z
    .array(anyObject)
    .min(1, 'must have at least one action')
    .max(maxActions)
    .describe(
      'The actions, with the fields of the request, but without `relayId` and `relayAccessToken`. A text may contain `${name}` ' +
        '(a variable), `${event.path}` and `${assignment.path}`. `if` is a CEL expression on `event`, `assignment`, ' +
        '`incomingValue` and `now`; the action runs only if `if` and `actionCondition` are true.',
    ),
});
export type Contents = z.infer<typeof contentsSchema>;

/** A new rule has an empty draft with revision 0. Each save adds 1. */
export const draftSchema = named('Draft', {
  revision: z.int().min(0),
  contents: encrypted(anyObject)
    .optional()
    .describe('The contents as saved. They may have mistakes. Absent before the first save.'),
  updatedAt: z.iso.datetime().optional(),
  updatedBy: z.string().optional(),
});
export type Draft = z.infer<typeof draftSchema>;

export const draftResponse = draftSchema.extend({
  problems: issues.describe('The mistakes that prevent the publication of the draft.'),
  warnings: issues,
});
export type DraftResponse = z.infer<typeof draftResponse>;

/** If `revision` is old, the answer is 409 with the stored draft. */
export const saveDraftRequest = namedStrict('SaveDraft', {
  revision: z.int().min(0).describe('The revision that was edited.'),
  contents: anyObject,
});

const note = z.string().trim().max(1000).describe('Why this version is published.');

export const publishRequest = namedStrict('Publish', {
  revision: z.int().min(1).describe('The revision of the draft that you have seen.'),
  note: note.optional(),
  as: z
    .enum(['published', 'shadow'])
    .default('published')
    .describe('`shadow` makes a version that the relay only tries on each new event, without effect.'),
});
export const goBackRequest = namedStrict('GoBack', { note: note.optional() });

export const versionSchema = named('Version', {
  version: z.int().min(1),
  publishedAt: z.iso.datetime(),
  publishedBy: z.string().describe('`admin`, `admin <name>`, `key <name>`, or the name of a person.'),
  note: encrypted(z.string()).optional(),
  fromVersion: z.int().optional().describe('The old version that was published again.'),
});
export type Version = z.infer<typeof versionSchema>;
export const wholeVersionSchema = versionSchema.extend({ contents: encrypted(contentsSchema) }).meta({ id: 'WholeVersion' });
export type WholeVersion = z.infer<typeof wholeVersionSchema>;

export const versionsResponse = z.object({
  versions: z.array(versionSchema).describe('The newest first.'),
  published: z.int().optional().describe('The version that new events run.'),
  shadow: z.int().optional().describe('The version that is tried on each new event, without effect.'),
  nextCursor: z.string().optional(),
});

const change = z.object({
  field: z.string(),
  before: z.unknown().optional().describe('Absent if the field is new.'),
  after: z.unknown().optional().describe('Absent if the field was removed.'),
});

export const contentsDiffSchema = named('ContentsDiff', {
  same: z.boolean(),
  when: change.omit({ field: true }).optional().describe('The change of `when`. `fields` has this change, too.'),
  fields: z.array(change).default([]).describe('The changes of the contents, without `variables` and `actions`.'),
  variables: z.array(change).describe('`field` is the name of the variable.'),
  actions: z.array(
    z.object({
      before: z.int().optional().describe('The place of the action in the old version. Absent if the action is new.'),
      after: z.int().optional().describe('The place of the action in the new version. Absent if the action was removed.'),
      action: z.string().describe('The name of the action, such as `sendEmails`.'),
      changes: z.array(change),
    }),
  ),
});
export type ContentsDiff = z.infer<typeof contentsDiffSchema>;

export const diffQuery = z.object({
  with: z
    .union([z.literal(['draft', 'published']), z.string().regex(/^[1-9]\d{0,8}$/, 'must be draft, published or a version')])
    .default('draft')
    .describe('The new side of the comparison: a version, `draft` or `published`.'),
});

/** The draft that somebody else saved, and the contents in the refused request. */
export const draftConflictSchema = z.object({
  stored: draftSchema,
  yours: anyObject.optional(),
  diff: contentsDiffSchema.optional().describe('The changes from `stored` to `yours`. Absent if one of them is malformed.'),
});
export type DraftConflict = z.infer<typeof draftConflictSchema>;
export const shadowRequest = namedStrict('Shadow', { version: z.int().min(1).nullable() });

export const triedOutcomes = [
  'same', // the same actions as with the published version, or both versions refuse the event
  'different',
  'no-longer-applies', // the published version applies, but the tried version does not
  'applies-now', // the tried version applies, but the published version does not
  'not-applicable', // neither version applies
  'would-be-refused',
  'needs-attention', // an action would need attention, because a value is missing or wrong
] as const;
export type TriedOutcome = (typeof triedOutcomes)[number];

/** The maximum number of events in one try. */
export const mostTried = 1000;

export const tryRequest = namedStrict('Try', {
  version: z.union([z.int().min(1), z.literal('draft')]).default('draft'),
  contents: anyObject.optional().describe('Contents that are not saved yet. The relay tries them instead of `version`.'),
  against: z.union([z.int().min(1), z.literal('published')]).default('published'),
  events: z
    .union([
      z.strictObject({ last: z.int().min(1).max(mostTried) }),
      z.strictObject({ since: z.iso.datetime({ offset: true }), until: z.iso.datetime({ offset: true }).optional() }),
      z.strictObject({ ids: z.array(z.string()).min(1).max(mostTried) }),
    ])
    .default({ last: 200 })
    .describe('The events to try: the last events, the events of a period (at most 1,000), or the events with these ids.'),
});

export const triedEventSchema = z.object({
  eventId: z.string(),
  receivedAt: z.iso.datetime(),
  assignmentId: z.string().optional(),
  outcome: z.enum(triedOutcomes),
  reason: z.string().optional(),
  differences: z
    .array(z.object({ action: z.int(), field: z.string(), before: z.unknown().optional(), after: z.unknown().optional() }))
    .optional()
    .describe('The first 20 differences in the actions that this event would start.'),
});

export const tryResponse = named('Tried', {
  tried: z.int(),
  counts: z.partialRecord(z.enum(triedOutcomes), z.int()),
  problems: issues.describe('Mistakes in the contents. If there are any, no event was tried.'),
  stopped: onlyTrue.describe('The time limit was reached before all events were tried.'),
  events: z.array(triedEventSchema).describe('The first 200 events whose outcome is not `same` or `not-applicable`.'),
});
export type Tried = z.infer<typeof tryResponse>;

export const fromListsRequest = namedStrict('FromLists', {
  chainIds: z
    .array(chainIdText)
    .max(50)
    .default([])
    .describe('Chains that came as lists of actions. Default: the last such chains of the rule.'),
});
export const fromListsResponse = z.object({
  contents: contentsSchema,
  values: z.record(z.string(), z.array(z.string())).describe('The values of each variable in the compared requests.'),
});
