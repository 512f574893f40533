/** One rule: what it does, its address, its last events and chains, and its settings. */

import type { z } from 'zod';
import type { tokensResponse } from '../../contract/credential.js';
import type { eventsResponse } from '../../contract/rule-event.js';
import { pageOf, path } from '../addresses.js';
import { Page } from '../frame.js';
import { seldom, useResource } from '../resource.js';
import { RuleContents } from '../rule/contents.js';
import { Door } from '../rule/door.js';
import { ExpectationForm } from '../rule/expectation.js';
import { Health } from '../rule/health.js';
import { Policy, type Rule } from '../rule/policy.js';
import { Tokens } from '../rule/tokens.js';
import { Week } from '../rule/week.js';
import { may, ruleName, useCompany } from '../session.js';
import { Known } from '../ui/known.js';
import { EventTable } from './rule-events.js';

export function RulePage({ relayId }: { relayId: string }) {
  const company = useCompany();
  const { companyId } = company;
  const at = path`/admin/companies/${companyId}/rules/${relayId}`;
  const rule = useResource<Rule>(may('manage') ? at : undefined, seldom);
  const tokens = useResource<z.infer<typeof tokensResponse>>(may('author') ? `${at}/tokens` : undefined, seldom);
  const saved = (stored: Rule) => {
    rule.data.value = stored;
    company.refresh();
  };
  return (
    <Page
      title={`Rule ${ruleName(company, relayId)}`}
      about={
        <>
          <a href={pageOf.rules(companyId)}>All rules</a> ·{' '}
          <a href={pageOf.chains(companyId, { relayId })}>Chains of this rule</a> ·{' '}
          <a href={pageOf.events(companyId, relayId)}>Events of this rule</a>
        </>
      }
    >
      <RuleContents at={at} relayId={relayId} />
      <LastEvents at={at} relayId={relayId} />
      <Week relayId={relayId} />
      <Health relayId={relayId} />
      {may('author') && <Door at={at} relayId={relayId} onToken={tokens.refresh} />}
      {may('manage') && <Known of={rule}>{(known) => <Policy rule={known} at={at} onSaved={saved} />}</Known>}
      {may('manage') && <Known of={rule}>{(known) => <ExpectationForm rule={known} at={at} onSaved={saved} />}</Known>}
      {may('author') && (
        <>
          <h2>Tokens</h2>
          <Known of={tokens}>{({ tokens: known }) => <Tokens tokens={known} at={at} onChanged={tokens.refresh} />}</Known>
        </>
      )}
    </Page>
  );
}

function LastEvents({ at, relayId }: { at: string; relayId: string }) {
  const { companyId } = useCompany();
  const last = useResource<z.infer<typeof eventsResponse>>(`${at}/events?limit=5`);
  const events = last.data.value?.events ?? [];
  if (events.length === 0) return null;
  return (
    <>
      <h2>Last events</h2>
      <EventTable relayId={relayId} events={events} />
      <p>
        <a href={pageOf.events(companyId, relayId)}>All events</a>
      </p>
    </>
  );
}
