/** `relay rejected`: requests that were refused although their sender is known. */

import { z } from 'zod';
import { path, problemSchema } from '../api.js';
import { defineCommand } from '../command.js';
import { problemLines } from '../explain.js';
import { listOptions, showList } from '../list.js';
import { fields, furtherColumns } from '../table.js';
import { momentText } from '../time.js';
import { showAccepted, waitOption } from './accepted.js';

const item = z.looseObject({
  rejectedId: z.string(),
  receivedAt: z.string(),
  reason: z.string(),
  relayIds: z.array(z.string()),
  problem: problemSchema,
});

export const listRejected = defineCommand({
  arguments: ['companyId'],
  options: listOptions,
  summary: 'list the rejected requests of a company, the newest first',
  example: 'relay rejected list acme',
  run: async (session, { companyId }, options) => {
    await showList(
      session,
      {
        path: path`/co/${companyId}/rejected`,
        field: 'items',
        item,
        columns: (items) => [
          { heading: 'REQUEST', cell: ({ rejectedId }) => rejectedId },
          { heading: 'RECEIVED', cell: ({ receivedAt }) => momentText(receivedAt) },
          { heading: 'REASON', cell: ({ reason }) => reason },
          { heading: 'RULES', cell: ({ relayIds }) => relayIds.join(', ') },
          ...furtherColumns(items, ['rejectedId', 'receivedAt', 'reason', 'relayIds', 'problem', 'companyId']),
          {
            heading: 'PROBLEM',
            cell: ({ problem }) => problem.detail || problem.title,
          },
        ],
        none: `Company ${companyId} has no rejected requests.`,
      },
      options,
    );
  },
});

export const showRejected = defineCommand({
  arguments: ['companyId', 'rejectedId'],
  summary: 'show a rejected request: what was wrong, and its actions',
  details: 'Tokens are not kept.',
  example: 'relay rejected show acme Xk2vQ9sLm4Tz',
  run: async (session, { companyId, rejectedId }) => {
    const answer = await session.api.ask('GET', path`/co/${companyId}/rejected/${rejectedId}`);
    const schema = z.looseObject({ rejectedId: z.string(), problem: problemSchema, elements: z.unknown() });
    session.show(answer, schema, ({ problem, elements, ...rest }) => [
      ...fields(rest),
      '',
      ...problemLines(problem),
      '',
      ...JSON.stringify(elements, null, 2).split('\n'),
      '',
      `Once that is put right: npx relay rejected resend ${companyId} ${rejectedId}`,
    ]);
  },
});

export const resendRejected = defineCommand({
  arguments: ['companyId', 'rejectedId'],
  options: waitOption,
  summary: 'send a rejected request again, once what was wrong is put right',
  details: 'Delays count from now.',
  example: 'relay rejected resend acme Xk2vQ9sLm4Tz',
  run: async (session, { companyId, rejectedId }, { wait }) => {
    const answer = await session.api.ask('POST', path`/co/${companyId}/rejected/${rejectedId}/resend`);
    return showAccepted(session, companyId, answer, wait);
  },
});
