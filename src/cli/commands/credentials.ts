/** `relay tokens`, `keys` and `admin-tokens`: what opens a rule to its webhooks, a company to its people, all to operators. */

import { Option } from '@commander-js/extra-typings';
import {
  adminTokensResponse,
  createdAdminTokenResponse,
  createdKeyResponse,
  keysResponse,
  type Role,
  roles,
  rotatedTokenResponse,
  tokensResponse,
} from '../../contract/credential.js';
import { path } from '../api.js';
import { type Commands, command, yesOption } from '../options.js';
import { UsageError } from '../terminal.js';
import { fields, momentText, readDuration, readMoment } from '../text.js';

const expiresOption = new Option('--expires <time>', 'when it ends: 2026-07-01T12:00:00Z, or 90d from now').argParser((text) =>
  readMoment(text, 'ahead'),
);
/** What the holder of a key may do, before the company. */
const may: Record<Role, string> = {
  read: 'sees the chains of',
  steer: 'sees and steers the chains of',
  manage: 'sees and steers the chains, and changes rules, tokens, contacts, pauses and keys, of',
};

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
    .option('--grace <time>', 'how long the tokens before go on, such as 3600, 10m, 2d, or always; default: 0')
    .action((companyId, relayId, { grace = '0' }) => {
      const graceSeconds = grace === 'always' ? null : readDuration(grace);
      if (graceSeconds === undefined) throw new UsageError('--grace must be a time such as 3600, 10m or 2d, or always');
      const asked = session.api.ask('POST', tokensOf(companyId, relayId), rotatedTokenResponse, { body: { graceSeconds } });
      return session.show(asked, (token) => [
        ...fields(token),
        '',
        'This is the only time that the token is shown.',
        endOf(graceSeconds),
      ]);
    });

  command(tokens, 'revoke <companyId> <relayId> <tokenId>', 'acme 4711 Xk2vQ9sLm4Tz --yes', 'end a token at once')
    .addOption(yesOption)
    .action((companyId, relayId, tokenId, { yes }) => {
      const target = `${tokensOf(companyId, relayId)}${path`/${tokenId}`}`;
      return session.delete(target, yes, `token ${tokenId} of rule ${relayId} of company ${companyId}`, 'Revoke');
    });

  const keys = relay.command('keys').summary("a company's keys");
  const common = { MADE: 'createdAt', ENDS: 'expiresAt', 'LAST USED': 'lastUsedAt' } as const;
  const keyColumns = { KEY: 'keyId', NAME: 'name', ROLE: 'role', ...common } as const;

  command(keys, 'list <companyId>', 'acme', 'list the keys of a company, without the keys themselves').action((companyId) => {
    const asked = session.api.ask('GET', path`/admin/companies/${companyId}/keys`, keysResponse);
    return session.show(asked, ({ keys }) => session.table(keys, keyColumns));
  });

  command(keys, 'create <companyId>', 'acme --name console', 'make a key, and show it, once')
    .option('--name <name>', 'who or what uses it (needed)')
    .addOption(new Option('--role <role>', 'what it may do; default: steer').choices(roles))
    .addOption(expiresOption)
    .action((companyId, { name, role, expires: expiresAt }) => {
      if (name === undefined) throw new UsageError('A key needs a --name');
      const body = { name, role, expiresAt };
      const asked = session.api.ask('POST', path`/admin/companies/${companyId}/keys`, createdKeyResponse, { body });
      return session.show(asked, ({ keyId, key, role }) => [
        ...fields({ keyId, key }),
        '',
        'This is the only time that the key is shown.',
        `Whoever sets it as RELAY_KEY ${may[role]} company ${companyId}.`,
      ]);
    });

  command(keys, 'delete <companyId> <keyId>', 'acme Xk2vQ9sLm4Tz --yes', 'delete a key')
    .addOption(yesOption)
    .action((companyId, keyId, { yes }) =>
      session.delete(path`/admin/companies/${companyId}/keys/${keyId}`, yes, `key ${keyId} of company ${companyId}`),
    );

  const adminTokens = relay.command('admin-tokens').summary('the tokens of operators');

  command(adminTokens, 'list', '', 'list the tokens of operators, without the tokens themselves').action(() => {
    const asked = session.api.ask('GET', '/admin/tokens', adminTokensResponse);
    return session.show(asked, ({ adminTokens }) =>
      session.table(adminTokens, { TOKEN: 'adminTokenId', NAME: 'name', ...common }),
    );
  });

  command(adminTokens, 'create', '--name dana', 'make a token for an operator, and show it, once')
    .option('--name <name>', 'who uses it, as the audit log shows it (needed)')
    .addOption(expiresOption)
    .action(({ name, expires: expiresAt }) => {
      if (name === undefined) throw new UsageError('A token needs a --name');
      const asked = session.api.ask('POST', '/admin/tokens', createdAdminTokenResponse, { body: { name, expiresAt } });
      return session.show(asked, ({ adminTokenId, token }) => [
        ...fields({ adminTokenId, token }),
        '',
        'This is the only time that the token is shown.',
        'Whoever sets it as RELAY_ADMIN_TOKEN may do everything.',
      ]);
    });

  command(adminTokens, 'delete <adminTokenId>', 'Xk2vQ9sLm4Tz --yes', 'delete the token of an operator')
    .addOption(yesOption)
    .action((adminTokenId, { yes }) => session.delete(path`/admin/tokens/${adminTokenId}`, yes, `admin token ${adminTokenId}`));
};

function endOf(graceSeconds: number | null): string {
  if (graceSeconds === null) return 'The tokens before it go on until they are revoked.';
  if (graceSeconds === 0) return 'The tokens before it have ended.';
  return `The tokens before it end at ${momentText(new Date(Date.now() + graceSeconds * 1000).toISOString())}.`;
}
