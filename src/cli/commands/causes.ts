/** `relay causes`: for which reasons chains need attention, and who sees to them. */

import { type CauseResource, causeSchema, causesResponse, wholeCauseResponse } from '../../contract/causes.js';
import { path } from '../api.js';
import { type Commands, command, withParts } from '../options.js';
import { UsageError } from '../terminal.js';
import { fields, type Line, line, momentFromNow, readDuration } from '../text.js';

export const causes: Commands = (relay, session) => {
  const causes = relay.command('causes').summary('for which reasons chains need attention, and who sees to them');
  const example = 'acme 4f0f5dc373404496';

  withParts(
    command(causes, 'list <companyId>', 'acme', 'list why chains need attention: what is held first, then what is over'),
  ).action((companyId, options) =>
    session.list(options, {
      path: path`/co/${companyId}/causes`,
      field: 'items',
      schema: causesResponse,
      columns: {
        CAUSE: 'causeId',
        CHAINS: 'chains',
        REASON: 'reason',
        SINCE: 'since',
        LAST: 'lastAt',
        OVER: 'endedAt',
        'TAKEN BY': 'takenBy',
        'SILENT UNTIL': silence,
        WHAT: 'message',
      },
      none: `No chain of company ${companyId} needs attention.`,
    }),
  );

  command(
    causes,
    'show <companyId> <causeId>',
    example,
    'show a cause, and the first actions that are or were held for it',
  ).action((companyId, causeId) =>
    session.show(session.api.ask('GET', pathOf(companyId, causeId), wholeCauseResponse), ({ items, nextCursor, ...cause }) => [
      ...fields(cause),
      '',
      ...session.table(items, {
        CHAIN: 'chainId',
        ACTION: ({ index }) => String(index),
        RULE: 'relayId',
        ASSIGNMENT: 'assignmentId',
        HELD: 'since',
        OVER: 'endedAt',
        'FAILS AT': ({ endedAt, heldUntil = '' }) => (endedAt === undefined ? momentFromNow(heldUntil) : ''),
      }),
      ...(nextCursor === undefined ? [] : ['…']),
      ...(cause.actions > 0 ? ['', `Once that is put right: npx relay bulk retry ${companyId} --cause ${causeId}`] : []),
    ]),
  );

  command(causes, 'take <companyId> <causeId>', example, 'say that you see to it')
    .description('In the name of the key or admin token. Others cannot take it until it is released.')
    .action((companyId, causeId) => decide(companyId, causeId, 'take'));
  command(causes, 'release <companyId> <causeId>', example, 'leave it to others').action((companyId, causeId) =>
    decide(companyId, causeId, 'release'),
  );
  command(causes, 'silence <companyId> <causeId> <time>', `${example} 4h`, 'tell nobody of what is held for it anew, for a while')
    .description('For so long from now: 30m, 4h; 24h at most; 0 ends it. What ends for want of a decision is told all the same.')
    .action((companyId, causeId, time) => {
      const seconds = readDuration(time);
      if (seconds === undefined) throw new UsageError(`${time} is no length of time: write 30m, or 4h`);
      return decide(companyId, causeId, 'silence', { seconds });
    });

  function decide(companyId: string, causeId: string, verb: 'take' | 'release' | 'silence', body: object = {}): Promise<void> {
    return session.show(
      session.api.ask('POST', `${pathOf(companyId, causeId)}/${verb}`, causeSchema, { body }),
      (cause): Line[] => [
        line`${cause.reason} in ${String(cause.chains)} chains: ${cause.takenBy ? `taken by ${cause.takenBy}` : 'nobody sees to it'}.`,
        ...(silence(cause) === '' ? [] : [`Nobody is told of more until ${silence(cause)}.`]),
      ],
    );
  }
};

const pathOf = (companyId: string, causeId: string) => path`/co/${companyId}/causes/${causeId}`;

function silence({ silencedUntil }: CauseResource): string {
  return silencedUntil !== undefined && Date.parse(silencedUntil) > Date.now() ? momentFromNow(silencedUntil) : '';
}
