/** Why chains need attention: one of them first, then all; who sees to it; and all that is held for it. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import { hasEnded } from '../../chain/outcome.js';
import type { CauseResource, wholeCauseResponse } from '../../contract/causes.js';
import type { ChainResource } from '../../contract/chain-resource.js';
import { pageOf, path, query } from '../addresses.js';
import { ask } from '../api.js';
import { Page } from '../frame.js';
import { Known, Pager, ProblemNote, State, Time, UnknownNote, UpToDate, useDeed } from '../parts.js';
import { useResource } from '../resource.js';
import { may, ruleName, useCompany } from '../session.js';
import { BulkDialog, Verbs } from '../steer.js';
import { counted, failureWords, titleOf, verbWords } from '../words.js';

export function CausePage({ causeId }: { causeId: string }) {
  const company = useCompany();
  const { companyId, timeZone } = company;
  const cursors = useSignal<string[]>([]);
  const cause = useResource<z.infer<typeof wholeCauseResponse>>(
    path`/co/${companyId}/causes/${causeId}` + query({ cursor: cursors.value.at(-1) }),
  );
  const asked = useSignal<CauseVerb | undefined>(undefined);
  return (
    <Page title="Held for one reason" about={`Times are those of ${timeZone}.`}>
      <Known of={cause}>
        {(known) => (
          <>
            <CauseCard cause={known} isOpen onAsk={(verb) => (asked.value = verb)} onDone={cause.refresh} />
            <table>
              <caption class="unseen">The actions that are or were held for it</caption>
              <thead>
                <tr>
                  <th scope="col">Action</th>
                  <th scope="col">Assignment</th>
                  <th scope="col">Held since</th>
                  <th scope="col">Until</th>
                </tr>
              </thead>
              <tbody>
                {known.items.map(({ chainId, index, assignmentId, since, heldUntil, endedAt }) => (
                  <tr key={`${chainId} ${index}`}>
                    <td>
                      <a href={pageOf.chain(companyId, chainId)}>
                        {index} of chain {chainId.slice(0, 8)}
                      </a>
                    </td>
                    <td>{assignmentId && <a href={pageOf.assignment(companyId, assignmentId)}>{assignmentId}</a>}</td>
                    <td>
                      <Time at={since} />
                    </td>
                    <td>
                      {endedAt ? (
                        <>
                          <span class="badge quiet">over</span> <Time at={endedAt} />
                        </>
                      ) : (
                        heldUntil && <Time at={heldUntil} />
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            <Pager cursors={cursors} next={known.nextCursor} />
          </>
        )}
      </Known>
      <UpToDate of={cause} />
      {asked.value && (
        <BulkDialog
          verb={asked.value}
          filter={{ causeId }}
          onClose={() => {
            asked.value = undefined;
            cause.refresh();
          }}
        />
      )}
    </Page>
  );
}

const causeVerbs = ['retry', 'mend', 'skip'] as const;
export type CauseVerb = (typeof causeVerbs)[number];

interface CauseProps {
  cause: CauseResource;
  /** Whether it looks into the chain that is held longest: so many as there may be, not into all. */
  isOpen: boolean;
  /** Somebody begins to decide about one of it: what comes of that is to be seen here, also where it is over then. */
  onBegin?(): void;
  /** Somebody wants to decide about all of it. The card may be gone before that has ended. */
  onAsk(verb: CauseVerb): void;
  onDone(): void;
}

