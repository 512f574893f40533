/** Creates a rule, and opens the composer for it. */

import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { ask, pageOf, path, useCompany } from '../base.js';
import { Page } from '../frame.js';
import type { createdRuleResponse, z } from '../types.js';
import { Entry, Submit, useDeed } from '../ui/index.js';

export function ComposePage() {
  const { companyId, refresh } = useCompany();
  const { route } = useLocation();
  const name = useSignal('');
  const deed = useDeed();
  const create = (event: Event) => {
    event.preventDefault();
    void deed.run(async () => {
      // The composer makes a token when it needs one, so the first token is not shown.
      const at = path`/admin/companies/${companyId}/rules`;
      const { relayId } = await ask<z.infer<typeof createdRuleResponse>>('POST', at, { name: name.value });
      refresh();
      route(pageOf.draft(companyId, relayId));
    });
  };
  return (
    <Page title="Compose" about="Write what happens when an event arrives, rehearse it safely, then publish it.">
      <form class="card" onSubmit={create}>
        <h2>A new rule</h2>
        <Entry label="Name" hint="For example: Find somebody for new assignments." of={name} required maxLength={200} />
        <Submit {...deed} words="Create the rule and write it" />
      </form>
      <p>
        To change a rule that exists, choose it in <a href={pageOf.rules(companyId)}>all rules</a>.
      </p>
    </Page>
  );
}
