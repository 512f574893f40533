/** The rules of a company. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { createdRuleResponse, rulesResponse } from '../../contract/rule.js';
import { pageOf, path } from '../addresses.js';
import { ask } from '../api.js';
import { Page } from '../frame.js';
import { contactsText } from '../notify-fields.js';
import { seldom, useResource } from '../resource.js';
import { HealthTable } from '../rule/health-table.js';
import { may, useCompany } from '../session.js';
import { Deed, Opener, ShownOnce } from '../ui/dialog.js';
import { Choice, Entry } from '../ui/fields.js';
import { Known } from '../ui/known.js';
import { onFailureWords } from '../words.js';

type Rules = z.infer<typeof rulesResponse>;
type CreatedRule = z.infer<typeof createdRuleResponse>;

export function RulesPage() {
  const company = useCompany();
  const { companyId } = company;
  const listed = may('author') ? `${path`/admin/companies/${companyId}/rules`}?limit=200` : undefined;
  const rules = useResource<Rules>(listed, seldom);
  const made = useSignal<CreatedRule | undefined>(undefined);
  const done = () => {
    made.value = undefined;
    rules.refresh();
    company.refresh();
  };
  return (
    <Page title="Rules" about="A rule says what happens when an event arrives, and who gets a notice if a step fails.">
      {listed ? (
        <p>
          <Opener opens="Create a rule" look="main">
            {(onClose) => <NewRule onClose={onClose} onMade={(rule) => (made.value = rule)} />}
          </Opener>
        </p>
      ) : (
        <ul class="plain cards">
          {company.rules.map(({ relayId, name }) => (
            <li key={relayId} class="card">
              <a href={pageOf.rule(companyId, relayId)}>{name}</a>
            </li>
          ))}
        </ul>
      )}
      {listed && (
        <Known of={rules}>
          {({ rules, nextCursor }) => (
            <>
              {rules.length === 0 && <p class="card">There are no rules yet. Create a rule, then write its steps.</p>}
              <ul class="plain cards">
                {rules.map(({ relayId, name, enabled, onFailure, notify }) => (
                  <li key={relayId} class="card">
                    <h2>
                      <a href={pageOf.rule(companyId, relayId)}>{name}</a> {!enabled && <span class="badge bad">disabled</span>}
                    </h2>
                    <p class="soft small">
                      <code>{relayId}</code>
                    </p>
                    <p>If an action fails: {onFailureWords[onFailure]}.</p>
                    <p class="soft small">
                      Notices go to {["the company's contacts", contactsText(notify)].filter(Boolean).join(' and to ')}.
                    </p>
                  </li>
                ))}
              </ul>
              {nextCursor && (
                <p class="soft">
                  This list is not complete. The command <code>relay rules list {companyId} --all</code> shows all rules.
                </p>
              )}
            </>
          )}
        </Known>
      )}
      <HealthTable />
      {made.value && (
        <ShownOnce title={`Token of ${made.value.name}`} secret={made.value.relayAccessToken} onClose={done}>
          <p>
            The <code>relayId</code> of this rule is <code>{made.value.relayId}</code>. Its <code>relayAccessToken</code> is:
          </p>
        </ShownOnce>
      )}
    </Page>
  );
}

function NewRule({ onClose, onMade }: { onClose(): void; onMade(rule: CreatedRule): void }) {
  const { companyId } = useCompany();
  const [name, onFailure] = [useSignal(''), useSignal('hold')];
  const make = async () => {
    const rule = { name: name.value, onFailure: onFailure.value };
    onMade(await ask<CreatedRule>('POST', path`/admin/companies/${companyId}/rules`, rule));
  };
  return (
    <Deed title="Create a rule" verb="Create" change={make} words="Rule created." onClose={onClose}>
      <Entry label="Name" of={name} required maxLength={200} />
      <Choice label="If an action fails" of={onFailure} options={Object.entries(onFailureWords)} />
    </Deed>
  );
}
