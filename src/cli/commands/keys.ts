/** `relay keys`: the named keys with which a company reads and steers its own chains. */

import { z } from 'zod';
import { path } from '../api.js';
import { defineCommand } from '../command.js';
import { UsageError } from '../exit-codes.js';
import { confirmOptions } from '../session.js';
import { fields, table } from '../table.js';
import { momentText } from '../time.js';

const key = z.object({ keyId: z.string(), name: z.string(), createdAt: z.string(), lastUsedAt: z.string().optional() });

export const listKeys = defineCommand({
  arguments: ['companyId'],
  summary: 'list the keys of a company, without the keys themselves',
  example: 'relay keys list acme',
  run: async (session, { companyId }) => {
    const answer = await session.api.ask('GET', path`/admin/companies/${companyId}/keys`);
    session.show(answer, z.object({ keys: z.array(key) }), ({ keys }) =>
      table(
        keys,
        [
          { heading: 'KEY', cell: ({ keyId }) => keyId },
          { heading: 'NAME', cell: ({ name }) => name },
          { heading: 'MADE', cell: ({ createdAt }) => momentText(createdAt) },
          { heading: 'LAST USED', cell: ({ lastUsedAt }) => momentText(lastUsedAt ?? '') },
        ],
        session.terminal.columns,
      ),
    );
  },
});

export const createKey = defineCommand({
  arguments: ['companyId'],
  options: { name: { type: 'string', value: 'name', help: 'who or what uses it (needed)' } },
  summary: 'make a key, and show it, once',
  example: 'relay keys create acme --name console',
  run: async (session, { companyId }, { name }) => {
    if (name === undefined) throw new UsageError('A key needs a --name');
    const answer = await session.api.ask('POST', path`/admin/companies/${companyId}/keys`, { body: { name } });
    session.show(answer, key.extend({ key: z.string() }), (made) => [
      ...fields({ keyId: made.keyId, key: made.key }),
      '',
      `This is the only time that the key is shown. Whoever sets it as RELAY_KEY sees and steers the chains of company ${companyId}.`,
    ]);
  },
});

export const deleteKey = defineCommand({
  arguments: ['companyId', 'keyId'],
  options: confirmOptions,
  summary: 'delete a key',
  example: 'relay keys delete acme Xk2vQ9sLm4Tz --yes',
  run: async (session, { companyId, keyId }, { yes }) => {
    const target = path`/admin/companies/${companyId}/keys/${keyId}`;
    await session.confirm(yes, `Delete key ${keyId} of company ${companyId}?`);
    await session.api.ask('DELETE', target);
    session.print([`Key ${keyId} is deleted.`]);
  },
});
