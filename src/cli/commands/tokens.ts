/** `relay tokens`: the access tokens of a rule. */

import { z } from 'zod';
import { path } from '../api.js';
import { defineCommand } from '../command.js';
import { UsageError } from '../exit-codes.js';
import { confirmOptions } from '../session.js';
import { fields, table } from '../table.js';
import { momentText, readDuration } from '../time.js';

const token = z.object({
  tokenId: z.string(),
  state: z.string(),
  createdAt: z.string(),
  expiresAt: z.string().optional(),
  lastUsedAt: z.string().optional(),
});

export const listTokens = defineCommand({
  arguments: ['companyId', 'relayId'],
  summary: 'list the tokens of a rule, without the tokens themselves',
  example: 'relay tokens list acme 4711',
  run: async (session, { companyId, relayId }) => {
    const answer = await session.api.ask('GET', path`/admin/companies/${companyId}/rules/${relayId}/tokens`);
    session.show(answer, z.object({ tokens: z.array(token) }), ({ tokens }) =>
      table(
        tokens,
        [
          { heading: 'TOKEN', cell: ({ tokenId }) => tokenId },
          { heading: 'STATE', cell: ({ state }) => state },
          { heading: 'MADE', cell: ({ createdAt }) => momentText(createdAt) },
          { heading: 'ENDS', cell: ({ expiresAt }) => momentText(expiresAt ?? '') },
          { heading: 'LAST USED', cell: ({ lastUsedAt }) => momentText(lastUsedAt ?? '') },
        ],
        session.terminal.columns,
      ),
    );
  },
});

export const rotateToken = defineCommand({
  arguments: ['companyId', 'relayId'],
  options: {
    grace: { type: 'string', value: 'time', help: 'how long the tokens before go on, such as 3600, 10m, 2d; default: 0' },
  },
  summary: 'make a new token for a rule, and show it, once',
  details: 'The tokens before it end after --grace, or at once.',
  example: 'relay tokens rotate acme 4711 --grace 1h',
  run: async (session, { companyId, relayId }, { grace = '0' }) => {
    const graceSeconds = readDuration(grace);
    if (graceSeconds === undefined) throw new UsageError('--grace must be a time such as 3600, 10m or 2d');
    const answer = await session.api.ask('POST', path`/admin/companies/${companyId}/rules/${relayId}/tokens`, {
      body: { graceSeconds },
    });
    session.show(answer, z.object({ tokenId: z.string(), relayAccessToken: z.string() }), ({ tokenId, relayAccessToken }) => [
      ...fields({ tokenId, relayAccessToken }),
      '',
      'This is the only time that the token is shown.',
      graceSeconds === 0
        ? 'The tokens before it have ended.'
        : `The tokens before it end at ${momentText(new Date(Date.now() + graceSeconds * 1000).toISOString())}.`,
    ]);
  },
});

export const revokeToken = defineCommand({
  arguments: ['companyId', 'relayId', 'tokenId'],
  options: confirmOptions,
  summary: 'end a token at once',
  example: 'relay tokens revoke acme 4711 Xk2vQ9sLm4Tz --yes',
  run: async (session, { companyId, relayId, tokenId }, { yes }) => {
    const target = path`/admin/companies/${companyId}/rules/${relayId}/tokens/${tokenId}`;
    await session.confirm(yes, `Revoke token ${tokenId} of rule ${relayId} of company ${companyId}?`);
    await session.api.ask('DELETE', target);
    session.print([`Token ${tokenId} is revoked.`]);
  },
});
