/** One chain: what becomes of its actions, in their order, and what can be decided about them. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Fields, fixedFields } from '../../chain/fields.js';
import { hasEnded } from '../../chain/outcome.js';
import type { ActionResource, ChainResource, NoticeText } from '../../contract/chain-resource.js';
import { noticeKindOf } from '../../contract/notices.js';
import { pageOf, path } from '../addresses.js';
import { ask } from '../api.js';
import { announce, Page } from '../frame.js';
import { Confirm, FieldList, Known, State, Time, UnknownNote, UpToDate, useDeed } from '../parts.js';
import { often, type Resource, seldom, useResource } from '../resource.js';
import { may, ruleName, useCompany } from '../session.js';
import { Verbs } from '../steer.js';
import { counted, failureWords, titleOf, toneOf } from '../words.js';

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
  const { status, receivedAt, closedAt, actions, ignored = [], partial, historyFull, links, tokenIds } = chain;
  useAnnounced(chain);
  const assignments = [...new Set(actions.flatMap(({ assignmentId }) => assignmentId ?? []))];
  return (
    <>
      <dl class="facts">
        <Fact name="Status">
          <State of={status} />
        </Fact>
        <Fact name="Received">
          <Time at={receivedAt} distance />
        </Fact>
        {closedAt && (
          <Fact name="Closed">
            <Time at={closedAt} distance />
          </Fact>
        )}
        {assignments.length > 0 && (
          <Fact name={assignments.length > 1 ? 'Assignments' : 'Assignment'}>
            {assignments.map((assignmentId) => (
              <a key={assignmentId} href={pageOf.assignment(companyId, assignmentId)}>
                {assignmentId}
              </a>
            ))}
          </Fact>
        )}
        {tokenIds && <Fact name="Token">{tokenIds.join(', ')}</Fact>}
        {links.webUi && (
          <Fact name="Temporal">
            <a href={links.webUi} target="_blank" rel="noreferrer">
              In the Web UI
            </a>
          </Fact>
        )}
      </dl>
      {partial && (
        <p class="note wait">No worker answered in time. This is what the server knows: actions may be further than shown.</p>
      )}
      {historyFull && (
        <p class="note wait">
          This chain has been retried so often that it takes no further retry. Skip or cancel what is held, or let the platform
          send the request again.
        </p>
      )}
      {ignored.length > 0 && (
        <div class="note wait">
          Signals that had no effect:
          <ul>
            {ignored.map((signal) => (
              <li key={signal}>{signal}</li>
            ))}
          </ul>
        </div>
      )}
      <h2>{counted(actions.length, 'action')}</h2>
      <ol class="rail">
        {actions.map((action) => (
          <li key={action.index} class={toneOf(action.state)}>
            <Action chain={chain} action={action} onDone={resource.refresh} />
          </li>
        ))}
      </ol>
      {may('steer') && closedAt === undefined && <CancelChain chain={chain} onDone={resource.refresh} />}
    </>
  );
}

/** Says aloud what has changed since the last look. */
function useAnnounced({ status, actions }: ChainResource): void {
  const before = useRef<ReadonlyMap<string, string> | undefined>(undefined);
  const states = new Map([['The chain', status as string], ...actions.map((action) => [titleOf(action), action.state] as const)]);
  useEffect(() => {
    const changed = [...states].filter(([what, state]) => before.current && before.current.get(what) !== state);
    before.current = states;
    if (changed.length > 0) announce(changed.map(([what, state]) => `${what}: ${state}`).join('. '));
  }, [JSON.stringify([...states])]);
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Action({ chain, action, onDone }: { chain: ChainResource; action: ActionResource; onDone(): void }) {
  const company = useCompany();
  const { state, runAt, startedAt, endedAt, attempts = 0, error, reason, result, deliveries = [], steered = [] } = action;
  const { nextAttemptAt, heldUntil, pausedSince, relayId } = action;
  const isDue = state === 'scheduled' || state === 'pending';
  const at = path`/co/${company.companyId}/chains/${chain.chainId}/actions/${String(action.index)}`;
  return (
    <article aria-label={titleOf(action)}>
      <h3>
        {titleOf(action)} <State of={state} />
      </h3>
      <dl class="facts small">
        {runAt && runAt !== chain.receivedAt && (
          <Fact name="Due">
            <Time at={runAt} distance={isDue} />
          </Fact>
        )}
        {startedAt && (
          <Fact name="Begun">
            <Time at={startedAt} />
          </Fact>
        )}
        {endedAt && (
          <Fact name="Ended">
            <Time at={endedAt} />
          </Fact>
        )}
        {attempts > 0 && <Fact name="Attempts">{attempts}</Fact>}
        {result?.recipients !== undefined && (
          <Fact name="Reached">{result.recipients === 0 ? <strong class="error">nobody</strong> : result.recipients}</Fact>
        )}
        <Fact name="Rule">{ruleName(company, relayId)}</Fact>
        {pausedSince && (
          <Fact name="Paused since">
            <Time at={pausedSince} />
          </Fact>
        )}
        {nextAttemptAt && !hasEnded(state) && (
          <Fact name="Tried again">
            <Time at={nextAttemptAt} distance />
          </Fact>
        )}
        {heldUntil && !hasEnded(state) && (
          <Fact name="Fails, undecided,">
            <Time at={heldUntil} distance />
          </Fact>
        )}
      </dl>
      {reason && reason !== error?.message && <p class="reason">{reason}</p>}
      {error &&
        (state === 'done' || state === 'skipped' ? (
          <p class="soft small">Before that: {error.message}</p>
        ) : (
          <p class="error">
            {error.message} <span class="soft small">{failureWords(error.type)}.</span>
          </p>
        ))}
      {error && state === 'needs-attention' && !error.retryable && !error.unknown && (
        <p class="soft small">Trying again changes nothing by itself: mend what it says first.</p>
      )}
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
        <Asked<NoticeText> key={state} summary="What the notice says" path={`${at}/notice`}>
          {NoticeWords}
        </Asked>
      )}
      <Asked<{ fields: Fields }> summary="Its fields" path={`${at}/fields`}>
        {({ fields }) => <FieldList fields={Object.entries(fields).filter(([name]) => !fixedFields.includes(name))} />}
      </Asked>
      {steered.map(({ at, by, verb, fields = [] }) => (
        <p key={at} class="soft small">
          {by} decided: {verb}
          {fields.length > 0 && ` (${fields.join(', ')})`}, <Time at={at} />
        </p>
      ))}
      <Verbs chain={chain} action={action} onDone={onDone} />
    </article>
  );
}

