/** Tests a draft on the server, without effects. The user chooses the assignment and the scenario. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { Scenario } from '../../chain/scenario.js';
import type { ChainList } from '../../contract/chain-resource.js';
import type { Composed, composeRequest } from '../../contract/dry-run.js';
import { path, query } from '../addresses.js';
import { ask } from '../api.js';
import { readObject } from '../fields.js';
import { announce } from '../frame.js';
import { Area, Choice, Entry, fieldsOf, Select, Submit, useDeed } from '../parts.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { timeText } from '../when.js';
import { counted, forecastWords } from '../words.js';
import type { Fields } from './draft.js';

export type ComposeRequest = z.input<typeof composeRequest>;

const scenarioWords: Record<Scenario, string> = {
  'nobody-found': 'No worker is found, so the assignment stays a draft',
  'nobody-accepts': 'No worker accepts, so the assignment stays sent',
  'platform-down': 'The platform is down for 1 hour',
};

const sourceWords = { facts: 'invented', id: 'from the platform', chainId: 'from an earlier event' };

interface TrialProps {
  elements: readonly Fields[];
  relayId: string;
  /** A sample value for each variable of the draft. */
  variables: Record<string, string>;
  result: Composed | undefined;
  onTried(result: Composed): void;
}

export function Trial({ elements, relayId, variables, result, onTried }: TrialProps) {
  const { companyId, timeZone } = useCompany();
  const source = useSignal<string>('facts');
  const notFacts = useSignal('');
  const chains = useResource<ChainList>(
    source.value === 'chainId' ? path`/co/${companyId}/chains` + query({ relayId, limit: '20' }) : undefined,
    seldom,
  );
  const events = chains.data.value?.items ?? [];
  const deed = useDeed();
  const attempt = (event: Event) => {
    const { scenario, facts = '', id = '', chainId = '', ...named } = fieldsOf(event);
    notFacts.value =
      source.value === 'facts' && !readObject(facts) ? 'This must be a JSON object, such as {"status": "draft"}' : '';
    if (notFacts.value) return;
    // The names of the inputs for variables begin with $, so that they differ from the names of the other inputs.
    const given = Object.entries(named).map(([name, value]) => [name.slice(1), value] as const);
    const filled = Object.fromEntries(given.filter(([, value]) => value !== ''));
    const request: ComposeRequest = {
      elements: [...elements],
      variables: filled,
      assignment: source.value === 'id' ? { id } : source.value === 'chainId' ? { chainId } : { facts: JSON.parse(facts) },
      ...(scenario && { scenario: scenario as Scenario }),
    };
    void deed.run(async () => {
      const tried = await ask<Composed>('POST', path`/co/${companyId}/chains/compose`, request);
      announce(summary(tried));
      onTried(tried);
    });
  };
  return (
    <form class="card" onSubmit={attempt}>
      <div class="filter">
        <Choice label="Assignment" of={source} options={Object.entries(sourceWords)} />
        {source.value === 'id' && <Entry label="Assignment number" name="id" required />}
        {source.value === 'chainId' && (
          <Select
            label="Event"
            hint="The test uses the variables of this event. It reads the assignment from the platform now."
            name="chainId"
            required
            options={events.map(({ chainId, receivedAt, assignmentIds }) => [
              chainId,
              `${timeText(receivedAt, timeZone, Date.now())}, assignment: ${assignmentIds.join(', ') || 'none'}`,
            ])}
          />
        )}
        <Select
          label="Scenario"
          name="scenario"
          options={[['', 'None: run every action immediately'], ...Object.entries(scenarioWords)]}
          first=""
        />
      </div>
      {source.value === 'facts' && (
        <Area
          label="Assignment as JSON"
          hint="The test checks conditions with this assignment."
          problem={notFacts.value}
          name="facts"
          rows={2}
          spellcheck={false}
          defaultValue={'{"status": "draft"}'}
        />
      )}
      {Object.keys(variables).length > 0 && (
        <fieldset>
          <legend>Variables of the webhook</legend>
          <div class="filter">
            {Object.entries(variables).map(([name, sample]) => (
              <Entry key={name} label={`\${${name}}`} name={`$${name}`} placeholder={sample} autocomplete="off" />
            ))}
          </div>
        </fieldset>
      )}
      <Submit {...deed} words="Run the test">
        <span class="soft small">The test sends nothing. Each card shows the result of its action.</span>
      </Submit>
      {result && (
        <p class={result.remark ? 'note wait' : 'note'}>
          {summary(result)} {result.remark}
        </p>
      )}
    </form>
  );
}

/** For example `4 actions: 3 run, 1 skipped.` */
function summary({ actions, problems }: Composed): string {
  if (!actions) return `The relay would refuse this chain: ${counted(problems.length, 'problem')}.`;
  const outcomes = actions.map(({ outcome }) => outcome);
  const counts = [...new Set(outcomes)].map((outcome) => {
    const count = outcomes.filter((other) => other === outcome).length;
    return outcome === 'runs' ? `${count} ${count === 1 ? 'runs' : 'run'}` : `${count} ${forecastWords(outcome)}`;
  });
  return `${counted(actions.length, 'action')}: ${counts.join(', ')}.`;
}
