/** The last part of the composer: shows the address, the token and the body to paste, then waits for the first real event. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { z } from 'zod';
import type { ChainList } from '../../contract/chain-resource.js';
import type { rejectedListSchema } from '../../contract/problem.js';
import { pageOf, path, query } from '../addresses.js';
import { announce } from '../frame.js';
import { Area, Button, Entry, ProblemNote, Time } from '../parts.js';
import { useResource } from '../resource.js';
import { may, useCompany } from '../session.js';
import { newestOf } from '../when.js';
import { counted } from '../words.js';
import { bodyOf, type Fields, tokenPlaceholder } from './draft.js';

interface FinishProps {
  elements: readonly Fields[];
  relayId: string;
  problems: number;
  /** Why there is no body to paste. Undefined if there is a body. */
  obstacle: string | undefined;
}

export function Finish({ elements, relayId, problems, obstacle }: FinishProps) {
  const { companyId } = useCompany();
  const [isPasted, token] = [useSignal(false), useSignal('')];
  if (obstacle) return <p class="note bad">{obstacle}</p>;
  const { body, lacksToken } = bodyOf(elements, relayId, token.value.trim());
  const copy = async () => {
    await navigator.clipboard.writeText(body);
    announce(lacksToken ? `Copied without a token. Replace ${tokenPlaceholder} before you save the webhook.` : 'Copied');
  };
  return (
    <>
      {problems > 0 && <p class="note bad">The relay would refuse this chain. Fix {counted(problems, 'problem')} first.</p>}
      <ol>
        <li>
          In the settings of the webhook, choose the method POST. Set the address to{' '}
          <code>{location.origin + path`/co/${companyId}/relay`}</code> and the header to{' '}
          <code>Content-Type: application/json</code>.
        </li>
        <li>
          <Entry
            label="The rule's token"
            hint={`The token replaces ${tokenPlaceholder} in the actions of this rule. This page does not save the token.`}
            of={token}
            maxLength={512}
          />
          The relay shows a token only once, when a person creates the token.{' '}
          {may('manage') ? (
            <>
              Create a new token on <a href={pageOf.rule(companyId, relayId)}>the rule's page</a>. This page keeps your draft.
            </>
          ) : (
            'A person with the role “manage” can create a new token on the page of the rule.'
          )}
        </li>
        <li>
          <Area label="Paste this as the body of the webhook" class="json" rows={12} readOnly spellcheck={false} value={body} />
          {lacksToken && (
            <p class="note wait">A token is missing. The relay refuses this body until you replace {tokenPlaceholder}.</p>
          )}
          {'clipboard' in navigator && (
            <p>
              <Button class={lacksToken ? '' : 'main'} onClick={() => void copy()}>
                {lacksToken ? 'Copy without a token' : 'Copy the body'}
              </Button>
            </p>
          )}
        </li>
      </ol>
      {isPasted.value ? (
        <Waiting relayId={relayId} />
      ) : (
        <p>
          <Button onClick={() => (isPasted.value = true)}>I have pasted the body. Wait for the first event.</Button>
        </p>
      )}
    </>
  );
}

const watchful = { shortestMs: 3_000, longestMs: 10_000 };

/** The largest expected difference between the clock of the browser and the clock of the server. */
const clocksDifferMs = 120_000;

function Waiting({ relayId }: { relayId: string }) {
  const { companyId } = useCompany();
  // The list shows open chains first. Without `since`, 200 open chains would hide a new chain that has already closed.
  const { value: since } = useSignal(new Date(Date.now() - clocksDifferMs).toISOString());
  const chains = useResource<ChainList>(path`/co/${companyId}/chains` + query({ relayId, since, limit: '200' }), watchful);
  const refused = useResource<z.infer<typeof rejectedListSchema>>(path`/co/${companyId}/rejected?limit=10`, watchful);
  const newest = newestOf(chains.data.value?.items);
  const chainId = useFirstNew(chains.data.value?.items.map(({ chainId }) => chainId));
  const rejectedId = useFirstNew(
    refused.data.value?.items.filter(({ relayIds }) => relayIds.includes(relayId)).map(({ rejectedId }) => rejectedId),
  );
  useEffect(() => {
    if (chainId) announce('An event arrived');
    else if (rejectedId) announce('An event arrived, but the relay refused the event');
  }, [chainId, rejectedId]);
  return (
    <div class={chainId ? 'note' : 'note wait'}>
      <ProblemNote refused={chains.refused.value} />
      {chainId ? (
        <>
          An event arrived: <a href={pageOf.chain(companyId, chainId)}>open its chain</a>
        </>
      ) : (
        <>
          Waiting for the next event of this rule…{' '}
          {newest && (
            <>
              The last event arrived at{' '}
              <a href={pageOf.chain(companyId, newest.chainId)}>
                <Time at={newest.receivedAt} />
              </a>
              .
            </>
          )}
        </>
      )}
      {rejectedId && !chainId && (
        <p class="error">
          An event arrived, but the relay refused the event: <a href={pageOf.refusal(companyId, rejectedId)}>show why</a>
        </p>
      )}
    </div>
  );
}

/** The first id that was not in the first answer. */
function useFirstNew(ids: readonly string[] | undefined): string | undefined {
  const known = useRef<readonly string[] | undefined>(undefined);
  known.current ??= ids;
  return ids?.find((id) => !known.current?.includes(id));
}
