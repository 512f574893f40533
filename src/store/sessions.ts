/**
 * Browser sessions in the database, so that every process can end a session. A session ends when its key, admin token or person
 * is removed.
 */

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Caller, callerId } from '../contract/audit.js';
import { roles } from '../contract/credential.js';
import { Shares } from '../service/shares.js';
import { type Database, Table } from './database.js';
import { serviceKey } from './service-keys.js';

export const longestSessionHours = 12;
/** The maximum number of sessions for a key or person. Several people may share a key. */
export const mostSessions = 50;
const deletedEveryMs = 60_000; // how often ended sessions are deleted; the deletion scans the whole table
const alive = `seen_at > now() - interval '1 hour' AND created_at > now() - interval '${longestSessionHours} hours'`;
const endOldest = `DELETE FROM sessions WHERE session_id IN (
  SELECT session_id FROM sessions WHERE key_id = $1 OR person_id = $1
  ORDER BY seen_at DESC, created_at DESC OFFSET ${mostSessions})`;

const sessions = new Table('sessions', z.object({ sessionId: z.string() }));
const holders = new Table(
  `(SELECT sessions.*, COALESCE(company_keys.company_id, people.company_id) AS company_id,
      COALESCE(company_keys.role, people.role) AS role, COALESCE(company_keys.name, admin_tokens.name, people.name) AS name
    FROM sessions LEFT JOIN company_keys USING (key_id) LEFT JOIN admin_tokens USING (admin_token_id) LEFT JOIN people USING (person_id)
    WHERE LEAST(company_keys.expires_at, admin_tokens.expires_at, 'infinity') > now()) AS sessions`,
  z.object({
    keyId: z.string().optional(),
    personId: z.string().optional(),
    companyId: z.string().optional(),
    role: z.enum(roles).default('steer'),
    adminTokenId: z.string().optional(),
    name: z.string().optional(),
    seenAt: z.iso.datetime(),
  }),
);

export const sessionsIn = (database: Database, deletions = new Shares(1, deletedEveryMs)) => ({
  signingKey: () => serviceKey(database, 'session'),

  /** Begins a session. Above the maximum, ends the least recently used session of the holder. @returns the unsigned session id. */
  begin: async (actor: Caller): Promise<string> => {
    if (deletions.take()) await database.query(`DELETE FROM sessions WHERE NOT (${alive})`);
    const sessionId = randomBytes(24).toString('base64url');
    const holder = actor.kind === 'admin' ? { adminTokenId: actor.adminTokenId } : { [`${actor.kind}Id`]: callerId(actor) };
    await sessions.insert(database, { sessionId, ...holder });
    if (actor.kind !== 'admin') await database.query(endOldest, [callerId(actor)]);
    if (actor.kind === 'person')
      await database.query('UPDATE people SET last_used_at = now() WHERE person_id = $1', [actor.personId]);
    return sessionId;
  },

  /** Extends the session. @returns the caller; undefined if the session has ended. */
  use: async (sessionId: string): Promise<Caller | undefined> => {
    const found = await holders.find(database, `session_id = $1 AND ${alive}`, [sessionId]);
    if (!found) return undefined;
    const { keyId, personId, companyId, role, adminTokenId, name, seenAt } = found;
    if (new Date(seenAt).getTime() < Date.now() - 60_000)
      database.query('UPDATE sessions SET seen_at = now() WHERE session_id = $1', [sessionId]).catch(() => {});
    if (keyId === undefined && personId === undefined) return { kind: 'admin', adminTokenId, name };
    if (companyId === undefined || name === undefined) return undefined;
    if (personId !== undefined) return { kind: 'person', personId, name, companyId, role };
    return keyId === undefined ? undefined : { kind: 'key', keyId, name, companyId, role };
  },

  end: async (sessionId: string): Promise<void> => {
    await database.query('DELETE FROM sessions WHERE session_id = $1', [sessionId]);
  },
});
