/** The filter of the list of chains: tabs by status, fields that act immediately, and views that the browser keeps. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { chainStatuses } from '../../chain/outcome.js';
import { co, pageOf, query, useCompany, useResource } from '../base.js';
import type { ChainCounts } from '../types.js';
import { Button, DeedButton, Entry, Select } from '../ui/index.js';
import { failureTypes, failureWords, sinceTime, stateWords, timeText } from '../words.js';

const formFields = ['status', 'assignmentId', 'relayId', 'reason', 'nobodyFound', 'since'] as const;
export const filterFields = [...formFields, 'until', 'paused', 'ticketId'] as const; // the form can only remove the last three
export type Filter = Partial<Record<(typeof filterFields)[number], string>>;

const typingMs = 400; // a filter acts this long after the last key

const sinces: Record<string, string> = { '1h': 'the last hour', '24h': 'the last day', '7d': 'the last 7 days' };
const rare: ReadonlySet<string> = new Set(['cancelled', 'terminated', 'forgotten']);

/** Each tab has the number of chains that match the other filters. */
export function StatusTabs({ filter, asked }: { filter: Filter; asked: Filter }) {
  const { status = '', ...others } = asked;
  const counts = useResource<ChainCounts>(co`/chains/counts` + query(others)).data.value;
  const all = counts && Object.values(counts).reduce((sum, count) => sum + count, 0);
  const shown = chainStatuses.filter((tab) => !rare.has(tab) || tab === status || counts?.[tab]);
  const tabs = [['', 'all', all], ...shown.map((tab) => [tab, stateWords(tab), counts?.[tab]] as const)] as const;
  return (
    <nav class="tabs" aria-label="Status">
      {tabs.map(([tab, words, count]) => (
        <a key={tab} href={pageOf.chains({ ...filter, status: tab })} aria-current={tab === status ? 'page' : undefined}>
          {words} <span class="soft">{count ?? '…'}</span>
        </a>
      ))}
    </nav>
  );
}

/** The options of a list. The address can contain a value that is not among them. */
function options(any: string, values: readonly string[], current: string, words: (value: string) => string) {
  const all = values.includes(current) || !current ? values : [...values, current];
  return [['', any] as const, ...all.map((value) => [value, words(value)] as const)];
}

export function FilterFields({ filter }: { filter: Filter }) {
  const { timeZone, rules: known, ruleName } = useCompany();
  const { route } = useLocation();
  const { assignmentId = '', relayId = '', reason = '', since = '', until, ticketId } = filter;
  const typed = useSignal(assignmentId);
  const show = (change: Filter) => route(pageOf.chains({ ...filter, ...change }));
  useEffect(() => {
    typed.value = assignmentId;
  }, [assignmentId]);
  useEffect(() => {
    if (typed.value.trim() === assignmentId) return;
    const timer = setTimeout(() => show({ assignmentId: typed.value.trim() }), typingMs);
    return () => clearTimeout(timer);
  }, [typed.value]);
  const written = (time: string) => (sinceTime(time, 0) ? timeText(time, timeZone, Date.now()) : time);
  const rules = known.map(({ relayId }) => relayId);
  const lists = [
    ['relayId', 'Rule', options('any', rules, relayId, (id) => ruleName(id))],
    ['reason', 'Error', options('any', failureTypes, reason, failureWords)],
    ['nobodyFound', 'Technicians', options('any', ['true'], '', () => 'nobody found')],
    ['since', 'Received', options('any time', Object.keys(sinces), since, (time) => sinces[time] ?? `since ${written(time)}`)],
  ] as const;
  const others = Object.entries({
    until: until && `until ${written(until)}`,
    paused: filter.paused && 'paused',
    ticketId: ticketId && `ticket ${ticketId}`,
  }).filter(([, words]) => words);
  return (
    <div class="filter">
      <Entry label="Assignment" of={typed} autocomplete="off" />
      {lists.map(([name, label, options]) => (
        <Select key={name} {...{ label, options }} value={filter[name] ?? ''} onPick={(value) => show({ [name]: value })} />
      ))}
      <p class="row">
        {others.map(([name, words]) => (
          <Button key={name} onClick={() => show({ [name]: undefined })}>
            {words} ✕
          </Button>
        ))}
        {Object.keys(filter).length > 0 && <a href={pageOf.chains()}>Clear filter</a>}
      </p>
    </div>
  );
}

const name = { label: 'Name of the view', required: true, maxLength: 40 };
const title = 'Save this filter as a view';
const saving = { opens: title, title, look: 'quiet', verb: 'Save', words: 'View saved', fields: { name } } as const;

/** Named filters. Each browser keeps its own views of each company. */
export function Views({ filter }: { filter: Filter }) {
  const { companyId } = useCompany();
  const key = `views ${companyId}`;
  const views = useSignal<Record<string, string>>(JSON.parse(localStorage.getItem(key) ?? '{}'));
  const here = query(filter);
  const keep = (saved: [name: string, view: string][]) => {
    views.value = Object.fromEntries(saved);
    localStorage.setItem(key, JSON.stringify(views.value));
  };
  const saved = Object.entries(views.value);
  const isSaved = saved.some(([, view]) => view === here);
  if (saved.length === 0 && here === '') return null;
  return (
    <nav class="row small" aria-label="Saved views">
      {saved.map(([name, view]) => (
        <a key={name} href={pageOf.chains() + view} aria-current={view === here ? 'page' : undefined}>
          {name}
        </a>
      ))}
      {isSaved && (
        <Button class="quiet" onClick={() => keep(saved.filter(([, view]) => view !== here))}>
          Delete this view
        </Button>
      )}
      {here !== '' && !isSaved && <DeedButton {...saving} change={async ({ name = '' }) => keep([...saved, [name, here]])} />}
    </nav>
  );
}
