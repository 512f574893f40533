/** One chain: its actions in order, with the buttons to decide about them; and the dialog that makes a rule from its list. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { cancelRefusal } from '../../chain/allowed-verbs.js';
import { hasEnded, lastFoundNobody } from '../../chain/outcome.js';
import { admin, announce, ask, co, may, often, pageOf, query, useCompany, useResource } from '../base.js';
import { Sentences } from '../composer/differences.js';
import { draftOf } from '../composer/draft.js';
import { PageOf } from '../frame.js';
import { stepsOf, Timeline } from '../timeline.js';
import type { ActionResource, ChainList, ChainResource, DraftResponse, fromListsResponse, z } from '../types.js';
import { Confirm, DeedButton, Fold, Known, LinkRow, Mistakes, NotReady, Opener, useDeed } from '../ui/index.js';
import { Badge, Fact, FieldList, InTemporal, Moment, Said, State } from '../ui/text.js';
import { counted, labelled, mistakeText, stateWords, timeText, variableWords } from '../words.js';

/** @returns the chain, and its title. For example `Assignment 1003, Night shift, 14:03:22`. */
function useChain(chainId: string) {
  const { timeZone, ruleOf } = useCompany();
  const chain = useResource<ChainResource>(co`/chains/${chainId}`, often);
  const { actions = [], receivedAt } = chain.data.value ?? {};
  const assignments = assignmentsOf(actions);
  const about = assignments.length > 0 && `Assignment${assignments.length > 1 ? 's' : ''} ${assignments.join(', ')}`;
  const rules = actions.slice(0, 1).map(({ relayId }) => ruleOf(relayId) ?? `rule ${relayId}`);
  const title = [about, ...rules, receivedAt && timeText(receivedAt, timeZone, Date.now())].filter(Boolean).join(', ');
  return [chain, title || 'Chain'] as const;
}

export function ChainPage({ chainId }: { chainId: string }) {
  const [chain, title] = useChain(chainId);
  return (
    <PageOf title={title} of={chain}>
      {(known) => <Chain chain={known} />}
    </PageOf>
  );
}

export function ChainBeside({ chainId, close }: { chainId: string; close: string }) {
  const [chain, title] = useChain(chainId);
  return (
    <aside aria-label="The chosen chain">
      <LinkRow of={{ 'Open as a page': pageOf.chain(chainId), Close: close }} />
      <Known of={chain}>
        {(known) => (
          <>
            <h2>{title}</h2>
            <Chain chain={known} />
          </>
        )}
      </Known>
    </aside>
  );
}

const assignmentsOf = (actions: readonly ActionResource[]) => [...new Set(actions.flatMap((one) => one.assignmentId ?? []))];

const full =
  'The history of this chain is full, so no more retries are possible. Skip or cancel the steps that need attention, or let the platform send the event again.';
const lost =
  'This chain is no longer stored, so the relay cannot show its steps. The remaining steps will not run. Let the platform send the event again.';

