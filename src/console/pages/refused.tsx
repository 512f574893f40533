/** Requests that were refused although their sender is known, and sending one again. */

import { signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { z } from 'zod';
import { mergeFields } from '../../chain/fields.js';
import type { Accepted } from '../../contract/chain-resource.js';
import type { RejectedRequest, rejectedListSchema } from '../../contract/problem.js';
import { pageOf, path, query } from '../addresses.js';
import { ask, Refused } from '../api.js';
import { changesOf } from '../fields.js';
import { Page } from '../frame.js';
import { FieldInputs } from '../mend.js';
import { Confirm, Known, Pager, ProblemNote, Time, UpToDate, useDeed } from '../parts.js';
import { useResource } from '../resource.js';
import { may, ruleName, useCompany } from '../session.js';
import { refusalWords } from '../words.js';

export function RefusedPage() {
  const company = useCompany();
  const { companyId, timeZone } = company;
  const cursors = useSignal<string[]>([]);
  const listed = useResource<z.infer<typeof rejectedListSchema>>(
    path`/co/${companyId}/rejected` + query({ cursor: cursors.value.at(-1) }),
  );
  return (
    <Page
      title="Refused requests"
      about={`Their sender was known, and nothing of them has run. They are kept for 30 days. Times are those of ${timeZone}.`}
    >
      <Known of={listed}>
        {({ items, nextCursor }) => (
          <>
            {items.length === 0 && <p class="card">No request was refused.</p>}
            <ul class="plain">
              {items.map(({ rejectedId, receivedAt, reason, problem, relayIds, chainId }) => (
                <li key={rejectedId} class="card">
                  <h2>
                    <a href={pageOf.refusal(companyId, rejectedId)}>{refusalWords(reason)}</a>{' '}
                    {chainId && <span class="badge good">sent again</span>}
                  </h2>
                  <p>{problem.detail}</p>
                  <p class="soft small">
                    <Time at={receivedAt} distance />, rule {relayIds.map((relayId) => ruleName(company, relayId)).join(', ')}
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

export function RefusalPage({ rejectedId }: { rejectedId: string }) {
  const { companyId } = useCompany();
  const request = useResource<RejectedRequest>(path`/co/${companyId}/rejected/${rejectedId}`);
  return (
    <Page title="Refused request" about={<a href={pageOf.refused(companyId)}>All refused requests</a>}>
      <Known of={request}>{(known) => <Refusal request={known} />}</Known>
    </Page>
  );
}

function Refusal({ request }: { request: RejectedRequest }) {
  const company = useCompany();
  const { companyId } = company;
  const { receivedAt, reason, problem, signature, relayIds, chainId, resentAt, elements } = request;
  const { errors = [] } = problem;
  /** The mistakes of an element; those of none are of the whole. */
  const ofElement = (index: number) =>
    errors.filter(({ pointer }) => pointer === `/${index}` || pointer.startsWith(`/${index}/`));
  const ofWhole = errors.filter(({ pointer, detail }) => !/^\/\d+(\/|$)/.test(pointer) && !problem.detail.includes(detail));
  return (
    <>
      <div class="card">
        <p>
          <strong>{refusalWords(reason)}.</strong> {problem.detail}
        </p>
        {ofWhole.map(({ pointer, detail }) => (
          <p key={pointer} class="error">
            {detail}
          </p>
        ))}
        <p class="soft small">
          Received <Time at={receivedAt} distance />, rule {relayIds.map((relayId) => ruleName(company, relayId)).join(', ')}
          {signature && `; signature: ${signature}`}. <a href={problem.type}>What to do</a>
        </p>
        {chainId && resentAt ? (
          <p>
            Sent again <Time at={resentAt} />: <a href={pageOf.chain(companyId, chainId)}>see its chain</a>
          </p>
        ) : (
          may('steer') && <Resend request={request} />
        )}
      </div>
      <h2>Its actions</h2>
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
  );
}

/** What came with a dead token or without its signature is sent only once somebody has said that all of it is meant. */
function Resend({ request }: { request: RejectedRequest }) {
  const { companyId } = useCompany();
  const { route } = useLocation();
  const { reason, problem, elements } = request;
  const [isMending, isDoubtful] = [useSignal(false), useSignal(false)];
  const texts = useMemo(() => elements.map(() => signal<Record<string, string>>({})), []);
  const deed = useDeed();
  const changes = () =>
    Object.fromEntries(
      elements
        .map((element, index) => [String(index), changesOf(element, texts[index]?.value ?? {})] as const)
        .filter(([, fields]) => Object.keys(fields).length > 0),
    );
  const send = (confirm: boolean) =>
    deed.run(async () => {
      try {
        const at = path`/co/${companyId}/rejected/${request.rejectedId}/resend`;
        const { chainId } = await ask<Accepted>('POST', at, { confirm, actions: isMending.value ? changes() : {} });
        route(pageOf.chain(companyId, chainId));
      } catch (error) {
        if (!(error instanceof Refused) || !error.is('not-confirmed')) throw error;
        isDoubtful.value = true;
      }
    });
  /** As they will be sent. */
  const meant = () => {
    const changed = isMending.value ? changes() : {};
    return elements.map((element, index) => mergeFields(element, changed[String(index)] ?? {}));
  };
  const dialog = { busy: deed.busy, refused: deed.refused };
  const issues = deed.refused?.problem.errors ?? problem.errors ?? [];
  return (
    <>
      <p class="row">
        {reason !== 'invalid-chain' && (
          <button type="button" class="main" aria-disabled={deed.busy} onClick={() => void send(false)}>
            Send it again
          </button>
        )}
        <button type="button" class={reason === 'invalid-chain' ? 'main' : ''} onClick={() => (isMending.value = true)}>
          Mend it and send it again…
        </button>
        <span class="soft small">Delays count from now.</span>
      </p>
      {!isDoubtful.value && !isMending.value && <ProblemNote refused={deed.refused} />}
      {isMending.value && !isDoubtful.value && (
        <Confirm
          {...dialog}
          title="Mend the request"
          verb="Send it"
          onClose={() => (isMending.value = false)}
          onConfirm={() => void send(false)}
        >
          <p>This changes this one request: what the webhook sends next is as before. What is emptied is left out.</p>
          {elements.map((element, index) => {
            const edited = texts[index];
            return (
              <fieldset key={index}>
                <legend>
                  {index} {String(element.action ?? '')}
                </legend>
                {edited && <FieldInputs fields={element} texts={edited} issues={issues} at={`/${index}`} />}
              </fieldset>
            );
          })}
        </Confirm>
      )}
      {isDoubtful.value && (
        <Confirm
          {...dialog}
          title="Is every action meant?"
          verb="All of them are meant: send it"
          onClose={() => (isDoubtful.value = false)}
          onConfirm={() => void send(true)}
        >
          <p>
            This request came with a dead token or without the right signature: somebody else may have written its actions. Read
            them before you send it.
          </p>
          <ul>
            {meant().map((element, index) => (
              <li key={index}>
                <code>{JSON.stringify(element)}</code>
              </li>
            ))}
          </ul>
        </Confirm>
      )}
    </>
  );
}
