/** Refused requests from senders that the relay knows. A person sends each request again, or drops the request. */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { z } from 'zod';
import type {
  KeptBody,
  ListedRejectedRequest,
  ProposedAction,
  RejectedRequest,
  rejectedListSchema,
} from '../../contract/problem.js';
import { pageOf, path } from '../addresses.js';
import { partsAt } from '../fields.js';
import { Page } from '../frame.js';
import { Decide } from '../refusal.js';
import { usePages, useResource } from '../resource.js';
import { may, ruleName, useCompany } from '../session.js';
import { Known } from '../ui/known.js';
import { Pager } from '../ui/table.js';
import { Said, Time, UpToDate } from '../ui/text.js';
import { counted, refusalWords } from '../words.js';

export function RefusedPage() {
  const company = useCompany();
  const { companyId, timeZone } = company;
  const [listed, cursors] = usePages<z.infer<typeof rejectedListSchema>>(path`/co/${companyId}/rejected`);
  return (
    <Page
      title="Refused requests"
      about={`The relay did not run these requests. It keeps them for 30 days. Times are in ${timeZone}.`}
    >
      <Known of={listed}>
        {({ items, nextCursor }) => (
          <>
            {items.length === 0 && <p class="card">There are no refused requests.</p>}
            <ul class="plain">
              {items.map((request) => (
                <li key={request.rejectedId} class="card">
                  <h2>
                    <a href={pageOf.refusal(companyId, request.rejectedId)}>{refusalWords[request.reason]}</a>{' '}
                    <Decided request={request} />
                  </h2>
                  <p>
                    <Said text={request.problem.detail} />
                  </p>
                  <p class="soft small">
                    <Time at={request.receivedAt} distance />, rule{' '}
                    {request.relayIds.map((relayId) => ruleName(company, relayId)).join(', ')}. <Repeated request={request} />
                  </p>
                </li>
              ))}
            </ul>
            <Pager cursors={cursors} next={nextCursor} />
          </>
        )}
      </Known>
      <UpToDate of={listed} />
    </Page>
  );
}

export function Decided({ request: { chainId, droppedAt } }: { request: ListedRejectedRequest }) {
  if (chainId) return <span class="badge good">sent again</span>;
  return droppedAt ? <span class="badge quiet">dropped</span> : null;
}

export function RefusalPage({ rejectedId }: { rejectedId: string }) {
  const { companyId } = useCompany();
  const request = useResource<RejectedRequest>(path`/co/${companyId}/rejected/${rejectedId}`);
  return (
    <Page title="Refused request" about={<a href={pageOf.refused(companyId)}>All refused requests</a>}>
      <Known of={request}>{(known) => <Refusal request={known} onDecided={request.refresh} />}</Known>
    </Page>
  );
}

function Repeated({ request: { repeats = 0, notKept = 0 } }: { request: ListedRejectedRequest }) {
  return (
    <>
      {repeats > 0 && `The same request came ${counted(repeats, 'more time')} within 10 minutes. `}
      {notKept > 0 && `The relay could not keep ${counted(notKept, 'later request')} like this, because the storage was full.`}
    </>
  );
}

