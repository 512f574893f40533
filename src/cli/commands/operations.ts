/**
 * `relay pause`, `unpause`, `pauses`, `notices test`, `audit`, `encryption`, `health`: what whoever runs a relay, or a company on it, does and
 * asks.
 */

import { Option } from '@commander-js/extra-typings';
import { z } from 'zod';
import { pausable } from '../../chain/pause.js';
import { actorName, auditResponse } from '../../contract/audit.js';
import { endedPausesResponse, pausesResponse } from '../../contract/company.js';
import { type EncryptionStatus, encryptionProgressSchema, encryptionStatusSchema } from '../../contract/encryption.js';
import { noticeTestResponse } from '../../contract/notify.js';
import { path } from '../api.js';
import { type Commands, command, withParts } from '../options.js';
import { exitCodes } from '../terminal.js';
import { fields, flatten, momentFromNow, readMoment } from '../text.js';

const whatOption = new Option('--what <what>', `one of ${pausable.join(', ')}`);

export const operations: Commands = (relay, session) => {
  const pauseOf = (companyId: string) => path`/admin/companies/${companyId}/pause`;

  const example = 'acme --what platform --reason "new version" --until 2h';
  command(relay, 'pause <companyId>', example, 'let the actions of a company wait, for planned downtime')
    .description('Without --what everything. What waits goes on in order afterwards; nothing is lost, and no time runs out.')
    .addOption(whatOption)
    .option('--reason <words>', 'for those who wonder why their actions wait')
    .option('--until <time>', 'when it ends by itself: 2026-07-01T12:00:00Z, or 2h from now', (text) => readMoment(text, 'ahead'))
    .action((companyId, body) => showPauses(companyId, 'PUT', body));

  command(relay, 'unpause <companyId>', 'acme', 'end a pause; without --what, whatever is paused')
    .addOption(whatOption)
    .action((companyId, { what }) => {
      const asked = session.api.ask('DELETE', pauseOf(companyId), endedPausesResponse, {
        query: { what },
        nextStep: ({ status }) => (status === 404 ? `See what is paused: npx relay pauses ${companyId}` : undefined),
      });
      return session.show(asked, ({ ended }) => [`No longer paused: ${ended.join(', ')}. What waits goes on now.`]);
    });

  command(relay, 'pauses <companyId>', 'acme', 'show what is paused').action((companyId) => showPauses(companyId, 'GET'));

  const notices = relay.command('notices').summary('whether notices arrive');
  command(notices, 'test <companyId>', 'acme --rule 4711', 'send a test notice to every contact, and tell where it arrived')
    .description('It takes the way of real notices, through a worker. Exit code 1 where it did not arrive everywhere.')
    .option('--rule <relayId>', 'whose own contacts get it as well')
    .action(async (companyId, { rule }) => {
      const answer = await session.api.ask('POST', path`/admin/companies/${companyId}/notices/test`, noticeTestResponse, {
        body: { relayId: rule },
        nextStep: ({ status }) => (status === 503 ? 'See what is not running: npx relay health.' : undefined),
      });
      const { contacts } = answer.body;
      const nobody = `Nobody would be told. Name somebody: npx relay companies set ${companyId} --notify-email <address>`;
      const lines = contacts.map(
        ({ contact, delivered, error = '' }) => `${contact}: ${delivered ? 'delivered' : `not delivered: ${error}`}`,
      );
      if (contacts.length === 0 || contacts.some(({ delivered }) => !delivered)) session.exitCode = exitCodes.refused;
      await session.show(answer, () => (contacts.length === 0 ? [nobody] : lines));
    });

  const summary = 'list who changed or steered what, the newest first';
  withParts(command(relay, 'audit [companyId]', 'acme --limit 20', summary)).action((companyId, options) =>
    session.list(options, {
      path: companyId === undefined ? '/admin/audit' : path`/admin/companies/${companyId}/audit`,
      field: 'entries',
      schema: auditResponse,
      columns: {
        WHEN: 'at',
        WHO: ({ actor }) => actorName(actor),
        DID: 'action',
        COMPANY: 'companyId',
        DETAILS: ({ details }) => Array.from(flatten(details), (pair) => pair.join(' ')).join(', '),
      },
      none: 'Nothing was done yet.',
    }),
  );

  const encryption = relay.command('encryption').summary('the keys that the store is encrypted with');
  const rowsOf = ({ keys, rows }: EncryptionStatus) => [
    ...(keys.length === 0 ? ['RELAY_ENCRYPTION_KEYS is not set: what is written is stored in clear.'] : []),
    ...keys.map((keyId, place) => `Key ${keyId} ${place === 0 ? 'encrypts and decrypts' : 'decrypts'}.`),
    '',
    ...session.table(rows, {
      TABLE: 'table',
      KEY: ({ keyId = '(in clear)' }) => (keyId === '(in clear)' || keys.includes(keyId) ? keyId : `${keyId} (is missing)`),
      ROWS: ({ rows }) => String(rows),
    }),
  ];

  command(encryption, 'status', '', 'tell with which keys the store is encrypted').action(() =>
    session.show(session.api.ask('GET', '/admin/encryption', encryptionStatusSchema), (status) => [
      ...rowsOf(status),
      ...(status.left > 0 ? ['', `${status.left} rows are left for: npx relay encryption rotate`] : []),
    ]),
  );

  command(encryption, 'rotate', '', 'encrypt everything in the store with the first key of RELAY_ENCRYPTION_KEYS')
    .description('It can be stopped and begun again at any time. Exit code 1 where rows are left.')
    .action(async () => {
      for (let total = 0; ; ) {
        const answer = await session.api.ask('POST', '/admin/encryption/rotate', encryptionProgressSchema);
        const { rotated, left, unreadable } = answer.body;
        total += rotated;
        if (left > 0 && rotated > 0) {
          session.note(`${total} rows encrypted, ${left} left`);
          continue;
        }
        if (left > 0) session.exitCode = exitCodes.refused;
        const advice = left > 0 && unreadable.length === 0 ? ['Begin again where rows were being written.'] : unreadable;
        return session.show(answer, (status) => [`${total} rows encrypted, ${left} left.`, ...advice, '', ...rowsOf(status)]);
      }
    });

  command(relay, 'health', '', 'tell whether the relay reaches what it needs')
    .description('Exit code 1 where it does not.')
    .action(async () => {
      const { api } = session;
      const answer = await api.ask('GET', '/readyz', z.looseObject({ status: z.string() }), { bearer: false, alsoAnswer: 503 });
      if (answer.status === 503) session.exitCode = exitCodes.refused;
      await session.show(answer, (body) => [`The relay at ${api.address.url}:`, ...fields(body, '  ')]);
    });

  function showPauses(companyId: string, method: 'GET' | 'PUT', body?: object): Promise<void> {
    return session.show(session.api.ask(method, pauseOf(companyId), pausesResponse, { body }), ({ pauses }) => {
      if (pauses.length === 0) return ['Nothing is paused.'];
      const lines = session.table(pauses, {
        PAUSED: 'what',
        SINCE: ({ since }) => momentFromNow(since),
        UNTIL: ({ until }) => (until === undefined ? 'somebody ends it' : momentFromNow(until)),
        REASON: 'reason',
      });
      return [...lines, '', `To see what waits: npx relay chains list ${companyId} --paused`];
    });
  }
};
