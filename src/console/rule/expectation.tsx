/** How often a rule expects an event, and the proposal from its past events. */

import { useSignal } from '@preact/signals';
import { weekdays } from '../../chain/expectation.js';
import type { RuleHealth } from '../../contract/health.js';
import { path } from '../addresses.js';
import { ask } from '../api.js';
import { readDuration, wholeDuration } from '../composer/durations.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { Button, Submit, useDeed } from '../ui/buttons.js';
import { Entry, fieldsOf } from '../ui/fields.js';
import type { Rule } from './policy.js';

type Expectation = Pick<Rule, 'expectEvery' | 'expectWithin'>;

export function ExpectationForm({ rule, at, onSaved }: { rule: Rule; at: string; onSaved(rule: Rule): void }) {
  const { companyId, timeZone } = useCompany();
  const health = useResource<RuleHealth>(path`/co/${companyId}/rules/${rule.relayId}/health?days=1`, seldom);
  const { proposed } = health.data.value ?? {};
  const deed = useDeed();
  const problem = useSignal('');
  const save = async ({
    expectEvery = null,
    expectWithin = null,
  }: { [Field in keyof Expectation]?: Expectation[Field] | null }) => {
    // A merge patch would keep the days and hours that the new hours lack.
    const { days = null, from = null, to = null } = expectWithin ?? {};
    const within = expectWithin && { days, from, to };
    const change = async () => onSaved(await ask<Rule>('PATCH', at, { expectEvery, expectWithin: within }));
    await deed.run(change, 'Saved');
  };
  const submit = (event: Event) => {
    const { every = '', from, to, ...rest } = fieldsOf(event);
    const read = every === '' ? { seconds: undefined } : readDuration(every);
    problem.value = 'error' in read ? (read.error ?? '') : '';
    if (problem.value) return;
    const days = weekdays.filter((day) => rest[day]);
    void save({
      expectEvery: read.seconds,
      expectWithin: { ...(days.length > 0 && { days }), ...(from && { from }), ...(to && { to }) },
    });
  };
  const { expectEvery, expectWithin = {} } = rule;
  return (
    <form class="card" onSubmit={submit} key={JSON.stringify([expectEvery, expectWithin])}>
      <h2>Quiet</h2>
      <p>If no event comes for too long, the contacts get a notice.</p>
      <Entry
        label="An event is expected every"
        hint="For example: 30 minutes, 3 h or 1 day. Empty: never."
        name="every"
        defaultValue={expectEvery === undefined ? '' : wholeDuration(expectEvery)}
        problem={problem.value}
      />
      <p class="row">
        {weekdays.map((day) => (
          <label key={day}>
            <input type="checkbox" name={day} defaultChecked={expectWithin.days?.includes(day) ?? false} /> {day}
          </label>
        ))}
        <span class="soft small">No day: every day.</span>
      </p>
      <Entry
        label={`From (${expectWithin.timeZone ?? timeZone})`}
        name="from"
        type="time"
        defaultValue={expectWithin.from ?? ''}
      />
      <Entry label="To" name="to" type="time" defaultValue={expectWithin.to ?? ''} />
      <Submit {...deed} words="Save">
        {proposed && (
          <>
            <Button aria-disabled={deed.busy} onClick={() => void save(proposed)}>
              Use the proposal
            </Button>
            <span class="soft small">{proposalWords(proposed)}, by the events of the last 4 weeks.</span>
          </>
        )}
      </Submit>
    </form>
  );
}

/** For example `1 hour, mon tue wed, 08:00 to 18:00`. */
function proposalWords({ expectEvery, expectWithin: { days, from, to } = {} }: NonNullable<RuleHealth['proposed']>): string {
  const hours = from === undefined ? undefined : `${from} to ${to}`;
  return [wholeDuration(expectEvery), days?.join(' '), hours].filter(Boolean).join(', ');
}