export function CauseCard({ cause, isOpen, onBegin, onAsk, onDone }: CauseProps) {
  const company = useCompany();
  const { companyId } = company;
  const { causeId, reason, message, chains, relayIds, chainId, since, lastAt, endedAt } = cause;
  const isLookedInto = useSignal(isOpen);
  /** The one that somebody has begun to decide about: once it is tried, the others are judged by it. */
  const begun = useSignal<{ chainId: string; index: number; isTried: boolean } | undefined>(undefined);
  const shown = begun.value?.chainId ?? chainId;
  const sample = useResource<ChainResource>(isLookedInto.value && shown ? path`/co/${companyId}/chains/${shown}` : undefined);
  const isMany = chains > 1;
  const done = () => {
    begun.value = begun.value && { ...begun.value, isTried: true };
    sample.refresh();
    onDone();
  };
  return (
    <section class={`card ${endedAt ? '' : 'wait'}`} aria-label={`${failureWords(reason)}: ${message}`}>
      <h2>{failureWords(reason)}</h2>
      <p class="soft">
        {endedAt ? (
          <>
            Over since <Time at={endedAt} distance />
          </>
        ) : (
          `${counted(chains, 'chain')} of ${relayIds.length > 1 ? 'rules' : 'rule'} ${relayIds.map((id) => ruleName(company, id)).join(', ')}`
        )}
        , since <Time at={since} distance />
        {isMany && (
          <>
            , the last <Time at={lastAt} distance />
          </>
        )}
      </p>
      {shown && isLookedInto.value ? (
        <Known of={sample}>
          {(chain) => {
            const held = chain.actions.find(({ index, state, error }) =>
              begun.value ? index === begun.value.index : state === 'needs-attention' && (!error || error.type === reason),
            );
            return (
              <div class="sample">
                <p>
                  {begun.value?.isTried ? 'Tried: ' : isMany && 'Held longest: '}
                  <a href={pageOf.chain(companyId, shown)}>{held ? titleOf(held) : `chain ${shown.slice(0, 8)}`}</a>
                  {held?.assignmentId && (
                    <>
                      , for assignment <a href={pageOf.assignment(companyId, held.assignmentId)}>{held.assignmentId}</a>
                    </>
                  )}
                </p>
                {begun.value?.isTried && held && (
                  <p role="status">
                    It is now <State of={held.state} />
                    {held.attempts ? ` after ${counted(held.attempts, 'attempt')}` : ''}.
                  </p>
                )}
                {(!held || !hasEnded(held.state)) && <p class="error">{held?.error?.message ?? message}</p>}
                {held?.error?.unknown && !hasEnded(held.state) && <UnknownNote />}
                {held ? (
                  <Verbs
                    chain={chain}
                    action={held}
                    only={['retry', 'mend', 'skip']}
                    which={isMany ? ' this one' : ''}
                    onBegin={() => {
                      begun.value = { chainId: shown, index: held.index, isTried: begun.value?.isTried ?? false };
                      onBegin?.();
                    }}
                    onDone={done}
                  />
                ) : (
                  <p class="soft">It has been decided about, and goes on.</p>
                )}
                {begun.value && chainId && chainId !== begun.value.chainId && (
                  <p>
                    <button type="button" onClick={() => (begun.value = undefined)}>
                      Look at the one that is held longest
                    </button>
                  </p>
                )}
              </div>
            );
          }}
        </Known>
      ) : (
        <>
          <p class="error">{message}</p>
          {chainId && (
            <p>
              <button type="button" onClick={() => (isLookedInto.value = true)}>
                Look into it<span class="unseen">: {message}</span>
              </button>
            </p>
          )}
        </>
      )}
      <p class="row">
        {isMany &&
          may('steer') &&
          causeVerbs.map((verb) => (
            <button key={verb} type="button" onClick={() => onAsk(verb)}>
              {verbWords[verb]} all {chains}…
            </button>
          ))}
        {isMany && <a href={pageOf.cause(companyId, causeId)}>See them</a>}
      </p>
      {!endedAt && <Care cause={cause} onDone={onDone} />}
    </section>
  );
}

/** Who sees to it, and until when nobody is told more of it. */
function Care({ cause, onDone }: { cause: CauseResource; onDone(): void }) {
  const { companyId } = useCompany();
  const { causeId, takenBy, takenAt, silencedBy, silencedUntil } = cause;
  const deed = useDeed();
  const doIt = async (what: 'take' | 'release' | 'silence', words: string, body?: object) => {
    if (await deed.run(() => ask('POST', path`/co/${companyId}/causes/${causeId}/${what}`, body), words)) onDone();
  };
  const isSilent = silencedUntil !== undefined && Date.parse(silencedUntil) > Date.now();
  return (
    <>
      <ProblemNote refused={deed.refused} />
      <p class="row small">
        <span class="soft">
          {takenBy ? (
            <>
              {takenBy} sees to it{takenAt && <>, since {<Time at={takenAt} />}</>}.
            </>
          ) : (
            'Nobody has taken it.'
          )}
          {isSilent && (
            <>
              {' '}
              Silent until <Time at={silencedUntil} />, by {silencedBy}.
            </>
          )}
        </span>
        {may('steer') && (
          <>
            {takenBy ? (
              <button type="button" onClick={() => void doIt('release', 'It is left to others.')}>
                Leave it to others
              </button>
            ) : (
              <button type="button" onClick={() => void doIt('take', 'You have taken it.')}>
                I see to it
              </button>
            )}
            {isSilent ? (
              <button type="button" onClick={() => void doIt('silence', 'People are told again.', { seconds: 0 })}>
                Tell of it again
              </button>
            ) : (
              <button type="button" onClick={() => void doIt('silence', 'Nobody is told of it for an hour.', { seconds: 3600 })}>
                Silence for an hour
              </button>
            )}
          </>
        )}
      </p>
    </>
  );
}
