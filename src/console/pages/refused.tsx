/** Refused requests from senders that the relay knows. A person sends each request again, or drops the request. */

import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Fields, issuesIn } from '../../chain/fields.js';
import { partsAt } from '../../chain/text.js';
import { elementTitle, mistakeText } from '../../chain/words.js';
import { co, may, pageOf, useCompany, usePages, useResource } from '../base.js';
import { shownFields } from '../fields.js';
import { PageOf } from '../frame.js';
import { Decide } from '../refusal.js';
import type { KeptBody, ListedRejectedRequest, ProposedAction, RejectedRequest, rejectedListSchema, z } from '../types.js';
import { Badge, Cards, Check, FieldList, Fold, Mistakes, Said, Section, Time } from '../ui/index.js';
import { byWords, counted, forWebhooks, isForTechnicians, labelled, refusalWords, sentence, type Tone } from '../words.js';

const noProposal = 'The relay could not repair the request. Correct the webhook, then let your platform send it again.';
const about =
  'The relay did not run these requests. Open a request to see the reason. Send it again, correct it or drop it within 30 days.';

export function RefusedPage() {
  const [listed] = usePages<z.infer<typeof rejectedListSchema>>(co`/rejected`);
  return (
    <PageOf title="Refused requests" about={about} of={listed}>
      {({ items }) => (
        <Cards of={items} id={({ rejectedId }) => rejectedId} empty="There are no refused requests." isTall>
          {(request) => (
            <>
              <h2>
                <a href={pageOf.refusal(request.rejectedId)}>{refusalWords[request.reason]}</a>{' '}
                {request.chainId && <Badge tone="good">sent again: chain started</Badge>}
                {request.droppedAt && <Badge tone="quiet">dropped: will not run</Badge>}
              </h2>
              {!isForTechnicians(request.reason) && <Said look="" text={sentence(labelled(request.problem.detail))} />}
              <Origin request={request} />
            </>
          )}
        </Cards>
      )}
    </PageOf>
  );
}

function Origin({ request, children }: { request: ListedRejectedRequest; children?: ComponentChildren }) {
  const { ruleName } = useCompany();
  const { receivedAt, relayIds, repeats = 0, notKept = 0 } = request;
  return (
    <p class="soft small">
      Received <Time at={receivedAt} distance />, rule: {relayIds.map((relayId) => ruleName(relayId)).join(', ')}
      {children}.{repeats > 0 && ` The same request came ${counted(repeats, 'more time')} within 10 minutes.`}
      {notKept > 0 &&
        ` The relay could not store ${counted(notKept, 'later request')} of this rule, because the storage was full.`}
    </p>
  );
}

export function RefusalPage({ rejectedId }: { rejectedId: string }) {
  const request = useResource<RejectedRequest>(co`/rejected/${rejectedId}`);
  return (
    <PageOf title="Refused request" about={<a href={pageOf.refused()}>All refused requests</a>} of={request}>
      {(known) => <Refusal request={known} />}
    </PageOf>
  );
}

function Refusal({ request }: { request: RejectedRequest }) {
  const { reason, problem, signature, chainId, elements, body, proposal = [], droppedAt, droppedBy } = request;
  const leftOut = useSignal(proposal.flatMap(({ authenticated }, index) => (authenticated ? [] : [index])));
  const dropped = `${droppedBy ? ` ${byWords(droppedBy)}` : ''}. Nobody can send this request again.`;
  const canDecide = !chainId && !droppedAt && may('steer');
  const { errors = [], type } = problem;
  const detail = <Said text={sentence(labelled(problem.detail.replace(chainId ? 'Nothing has run. ' : '', '')))} />;
  /** The mistakes in one action. All other mistakes concern the whole request. */
  const ofElement = (index: number) => issuesIn(errors, index);
  const ofWhole = errors.filter(({ pointer, detail }) => !/^\/\d+(\/|$)/.test(pointer) && !problem.detail.includes(detail));
  return (
    <>
      <div class="card">
        <p>
          <strong>{refusalWords[reason]}.</strong> {!isForTechnicians(reason) && detail}
        </p>
        {isForTechnicians(reason) && <Fold {...{ summary: forWebhooks, isNeeded: false, children: detail }} />}
        <Mistakes of={ofWhole} look="plain error" words={({ detail }) => labelled(detail)} />
        <Origin request={request}>
          {signature && signature !== 'not required' && `; signature: ${signature}`}. <a href={type}>Help for developers</a>
        </Origin>
        {chainId && (
          <p>
            <Time before="Sent again " at={request.resentAt} />: <a href={pageOf.chain(chainId)}>open its chain</a>
          </p>
        )}
        {droppedAt && <p>{[<Time before="Dropped " at={droppedAt} />, dropped]}</p>}
        {!may('steer') && <p>Only dispatchers, rule authors and managers can send or drop a refused request.</p>}
        {canDecide && <Decide request={request} leftOut={leftOut.value} />}
      </div>
      {body ? (
        <div class="broken">
          <Body body={body} />
          {(proposal.length > 0 || isForTechnicians(reason)) && (
            <Proposal of={proposal} leftOut={canDecide ? leftOut : undefined} />
          )}
        </div>
      ) : (
        <Section title="Steps" look="">
          <ol class="rail">
            {elements.map((element, index) => (
              <Element key={index} index={index} element={element} tone={ofElement(index).length > 0 ? 'bad' : 'quiet'}>
                <Mistakes of={ofElement(index)} look="plain error" words={mistakeText} />
              </Element>
            ))}
          </ol>
        </Section>
      )}
    </>
  );
}

