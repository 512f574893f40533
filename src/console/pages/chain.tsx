/** One chain: its actions in order, with the buttons to decide about them. */

import { useEffect, useRef } from 'preact/hooks';
import { cancelRefusal } from '../../chain/allowed-verbs.js';
import { type Fields, fixedFields } from '../../chain/fields.js';
import { hasEnded } from '../../chain/outcome.js';
import type { ActionResource, ChainResource, NoticeText } from '../../contract/chain-resource.js';
import { noticeKindOf } from '../../contract/notices.js';
import { pageOf, path } from '../addresses.js';
import { ask } from '../api.js';
import { announce, Page } from '../frame.js';
import { Asked, DeedButton, Fact, Failure, FieldList, Known, Said, State, Time, UnknownNote, UpToDate } from '../parts.js';
import { often, type Resource, useResource } from '../resource.js';
import { MakeRule } from '../rule/make-rule.js';
import { may, ruleName, useCompany } from '../session.js';
import { Verbs } from '../steer.js';
import { counted, failureTitle, isFutile, remedyWords, titleOf, toneOf, verbWords } from '../words.js';

export function ChainPage({ chainId }: { chainId: string }) {
  const { companyId } = useCompany();
  const chain = useResource<ChainResource>(path`/co/${companyId}/chains/${chainId}`, often);
  return (
    <Page title={`Chain ${chainId.slice(0, 8)}`} about={<code>{chainId}</code>}>
      <Known of={chain}>{(known) => <Chain chain={known} resource={chain} />}</Known>
      <UpToDate of={chain} />
    </Page>
  );
}

function Chain({ chain, resource }: { chain: ChainResource; resource: Resource<ChainResource> }) {
  const { companyId } = useCompany();
  const { status, receivedAt, closedAt, actions, ignored = [], partial, historyFull, links, tokenIds, rule } = chain;
  const ofRules = [...new Set(actions.map(({ relayId }) => relayId))];
  const [relayId] = ofRules;
  useAnnounced(chain);
  const assignments = [...new Set(actions.flatMap(({ assignmentId }) => assignmentId ?? []))];
  return (
    <>
      <dl class="facts">
        <Fact name="Status">
          <State of={status} />
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
        {rule && (
          <Fact name="From">
            <a href={pageOf.event(companyId, rule.relayId, rule.eventId)}>an event</a>
            <a href={pageOf.versions(companyId, rule.relayId)}>version {rule.version}</a>
          </Fact>
        )}
        {tokenIds && <Fact name="Token">{tokenIds.join(', ')}</Fact>}
        {links.webUi && (
          <Fact name="Temporal">
            <a href={links.webUi} target="_blank" rel="noreferrer">
              Open the Web UI
            </a>
          </Fact>
        )}
      </dl>
      {partial && <p class="note wait">The relay could not read the newest states in time, so this page may be out of date.</p>}
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
      <h2>{counted(actions.length, 'action')}</h2>
      <ol class="rail">
        {actions.map((action) => (
          <li key={action.index} class={toneOf(action.state, action.result)}>
            <Action chain={chain} action={action} onDone={resource.refresh} />
          </li>
        ))}
      </ol>
      {may('steer') && !cancelRefusal(chain) && <CancelChain chain={chain} onDone={resource.refresh} />}
      {may('author') && !rule && relayId !== undefined && ofRules.length === 1 && (
        <p>
          <MakeRule relayId={relayId} chainId={chain.chainId} />
        </p>
      )}
    </>
  );
}

/** Announces each change of a state to screen readers. */
function useAnnounced({ status, actions }: ChainResource): void {
  const before = useRef<ReadonlyMap<string, string> | undefined>(undefined);
  const states = new Map([['The chain', status as string], ...actions.map((action) => [titleOf(action), action.state] as const)]);
  useEffect(() => {
    const changed = [...states].filter(([what, state]) => before.current && before.current.get(what) !== state);
    before.current = states;
    if (changed.length > 0) announce(changed.map(([what, state]) => `${what}: ${state}`).join('. '));
  }, [JSON.stringify([...states])]);
}

