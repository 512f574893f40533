/** One rule: what it does, its address, its last events and chains, and its settings. */

import { may, pageOf, path, ruleName, seldom, useCompany, useResource } from '../base.js';
import { Page } from '../frame.js';
import { RuleContents } from '../rule/contents.js';
import { Door } from '../rule/door.js';
import { Health } from '../rule/health.js';
import { Enabling, type Rule, RuleSettings } from '../rule/settings.js';
import { Tokens } from '../rule/tokens.js';
import { Week } from '../rule/week.js';
import type { eventsResponse, tokensResponse, z } from '../types.js';
import { Known } from '../ui/index.js';
import { EventTable } from './rule-events.js';

export function RulePage({ relayId }: { relayId: string }) {
  const company = useCompany();
  const { companyId } = company;
  const at = path`/admin/companies/${companyId}/rules/${relayId}`;
  const last = useResource<z.infer<typeof eventsResponse>>(`${at}/events?limit=5`).data.value?.events ?? [];
  const rule = useResource<Rule>(may('manage') ? at : undefined, seldom);
  const tokens = useResource<z.infer<typeof tokensResponse>>(may('author') ? `${at}/tokens` : undefined, seldom);
  const onSaved = (stored: Rule) => {
    rule.data.value = stored;
    company.refresh();
  };
  const events = pageOf.events(companyId, relayId);
  return (
    <Page
      title={`Rule ${ruleName(company, relayId)}`}
      about={
        <>
          <a href={pageOf.rules(companyId)}>All rules</a> ·{' '}
          <a href={pageOf.chains(companyId, { relayId })}>Chains of this rule</a> · <a href={events}>Events of this rule</a>
        </>
      }
    >
      <RuleContents at={at} relayId={relayId} />
      {last.length > 0 && (
        <>
          <h2>Last events</h2>
          <EventTable relayId={relayId} events={last} />
          <p>
            <a href={events}>All events</a>
          </p>
        </>
      )}
      <Week relayId={relayId} />
      <Health relayId={relayId} />
      {may('author') && <Door at={at} relayId={relayId} onToken={tokens.refresh} />}
      {may('manage') && (
        <Known of={rule}>
          {(known) => (
            <details class="card">
              <summary>Settings{!known.enabled && ': the rule is disabled'}</summary>
              <RuleSettings rule={known} at={at} onSaved={onSaved} />
              <Enabling rule={known} at={at} onSaved={onSaved} />
            </details>
          )}
        </Known>
      )}
      {may('author') && (
        <>
          <h2>Tokens</h2>
          <Known of={tokens}>{(known) => <Tokens tokens={known.tokens} at={at} onChanged={tokens.refresh} />}</Known>
        </>
      )}
    </Page>
  );
}
