/** Stores contacts that have not confirmed yet. A company key has set them. A contact that an admin sets counts as confirmed. */

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Actor } from '../contract/audit.js';
import { contactsOf, type Notify, notifySchema, unconfirmedSchema } from '../contract/notify.js';
import { Problem } from '../contract/problem.js';
import { recordEvent } from './audit.js';
import { type Database, type Queries, Table } from './database.js';

export const unconfirmed = new Table('unconfirmed_contacts', unconfirmedSchema, 'contactId');
export type Unconfirmed = z.infer<typeof unconfirmedSchema>;

const ofCompany = 'company_id = $1';
const told = z.object({ causeId: z.string() });
const toldTo = new Table('told_unconfirmed', told);

const mostUnconfirmed = 100; // the maximum for a company; contacts that were set and removed within the last day count, too
const mostADay = 10; // the maximum number of notices a day to an unconfirmed contact

async function named(queries: Queries, companyId: string): Promise<Set<string>> {
  const shape = { companyId: z.string(), notify: notifySchema.optional() };
  const companies = new Table('companies', z.object(shape));
  const rules = new Table('rules', z.object({ ...shape, relayId: z.string() }), 'relayId');
  const found = await Promise.all([companies, rules].map((table) => table.select(queries, ofCompany, [companyId])));
  return new Set(found.flat().flatMap(({ notify }) => (notify ? contactsOf(notify) : [])));
}

/** Records which new contacts must confirm. The caller then stores the contacts. @throws Problem limit-reached */
export async function noteContacts(
  queries: Queries,
  companyId: string,
  { before = {}, after = {} }: { before?: Notify | undefined; after?: Notify | null | undefined },
  actor: Actor,
): Promise<void> {
  const old = contactsOf(before);
  const added = contactsOf(after ?? {}).filter((contact) => !old.includes(contact));
  if (added.length === 0) return;
  const waiting = await unconfirmed.select(queries, ofCompany, [companyId]);
  if (actor.kind === 'admin') return remove(queries, waiting, ({ contact }) => added.includes(contact));
  const known = await named(queries, companyId);
  // Keep a removed contact for a day after it was set. Otherwise, if a person set it again, its limits would begin again.
  const over = await unconfirmed.select(queries, `${ofCompany} AND set_at < now() - interval '1 day'`, [companyId]);
  await remove(queries, over, ({ contact }) => !known.has(contact) && !added.includes(contact));
  const set = added.filter((contact) => !known.has(contact) && !waiting.some((one) => one.contact === contact));
  if (waiting.length + set.length > mostUnconfirmed) {
    const detail = `Company ${companyId} has set ${mostUnconfirmed} unconfirmed contacts within a day, which is its limit.`;
    throw new Problem('limit-reached', `${detail} Further contacts need an admin token.`);
  }
  for (const contact of set)
    await unconfirmed.insert(queries, { companyId, contactId: randomBytes(24).toString('base64url'), contact });
}

async function remove(queries: Queries, contacts: Unconfirmed[], isOver: (contact: Unconfirmed) => boolean): Promise<void> {
  const ids = contacts.filter(isOver).map(({ contactId }) => contactId);
  if (ids.length > 0) await queries.query('DELETE FROM unconfirmed_contacts WHERE contact_id = ANY ($1::text[])', [ids]);
}

export const contactsIn = (database: Database) => ({
  unconfirmed: (companyId: string) => unconfirmed.select(database, ofCompany, [companyId]),

  /** @returns undefined if the contact's confirmation link is no longer valid. */
  of: (contactId: string) => unconfirmed.find(database, 'contact_id = $1', [contactId]),

  /** @returns whether the contact was unconfirmed. */
  confirm: (contactId: string) =>
    database.transaction(async (queries) => {
      const found = await unconfirmed.find(queries, 'contact_id = $1 FOR UPDATE', [contactId]);
      if (!found) return false;
      const { companyId, contact } = found;
      const all = await unconfirmed.select(queries, ofCompany, [companyId]);
      await remove(queries, all, (one) => one.contact === contact);
      const actor = { kind: 'link', companyId, contact } as const;
      await recordEvent(queries, { actor, action: 'contact.confirm', companyId, details: {} });
      return true;
    }),

  /** @returns the causes that no earlier notice to this contact contained. If the daily limit is reached, returns no new cause. */
  firstOf: (contactId: string, causeIds: readonly string[], noticeKey: string): Promise<string[]> =>
    database.transaction(async (queries) => {
      if (!(await unconfirmed.find(queries, 'contact_id = $1 FOR UPDATE', [contactId]))) return [...causeIds];
      await queries.query(
        `INSERT INTO told_unconfirmed (contact_id, cause_id, notice_key)
         SELECT $1, cause_id, $3 FROM unnest($2::text[]) AS cause_id WHERE $4::int > (
           SELECT count(DISTINCT notice_key) FROM told_unconfirmed
           WHERE contact_id = $1 AND notice_key <> $3 AND told_at > now() - interval '1 day')
         ON CONFLICT DO NOTHING`,
        [contactId, [...causeIds], noticeKey, mostADay],
      );
      const first = await toldTo.select(queries, 'contact_id = $1 AND notice_key = $2', [contactId, noticeKey]);
      return first.map(({ causeId }) => causeId);
    }),
});
