/** `relay tokens` and `relay keys`: what opens a rule to its webhooks, and the chains of a company to people. */

import { createdKeyResponse, keysResponse, rotatedTokenResponse, tokensResponse } from '../../contract/credential.js';
import { path } from '../api.js';
import { type Commands, command, yesOption } from '../options.js';
import { UsageError } from '../terminal.js';
import { fields, momentText, readDuration } from '../text.js';

export const credentials: Commands = (relay, session) => {
  const tokens = relay.command('tokens').summary('the access tokens of a rule');
  const tokensOf = (companyId: string, relayId: string) => path`/admin/companies/${companyId}/rules/${relayId}/tokens`;
  const tokenColumns = {
    TOKEN: 'tokenId',
    STATE: 'state',
    MADE: 'createdAt',
    ENDS: 'expiresAt',
    'LAST USED': 'lastUsedAt',
  } as const;

  const list = 'list the tokens of a rule, without the tokens themselves';
  command(tokens, 'list <companyId> <relayId>', 'acme 4711', list).action((companyId, relayId) => {
    const asked = session.api.ask('GET', tokensOf(companyId, relayId), tokensResponse);
    return session.show(asked, ({ tokens }) => session.table(tokens, tokenColumns));
  });

  command(tokens, 'rotate <companyId> <relayId>', 'acme 4711 --grace 1h', 'make a new token for a rule, and show it, once')
    .description('The tokens before it end after --grace, or at once.')
    .option('--grace <time>', 'how long the tokens before go on, such as 3600, 10m, 2d; default: 0')
    .action((companyId, relayId, { grace = '0' }) => {
      const graceSeconds = readDuration(grace);
      if (graceSeconds === undefined) throw new UsageError('--grace must be a time such as 3600, 10m or 2d');
      const asked = session.api.ask('POST', tokensOf(companyId, relayId), rotatedTokenResponse, { body: { graceSeconds } });
      const end = new Date(Date.now() + graceSeconds * 1000).toISOString();
      return session.show(asked, (token) => [
        ...fields(token),
        '',
        'This is the only time that the token is shown.',
        graceSeconds === 0 ? 'The tokens before it have ended.' : `The tokens before it end at ${momentText(end)}.`,
      ]);
    });

  command(tokens, 'revoke <companyId> <relayId> <tokenId>', 'acme 4711 Xk2vQ9sLm4Tz --yes', 'end a token at once')
    .addOption(yesOption)
    .action((companyId, relayId, tokenId, { yes }) => {
      const target = `${tokensOf(companyId, relayId)}${path`/${tokenId}`}`;
      return session.delete(target, yes, `token ${tokenId} of rule ${relayId} of company ${companyId}`, 'Revoke');
    });

  const keys = relay.command('keys').summary("a company's keys");
  const keyColumns = { KEY: 'keyId', NAME: 'name', MADE: 'createdAt', 'LAST USED': 'lastUsedAt' } as const;

  command(keys, 'list <companyId>', 'acme', 'list the keys of a company, without the keys themselves').action((companyId) => {
    const asked = session.api.ask('GET', path`/admin/companies/${companyId}/keys`, keysResponse);
    return session.show(asked, ({ keys }) => session.table(keys, keyColumns));
  });

  command(keys, 'create <companyId>', 'acme --name console', 'make a key, and show it, once')
    .option('--name <name>', 'who or what uses it (needed)')
    .action((companyId, { name }) => {
      if (name === undefined) throw new UsageError('A key needs a --name');
      const asked = session.api.ask('POST', path`/admin/companies/${companyId}/keys`, createdKeyResponse, { body: { name } });
      return session.show(asked, ({ keyId, key }) => [
        ...fields({ keyId, key }),
        '',
        'This is the only time that the key is shown.',
        `Whoever sets it as RELAY_KEY sees and steers the chains of company ${companyId}.`,
      ]);
    });

  command(keys, 'delete <companyId> <keyId>', 'acme Xk2vQ9sLm4Tz --yes', 'delete a key')
    .addOption(yesOption)
    .action((companyId, keyId, { yes }) =>
      session.delete(path`/admin/companies/${companyId}/keys/${keyId}`, yes, `key ${keyId} of company ${companyId}`),
    );
};
