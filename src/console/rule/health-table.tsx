/** All rules in one table: what happened in the last week, beside the week before. */

import type { CompanyHealth } from '../../contract/health.js';
import { pageOf, path } from '../addresses.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { Known } from '../ui/known.js';
import { Table } from '../ui/table.js';
import { Time } from '../ui/text.js';
import { durationText } from '../when.js';
import { share } from './health.js';

const columns = [
  'Rule',
  'Events',
  'Failed',
  'Failed the week before',
  'Held now',
  'No worker found',
  '95 % done within',
  'Quiet',
];

export function HealthTable() {
  const { companyId } = useCompany();
  const health = useResource<CompanyHealth>(path`/co/${companyId}/health`, seldom);
  return (
    <section aria-labelledby="week">
      <h2 id="week">The last 7 days</h2>
      <Known of={health}>
        {({ rules }) => (
          <Table caption="The last 7 days of all rules" columns={columns}>
            {rules.map(({ relayId, name, events, chains, failed, held, nobody, p95, quietSince, before }) => (
              <tr key={relayId}>
                <td>
                  <a href={pageOf.rule(companyId, relayId)}>{name}</a>
                </td>
                <td>{events}</td>
                <td>{share(failed, chains)}</td>
                <td>{share(before.failed, before.chains)}</td>
                <td>{held}</td>
                <td>{nobody}</td>
                <td>{p95 !== undefined && durationText(p95)}</td>
                <td>
                  <Time at={quietSince} before="no event since " look="error" />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Known>
    </section>
  );
}
