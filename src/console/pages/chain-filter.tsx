/** The filter of the list of chains: tabs by status, fields that act at once, and views that the browser keeps. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { chainStatuses } from '../../chain/outcome.js';
import type { ChainCounts } from '../../contract/chain-resource.js';
import { pageOf, path, query } from '../addresses.js';
import { useResource } from '../resource.js';
import { ruleName, useCompany } from '../session.js';
import { Button } from '../ui/buttons.js';
import { Confirm, Opener } from '../ui/dialog.js';
import { Entry, Select } from '../ui/fields.js';
import { sinceTime, timeText } from '../when.js';
import { failureTypes, failureWords, stateWords } from '../words.js';

export const filterFields = ['status', 'assignmentId', 'relayId', 'reason', 'since', 'until', 'paused'] as const;
export type Filter = Partial<Record<(typeof filterFields)[number], string>>;

const sinces = { '1h': 'the last hour', '24h': 'the last day', '7d': 'the last 7 days' };
/** A filter acts this long after the last key. */
const typingMs = 400;

/** Each tab has the number of chains that match the other filters. */
export function StatusTabs({ filter, asked }: { filter: Filter; asked: Filter }) {
  const { companyId } = useCompany();
  const { status = '', paused: _, ...others } = asked;
  const counts = useResource<ChainCounts>(path`/co/${companyId}/chains/counts` + query(others)).data.value;
  const all = counts && Object.values(counts).reduce((sum, count) => sum + count, 0);
  const rare = ['cancelled', 'terminated', 'forgotten'];
  const tabs = [['', 'all', all], ...chainStatuses.map((tab) => [tab, stateWords(tab), counts?.[tab]])] as const;
  return (
    <nav class="tabs" aria-label="Status">
      {tabs
        .filter(([tab, , count]) => !rare.includes(String(tab)) || tab === status || count)
        .map(([tab, words, count]) => (
          <a
            key={tab}
            href={pageOf.chains(companyId, { ...filter, status: String(tab) })}
            aria-current={tab === status ? 'page' : undefined}
          >
            {words} <span class="soft">{count ?? '…'}</span>
          </a>
        ))}
    </nav>
  );
}

export function FilterFields({ filter }: { filter: Filter }) {
  const company = useCompany();
  const { route } = useLocation();
  const { assignmentId = '', relayId = '', reason = '', since = '', until, paused } = filter;
  const typed = useSignal(assignmentId);
  const show = (change: Filter) => route(pageOf.chains(company.companyId, { ...filter, ...change }));
  useEffect(() => {
    typed.value = assignmentId;
  }, [assignmentId]);
  useEffect(() => {
    if (typed.value.trim() === assignmentId) return;
    const timer = setTimeout(() => show({ assignmentId: typed.value.trim() }), typingMs);
    return () => clearTimeout(timer);
  }, [typed.value]);
  // The address can contain a value that is not in the list.
  const relayIds = new Set([...company.rules.map((rule) => rule.relayId), ...(relayId ? [relayId] : [])]);
  const reasons = new Set([...failureTypes, ...(reason ? [reason] : [])]);
  const written = (time: string) => (sinceTime(time, 0) ? timeText(time, company.timeZone, Date.now()) : time);
  const times = { ...sinces, ...(since && !(since in sinces) && { [since]: `since ${written(since)}` }) };
  const pick = (name: keyof Filter) => (value: string) => show({ [name]: value });
  return (
    <div class="filter">
      <Entry label="Assignment" of={typed} autocomplete="off" />
      <Select
        label="Rule"
        options={[['', 'any'], ...[...relayIds].map((relayId) => [relayId, ruleName(company, relayId)] as const)]}
        value={relayId}
        onPick={pick('relayId')}
      />
      <Select
        label="Error"
        options={[['', 'any'], ...[...reasons].map((reason) => [reason, failureWords(reason)] as const)]}
        value={reason}
        onPick={pick('reason')}
      />
      <Select label="Received" options={[['', 'any time'], ...Object.entries(times)]} value={since} onPick={pick('since')} />
      <p class="row">
        {until && <Button onClick={() => show({ until: undefined })}>until {written(until)} ✕</Button>}
        {paused && <Button onClick={() => show({ paused: undefined })}>paused ✕</Button>}
        {Object.keys(filter).length > 0 && <a href={pageOf.chains(company.companyId)}>Clear filter</a>}
      </p>
    </div>
  );
}

/** Named filters. Each browser keeps its own views of each company. */
export function Views({ filter }: { filter: Filter }) {
  const { companyId } = useCompany();
  const key = `views ${companyId}`;
  const views = useSignal<Record<string, string>>(JSON.parse(localStorage.getItem(key) ?? '{}'));
  const name = useSignal('');
  const here = query(filter);
  const keep = (next: Record<string, string>) => {
    views.value = next;
    localStorage.setItem(key, JSON.stringify(next));
  };
  const saved = Object.entries(views.value);
  const current = saved.find(([, view]) => view === here);
  if (saved.length === 0 && here === '') return null;
  return (
    <nav class="row small" aria-label="Saved views">
      {saved.map(([name, view]) => (
        <a key={name} href={pageOf.chains(companyId) + view} aria-current={view === here ? 'page' : undefined}>
          {name}
        </a>
      ))}
      {current && (
        <Button onClick={() => keep(Object.fromEntries(saved.filter((one) => one !== current)))}>Forget this view</Button>
      )}
      {here !== '' && !current && (
        <Opener opens="Save as a view">
          {(onClose) => (
            <Confirm
              title="Save as a view"
              verb="Save"
              busy={false}
              refused={undefined}
              onClose={onClose}
              onConfirm={() => {
                keep({ ...views.value, [name.value.trim()]: here });
                onClose();
              }}
            >
              <Entry label="Name of the view" of={name} required maxLength={40} />
            </Confirm>
          )}
        </Opener>
      )}
    </nav>
  );
}
