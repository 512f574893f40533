/** One rule: its policy, its contacts, and its tokens, each shown once. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import { chainStatuses } from '../../chain/outcome.js';
import type { ChainCounts, ChainList } from '../../contract/chain-resource.js';
import type { rotatedTokenResponse, Token, tokensResponse } from '../../contract/credential.js';
import type { rejectedListSchema } from '../../contract/problem.js';
import type { ruleSchema } from '../../contract/rule.js';
import { pageOf, path, query } from '../addresses.js';
import { ask } from '../api.js';
import { changedIn, Options, only, useForm } from '../form.js';
import { Page } from '../frame.js';
import { NotifyFields, notifyPatch } from '../notify-fields.js';
import { Confirm, Field, fieldsOf, Known, ProblemNote, ShownOnce, State, Time, useDeed } from '../parts.js';
import { seldom, useResource } from '../resource.js';
import { ruleName, useCompany } from '../session.js';
import { newestOf, sinceTime } from '../when.js';
import { aboutChain, refusalWords } from '../words.js';
import { onFailureWords, onUnknownWords } from './rules.js';

type Rule = z.infer<typeof ruleSchema>;

export function RulePage({ relayId }: { relayId: string }) {
  const company = useCompany();
  const { companyId } = company;
  const at = path`/admin/companies/${companyId}/rules/${relayId}`;
  const rule = useResource<Rule>(at, seldom);
  const tokens = useResource<z.infer<typeof tokensResponse>>(`${at}/tokens`, seldom);
  const saved = (stored: Rule) => {
    rule.data.value = stored;
    company.refresh();
  };
  return (
    <Page
      title={`Rule ${ruleName(company, relayId)}`}
      about={
        <>
          <a href={pageOf.rules(companyId)}>All rules</a> · <a href={pageOf.chains(companyId, { relayId })}>Its chains</a> ·{' '}
          <a href={pageOf.compose(companyId, relayId)}>Compose a chain</a>
        </>
      }
    >
      <Week relayId={relayId} />
      <Known of={rule}>{(known) => <Policy rule={known} at={at} onSaved={saved} />}</Known>
      <h2>Tokens</h2>
      <Known of={tokens}>{({ tokens: known }) => <Tokens tokens={known} at={at} onChanged={tokens.refresh} />}</Known>
    </Page>
  );
}

/** Its chains of seven days, and the last that came for it. */
function Week({ relayId }: { relayId: string }) {
  const { companyId } = useCompany();
  // The same for an hour, so that it stays one question.
  const since = sinceTime('7d', Math.floor(Date.now() / 3_600_000) * 3_600_000);
  const counts = useResource<ChainCounts>(path`/co/${companyId}/chains/counts` + query({ relayId, since }), seldom);
  const chains = (since: string | undefined) => path`/co/${companyId}/chains` + query({ relayId, since, limit: '50' });
  const last = useResource<ChainList>(chains(since), seldom);
  // Open ones come first: behind very many of them are closed ones that came later.
  const { items: first = [], nextCursor } = last.data.value ?? {};
  const later = useResource<ChainList>(nextCursor && chains(newestOf(first)?.receivedAt), seldom);
  const refused = useResource<z.infer<typeof rejectedListSchema>>(path`/co/${companyId}/rejected?limit=100`, seldom);
  const rest = nextCursor ? later.data.value?.items : [];
  const newest = rest && newestOf([...first, ...rest]);
  const refusal = refused.data.value?.items.find(({ relayIds }) => relayIds.includes(relayId));
  return (
    <section class="card" aria-labelledby="week">
      <h2 id="week">The last 7 days</h2>
      <Known of={counts}>
        {(known) => (
          <p class="row">
            {chainStatuses
              .filter((status) => known[status] > 0)
              .map((status) => (
                <a key={status} href={pageOf.chains(companyId, { relayId, status, since: '7d' })}>
                  {known[status]} <State of={status} />
                </a>
              ))}
            {chainStatuses.every((status) => known[status] === 0) && 'No event has come for it.'}
          </p>
        )}
      </Known>
      {newest && (
        <p>
          The last event: <a href={pageOf.chain(companyId, newest.chainId)}>{aboutChain(newest)}</a>,{' '}
          <Time at={newest.receivedAt} distance />
        </p>
      )}
      {refusal && (
        <p class="error">
          The last that was refused: <a href={pageOf.refusal(companyId, refusal.rejectedId)}>{refusalWords(refusal.reason)}</a>,{' '}
          <Time at={refusal.receivedAt} distance />
        </p>
      )}
    </section>
  );
}

interface PolicyProps {
  rule: Rule;
  at: string;
  onSaved(rule: Rule): void;
}

