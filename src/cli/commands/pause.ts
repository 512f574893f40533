/** `relay pause`, `unpause`, `pauses`: planned downtime of a company or of one of its connectors. */

import type { z } from 'zod';
import { endedPausesResponse, pausesResponse } from '../../api/admin/pause.js';
import { pausable } from '../../chain/pause.js';
import { path } from '../api.js';
import { defineCommand } from '../command.js';
import { table } from '../table.js';
import type { Line } from '../text.js';
import { momentFromNow, readMoment } from '../time.js';

const what = { type: 'string', value: 'what', help: `one of ${pausable.join(', ')}` } as const;

export const pause = defineCommand({
  arguments: ['companyId'],
  options: {
    what,
    reason: { type: 'string', value: 'words', help: 'for those who wonder why their actions wait' },
    until: { type: 'string', value: 'time', help: 'when it ends by itself: 2026-07-01T12:00:00Z, or 2h for in two hours' },
  },
  summary: 'let the actions of a company wait, for planned downtime',
  details:
    'Without --what everything of the company. What waits goes on in order when the pause is over; nothing is lost, and no time runs out.',
  example: 'relay pause acme --what platform --reason "new version" --until 2h',
  run: async (session, { companyId }, { what, reason, until }) => {
    const body = { what, reason, until: until && readMoment(until, 'ahead') };
    const answer = await session.api.ask('PUT', path`/admin/companies/${companyId}/pause`, { body });
    session.show(answer, pausesResponse, pauseLines(companyId, session.terminal.columns));
    return undefined;
  },
});

export const unpause = defineCommand({
  arguments: ['companyId'],
  options: { what },
  summary: 'end a pause; without --what, whatever is paused',
  example: 'relay unpause acme',
  nextSteps: { 404: 'See what is paused: npx relay pauses <companyId>' },
  run: async (session, { companyId }, { what }) => {
    const answer = await session.api.ask('DELETE', path`/admin/companies/${companyId}/pause`, { query: { what } });
    session.show(answer, endedPausesResponse, ({ ended }) => [`No longer paused: ${ended.join(', ')}. What waits goes on now.`]);
    return undefined;
  },
});

export const pauses = defineCommand({
  arguments: ['companyId'],
  summary: 'show what of a company is paused',
  example: 'relay pauses acme',
  run: async (session, { companyId }) => {
    const answer = await session.api.ask('GET', path`/admin/companies/${companyId}/pause`);
    session.show(answer, pausesResponse, pauseLines(companyId, session.terminal.columns));
    return undefined;
  },
});

function pauseLines(companyId: string, width: number | undefined) {
  return ({ pauses }: z.infer<typeof pausesResponse>): Line[] => {
    if (pauses.length === 0) return ['Nothing is paused.'];
    type Pause = (typeof pauses)[number];
    const columns = [
      { heading: 'PAUSED', cell: ({ what }: Pause) => what },
      { heading: 'SINCE', cell: ({ since }: Pause) => momentFromNow(since) },
      { heading: 'UNTIL', cell: ({ until }: Pause) => (until === undefined ? 'somebody ends it' : momentFromNow(until)) },
      { heading: 'REASON', cell: ({ reason }: Pause) => reason ?? '' },
    ];
    return [...table(pauses, columns, width), '', `To see what waits: npx relay chains list ${companyId} --paused`];
  };
}
