/** The companies, for operators. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { companiesResponse } from '../../contract/company.js';
import { pageOf, query } from '../addresses.js';
import { Page } from '../frame.js';
import { Known, Pager } from '../parts.js';
import { seldom, useResource } from '../resource.js';

export function CompaniesPage() {
  const cursors = useSignal<string[]>([]);
  const companies = useResource<z.infer<typeof companiesResponse>>(
    `/admin/companies${query({ limit: '200', cursor: cursors.value.at(-1) })}`,
    seldom,
  );
  return (
    <Page title="Companies">
      <Known of={companies}>
        {({ companies: known, nextCursor }) => (
          <>
            {known.length === 0 && (
              <p class="card">
                There is no company yet. Make one:{' '}
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
