/** An access token of a rule. The token itself is shown once, when it is made. */

import { z } from 'zod';
import { maxDelaySeconds } from '../chain/limits.js';

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

/** The newest first. */
export const tokensResponse = z.object({ tokens: z.array(tokenSchema) });

export const rotationRequest = z
  .strictObject({
    graceSeconds: z.int().min(0).max(maxDelaySeconds).default(0).describe('For how long the tokens before the new one go on.'),
  })
  .meta({ id: 'Rotation' });
export const rotatedTokenResponse = z
  .object({
    tokenId: z.string(),
    relayAccessToken: z.string().describe('The only time that it is shown.'),
  })
  .meta({ id: 'RotatedToken' });
