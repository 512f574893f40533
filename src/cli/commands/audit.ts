/** `relay audit`: who changed or steered what, and when. */

import type { Command } from '@commander-js/extra-typings';
import { actorName, auditResponse } from '../../contract/audit.js';
import { path } from '../api.js';
import { showList } from '../list.js';
import { example, withParts } from '../options.js';
import type { Session } from '../session.js';
import { fields } from '../table.js';
import { render } from '../text.js';

export function audit(relay: Command, session: Session): void {
  withParts(relay.command('audit [companyId]'))
    .summary('list who changed or steered what, the newest first')
    .addHelpText(...example('relay audit acme --limit 20'))
    .action((companyId, options) =>
      showList(session, options, {
        path: companyId === undefined ? '/admin/audit' : path`/admin/companies/${companyId}/audit`,
        field: 'entries',
        schema: auditResponse,
        columns: {
          WHEN: 'at',
          WHO: ({ actor }) => actorName(actor),
          DID: 'action',
          COMPANY: 'companyId',
          DETAILS: ({ details }) => detailsText(details),
        },
        none: 'Nothing was done yet.',
      }),
    );
}

function detailsText(details: Record<string, unknown>): string {
  return fields(details)
    .map((line) => render(line, false).replaceAll(/ {2,}/g, ' '))
    .join(', ');
}
