/** `relay audit`: who changed or steered what, and when. */

import type { Command } from '@commander-js/extra-typings';
import { z } from 'zod';
import { path } from '../api.js';
import { showList } from '../list.js';
import { example, withParts } from '../options.js';
import type { Session } from '../session.js';
import { fields } from '../table.js';
import { render } from '../text.js';

const entry = z.object({
  at: z.string(),
  actor: z.object({ kind: z.string(), name: z.string().optional() }),
  action: z.string(),
  companyId: z.string().optional(),
  details: z.record(z.string(), z.unknown()),
});

export function audit(relay: Command, session: Session): void {
  withParts(relay.command('audit [companyId]'))
    .description('list who changed or steered what, the newest first')
    .addHelpText(...example('relay audit acme --limit 20'))
    .action((companyId, options) =>
      showList(
        session,
        {
          path: companyId === undefined ? '/admin/audit' : path`/admin/companies/${companyId}/audit`,
          field: 'entries',
          item: entry,
          columns: {
            WHEN: 'at',
            WHO: ({ actor }) => (actor.name === undefined ? actor.kind : `${actor.kind} ${actor.name}`),
            DID: 'action',
            COMPANY: 'companyId',
            DETAILS: ({ details }) => detailsText(details),
          },
          none: 'Nothing was done yet.',
        },
        options,
      ),
    );
}

function detailsText(details: Record<string, unknown>): string {
  return fields(details)
    .map((line) => render(line, false).replaceAll(/ {2,}/g, ' '))
    .join(', ');
}
