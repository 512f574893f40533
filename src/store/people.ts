/** The people of companies, their accounts at the OpenID service, and the links with which they sign in. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Actor, AuditEvent, Caller } from '../contract/audit.js';
import { makeId } from '../contract/credential.js';
import { type Identity, mostPeople, type NewPerson, personSchema } from '../contract/person.js';
import { deleteNamed, recordChange } from './audit.js';
import { type Database, exists, type Queries, read, Table } from './database.js';
import type { Pepper } from './pepper.js';

const storedPerson = personSchema.extend({ companyId: z.string() });
const knownPerson = storedPerson.extend({ companyName: z.string() });
export type KnownPerson = z.infer<typeof knownPerson>;
export const people = new Table('people', storedPerson, 'personId');
const known = new Table(
  '(SELECT people.*, companies.name AS company_name FROM people JOIN companies USING (company_id)) AS people',
  knownPerson,
  'personId',
);

const handles = new Table('person_handles', z.object({ handleId: z.string() }));
const signIns = new Table('sign_ins', z.object({ personId: z.string().optional(), toPage: z.string().optional() }));
const byName = 'ORDER BY company_name, company_id';
const isOpen = 'token_hash = $1 AND browser_hash = $2 AND expires_at > now()';
const named = z.object({ personId: z.string() });

const digest = (secret: string) => hash('sha256', secret);
const identityOf = ({ issuer, subject }: Identity) => `${issuer}\n${subject}`;

/** The person as a caller of the API, after the sign-in. */
export const asCaller = ({ personId, name, companyId, role }: z.infer<typeof storedPerson>): Caller => {
  return { kind: 'person', personId, name, companyId, role };
};

