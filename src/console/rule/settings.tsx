/** The settings of a rule: its name, its policy, its contacts, how often it expects an event, and whether it is enabled. */

import { useSignal } from '@preact/signals';
import { readDuration, wholeDuration } from '../../chain/durations.js';
import { weekdays } from '../../chain/expectation.js';
import { ask, changedIn, co, only, seldom, useCompany, useForm, useResource } from '../base.js';
import { NotifyFields, notifyPatch } from '../notify-fields.js';
import type { RuleHealth, ruleSchema, z } from '../types.js';
import { Button, DeedButton, FormFields, fieldsOf, ProblemNote, Submit, useDeed } from '../ui/index.js';
import { capital, onFailureWords, onUnknownWords } from '../words.js';

export type Rule = z.infer<typeof ruleSchema>;

type RuleSettingsProps = { rule: Rule; at: string; onSaved(rule: Rule): void };

const hint = 'For example: 30 minutes, 3 h or 1 day. If the field is empty, nobody gets this notice.';
const every = { label: 'Send a notice if no event arrives for', hint };
const unknown = 'If a connection breaks, and the result of the step is unknown';
const [failureWays, unknownWays] = [Object.entries(onFailureWords), Object.entries(onUnknownWords)];
const fieldsOfRule = ({ name, onFailure, onUnknown }: Rule) => ({
  name: { label: 'Name', required: true, maxLength: 200, first: name },
  onFailure: { label: 'If a step fails', options: failureWays, first: onFailure },
  onUnknown: { label: unknown, hint: 'A repeated step may do its work twice.', options: unknownWays, first: onUnknown },
});

export function RuleSettings({ rule, at, onSaved }: RuleSettingsProps) {
  const { timeZone } = useCompany();
  const health = useResource<RuleHealth>(co`/rules/${rule.relayId}/health?days=1`, seldom);
  const { proposed } = health.data.value ?? {};
  const [form, deed, problem] = [useForm(), useDeed(), useSignal('')];
  const change = async (patch: object) => onSaved(await ask<Rule>('PATCH', at, patch));
  const save = async (event: Event) => {
    const changed = changedIn(event.currentTarget);
    const { name, onFailure, onUnknown, every = '', from = '', to = '', ...fields } = fieldsOf(event);
    const told = only(changed, notifyPatch(fields));
    const days = weekdays.filter((day) => fields[day]);
    const { seconds, error } = every === '' ? {} : readDuration(every);
    problem.value = error ?? '';
    if (error) return;
    const patch = {
      ...only(changed, { name, onFailure, onUnknown }),
      // Does not send an empty `notify`: once a rule has a `notify`, its causes are separate from the causes of other rules.
      ...(Object.keys(told).length > 0 && { notify: told }),
      ...(changed.has('every') && { expectEvery: seconds ?? null }),
      ...(['from', 'to', ...weekdays].some((one) => changed.has(one)) && hours(days, from, to)),
    };
    if (await deed.run(() => change(patch), 'Saved')) form.saved();
  };
  const propose = async ({ expectEvery, expectWithin: { days = [], from, to } = {} }: NonNullable<typeof proposed>) => {
    if (await deed.run(() => change({ expectEvery, ...hours(days, from, to) }), 'Saved')) form.saved();
  };
  const { expectEvery, expectWithin = {} } = rule;
  const times = {
    from: { label: `From (${expectWithin.timeZone ?? timeZone})`, type: 'time', first: expectWithin.from ?? '' },
    to: { label: 'To', type: 'time', first: expectWithin.to ?? '' },
  } as const;
  return (
    <form onSubmit={(event) => void save(event)} ref={form.ref}>
      <FormFields of={fieldsOfRule(rule)} />
      <NotifyFields notify={rule.notify} of="rule" />
      <fieldset>
        <legend>If no event comes for too long, the contacts get a notice</legend>
        <FormFields of={{ every: { ...every, problem: problem.value, first: expectEvery ? wholeDuration(expectEvery) : '' } }} />
        <p class="row">
          {weekdays.map((day) => (
            <label key={day}>
              <input type="checkbox" name={day} defaultChecked={expectWithin.days?.includes(day) ?? false} /> {capital(day)}
            </label>
          ))}
          <span class="soft small">If you select no day, the relay expects events every day.</span>
        </p>
        <FormFields of={times} />
        {proposed && (
          <p class="row">
            <Button {...{ 'aria-disabled': deed.busy, onClick: () => void propose(proposed) }}>Use the proposal</Button>
            <span class="soft small">Proposal from the last 4 weeks: {proposalWords(proposed)}.</span>
          </p>
        )}
      </fieldset>
      <Submit {...deed} words="Save" />
    </form>
  );
}

const disabled = 'Disabled. The relay refuses new requests, and skips steps that become due.';
const disabling = {
  ...{ verb: 'Disable', danger: true, words: 'Rule disabled.' },
  about: 'New requests are stored, but do not run. Running chains skip each step that becomes due. You cannot undo a skip.',
};

export function Enabling({ rule: { name, enabled }, at, onSaved }: RuleSettingsProps) {
  const deed = useDeed();
  const set = async (enabled: boolean) => onSaved(await ask<Rule>('PATCH', at, { enabled }));
  const enable = () => void deed.run(() => set(true), 'Rule enabled.');
  return (
    <p class="row">
      {enabled && <DeedButton {...disabling} title={`Disable the rule “${name}”?`} change={() => set(false)} />}
      {!enabled && <Button {...{ 'aria-disabled': deed.busy, onClick: enable }}>Enable</Button>}
      <ProblemNote refused={deed.refused} />
      <span class="soft small">{enabled ? 'Enabled.' : disabled}</span>
    </p>
  );
}

/** Sends null for empty fields, because a merge patch without these fields would keep their old values. */
const hours = (days: readonly string[], from?: string, to?: string) => ({
  expectWithin: { days: days.length > 0 ? days : null, from: from || null, to: to || null },
});

/** For example `1 hour, mon tue wed, 08:00 to 18:00`. */
const proposalWords = ({ expectEvery, expectWithin: { days, from, to } = {} }: NonNullable<RuleHealth['proposed']>) =>
  [wholeDuration(expectEvery), days?.map(capital).join(' '), from && `${from} to ${to}`].filter(Boolean).join(', ');
