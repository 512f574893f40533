/** `relay send`: sends a chain like a webhook, or as a dry run. */

import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { titleOf } from '../../chain/text.js';
import { acceptedSchema } from '../../contract/chain-resource.js';
import { isWebhookSecret } from '../../contract/notify.js';
import { parseJson, path, Unreachable } from '../api.js';
import { listed, showAccepted, stateCell } from '../chain-view.js';
import { issueLines } from '../explain.js';
import { type Commands, command, readInput, waitOption } from '../options.js';
import { UsageError } from '../terminal.js';
import { fields, type Line, line } from '../text.js';

export const send: Commands = (relay, session) => {
  const tokens = 'the token for actions whose relayAccessToken is missing, empty or a <placeholder>; default: RELAY_ACCESS_TOKEN';
  const signs = 'the secret that signs the request, if the company requires signatures; default: RELAY_WEBHOOK_SECRET';
  const example = 'acme chain.json --rule 4711 --token rlt_… --wait';
  command(relay, 'send <companyId> <file>', example, 'send a chain from a JSON file; - is standard input')
    .description('With --rule and --token, only actions of this rule get the token. Actions that already have a token keep it.')
    .option('--idempotency-key <key>', 'the key of the chain; a second request with the same key and chain runs nothing')
    .option('--dry-run', 'show what each action would do, and do nothing')
    .option('--rule <relayId>', 'the relayId for actions whose relayId is missing, empty or a <placeholder>')
    .option('--token <token>', tokens)
    .option('--webhook-secret <whsec_…>', signs)
    .addOption(waitOption)
    .action(async (companyId, file, { wait, dryRun, idempotencyKey: key, rule, ...options }) => {
      const { api, terminal } = session;
      const token = options.token ?? (terminal.env.RELAY_ACCESS_TOKEN || undefined);
      const secret = options.webhookSecret ?? (terminal.env.RELAY_WEBHOOK_SECRET || undefined);
      if (wait && !dryRun && !api.address.credential)
        throw new UsageError('--wait must read the chain: set RELAY_ADMIN_TOKEN or RELAY_KEY');
      if (key !== undefined && !/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(key))
        throw new UsageError('--idempotency-key must be ASCII characters');
      const target = path`/co/${companyId}/relay`;
      const body = fillIn(await readInput(terminal, file), { rule, token });
      const headers = {
        ...(key !== undefined && { 'Idempotency-Key': `"${key}"` }),
        ...(secret !== undefined && signatureHeaders(secret, key ?? randomUUID(), body)),
      };
      const question = { body, headers, nextStep };
      if (dryRun) return session.show(api.ask('POST', `${target}?dryRun=true`, dryRunSchema, question), dryRunLines);

      // Sends no admin token, because this endpoint checks the tokens in the actions.
      const accepted = api.ask('POST', target, acceptedSchema, { ...question, bearer: false }).catch((error: unknown) => {
        const look = 'check with `relay chains list` before you send the chain again';
        const again = key === undefined ? look : 'you can safely send the chain again with the same key';
        if (error instanceof Unreachable && error.mayHaveArrived)
          session.note(`It is not known whether the chain was accepted: ${again}.`);
        throw error;
      });
      await showAccepted(session, companyId, accepted, wait);
    });
};

function nextStep({ status }: { status: number }): string | undefined {
  if (status !== 401) return undefined;
  const needed = 'Every action needs the relayId of an enabled rule and its relayAccessToken. Put them in the file, or';
  return `${needed} use --rule and --token. If the company has a webhookSecret, also use --webhook-secret.`;
}

/** The headers that sign a request, as in Standard Webhooks. @throws UsageError that does not contain the secret. */
export function signatureHeaders(secret: string, id: string, body: Uint8Array): Record<string, string> {
  if (!isWebhookSecret(secret.trim()))
    throw new UsageError('The webhook secret must be whsec_ followed by 24 to 64 bytes in base64');
  const now = new Date();
  const signature = new Webhook(secret.trim()).sign(id, now, Buffer.from(body));
  return { 'webhook-id': id, 'webhook-timestamp': String(Math.floor(now.getTime() / 1000)), 'webhook-signature': signature };
}

const actionsSchema = z.array(z.record(z.string(), z.unknown()));

/** Adds the rule and the token to actions without them. Does not change a file that is no list of objects. */
export function fillIn(bytes: Uint8Array, { rule, token }: { rule: string | undefined; token: string | undefined }): Uint8Array {
  const actions = actionsSchema.safeParse(parseJson(bytes));
  if (!actions.success || (rule === undefined && token === undefined)) return bytes;
  const isOpen = (value: unknown) => value === undefined || (typeof value === 'string' && /^\s*(<[^<>]*>)?\s*$/.test(value));
  const filled = actions.data.map((action) => {
    const relayId = rule !== undefined && isOpen(action.relayId) ? rule : action.relayId;
    const takesToken = token !== undefined && isOpen(action.relayAccessToken) && (rule === undefined || String(relayId) === rule);
    return { ...action, relayId, relayAccessToken: takesToken ? token : action.relayAccessToken };
  });
  return new TextEncoder().encode(JSON.stringify(filled));
}

const words = z.string().optional();
const plannedAction = z.looseObject({ index: z.number(), action: z.string(), comment: words, outcome: words, reason: words });
const dryRunSchema = z.looseObject({ actions: z.array(plannedAction), warnings: acceptedSchema.shape.warnings });

function dryRunLines({ actions, warnings }: z.infer<typeof dryRunSchema>): Line[] {
  return [
    'Dry run: nothing was done.',
    ...actions.flatMap(({ index, action, comment, outcome, reason, ...more }): Line[] => [
      '',
      line`${titleOf({ index, action, comment })}: ${stateCell(outcome === 'held' ? 'waits' : (outcome ?? ''))}${reason && `: ${reason}`}`,
      ...fields(more, '  '),
    ]),
    ...listed('Warnings:', issueLines(warnings)),
  ];
}
