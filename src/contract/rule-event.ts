/** The events of a rule with contents: the settings for incoming events (`EventDoor`), the answers, and the stored events. */

import { z } from 'zod';
import { acceptedSchema } from './chain-resource.js';
import { anyObject, named, namedStrict } from './named.js';
import { encrypted, secret } from './secrets.js';

/** The number of days for which events are kept, if the rule does not set `eventDays`. */
export const defaultEventDays = 30;

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a header')
  .transform((name) => name.toLowerCase());

const keyText = z.string().max(4096);
/** Every pattern refuses an empty key, because everybody could sign with an empty key. */
const keyPatterns = { text: /./, 'sha256-of-text': /./, base64: /^[A-Za-z0-9+/_-]{2,}={0,2}$/, hex: /^([0-9A-Fa-f]{2})+$/ };

export const signatureSchema = z
  .discriminatedUnion('scheme', [
    z.strictObject({
      scheme: z.literal('standard-webhooks'),
      key: secret(keyText.regex(/^(whsec_)?[A-Za-z0-9+/]{16,}={0,2}$/, 'must be `whsec_` and a key in base64')).describe(
        '`whsec_` and the key in base64.',
      ),
    }),
    z
      .strictObject({
        scheme: z.literal('hmac'),
        header: headerName.describe('The header with the signature, such as `x-hub-signature`.'),
        algorithm: z.enum(['sha256', 'sha1']).default('sha256'),
        encoding: z.enum(['hex', 'base64']).default('hex'),
        prefix: z.string().max(32).default('').describe('The text before the signature in the header, such as `sha256=`.'),
        signed: z
          .enum(['body', 'timestamp-body', 'timestamp.body'])
          .default('body')
          .describe('The signed text: the raw body, or the timestamp and the body, `timestamp.body` has a dot between them.'),
        timestampHeader: headerName.optional().describe('Required if a timestamp is signed.'),
        key: secret(keyText.min(1)),
        keyForm: z
          .enum(['text', 'base64', 'hex', 'sha256-of-text'])
          .default('text')
          .describe('How to make the key of the HMAC from `key`. ConnectWise uses `sha256-of-text`.'),
      })
      .refine(({ signed, timestampHeader }) => (signed !== 'body') === (timestampHeader !== undefined), {
        path: ['timestampHeader'],
        error: 'is required if a timestamp is signed, and not allowed otherwise',
      })
      .refine(({ key, keyForm }) => keyPatterns[keyForm].test(key), {
        path: ['key'],
        error: 'does not have the form that keyForm names',
      }),
  ])
  .meta({ id: 'EventSignature' });
export type EventSignature = z.infer<typeof signatureSchema>;

export const doorSchema = namedStrict('EventDoor', {
  signature: signatureSchema.optional().describe('How the sender signs every event. Then no event needs a token.'),
  dedupeBy: z
    .string()
    .max(500)
    .optional()
    .describe('A path in the event, such as `MessageId`. A second event with the same value at this path runs nothing.'),
  refuseLists: z.boolean().default(false).describe('Whether the rule refuses lists of actions at `/relay`.'),
  eventDays: z.int().min(0).max(400).default(defaultEventDays).describe('The number of days to keep events. 0: keep no event.'),
});
export type EventDoor = z.infer<typeof doorSchema>;
/** If `signature` is missing, the stored signature stays. `null` removes the signature. */
export const doorRequest = doorSchema.extend({ signature: signatureSchema.nullish() }).meta({ id: 'NewEventDoor' });

export const eventTokensResponse = named('RotatedEventToken', {
  tokenId: z.string(),
  eventToken: z.string().describe('The token. Only this answer shows it. It works only for events.'),
  url: z.url().describe('The address for a sender that can send no header. It contains the token.'),
});

const facts = { eventId: z.string(), version: z.int().describe('The version of the rule that ran, or that did not apply.') };
export const acceptedEventSchema = acceptedSchema.extend({ ...facts, applies: z.literal(true) }).meta({ id: 'AcceptedEvent' });
export type AcceptedEvent = z.infer<typeof acceptedEventSchema>;
export const notApplicableSchema = named('NotApplicableEvent', {
  ...facts,
  applies: z.literal(false),
  reason: z.string().describe('Why `when` is not true.'),
});
export type NotApplicableEvent = z.infer<typeof notApplicableSchema>;

export const eventOutcomes = [
  'chain', // the event started a chain
  'not-applicable', // `when` does not hold
  'refused', // see the refused request with `rejectedId`
] as const;
export type EventOutcome = (typeof eventOutcomes)[number];

export const eventSchema = named('RuleEvent', {
  eventId: z.string(),
  relayId: z.string(),
  receivedAt: z.iso.datetime(),
  bytes: z.int(),
  outcome: z.enum(eventOutcomes),
  version: z.int(),
  chainId: z.string().optional(),
  rejectedId: z.string().optional(),
  assignmentId: encrypted(z.string()).optional().describe('The id of the assignment that the actions use for this event.'),
  reason: encrypted(z.string()).optional().describe('Why the event was not applicable or was refused.'),
  dedupe: encrypted(z.string()).optional().describe('The idempotency key of the event.'),
  resentFrom: z.string().optional().describe('The earlier event that a person sent again as this event.'),
  shadow: z
    .object({ version: z.int(), outcome: z.string() })
    .optional()
    .describe('The outcome with the shadow version, as in `Tried`.'),
});
export type RuleEvent = z.infer<typeof eventSchema>;

/** `body` is the received event as JSON text. */
export const storedEventSchema = eventSchema.extend({ body: encrypted(z.string()), hash: z.string() });
export type StoredEvent = z.infer<typeof storedEventSchema>;

export const wholeEventSchema = named('WholeRuleEvent', {
  ...eventSchema.shape,
  event: anyObject,
  variables: z.record(z.string(), z.string()).describe('The values of the variables in the version that ran.'),
});

export const eventsResponse = z.object({
  events: z.array(eventSchema).describe('The newest first.'),
  nextCursor: z.string().optional(),
  shadowCounts: z.record(z.string(), z.int()).optional().describe('The number of events by outcome of the shadow version.'),
});

export const testEventRequest = namedStrict('TestEvent', { event: anyObject });

export const resendEventRequest = namedStrict('ResendEvent', {
  version: z
    .enum(['same', 'published'])
    .default('published')
    .describe('`same` runs the version that ran before. `published` runs the published version.'),
  confirm: z.boolean().default(false).describe('`true` confirms that the actions run again. Without it, nothing runs.'),
});
