/** `relay causes`: why chains need attention, and who works on each cause. */

import { causeFailure } from '../../chain/failure-words.js';
import { type CauseResource, causeSchema, causesResponse, type RefusedCause, wholeCauseResponse } from '../../contract/causes.js';
import { path } from '../api.js';
import { type Commands, command, withParts } from '../options.js';
import { UsageError } from '../terminal.js';
import { fields, type Line, line, momentFromNow, readDuration } from '../text.js';

export const causes: Commands = (relay, session) => {
  const causes = relay.command('causes').summary('why chains need attention, and who works on each cause');
  const example = 'acme 4f0f5dc373404496';
  const list = 'list current causes, then past causes, then refused requests';
  withParts(command(causes, 'list <companyId>', 'acme', list)).action((companyId, options) =>
    session.list(options, {
      path: path`/co/${companyId}/causes`,
      field: 'items',
      schema: causesResponse,
      columns: {
        CAUSE: 'causeId',
        CHAINS: 'chains',
        ASSIGNMENTS: 'assignments',
        REASON: 'reason',
        SINCE: 'since',
        LAST: 'lastAt',
        ENDED: 'endedAt',
        'TAKEN BY': 'takenBy',
        'SILENT UNTIL': silence,
        WHAT: (cause) => causeFailure(cause).title,
      },
      none: `No chain of company ${companyId} needs attention.`,
      below: ({ refused }) => refusedLines(companyId, refused),
    }),
  );

  command(causes, 'show <companyId> <causeId>', example, 'show a cause and its first actions').action((companyId, causeId) =>
    session.show(session.api.ask('GET', pathOf(companyId, causeId), wholeCauseResponse), ({ items, nextCursor, ...cause }) => [
      ...fields(cause),
      '',
      ...session.table(items, {
        CHAIN: 'chainId',
        ACTION: ({ index }) => String(index),
        RULE: 'relayId',
        ASSIGNMENT: 'assignmentId',
        SINCE: 'since',
        ENDED: 'endedAt',
        'FAILS AT': ({ endedAt, heldUntil = '' }) => (endedAt === undefined ? momentFromNow(heldUntil) : ''),
      }),
      ...(nextCursor === undefined ? [] : ['…']),
      ...(cause.actions > 0 ? ['', `When the cause is fixed: npx relay bulk retry ${companyId} --cause ${causeId}`] : []),
    ]),
  );

  command(causes, 'take <companyId> <causeId>', example, 'tell others that you work on a cause')
    .description(
      'Others see the name of your key or admin token. They cannot take the cause until somebody releases the cause, or until an hour after its end.',
    )
    .action((companyId, causeId) => decide(companyId, causeId, 'take'));
  command(causes, 'release <companyId> <causeId>', example, 'release a cause, so that others can take it').action(
    (companyId, causeId) => decide(companyId, causeId, 'release'),
  );
  command(causes, 'silence <companyId> <causeId> <time>', `${example} 4h`, 'stop notices about a cause for a while')
    .description(
      'The time is a duration from now, such as 30m or 4h; the maximum is 24h. With 0, notices start again. If nobody decides about an action ' +
        'in time, the action fails, and the relay still sends the notice about this failure.',
    )
    .action((companyId, causeId, time) => {
      const seconds = readDuration(time);
      if (seconds === undefined) throw new UsageError(`${time} is not a duration: write 30m, or 4h`);
      return decide(companyId, causeId, 'silence', { seconds });
    });

  function refusedLines(companyId: string, refused: readonly RefusedCause[]): Line[] {
    const [newest] = refused;
    if (!newest) return [];
    const table = session.table(refused, {
      REFUSED: ({ requests }) => String(requests),
      REASON: 'reason',
      RULE: 'relayId',
      MISTAKE: 'mistake',
      SINCE: 'since',
      LAST: 'lastAt',
      REPEATS: ({ repeats }) => (repeats > 0 ? String(repeats) : ''),
      'NOT KEPT': ({ notKept }) => (notKept > 0 ? String(notKept) : ''),
      NEWEST: 'rejectedId',
      WHAT: 'message',
    });
    const next = `Show the newest request: npx relay rejected show ${companyId} ${newest.rejectedId}`;
    return ['Refused requests that nobody has sent again or dropped:', ...table, '', next];
  }

  function decide(companyId: string, causeId: string, verb: 'take' | 'release' | 'silence', body: object = {}): Promise<void> {
    const asked = session.api.ask('POST', `${pathOf(companyId, causeId)}/${verb}`, causeSchema, { body });
    return session.show(asked, (cause): Line[] => [
      line`${cause.reason} in ${String(cause.chains)} chains: ${cause.takenBy ? `taken by ${cause.takenBy}` : 'nobody has taken the cause'}.`,
      ...(silence(cause) === '' ? [] : [`No notices until ${silence(cause)}.`]),
    ]);
  }
};

const pathOf = (companyId: string, causeId: string) => path`/co/${companyId}/causes/${causeId}`;

function silence({ silencedUntil }: CauseResource): string {
  return silencedUntil !== undefined && Date.parse(silencedUntil) > Date.now() ? momentFromNow(silencedUntil) : '';
}
