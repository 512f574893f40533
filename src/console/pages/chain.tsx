/** One chain: its actions in order, with the buttons to decide about them. */

import { useEffect, useRef } from 'preact/hooks';
import { cancelRefusal } from '../../chain/allowed-verbs.js';
import { foundNobody, hasEnded } from '../../chain/outcome.js';
import type { ChainResource } from '../../contract/chain-resource.js';
import { pageOf, path } from '../addresses.js';
import { ask } from '../api.js';
import { announce, Page } from '../frame.js';
import { often, type Resource, useResource } from '../resource.js';
import { MakeRule } from '../rule/make-rule.js';
import { type Company, may, ruleName, ruleOf, useCompany } from '../session.js';
import { deedOf } from '../story.js';
import { stepsOf, Timeline } from '../timeline.js';
import { DeedButton } from '../ui/dialog.js';
import { Known } from '../ui/known.js';
import { Fact, Said, State, UpToDate } from '../ui/text.js';
import { timeText } from '../when.js';
import { counted } from '../words.js';
import { ChainStep, Moment } from './chain-step.js';

export function ChainPage({ chainId }: { chainId: string }) {
  const company = useCompany();
  const chain = useResource<ChainResource>(path`/co/${company.companyId}/chains/${chainId}`, often);
  const known = chain.data.value;
  return (
    <Page title={known ? chainTitle(company, known) : 'Chain'}>
      <Known of={chain}>{(known) => <Chain chain={known} resource={chain} />}</Known>
      <UpToDate of={chain} />
    </Page>
  );
}

/** The chain beside a list. */
export function ChainBeside({ chainId, close }: { chainId: string; close: string }) {
  const company = useCompany();
  const { companyId } = company;
  const chain = useResource<ChainResource>(path`/co/${companyId}/chains/${chainId}`, often);
  return (
    <aside aria-label="The chosen chain">
      <p class="row spread">
        <a href={pageOf.chain(companyId, chainId)}>Open as a page</a>
        <a href={close}>Close</a>
      </p>
      <Known of={chain}>
        {(known) => (
          <>
            <h2>{chainTitle(company, known)}</h2>
            <Chain chain={known} resource={chain} />
          </>
        )}
      </Known>
    </aside>
  );
}

/** For example `Assignment 1003, Night shift, 14:03:22`. */
function chainTitle(company: Company, { actions, receivedAt }: ChainResource): string {
  const assignments = [...new Set(actions.flatMap(({ assignmentId }) => assignmentId ?? []))];
  const [relayId] = actions.map(({ relayId }) => relayId);
  const about = assignments.length > 0 && `Assignment${assignments.length > 1 ? 's' : ''} ${assignments.join(', ')}`;
  const rule = relayId !== undefined && (ruleOf(company, relayId)?.name ?? `rule ${relayId}`);
  return [about, rule, timeText(receivedAt, company.timeZone, Date.now())].filter(Boolean).join(', ');
}