function Policy({ rule, at, onSaved }: PolicyProps) {
  const deed = useDeed();
  const form = useForm();
  const isAsked = useSignal(false);
  const change = (patch: object, words: string) => deed.run(async () => onSaved(await ask<Rule>('PATCH', at, patch)), words);
  const disable = async () => {
    if (await change({ enabled: false }, 'Disabled')) isAsked.value = false;
  };
  const save = async (event: Event) => {
    const changed = changedIn(event.currentTarget);
    const { name, onFailure, onUnknown, ...contacts } = fieldsOf(event);
    const told = only(changed, notifyPatch(contacts));
    // Blank, it would give the rule contacts of its own, none.
    const notify = Object.keys(told).length > 0 ? told : undefined;
    if (await change({ ...only(changed, { name, onFailure, onUnknown }), notify }, 'Saved')) form.saved();
  };
  const { name, enabled, onFailure, onUnknown, notify } = rule;
  return (
    <>
      <form class="card" onSubmit={(event) => void save(event)} ref={form.ref}>
        <Field label="Name">{(ids) => <input {...ids} name="name" required maxLength={200} defaultValue={name} />}</Field>
        <Field label="What fails">
          {(ids) => (
            <select {...ids} name="onFailure">
              <Options of={Object.entries(onFailureWords)} first={onFailure} />
            </select>
          )}
        </Field>
        <Field
          label="What nobody knows the outcome of"
          hint="A mail server took a message, and the connection broke before it said so."
        >
          {(ids) => (
            <select {...ids} name="onUnknown">
              <Options of={Object.entries(onUnknownWords)} first={onUnknown} />
            </select>
          )}
        </Field>
        <NotifyFields notify={notify} of="rule" />
        {!isAsked.value && <ProblemNote refused={deed.refused} />}
        <p class="row">
          <button type="submit" class="main" aria-disabled={deed.busy}>
            Save
          </button>
          {enabled ? (
            <button type="button" onClick={() => (isAsked.value = true)}>
              Disable…
            </button>
          ) : (
            <button type="button" aria-disabled={deed.busy} onClick={() => void change({ enabled: true }, 'Enabled')}>
              Enable
            </button>
          )}
          <span class="soft small">
            {enabled ? 'Enabled.' : 'Disabled: its requests are refused, and its actions that are still to run become skipped.'}
          </span>
        </p>
      </form>
      {isAsked.value && (
        <Confirm
          title={`Disable ${name}?`}
          verb="Disable it"
          danger
          busy={deed.busy}
          refused={deed.refused}
          onClose={() => (isAsked.value = false)}
          onConfirm={() => void disable()}
        >
          <p>
            From now on its requests are refused. They are kept, and can be sent again. Its actions that come due become skipped,
            and that cannot be taken back.
          </p>
        </Confirm>
      )}
    </>
  );
}

const graces: [seconds: number | null, words: string][] = [
  [null, 'when they are revoked'],
  [0, 'at once'],
  [3600, 'after an hour'],
  [86_400, 'after a day'],
  [604_800, 'after a week'],
];

function Tokens({ tokens, at, onChanged }: { tokens: readonly Token[]; at: string; onChanged(): void }) {
  const rotating = useSignal(false);
  const revoked = useSignal<Token | undefined>(undefined);
  const made = useSignal<z.infer<typeof rotatedTokenResponse> | undefined>(undefined);
  const grace = useSignal('null');
  const deed = useDeed();
  const rotate = () =>
    deed.run(async () => {
      made.value = await ask('POST', `${at}/tokens`, { graceSeconds: JSON.parse(grace.value) });
      rotating.value = false;
    }, 'A new token is made.');
  const revoke = async ({ tokenId }: Token) => {
    if (!(await deed.run(() => ask('DELETE', at + path`/tokens/${tokenId}`), 'The token is revoked.'))) return;
    revoked.value = undefined;
    onChanged();
  };
  const dialog = { busy: deed.busy, refused: deed.refused };
  return (
    <>
      <p>
        <button type="button" onClick={() => (rotating.value = true)}>
          Make a new token…
        </button>
      </p>
      <ul class="plain cards">
        {tokens.map((token) => (
          <li key={token.tokenId} class="card">
            <code>{token.tokenId}</code> <span class={`badge ${token.state === 'active' ? 'good' : 'quiet'}`}>{token.state}</span>
            <p class="soft small">
              Made <Time at={token.createdAt} />
              {token.expiresAt && (
                <>
                  ; ends <Time at={token.expiresAt} distance />
                </>
              )}
              {token.revokedAt && (
                <>
                  ; revoked <Time at={token.revokedAt} />
                </>
              )}
              ;{' '}
              {token.lastUsedAt ? (
                <>
                  last used <Time at={token.lastUsedAt} distance />
                </>
              ) : (
                'never used'
              )}
            </p>
            {token.state === 'active' && (
              <p>
                <button type="button" class="danger" onClick={() => (revoked.value = token)}>
                  Revoke<span class="unseen"> {token.tokenId}</span>…
                </button>
              </p>
            )}
          </li>
        ))}
      </ul>
      {rotating.value && (
        <Confirm
          {...dialog}
          title="Make a new token"
          verb="Make it"
          onClose={() => (rotating.value = false)}
          onConfirm={() => void rotate()}
        >
          <Field label="The tokens before it end" hint="Until then the webhooks that have them go on.">
            {(ids) => (
              <select {...ids} value={grace.value} onChange={(event) => (grace.value = event.currentTarget.value)}>
                {graces.map(([seconds, words]) => (
                  <option key={seconds} value={String(seconds)}>
                    {words}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </Confirm>
      )}
      {revoked.value && (
        <Confirm
          {...dialog}
          title="Revoke the token?"
          verb="Revoke it"
          danger
          onClose={() => (revoked.value = undefined)}
          onConfirm={() => revoked.value && void revoke(revoked.value)}
        >
          <p>From now on, requests with it are refused. They are kept, and can be sent again.</p>
        </Confirm>
      )}
      {made.value && (
        <ShownOnce
          title="The new token"
          secret={made.value.relayAccessToken}
          onClose={() => {
            made.value = undefined;
            onChanged();
          }}
        >
          <p>
            Put it into the webhooks of this rule, as <code>relayAccessToken</code>:
          </p>
        </ShownOnce>
      )}
    </>
  );
}
