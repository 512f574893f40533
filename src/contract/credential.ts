/** Rule tokens, company keys and admin tokens. The API shows a token or key only once, when it creates the token or key. */

import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { maxDelaySeconds } from '../chain/chain.js';
import { named, namedStrict } from './named.js';
import { label } from './notify.js';

/** A token of a rule works for lists of actions and for events. An event token works only for events. */
export const tokenPurposes = ['rule', 'event'] as const;
export type TokenPurpose = (typeof tokenPurposes)[number];

/** After a rotation, the older tokens expire at the end of the grace period. */
export const tokenSchema = named('Token', {
  tokenId: z.string(),
  purpose: z.enum(tokenPurposes).describe('`rule`: works for lists of actions and for events. `event`: works only for events.'),
  state: z.enum(['active', 'expired', 'revoked']),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().optional(),
  revokedAt: z.iso.datetime().optional(),
  lastUsedAt: z.iso.datetime().optional().describe('The last use. The relay updates this time at most once a minute.'),
});
export type Token = z.infer<typeof tokenSchema>;
export const tokensResponse = z.object({ tokens: z.array(tokenSchema) }); // the newest token first
const grace = 'The longest time that the older tokens stay valid, in seconds. With `null`, their expiry does not change.';
const graceSeconds = z.int().min(0).max(maxDelaySeconds).nullable().default(0).describe(grace);
export const rotationRequest = namedStrict('Rotation', { graceSeconds });
export const rotatedTokenResponse = named('RotatedToken', {
  tokenId: z.string(),
  relayAccessToken: z.string().describe('The token. Only this answer shows it.'),
});

/** Each role includes the permissions of the roles before it. */
export const roles = ['read', 'steer', 'author', 'manage'] as const;
export type Role = (typeof roles)[number];
const role = z
  .enum(roles)
  .describe(
    '`read` reads chains, rules and refused requests. `steer` also decides on actions and resends requests. ' +
      '`author` also writes and publishes rules, and makes their tokens. `manage` also changes settings.',
  );

export const keySchema = named('Key', {
  keyId: z.string(),
  name: z.string(),
  role,
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().optional(),
  lastUsedAt: z.iso.datetime().optional().describe('The last use. The relay updates this time at most once a minute.'),
});

export const futureTime = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, such as 2026-07-01T12:00:00Z' })
  .refine((time) => Date.parse(time) > Date.now(), 'must be in the future');
const expiry = z.object({
  expiresAt: futureTime
    .refine((time) => Date.parse(time) < Date.UTC(10_000, 0), 'must be before the year 10000')
    .transform((time) => new Date(time).toISOString()) // PostgreSQL refuses offsets of 16 hours or more
    .optional()
    .describe('When the key or token expires.'),
});
export const newKeyRequest = namedStrict('NewKey', { name: label, role: role.default('steer'), ...expiry.shape });
export type NewKey = z.infer<typeof newKeyRequest>;

/** An admin token has the same permissions as RELAY_ADMIN_TOKEN, and the name of an operator. */
const { keyId: _id, role: _role, ...common } = keySchema.shape;
export const adminTokenSchema = named('AdminToken', { ...common, adminTokenId: z.string() });
export const adminTokensResponse = z.object({ adminTokens: z.array(adminTokenSchema) });
export const newAdminTokenRequest = newKeyRequest.omit({ role: true }).meta({ id: 'NewAdminToken' });
export const createdAdminTokenResponse = adminTokenSchema
  .extend({ token: z.string().describe('The admin token. Only this answer shows it.') })
  .meta({ id: 'CreatedAdminToken' });

export const keysResponse = z.object({ keys: z.array(keySchema) });
export const createdKeyResponse = keySchema
  .extend({ key: z.string().describe('The key. Only this answer shows it.') })
  .meta({ id: 'CreatedKey' });

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 30; // digits of base 62, which are 178 bits
const checksumLength = 6; // digits of base 62, which are enough for 32 bits

/** The maximum numbers of rules and keys of a company. */
export const mostRules = 1000; // every process keeps all rules and their tokens in memory
export const mostKeys = 100;

/** Creates a rule token, event token, company key or admin token: its prefix, then 178 random bits and a CRC-32, in base 62. */
export function makeCredential(prefix: 'rlt_' | 'rle_' | 'rlk_' | 'rla_'): string {
  const secret = prefix + randomText(secretLength);
  return secret + checksum(secret);
}

const ourPrefix = /^rl[teka]_/;

/** @returns undefined if a person used a credential as an id, because the log must not contain credentials. */
export const loggableId = (id: string | undefined): string | undefined =>
  id !== undefined && ourPrefix.test(id) ? undefined : id;

/** Masks credentials in a path. An event token is the last part of its path, and people paste tokens into wrong places. */
export function withoutCredentials(path: string): string {
  return path.replace(/^(\/+co\/+[^/]*\/+events\/+[^/]*\/).+/, '$1***').replaceAll(/rl[teka]_\w+/g, '***');
}

/** Whether the token comes from an earlier system. Such a token does not have a prefix of the relay. */
export const isTakenOver = (token: string): boolean => !/^rl[te]_/.test(token);

/** Whether a text has our prefix, but a wrong checksum or length. A text without the prefix may be an older system's token. */
export function isMistyped(text: string): boolean {
  if (!ourPrefix.test(text)) return false;
  const secret = text.slice(0, -checksumLength);
  return secret.length !== secretLength + 4 || text.slice(-checksumLength) !== checksum(secret);
}

/** The stored form of a credential. It has 178 random bits, so a slow hash would not make it safer. */
export const hashOf = (credential: string): Buffer => createHash('sha256').update(credential).digest();

/** Makes a random id. The id is not secret. */
export const makeId = (): string => randomText(12);
const randomText = (length: number): string => Array.from({ length }, () => base62.charAt(randomInt(base62.length))).join('');

function checksum(text: string): string {
  const digit = (place: number) => base62.charAt(Math.floor(crc32(text) / 62 ** place) % 62);
  return Array.from({ length: checksumLength }, (_, place) => digit(checksumLength - 1 - place)).join('');
}
