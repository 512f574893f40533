/** The companies, for operators. */

import type { z } from 'zod';
import type { companiesResponse } from '../../contract/company.js';
import { pageOf } from '../addresses.js';
import { Page } from '../frame.js';
import { seldom, usePages } from '../resource.js';
import { Known } from '../ui/known.js';
import { Pager } from '../ui/table.js';

export function CompaniesPage() {
  const [companies, cursors] = usePages<z.infer<typeof companiesResponse>>('/admin/companies', seldom, '200');
  return (
    <Page title="Companies">
      <Known of={companies}>
        {({ companies: known, nextCursor }) => (
          <>
            {known.length === 0 && (
              <p class="card">
                There are no companies yet. Create a company:{' '}
                <code>npx relay companies set acme --name Acme --notify-email ops@acme.example</code>
              </p>
            )}
            <ul class="plain cards">
              {known.map(({ companyId, name, timeZone }) => (
                <li key={companyId} class="card">
                  <h2>
                    <a href={pageOf.now(companyId)}>{name}</a>
                  </h2>
                  <p class="soft small">
                    <code>{companyId}</code>, {timeZone}
                  </p>
                </li>
              ))}
            </ul>
            <Pager cursors={cursors} next={nextCursor} />
          </>
        )}
      </Known>
    </Page>
  );
}
