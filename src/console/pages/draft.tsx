/** The page that edits the draft of a rule. Its script is loaded when somebody opens it. */

import { useLocation } from 'preact-iso';
import { pageOf, path, ruleOf, seldom, useCompany, useResource } from '../base.js';
import { Composer } from '../composer/composer.js';
import { useDraft } from '../composer/use-draft.js';
import { Page } from '../frame.js';
import type { Composer as Actions } from '../types.js';
import { Known } from '../ui/index.js';

export function DraftPage({ relayId }: { relayId: string }) {
  const company = useCompany();
  const { companyId } = company;
  const { route } = useLocation();
  const actions = useResource<Actions>(path`/co/${companyId}/chains/compose`, seldom);
  const { stored, editing } = useDraft(relayId);
  const rule = pageOf.rule(companyId, relayId);
  return (
    <Page
      title={`Write “${ruleOf(company, relayId)?.name ?? relayId}”`}
      about={
        <>
          <a href={rule}>The rule</a> · <a href={pageOf.versions(companyId, relayId)}>Versions</a> ·{' '}
          <a href={pageOf.events(companyId, relayId)}>Events</a>
        </>
      }
    >
      <Known of={stored}>
        {() => (
          <Known of={actions}>
            {(known) => editing && <Composer {...{ relayId, editing }} actions={known} onPublished={() => route(rule)} />}
          </Known>
        )}
      </Known>
    </Page>
  );
}
