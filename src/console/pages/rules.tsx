/** The rules of a company: what happened in the last week, beside the week before. And the page that creates a rule. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { admin, ask, co, may, pageOf, seldom, useResource } from '../base.js';
import { Page } from '../frame.js';
import { share } from '../rule/health.js';
import type { CompanyHealth, createdRuleResponse, z } from '../types.js';
import { Badge, ButtonTo, Entry, Known, Silence, Submit, Table, useDeed } from '../ui/index.js';
import { withinText } from '../words.js';

type Row = CompanyHealth['rules'][number];

const columns: Record<string, (rule: Row) => ComponentChildren> = {
  Events: ({ events }) => events,
  Failed: ({ failed, chains, before }) => `${share(failed, chains)}, before: ${share(before.failed, before.chains)}`,
  'Needs attention': ({ held }) => held,
  'Nobody found': ({ nobody }) => nobody,
  'Time per chain': ({ p50, p95, chains }) => {
    if (p50 === undefined || p95 === undefined) return 'No chain is completed yet.';
    const [part, most] = chains < 20 ? ['Half', p50] : ['95%', p95];
    return `${part} of the chains took ${withinText(most)} or less.`;
  },
  Warning: ({ quietSince, lastEvent }) => quietSince && <Silence last={lastEvent} look="error" />,
};

function Name({ of: { relayId, name, enabled } }: { of: Row }) {
  return (
    <>
      <a href={pageOf.rule(relayId)}>{name}</a> <code class="soft">{relayId}</code>
      {!enabled && <Badge tone="bad">disabled</Badge>}
    </>
  );
}

const about =
  'A rule says what happens when an event arrives, and who gets a notice if a step fails. The table shows the last 7 days. “Before” means the week before that.';

export function RulesPage() {
  const health = useResource<CompanyHealth>(co`/health`, seldom);
  return (
    <Page title="Rules" about={about}>
      {may('author') && (
        <p class="row">
          <ButtonTo href={pageOf.compose()}>Create a rule</ButtonTo>
        </p>
      )}
      <Known of={health}>
        {({ rules }) => (
          <Table
            caption="All rules: the last 7 days"
            {...{ columns: ['Rule', ...Object.keys(columns)], named: 1 }}
            empty="There are no rules yet. Create a rule, then write its steps."
            rows={rules.map((rule) => [rule.relayId, [<Name of={rule} />, ...Object.values(columns).map((read) => read(rule))]])}
          />
        )}
      </Known>
    </Page>
  );
}

export function ComposePage() {
  const { route } = useLocation();
  const name = useSignal('');
  const deed = useDeed();
  const create = (event: Event) => {
    event.preventDefault();
    void deed.run(async () => {
      // The composer makes a token when it needs one, so the first token is not shown.
      const { relayId } = await ask<z.infer<typeof createdRuleResponse>>('POST', admin`/rules`, { name: name.value });
      route(pageOf.draft(relayId));
    }, 'Rule created.');
  };
  return (
    <Page title="Write a rule" about="Write what happens when an event arrives, rehearse the rule safely, then publish it.">
      <form class="card" onSubmit={create}>
        <h2>A new rule</h2>
        <Entry label="Name" hint="For example: Find somebody for new assignments." of={name} required maxLength={200} />
        <Submit {...deed} words="Create the rule and write its steps" />
      </form>
      <p>
        To change an existing rule, choose it in the <a href={pageOf.rules()}>list of rules</a>.
      </p>
    </Page>
  );
}
