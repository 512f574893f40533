/** Who did what and when. */

import { z } from 'zod';
import { roles } from './credential.js';
import { encrypted } from './secrets.js';

/** Without a name it is the holder of RELAY_ADMIN_TOKEN. */
const adminActor = z.object({ kind: z.literal('admin'), adminTokenId: z.string().optional(), name: z.string().optional() });
const keyActor = z.object({
  kind: z.literal('key'),
  keyId: z.string(),
  name: z.string(),
  companyId: z.string(),
  role: z.enum(roles).default('steer'),
});
const actorSchema = z.discriminatedUnion('kind', [adminActor, keyActor]);
/** Who asks: the holder of an admin token, or of a company's key. */
export type Actor = z.infer<typeof actorSchema>;

/** As people read it: `admin`, `admin dana`, `key dashboard`. */
export function actorName({ kind, name }: Pick<Actor, 'kind' | 'name'>): string {
  return name === undefined ? kind : `${kind} ${name}`;
}

export const auditEntrySchema = z.object({
  auditId: z.string(),
  at: z.iso.datetime(),
  actor: actorSchema,
  action: z.string().describe('`<subject>.<verb>`, such as `rule.create`.'),
  companyId: z.string().optional(),
  details: z.looseObject({ reason: encrypted(z.string()).optional() }).describe('Ids and names, never secrets.'),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;
export type AuditEvent = Omit<AuditEntry, 'auditId' | 'at'>;

const actorInCompany = z.discriminatedUnion('kind', [adminActor, keyActor.omit({ companyId: true })]);
export const auditResponse = z.object({
  entries: z.array(auditEntrySchema.extend({ actor: actorInCompany })),
  nextCursor: z.string().optional(),
});