type ElementProps = { index: number; element: Fields; tone: Tone; badge?: string; children: ComponentChildren };

function Element({ index, element, tone, badge, children }: ElementProps) {
  return (
    <li class={tone}>
      <h3>
        {`${elementTitle(element, index)} `}
        {badge && <Badge tone={tone}>{badge}</Badge>}
      </h3>
      {children}
      {element.action ? <FieldList fields={shownFields(element)} /> : <pre>{JSON.stringify(element, undefined, 2)}</pre>}
    </li>
  );
}

function Body({ body: { text, cut, place } }: { body: KeptBody }) {
  const [box, mark] = [useRef<HTMLPreElement>(null), useRef<HTMLElement>(null)];
  useEffect(() => {
    // `scrollIntoView` would scroll the whole page, too.
    if (box.current && mark.current) box.current.scrollTop = mark.current.offsetTop - box.current.clientHeight / 2;
  }, []);
  const { before, marked, after } = partsAt(text, place?.offset);
  return (
    <Section title="What the platform sent" look="">
      {place && <p>The first mistake is marked.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this box */}
      <pre ref={box} class="body" tabIndex={0}>
        {before}
        {place && <mark ref={mark}>{marked}</mark>}
        {after}
      </pre>
      <p class="soft small">
        {cut && 'The relay kept only the start of the text. '}
        {text.includes('***') && 'The relay shows *** for each token.'}
      </p>
    </Section>
  );
}

/** The badge of a proposed action. An event has no action. */
const badgeOf = ({ authenticated, problems = [] }: Omit<ProposedAction, 'element'>) =>
  authenticated && problems.length === 0
    ? ({ tone: 'good', badge: 'can be sent' } as const)
    : ({ tone: 'bad', badge: authenticated ? 'has a mistake' : 'wrong token' } as const);

/** @param leftOut - the indexes of the omitted actions. If undefined, the user cannot choose actions. */
function Proposal({ of: actions, leftOut }: { of: readonly ProposedAction[]; leftOut: Signal<number[]> | undefined }) {
  const choose = (index: number, isSent: boolean) => {
    const others = leftOut?.value.filter((place) => place !== index) ?? [];
    if (leftOut) leftOut.value = isSent ? others : [...others, index];
  };
  return (
    <Section title={actions[0]?.element.action ? 'Proposed steps' : 'Proposal'} look="">
      {actions.length === 0 && <p>{noProposal}</p>}
      {actions.length > 0 && leftOut && <p>Check everything before you send it. The relay guessed parts of the request.</p>}
      <ol class="rail">
        {actions.map(({ element, authenticated, problems = [] }, index) => (
          <Element {...{ index, element, ...(leftOut ? badgeOf({ authenticated, problems }) : { tone: 'quiet' }) }} key={index}>
            <Mistakes of={authenticated ? problems : []} look="plain error" words={mistakeText} />
            {!authenticated && <p class="error">This step cannot be sent: its token is missing or wrong.</p>}
            {authenticated && leftOut && actions.length > 1 && (
              <Check checked={!leftOut.value.includes(index)} onCheck={(isSent) => choose(index, isSent)}>
                Send step {index + 1}
              </Check>
            )}
          </Element>
        ))}
      </ol>
    </Section>
  );
}
