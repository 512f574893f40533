/** `relay send`: sends a chain as a webhook would, or asks what it would do. */

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Answer, path, Unreachable } from '../api.js';
import { defineCommand } from '../command.js';
import { UsageError } from '../exit-codes.js';
import type { Session } from '../session.js';
import { readInput } from '../settings.js';
import { signatureHeaders } from '../signature.js';
import { fields } from '../table.js';
import type { Line, Tone } from '../text.js';
import { showAccepted, waitOption, warningLines, warningsSchema } from './accepted.js';

export const send = defineCommand({
  arguments: ['companyId', 'file'],
  options: {
    'idempotency-key': { type: 'string', value: 'key', help: 'the same key and the same chain again run nothing again' },
    'dry-run': { type: 'boolean', help: 'tell what would happen, with no effect' },
    rule: { type: 'string', value: 'relayId', help: 'for actions without relayId, or with <…> in its place' },
    token: { type: 'string', value: 'token', help: 'the same for relayAccessToken; default: RELAY_ACCESS_TOKEN' },
    'webhook-secret': {
      type: 'string',
      value: 'whsec_…',
      help: 'signs it, for a company that asks for signatures; default: RELAY_WEBHOOK_SECRET',
    },
    ...waitOption,
  },
  summary: 'send a chain from a JSON file; - is standard input',
  details: 'With --token, actions of another rule than --rule keep the token that they have.',
  example: 'relay send acme chain.json --rule 4711 --token rlt_… --wait',
  nextSteps: {
    401: 'Every action needs the relayId of an enabled rule and a relayAccessToken of it: put them into the file, or give --rule and --token. A company with a webhookSecret takes only what is signed: --webhook-secret.',
  },
  run: async (session, { companyId, file }, options) => {
    const { wait, 'dry-run': dryRun, 'idempotency-key': key } = options;
    const { env } = session.terminal;
    const token = options.token ?? (env.RELAY_ACCESS_TOKEN || undefined);
    const secret = options['webhook-secret'] ?? (env.RELAY_WEBHOOK_SECRET || undefined);
    if (wait && !dryRun && !session.api.address.credential)
      throw new UsageError('--wait reads the chain, which needs RELAY_ADMIN_TOKEN or RELAY_KEY');
    if (key !== undefined && !/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(key))
      throw new UsageError('--idempotency-key must be plain characters');
    const target = path`/co/${companyId}/relay`;
    const body = fillIn(await readInput(session.terminal, file), { rule: options.rule, token });
    const headers = {
      ...(key !== undefined && { 'Idempotency-Key': `"${key}"` }),
      ...(secret !== undefined && signatureHeaders(secret, key ?? randomUUID(), body)),
    };
    if (dryRun) {
      showDryRun(session, await session.api.ask('POST', target, { body, headers, query: { dryRun: 'true' } }));
      return undefined;
    }
    const answer = await sendOnce(session, target, body, headers);
    return showAccepted(session, companyId, answer, wait);
  },
});

/** The relay endpoint opens to the tokens in the actions: the admin token stays here. */
async function sendOnce(session: Session, target: string, body: Uint8Array, headers: Record<string, string>): Promise<Answer> {
  try {
    return await session.api.ask('POST', target, { body, bearer: false, headers });
  } catch (error) {
    if (error instanceof Unreachable && error.mayHaveArrived)
      session.note(
        headers['Idempotency-Key'] === undefined
          ? 'Whether the chain was accepted is not known: look with `relay chains list` before you send it again.'
          : 'Whether the chain was accepted is not known: send it again with the same key, which is safe.',
      );
    throw error;
  }
}

const actionsSchema = z.array(z.record(z.string(), z.unknown()));
const fillable = z.union([z.undefined(), z.string().regex(/^\s*(<[^<>]*>)?\s*$/)]);

/** Puts rule and token where actions lack them. What is no array of objects goes out as it is: the API says what is wrong with it. */
export function fillIn(bytes: Uint8Array, { rule, token }: { rule: string | undefined; token: string | undefined }): Uint8Array {
  if (rule === undefined && token === undefined) return bytes;
  const actions = actionsSchema.safeParse(parseJson(bytes));
  if (!actions.success) return bytes;
  const filled = actions.data.map((action) => {
    const relayId = rule !== undefined && fillable.safeParse(action.relayId).success ? rule : action.relayId;
    const lacksToken = fillable.safeParse(action.relayAccessToken).success && (rule === undefined || String(relayId) === rule);
    return {
      ...action,
      ...(relayId !== undefined && { relayId }),
      ...(token !== undefined && lacksToken && { relayAccessToken: token }),
    };
  });
  return new TextEncoder().encode(JSON.stringify(filled));
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

const dryRunSchema = z.looseObject({
  actions: z.array(
    z.looseObject({
      index: z.number(),
      action: z.string(),
      comment: z.string().optional(),
      outcome: z.string().default(''),
      reason: z.string().optional(),
    }),
  ),
  warnings: warningsSchema,
});

const tones: Record<string, Tone> = {
  runs: 'good',
  'needs-attention': 'warning',
  held: 'warning',
  unknown: 'warning',
  failed: 'bad',
};

/** What would become of each action, and whatever else the API tells of it, by name. */
function showDryRun(session: Session, answer: Answer): void {
  session.show(answer, dryRunSchema, ({ actions, warnings }): Line[] => [
    'Dry run: nothing has been done.',
    ...actions.flatMap(({ index, action, comment, outcome, reason, ...more }): Line[] => [
      '',
      [
        { text: `${index} ${action}${comment ? `: ${comment}` : ''}: ` },
        { text: outcome, tone: tones[outcome] },
        { text: reason === undefined ? '' : `: ${reason}` },
      ],
      ...fields(more, '  '),
    ]),
    ...warningLines(warnings),
  ]);
}
