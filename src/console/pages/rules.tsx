/** The rules of a company, and a new one. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { createdRuleResponse, rulesResponse } from '../../contract/rule.js';
import { pageOf, path } from '../addresses.js';
import { ask } from '../api.js';
import { Page } from '../frame.js';
import { contactsText } from '../notify-fields.js';
import { Choice, Confirm, Entry, Known, ShownOnce, useDeed } from '../parts.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';

type Rules = z.infer<typeof rulesResponse>;
type CreatedRule = z.infer<typeof createdRuleResponse>;

export const onFailureWords = { hold: 'waits for a decision', continue: 'goes on with what stands behind it' };
export const onUnknownWords = { resend: 'is done again under the same key', hold: 'waits for a decision' };

export function RulesPage() {
  const company = useCompany();
  const { companyId } = company;
  const rules = useResource<Rules>(`${path`/admin/companies/${companyId}/rules`}?limit=200`, seldom);
  const [isAsked, made] = [useSignal(false), useSignal<CreatedRule | undefined>(undefined)];
  const done = () => {
    made.value = undefined;
    rules.refresh();
    company.refresh();
  };
  return (
    <Page title="Rules" about="What chains are run under: who is told of a failure, and what happens then.">
      <p>
        <button type="button" class="main" onClick={() => (isAsked.value = true)}>
          Make a rule…
        </button>
      </p>
      <Known of={rules}>
        {({ rules, nextCursor }) => (
          <>
            {rules.length === 0 && <p class="card">There is no rule yet: a webhook needs the id and the token of one.</p>}
            <ul class="plain cards">
              {rules.map(({ relayId, name, enabled, onFailure, notify }) => (
                <li key={relayId} class="card">
                  <h2>
                    <a href={pageOf.rule(companyId, relayId)}>{name}</a> {!enabled && <span class="badge bad">disabled</span>}
                  </h2>
                  <p class="soft small">
                    <code>{relayId}</code>
                  </p>
                  <p>What fails {onFailureWords[onFailure]}.</p>
                  <p class="soft small">Tells {contactsText(notify) || "the company's contacts"}</p>
                </li>
              ))}
            </ul>
            {nextCursor && <p class="soft">There are more: relay rules list {companyId} shows all.</p>}
          </>
        )}
      </Known>
      {isAsked.value && (
        <NewRule
          onClose={() => (isAsked.value = false)}
          onMade={(rule) => {
            isAsked.value = false;
            made.value = rule;
          }}
        />
      )}
      {made.value && (
        <ShownOnce title={`The token of ${made.value.name}`} secret={made.value.relayAccessToken} onClose={done}>
          <p>
            Its <code>relayId</code> is <code>{made.value.relayId}</code>. This is its <code>relayAccessToken</code>:
          </p>
        </ShownOnce>
      )}
    </Page>
  );
}

function NewRule({ onClose, onMade }: { onClose(): void; onMade(rule: CreatedRule): void }) {
  const { companyId } = useCompany();
  const [name, onFailure] = [useSignal(''), useSignal('hold')];
  const deed = useDeed();
  const make = () =>
    deed.run(async () => {
      const rule = { name: name.value, onFailure: onFailure.value };
      onMade(await ask<CreatedRule>('POST', path`/admin/companies/${companyId}/rules`, rule));
    }, 'The rule is made.');
  return (
    <Confirm
      title="Make a rule"
      verb="Make it"
      busy={deed.busy}
      refused={deed.refused}
      onClose={onClose}
      onConfirm={() => void make()}
    >
      <Entry label="Name" of={name} required maxLength={200} />
      <Choice label="What fails" of={onFailure} options={Object.entries(onFailureWords)} />
    </Confirm>
  );
}
