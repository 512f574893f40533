/** `relay pause`, `unpause`, `pauses`: planned downtime of a company or of one of its connectors. */

import { type Command, Option } from '@commander-js/extra-typings';
import type { z } from 'zod';
import { pausable } from '../../chain/pause.js';
import { endedPausesResponse, pausesResponse } from '../../contract/pause.js';
import { type Answer, path } from '../api.js';
import { example } from '../options.js';
import type { Session } from '../session.js';
import { momentFromNow, readMoment } from '../time.js';

const whatOption = new Option('--what <what>', `one of ${pausable.join(', ')}`);

export function pause(relay: Command, session: Session): void {
  relay
    .command('pause <companyId>')
    .summary('let the actions of a company wait, for planned downtime')
    .description(
      'Without --what everything of the company. What waits goes on in order when the pause is over; ' +
        'nothing is lost, and no time runs out.',
    )
    .addOption(whatOption)
    .option('--reason <words>', 'for those who wonder why their actions wait')
    .option('--until <time>', 'when it ends by itself: 2026-07-01T12:00:00Z, or 2h for in two hours', (text) =>
      readMoment(text, 'ahead'),
    )
    .addHelpText(...example('relay pause acme --what platform --reason "new version" --until 2h'))
    .action(async (companyId, body) => {
      showPauses(companyId, await session.api.ask('PUT', pauseOf(companyId), pausesResponse, { body }));
    });

  relay
    .command('unpause <companyId>')
    .summary('end a pause; without --what, whatever is paused')
    .addOption(whatOption)
    .addHelpText(...example('relay unpause acme'))
    .action(async (companyId, { what }) => {
      const answer = await session.api.ask('DELETE', pauseOf(companyId), endedPausesResponse, {
        query: { what },
        nextStep: ({ status }) => (status === 404 ? `See what is paused: npx relay pauses ${companyId}` : undefined),
      });
      session.show(answer, [`No longer paused: ${answer.body.ended.join(', ')}. What waits goes on now.`]);
    });

  relay
    .command('pauses <companyId>')
    .summary('show what of a company is paused')
    .addHelpText(...example('relay pauses acme'))
    .action(async (companyId) => {
      showPauses(companyId, await session.api.ask('GET', pauseOf(companyId), pausesResponse));
    });

  function showPauses(companyId: string, answer: Answer<z.infer<typeof pausesResponse>>): void {
    const { pauses } = answer.body;
    const lines = session.table(pauses, {
      PAUSED: 'what',
      SINCE: ({ since }) => momentFromNow(since),
      UNTIL: ({ until }) => (until === undefined ? 'somebody ends it' : momentFromNow(until)),
      REASON: 'reason',
    });
    const seen = `To see what waits: npx relay chains list ${companyId} --paused`;
    session.show(answer, pauses.length === 0 ? ['Nothing is paused.'] : [...lines, '', seen]);
  }
}

function pauseOf(companyId: string): string {
  return path`/admin/companies/${companyId}/pause`;
}