interface AskedProps<Body> {
  summary: string;
  path: string;
  children(body: Body): ComponentChildren;
}

/** Asked for when it is opened: one looks at few of many actions. */
function Asked<Body>({ summary, path, children }: AskedProps<Body>) {
  const isOpen = useSignal(false);
  const known = useResource<Body>(isOpen.value ? path : undefined, seldom);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen.value && <Known of={known}>{children}</Known>}
    </details>
  );
}

function NoticeWords({ sentence, sections }: NoticeText) {
  return (
    <div class="card small">
      <p>{sentence}</p>
      {sections.map(({ title, lines }) => (
        <section key={title}>
          <h4>{title}</h4>
          {lines.map((line) => (
            <p key={line}>{line}</p>
          ))}
        </section>
      ))}
    </div>
  );
}

function CancelChain({ chain, onDone }: { chain: ChainResource; onDone(): void }) {
  const { companyId } = useCompany();
  const isAsked = useSignal(false);
  const deed = useDeed();
  const close = () => {
    isAsked.value = false;
  };
  const cancel = async () => {
    const cancelled = () => ask('POST', path`/co/${companyId}/chains/${chain.chainId}/cancel`);
    if (!(await deed.run(cancelled, 'The chain is being cancelled.'))) return;
    close();
    onDone();
  };
  const left = chain.actions.filter(({ state }) => !hasEnded(state)).length;
  return (
    <p>
      <button type="button" class="danger" onClick={() => (isAsked.value = true)}>
        Cancel the chain…
      </button>
      {isAsked.value && (
        <Confirm
          title="Cancel the chain?"
          verb="Cancel the chain"
          danger
          busy={deed.busy}
          refused={deed.refused}
          onClose={close}
          onConfirm={() => void cancel()}
        >
          <p>{counted(left, 'action')} will not be done, and that cannot be taken back. An effect under way is awaited first.</p>
        </Confirm>
      )}
    </p>
  );
}
