/** The entry of the composer: choose or create a rule. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { z } from 'zod';
import type { createdRuleResponse } from '../../contract/rule.js';
import { pageOf, path } from '../addresses.js';
import { ask } from '../api.js';
import { Page } from '../frame.js';
import { ruleOf, useCompany } from '../session.js';
import { Submit, useDeed } from '../ui/buttons.js';
import { Entry } from '../ui/fields.js';

export function ComposePage() {
  const company = useCompany();
  const { companyId, rules } = company;
  const { query, route } = useLocation();
  const name = useSignal('');
  const deed = useDeed();
  const asked = query.relayId;
  const isKnown = ruleOf(company, asked) !== undefined;
  useEffect(() => {
    if (asked !== undefined && isKnown) route(pageOf.draft(companyId, asked), true);
  }, [asked]);
  const create = (event: Event) => {
    event.preventDefault();
    void deed.run(async () => {
      // The composer makes a token when it needs one, so the first token is not shown.
      const made = await ask<z.infer<typeof createdRuleResponse>>('POST', path`/admin/companies/${companyId}/rules`, {
        name: name.value,
      });
      company.refresh();
      route(pageOf.draft(companyId, made.relayId));
    });
  };
  return (
    <Page title="Compose" about="Write what happens when an event arrives, rehearse it safely, then publish it.">
      <form class="card" onSubmit={create}>
        <h2>A new rule</h2>
        <Entry label="Name" hint="For example: Find somebody for new assignments." of={name} required maxLength={200} />
        <Submit {...deed} words="Create the rule and write it" />
      </form>
      {rules.length > 0 && (
        <>
          <h2>A rule that exists</h2>
          <ul class="plain cards">
            {rules.map(({ relayId, name, enabled }) => (
              <li key={relayId} class="card">
                <a href={pageOf.draft(companyId, relayId)}>{name}</a> {!enabled && <span class="badge bad">disabled</span>}
              </li>
            ))}
          </ul>
        </>
      )}
    </Page>
  );
}
