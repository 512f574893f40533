/** The end of composing: the body to paste, where to, and the first real event. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { z } from 'zod';
import type { ChainList } from '../../contract/chain-resource.js';
import type { rejectedListSchema } from '../../contract/problem.js';
import { pageOf, path, query } from '../addresses.js';
import { announce } from '../frame.js';
import { Entry, Field, ProblemNote, Time } from '../parts.js';
import { useResource } from '../resource.js';
import { may, useCompany } from '../session.js';
import { newestOf } from '../when.js';
import { counted } from '../words.js';
import type { Fields } from './draft.js';

const tokenPlaceholder = '<RELAY_ACCESS_TOKEN>';

interface FinishProps {
  elements: readonly Fields[];
  relayId: string;
  problems: number;
  /** Why there is no body to paste. */
  obstacle: string | undefined;
}

export function Finish({ elements, relayId, problems, obstacle }: FinishProps) {
  const { companyId } = useCompany();
  const [isPasted, token] = [useSignal(false), useSignal('')];
  if (obstacle) return <p class="note bad">{obstacle}</p>;
  const withTokens = elements.map(({ action, relayId: own, ...fields }) => ({
    action,
    relayId: own,
    relayAccessToken: (own === relayId && token.value.trim()) || tokenPlaceholder,
    ...fields,
  }));
  const body = JSON.stringify(withTokens, undefined, 2);
  const copy = async () => {
    await navigator.clipboard.writeText(body);
    announce('Copied');
  };
  return (
    <>
      {problems > 0 && <p class="note bad">It would be refused: mend {counted(problems, 'problem')} first.</p>}
      <ol>
        <li>
          In the settings of the webhook, let it POST to <code>{location.origin + path`/co/${companyId}/relay`}</code> with the
          header <code>Content-Type: application/json</code>.
        </li>
        <li>
          <Field label="Put this in as its body">
            {(ids) => <textarea {...ids} class="json" rows={12} readOnly spellcheck={false} value={body} />}
          </Field>
          {'clipboard' in navigator && (
            <p>
              <button type="button" class="main" onClick={() => void copy()}>
                Copy the body
              </button>
            </p>
          )}
        </li>
        <li>
          <Entry
            label="The rule's token"
            hint={`It is put into the body in place of ${tokenPlaceholder}, but for actions of other rules, and kept nowhere. Put it in before you copy the body.`}
            of={token}
            maxLength={512}
          />
          A token is shown once, when it is made.{' '}
          {may('manage') ? (
            <>
              You find the tokens, and make a new one, on <a href={pageOf.rule(companyId, relayId)}>the rule's page</a>; what you
              have written here is kept.
            </>
          ) : (
            'Whoever may manage the company makes one on the page of the rule.'
          )}
        </li>
      </ol>
      {isPasted.value ? (
        <Waiting relayId={relayId} />
      ) : (
        <p>
          <button type="button" onClick={() => (isPasted.value = true)}>
            It is in: wait for an event
          </button>
        </p>
      )}
    </>
  );
}

const watchful = { shortestMs: 3_000, longestMs: 10_000 };

/** The clock here may differ from the server's by so much. */
const clocksDifferMs = 120_000;

/** What is there when the waiting begins is not what is waited for. */
function Waiting({ relayId }: { relayId: string }) {
  const { companyId } = useCompany();
  // Not all that are open, of which there may be more than a list has, before those that have closed.
  const { value: since } = useSignal(new Date(Date.now() - clocksDifferMs).toISOString());
  const chains = useResource<ChainList>(path`/co/${companyId}/chains` + query({ relayId, since, limit: '200' }), watchful);
  const refused = useResource<z.infer<typeof rejectedListSchema>>(path`/co/${companyId}/rejected?limit=10`, watchful);
  const newest = newestOf(chains.data.value?.items);
  const chainId = useFirstNew(chains.data.value?.items.map(({ chainId }) => chainId));
  const rejectedId = useFirstNew(
    refused.data.value?.items.filter(({ relayIds }) => relayIds.includes(relayId)).map(({ rejectedId }) => rejectedId),
  );
  useEffect(() => {
    if (chainId) announce('An event has arrived');
    else if (rejectedId) announce('An event has arrived and was refused');
  }, [chainId, rejectedId]);
  return (
    <div class={chainId ? 'note' : 'note wait'}>
      <ProblemNote refused={chains.refused.value} />
      {chainId ? (
        <>
          An event has arrived: <a href={pageOf.chain(companyId, chainId)}>see its chain</a>
        </>
      ) : (
        <>
          Waiting for the next event of this rule…{' '}
          {newest && (
            <>
              The last that came is{' '}
              <a href={pageOf.chain(companyId, newest.chainId)}>
                of <Time at={newest.receivedAt} />
              </a>
              .
            </>
          )}
        </>
      )}
      {rejectedId && !chainId && (
        <p class="error">
          An event has arrived and was refused: <a href={pageOf.refusal(companyId, rejectedId)}>see why</a>
        </p>
      )}
    </div>
  );
}

/** The first id that was not there at first. */
function useFirstNew(ids: readonly string[] | undefined): string | undefined {
  const known = useRef<readonly string[] | undefined>(undefined);
  known.current ??= ids;
  return ids?.find((id) => !known.current?.includes(id));
}
