/** The page that edits the draft of a rule. Its script is loaded when somebody opens it. */

import { useLocation } from 'preact-iso';
import type { z } from 'zod';
import type { Composer as Actions } from '../../contract/dry-run.js';
import type { versionsResponse } from '../../contract/rule-contents.js';
import { pageOf, path } from '../addresses.js';
import { Composer } from '../composer/composer.js';
import { useDraft } from '../composer/use-draft.js';
import { Page } from '../frame.js';
import { seldom, useResource } from '../resource.js';
import { ruleOf, useCompany } from '../session.js';
import { Known } from '../ui/known.js';

export function DraftPage({ relayId }: { relayId: string }) {
  const company = useCompany();
  const { companyId } = company;
  const { route } = useLocation();
  const actions = useResource<Actions>(path`/co/${companyId}/chains/compose`, seldom);
  const versions = useResource<z.infer<typeof versionsResponse>>(
    path`/admin/companies/${companyId}/rules/${relayId}/versions?limit=1`,
    seldom,
  );
  const { stored, editing } = useDraft(relayId);
  return (
    <Page
      title={`Write “${ruleOf(company, relayId)?.name ?? relayId}”`}
      about={
        <>
          <a href={pageOf.rule(companyId, relayId)}>The rule</a> · <a href={pageOf.versions(companyId, relayId)}>Versions</a> ·{' '}
          <a href={pageOf.events(companyId, relayId)}>Events</a>
        </>
      }
    >
      <Known of={stored}>
        {() => (
          <Known of={actions}>
            {(known) =>
              editing && (
                <Composer
                  relayId={relayId}
                  editing={editing}
                  actions={known}
                  published={versions.data.value?.published}
                  onPublished={() => route(pageOf.rule(companyId, relayId))}
                />
              )
            }
          </Known>
        )}
      </Known>
    </Page>
  );
}
