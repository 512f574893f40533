/** Commands for operators and company managers: `relay pause`, `unpause`, `pauses`, `notices`, `audit`, `encryption`, `health`. */

import { Option } from '@commander-js/extra-typings';
import { z } from 'zod';
import { pausable } from '../../chain/pause.js';
import { actorName, auditResponse } from '../../contract/audit.js';
import { endedPausesResponse, pausesResponse } from '../../contract/company.js';
import { type EncryptionStatus, encryptionProgressSchema, encryptionStatusSchema } from '../../contract/encryption.js';
import { contactsResponse, noticeTestResponse } from '../../contract/notify.js';
import { path } from '../api.js';
import { type Commands, command, withParts } from '../options.js';
import { exitCodes } from '../terminal.js';
import { fields, flatten, momentFromNow, readMoment } from '../text.js';

const whatOption = new Option('--what <what>', `one of ${pausable.join(', ')}`);

export const operations: Commands = (relay, session) => {
  const pauseOf = (companyId: string) => path`/admin/companies/${companyId}/pause`;
  const example = 'acme --what platform --reason "new version" --until 2h';
  command(relay, 'pause <companyId>', example, 'pause the actions of a company, for planned downtime')
    .description(
      'Without --what, the command pauses everything. After the pause, the actions continue in order, and nothing is lost. The ' +
        'time for a decision does not include the pause.',
    )
    .addOption(whatOption)
    .option('--reason <words>', 'the reason for the pause; every waiting action shows the reason')
    .option('--until <time>', 'when the pause ends automatically: 2026-07-01T12:00:00Z, or 2h (in two hours)', (text) =>
      readMoment(text, 'ahead'),
    )
    .action((companyId, body) => showPauses(companyId, 'PUT', body));

  command(relay, 'unpause <companyId>', 'acme', 'end a pause; without --what, end all pauses')
    .description('Delayed actions that became due during the pause keep the original intervals between them.')
    .addOption(whatOption)
    .option('--run-overdue-now', 'run overdue actions immediately, without the intervals between them')
    .action((companyId, { what, runOverdueNow }) => {
      const asked = session.api.ask('DELETE', pauseOf(companyId), endedPausesResponse, {
        query: { what, overdue: runOverdueNow && 'now' },
        nextStep: ({ status }) => (status === 404 ? `List the pauses: npx relay pauses ${companyId}` : undefined),
      });
      return session.show(asked, ({ ended }) => [`No longer paused: ${ended.join(', ')}. The waiting actions continue now.`]);
    });

  const list = 'list the pauses of a company';
  command(relay, 'pauses <companyId>', 'acme', list).action((companyId) => showPauses(companyId, 'GET'));

  const notices = relay.command('notices').summary('who gets notices, and whether the notices arrive');
  command(notices, 'contacts <companyId>', 'acme', 'list the contacts, and mark the contacts that have not confirmed yet')
    .description('A contact that has not confirmed gets only the first notice of each cause, with a link to confirm.')
    .action(async (companyId) => {
      const answer = await session.api.ask('GET', path`/admin/companies/${companyId}/contacts`, contactsResponse);
      await session.show(answer, ({ contacts }) =>
        contacts.map(({ contact, relayId, confirmed }) => {
          const rule = relayId === undefined ? '' : ` (rule ${relayId})`;
          return `${contact}${rule}${confirmed ? '' : ': NOT CONFIRMED YET'}`;
        }),
      );
    });

  command(notices, 'test <companyId>', 'acme --rule 4711', 'send a test notice to every contact, and show who got the notice')
    .description(
      'A worker sends the test like a real notice. The exit code is 1 if a contact did not get the test, or if there is no contact.',
    )
    .option('--rule <relayId>', 'also send the test to the contacts of this rule')
    .action(async (companyId, { rule }) => {
      const answer = await session.api.ask('POST', path`/admin/companies/${companyId}/notices/test`, noticeTestResponse, {
        body: { relayId: rule },
        nextStep: ({ status }) => (status === 503 ? 'Check what does not run: npx relay health.' : undefined),
      });
      const { contacts } = answer.body;
      const nobody = `There is no contact. Add one: npx relay companies set ${companyId} --notify-email <address>`;
      const lines = contacts.map(
        ({ contact, delivered, error = '' }) => `${contact}: ${delivered ? 'delivered' : `not delivered: ${error}`}`,
      );
      if (contacts.length === 0 || contacts.some(({ delivered }) => !delivered)) session.exitCode = exitCodes.refused;
      await session.show(answer, () => (contacts.length === 0 ? [nobody] : lines));
    });

  const summary = 'list all changes and decisions, the newest first';
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
      none: 'No changes yet.',
    }),
  );

  const encryption = relay.command('encryption').summary('the encryption keys of the database');
  const rowsOf = ({ keys, rows }: EncryptionStatus) => [
    ...(keys.length === 0 ? ['RELAY_ENCRYPTION_KEYS is not set: new data is stored unencrypted.'] : []),
    ...keys.map((keyId, place) => `Key ${keyId} ${place === 0 ? 'encrypts and decrypts' : 'decrypts'}.`),
    '',
    ...session.table(rows, {
      TABLE: 'table',
      KEY: ({ keyId = '(unencrypted)' }) => (keyId === '(unencrypted)' || keys.includes(keyId) ? keyId : `${keyId} (missing)`),
      ROWS: ({ rows }) => String(rows),
    }),
  ];

  command(encryption, 'status', '', 'show the encryption keys, and how many rows each key encrypts').action(() =>
    session.show(session.api.ask('GET', '/admin/encryption', encryptionStatusSchema), (status) => [
      ...rowsOf(status),
      ...(status.left > 0 ? ['', `${status.left} rows are not encrypted with the first key: npx relay encryption rotate`] : []),
    ]),
  );

  command(encryption, 'rotate', '', 'encrypt the whole database with the first key of RELAY_ENCRYPTION_KEYS')
    .description('You can stop the command and start it again at any time. The exit code is 1 if rows are left.')
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
        const advice = left > 0 && unreadable.length === 0 ? ['More rows were written: run the command again.'] : unreadable;
        return session.show(answer, (status) => [`${total} rows encrypted, ${left} left.`, ...advice, '', ...rowsOf(status)]);
      }
    });

  command(relay, 'health', '', 'check whether the relay reaches Temporal and its database')
    .description('The exit code is 1 if the relay cannot reach Temporal or its database.')
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
        UNTIL: ({ until }) => (until === undefined ? 'you end it' : momentFromNow(until)),
        REASON: 'reason',
      });
      return [...lines, '', `List the waiting chains: npx relay chains list ${companyId} --paused`];
    });
  }
};
