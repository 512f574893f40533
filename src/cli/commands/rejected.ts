/** `relay rejected`: requests that were refused although their sender is known. */

import { z } from 'zod';
import { acceptedSchema } from '../../contract/chain-resource.js';
import { rejectedListSchema, rejectedSchema, wholeRejectedSchema } from '../../contract/problem.js';
import { path } from '../api.js';
import { problemLines } from '../explain.js';
import { showAccepted } from '../follow.js';
import { type Commands, example, waitOption, withParts } from '../options.js';
import { type Columns, fields, furtherColumns } from '../text.js';

/** With whatever else the API tells of one. */
const item = rejectedSchema.loose();
const list = rejectedListSchema.extend({ items: z.array(item) });

export const rejected: Commands = (relay, session) => {
  const rejected = relay.command('rejected').summary('requests that were refused although their sender is known');

  withParts(rejected.command('list <companyId>', { isDefault: true }))
    .summary('list the rejected requests of a company, the newest first')
    .addHelpText(...example('relay rejected list acme'))
    .action((companyId, options) =>
      session.list(options, {
        path: path`/co/${companyId}/rejected`,
        field: 'items',
        schema: list,
        columns: (items): Columns<z.infer<typeof item>> => ({
          REQUEST: 'rejectedId',
          RECEIVED: 'receivedAt',
          REASON: 'reason',
          RULES: 'relayIds',
          ...furtherColumns(items, ['rejectedId', 'receivedAt', 'reason', 'relayIds', 'problem', 'companyId']),
          PROBLEM: ({ problem }) => problem.detail || problem.title,
        }),
        none: `Company ${companyId} has no rejected requests.`,
      }),
    );

  rejected
    .command('show <companyId> <rejectedId>')
    .summary('show a rejected request: what was wrong, and its actions')
    .description('Tokens are not kept.')
    .addHelpText(...example('relay rejected show acme Xk2vQ9sLm4Tz'))
    .action((companyId, rejectedId) => {
      const asked = session.api.ask('GET', path`/co/${companyId}/rejected/${rejectedId}`, wholeRejectedSchema.loose());
      return session.show(asked, ({ problem, elements, ...rest }) => [
        ...fields(rest),
        '',
        ...problemLines(problem),
        '',
        ...JSON.stringify(elements, null, 2).split('\n'),
        '',
        `Once that is put right: npx relay rejected resend ${companyId} ${rejectedId}`,
      ]);
    });

  rejected
    .command('resend <companyId> <rejectedId>')
    .summary('send a rejected request again, once what was wrong is put right')
    .description('Delays count from now.')
    .addOption(waitOption)
    .addHelpText(...example('relay rejected resend acme Xk2vQ9sLm4Tz'))
    .action((companyId, rejectedId, { wait }) => {
      const target = path`/co/${companyId}/rejected/${rejectedId}/resend`;
      return showAccepted(session, companyId, session.api.ask('POST', target, acceptedSchema), wait);
    });
};
