/** `relay health`: whether the relay can do its work. */

import type { Command } from '@commander-js/extra-typings';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.js';
import { example } from '../options.js';
import type { Session } from '../session.js';
import { fields } from '../table.js';

const readiness = z.looseObject({ status: z.string() });

export function health(relay: Command, session: Session): void {
  relay
    .command('health')
    .summary('tell whether the relay reaches what it needs')
    .description('Exit code 1 where it does not.')
    .addHelpText(...example('relay health'))
    .action(async () => {
      const { api } = session;
      const answer = await api.ask('GET', '/readyz', readiness, { bearer: false, alsoAnswer: 503 });
      session.show(answer, [`The relay at ${api.address.url}:`, ...fields(answer.body, '  ')]);
      if (answer.status === 503) session.exitCode = exitCodes.refused;
    });
}
