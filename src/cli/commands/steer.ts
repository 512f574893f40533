/** `relay retry`, `skip`, `run-now`, `cancel`, `reschedule`: what a person decides about an action or a chain. */

import type { Command } from '@commander-js/extra-typings';
import { z } from 'zod';
import { type Problem, path } from '../api.js';
import { UsageError } from '../exit-codes.js';
import { example } from '../options.js';
import type { Session } from '../session.js';
import { readDuration } from '../time.js';
import { chainIdOf, seeWhichThereAre } from './chains.js';

export function steer(relay: Command, session: Session): void {
  relay
    .command('retry <companyId> <chainId> <index>')
    .summary('try an action again that needs attention, has failed, or reached only some recipients')
    .description('A chain that has closed is opened again; what was not run because of the action follows it.')
    .addHelpText(...example('relay retry acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 1'))
    .action((companyId, chainId, index) => steerAction(companyId, chainId, index, 'retry', 'will be tried again'));

  relay
    .command('skip <companyId> <chainId> <index>')
    .summary('go on without an action that needs attention')
    .addHelpText(...example('relay skip acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 1'))
    .action((companyId, chainId, index) => steerAction(companyId, chainId, index, 'skip', 'will be skipped'));

  relay
    .command('run-now <companyId> <chainId> <index>')
    .alias('runNow') // As the API spells it.
    .summary('run a delayed action now')
    .addHelpText(...example('relay run-now acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 2'))
    .action((companyId, chainId, index) => steerAction(companyId, chainId, index, 'runNow', 'will run now'));

  relay
    .command('reschedule <companyId> <chainId> <index> <time>')
    .summary('run a delayed action at another time, counted from now')
    .description('The time is in seconds, or such as 10m, 1h30m, 2d.')
    .addHelpText(...example('relay reschedule acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 2 10m'))
    .action((companyId, chainId, index, time) => {
      const seconds = readDuration(time);
      if (seconds === undefined) throw new UsageError('The time must be in seconds, or such as 10m, 1h30m, 2d');
      const what = `will run in ${time}${/^\d+$/.test(time) ? ' seconds' : ''}`;
      return steerAction(companyId, chainId, index, 'reschedule', what, { seconds });
    });

  relay
    .command('cancel <companyId> <chainId> [index]')
    .summary('cancel an action that has not ended, or without an index the whole chain')
    .description('An effect that is under way ends first. What has run stays done.')
    .addHelpText(...example('relay cancel acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 2'))
    .action((companyId, chain, index) => {
      if (index !== undefined) return steerAction(companyId, chain, index, 'cancel', 'will be cancelled');
      const chainId = chainIdOf(companyId, chain);
      return post(companyId, chainId, '/cancel', `Chain ${chainId} will be cancelled.`);
    });

  async function steerAction(companyId: string, chain: string, index: string, verb: string, what: string, body?: object) {
    if (!/^\d{1,4}$/.test(index)) throw new UsageError('The index must be a whole number: the first action of a chain is 0');
    const chainId = chainIdOf(companyId, chain);
    await post(companyId, chainId, path`/actions/${Number(index)}/${verb}`, `Action ${index} of chain ${chainId} ${what}.`, body);
  }

  async function post(companyId: string, chainId: string, what: string, said: string, body?: object) {
    const look = `npx relay chains show ${companyId} ${chainId}`;
    const nextStep = ({ status, detail }: Problem) => {
      if (status === 409 || (status === 404 && detail.startsWith('There is no action'))) return `See how it stands: ${look}`;
      return status === 404 ? seeWhichThereAre(companyId) : undefined;
    };
    const target = path`/co/${companyId}/chains/${chainId}`;
    const answer = await session.api.ask('POST', `${target}${what}`, z.unknown(), { body, nextStep });
    session.show(answer, [said, `See it: ${look}`]);
  }
}
