/** The last part of the composer: the address for the sender, or the body to paste; then it waits for the first real event. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { z } from 'zod';
import type { ChainList } from '../../contract/chain-resource.js';
import type { rotatedTokenResponse } from '../../contract/credential.js';
import type { rejectedListSchema } from '../../contract/problem.js';
import { pageOf, path, query } from '../addresses.js';
import { ask, type Refused } from '../api.js';
import { announce } from '../frame.js';
import { useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { Button, useDeed } from '../ui/buttons.js';
import { Area, Entry } from '../ui/fields.js';
import { ProblemNote } from '../ui/known.js';
import { Time } from '../ui/text.js';
import { newestOf } from '../when.js';
import { counted } from '../words.js';
import { listOf } from './draft.js';
import { useKnowledge } from './knowledge.js';

/** @param refused - why the steps could not be checked. */
export function Finish({ published, refused }: { published: number | undefined; refused: Refused | undefined }) {
  const { companyId } = useCompany();
  const { relayId, way } = useKnowledge();
  return way === 'list' ? (
    <>
      <h2>Copy to the webhook</h2>
      <AsList refused={refused} />
    </>
  ) : (
    <>
      <h2>Connect your platform</h2>
      <p>
        {published === undefined ? 'Publish the rule first. Then ' : 'If you have not done it yet, '}
        <a href={`${pageOf.rule(companyId, relayId)}#address`}>make the address for your platform</a> on the rule's page.
      </p>
    </>
  );
}

function AsList({ refused }: { refused: Refused | undefined }) {
  const { companyId } = useCompany();
  const { relayId, draft, problems } = useKnowledge();
  const [isPasted, token, isNew] = [useSignal(false), useSignal(''), useSignal(false)];
  const making = useDeed();
  const lists = draft.cards.some(({ fields }) => fields.if !== undefined) || draft.when;
  if (lists)
    return (
      <p class="note bad">
        A list cannot have all conditions of this rule. Let your platform send the event as it is, or keep one condition in each
        step: a property of the assignment that is, or is not, one value.
      </p>
    );
  if (problems.length > 0)
    return <p class="note bad">The relay would refuse these steps. Correct {counted(problems.length, 'mistake')} first.</p>;
  if (refused) return <p class="note bad">The steps are not checked: {refused.problem.detail}</p>;
  const given = token.value.trim();
  const body = JSON.stringify(listOf(draft.cards, relayId, given || undefined), undefined, 2);
  const make = () =>
    making.run(async () => {
      const at = path`/admin/companies/${companyId}/rules/${relayId}/tokens`;
      const made = await ask<z.infer<typeof rotatedTokenResponse>>('POST', at, { graceSeconds: null });
      [token.value, isNew.value] = [made.relayAccessToken, true];
    }, 'Token created');
  const copy = async () => {
    await navigator.clipboard.writeText(body);
    announce('Copied');
  };
  return (
    <>
      <ol>
        <li>
          In the settings of the webhook, choose the method POST. Set the address to{' '}
          <code>{location.origin + path`/co/${companyId}/relay`}</code> and the header to{' '}
          <code>Content-Type: application/json</code>.
        </li>
        <li>
          The text needs a token of this rule.
          <p class="row">
            <Button
              class={given ? '' : 'main'}
              aria-disabled={making.busy || isNew.value}
              onClick={() => !isNew.value && void make()}
            >
              {isNew.value ? 'The new token is in the text' : 'Create a token'}
            </Button>
          </p>
          <ProblemNote refused={making.refused} />
          {isNew.value ? (
            <p class="note wait">Copy the text below now. The page cannot show this token again. Older tokens stay valid.</p>
          ) : (
            <Entry label="Or enter a token that you have kept" of={token} maxLength={512} autocomplete="off" spellcheck={false} />
          )}
        </li>
        <li>
          <Area label="Paste this as the body of the webhook" class="json" rows={12} readOnly spellcheck={false} value={body} />
          {given ? (
            'clipboard' in navigator && (
              <p>
                <Button class="main" onClick={() => void copy()}>
                  Copy the body
                </Button>
              </p>
            )
          ) : (
            <p class="note wait">This text is not complete: the token is missing.</p>
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
