/** The companies, for operators. */

import { pageOf, seldom, usePages } from '../base.js';
import { PageOf } from '../frame.js';
import type { companiesResponse, z } from '../types.js';
import { Cards } from '../ui/index.js';

const command = <code>npx relay companies set acme --name Acme --notify-email ops@acme.example</code>;
const empty = ['There are no companies yet. Create a company: ', command];

export function CompaniesPage() {
  const [companies] = usePages<z.infer<typeof companiesResponse>>('/admin/companies', seldom, '200');
  return (
    <PageOf title="Companies" of={companies}>
      {({ companies: known }) => (
        <Cards of={known} id={({ companyId }) => companyId} empty={empty}>
          {({ companyId, name, timeZone }) => (
            <>
              <h2>
                <a href={pageOf.now(companyId)}>{name}</a>
              </h2>
              <p class="soft small">
                <code>{companyId}</code>, {timeZone}
              </p>
            </>
          )}
        </Cards>
      )}
    </PageOf>
  );
}
