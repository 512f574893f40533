/** `relay tokens`: the access tokens of a rule. */

import type { Command } from '@commander-js/extra-typings';
import { rotatedTokenResponse, tokensResponse } from '../../contract/credential.js';
import { path } from '../api.js';
import { UsageError } from '../exit-codes.js';
import { example, yesOption } from '../options.js';
import type { Session } from '../session.js';
import { fields } from '../table.js';
import { momentText, readDuration } from '../time.js';

const columns = { TOKEN: 'tokenId', STATE: 'state', MADE: 'createdAt', ENDS: 'expiresAt', 'LAST USED': 'lastUsedAt' } as const;

export function tokens(relay: Command, session: Session): void {
  const tokens = relay.command('tokens').summary('the access tokens of a rule');
  const tokensOf = (companyId: string, relayId: string) => path`/admin/companies/${companyId}/rules/${relayId}/tokens`;

  tokens
    .command('list <companyId> <relayId>', { isDefault: true })
    .summary('list the tokens of a rule, without the tokens themselves')
    .addHelpText(...example('relay tokens list acme 4711'))
    .action(async (companyId, relayId) => {
      const answer = await session.api.ask('GET', tokensOf(companyId, relayId), tokensResponse);
      session.show(answer, session.table(answer.body.tokens, columns));
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
      const answer = await session.api.ask('POST', tokensOf(companyId, relayId), rotatedTokenResponse, {
        body: { graceSeconds },
      });
      const end = new Date(Date.now() + graceSeconds * 1000).toISOString();
      session.show(answer, [
        ...fields(answer.body),
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
    .action((companyId, relayId, tokenId, { yes }) =>
      session.delete(
        `${tokensOf(companyId, relayId)}${path`/${tokenId}`}`,
        yes,
        `Revoke token ${tokenId} of rule ${relayId} of company ${companyId}?`,
        `Token ${tokenId} is revoked.`,
      ),
    );
}