function Refusal({ request, onDecided }: { request: RejectedRequest; onDecided(): void }) {
  const company = useCompany();
  const { companyId } = company;
  const { receivedAt, reason, problem, signature, relayIds, chainId, resentAt, elements } = request;
  const { body, proposal = [], droppedAt, droppedBy } = request;
  const leftOut = useSignal(proposal.flatMap(({ authenticated }, index) => (authenticated ? [] : [index])));
  const isOpen = !chainId && !droppedAt;
  const { errors = [] } = problem;
  /** The mistakes in one action. All other mistakes concern the whole request. */
  const ofElement = (index: number) =>
    errors.filter(({ pointer }) => pointer === `/${index}` || pointer.startsWith(`/${index}/`));
  const ofWhole = errors.filter(({ pointer, detail }) => !/^\/\d+(\/|$)/.test(pointer) && !problem.detail.includes(detail));
  return (
    <>
      <div class="card">
        <p>
          <strong>{refusalWords[reason]}.</strong> <Said text={problem.detail} />
        </p>
        {ofWhole.map(({ pointer, detail }) => (
          <p key={pointer} class="error">
            {detail}
          </p>
        ))}
        <p class="soft small">
          Received <Time at={receivedAt} distance />, rule {relayIds.map((relayId) => ruleName(company, relayId)).join(', ')}
          {signature && `; signature: ${signature}`}. <Repeated request={request} /> <a href={problem.type}>Help</a>
        </p>
        {chainId && resentAt && (
          <p>
            Sent again <Time at={resentAt} />: <a href={pageOf.chain(companyId, chainId)}>open its chain</a>
          </p>
        )}
        {droppedAt && (
          <p>
            Dropped <Time at={droppedAt} />
            {droppedBy && ` by ${droppedBy}`}. The request cannot be sent again.
          </p>
        )}
        {isOpen && may('steer') && <Decide request={request} leftOut={leftOut} onDecided={onDecided} />}
      </div>
      {body ? (
        <div class="broken">
          <Body body={body} />
          <Proposal of={proposal} leftOut={isOpen && may('steer') ? leftOut : undefined} />
        </div>
      ) : (
        <>
          <h2>Actions</h2>
          <ol class="rail">
            {elements.map((element, index) => (
              <li key={index} class={ofElement(index).length > 0 ? 'bad' : 'quiet'}>
                <h3>
                  {index} {String(element.action ?? '')}
                </h3>
                {ofElement(index).map(({ pointer, detail }) => (
                  <p key={pointer} class="error">
                    <code>{pointer.split('/').slice(2).join('/')}</code> {detail}
                  </p>
                ))}
                <pre>{JSON.stringify(element, undefined, 2)}</pre>
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  );
}

/** The received body, with the first mistake marked. */
function Body({ body: { text, bytes, cut, place } }: { body: KeptBody }) {
  const box = useRef<HTMLPreElement>(null);
  const mark = useRef<HTMLElement>(null);
  useEffect(() => {
    // `scrollIntoView` would scroll the whole page, too.
    if (box.current && mark.current) box.current.scrollTop = mark.current.offsetTop - box.current.clientHeight / 2;
  }, []);
  const { before, marked, after } = partsAt(text, place?.offset);
  return (
    <section aria-labelledby="body">
      <h2 id="body">Received body</h2>
      {place && (
        <p>
          The mark is at line {place.line}, column {place.column}.
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this box */}
      <pre ref={box} class="body" tabIndex={0}>
        {before}
        {place && <mark ref={mark}>{marked}</mark>}
        {after}
      </pre>
      <p class="soft small">
        The body had {counted(bytes, 'byte')}. {cut && 'The relay kept only the start of the body. '}Asterisks hide a token.
      </p>
    </section>
  );
}

/** @param leftOut - the indexes of the omitted actions. If undefined, the user cannot choose actions. */
function Proposal({ of: actions, leftOut }: { of: readonly ProposedAction[]; leftOut: Signal<number[]> | undefined }) {
  return (
    <section aria-labelledby="proposal">
      <h2 id="proposal">Proposed repair</h2>
      {actions.length === 0 ? (
        <p>There is no proposal. Fix the webhook's template, then send the event from the platform again.</p>
      ) : (
        <p>This repair is a guess. Read it carefully before you send it: text from the event may have added unwanted parts.</p>
      )}
      <ol class="rail">
        {actions.map(({ element, authenticated }, index) => (
          <li key={index} class={authenticated ? 'good' : 'bad'}>
            <h3>
              {index} {String(element.action ?? '')}{' '}
              <span class={`badge ${authenticated ? 'good' : 'bad'}`}>{authenticated ? 'valid token' : 'no valid token'}</span>
            </h3>
            {!authenticated && (
              <p class="error">This action cannot be sent, because the token of its rule is missing or wrong.</p>
            )}
            {authenticated && leftOut && actions.length > 1 && (
              <label class="row">
                <input
                  type="checkbox"
                  checked={!leftOut.value.includes(index)}
                  onChange={({ currentTarget: { checked } }) => {
                    const others = leftOut.value.filter((place) => place !== index);
                    leftOut.value = checked ? others : [...others, index];
                  }}
                />
                Send action {index}
              </label>
            )}
            <pre>{JSON.stringify(element, undefined, 2)}</pre>
          </li>
        ))}
      </ol>
    </section>
  );
}
