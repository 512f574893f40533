/** Trying a chain that is being written, on the server and without effect: with which event, and how the world goes. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { Scenario } from '../../chain/scenario.js';
import type { ChainList } from '../../contract/chain-resource.js';
import type { Composed, composeRequest } from '../../contract/dry-run.js';
import { path, query } from '../addresses.js';
import { ask } from '../api.js';
import { announce } from '../frame.js';
import { Field, fieldsOf, ProblemNote, useDeed } from '../parts.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { timeText } from '../when.js';
import { counted } from '../words.js';
import type { Fields } from './draft.js';

export type ComposeRequest = z.input<typeof composeRequest>;

const scenarioWords: Record<Scenario, string> = {
  'nobody-found': 'Nobody is found: it stays a draft',
  'nobody-accepts': 'Nobody accepts: once sent, it stays sent',
  'platform-down': 'The platform is down for an hour',
};

interface TrialProps {
  elements: readonly Fields[];
  relayId: string;
  /** By name, what stands for the variables that are used. */
  variables: Record<string, string>;
  result: Composed | undefined;
  onTried(result: Composed): void;
}

export function Trial({ elements, relayId, variables, result, onTried }: TrialProps) {
  const { companyId, timeZone } = useCompany();
  const source = useSignal<'facts' | 'id' | 'chainId'>('facts');
  const notFacts = useSignal('');
  const chains = useResource<ChainList>(
    source.value === 'chainId' ? path`/co/${companyId}/chains` + query({ relayId, limit: '20' }) : undefined,
    seldom,
  );
  const deed = useDeed();
  const assignmentOf = (fields: Record<string, string>): ComposeRequest['assignment'] => {
    if (source.value === 'id') return { id: fields.id ?? '' };
    if (source.value === 'chainId') return { chainId: fields.chainId ?? '' };
    return { facts: JSON.parse(fields.facts ?? '') };
  };
  const attempt = (event: Event) => {
    const { scenario, facts, id, chainId, ...named } = fieldsOf(event);
    notFacts.value =
      source.value === 'facts' && !isObject(facts ?? '') ? 'must be a JSON object, such as {"status": "draft"}' : '';
    if (notFacts.value) return;
    // Their names begin with a $, so that none is one of the other fields.
    const given = Object.entries(named).map(([name, value]) => [name.slice(1), value] as const);
    const filled = Object.fromEntries(given.filter(([, value]) => value !== ''));
    const request: ComposeRequest = {
      elements: [...elements],
      variables: filled,
      assignment: assignmentOf({ facts: facts ?? '', id: id ?? '', chainId: chainId ?? '' }),
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
        <Field label="With">
          {(ids) => (
            <select
              {...ids}
              value={source.value}
              onChange={(event) => (source.value = event.currentTarget.value as typeof source.value)}
            >
              <option value="facts">a made-up assignment</option>
              <option value="id">an assignment as it is now</option>
              <option value="chainId">an event that came</option>
            </select>
          )}
        </Field>
        {source.value === 'id' && <Field label="Assignment">{(ids) => <input {...ids} name="id" required />}</Field>}
        {source.value === 'chainId' && (
          <Field label="Event" hint="Its chain, and its assignment as it is now.">
            {(ids) => (
              <select {...ids} name="chainId" required>
                {chains.data.value?.items.map(({ chainId, receivedAt, assignmentIds }) => (
                  <option key={chainId} value={chainId}>
                    {timeText(receivedAt, timeZone, Date.now())}, assignment {assignmentIds.join(', ') || 'none'}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <Field label="As things go">
          {(ids) => (
            <select {...ids} name="scenario">
              <option value="">as if each were due now</option>
              {Object.entries(scenarioWords).map(([name, words]) => (
                <option key={name} value={name}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      {source.value === 'facts' && (
        <Field label="What the platform says of it" hint="JSON. Conditions are tested on it." problem={notFacts.value}>
          {(ids) => <textarea {...ids} name="facts" rows={2} defaultValue={'{"status": "draft"}'} spellcheck={false} />}
        </Field>
      )}
      {Object.keys(variables).length > 0 && (
        <fieldset>
          <legend>What the webhook fills in</legend>
          <div class="filter">
            {Object.entries(variables).map(([name, sample]) => (
              <Field key={name} label={`\${${name}}`}>
                {(ids) => <input {...ids} name={`$${name}`} placeholder={sample} autocomplete="off" />}
              </Field>
            ))}
          </div>
        </fieldset>
      )}
      <ProblemNote refused={deed.refused} />
      <p class="row">
        <button type="submit" class="main" aria-disabled={deed.busy}>
          Try it
        </button>
        <span class="soft small">Nothing is sent. What would become of each action is said on its card.</span>
      </p>
      {result && (
        <p class={result.remark ? 'note wait' : 'note'}>
          {summary(result)} {result.remark}
        </p>
      )}
    </form>
  );
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** `3 runs, 1 skipped.` */
function summary({ actions, problems }: Composed): string {
  if (!actions) return `It would be refused: ${counted(problems.length, 'problem')}.`;
  const outcomes = actions.map(({ outcome }) => outcome);
  const counts = [...new Set(outcomes)].map((outcome) => {
    const count = outcomes.filter((other) => other === outcome).length;
    return outcome === 'runs' ? `${count} ${count === 1 ? 'runs' : 'run'}` : `${count} ${outcome.replaceAll('-', ' ')}`;
  });
  return `Of ${counted(actions.length, 'action')}: ${counts.join(', ')}.`;
}
