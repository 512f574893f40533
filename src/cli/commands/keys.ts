/** `relay keys`: the named keys with which a company reads and steers its own chains. */

import type { Command } from '@commander-js/extra-typings';
import { createdKeyResponse, keysResponse } from '../../contract/credential.js';
import { path } from '../api.js';
import { UsageError } from '../exit-codes.js';
import { example, yesOption } from '../options.js';
import type { Session } from '../session.js';
import { fields } from '../table.js';

export function keys(relay: Command, session: Session): void {
  const keys = relay.command('keys').summary("a company's keys");

  keys
    .command('list <companyId>', { isDefault: true })
    .summary('list the keys of a company, without the keys themselves')
    .addHelpText(...example('relay keys list acme'))
    .action(async (companyId) => {
      const answer = await session.api.ask('GET', path`/admin/companies/${companyId}/keys`, keysResponse);
      const columns = { KEY: 'keyId', NAME: 'name', MADE: 'createdAt', 'LAST USED': 'lastUsedAt' } as const;
      session.show(answer, session.table(answer.body.keys, columns));
    });

  keys
    .command('create <companyId>')
    .summary('make a key, and show it, once')
    .option('--name <name>', 'who or what uses it (needed)')
    .addHelpText(...example('relay keys create acme --name console'))
    .action(async (companyId, { name }) => {
      if (name === undefined) throw new UsageError('A key needs a --name');
      const answer = await session.api.ask('POST', path`/admin/companies/${companyId}/keys`, createdKeyResponse, {
        body: { name },
      });
      session.show(answer, [
        ...fields({ keyId: answer.body.keyId, key: answer.body.key }),
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
      session.delete(
        path`/admin/companies/${companyId}/keys/${keyId}`,
        yes,
        `Delete key ${keyId} of company ${companyId}?`,
        `Key ${keyId} is deleted.`,
      ),
    );
}
