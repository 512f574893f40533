/** The people and keys of a company, and its audit log. */

import type { z } from 'zod';
import type { auditResponse } from '../../contract/audit.js';
import { pageOf, path } from '../addresses.js';
import { Page } from '../frame.js';
import { Keys, People } from '../people.js';
import { seldom, usePages } from '../resource.js';
import { useCompany } from '../session.js';
import { ExportLinks, Known, Pager, Said, Section, Table, Time } from '../ui/index.js';

export function PeoplePage() {
  return (
    <Page title="People and audit" about="People sign in with their e-mail address. Programs send a key with each request.">
      <People />
      <Keys />
      <Audit />
    </Page>
  );
}

function Audit() {
  const { companyId, timeZone } = useCompany();
  const [audit, cursors] = usePages<z.infer<typeof auditResponse>>(path`/admin/companies/${companyId}/audit`, seldom);
  return (
    <Section title="Audit log" look="">
      <Known of={audit}>
        {({ entries, nextCursor }) => (
          <>
            <Table caption="Changes, the newest first" columns={[`When (${timeZone})`, 'Who', 'What']}>
              {entries.map(({ auditId, at, actor, action, details }) => (
                <tr key={auditId}>
                  <td class="tight">
                    <Time at={at} />
                  </td>
                  <td>{actorWords(actor)}</td>
                  <td>
                    {action}{' '}
                    {Object.entries(details).map(([name, value]) => (
                      <Detail key={name} name={name} value={value} />
                    ))}
                  </td>
                </tr>
              ))}
            </Table>
            {entries.length === 0 && <p class="card">There are no entries yet.</p>}
            <Pager cursors={cursors} next={nextCursor} />
            <ExportLinks what="audit" />
          </>
        )}
      </Known>
    </Section>
  );
}

function Detail({ name, value }: { name: string; value: unknown }) {
  const { companyId } = useCompany();
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const pageFor = { chainId: pageOf.chain, relayId: pageOf.rule }[name];
  return (
    <span class="soft small">
      {name}: {pageFor ? <a href={pageFor(companyId, text)}>{text}</a> : <Said text={text} />}{' '}
    </span>
  );
}

function actorWords(actor: z.infer<typeof auditResponse>['entries'][number]['actor']): string {
  if (actor.kind === 'link') return `link in a notice to ${actor.contact}`;
  return actor.name === undefined ? actor.kind : `${actor.kind} ${actor.name}`;
}
