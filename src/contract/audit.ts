/** The entries of the audit log: who did what, and when. */

import { z } from 'zod';
import type { AuditAction } from './audit-words.js';
import { roles } from './credential.js';
import { encrypted } from './secrets.js';

/** If the name is absent, the caller used RELAY_ADMIN_TOKEN. */
const adminActor = z.object({ kind: z.literal('admin'), adminTokenId: z.string().optional(), name: z.string().optional() });
const keyActor = z.object({
  kind: z.literal('key'),
  keyId: z.string(),
  name: z.string(),
  companyId: z.string(),
  role: z.enum(roles).default('steer'),
});
const personActor = z.object({ ...keyActor.shape, kind: z.literal('person'), personId: z.string() }).omit({ keyId: true });
const linkActor = z.object({ kind: z.literal('link'), companyId: z.string(), contact: encrypted(z.string()) });
const actorSchema = z.discriminatedUnion('kind', [adminActor, keyActor, personActor, linkActor]);
export type Caller = z.infer<typeof adminActor> | z.infer<typeof keyActor> | z.infer<typeof personActor>;
/** The id of a key or person of a company. Rate limits count requests by this id. */
export const callerId = (actor: Exclude<Caller, { kind: 'admin' }>) => (actor.kind === 'key' ? actor.keyId : actor.personId);
/** A caller, or a person who uses the link in a notice. */
export type Actor = z.infer<typeof actorSchema>;

/** The name of the actor for people: `admin`, `admin dana`, `key dashboard`, `Ada`, `the link in a notice to ada@example.com`. */
export function actorName(actor: Pick<Caller, 'kind' | 'name'> | Omit<z.infer<typeof linkActor>, 'companyId'>): string {
  if (actor.kind === 'link') return `the link in a notice to ${actor.contact}`;
  if (actor.kind === 'person') return actor.name ?? 'a person';
  return actor.name === undefined ? actor.kind : `${actor.kind} ${actor.name}`;
}

/** The subject of a sentence about the caller: `Ada`, or `The key dashboard`. */
export const actorSubject = (actor: Pick<Caller, 'kind' | 'name'>) =>
  actor.kind === 'person' ? actorName(actor) : `The ${actorName(actor)}`;

export const auditEntrySchema = z.object({
  auditId: z.string(),
  at: z.iso.datetime(),
  actor: actorSchema,
  action: z.string().describe('`<subject>.<verb>`, such as `rule.create`.'),
  companyId: z.string().optional(),
  details: z
    .looseObject({ reason: encrypted(z.string()).optional(), email: encrypted(z.string()).optional() })
    .describe('Ids, names and other facts, without secrets.'),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;
export type AuditEvent = Omit<AuditEntry, 'auditId' | 'at' | 'action'> & { action: AuditAction };

const ofCompany = { companyId: true } as const;
const actorInCompany = z.discriminatedUnion('kind', [
  adminActor,
  keyActor.omit(ofCompany),
  personActor.omit(ofCompany),
  linkActor.omit(ofCompany),
]);
export const auditResponse = z.object({
  entries: z.array(auditEntrySchema.extend({ actor: actorInCompany })),
  nextCursor: z.string().optional(),
});
