/** `relay tokens`: the tokens of rules. `relay keys`, `relay people`: the keys and people of a company. `relay admin-tokens`: the tokens of operators. */

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
import { peopleResponse, personSchema } from '../../contract/person.js';
import { path } from '../api.js';
import { type Commands, command, yesOption } from '../options.js';
import { UsageError } from '../terminal.js';
import { fields, momentText, readDuration, readMoment } from '../text.js';

const expiresOption = new Option('--expires <time>', 'the time of expiry: 2026-07-01T12:00:00Z, or 90d from now').argParser(
  (text) => readMoment(text, 'ahead'),
);
/** The words between `you can` and `company acme` in the output of `relay keys create`. */
const may: Record<Role, string> = {
  read: 'read the chains of',
  steer: 'read and steer the chains of',
  author: 'read and steer the chains, and write and publish the rules of',
  manage: 'read and steer the chains, and change the rules, tokens, contacts, pauses and keys of',
};

export const credentials: Commands = (relay, session) => {
  const tokens = relay.command('tokens').summary('the access tokens of a rule');
  const tokensOf = (companyId: string, relayId: string) => path`/admin/companies/${companyId}/rules/${relayId}/tokens`;
  const common = { CREATED: 'createdAt', EXPIRES: 'expiresAt', 'LAST USED': 'lastUsedAt' } as const;
  const tokenColumns = { TOKEN: 'tokenId', STATE: 'state', ...common } as const;
  const list = 'list the tokens of a rule; the secrets are not shown';
  command(tokens, 'list <companyId> <relayId>', 'acme 4711', list).action((companyId, relayId) => {
    const asked = session.api.ask('GET', tokensOf(companyId, relayId), tokensResponse);
    return session.show(asked, ({ tokens }) => session.table(tokens, tokenColumns));
  });

  command(tokens, 'rotate <companyId> <relayId>', 'acme 4711 --grace 1h', 'make a new token for a rule, and show it once')
    .description('The older tokens expire after --grace. Without --grace, they expire immediately.')
    .option('--grace <time>', 'the longest time that older tokens stay valid: 3600, 10m, 2d or always; default: 0')
    .action((companyId, relayId, { grace = '0' }) => {
      const graceSeconds = grace === 'always' ? null : readDuration(grace);
      if (graceSeconds === undefined) throw new UsageError('--grace must be a duration such as 3600, 10m or 2d, or always');
      const asked = session.api.ask('POST', tokensOf(companyId, relayId), rotatedTokenResponse, { body: { graceSeconds } });
      return session.show(asked, (token) => [...fields(token), '', 'The token is shown only now.', endOf(graceSeconds)]);
    });

  command(tokens, 'revoke <companyId> <relayId> <tokenId>', 'acme 4711 Xk2vQ9sLm4Tz --yes', 'revoke a token immediately')
    .addOption(yesOption)
    .action((companyId, relayId, tokenId, { yes }) => {
      const target = `${tokensOf(companyId, relayId)}${path`/${tokenId}`}`;
      return session.delete(target, yes, `token ${tokenId} of rule ${relayId} of company ${companyId}`, 'Revoke');
    });

  const keys = relay.command('keys').summary("a company's keys");
  const keyColumns = { KEY: 'keyId', NAME: 'name', ROLE: 'role', ...common } as const;

  command(keys, 'list <companyId>', 'acme', 'list the keys of a company; the secrets are not shown').action((companyId) => {
    const asked = session.api.ask('GET', path`/admin/companies/${companyId}/keys`, keysResponse);
    return session.show(asked, ({ keys }) => session.table(keys, keyColumns));
  });

  command(keys, 'create <companyId>', 'acme --name console', 'make a key, and show it once')
    .option('--name <name>', 'the person or program that uses the key (required)')
    .addOption(new Option('--role <role>', 'the permissions of the key; default: steer').choices(roles))
    .addOption(expiresOption)
    .action((companyId, { name, role, expires: expiresAt }) => {
      if (name === undefined) throw new UsageError('A key needs a --name');
      const body = { name, role, expiresAt };
      const asked = session.api.ask('POST', path`/admin/companies/${companyId}/keys`, createdKeyResponse, { body });
      return session.show(asked, ({ keyId, key, role }) => [
        ...fields({ keyId, key }),
        '',
        'The key is shown only now.',
        `With this key in RELAY_KEY you can ${may[role]} company ${companyId}.`,
      ]);
    });

  command(keys, 'delete <companyId> <keyId>', 'acme Xk2vQ9sLm4Tz --yes', 'delete a key')
    .addOption(yesOption)
    .action((companyId, keyId, { yes }) =>
      session.delete(path`/admin/companies/${companyId}/keys/${keyId}`, yes, `key ${keyId} of company ${companyId}`),
    );

  const people = relay.command('people').summary('the people who can sign in to a company without a key');
  const peopleOf = (companyId: string) => path`/admin/companies/${companyId}/people`;
  const personColumns = { PERSON: 'personId', NAME: 'name', 'E-MAIL': 'email', ROLE: 'role', 'LAST USED': 'lastUsedAt' } as const;

  command(people, 'list <companyId>', 'acme', 'list the people of a company').action((companyId) => {
    const asked = session.api.ask('GET', peopleOf(companyId), peopleResponse);
    return session.show(asked, ({ people }) => session.table(people, personColumns));
  });

  command(people, 'set <companyId> <email>', 'acme ada@acme.example --role steer', 'add a person, or change a role')
    .option('--name <name>', 'the name for the audit log; default: the part of the address before the @')
    .addOption(new Option('--role <role>', 'the permissions of the person (required)').choices(roles))
    .action((companyId, email, { name, role }) => {
      if (role === undefined) throw new UsageError('A person needs a --role');
      const asked = session.api.ask('PUT', peopleOf(companyId), personSchema, { body: { email, name, role } });
      return session.show(asked, ({ personId, name, email, role }) => fields({ personId, name, email, role }));
    });

  const remove = 'remove a person, and end the sessions of the person';
  command(people, 'delete <companyId> <personId>', 'acme Xk2vQ9sLm4Tz --yes', remove)
    .addOption(yesOption)
    .action((companyId, personId, { yes }) =>
      session.delete(`${peopleOf(companyId)}${path`/${personId}`}`, yes, `person ${personId} of company ${companyId}`),
    );

  const adminTokens = relay.command('admin-tokens').summary('the tokens of operators');
  const adminColumns = { TOKEN: 'adminTokenId', NAME: 'name', ...common } as const;

  command(adminTokens, 'list', '', 'list the tokens of operators; the secrets are not shown').action(() => {
    const asked = session.api.ask('GET', '/admin/tokens', adminTokensResponse);
    return session.show(asked, ({ adminTokens }) => session.table(adminTokens, adminColumns));
  });

  command(adminTokens, 'create', '--name dana', 'make a token for an operator, and show it once')
    .option('--name <name>', 'the name of the operator, for the audit log (required)')
    .addOption(expiresOption)
    .action(({ name, expires: expiresAt }) => {
      if (name === undefined) throw new UsageError('A token needs a --name');
      const asked = session.api.ask('POST', '/admin/tokens', createdAdminTokenResponse, { body: { name, expiresAt } });
      return session.show(asked, ({ adminTokenId, token }) => [
        ...fields({ adminTokenId, token }),
        '',
        'The token is shown only now.',
        'With this token in RELAY_ADMIN_TOKEN you can do everything.',
      ]);
    });

  command(adminTokens, 'delete <adminTokenId>', 'Xk2vQ9sLm4Tz --yes', 'delete the token of an operator')
    .addOption(yesOption)
    .action((adminTokenId, { yes }) => session.delete(path`/admin/tokens/${adminTokenId}`, yes, `admin token ${adminTokenId}`));
};

function endOf(graceSeconds: number | null): string {
  if (graceSeconds === null) return 'The expiry of the older tokens does not change.';
  if (graceSeconds === 0) return 'The older tokens have expired.';
  return `The older tokens expire at the latest at ${momentText(new Date(Date.now() + graceSeconds * 1000).toISOString())}.`;
}
