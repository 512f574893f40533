/** `relay tokens` and `relay keys`: what opens a rule to its webhooks, and the chains of a company to people. */

import { createdKeyResponse, keysResponse, rotatedTokenResponse, tokensResponse } from '../../contract/credential.js';
import { path } from '../api.js';
import { type Commands, example, yesOption } from '../options.js';
import { UsageError } from '../terminal.js';
import { fields } from '../text.js';
import { momentText, readDuration } from '../time.js';

const tokenColumns = {
  TOKEN: 'tokenId',
  STATE: 'state',
  MADE: 'createdAt',
  ENDS: 'expiresAt',
  'LAST USED': 'lastUsedAt',
} as const;
const keyColumns = { KEY: 'keyId', NAME: 'name', MADE: 'createdAt', 'LAST USED': 'lastUsedAt' } as const;

export const tokens: Commands = (relay, session) => {
  const tokens = relay.command('tokens').summary('the access tokens of a rule');
  const tokensOf = (companyId: string, relayId: string) => path`/admin/companies/${companyId}/rules/${relayId}/tokens`;

  tokens
    .command('list <companyId> <relayId>', { isDefault: true })
    .summary('list the tokens of a rule, without the tokens themselves')
    .addHelpText(...example('relay tokens list acme 4711'))
    .action((companyId, relayId) => {
      const asked = session.api.ask('GET', tokensOf(companyId, relayId), tokensResponse);
      return session.show(asked, ({ tokens }) => session.table(tokens, tokenColumns));
    });

  tokens
    .command('rotate <companyId> <relayId>')
    .summary('make a new token for a rule, and show it, once')
    .description('The tokens before it end after --grace, or at once.')
    .option('--grace <time>', 'how long the tokens before go on, such as 3600, 10m, 2d; default: 0')
    .addHelpText(...example('relay tokens rotate acme 4711 --grace 1h'))
    .action(async (companyId, relayId, { grace = '0' }) => {
      const graceSeconds = readDuration(grace);
      if (graceSeconds === undefined) throw new UsageError('--grace must be a time such as 3600, 10m or 2d');
      const body = { graceSeconds };
      const end = new Date(Date.now() + graceSeconds * 1000).toISOString();
      await session.show(session.api.ask('POST', tokensOf(companyId, relayId), rotatedTokenResponse, { body }), (token) => [
        ...fields(token),
        '',
        'This is the only time that the token is shown.',
        graceSeconds === 0 ? 'The tokens before it have ended.' : `The tokens before it end at ${momentText(end)}.`,
      ]);
    });

  tokens
    .command('revoke <companyId> <relayId> <tokenId>')
    .summary('end a token at once')
    .addOption(yesOption)
    .addHelpText(...example('relay tokens revoke acme 4711 Xk2vQ9sLm4Tz --yes'))
    .action((companyId, relayId, tokenId, { yes }) => {
      const target = `${tokensOf(companyId, relayId)}${path`/${tokenId}`}`;
      return session.delete(target, yes, `token ${tokenId} of rule ${relayId} of company ${companyId}`, 'Revoke');
    });
};

export const keys: Commands = (relay, session) => {
  const keys = relay.command('keys').summary("a company's keys");

  keys
    .command('list <companyId>', { isDefault: true })
    .summary('list the keys of a company, without the keys themselves')
    .addHelpText(...example('relay keys list acme'))
    .action((companyId) => {
      const asked = session.api.ask('GET', path`/admin/companies/${companyId}/keys`, keysResponse);
      return session.show(asked, ({ keys }) => session.table(keys, keyColumns));
    });

  keys
    .command('create <companyId>')
    .summary('make a key, and show it, once')
    .option('--name <name>', 'who or what uses it (needed)')
    .addHelpText(...example('relay keys create acme --name console'))
    .action(async (companyId, { name }) => {
      if (name === undefined) throw new UsageError('A key needs a --name');
      const made = session.api.ask('POST', path`/admin/companies/${companyId}/keys`, createdKeyResponse, { body: { name } });
      await session.show(made, ({ keyId, key }) => [
        ...fields({ keyId, key }),
        '',
        'This is the only time that the key is shown.',
        `Whoever sets it as RELAY_KEY sees and steers the chains of company ${companyId}.`,
      ]);
    });

  keys
    .command('delete <companyId> <keyId>')
    .summary('delete a key')
    .addOption(yesOption)
    .addHelpText(...example('relay keys delete acme Xk2vQ9sLm4Tz --yes'))
    .action((companyId, keyId, { yes }) =>
      session.delete(path`/admin/companies/${companyId}/keys/${keyId}`, yes, `key ${keyId} of company ${companyId}`),
    );
};