function Chain({ chain, resource }: { chain: ChainResource; resource: Resource<ChainResource> }) {
  const company = useCompany();
  const { companyId } = company;
  const {
    chainId,
    status,
    receivedAt,
    closedAt,
    actions,
    ignored = [],
    partial,
    forgotten,
    historyFull,
    links,
    tokenIds,
    rule,
  } = chain;
  const ofRules = [...new Set(actions.map(({ relayId }) => relayId))];
  const [relayId] = ofRules;
  useAnnounced(chain);
  const assignments = [...new Set(actions.flatMap(({ assignmentId }) => assignmentId ?? []))];
  const nobody = actions.filter(foundNobody).length;
  return (
    <>
      <dl class="facts">
        <Fact name="Status">
          <State of={status} /> {nobody > 0 && <span class="badge wait">{nobody > 1 ? `${nobody} times ` : ''}nobody found</span>}
        </Fact>
        <Moment name="Received" at={receivedAt} distance />
        <Moment name="Closed" at={closedAt} distance />
        {assignments.length > 0 && (
          <Fact name={assignments.length > 1 ? 'Assignments' : 'Assignment'}>
            {assignments.map((assignmentId) => (
              <a key={assignmentId} href={pageOf.assignment(companyId, assignmentId)}>
                {assignmentId}
              </a>
            ))}
          </Fact>
        )}
        {ofRules.length > 0 && (
          <Fact name={ofRules.length > 1 ? 'Rules' : 'Rule'}>
            {ofRules.map((relayId) => (
              <a key={relayId} href={pageOf.rule(companyId, relayId)}>
                {ruleName(company, relayId)}
              </a>
            ))}
            {rule && <a href={pageOf.versions(companyId, rule.relayId)}>version {rule.version}</a>}
          </Fact>
        )}
        {rule && (
          <Fact name="From">
            <a href={pageOf.event(companyId, rule.relayId, rule.eventId)}>an event</a>
          </Fact>
        )}
      </dl>
      {partial && !forgotten && (
        <p class="note wait">The relay could not read the newest states in time, so this page may be out of date.</p>
      )}
      {partial && forgotten && (
        <p class="note wait">
          Temporal does not know this chain any more, and the relay could not read its actions.
          {status === 'forgotten' && ' The chain was open, and it does not run. Let the platform send the event again.'}
        </p>
      )}
      {historyFull && (
        <p class="note wait">
          The history of this chain in Temporal is full, so no more retries are possible. Skip or cancel the actions that need
          attention, or let the platform send the event again.
        </p>
      )}
      {ignored.length > 0 && (
        <div class="note wait">
          These decisions had no effect:
          <ul>
            {ignored.map((signal) => (
              <li key={signal}>
                <Said text={signal} />
              </li>
            ))}
          </ul>
        </div>
      )}
      <Timeline steps={stepsOf(chain)}>
        {({ action }) => <ChainStep chain={chain} action={action} onDone={resource.refresh} />}
      </Timeline>
      {may('steer') && !cancelRefusal(chain) && <CancelChain chain={chain} onDone={resource.refresh} />}
      {may('author') && !rule && relayId !== undefined && ofRules.length === 1 && (
        <p>
          <MakeRule relayId={relayId} chainId={chainId} />
        </p>
      )}
      <p class="soft small">
        Chain <code>{chainId}</code>
        {tokenIds && `, started with token ${tokenIds.join(', ')}`}
        {links.webUi && (
          <>
            {'. '}
            <a href={links.webUi} target="_blank" rel="noreferrer">
              Open in Temporal
            </a>
          </>
        )}
      </p>
    </>
  );
}

/** Announces each change of a state to screen readers. */
function useAnnounced({ status, actions }: ChainResource): void {
  const before = useRef<ReadonlyMap<string, string> | undefined>(undefined);
  const states = new Map([
    ['The chain', status as string],
    ...actions.map((action) => [`${action.index + 1}. ${deedOf(action)}`, action.state] as const),
  ]);
  useEffect(() => {
    const changed = [...states].filter(([what, state]) => before.current && before.current.get(what) !== state);
    before.current = states;
    if (changed.length > 0) announce(changed.map(([what, state]) => `${what}: ${state}`).join('. '));
  }, [JSON.stringify([...states])]);
}

function CancelChain({ chain, onDone }: { chain: ChainResource; onDone(): void }) {
  const { companyId } = useCompany();
  const left = chain.actions.filter(({ state }) => !hasEnded(state)).length;
  return (
    <p>
      <DeedButton
        title="Cancel the chain?"
        verb="Cancel the chain"
        danger
        change={() => ask('POST', path`/co/${companyId}/chains/${chain.chainId}/cancel`)}
        words="The chain is being cancelled."
        onDone={onDone}
      >
        <p>The relay cancels {counted(left, 'action')}. You cannot undo this. A running action finishes first.</p>
      </DeedButton>
    </p>
  );
}