export const peopleIn = (database: Database, pepper: Pepper) => {
  /** Finds people by an address or account, in all companies. Renews the hash, which may have an older pepper. */
  const find = async (queries: Queries, handle: string): Promise<KnownPerson[]> => {
    const [isHandle, hashes] = pepper.lookup(handle);
    const { hash: stored, pepperId = null } = pepper.stored(handle);
    const place = hashes.length;
    const renew = `UPDATE person_handles SET hash = $${place + 1}::text::bytea, pepper_id = $${place + 2} WHERE ${isHandle}`;
    const found = await read(queries, named, `${renew} RETURNING person_id AS "personId"`, [...hashes, stored, pepperId]);
    return known.select(queries, `person_id = ANY ($1::text[]) ${byName}`, [found.map(({ personId }) => personId)]);
  };
  const addHandle = (queries: Queries, personId: string, kind: 'mail' | 'openid', handle: string) =>
    handles.insert(queries, { handleId: makeId(), personId, kind, ...pepper.stored(handle) });

  return {
    /** @returns undefined if there is no such company. */
    list: async (companyId: string) => {
      if (!(await exists(database, 'companies WHERE company_id = $1', [companyId]))) return undefined;
      return people.select(database, 'company_id = $1 ORDER BY name, person_id', [companyId]);
    },

    /** Adds a person with this address, or changes the name and the role of the person. */
    set: (companyId: string, { email, role, name }: NewPerson, actor: Actor) =>
      database.transaction(async (queries) => {
        if (!(await exists(queries, 'companies WHERE company_id = $1 FOR UPDATE', [companyId]))) return 'unknown company';
        const all = await people.select(queries, 'company_id = $1 ORDER BY from_group NULLS FIRST', [companyId]);
        const before = all.find((person) => person.email === email);
        if (!before && all.length >= mostPeople) return 'too many';
        const { personId, ...kept } = before ?? { personId: makeId(), name: email.slice(0, email.lastIndexOf('@')) };
        const values = { ...kept, email, role, name: name ?? kept.name, fromGroup: undefined };
        const person = before
          ? await people.update(queries, values, { companyId, personId })
          : await people.insert(queries, { ...values, companyId, personId });
        await queries.query("DELETE FROM person_handles WHERE person_id = $1 AND kind = 'mail'", [personId]);
        await addHandle(queries, personId, 'mail', email);
        const action = before ? 'person.update' : 'person.add';
        await recordChange(queries, { actor, action, companyId, details: { personId, name: values.name, role, email } });
        return { person, created: !before };
      }),

    /** Removes the person, and ends the person's sessions and links. @returns whether the person existed. */
    remove: (companyId: string, personId: string, actor: Actor) => {
      const event = { actor, action: 'person.remove' as const, companyId, details: { personId } };
      return deleteNamed(database, 'people WHERE company_id = $1 AND person_id = $2', [companyId, personId], event);
    },

    withAddress: (email: string) => find(database, email),

    /**
     * Finds the people of an account at the OpenID service, in all companies. Binds the account to people with the account's
     * verified address. Ignores people who are bound to another account of the service. If a group gives the account a role,
     * adds a person. If the group does not give the role any more, removes the person.
     */
    identify: (identity: Identity): Promise<KnownPerson[]> =>
      database.transaction(async (queries) => {
        const { issuer, name, email, grants } = identity;
        const handle = identityOf(identity);
        // Two sign-ins of one account run one after the other. Otherwise, each sign-in could add the person of a group.
        await queries.query('SELECT pg_advisory_xact_lock(hashtext($1::text))', [handle]);
        const changes: AuditEvent[] = [];
        const note = (verb: 'add' | 'bind' | 'remove', person: z.infer<typeof storedPerson>) => {
          const { companyId, personId, name, role, fromGroup } = person;
          const details = { personId, name, role, issuer, ...(fromGroup !== undefined && { fromGroup }) };
          changes.push({ actor: asCaller(person), action: `person.${verb}`, companyId, details });
        };
        const bound = await find(queries, handle);
        for (const listed of email === undefined ? [] : await find(queries, email)) {
          if (bound.some(({ companyId }) => companyId === listed.companyId)) continue;
          const bind = 'UPDATE people SET issuer = $2 WHERE person_id = $1 AND issuer IS DISTINCT FROM $2 RETURNING 1';
          if ((await queries.query(bind, [listed.personId, issuer])).length === 0) continue;
          await addHandle(queries, listed.personId, 'openid', handle);
          note('bind', listed);
          bound.push(listed);
        }
        const isGiven = ({ companyId, role, fromGroup }: KnownPerson) =>
          grants.some((grant) => grant.companyId === companyId && grant.role === role && grant.group === fromGroup);
        const over = bound.filter((person) => person.fromGroup !== undefined && !isGiven(person));
        for (const person of over) note('remove', person);
        await queries.query('DELETE FROM people WHERE person_id = ANY ($1::text[])', [over.map(({ personId }) => personId)]);
        for (const { companyId, role, group: fromGroup } of grants) {
          if (bound.some((person) => person.companyId === companyId && !over.includes(person))) continue;
          if (!(await exists(queries, 'companies WHERE company_id = $1 FOR KEY SHARE', [companyId]))) continue;
          const added = await people.insert(queries, { personId: makeId(), companyId, name, email, role, issuer, fromGroup });
          if (!added) throw new Error('A new person has the id of another person');
          await addHandle(queries, added.personId, 'openid', handle);
          note('add', added);
        }
        const found = await find(queries, handle);
        for (const change of changes) await recordChange(queries, change); // this comes last, because `recordChange` locks a row
        return found;
      }),

    /** Begins a sign-in by link. Without `people`, begins it at the OpenID service. The browser can use `token` once. */
    begin: async (token: string, browser: string, people: readonly KnownPerson[], toPage?: string): Promise<void> => {
      await database.query('DELETE FROM sign_ins WHERE expires_at < now()');
      const row = { tokenHash: digest(token), browserHash: digest(browser), toPage };
      for (const { personId } of people.length > 0 ? people : [{ personId: undefined }])
        await signIns.insert(database, { ...row, personId });
    },

    choices: (token: string, browser: string): Promise<KnownPerson[]> => {
      const chosen = `person_id IN (SELECT person_id FROM sign_ins WHERE ${isOpen}) ${byName}`;
      return known.select(database, chosen, [digest(token), digest(browser)]);
    },

    /** Ends an open sign-in. @returns the page to open next; undefined if the sign-in was not open. */
    take: async (token: string, browser: string, personId?: string): Promise<{ toPage?: string | undefined } | undefined> => {
      const isOfKind = personId === undefined ? 'person_id IS NULL' : 'person_id IS NOT NULL';
      const statement = `DELETE FROM sign_ins WHERE ${isOpen} AND ${isOfKind}`;
      const rows = await signIns.write(database, statement, [digest(token), digest(browser)]);
      return rows.find((row) => row.personId === personId);
    },
  };
};