function Chain({ chain }: { chain: ChainResource }) {
  const { ruleName } = useCompany();
  const { chainId, status, actions, ignored = [], warnings = [], partial, historyFull, forgotten, links, tokenIds, rule } = chain;
  const relayIds = [...new Set(actions.map(({ relayId }) => relayId))];
  const [relayId, another] = relayIds;
  const left = counted(actions.filter(({ state }) => !hasEnded(state)).length, 'step');
  useAnnounced(chain);
  const notes: (ComponentChildren | false)[] = [
    forgotten && (partial ? lost : 'Only a copy of this chain is stored now. You can read it, but nobody can retry its steps.'),
    partial && !forgotten && 'The relay could not read the newest states of the steps, so this page may be out of date.',
    historyFull && full,
    ...ignored.map((signal) => <Said key={signal} text={`A decision had no effect (${labelled(signal)}).`} />),
  ];
  return (
    <>
      <dl class="facts">
        <Fact name="Status">
          <State of={status} />
          {lastFoundNobody(actions) && <Badge tone="wait">nobody found</Badge>}
        </Fact>
        <Moment name="Received" at={chain.receivedAt} distance />
        <Moment name="Closed" at={chain.closedAt} distance />
        <Links name="Assignment" of={assignmentsOf(actions).map((id) => [pageOf.assignment(id), id])} />
        <Links name="Rule" of={relayIds.map((id) => [pageOf.rule(id), ruleName(id)])} />
        {rule && (
          <Fact name="Started by">
            <a href={pageOf.event(rule.relayId, rule.eventId)}>an event</a>
            <a href={pageOf.versions(rule.relayId)}>version {rule.version}</a>
          </Fact>
        )}
      </dl>
      {notes.filter(Boolean).map((note) => (
        <p class="note wait">{note}</p>
      ))}
      {warnings.length > 0 && (
        <Fold {...{ summary: `Warnings about the request (${warnings.length})`, isNeeded: false }}>
          <Mistakes of={warnings} words={mistakeText} />
        </Fold>
      )}
      <Timeline steps={stepsOf(chain)} />
      <p class="row">
        {may('steer') && !cancelRefusal(chain) && (
          <DeedButton
            {...{ title: 'Cancel the chain?', verb: 'Cancel the chain', danger: true, words: 'The chain is being cancelled.' }}
            about={`The relay cancels ${left}. You cannot undo this. A step that is running now still finishes.`}
            change={() => ask('POST', co`/chains/${chainId}/cancel`)}
          />
        )}
        {may('author') && !rule && relayId !== undefined && !another && (
          <Opener opens={making}>{(onClose) => <MakeRule {...{ relayId, chainId, onClose }} />}</Opener>
        )}
      </p>
      <p class="soft small">
        Chain <code>{chainId}</code>
        {tokenIds && may('author') && `. The request used the ${tokenIds.length > 1 ? 'tokens' : 'token'} ${tokenIds.join(', ')}`}
        {links.webUi && '. '}
        <InTemporal at={links.webUi} />
      </p>
    </>
  );
}

function Links({ name, of }: { name: string; of: [href: string, words: string][] }) {
  if (of.length === 0) return null;
  return (
    <Fact name={of.length > 1 ? `${name}s` : name}>
      {of.map(([href, words]) => (
        <a href={href}>{words}</a>
      ))}
    </Fact>
  );
}

/** Announces each change of a state to screen readers. */
function useAnnounced({ status, actions }: ChainResource): void {
  const before = useRef<ReadonlyMap<string, string> | undefined>(undefined);
  const states = new Map([
    ['Chain', stateWords(status)],
    ...actions.map((action) => [`Step ${action.index + 1}`, stateWords(action.state, action.result)] as const),
  ]);
  useEffect(() => {
    const changed = [...states].filter(([what, state]) => before.current && before.current.get(what) !== state);
    before.current = states;
    if (changed.length > 0) announce(changed.map(([what, state]) => `${what}: ${state}`).join('. '), false);
  }, [JSON.stringify([...states])]);
}

const making = 'Copy the steps into a draft of the rule';

function MakeRule({ relayId, chainId, onClose }: { relayId: string; chainId: string; onClose(): void }) {
  const { route } = useLocation();
  const at = admin`/rules/${relayId}/draft`;
  const made = useSignal<(z.infer<typeof fromListsResponse> & { draft: DraftResponse }) | undefined>(undefined);
  const deed = useDeed();
  const make = async () => {
    const { items } = await ask<ChainList>('GET', co`/chains` + query({ relayId, limit: '20' }));
    const chainIds = [...new Set([chainId, ...items.map((chain) => chain.chainId)])];
    const read = await ask<z.infer<typeof fromListsResponse>>('POST', `${at}/from-lists`, { chainIds });
    made.value = { ...read, draft: await ask<DraftResponse>('GET', at) };
  };
  useEffect(() => void deed.run(make), []);
  if (!made.value) return <NotReady {...{ title: making, onClose, ...deed }}>Reading the latest chains of this rule…</NotReady>;
  const { contents, values, draft } = made.value;
  const varying = Object.entries(values).map(([name, all]): [string, unknown] => [variableWords(name), all.slice(0, 3)]);
  const save = () =>
    deed.run(async () => {
      await ask('PUT', at, { revision: draft.revision, contents });
      route(pageOf.draft(relayId));
    });
  return (
    <Confirm {...deed} title={making} verb="Save as the draft" onClose={onClose} onConfirm={() => void save()}>
      <Sentences of={draftOf(contents)} />
      {varying.length > 0 && <p>The rule takes these values from each event. Examples stand next to each value:</p>}
      <FieldList fields={varying} />
      {draft.contents && <p class="note wait">These steps replace the draft. The published version does not change.</p>}
      <p class="soft small">Saving does not publish the draft. You can change and try the draft before you publish it.</p>
    </Confirm>
  );
}
