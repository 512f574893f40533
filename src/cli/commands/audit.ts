/** `relay audit`: who changed or steered what, and when. */

import { z } from 'zod';
import { path } from '../api.js';
import { defineCommand } from '../command.js';
import { listOptions, showList } from '../list.js';
import { fields } from '../table.js';
import { render } from '../text.js';
import { momentText } from '../time.js';

const entry = z.object({
  at: z.string(),
  actor: z.object({ kind: z.string(), name: z.string().optional() }),
  action: z.string(),
  companyId: z.string().optional(),
  details: z.record(z.string(), z.unknown()),
});

export const audit = defineCommand({
  arguments: ['companyId?'],
  options: listOptions,
  summary: 'list who changed or steered what, the newest first',
  example: 'relay audit acme --limit 20',
  run: async (session, { companyId }, options) => {
    await showList(
      session,
      {
        path: companyId === undefined ? '/admin/audit' : path`/admin/companies/${companyId}/audit`,
        field: 'entries',
        item: entry,
        columns: [
          { heading: 'WHEN', cell: ({ at }) => momentText(at) },
          { heading: 'WHO', cell: ({ actor }) => (actor.name === undefined ? actor.kind : `${actor.kind} ${actor.name}`) },
          { heading: 'DID', cell: ({ action }) => action },
          { heading: 'COMPANY', cell: (deed) => deed.companyId },
          { heading: 'DETAILS', cell: ({ details }) => detailsText(details) },
        ],
        none: 'Nothing was done yet.',
      },
      options,
    );
  },
});

function detailsText(details: Record<string, unknown>): string {
  return fields(details)
    .map((line) => render(line, false).replaceAll(/ {2,}/g, ' '))
    .join(', ');
}