/** Shows a time with a name. Shows nothing if there is no time. */
function Moment({ name, at, distance }: { name: string; at: string | undefined; distance?: boolean }) {
  return at ? (
    <Fact name={name}>
      <Time at={at} distance={distance} />
    </Fact>
  ) : null;
}

function Action({ chain, action, onDone }: { chain: ChainResource; action: ActionResource; onDone(): void }) {
  const company = useCompany();
  const { state, runAt, startedAt, endedAt, attempts = 0, error, reason, result, deliveries = [], steered = [] } = action;
  const { nextAttemptAt, heldUntil, pausedSince, relayId, assignmentId } = action;
  const retry = Date.parse(nextAttemptAt ?? '') < Date.now() ? 'Retry overdue since' : 'Next retry';
  const isDue = state === 'scheduled' || state === 'pending';
  const at = path`/co/${company.companyId}/chains/${chain.chainId}/actions/${String(action.index)}`;
  return (
    <article aria-label={titleOf(action)}>
      <h3>
        {titleOf(action)} <State of={state} result={result} />
      </h3>
      <dl class="facts small">
        {runAt !== chain.receivedAt && <Moment name="Due" at={runAt} distance={isDue} />}
        <Moment name="Started" at={startedAt} />
        <Moment name="Ended" at={endedAt} />
        {attempts > 0 && <Fact name="Attempts">{attempts}</Fact>}
        {result?.recipients !== undefined && (
          <Fact name="Workers reached">
            {result.recipients === 0 ? <strong class="error">nobody</strong> : result.recipients}
          </Fact>
        )}
        <Fact name="Rule">{ruleName(company, relayId)}</Fact>
        <Moment name="Paused since" at={pausedSince} />
        {!hasEnded(state) && <Moment name={retry} at={nextAttemptAt} distance />}
        {!hasEnded(state) && <Moment name="Fails if nobody decides" at={heldUntil} distance />}
      </dl>
      {result?.note && <Said look="small" text={`Note: ${result.note}`} />}
      {reason && reason !== error?.message && <Said look="reason" text={reason} />}
      {error &&
        (state === 'done' || state === 'skipped' ? (
          <p class="soft small">
            Earlier error: <Said text={error.title ?? error.message} />
          </p>
        ) : (
          <Failure of={error} usual={failureTitle({ ...error, assignmentId })} />
        ))}
      {error && !error.remedy && state === 'needs-attention' && isFutile(error) && <p class="soft small">{remedyWords(error)}</p>}
      {error?.unknown && !hasEnded(state) && <UnknownNote />}
      {deliveries.length > 0 && (
        <details open={deliveries.some(({ sent }) => !sent)}>
          <summary>{counted(deliveries.length, 'recipient')}</summary>
          <ul>
            {deliveries.map(({ recipient, sent, error }) => (
              <li key={recipient}>
                {recipient}: {sent ? 'sent' : `not sent: ${error ?? ''}`}
              </li>
            ))}
          </ul>
        </details>
      )}
      {noticeKindOf(state) && (
        <Asked<NoticeText> key={state} summary="Notice" path={`${at}/notice`}>
          {NoticeWords}
        </Asked>
      )}
      <Asked<{ fields: Fields }> summary="Fields" path={`${at}/fields`}>
        {({ fields }) => <FieldList fields={Object.entries(fields).filter(([name]) => !fixedFields.includes(name))} />}
      </Asked>
      {steered.map(({ at, by, verb, fields = [] }) => (
        <p key={at} class="soft small">
          {by}: {verbWords[verb]}
          {fields.length > 0 && ` (${fields.join(', ')})`}, <Time at={at} />
        </p>
      ))}
      <Verbs chain={chain} action={action} onDone={onDone} />
    </article>
  );
}

function NoticeWords({ sentence, sections }: NoticeText) {
  return (
    <div class="card small">
      <p>
        <Said text={sentence} />
      </p>
      {sections.map(({ title, lines }) => (
        <section key={title}>
          <h4>{title}</h4>
          {lines.map((line) => (
            <p key={line}>
              <Said text={line} />
            </p>
          ))}
        </section>
      ))}
    </div>
  );
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
