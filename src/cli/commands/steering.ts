/** `relay retry`, `skip`, `run-now`, `cancel`, `reschedule`: what a person decides about an action or a chain. */

import { z } from 'zod';
import { type Problem, path } from '../api.js';
import { type Command, defineCommand } from '../command.js';
import { UsageError } from '../exit-codes.js';
import type { Session } from '../session.js';
import { readDuration } from '../time.js';
import { seeWhichThereAre } from './chains.js';

const one = ['companyId', 'chainId', 'index'] as const;
const look = 'See how it stands: npx relay chains show <companyId> <chainId>';
const nextSteps = {
  404: ({ detail }: Problem) => (detail.startsWith('There is no action') ? look : seeWhichThereAre),
  409: look,
};
type One = Record<(typeof one)[number], string>;

export const retry: Command = defineCommand({
  arguments: one,
  summary: 'try an action again that needs attention, has failed, or reached only some recipients',
  details: 'A chain that has closed is opened again; what was not run because of the action follows it.',
  example: 'relay retry acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 1',
  nextSteps,
  run: (session, target) => steer(session, target, 'retry', 'will be tried again'),
});

export const skip: Command = defineCommand({
  arguments: one,
  summary: 'go on without an action that needs attention',
  example: 'relay skip acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 1',
  nextSteps,
  run: (session, target) => steer(session, target, 'skip', 'will be skipped'),
});

export const runNow: Command = defineCommand({
  arguments: one,
  summary: 'run a delayed action now',
  example: 'relay run-now acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 2',
  nextSteps,
  run: (session, target) => steer(session, target, 'runNow', 'will run now'),
});

export const reschedule: Command = defineCommand({
  arguments: [...one, 'time'],
  summary: 'run a delayed action at another time, counted from now',
  details: 'The time is in seconds, or such as 10m, 1h30m, 2d.',
  example: 'relay reschedule acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 2 10m',
  nextSteps,
  run: async (session, { time, ...target }) => {
    const seconds = readDuration(time);
    if (seconds === undefined) throw new UsageError('The time must be in seconds, or such as 10m, 1h30m, 2d');
    return steer(session, target, 'reschedule', `will run in ${time}${/^\d+$/.test(time) ? ' seconds' : ''}`, { seconds });
  },
});

export const cancel: Command = defineCommand({
  arguments: ['companyId', 'chainId', 'index?'],
  summary: 'cancel an action that has not ended, or without an index the whole chain',
  details: 'An effect that is under way ends first. What has run stays done.',
  example: 'relay cancel acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 2',
  nextSteps,
  run: async (session, { companyId, chainId, index }) => {
    if (index !== undefined) return steer(session, { companyId, chainId, index }, 'cancel', 'will be cancelled');
    const answer = await session.api.ask('POST', path`/co/${companyId}/chains/${chainId}/cancel`);
    session.show(answer, z.unknown(), () => [`Chain ${chainId} will be cancelled.`, seeIt(companyId, chainId)]);
    return undefined;
  },
});

async function steer(
  session: Session,
  { companyId, chainId, index }: One,
  verb: string,
  what: string,
  body?: { seconds: number },
): Promise<undefined> {
  if (!/^\d{1,4}$/.test(index)) throw new UsageError('The index must be a whole number: the first action of a chain is 0');
  const target = path`/co/${companyId}/chains/${chainId}/actions/${Number(index)}/${verb}`;
  const answer = await session.api.ask('POST', target, { body });
  session.show(answer, z.unknown(), () => [`Action ${index} of chain ${chainId} ${what}.`, seeIt(companyId, chainId)]);
}

function seeIt(companyId: string, chainId: string): string {
  return `See it: npx relay chains show ${companyId} ${chainId}`;
}
