/** `relay health`: whether the relay can do its work. */

import { z } from 'zod';
import { defineCommand } from '../command.js';
import { exitCodes } from '../exit-codes.js';
import { fields } from '../table.js';

export const health = defineCommand({
  arguments: [],
  summary: 'tell whether the relay reaches what it needs',
  details: 'Exit code 1 where it does not.',
  example: 'relay health',
  run: async (session) => {
    const answer = await session.api.ask('GET', '/readyz', { bearer: false, alsoAnswer: 503 });
    session.show(answer, z.looseObject({ status: z.string() }), (shown) => [
      `The relay at ${session.api.address.url}:`,
      ...fields(shown, '  '),
    ]);
    return answer.status === 503 ? exitCodes.refused : undefined;
  },
});
