/** Tokens of rules, keys of companies and tokens of operators: each is shown once, when it is made. */

import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { maxDelaySeconds } from '../chain/chain.js';
import { label } from './notify.js';

/** A token expires when it is rotated and its grace is over. */
export const tokenSchema = z
  .object({
    tokenId: z.string(),
    state: z.enum(['active', 'expired', 'revoked']),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().optional(),
    revokedAt: z.iso.datetime().optional(),
    lastUsedAt: z.iso.datetime().optional().describe('To the minute.'),
  })
  .meta({ id: 'Token' });
export type Token = z.infer<typeof tokenSchema>;

export const tokensResponse = z.object({ tokens: z.array(tokenSchema) }); // The newest first.

export const rotationRequest = z
  .strictObject({
    graceSeconds: z
      .int()
      .min(0)
      .max(maxDelaySeconds)
      .nullable()
      .default(0)
      .describe('For how long the tokens before the new one go on; `null`: until they are revoked.'),
  })
  .meta({ id: 'Rotation' });
export const rotatedTokenResponse = z
  .object({ tokenId: z.string(), relayAccessToken: z.string().describe('The only time that it is shown.') })
  .meta({ id: 'RotatedToken' });

/** What a key may do in its company, each also what stands before it. */
export const roles = ['read', 'steer', 'manage'] as const;
export type Role = (typeof roles)[number];
const role = z
  .enum(roles)
  .describe('`read`: see its chains and refused requests; `steer`: also steer and resend them; `manage`: also its settings.');

export const keySchema = z
  .object({
    keyId: z.string(),
    name: z.string(),
    role,
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().optional(),
    lastUsedAt: z.iso.datetime().optional().describe('To the minute.'),
  })
  .meta({ id: 'Key' });
export type CompanyKey = z.infer<typeof keySchema>;

const expiry = z.object({
  expiresAt: z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, such as 2026-07-01T12:00:00Z' })
    .refine((time) => Date.parse(time) > Date.now(), 'must be in the future')
    .optional()
    .describe('When it ends by itself.'),
});
export const newKeyRequest = z.strictObject({ name: label, role: role.default('steer'), ...expiry.shape }).meta({ id: 'NewKey' });
export type NewKey = z.infer<typeof newKeyRequest>;

/** Opens everything, as RELAY_ADMIN_TOKEN does, in the name of one operator. */
export const adminTokenSchema = keySchema
  .omit({ keyId: true, role: true })
  .extend({ adminTokenId: z.string() })
  .meta({ id: 'AdminToken' });
export const adminTokensResponse = z.object({ adminTokens: z.array(adminTokenSchema) });
export const newAdminTokenRequest = newKeyRequest.omit({ role: true }).meta({ id: 'NewAdminToken' });
export const createdAdminTokenResponse = adminTokenSchema
  .extend({ token: z.string().describe('The only time that it is shown.') })
  .meta({ id: 'CreatedAdminToken' });

export const keysResponse = z.object({ keys: z.array(keySchema) });
export const createdKeyResponse = keySchema
  .extend({ key: z.string().describe('The only time that it is shown.') })
  .meta({ id: 'CreatedKey' });

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 30; // log2(62 ** 30) is 178 bits.
const checksumLength = 6; // 62 ** 6 holds 32 bits.

/** Of a company: every process keeps all rules, and the tokens of each. */
export const mostRules = 1000;
export const mostKeys = 100;

/** The prefix, of a rule's token, a company's key or an operator's token, 178 random bits and their CRC-32, in base 62. */
export function makeCredential(prefix: 'rlt_' | 'rlk_' | 'rla_'): string {
  const secret = prefix + randomText(secretLength);
  return secret + checksum(secret);
}

const ourPrefix = /^rl[tka]_/;

/** An id from a path, for the log: not where somebody has put a credential in its place. */
export function loggableId(id: string | undefined): string | undefined {
  return id !== undefined && ourPrefix.test(id) ? undefined : id;
}

/** Whether a token can only be one that a rule has taken over: the relay's own have its prefix. */
export const isTakenOver = (token: string): boolean => !token.startsWith('rlt_');

/** Whether a text with our prefix cannot be one of ours: mistyped or cut short. Any other text may be a token taken over. */
export function isMistyped(text: string): boolean {
  if (!ourPrefix.test(text)) return false;
  const secret = text.slice(0, -checksumLength);
  return secret.length !== secretLength + 4 || text.slice(-checksumLength) !== checksum(secret);
}

/** What is kept of a token or key: its SHA-256. A slow hash would add nothing to 178 random bits. */
export function hashOf(credential: string): Buffer {
  return createHash('sha256').update(credential).digest();
}

/** No secret. */
export function makeId(): string {
  return randomText(12);
}

function randomText(length: number): string {
  return Array.from({ length }, () => base62.charAt(randomInt(base62.length))).join('');
}

function checksum(text: string): string {
  const digit = (place: number) => base62.charAt(Math.floor(crc32(text) / 62 ** place) % 62);
  return Array.from({ length: checksumLength }, (_, place) => digit(checksumLength - 1 - place)).join('');
}
